"""The arena: one shared memory, arrays by name, nothing overlapping, everything refused by name."""

import fcntl
import itertools
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hot import child
from venym.hot.arena import (
    DIRECTORY_ENTRIES,
    HEADER_OCTETS,
    NAME_OCTETS_MAX,
    Arena,
    ArenaError,
    ArenaFull,
    ArenaMismatch,
    required,
)
from venym.hot.layout import record

RECORD = record("RECORD", [("time_ns", "i8"), ("shares", "i4"), ("kind", "u1")], 64)
OTHER = record("OTHER", [("time_ns", "i8"), ("kind", "u1")], 64)
MIB = 1 << 20


@pytest.fixture
def arena() -> Iterator[Arena]:
    made = Arena(MIB, huge_pages="never", lock="never")
    yield made
    made.close()


def address(array: np.ndarray) -> int:
    return array.ctypes.data


# ---- arrays


def test_arrays_are_zeroed_aligned_and_apart(arena: Arena) -> None:
    small = arena.take("small", 3, np.uint8)
    words = arena.take("words", 5, np.int64)
    page = arena.take("page", 1, np.int64, alignment=4096)
    odd = arena.take("odd", 7, np.uint8, alignment=1)
    for array in (small, words, page, odd):
        assert not array.any()
        array.view(np.uint8)[:] = 0xFF
    assert [len(a) for a in (small, words, page, odd)] == [3, 5, 1, 7]
    assert address(small) % 128 == address(words) % 128 == address(page) % 4096 == 0
    assert address(odd) == address(page) + 8
    assert not arena.take("next", 9, np.int64).any(), "neighbours do not reach into it"


def test_records_read_by_field(arena: Arena) -> None:
    orders: Any = arena.take("orders", 4, RECORD)
    orders[2].shares = 100
    assert orders[2].shares == 100 and orders.shares.tolist() == [0, 0, 100, 0]
    assert orders.dtype.fields == RECORD.fields


def test_directory_tells_name_place_and_size(arena: Arena) -> None:
    first, second = arena.take("first", 10, np.int32), arena.take("segundo é", 2, RECORD)
    described = arena.describe()
    assert [(e.name, e.octets, e.items, e.item_octets) for e in described] == [
        ("first", 40, 10, 4),
        ("segundo é", 128, 2, 64),
    ]
    assert described[1].offset - described[0].offset == address(second) - address(first)
    assert arena.octets_left == arena.octets - described[1].offset - 128


def test_same_array_again_by_name(arena: Arena) -> None:
    arena.take("a", 3, RECORD)[1].time_ns = 5
    assert arena.view("a", RECORD)[1].time_ns == 5
    with pytest.raises(ArenaMismatch, match="a: it was made with another layout"):
        arena.view("a", OTHER)
    with pytest.raises(ArenaMismatch, match="another layout"):
        arena.view("a", "V64")
    with pytest.raises(KeyError, match="'b'"):
        arena.view("b", RECORD)


def test_overflow_says_what_was_asked_and_what_is_left(arena: Arena) -> None:
    left = arena.octets_left
    with pytest.raises(
        ArenaFull, match=rf"^levels: {left // 8 + 1} items of 8 octets \({left + 8} in all\) .* {left} of"
    ):
        arena.take("levels", left // 8 + 1, np.int64)
    assert arena.describe() == [], "a refused array leaves no trace"
    arena.take("levels", left // 8, np.int64)[:] = -1
    with pytest.raises(ArenaFull, match=r"^one: .* 0 of the arena's 1048576 octets are left"):
        arena.take("one", 1, np.uint8)
    assert len(arena.take("none", 0, np.uint8)) == 0


def test_directory_full(arena: Arena) -> None:
    for i in range(DIRECTORY_ENTRIES):
        arena.take(f"array {i}", 1, np.int64)
    with pytest.raises(ArenaFull, match=f"last: the directory holds {DIRECTORY_ENTRIES} arrays"):
        arena.take("last", 1, np.int64)
    assert len(arena.describe()) == DIRECTORY_ENTRIES


@pytest.mark.parametrize("name", ["", "x" * (NAME_OCTETS_MAX + 1), "é" * (NAME_OCTETS_MAX // 2 + 1), "a\0b"])
def test_names_that_cannot_be(arena: Arena, name: str) -> None:
    with pytest.raises(ArenaError, match="a name has 1 to 88 octets"):
        arena.take(name, 1, np.int64)


def test_longest_name_and_no_name_twice(arena: Arena) -> None:
    name = "x" * NAME_OCTETS_MAX
    arena.take(name, 1, np.int64)
    assert arena.describe()[0].name == name
    with pytest.raises(ArenaError, match="there is an array of that name already"):
        arena.take(name, 1, np.int64)


@pytest.mark.parametrize("alignment", [0, -1, 3, 96, 4 << 20])
def test_alignments_that_cannot_be(arena: Arena, alignment: int) -> None:
    with pytest.raises(ValueError, match=f"a: alignment {alignment} is not a power of two"):
        arena.take("a", 1, np.int64, alignment)


@pytest.mark.parametrize("count, dtype", [(-1, "i8"), (1, "O"), (1, "V0")])
def test_items_that_cannot_be(arena: Arena, count: int, dtype: str) -> None:
    with pytest.raises(ValueError, match="cannot stand in shared memory"):
        arena.take("a", count, dtype)


ITEMS = st.lists(st.tuples(st.integers(0, 3000), st.sampled_from(["u1", "i8", "f4", RECORD])), max_size=12)


@given(ITEMS)
@settings(max_examples=40, deadline=None)
def test_required_is_enough_and_not_more(items: list) -> None:
    octets = required(items)
    arena = Arena(octets, huge_pages="never", lock="never", touch=False)
    for i, (count, dtype) in enumerate(items):
        assert not arena.take(str(i), count, dtype).view(np.uint8).any()
    assert arena.octets_left == arena.octets - octets
    entries = arena.describe()
    for before, after in itertools.pairwise(entries):
        assert before.offset + before.octets <= after.offset
    arena.close()


def test_too_small_and_misspelt() -> None:
    with pytest.raises(ValueError, match=f"needs {HEADER_OCTETS} octets for itself, 100 "):
        Arena(100)
    with pytest.raises(ValueError, match="huge_pages 'yes' is none of auto, never, always"):
        Arena(MIB, huge_pages="yes")
    with pytest.raises(ValueError, match="lock 'on' is none of"):
        Arena(MIB, lock="on")


def test_more_than_the_machine_has_is_refused_before_it_hurts() -> None:
    with pytest.raises(ArenaError, match=r"octets of memory are needed, \d+ are available"):
        Arena(1 << 45, huge_pages="never")


# ---- unmapping


def test_close_only_without_arrays(arena: Arena) -> None:
    array = arena.take("a", 3, np.int64)
    fd = arena.fd
    with pytest.raises(ArenaError, match="arrays that lie in it are still in use"):
        arena.close()
    array[:] = 7
    assert arena.view("a", np.int64).tolist() == [7, 7, 7], "a refused close changes nothing"
    del array
    arena.close()
    arena.close()
    assert arena.fd == -1
    with pytest.raises(OSError):
        os.fstat(fd)
    with pytest.raises(ArenaError, match="the arena is closed"):
        arena.take("b", 1, np.int64)
    with pytest.raises(ArenaError, match="the arena is closed"):
        arena.describe()


# ---- the second process

ATTACH = """
import sys
import numpy as np
from tests.hot.test_arena import RECORD
from venym.hot.arena import Arena
arena = Arena.attach(int(sys.argv[1]), writable=True)
orders, words = arena.view("orders", RECORD), arena.view("words", np.int64)
assert [e.name for e in arena.describe()] == ["orders", "words"]
assert orders.time_ns.tolist() == [11, 22, 33]
words[:] = np.arange(5) * 10
orders[1].shares = 99
"""


def test_two_processes_share_the_arrays(arena: Arena) -> None:
    orders: Any = arena.take("orders", 3, RECORD)
    words = arena.take("words", 5, np.int64)
    orders.time_ns = [11, 22, 33]
    child.run(ATTACH, arena.fd, pass_fds=[arena.fd])
    assert words.tolist() == [0, 10, 20, 30, 40]
    assert orders.shares.tolist() == [0, 99, 0]


def test_attached_for_reading_cannot_write_nor_take(arena: Arena) -> None:
    words = arena.take("words", 2, np.int64)
    reader = Arena.attach(arena.fd)
    seen = reader.view("words", np.int64)
    words[1] = 5
    assert seen.tolist() == [0, 5]
    with pytest.raises(ValueError, match="read-only"):
        seen[0] = 1
    with pytest.raises(ArenaError, match="arrays are taken by the process that made the arena"):
        reader.take("more", 1, np.int64)
    del seen
    reader.close()
    assert arena.fd >= 0 and words[1] == 5, "the maker's mapping and descriptor are its own"


def test_arrays_taken_later_are_seen(arena: Arena) -> None:
    reader = Arena.attach(arena.fd)
    late = arena.take("late", 1, np.int64)
    late[0] = 3
    assert reader.view("late", np.int64)[0] == 3


def test_nobody_can_cut_the_memory_short(arena: Arena) -> None:
    for size in (0, 4096, 2 * arena.octets):
        with pytest.raises(PermissionError):
            os.ftruncate(arena.fd, size)


def test_not_an_arena(tmp_path: Path, arena: Arena) -> None:
    with open(tmp_path / "file", "w+b") as file, pytest.raises(ArenaMismatch, match="is no memfd"):
        Arena.attach(file.fileno())
    unsealed = os.memfd_create("other", os.MFD_ALLOW_SEALING)
    with pytest.raises(ArenaMismatch, match="is not sealed"):
        Arena.attach(unsealed)
    fcntl.fcntl(unsealed, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
    with pytest.raises(ArenaError, match="0 octets"):
        Arena.attach(unsealed)
    os.ftruncate(unsealed, 4096)
    with pytest.raises(ArenaMismatch, match="4096 octets are too few"):
        Arena.attach(unsealed)
    os.ftruncate(unsealed, MIB)
    with pytest.raises(ArenaMismatch, match=r"does not begin as an arena does \(0x0\)"):
        Arena.attach(unsealed)
    os.close(unsealed)


DAMAGE = [
    ("version", 2, "an arena of version 2, this is version 1"),
    ("entries", 9, "version"),
    ("octets", 5, f"says 5 octets, the memory has {MIB}"),
    ("arrays", -1, "-1 arrays"),
    ("arrays", DIRECTORY_ENTRIES + 1, "arrays in"),
    ("used", MIB + 1, "cannot be"),
    ("used", 0, "cannot be"),
]


@pytest.mark.parametrize("field, value, said", DAMAGE)
def test_damaged_header_is_refused(arena: Arena, field: str, value: int, said: str) -> None:
    arena.take("a", 1, np.int64)
    before = len(os.listdir("/proc/self/fd"))
    arena._header()[field] = value
    with pytest.raises(ArenaMismatch, match=said):
        Arena.attach(arena.fd)
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    "field, value",
    [("offset", 0), ("offset", -128), ("offset", MIB), ("octets", 2**62), ("octets", -8), ("items", 2), ("items", -1)],
)
def test_damaged_directory_is_refused(arena: Arena, field: str, value: int) -> None:
    arena.take("a", 1, np.int64), arena.take("b", 1, np.int64)
    arena._directory()[1][field] = value
    with pytest.raises(ArenaMismatch, match="array 'b' lies where it cannot"):
        Arena.attach(arena.fd)
