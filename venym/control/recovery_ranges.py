"""Ranges of messages that are wanted: in order, apart from each other, many.

    pieces  . . . | [10,12) | [15,400) | [913,914) | ...        sorted; those before the head are done
                  ^ head

Work is done at the head, new ones come at the end, and both are cheap however many there are.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace

_COMPACT_AT = 1024


@dataclass(slots=True)
class Outage:
    """Messages [first, end) that were told missing, of which `left` are; kept apart from how they are asked for."""

    first: int
    end: int
    left: int
    told_ns: int


@dataclass(slots=True)
class Piece:
    """Part of an outage that is dealt with at once: waiting to be asked for, or asked for."""

    first: int
    end: int
    outage: Outage
    ready_ns: int  # not to be asked for before
    attempts: int = 0  # requests for it that had no answer
    server: int = -1  # that was asked last
    sent_ns: int = 0
    void: bool = False  # asked for, and not wanted any more
    overflowed: bool = False  # came, and the decoder had no room to hold it

    def part(self, first: int, end: int) -> "Piece":
        """The messages [first, end) of it."""
        return replace(self, first=first, end=end, void=False)


def _end(piece: Piece) -> int:
    return piece.end


class Ranges:
    """Sorted, disjoint pieces."""

    def __init__(self) -> None:
        self._pieces: list[Piece] = []
        self._head = 0

    def __len__(self) -> int:
        return len(self._pieces) - self._head

    def __iter__(self) -> Iterator[Piece]:
        for place in range(self._head, len(self._pieces)):
            yield self._pieces[place]

    @property
    def first(self) -> int:
        """The lowest number wanted; there must be one."""
        return self._pieces[self._head].first

    @property
    def end(self) -> int:
        """One past the highest; there must be one."""
        return self._pieces[-1].end

    def put(self, piece: Piece) -> None:
        """Add a piece that overlaps no other; it becomes part of an adjacent one that is alike."""
        pieces = self._pieces
        place = len(pieces)
        if len(self) and pieces[-1].end > piece.first:
            place = self._place(piece.first)
        before = pieces[place - 1] if place > self._head else None
        after = pieces[place] if place < len(pieces) else None
        if before is not None and before.end == piece.first and _alike(before, piece):
            before.end = piece.end
            before.ready_ns = min(before.ready_ns, piece.ready_ns)
            if after is not None and after.first == before.end and _alike(before, after):
                before.end = after.end
                del pieces[place]
        elif after is not None and after.first == piece.end and _alike(after, piece):
            after.first = piece.first
            after.ready_ns = min(after.ready_ns, piece.ready_ns)
        elif place == self._head and place > 0:
            self._head -= 1
            pieces[self._head] = piece
        else:
            pieces.insert(place, piece)

    def neighbours(self, first: int, end: int) -> list[Piece]:
        """The pieces that end at `first` or begin at `end`; [first, end) is in no piece."""
        place = self._place(first)
        beside = self._pieces[max(place - 1, self._head) : place + 1]
        return [piece for piece in beside if piece.end == first or piece.first == end]

    def take(self, number: int, count: int) -> Piece:
        """Take at most `count` messages from the start of the number-th piece."""
        place = self._head + number
        piece = self._pieces[place]
        if piece.end - piece.first <= count:
            self._drop(place)
            return piece
        taken = piece.part(piece.first, piece.first + count)
        piece.first += count
        return taken

    def cut(self, first: int, end: int) -> list[tuple[Outage, int]]:
        """Take [first, end) out: how many messages of which outages were in it."""
        gone: list[tuple[Outage, int]] = []
        if not len(self) or first >= self.end or end <= self.first:
            return gone
        place = self._place(first)
        while place < len(self._pieces) and self._pieces[place].first < end:
            piece = self._pieces[place]
            low, high = max(piece.first, first), min(piece.end, end)
            gone.append((piece.outage, high - low))
            if low > piece.first and high < piece.end:
                rest = piece.part(high, piece.end)
                piece.end = low
                self._pieces.insert(place + 1, rest)
                break
            if low > piece.first:
                piece.end = low
                place += 1
            elif high < piece.end:
                piece.first = high
                break
            else:
                place = self._drop(place)
        return gone

    def uncovered(self, first: int, end: int) -> list[tuple[int, int]]:
        """The parts of [first, end) that no piece has."""
        found = []
        place = self._place(first)
        while first < end and place < len(self._pieces) and self._pieces[place].first < end:
            piece = self._pieces[place]
            if first < piece.first:
                found.append((first, piece.first))
            first = max(first, piece.end)
            place += 1
        if first < end:
            found.append((first, end))
        return found

    def _place(self, number: int) -> int:
        """Of the first piece that ends after `number`."""
        return bisect_right(self._pieces, number, lo=self._head, key=_end)

    def _drop(self, place: int) -> int:
        """Take a piece out: the place of the next one."""
        if place != self._head:
            del self._pieces[place]
            return place
        self._head += 1
        if self._head == len(self._pieces) or self._head >= max(_COMPACT_AT, len(self._pieces) // 2):
            del self._pieces[: self._head]
            self._head = 0
        return self._head


def _alike(one: Piece, other: Piece) -> bool:
    same = one.outage is other.outage and one.attempts == other.attempts
    return same and one.overflowed == other.overflowed
