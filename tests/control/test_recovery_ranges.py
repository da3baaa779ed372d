"""Ranges against a plain set of numbers."""

from hypothesis import given, settings
from hypothesis import strategies as st

from venym.control.recovery_ranges import Outage, Piece, Ranges

NUMBERS = st.integers(0, 60)
STEPS = st.lists(
    st.tuples(st.sampled_from(("put", "cut", "take", "uncovered")), NUMBERS, st.integers(1, 20), st.integers(0, 2)),
    max_size=40,
)


def numbers(ranges: Ranges) -> list[int]:
    return [number for piece in ranges for number in range(piece.first, piece.end)]


@given(STEPS)
@settings(max_examples=300, deadline=None)
def test_they_hold_what_a_set_holds(steps):
    ranges, held = Ranges(), {}
    outages = [Outage(0, 0, 0, 0) for _ in range(3)]
    for what, first, count, which in steps:
        outage, end = outages[which], first + count
        span = range(first, end)
        parts = ranges.uncovered(first, end)
        assert [number for low, high in parts for number in range(low, high)] == [n for n in span if n not in held]
        if what == "put":
            for low, high in parts:
                ranges.put(Piece(low, high, outage, 0))
                held.update(dict.fromkeys(range(low, high), which))
        elif what == "cut":
            gone = ranges.cut(first, end)
            for number, known in enumerate(outages):
                here = sum(1 for n in span if held.get(n) == number)
                assert sum(many for whose, many in gone if whose is known) == here
            for number in span:
                held.pop(number, None)
        elif what == "take" and len(ranges):
            place = which % len(ranges)
            expected = list(ranges)[place]
            low, high = expected.first, min(expected.end, expected.first + count)
            taken = ranges.take(place, count)
            assert (taken.first, taken.end) == (low, high) and taken.outage is outages[held[low]]
            for number in range(low, high):
                del held[number]
        assert numbers(ranges) == sorted(held)
        if held:
            assert (ranges.first, ranges.end) == (min(held), max(held) + 1)
        for one, other in zip(list(ranges), list(ranges)[1:], strict=False):
            assert one.end < other.first or one.outage is not other.outage  # what belongs together is one piece


def test_many_are_worked_off_at_the_head():
    ranges, outage = Ranges(), Outage(0, 0, 0, 0)
    for k in range(5_000):
        ranges.put(Piece(10 * k, 10 * k + 2, outage, 0))
    for k in range(5_000):
        assert len(ranges) == 5_000 - k
        piece = ranges.take(0, 9)
        assert (piece.first, piece.end) == (10 * k, 10 * k + 2)
        if k % 7 == 0:  # it comes back
            ranges.put(piece)
            assert ranges.take(0, 9) is piece


def test_only_untouched_neighbours_of_one_outage_become_one():
    ranges, one, other = Ranges(), Outage(0, 0, 0, 0), Outage(0, 0, 0, 0)
    ranges.put(Piece(10, 20, one, 5))
    ranges.put(Piece(20, 30, one, 3, attempts=1))
    ranges.put(Piece(5, 10, other, 3))
    assert [(piece.first, piece.end) for piece in ranges] == [(5, 10), (10, 20), (20, 30)]
    ranges.put(Piece(30, 40, one, 1, attempts=1))
    assert [(piece.first, piece.end, piece.ready_ns) for piece in ranges][-1] == (20, 40, 1)
    assert [piece.first for piece in ranges.neighbours(40, 50)] == [20]
    assert [piece.first for piece in ranges.neighbours(2, 5)] == [5]
