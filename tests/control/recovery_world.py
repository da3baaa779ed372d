"""A world for the schedule: lines that lose and bring late, servers that lose, lag, answer in part or not at all.

It keeps its own account of what is there and what was asked for, and holds every request to the limits.
"""

import random
from dataclasses import dataclass, field

from venym.control.recovery_schedule import BURST_NS, LIVE, Request, Schedule
from venym.control.recovery_servers import Limits

MS = 1_000_000
SESSION = (1, 2)


@dataclass
class Faults:
    """Of a server."""

    dead: bool = False
    loss: float = 0.0  # of requests or answers
    delay_ns: int = MS
    jitter_ns: int = 0
    packet_messages: int = 40  # fit into a packet
    refuses_over: int = 65_534  # asked for more, it says nothing
    lacks: frozenset[int] = frozenset()
    repeats: float = 0.0  # an answer twice


@dataclass
class World:
    schedule: Schedule
    faults: list[Faults]
    chance: random.Random
    late: list[tuple[int, int, int]] = field(default_factory=list)  # (when, first, end) that the other line brings
    now_ns: int = 1_000 * MS
    there: set[int] = field(default_factory=set)
    known: set[int] = field(default_factory=set)  # of what is there, what the schedule was told
    told: set[int] = field(default_factory=set)  # to be missing
    between: set[int] = field(default_factory=set)  # more holes than are kept apart: may be asked for too
    given_up: list[int] = field(default_factory=list)
    sent: list[tuple[int, Request]] = field(default_factory=list)
    open: list[tuple[int, Request]] = field(default_factory=list)
    asked_ns: dict[int, int] = field(default_factory=dict)
    coming: list[tuple[int, int, int, int]] = field(default_factory=list)  # (when, server, first, end)
    expected: int = 1
    outstanding_seen: int = 0

    def tell(self, first: int, end: int) -> None:
        """All of [first, end) that is not there."""
        missing = set(range(first, end)) - self.there
        self.told |= missing
        starts = sorted(number for number in missing if number - 1 not in missing)
        for start in starts:
            stop = next(number for number in range(start, end + 1) if number == end or number in self.there)
            self.schedule.missing(start, stop, self.now_ns)

    def turn(self, step_ns: int = MS) -> None:
        """What happens in the next `step_ns`."""
        self.now_ns += step_ns
        for copy in [copy for copy in self.late if copy[0] <= self.now_ns]:
            self.late.remove(copy)
            self.there |= set(range(copy[1], copy[2]))
            self._move_on()
        for item in sorted(item for item in self.coming if item[0] <= self.now_ns):
            self.coming.remove(item)
            _, server, first, end = item
            self.there |= set(range(first, end))
            self.known |= set(range(first, end))
            for held in [
                held for held in self.open if held[1].first < end and held[1].first + held[1].messages > first
            ]:
                self.open.remove(held)  # answered: what it did not bring may be asked for at once
                for number in range(held[1].first, held[1].first + held[1].messages):
                    self.asked_ns.pop(number, None)
            self.schedule.answered(server, first, end, self.now_ns)
            self._move_on()
        requests, given_up = self.schedule.requests(self.now_ns), len(self.given_up)
        while self.schedule.given_up:
            sequence = self.schedule.given_up.popleft()
            self.given_up.append(sequence)
            self.there |= set(range(1, sequence))
            self.known |= set(range(1, sequence))
        for request in requests:
            self._check(request)
            self._serve(request)
        if len(self.given_up) > given_up:
            self._move_on()

    def run(self, turns_max: int) -> int:
        """Until nothing is wanted: how many turns."""
        for turn in range(turns_max):
            if not self.schedule.wanted or self.schedule.state != LIVE:
                return turn
            self.turn()
        raise AssertionError(f"still wanted after {turns_max} turns: {self.schedule.wanted}")

    def _move_on(self) -> None:
        """As the decoder: says how far it is when that changed."""
        before = self.expected
        while self.expected in self.there or (self.expected not in self.told and self.expected < self.schedule.highest):
            self.expected += 1
        if self.expected != before:
            self.known |= set(range(before, self.expected))
            self.schedule.progress(self.expected, self.now_ns)

    def _check(self, request: Request) -> None:
        limits: Limits = self.schedule.limits
        wanted = range(request.first, request.first + request.messages)
        assert 1 <= request.messages <= limits.messages_max
        assert self.between or not self.known & set(wanted), "asked for what is there"
        assert self.told | self.between >= set(wanted), "asked for what nobody misses"
        for number in wanted:
            assert self.now_ns - self.asked_ns.get(number, 0) >= limits.timeout_ns, "asked for twice within a timeout"
            self.asked_ns[number] = self.now_ns
        assert self.between or request.first < min(self.told - self.known) + limits.ahead_messages_max
        self.sent.append((self.now_ns, request))
        self.open = [(when, r) for when, r in self.open if self.now_ns - when < limits.timeout_ns]
        self.open.append((self.now_ns, request))
        self.outstanding_seen = max(self.outstanding_seen, len(self.open))
        assert len(self.open) <= limits.outstanding_max
        for back_ns in (0, 10 * MS, 100 * MS, 1000 * MS):
            recent = sum(1 for when, _ in self.sent if when >= self.now_ns - back_ns)
            assert recent <= limits.requests_per_second_max * (back_ns + BURST_NS) / 1e9 + 1, "faster than allowed"

    def _serve(self, request: Request) -> None:
        faults = self.faults[request.server]
        if faults.dead or request.messages > faults.refuses_over or self.chance.random() < faults.loss:
            return
        count = 0
        while count < min(request.messages, faults.packet_messages) and request.first + count not in faults.lacks:
            count += 1
        for _ in range(1 + (self.chance.random() < faults.repeats)):
            when = self.now_ns + faults.delay_ns + self.chance.randint(0, faults.jitter_ns)
            if count:
                self.coming.append((when, request.server, request.first, request.first + count))


def world(
    faults: list[Faults], limits: Limits, seed: int = 0, snapshots: bool = False, at_start: bool = False
) -> World:
    schedule = Schedule("one", [f"server {k}" for k in range(len(faults))], limits, snapshots, at_start)
    made = World(schedule, faults, random.Random(seed))
    schedule.session_began(SESSION, 1, made.now_ns)
    return made
