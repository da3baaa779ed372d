"""Records that cross links: sizes of whole lines, fields that numpy does not hide, levels that fit."""

import numpy as np
import pytest

from venym import records
from venym.hot.layout import LayoutError, record


@pytest.mark.parametrize("kind", [records.PACKET, records.BOOK_EVENT])
def test_a_record_is_a_power_of_two_of_octets_without_holes(kind):
    assert kind.itemsize & (kind.itemsize - 1) == 0 and kind.itemsize >= 64
    end = 0
    for name in kind.names:
        field, offset = kind.fields[name][:2]
        assert offset == end
        end += field.itemsize
    assert end == kind.itemsize


@pytest.mark.parametrize("name", ["flags", "base", "size", "data"])
def test_a_field_named_like_an_attribute_of_numpy_is_refused(name):
    with pytest.raises(LayoutError, match=name):
        record("R", [(name, "i8")], 64)


def test_marks_are_bits_of_their_own():
    for marks in ([records.TRADABLE, records.SUSPECT, records.CROSSED], [records.SNAPPED]):
        assert len({*marks}) == len(marks) and all(m & (m - 1) == 0 for m in marks)
    assert np.prod(records.BOOK_EVENT["bid_shares"].shape) == records.TOP_LEVELS
