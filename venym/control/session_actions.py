"""What a session says and remembers: the actions that the cells of `session_table.TABLE` name."""

from collections import Counter
from dataclasses import dataclass

from .session_line import Line
from .session_messages import SECOND_NS, Fields, Message, Outgoing
from .session_rules import REASON_MAX, TEXTS, WRONG_VALUE, Fault
from .session_signing import Signer
from .session_table import State

HELD_MAX = 4_096  # messages that came too early
REPLAY_BATCH = 64  # messages sent again at one look
ASKS_MAX = 3  # for the same gap
UNSUPPORTED_TYPE = "3"  # BusinessRejectReason
TEST_TEXT = "TEST"

# Where an answer goes: OnBehalfOf and DeliverTo change places.
_ROUTES = {115: 128, 116: 129, 144: 145, 128: 115, 129: 116, 145: 144}


@dataclass(frozen=True)
class Profile:
    """How a session is agreed. accepted: types of application messages that are taken; strict: see `session_rules`;
    stale_after_s: what is older is not sent again."""

    version: str
    sender: str
    target: str
    accepted: frozenset[str] = frozenset("89j")
    heartbeat_s: int = 30
    reset_on_logon: bool = False
    strict: bool = False
    stale_after_s: int = 0
    time_apart_s: int = 120
    logon_timeout_s: int = 10
    logout_timeout_s: int = 2
    resend_patience_s: int = 10


class Actions:
    """What a session knows, and what it can do. counts: of every event, and of what was held in vain."""

    def __init__(self, profile: Profile, line: Line, signer: Signer | None) -> None:
        self.profile = profile
        self.line = line
        self._signer = signer
        self.state = State.OFF
        self.counts: Counter[str] = Counter()
        self._heartbeat_ns = profile.heartbeat_s * SECOND_NS
        self._fault = Fault(0)
        self._renew = False  # a session of the schedule has begun, for which the numbers were not used yet
        self._forget()

    def _forget(self) -> None:
        """What does not outlive a connection."""
        self._since_ns = self._sent_ns = self._received_ns = 0
        self._tested = False
        self._held: dict[int, Message | None] = {}  # by number; None: it was acted on when it came
        self._asked_to = 0  # there is a gap below this number, and it was asked for
        self._asked_from, self._asked_ns, self._asks = 0, 0, 0
        self._replay: tuple[int, int] | None = None  # first and last number still to be sent again

    def _say(
        self, msg_type: str, now_ns: int, *body: tuple[int, str], header: tuple[tuple[int, str], ...] = ()
    ) -> None:
        self._send(Outgoing(msg_type, body, header), now_ns)

    def _send(self, message: Outgoing, now_ns: int) -> int:
        number = self.line.send(message, now_ns)
        self._sent_ns = now_ns
        return number

    # The connection

    def ask(self, _: Message | None, now_ns: int) -> None:
        if self.profile.reset_on_logon or self._renew:
            self.line.reset(now_ns)
        self._since_ns = now_ns
        reset = ((141, "Y"),) if self.profile.reset_on_logon else ()
        self._say_logon(str(self.profile.heartbeat_s), reset, now_ns)

    def wait(self, _: Message | None, now_ns: int) -> None:
        self._since_ns = now_ns

    def hang_up(self, _: Message | None, now_ns: int) -> None:
        self.line.close()
        self._forget()

    def forget(self, _: Message | None, now_ns: int) -> None:
        self._forget()

    # Logon and Logout

    def answer_logon(self, message: Message, now_ns: int) -> None:
        reset = ((141, "Y"),) if message.get(141) == "Y" else ()
        self._heartbeat_ns = (message.whole(108) or 0) * SECOND_NS
        self._say_logon(message.get(108) or "0", reset, now_ns)
        self.enter(message, now_ns)

    def _say_logon(self, heartbeat_s: str, reset: Fields, now_ns: int) -> None:
        body: Fields = ((98, "0"), (108, heartbeat_s), *reset)
        self._send(Outgoing("A", body, more=self._signer), now_ns)

    def start_again(self, message: Message, now_ns: int) -> None:
        self.line.reset(now_ns)
        self._held.clear()
        self._asked_to, self._replay = 0, None
        self.answer_logon(message, now_ns)

    def enter(self, message: Message, now_ns: int) -> None:
        self._done(message, now_ns)

    def note(self, message: Message, now_ns: int) -> None:
        """A Logon within a session, with nothing to start again: there is nothing to be done."""

    def answer_logout(self, message: Message, now_ns: int) -> None:
        self._say("5", now_ns)
        self.hang_up(message, now_ns)

    def say_logout(self, _: Message | None, now_ns: int) -> None:
        self._end("", now_ns)

    def say_hopeless(self, _: Message | None, now_ns: int) -> None:
        self._end(f"No answer to ResendRequest from {self.line.next_in}", now_ns)

    def say_version(self, message: Message, now_ns: int) -> None:
        self._end("Incorrect BeginString", now_ns)

    def reject_and_end(self, message: Message, now_ns: int) -> None:
        self.reject(message, now_ns)
        self._end("", now_ns)

    def say_low(self, message: Message, now_ns: int) -> None:
        number, expected = message.number, self.line.next_in
        self._end(f"MsgSeqNum too low, expecting {expected} but received {number}", now_ns)
        self.hang_up(message, now_ns)

    def say_unnumbered(self, message: Message, now_ns: int) -> None:
        self._end("Required tag missing: MsgSeqNum", now_ns)
        self.hang_up(message, now_ns)

    def say_bad_reset(self, message: Message, now_ns: int) -> None:
        self._end(f"ResetSeqNumFlag with MsgSeqNum {message.number}", now_ns)
        self.hang_up(message, now_ns)

    def _end(self, text: str, now_ns: int) -> None:
        self._since_ns = now_ns
        self._say("5", now_ns, *(((58, text),) if text else ()))

    # Time

    def beat(self, _: Message | None, now_ns: int) -> None:
        self._say("0", now_ns)

    def test(self, _: Message | None, now_ns: int) -> None:
        self._tested = True
        self._say("1", now_ns, (112, TEST_TEXT))

    def answer_test(self, message: Message, now_ns: int) -> None:
        self._say("0", now_ns, (112, message.get(112) or ""))

    # Application

    def deliver(self, message: Message, now_ns: int) -> None:
        self.line.deliver(message, now_ns)

    def refuse(self, message: Message, now_ns: int) -> None:
        reason = ((45, str(message.number)), (58, "Unsupported Message Type"), (372, message.msg_type))
        self._say("j", now_ns, *reason, (380, UNSUPPORTED_TYPE), header=_back(message))

    def reject(self, message: Message, now_ns: int) -> None:
        reason, tag = self._fault
        body = [(45, str(message.number or 0)), (58, TEXTS[reason])]
        body += [(371, tag)] if tag else []
        body += [(372, message.msg_type)] if message.msg_type else []
        body += [(373, str(reason))] if reason <= REASON_MAX[self.profile.version] else []
        self._say("3", now_ns, *body, header=_back(message))

    # What is missing, and what is to be skipped

    def hold(self, message: Message, now_ns: int) -> None:
        self._keep(message.number or 0, message)
        self._ask(message, now_ns)

    def ask_again(self, _: Message | None, now_ns: int) -> None:
        self._asks += 1
        self._asked_ns = now_ns
        self._say("2", now_ns, (7, str(self.line.next_in)), (16, "0"))

    def fill(self, message: Message, now_ns: int) -> None:
        self._move(message, message.number or 0, now_ns)

    def move(self, message: Message, now_ns: int) -> None:
        self._move(message, self.line.next_in - 1, now_ns)

    def _move(self, message: Message, above: int, now_ns: int) -> None:
        new = message.whole(36) or 0
        if new <= above:
            self._fault = Fault(WRONG_VALUE)
            self.reject(message, now_ns)
        elif new > self.line.next_in:
            self.line.expect(new, now_ns)

    def _keep(self, number: int, message: Message | None) -> None:
        if number in self._held or len(self._held) < HELD_MAX:
            self._held.setdefault(number, message)
        else:
            self.counts["held_full"] += 1  # it is asked for again when its turn comes

    def _ask(self, message: Message, now_ns: int) -> None:
        """Ask for what is missing below a message, unless that was done."""
        if self.state is State.ON and self.line.next_in >= self._asked_to:
            self._asked_to, self._asked_from, self._asks = message.number or 0, self.line.next_in, 0
            self.ask_again(message, now_ns)

    def _done(self, message: Message, now_ns: int) -> None:
        """A message that was acted on before its turn need not be when that comes."""
        if (message.number or 0) > self.line.next_in:
            self._keep(message.number or 0, None)
            self._ask(message, now_ns)

    # What is said again

    def replay(self, message: Message, now_ns: int) -> None:
        first, last = message.whole(7) or 0, message.whole(16) or 0
        sent_to = self.line.next_out - 1
        last = min(last, sent_to) if last else sent_to
        if first <= last:
            running = self._replay or (first, last)
            self._replay = (min(first, running[0]), max(last, running[1]))
            self._replay_on(now_ns)
        self._done(message, now_ns)

    def _replay_on(self, now_ns: int) -> None:
        """Send the next part of what was asked for; what is the session's own or stale is skipped by gap fills."""
        if self._replay is None:
            return
        first, last = self._replay
        self._sent_ns = now_ns
        stale_ns = now_ns - self.profile.stale_after_s * SECOND_NS
        batch = REPLAY_BATCH
        for number, (message, sent_ns) in self.line.sent(first, last):
            if sent_ns <= stale_ns:
                continue
            if batch == 0:
                self._replay = (first, last)
                return
            if number > first:
                self._skip(first, number, now_ns)
            self.line.resend(number, message, sent_ns, now_ns)
            first, batch = number + 1, batch - 1
        self._replay = None
        if first <= last:
            self._skip(first, last + 1, now_ns)

    def _skip(self, first: int, new: int, now_ns: int) -> None:
        self.line.resend(first, Outgoing("4", ((36, str(new)), (123, "Y"))), now_ns, now_ns)


def _back(message: Message) -> tuple[tuple[int, str], ...]:
    """The header fields that take an answer to where the message came from."""
    found = ((back, message.get(tag)) for tag, back in _ROUTES.items())
    return tuple((back, value) for back, value in found if value)
