"""Layouts: what numba or the cache lines would not like fails at import, by name."""

from typing import Any

import numpy as np
import pytest

from venym.hot.layout import LINE_BYTES, PAIR_BYTES, LayoutError, aligned, as_records, record


def test_fields_lie_one_after_another_padded_at_the_end() -> None:
    made = record("R", [("a", "i8"), ("b", "i4"), ("c", "u1")], 64)
    assert made.itemsize == 64 and made.isalignedstruct
    assert made.fields is not None
    assert [(name, field[1]) for name, field in made.fields.items()] == [("a", 0), ("b", 8), ("c", 12), ("padding", 13)]


def test_exact_size_needs_no_padding() -> None:
    assert record("R", [("a", "i8"), ("b", "i4"), ("c", "i4")], 16).names == ("a", "b", "c")


@pytest.mark.parametrize(
    "fields, size, said",
    [
        ([("a", "u1"), ("b", "i8")], 64, "R: a hole of 7 bytes before b"),
        ([("a", "i8"), ("b", "u1"), ("c", "u2"), ("d", "u1")], 64, "R: a hole of 1 bytes before c"),
        ([("a", "i8", (9,))], 64, "R: the fields need 72 bytes, the record has 64"),
        ([("a", "i8"), ("b", "u1")], 9, "R: 16 bytes instead of 9"),
        ([("a", "i8"), ("b", "u1")], 12, "R: 16 bytes instead of 12"),
    ],
)
def test_wrong_layouts_are_refused(fields: list[tuple[Any, ...]], size: int, said: str) -> None:
    with pytest.raises(LayoutError, match=said):
        record("R", fields, size)


@pytest.mark.parametrize("field", ["flags", "base", "data", "size"])
def test_names_numpy_has_taken_are_refused(field: str) -> None:
    """`slot.flags` would be numpy's without the compiler."""
    with pytest.raises(LayoutError, match=f"R: numpy has an attribute {field} of its own"):
        record("R", [(field, "i8")], 64)


def test_order_by_width_is_the_way_out_of_a_hole() -> None:
    assert record("R", [("b", "i8"), ("a", "u1")], 64).itemsize == 64


@pytest.mark.parametrize("alignment", [LINE_BYTES, PAIR_BYTES, 4096])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, record("R", [("a", "i8")], 64)])
def test_aligned_memory_is_zeroed_and_starts_where_it_should(dtype: Any, alignment: int) -> None:
    for count in (0, 1, 1000):
        block = aligned(count, dtype, alignment)
        assert len(block) == count and block.dtype == dtype
        assert block.ctypes.data % alignment == 0 or count == 0
        assert not block.view(np.uint8).any()


def test_records_are_read_by_field_in_python_too() -> None:
    block: Any = aligned(3, record("R", [("a", "i8")], 64))
    block[1].a = 7
    assert block[1].a == 7 and block.a.tolist() == [0, 7, 0]
    assert as_records(np.zeros(3)).tolist() == [0, 0, 0]
