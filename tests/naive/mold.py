"""The sequence of one channel, slow and obvious: a dictionary of what came, by number.

The twin of stages/sequence.py, holding.py, missing.py, recovered.py and sessions.py, with a hold-back that never fills.
"""

from tests.naive.itch50 import blocks

END_OF_SESSION = 0xFFFF
FIRST_SEEN, FROM_ONE, FROM_SNAPSHOT = range(3)
HEADER = 20


class NaiveMold:
    """`applied`: (session, number, message) in order, those of snapshots without number; `told`: what the control plane
    hears, (kind, first, end, expected); `missing`: the numbers wanted now."""

    def __init__(self, start: int = FIRST_SEEN) -> None:
        self.start = start
        self.state = "UNBEGUN"
        self.session = b""
        self.applied: list[tuple[bytes, int | None, bytes]] = []
        self.told: list[tuple[str, int, int, int]] = []
        self.late = False  # told how it stands when all is done

    def begin(self, session: bytes, expected: int) -> None:
        self.state, self.session = "BACKFILL", session
        self.expected = self.known = expected
        self.held: dict[int, bytes] = {}
        self.ended = self.waiting = False
        self.tell("SESSION", expected, expected)

    def tell(self, kind: str, first: int, end: int) -> None:
        if not self.late:
            self.told.append((kind, first, end, self.expected))
            self.told_expected = self.expected

    def packet(self, octets: bytes, by_line: bool = True) -> None:
        """A datagram of a line, or one that a re-request brought."""
        if len(octets) < HEADER or (not by_line and self.state == "UNBEGUN"):
            return
        session, sequence = octets[:10], int.from_bytes(octets[10:18], "big")
        count = int.from_bytes(octets[18:20], "big")
        if self.state == "UNBEGUN":
            self.begin(session, 1 if self.start == FROM_ONE else 0)
            self.waiting = self.start == FROM_SNAPSHOT
        if session != self.session:
            if not by_line or not (sequence == 1 or self.ended):
                return
            self.begin(session, 1)
        messages = dict(enumerate(blocks(octets[HEADER:], 0 if count == END_OF_SESSION else count)[0], sequence))
        aside = self.state == "SNAPSHOT" or self.waiting
        if self.expected == 0 and not aside:
            self.expected = sequence
            self.known = max(self.known, sequence)
        if aside or sequence > self.expected:
            self.put_off(sequence, messages)
        if self.state == "BACKFILL" and self.known <= self.expected:
            self.state = "IN_SYNC"
        if count == END_OF_SESSION and by_line:
            self.ended = True
            if self.state == "IN_SYNC":
                self.state = "ENDED"
                self.tell("ENDED", self.expected, self.expected)
        if not aside and sequence <= self.expected:
            self.apply(messages)
        self.settle()

    def put_off(self, sequence: int, messages: dict[int, bytes]) -> None:
        if sequence > self.known:
            if self.known:
                self.tell("HOLE", self.known, sequence)
            self.known = sequence
        if self.state in ("IN_SYNC", "ENDED"):
            self.state = "GAP"
        for number, message in messages.items():
            self.held.setdefault(number, message)
            self.known = max(self.known, number + 1)

    def apply(self, messages: dict[int, bytes]) -> None:
        while self.expected in messages:
            self.applied.append((self.session, self.expected, messages[self.expected]))
            self.expected += 1
        self.known = max(self.known, self.expected)

    def settle(self) -> None:
        aside = self.state == "SNAPSHOT" or self.waiting or self.expected == 0
        if self.state not in ("IN_SYNC", "ENDED") and not aside:
            self.apply(self.held)
            self.held = {number: message for number, message in self.held.items() if number > self.expected}
            if self.expected >= self.known:
                self.enter_sync()
            elif self.expected != self.told_expected:
                self.tell("PROGRESS", self.expected, min(self.held, default=self.known))
        if self.late:
            self.late = False
            self.tell("PROGRESS", self.expected, min(self.held, default=self.known))
            if self.state == "ENDED":
                self.tell("ENDED", self.expected, self.expected)
            for first, end in ranges(self.missing()):
                self.tell("HOLE", first, end)

    def enter_sync(self) -> None:
        self.state = "ENDED" if self.ended else "IN_SYNC"
        self.tell("PROGRESS", self.expected, self.expected)
        if self.ended:
            self.tell("ENDED", self.expected, self.expected)

    def missing(self) -> list[int]:
        """The numbers that are known to exist and not there."""
        first = self.expected or min(self.held, default=self.known)
        return [number for number in range(first, self.known) if number not in self.held]

    def begin_snapshot(self) -> None:
        self.state, self.expected, self.waiting = "SNAPSHOT", 0, False

    def snapshot(self, messages: list[bytes]) -> None:
        if self.state == "SNAPSHOT":
            self.applied += [(self.session, None, message) for message in messages]

    def end_snapshot(self, sequence: int) -> None:
        if self.state == "SNAPSHOT":
            self.stand_at(sequence)

    def give_up(self, sequence: int) -> None:
        if self.state != "UNBEGUN" and sequence > self.expected:
            self.waiting = False
            self.stand_at(sequence)

    def stand_at(self, sequence: int) -> None:
        self.expected, self.state = sequence, "GAP"
        self.held = {number: message for number, message in self.held.items() if number >= sequence}
        if self.known <= sequence:
            self.known = sequence
            self.enter_sync()
        else:
            self.late = True
        self.settle()


def ranges(numbers: list[int]) -> list[tuple[int, int]]:
    """Ascending numbers as [first, end)."""
    made: list[tuple[int, int]] = []
    for number in numbers:
        if made and made[-1][1] == number:
            made[-1] = (made[-1][0], number + 1)
        else:
            made.append((number, number + 1))
    return made
