"""A FIX session, 4.2 or 4.4: who is there, what was missed, and what is said twice. No sockets and no clock.

    octets ─▶ Stream ─▶ read ─▶ version, parties, time ─▶ number ─▶ rules ─▶ TABLE ─▶ action ─▶ Line
                                                            └ too high: held, and what is between asked for
    now_ns ─▶ tick ─▶ heartbeats, time-outs, schedule ──────────────────────▶ TABLE

Numbers, socket and messages sent belong to the `Line`. The session looks at the peer's messages in the order of their
numbers: what comes too early is held until its turn. Orders are never sent again once they are `stale_after_s` old: the
peer is told to skip them. While a replay runs nothing new is sent for the application, and a lost connection ends it.
"""

from ..wire.fix import COMPLETE
from .session_actions import ASKS_MAX, Actions, Profile
from .session_line import Line
from .session_messages import SECOND_NS, Message, Outgoing, read_message, utc_ns
from .session_rules import COMP_ID, REQUIRED_MISSING, SENDING_TIME, WRONG_VALUE, Fault, check
from .session_schedule import Schedule
from .session_signing import Signer
from .session_stream import Stream
from .session_table import TABLE, State

DROPPED_OCTETS_MAX = 65_536  # without a message between
# Heartbeat intervals of silence: then a TestRequest is due, then the end.
_QUIET, _SILENT = 6, 12  # fifths

_OF_TYPE = {"0": "heartbeat", "1": "test_request", "3": "reject_told", "4": "gap_fill", "A": "logon"}
_UNCOUNTED = ("wrong_version", "unexpected", "bad_reset")  # numbers stay as they were
_FIRST = (State.AWAITED, State.ASKED)


class Impossible(Exception):
    """The caller told of an event that cannot happen in this state."""


class Session(Actions):
    """state: where it stands; reason: the event that ended the last connection, with the peer's text; see `Actions`."""

    def __init__(
        self, profile: Profile, line: Line, schedule: Schedule | None = None, signer: Signer | None = None
    ) -> None:
        super().__init__(profile, line, signer)
        self.reason = ""
        self._schedule = schedule
        self._stream = Stream()
        self._dropped = 0

    # What the owner of the socket tells. All times are nanoseconds since 1970, UTC, and never go back.

    @property
    def is_off(self) -> bool:
        """There is no connection, as far as the session is concerned."""
        return self.state is State.OFF

    def connected(self, now_ns: int) -> None:
        """We connected: say Logon."""
        self._begin("connected", now_ns)

    def accepted(self, now_ns: int) -> None:
        """The peer connected, and should say Logon."""
        self._begin("accepted", now_ns)

    def lost(self, now_ns: int) -> None:
        """The connection is gone."""
        self._happen("lost", None, now_ns)

    def finish(self, now_ns: int) -> None:
        """End the session in order."""
        self._happen("finish", None, now_ns)

    def send(self, message: Outgoing, now_ns: int) -> int | None:
        """The number of an application message that was sent; None: not now, for there is no session or it replays."""
        if self.state is not State.ON or self._replay is not None:
            return None
        return self._send(message, now_ns)

    def receive(self, octets: bytes, now_ns: int) -> None:
        """What arrived, cut anywhere. What comes behind the end of the session is not looked at."""
        if self.state is State.OFF:
            return
        for status, found in self._stream.feed(octets):
            if status == COMPLETE:
                self._dropped, self._received_ns, self._tested = 0, now_ns, False
                self._read(read_message(found), now_ns)
            else:
                self._dropped += len(found)
                self._happen("flooded" if self._dropped > DROPPED_OCTETS_MAX else "garbled", None, now_ns)
            if self.is_off:
                return

    def tick(self, now_ns: int) -> None:
        """Time went on. To be called a few times a second, and when the socket can take more during a replay."""
        if self.state is State.OFF:
            return
        if self._schedule is not None and self._schedule.is_over(self._received_ns, now_ns):
            self._happen("finish", None, now_ns)
        if self.state is State.ON:
            self._tick_on(now_ns)
        else:
            patience_s = self.profile.logon_timeout_s if self.state in _FIRST else self.profile.logout_timeout_s
            if not self.is_off and now_ns - self._since_ns > patience_s * SECOND_NS:
                self._happen("late", None, now_ns)
        if self.state in (State.ON, State.ENDING):
            self._replay_on(now_ns)

    def _tick_on(self, now_ns: int) -> None:
        silence, interval = 5 * (now_ns - self._received_ns), self._heartbeat_ns
        if interval and silence >= _SILENT * interval:
            self._happen("silent", None, now_ns)
            return
        if interval and silence >= _QUIET * interval and not self._tested:
            self._happen("quiet", None, now_ns)
        elif interval and now_ns - self._sent_ns >= interval and not self._tested:
            self._happen("idle", None, now_ns)
        if self.line.next_in >= self._asked_to:
            return
        if self.line.next_in > self._asked_from:
            self._asked_from, self._asked_ns, self._asks = self.line.next_in, now_ns, 0
        elif now_ns - self._asked_ns > self.profile.resend_patience_s * SECOND_NS:
            self._happen("stuck" if self._asks < ASKS_MAX else "hopeless", None, now_ns)

    # Events

    def _begin(self, event: str, now_ns: int) -> None:
        self._stream.clear()
        self._dropped = 0
        self._received_ns = now_ns
        self._renew = self._schedule is not None and self._schedule.is_new(self.line.used_ns, now_ns)
        self._happen(event, None, now_ns)

    def _happen(self, event: str, message: Message | None, now_ns: int) -> None:
        step = TABLE.get((event, self.state))
        if step is None:
            raise Impossible(f"{event}, when {self.state.value}")
        self.counts[event] += 1
        if step.state in (State.OFF, State.ENDING) and step.state is not self.state:
            text = message.get(58) if message is not None else None
            self.reason = f"{event}: {text}" if text else event
        self.state = step.state
        if step.action:
            getattr(self, step.action)(message, now_ns)

    def _read(self, message: Message, now_ns: int) -> None:
        """Act on a message, and on those held whose turn comes by it."""
        event = self._event_of(message, now_ns)
        self._happen(event, message, now_ns)
        if event not in _UNCOUNTED and not message.is_reset:
            self._count(message.number, now_ns)
        while self.state in (State.ON, State.ENDING) and self.line.next_in in self._held:
            number = self.line.next_in
            held = self._held.pop(number)
            if held is not None:
                self._happen(self._event_in_turn(held), held, now_ns)
            self._count(number, now_ns)
        if self._held and min(self._held) < self.line.next_in:
            self._held = {number: held for number, held in self._held.items() if number >= self.line.next_in}

    def _count(self, number: int | None, now_ns: int) -> None:
        """The message of this number is done with, if it was the next one."""
        if number == self.line.next_in:
            self.line.expect(number + 1, now_ns)

    def _event_of(self, message: Message, now_ns: int) -> str:
        if self.state in _FIRST:
            return self._event_first(message, now_ns)
        if message.version != self.profile.version:
            return "wrong_version"
        if self._is_stranger(message):
            return self._blame("wrong_party", COMP_ID)
        if not self._is_timely(message, now_ns):
            return self._blame("wrong_time", SENDING_TIME)
        number, kind = message.number, message.msg_type
        if number is None:
            return "unnumbered"
        if kind == "5":
            return "logout"
        if kind == "A" and message.get(141) == "Y" and not message.is_again and self._fault_of(message) is None:
            return "logon_reset" if number == 1 else "bad_reset"
        if message.is_reset:
            return "invalid" if self._is_invalid(message) else "sequence_reset"
        if kind == "2" and self._fault_of(message) is None:
            return "resend_request"
        if number > self.line.next_in:
            return "high"
        return self._event_low(message) if number < self.line.next_in else self._event_in_turn(message)

    def _event_first(self, message: Message, now_ns: int) -> str:
        """Nothing but a Logon that is right in everything begins a session; numbers stay as they are until then."""
        if message.version != self.profile.version or self._is_stranger(message):
            return "unexpected"
        if not self._is_timely(message, now_ns) or self._fault_of(message) is not None:
            return "unexpected"
        if message.msg_type == "5":
            return "logout"
        if message.msg_type != "A" or not (self._schedule is None or self._schedule.is_open(now_ns)):
            return "unexpected"
        reset, number = message.get(141) == "Y", message.number or 0
        if reset and (number != 1 or (self.state is State.ASKED and not self.profile.reset_on_logon)):
            return "bad_reset"
        if self.state is State.AWAITED and (reset or self._renew or self.profile.reset_on_logon):
            return "logon_reset"
        return "low" if number < self.line.next_in else "logon"

    def _event_low(self, message: Message) -> str:
        if not message.is_again:
            return "low"
        if message.msg_type != "4" and message.get(122) is None:
            return self._blame("invalid", REQUIRED_MISSING, "122")
        return self._blame("wrong_time", SENDING_TIME) if _is_said_later(message) else "repeated"

    def _event_in_turn(self, message: Message) -> str:
        if self._is_invalid(message):
            return "invalid"
        if message.is_again and _is_said_later(message):
            return self._blame("wrong_time", SENDING_TIME)
        kind = message.msg_type
        if kind in self.profile.accepted:
            return "application"
        return _OF_TYPE.get(kind, "unsupported")

    # Checks

    def _blame(self, event: str, reason: int, tag: str = "") -> str:
        self._fault = Fault(reason, tag)
        return event

    def _is_stranger(self, message: Message) -> bool:
        """Both parties are named, and one is another. A name that is missing or empty is a matter of the rules."""
        theirs, ours = message.get(49), message.get(56)
        known = theirs == self.profile.target and ours == self.profile.sender
        return bool(theirs and ours) and not known

    def _is_timely(self, message: Message, now_ns: int) -> bool:
        sent_ns = utc_ns(message.get(52))
        return sent_ns is None or abs(now_ns - sent_ns) <= self.profile.time_apart_s * SECOND_NS

    def _is_invalid(self, message: Message) -> bool:
        fault = self._fault_of(message)
        if fault is not None:
            self._fault = fault
        return fault is not None

    def _fault_of(self, message: Message) -> Fault | None:
        fault = check(message, self.profile.strict)
        if fault is not None:
            return fault
        if message.is_again and message.msg_type != "4" and message.get(122) is None:
            return Fault(REQUIRED_MISSING, "122")
        if message.msg_type == "2":
            first, last = message.whole(7) or 0, message.whole(16) or 0
            if first < 1 or 0 < last < first:
                return Fault(WRONG_VALUE, "7" if first < 1 else "16")
        return None


def _is_said_later(message: Message) -> bool:
    """OrigSendingTime is behind SendingTime."""
    original_ns, sent_ns = utc_ns(message.get(122)), utc_ns(message.get(52))
    return original_ns is not None and sent_ns is not None and original_ns > sent_ns
