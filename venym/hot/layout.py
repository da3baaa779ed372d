"""Record layouts and aligned memory.

record   explicit offsets, no void padding (numba would type the fields as unaligned), the size fixed and checked
aligned  zeroed memory that starts on a line pair of its own
"""

from typing import Any

import numpy as np

LINE_BYTES = 64
PAIR_BYTES = 128  # the adjacent-line prefetcher couples two lines


class LayoutError(TypeError):
    """A record's fields do not fit its size, or leave a hole."""


def record(name: str, fields: list[tuple[Any, ...]], size: int) -> np.dtype:
    """A C-aligned dtype of exactly `size` bytes, padded at the end with bytes named ``padding``.

    Raises LayoutError when a field has the name of one of numpy's own attributes (``flags``, ``base``: ``slot.flags``
    would not be the field without the compiler), when the fields need more than `size`, when alignment would leave a
    hole between two fields
    (order them by width instead), or when numpy would not treat it as an aligned struct.
    """
    plain = np.dtype(fields, align=True)
    fields_of: Any = plain.fields or {}
    end = 0
    for field in plain.names or ():
        if hasattr(np.record, field):
            raise LayoutError(f"{name}: numpy has an attribute {field} of its own")
        kind, offset = fields_of[field][:2]
        if offset != end:
            raise LayoutError(f"{name}: a hole of {offset - end} bytes before {field}")
        end = offset + kind.itemsize
    if end > size:
        raise LayoutError(f"{name}: the fields need {end} bytes, the record has {size}")
    padding: list[tuple[Any, ...]] = [("padding", "u1", (size - end,))] if end < size else []
    full = np.dtype(fields + padding, align=True)
    if full.itemsize != size or not full.isalignedstruct:
        raise LayoutError(f"{name}: {full.itemsize} bytes instead of {size}")
    return full


def aligned(count: int, dtype: Any, alignment: int = PAIR_BYTES, touch: bool = True) -> np.ndarray:
    """`count` zeroed items of `dtype`, every page touched unless told not to. Records come back as a recarray, so that
    ``slot.field`` reads the same in Python and in compiled code."""
    dtype = np.dtype(dtype)
    raw = np.zeros(count * dtype.itemsize + alignment, np.uint8)  # pages that are not there until used
    if touch:
        raw[:] = 0
    start = -raw.ctypes.data % alignment
    return as_records(raw[start : start + count * dtype.itemsize].view(dtype))


def as_records(block: np.ndarray) -> np.ndarray:
    """A recarray view of structured memory, any other memory as it is."""
    return block.view(np.recarray) if block.dtype.names else block
