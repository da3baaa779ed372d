"""Octet loads and stores against their twins, up to the last octet of a page; ordered words; counter; checks."""

import threading
import time

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numba.core.errors import TypingError

from tests.guarded import Guarded
from tests.hot import child
from tests.hot import octet_toys as toys
from tests.naive import octets as naive
from venym.hot.jit import BOUNDSCHECK, PLAIN
from venym.hot.layout import aligned, record

compiled_only = pytest.mark.skipif(PLAIN, reason="needs the compiler")

WIDTHS = [(width, order) for width in (2, 4, 8) for order in ("big", "little")] + [(6, "big")]
OCTETS = st.binary(min_size=8, max_size=32)
INT64 = st.integers(-(2**63), 2**63 - 1)
GUARDED = Guarded(64)


@pytest.mark.parametrize("width, order", WIDTHS)
@given(octets=OCTETS, at=st.integers(0, 24))
@example(octets=b"\xff" * 8, at=0)
@example(octets=b"\x80" + b"\0" * 7, at=0)
@example(octets=b"\0" * 7 + b"\x80", at=0)
@settings(deadline=None, max_examples=40)
def test_load(width: int, order: naive.Order, octets: bytes, at: int) -> None:
    offset = min(at, len(octets) - width)
    guarded = GUARDED.put(octets)
    assert toys.load(guarded, offset, width, order == "big") == naive.load(octets, offset, width, order)


@pytest.mark.parametrize("width, order", WIDTHS)
@given(octets=OCTETS, at=st.integers(0, 24), value=INT64)
@example(octets=b"\0" * 8, at=0, value=-1)
@example(octets=b"\0" * 8, at=0, value=-(2**63))
@settings(deadline=None, max_examples=40)
def test_store_puts_the_low_octets_and_touches_no_other(
    width: int, order: naive.Order, octets: bytes, at: int, value: int
) -> None:
    offset = min(at, len(octets) - width)
    guarded = GUARDED.put(octets)
    toys.store(guarded, offset, value, width, order == "big")
    assert guarded.tobytes() == naive.store(octets, offset, width, order, value)


@pytest.mark.parametrize("width, order", WIDTHS)
def test_last_octets_before_a_closed_page(width: int, order: naive.Order) -> None:
    octets = bytes(range(0xA0, 0xA0 + width))
    guarded = GUARDED.put(octets)
    assert toys.load(guarded, 0, width, order == "big") == naive.load(octets, 0, width, order)
    toys.store(guarded, 0, 0x0102030405060708, width, order == "big")
    assert guarded.tobytes() == naive.store(octets, 0, width, order, 0x0102030405060708)


@given(octets=OCTETS, data=st.data())
@settings(deadline=None, max_examples=60)
def test_copy(octets: bytes, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(octets)))
    source_offset = data.draw(st.integers(0, len(octets) - count))
    target_offset = data.draw(st.integers(0, 40 - count))
    target = np.full(40, 0xEE, np.uint8)
    toys.copy(target, target_offset, GUARDED.put(octets), source_offset, count)
    right = bytearray(b"\xee" * 40)
    right[target_offset : target_offset + count] = octets[source_offset : source_offset + count]
    assert target.tobytes() == bytes(right)


@given(INT64)
@example(0)
@settings(deadline=None)
def test_bit_length(value: int) -> None:
    assert toys.bits(value) == (value.bit_length() if value >= 0 else 64)


def test_slots_are_read_and_written_in_place() -> None:
    slots = np.zeros(4, toys.SLOT).view(np.recarray)
    toys.set_slot_value(slots, 3, -5)
    assert slots.value.tolist() == [0, 0, 0, -5]
    assert toys.slot_value(slots, 3) == -5


@pytest.mark.parametrize("dtype", ["u1", "i2", "u4", "i8", "f4"])
def test_a_slot_may_be_a_number(dtype: str) -> None:
    words = np.array([3, 0, 250, 7]).astype(dtype)
    assert [toys.number_at(words, index) for index in range(4)] == words.tolist()


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -(2**63)])
def test_ordered_words(value: int) -> None:
    words = np.zeros(4, np.int64)
    toys.publish(words, 2, value)
    assert words.tolist() == [0, 0, value, 0]
    assert toys.acquire(words, 2) == value


def test_a_store_ends_another_threads_wait() -> None:
    """An acquire load is not hoisted out of a loop that waits for it."""
    words = np.zeros(4, np.int64)
    waiting = threading.Thread(target=toys.wait_for, args=(words, 1), daemon=True)
    waiting.start()
    time.sleep(0.02)
    assert waiting.is_alive()
    toys.publish(words, 1, 1)
    waiting.join(5)
    assert not waiting.is_alive()


def test_the_counter_counts() -> None:
    assert 0 < toys.ticks() < toys.ticks()
    short, long = (min(toys.ticks_over_pauses(count) for _ in range(5)) for count in (10, 10_000))
    assert 0 < short < long


@compiled_only
def test_prefetch_of_any_address_does_no_harm() -> None:
    words = GUARDED.put(bytes(64)).view(np.int64)
    for index in (0, 7, 8, 1 << 40, -(1 << 40)):
        toys.prefetch(words, index)


NOT_OCTETS = [np.zeros(8, np.int64), np.zeros(16, np.uint8)[::2], np.zeros((4, 4), np.uint8), np.zeros(8, np.int8)]


@compiled_only
@pytest.mark.parametrize("octets", NOT_OCTETS, ids=["int64", "strided", "two dimensions", "signed"])
def test_what_is_not_octets_is_refused_when_compiled(octets: np.ndarray) -> None:
    with pytest.raises(TypingError, match="octets are a contiguous uint8 array, not"):
        toys.load(octets, 0, 2, True)
    with pytest.raises(TypingError, match="octets are a contiguous uint8 array to be written, not"):
        toys.store(octets, 0, 1, 2, True)


@compiled_only
def test_read_only_memory_is_not_written() -> None:
    octets, words = np.frombuffer(bytes(16), np.uint8), np.frombuffer(bytes(16), np.int64)
    assert toys.load(octets, 0, 8, True) == toys.acquire(words, 1) == 0
    with pytest.raises(TypingError, match="to be written"):
        toys.store(octets, 0, 1, 2, True)
    with pytest.raises(TypingError, match="to be written"):
        toys.copy(octets, 0, octets, 0, 1)
    with pytest.raises(TypingError, match="need an int64 array to be written"):
        toys.publish(words, 0, 1)
    with pytest.raises(TypingError, match="need an int64 array, not"):
        toys.acquire(np.zeros(4, np.int32), 0)


OUTCOMES = """
from venym.hot.jit import Compiles
compiles = Compiles()
from tests.hot.octet_toys import outcomes
print(*outcomes())
print(len(compiles.names))
"""


def test_bounds_checks_check_and_leave_no_trace(tmp_path: str) -> None:
    """On one cache: unchecked code first, then checked, then unchecked again. Neither takes the other's code."""

    def once(**changes: str) -> tuple[list[str], int]:
        env = child.environment(NUMBA_CACHE_DIR=str(tmp_path), **changes)
        told, compiled = child.run(OUTCOMES, env=env)[0].splitlines()
        return told.split(), int(compiled)

    unchecked, compiled = once()
    assert "IndexError" not in unchecked and compiled > 0
    checked, compiled = once(NUMBA_BOUNDSCHECK="1")
    assert checked == ["IndexError"] * len(unchecked) and compiled > 0
    assert once() == (unchecked, 0)
    assert once(NUMBA_BOUNDSCHECK="1")[0] == checked
    assert once(NUMBA_DISABLE_JIT="1")[0] == checked, "plain Python checks always"


@pytest.mark.skipif(not (BOUNDSCHECK or PLAIN), reason="needs bounds checks: unchecked code copies what it is told")
def test_checked_copy_refuses_a_negative_count() -> None:
    with pytest.raises(IndexError):
        toys.copy(np.zeros(8, np.uint8), 0, np.zeros(8, np.uint8), 0, -1)


def test_a_record_is_copied_whole_also_into_a_field_of_another():
    inner = record("INNER", [("a", "i8"), ("b", "f4", (3,))], 64)
    outer = record("OUTER", [("inner", inner), ("c", "i8")], 128)
    sources, targets = aligned(2, inner), aligned(2, outer)
    sources.view(np.uint8)[:] = np.arange(128)
    targets.c[:] = 77
    toys.copy_inner(targets, sources)
    assert targets[1]["inner"].tobytes() == sources[0].tobytes()
    assert targets[0]["inner"].tobytes() == bytes(64)
    assert targets.c.tolist() == [77, 77]
