"""What one channel's recovery has beside its schedule: sockets to its servers, and the snapshot that is being taken."""

import selectors
import socket
import struct
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..hot.layout import aligned
from ..hot.link import Link
from ..records import ENDED, GIVEN_UP, HOLE, OVERFLOW, PROGRESS, SESSION
from ..stages import recovery_links as links
from .errors import ConfigurationError
from .recovery_schedule import BY_SNAPSHOT, LIVE, SNAPSHOT_WANTED, Counters, Recovery, Request, Schedule
from .recovery_servers import Limits
from .snapshot import Address, Snapshot, SnapshotFailed

BEGINNING, SNAPSHOT, NOW = "beginning", "snapshot", "now"  # how a channel is joined
ANSWERS_A_TURN = 64  # of one server, before the others and the decoder are looked at again
_RECEIVE_OCTETS = 4_194_304
_DATAGRAM_MAX = 65_536
_REQUEST = struct.Struct(">qHQH")


class Channel(NamedTuple):
    """A channel's servers, each "host:port"; glimpse "": none."""

    name: str
    rerequest: tuple[str, ...] = ()
    glimpse: str = ""
    username: str = ""
    password: str = ""


class Rules(NamedTuple):
    """Of all channels."""

    limits: Limits = Limits()
    start: str = BEGINNING
    snapshot_attempts_max: int = 3
    snapshot_retry_ns: int = 1_000_000_000
    snapshot_silence_ns: int = 15_000_000_000


@dataclass
class WireCounters:
    """What the schedule does not see."""

    foreign: int = 0  # answers of another session
    short: int = 0  # answers without a header
    empty: int = 0  # answers without a whole message
    unsent: int = 0  # requests the system did not take
    refused: int = 0  # nobody listens at the server's port
    snapshots_failed: int = 0
    snapshot_octets: int = 0


class Status(NamedTuple):
    """How a channel stood a moment ago."""

    name: str
    state: str  # LIVE, or of a snapshot: SNAPSHOT_WANTED, CONNECTING, SPIN
    session: tuple[int, int] | None  # its first eight octets, and the last two
    expected: int
    holes: int
    counters: Counters
    wire: WireCounters
    failure: str  # of the last snapshot that failed
    ended: bool  # the session


def resolve(text: str, kind: int) -> Address:
    """The address "host:port" stands for. Raises ConfigurationError."""
    host, colon, port = text.rpartition(":")
    try:
        if not colon or not host or not 0 < int(port) < 65_536:
            raise ValueError
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=kind)
    except (ValueError, OSError) as error:
        raise ConfigurationError(f"{text!r} is no host:port that can be reached: {error or 'no port'}") from error
    return Address(found[0][0], found[0][4], text)


class ChannelRecovery:
    """`number` is the channel's in the decoder. Raises ConfigurationError for an address that cannot be."""

    def __init__(
        self, number: int, channel: Channel, rules: Rules, recovered: Link, selector: selectors.BaseSelector
    ) -> None:
        self.counters = WireCounters()
        self.ended = False
        self.schedule = Schedule(
            channel.name,
            list(channel.rerequest),
            rules.limits,
            bool(channel.glimpse),
            bool(channel.glimpse) and rules.start == SNAPSHOT,
        )
        self.failure: str = ""  # of the last snapshot
        self._number = number
        self._channel = channel
        self._rules = rules
        self._link = recovered
        self._selector = selector
        self._snapshot: Snapshot | None = None
        self._snapshot_began_ns = self._retry_ns = self._tries = 0
        self._octets = aligned(_DATAGRAM_MAX, np.uint8)
        self._view = memoryview(self._octets)  # type: ignore[arg-type]
        self._glimpse = resolve(channel.glimpse, socket.SOCK_STREAM) if channel.glimpse else None
        self._sockets: list[socket.socket] = []
        for server, address in enumerate([resolve(text, socket.SOCK_DGRAM) for text in channel.rerequest]):
            self._sockets.append(_connected(address))
            selector.register(self._sockets[-1], selectors.EVENT_READ, (self, server))

    def close(self) -> None:
        for held in self._sockets:
            self._selector.unregister(held)
            held.close()
        self._sockets.clear()
        self._drop_snapshot()

    def told(self, row: list[int], now_ns: int) -> None:
        """Take a MISSING record of this channel."""
        high, low, first, end, expected, _, kind = row
        schedule = self.schedule
        if kind == SESSION or (high, low) != schedule.session:
            if (high, low) != schedule.session:
                self._drop_snapshot()
                self._tries = 0
                self.ended = False
            schedule.session_began((high, low), first if kind == SESSION else expected, now_ns)
        if kind in (HOLE, OVERFLOW):
            schedule.progress(expected, now_ns)
            schedule.missing(first, end, now_ns, overflowed=kind == OVERFLOW)
        elif kind in (PROGRESS, ENDED):
            schedule.progress(expected, now_ns)
            self.ended = self.ended or kind == ENDED
        elif kind != SESSION:
            raise AssertionError(f"MISSING.kind {kind}")

    def receive(self, server: int, now_ns: int) -> int:
        """Take answers of a server, as long as the decoder has room: how many."""
        for number in range(ANSWERS_A_TURN):
            if not links.has_room(self._link):
                return number
            try:
                length = self._sockets[server].recv_into(self._view)
            except BlockingIOError:
                return number
            except ConnectionRefusedError:
                self.counters.refused += 1
                continue
            self._take_answer(server, length, now_ns)
        return ANSWERS_A_TURN

    def work(self, now_ns: int) -> bool:
        """Send what is due, and go on with the snapshot; was anything done?"""
        schedule = self.schedule
        done = self._pass_on_given_up()
        if links.has_room(self._link):
            for request in schedule.requests(now_ns):
                self._send(request)
                done = True
            done = self._pass_on_given_up() or done
        if schedule.state == SNAPSHOT_WANTED:
            done = self._work_on_snapshot(now_ns) or done
        return done

    def _take_answer(self, server: int, length: int, now_ns: int) -> None:
        session = self.schedule.session
        if session is None:
            self.counters.foreign += 1
            return
        became, first, end = links.push_answer(self._link, self._number, *session, self._octets, length)
        if became == links.HANDED_ON:
            self.schedule.answered(server, first, end, now_ns)
        elif became == links.FOREIGN:
            self.counters.foreign += 1
        elif became == links.SHORT:
            self.counters.short += 1
        elif became == links.EMPTY:
            self.counters.empty += 1
        else:
            raise AssertionError("no room that was there")

    def _send(self, request: Request) -> None:
        assert self.schedule.session is not None
        high, low = self.schedule.session
        try:
            self._sockets[request.server].send(_REQUEST.pack(high, low, request.first, request.messages))
        except ConnectionRefusedError:  # of an earlier one; this one is not sent
            self.counters.refused += 1
        except OSError:  # a full queue, no route: as if it were lost on its way
            self.counters.unsent += 1

    def _pass_on_given_up(self) -> bool:
        given_up = self.schedule.given_up
        done = False
        while given_up and self._push(GIVEN_UP, given_up[0], self._octets, 0):
            given_up.popleft()
            done = True
        return done

    def _push(self, kind: int, sequence: int, octets: np.ndarray, length: int) -> bool:
        assert self.schedule.session is not None
        return bool(links.push(self._link, self._number, kind, *self.schedule.session, sequence, octets, length))

    def _work_on_snapshot(self, now_ns: int) -> bool:
        assert self._glimpse is not None
        if (self._snapshot is None or not self._snapshot.begun) and not self.schedule.still_wants_snapshot():
            self._drop_snapshot()
            return True
        try:
            if self._snapshot is None:
                if now_ns < self._retry_ns:
                    return False
                self._retry_ns = now_ns + self._rules.snapshot_retry_ns
                self._snapshot_began_ns = now_ns
                self._snapshot = self._new_snapshot(self._glimpse, now_ns)
                self._selector.register(self._snapshot, selectors.EVENT_READ, None)
            return self._step(self._snapshot, now_ns)
        except SnapshotFailed as error:
            self._fail(str(error), now_ns)
            return True

    def _new_snapshot(self, server: Address, now_ns: int) -> Snapshot:
        channel = self._channel
        silence_ns = self._rules.snapshot_silence_ns
        return Snapshot(server, channel.username, channel.password, self._push, now_ns, silence_ns)

    def _step(self, taken: Snapshot, now_ns: int) -> bool:
        number = taken.fileno()
        try:
            done = taken.step(now_ns)
        finally:
            if taken.fileno() < 0:
                self._selector.unregister(number)
        if taken.sequence is None:
            return done
        self._snapshot = None
        self._tries = 0
        self.counters.snapshot_octets += taken.octets
        seconds = (now_ns - self._snapshot_began_ns) / 1e9
        schedule = self.schedule
        schedule.recoveries.append(Recovery(schedule.channel, 1, taken.messages, seconds, BY_SNAPSHOT))
        schedule.snapshot_done(taken.sequence, now_ns)
        return True

    def _fail(self, reason: str, now_ns: int) -> None:
        self._snapshot = None
        self._tries += 1
        self.counters.snapshots_failed += 1
        self.failure = reason
        self.schedule.alarms.append(
            f"channel {self.schedule.channel}: {reason} (attempt {self._tries} of {self._rules.snapshot_attempts_max})"
        )
        if self._tries >= self._rules.snapshot_attempts_max:
            self._tries = 0
            self.schedule.snapshot_failed(now_ns)

    def _drop_snapshot(self) -> None:
        if self._snapshot is not None:
            self._selector.unregister(self._snapshot)
            self._snapshot.close()
            self._snapshot = None

    @property
    def state(self) -> str:
        """As in Status."""
        if self.schedule.state == LIVE or self._snapshot is None:
            return self.schedule.state
        return "SPIN" if self._snapshot.begun else "CONNECTING"

    def status(self) -> Status:
        """To be called by the thread that does the work."""
        schedule = self.schedule
        return Status(
            schedule.channel,
            self.state,
            schedule.session,
            schedule.expected,
            schedule.wanted,
            replace(schedule.counters),
            replace(self.counters),
            self.failure,
            self.ended,
        )


def _connected(server: Address) -> socket.socket:
    """A UDP socket that hears this server only."""
    made = socket.socket(server.family, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _RECEIVE_OCTETS)  # the system may give less
        made.connect(server.name)
    except OSError as error:
        made.close()
        raise ConfigurationError(f"re-request server {server.text}: {error}") from error
    return made
