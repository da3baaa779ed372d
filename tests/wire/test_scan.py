"""Lines are numbered in order of appearance and never lost; counters have one name each."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venym.hot.layout import aligned
from venym.records import PACKET
from venym.wire import scan

pytestmark = pytest.mark.plain


def small_sink(lines: int) -> scan.Sink:
    """A sink with room for so many lines only, in a table of twice as many slots."""
    sink = scan.make_sink(aligned(1, PACKET))
    return sink._replace(line_slots=np.zeros(2 * lines, np.int64), line_keys=np.zeros(lines, np.int64))


@given(st.lists(st.integers(0, (1 << 48) - 1), max_size=40))
@settings(max_examples=60, deadline=None)
def test_a_destination_keeps_the_number_it_got_first(keys: list[int]) -> None:
    sink = small_sink(64)
    numbers: dict[int, int] = {}
    for key in keys:
        assert scan.line_of(sink, np.int64(key)) == numbers.setdefault(key, len(numbers))
    assert sink.line_keys[: len(numbers)].tolist() == list(numbers)
    assert sink.counts[scan.LINES] == len(numbers)


def test_the_line_that_does_not_fit_is_refused_and_the_others_stay() -> None:
    sink = small_sink(4)
    assert [scan.line_of(sink, np.int64(key)) for key in (9, 8, 7, 6)] == [0, 1, 2, 3]
    assert scan.line_of(sink, np.int64(5)) == -1
    assert scan.line_of(sink, np.int64(7)) == 2
    assert sink.counts[scan.LINES] == 4


def test_each_counter_stands_at_the_place_its_name_says() -> None:
    places = {name: place for place, name in enumerate(scan.Counters.__dataclass_fields__)}
    assert places["packets"] == scan.PACKETS == 0
    assert places["snapped"] == scan.SNAPPED_PACKETS
    others = [name for name in places if name not in ("packets", "snapped")]
    assert [getattr(scan, name.upper()) for name in others] == [places[name] for name in others]


def test_a_sink_wants_packets() -> None:
    with pytest.raises(ValueError, match="PACKET"):
        scan.make_sink(aligned(4, np.int64))
    with pytest.raises(ValueError, match="PACKET"):
        scan.make_sink(aligned(0, PACKET))
