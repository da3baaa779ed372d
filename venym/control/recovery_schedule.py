"""Which missing messages of a channel are asked for, when, and of whom. No sockets, no clock: the time is an input.

    told missing ──▶ WAITING ──request──▶ ASKED ──answer──▶ there
                        ▲                   │ ▲ └─ in part: the rest waits, and is asked for at once
                        └──── timeout ──────┘ └── another server's turn
                     asked for too often, or nothing came for too long:  a snapshot, or GIVEN UP

Lowest numbers first, never more than `ahead_messages_max` past the lowest wanted (the decoder has to hold those), what
the decoder had no room for only after all holes below, never a message twice within a timeout, never one that came.
Between limits of number and rate as many requests are on their way at once as there is to ask for. How much one asks
for is learnt for each server: an answer holds what fits into one packet, so a request shrinks to what an answer in part
held, to half when there was none and none was ever as long, and grows again by an eighth after many whole ones.

Given up is the lowest hole only, when
    - it was asked for `attempts_max` times in vain, and servers answered other requests since the last, or
    - for `give_up_ns` neither an answer nor a line brought anything wanted, and it has been wanted as long.
With a snapshot server one is asked for instead; if that fails, all holes are given up, one after another. A server is
passed over for `give_up_ns` after `attempts_max` silences in a row, unless all are.
"""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

from ..wire.moldudp64 import COUNT_MAX
from .recovery_ranges import Outage, Piece, Ranges
from .recovery_servers import Limits, Servers

BURST_NS = 10_000_000  # requests not sent for so long may be sent at once: nobody looks at the clock all the time
RECOVERIES_KEPT = 65_536

LIVE, SNAPSHOT_WANTED = "LIVE", "SNAPSHOT_WANTED"
BY_LINE, BY_SNAPSHOT, BY_NOBODY, BY_NEW_SESSION = "line", "snapshot", "given up", "session over"


class Request(NamedTuple):
    server: int
    first: int
    messages: int


class Recovery(NamedTuple):
    """How an outage ended, and how long it took from its telling."""

    channel: str
    first: int
    messages: int
    seconds: float
    by: str  # the server that brought the last of it, or BY_...


@dataclass
class Counters:
    requests: int = 0
    answers: int = 0  # that brought something wanted
    messages: int = 0  # wanted ones in answers
    in_part: int = 0  # answers with less than asked for
    late: int = 0  # answers with nothing wanted
    timeouts: int = 0
    outages: int = 0
    given_up: int = 0  # messages
    snapshots: int = 0
    joined: int = 0  # holes told when holes_max was reached


class Schedule:
    """The holes of a channel. `servers`: their names; `snapshots`: is there a snapshot server?

    `given_up` (sequence numbers to go on with) and `alarms` (texts) are for the caller to take from.
    """

    def __init__(self, channel: str, servers: list[str], limits: Limits, snapshots: bool, at_start: bool) -> None:
        self.channel = channel
        self.limits = limits._replace(messages_max=min(limits.messages_max, COUNT_MAX))
        self.state = LIVE
        self.session: tuple[int, int] | None = None
        self.expected = 0
        self.highest = 0  # one past the highest number ever told missing
        self.counters = Counters()
        self.recoveries: deque[Recovery] = deque(maxlen=RECOVERIES_KEPT)
        self.given_up: deque[int] = deque()
        self.alarms: deque[str] = deque()
        self.servers = Servers(channel, servers, self.limits, self.alarms)
        self._snapshots = snapshots
        self._at_start = at_start  # a snapshot is wanted as soon as there is a session
        self._joining = False  # it is, whatever is missing
        self._waiting = Ranges()
        self._asked: dict[int, Piece] = {}  # by first number, oldest request first
        self._beyond: tuple[int, int] | None = None  # told when there was no room
        self._useful_ns = 0  # when something wanted last came
        self._paced_ns = 0

    # What the decoder tells.

    def session_began(self, session: tuple[int, int], first: int, now_ns: int) -> None:
        """Numbers of another session mean nothing any more."""
        if session != self.session:
            for piece in self._asked.values():
                self._forget(piece, BY_NEW_SESSION, now_ns)
            self._close(self._waiting.cut(0, 1 << 63), BY_NEW_SESSION, now_ns)
            self._beyond = None
            self.given_up.clear()
            self.session, self.expected, self.highest = session, first, first
            self._joining, self.state = False, LIVE
            if self._at_start:
                self._at_start, self._joining, self.state = False, True, SNAPSHOT_WANTED
        self.progress(first, now_ns)

    def missing(self, first: int, end: int, now_ns: int, overflowed: bool = False) -> None:
        """[first, end) is wanted; what is known to be is no news. `overflowed`: it came, and there was no room."""
        self.highest = max(self.highest, end)
        for low, high in self._unknown(max(first, self.expected), end):
            if len(self._waiting) >= self.limits.holes_max:
                self.counters.joined += 1
                known = self._beyond or (low, high)
                self._beyond = min(known[0], low), max(known[1], high)
                continue
            outage, ready_ns = self._outage_of(low, high, now_ns), now_ns + self.limits.wait_ns
            self._waiting.put(Piece(low, high, outage, ready_ns, overflowed=overflowed))

    def progress(self, expected: int, now_ns: int, by: str = BY_LINE) -> None:
        """Nothing below `expected` is wanted any more."""
        if expected <= self.expected:
            return
        self.expected = expected
        self._useful_ns = now_ns
        self._close(self._waiting.cut(0, expected), by, now_ns)
        for piece in self._asked.values():
            if piece.end <= expected:
                self._forget(piece, by, now_ns)
        if self._beyond is not None:
            self._beyond = (max(self._beyond[0], expected), self._beyond[1]) if self._beyond[1] > expected else None

    # What servers say, and what they are asked.

    def answered(self, server: int, first: int, end: int, now_ns: int) -> None:
        """A packet with the messages [first, end) came from this server, and was handed to the decoder."""
        self.servers.answered(server, now_ns)
        gone = self._waiting.cut(first, end)
        for piece in [piece for piece in self._asked.values() if piece.first < end and piece.end > first]:
            del self._asked[piece.first]
            if first == piece.first and server == piece.server:
                self.counters.in_part += end < piece.end
                self.servers.learn(server, piece.end - first, min(end, piece.end) - first)
            if piece.void:
                continue
            low, high = max(piece.first, first), min(piece.end, end)
            gone.append((piece.outage, high - low))
            for rest_first, rest_end in ((piece.first, low), (high, piece.end)):
                self._put_back(rest_first, rest_end, piece, 0, now_ns)
        if not gone:
            self.counters.late += 1
            return
        self._useful_ns = now_ns
        self.counters.answers += 1
        self.counters.messages += sum(count for _, count in gone)
        self._close(gone, self.servers.name(server), now_ns)

    def requests(self, now_ns: int) -> list[Request]:
        """What is to be sent now. Looks at timeouts first, and at what is to be given up."""
        self._look_at_timeouts(now_ns)
        if self.state == SNAPSHOT_WANTED:
            return []
        if self._beyond is not None and len(self._waiting) < self.limits.holes_max // 2 + 1:
            (first, end), self._beyond = self._beyond, None
            self.missing(first, end, now_ns)
        self._look_at_lowest(now_ns)
        if self.state == SNAPSHOT_WANTED or not len(self.servers):
            return []
        made: list[Request] = []
        while len(self._asked) < self.limits.outstanding_max and self._paced_ns - now_ns <= BURST_NS:
            if (number := self._next(now_ns)) < 0:
                break
            made.append(self._ask(number, now_ns))
        return made

    @property
    def wanted(self) -> int:
        """Holes that are wanted, as they are asked for."""
        return len(self._waiting) + sum(not piece.void for piece in self._asked.values()) + (self._beyond is not None)

    # Snapshots.

    def still_wants_snapshot(self) -> bool:
        """False, and LIVE, if all that was missing came while the snapshot did not begin yet."""
        if not self._joining and self.state == SNAPSHOT_WANTED and not self.wanted:
            self.state = LIVE
        return self.state == SNAPSHOT_WANTED

    def snapshot_done(self, sequence: int, now_ns: int) -> None:
        """A snapshot was handed on: go on with message `sequence`. What is wanted from there on is asked for anew."""
        self._joining, self.state = False, LIVE
        self.counters.snapshots += 1
        self._useful_ns = now_ns
        self.expected = min(self.expected, sequence)  # an older snapshot: the decoder tells what is missing then
        self.progress(sequence, now_ns, BY_SNAPSHOT)
        for piece in (*self._waiting, *self._asked.values()):
            piece.attempts = 0

    def snapshot_failed(self, now_ns: int) -> None:
        """There is none to be had: everything missing is given up."""
        self._joining, self.state = False, LIVE
        self._take_back(now_ns)
        ends = [piece.end for piece in self._waiting] or [max(self.expected, 1)]
        for end in ends:
            self._give_up(end, now_ns)
        self._say_given_up(ends)

    # Within.

    def _unknown(self, first: int, end: int) -> list[tuple[int, int]]:
        """The parts of [first, end) that are neither waiting nor asked for."""
        if first >= end:
            return []
        parts = self._waiting.uncovered(first, end)
        for piece in self._asked.values():
            if piece.void or piece.first >= end or piece.end <= first:
                continue
            cut = [(low, min(high, piece.first)) for low, high in parts]
            cut += [(max(low, piece.end), high) for low, high in parts]
            parts = sorted((low, high) for low, high in cut if low < high)
        return parts

    def _outage_of(self, first: int, end: int, now_ns: int) -> Outage:
        """A new one, or that of adjacent messages that were not asked for in vain yet."""
        beside = [piece for piece in self._waiting.neighbours(first, end) if piece.attempts == 0]
        if not beside:
            self.counters.outages += 1
            return Outage(first, end, end - first, now_ns)
        outage = beside[0].outage
        outage.first, outage.end = min(outage.first, first), max(outage.end, end)
        outage.left += end - first
        other = beside[-1].outage
        if other is not outage and other.left == beside[-1].end - beside[-1].first:  # all of it waits
            beside[-1].outage = outage
            outage.end = max(outage.end, other.end)
            outage.left += other.left
            self.counters.outages -= 1
        return outage

    def _next(self, now_ns: int) -> int:
        """The number of the waiting piece to ask for, or -1."""
        floor = hole = 1 << 63  # the lowest number wanted, and the lowest that never came
        for piece in self._asked.values():
            if not piece.void:
                floor = min(floor, piece.first)
                hole = hole if piece.overflowed else min(hole, piece.first)
        for number, piece in enumerate(self._waiting):
            floor = min(floor, piece.first)
            if piece.first >= floor + self.limits.ahead_messages_max:
                return -1
            if piece.overflowed and hole < piece.first:
                return -1  # there would be no room again
            hole = hole if piece.overflowed else min(hole, piece.first)
            due = piece.ready_ns <= now_ns and not self._is_nowhere(piece)
            if due and piece.first not in self._asked:  # a void one may stand there until its time is over
                return number
        return -1

    def _ask(self, number: int, now_ns: int) -> Request:
        piece = next(p for k, p in enumerate(self._waiting) if k == number) if number else next(iter(self._waiting))
        server = self.servers.choose(piece.server if piece.attempts else -1, now_ns)
        piece = self._waiting.take(number, self.servers.messages(server))
        piece.server, piece.sent_ns = server, now_ns
        self._asked[piece.first] = piece
        self._paced_ns = max(self._paced_ns, now_ns) + 1_000_000_000 // self.limits.requests_per_second_max
        self.counters.requests += 1
        return Request(server, piece.first, piece.end - piece.first)

    def _look_at_timeouts(self, now_ns: int) -> None:
        """Requests have one timeout, so the oldest is the first that is due."""
        while self._asked:
            piece = next(iter(self._asked.values()))
            if now_ns - piece.sent_ns < self.limits.timeout_ns:
                return
            del self._asked[piece.first]
            self.counters.timeouts += 1
            self.servers.silent(piece.server, piece.end - piece.first, piece.attempts > 0, piece.sent_ns, now_ns)
            if not piece.void:
                self._put_back(piece.first, piece.end, piece, piece.attempts + 1, now_ns)

    def _put_back(self, first: int, end: int, piece: Piece, attempts: int, now_ns: int) -> None:
        """The part [first, end) of a piece that was asked for waits again, unless it came."""
        if first < self.expected:
            self._close([(piece.outage, min(self.expected, end) - first)] if first < end else [], BY_LINE, now_ns)
            first = self.expected
        if first < end:
            rest = piece.part(first, end)
            rest.ready_ns, rest.attempts = now_ns, attempts
            self._waiting.put(rest)

    def _take_back(self, now_ns: int) -> None:
        """All that is asked for waits again. The requests are out, and count until their time is over."""
        for piece in self._asked.values():
            if not piece.void:
                piece.void = True
                self._put_back(piece.first, piece.end, piece, piece.attempts, now_ns)

    def _look_at_lowest(self, now_ns: int) -> None:
        silent = now_ns - self._useful_ns >= self.limits.give_up_ns
        ends: list[int] = []
        while len(self._waiting):
            piece = next(iter(self._waiting))
            old = silent and now_ns - piece.outage.told_ns >= self.limits.give_up_ns
            if not old and not self._is_nowhere(piece):
                break
            if any(asked.first < piece.first for asked in self._asked.values() if not asked.void):
                break
            if self._snapshots:
                self.alarms.append(
                    f"channel {self.channel}: messages from {piece.first} on are not to be had: taking a snapshot"
                )
                self.state = SNAPSHOT_WANTED
                break
            self._give_up(piece.end, now_ns)
            ends.append(piece.end)
        self._say_given_up(ends)

    def _is_nowhere(self, piece: Piece) -> bool:
        """Asked for in vain too often, while servers answered other requests."""
        return piece.attempts >= self.limits.attempts_max and self.servers.answered_ns >= piece.sent_ns

    def _give_up(self, sequence: int, now_ns: int) -> None:
        """Go on with `sequence`; everything missing before it is lost."""
        gone = self._waiting.cut(0, sequence)
        self.counters.given_up += sum(count for _, count in gone)
        self._close(gone, BY_NOBODY, now_ns)
        self.expected = max(self.expected, sequence)
        self.given_up.append(sequence)

    def _say_given_up(self, ends: list[int]) -> None:
        if ends:
            many = f"{len(ends)} holes" if len(ends) > 1 else "a hole"
            self.alarms.append(
                f"channel {self.channel}: {many} given up, going on with message {ends[-1]}; "
                f"{self.counters.given_up} messages lost so far"
            )

    def _forget(self, piece: Piece, by: str, now_ns: int) -> None:
        """What is asked for is not wanted any more; its answer may still come."""
        if not piece.void:
            piece.void = True
            self._close([(piece.outage, piece.end - piece.first)], by, now_ns)

    def _close(self, gone: list[tuple[Outage, int]], by: str, now_ns: int) -> None:
        for outage, count in gone:
            outage.left -= count
            if outage.left == 0:
                seconds = (now_ns - outage.told_ns) / 1e9
                self.recoveries.append(Recovery(self.channel, outage.first, outage.end - outage.first, seconds, by))
