"""32-bit words shared with the kernel: values without a sign, wrapping at 32 bits."""

import numpy as np
import pytest
from numba.core.errors import TypingError

from tests.skips import require
from venym.hot.jit import hot
from venym.hot.layout import aligned
from venym.hot.ring_words import load_acquire_32, store_release_32

pytestmark = pytest.mark.plain


@hot
def load(words, index):
    return load_acquire_32(words, index)


@hot
def store(words, index, value):
    store_release_32(words, index, value)


@pytest.mark.parametrize("value", [0, 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1])
def test_a_word_is_kept_without_a_sign_and_its_neighbours_are_not_touched(value: int) -> None:
    words = aligned(3, np.uint32)
    words[:] = 0xEEEEEEEE
    store(words, 1, value)
    assert words.tolist() == [0xEEEEEEEE, value, 0xEEEEEEEE]
    assert load(words, 1) == value


def test_a_value_beyond_32_bits_wraps() -> None:
    words = aligned(1, np.uint32)
    store(words, 0, (1 << 32) + 5)
    assert load(words, 0) == 5
    store(words, 0, -1)
    assert load(words, 0) == (1 << 32) - 1


def test_other_memory_is_refused_when_compiled() -> None:
    require("needs the compiler")
    with pytest.raises(TypingError, match="32-bit ring words are a uint32 array"):
        load(aligned(1, np.int64), 0)
    fixed = aligned(1, np.uint32)
    fixed.flags.writeable = False
    with pytest.raises(TypingError, match="to be written"):
        store(fixed, 0, 1)


def test_bounds_are_checked_where_they_are() -> None:
    require("needs bounds checks")
    words = aligned(2, np.uint32)
    for index in (-1, 2):
        with pytest.raises(IndexError):
            load(words, index)
        with pytest.raises(IndexError):
            store(words, index, 1)
