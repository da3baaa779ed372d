"""The memory below an arena: large pages, touched pages, locked pages, and a word about what could not be had."""

import ctypes
import mmap
import os
import re
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.hot import child
from tests.hot.test_arena import MIB, address
from venym.hot.arena import Arena, ArenaError


def smaps(arena: Arena, field: str) -> int:
    """A figure of the arena's mapping in octets, as the kernel tells it."""
    first = f"{address(arena._cut(0, 1, np.dtype('u1'))):x}-"
    rest = Path("/proc/self/smaps").read_text().split("\n" + first)[1]
    found = re.search(rf"^{field}:\s+(\d+) kB", rest, re.M)
    return int(found[1]) * 1024 if found else 0


def test_touched_pages_exist_and_untouched_do_not() -> None:
    touched = Arena(8 * MIB, huge_pages="never", lock="never")
    sparse = Arena(8 * MIB, huge_pages="never", lock="never", touch=False)
    assert smaps(touched, "Rss") == 8 * MIB
    assert smaps(sparse, "Rss") < MIB
    assert smaps(touched, "ShmemPmdMapped") == 0, "never means never"
    touched.close()
    sparse.close()


def test_large_pages_or_a_note() -> None:
    arena = Arena(5 * MIB)
    assert arena.octets == 6 * MIB, "whole large pages"
    array = arena.take("a", 100, np.int64, alignment=2 * MIB)
    assert address(array) % (2 * MIB) == 0 and not array.any()
    large = smaps(arena, "ShmemPmdMapped") + smaps(arena, "Shared_Hugetlb") + smaps(arena, "Private_Hugetlb")
    if large < arena.octets:
        assert f"{arena.octets - large} of {arena.octets} octets lie on {mmap.PAGESIZE} octet pages" in arena.notes
    del array
    arena.close()


RESERVED = Path("/proc/sys/vm/nr_hugepages")


@pytest.fixture
def reserved_pages() -> Iterator[int]:
    """Eight 2 MiB pages more than there were, for the time of the test."""
    before = RESERVED.read_text()
    try:
        RESERVED.write_text(str(int(before) + 8))
    except OSError as error:
        pytest.skip(f"needs 2 MiB pages to reserve: {error}")
    try:
        if int(RESERVED.read_text()) < int(before) + 8:
            pytest.skip("needs 2 MiB pages to reserve: the kernel has no more")
        yield 8
    finally:
        RESERVED.write_text(before)


@pytest.mark.parametrize("huge_pages", ["auto", "always"])
def test_reserved_pages_are_used(reserved_pages: int, huge_pages: str) -> None:
    arena = Arena(16 * MIB, huge_pages=huge_pages, lock="always")
    assert arena.notes == []
    assert smaps(arena, "KernelPageSize") == 2 * MIB
    assert smaps(arena, "Shared_Hugetlb") + smaps(arena, "Private_Hugetlb") == 16 * MIB
    words = arena.take("words", 4, np.int64)
    words[:] = 6
    reader = Arena.attach(arena.fd)
    assert reader.view("words", np.int64).tolist() == [6] * 4
    reader.close()
    del words
    arena.close()


def test_no_reserved_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    octets = (int(RESERVED.read_text()) + 1) * 2 * MIB
    with pytest.raises(ArenaError, match=rf"no \d+ reserved 2 MiB pages \(see {RESERVED}\)"):
        Arena(octets, huge_pages="always", touch=False)
    arena = Arena(octets, huge_pages="auto", lock="never", touch=False)
    assert len(arena.notes) == 1 and str(RESERVED) in arena.notes[0]
    arena.close()


# ---- locking

LOCK = """
import sys
from venym.hot.arena import Arena, ArenaError
try:
    arena = Arena(4 << 20, huge_pages="never", lock=sys.argv[1], touch=sys.argv[2] == "touch")
except ArenaError as error:
    print("refused:", error)
else:
    print("notes:", arena.notes)
    print("locked:", [l.split()[1] for l in open("/proc/self/status") if l.startswith("VmLck")][0])
"""


def unable_to_lock() -> None:
    """In the child, before it starts: 64 KiB may be locked, and nothing allows more."""
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))
    cap_ipc_lock, pr_capbset_drop = 14, 24
    ctypes.CDLL(None).prctl(pr_capbset_drop, cap_ipc_lock, 0, 0, 0)


@pytest.mark.parametrize("touch", ["touch", "sparse"])
def test_lock_refused_is_noted_or_fatal(touch: str) -> None:
    said = r"4194304 octets cannot be locked in memory \(.*; RLIMIT_MEMLOCK is 65536\)"
    assert re.match(rf"notes: \['{said}'\]\nlocked: 0", child.run(LOCK, "auto", touch, preexec_fn=unable_to_lock)[0])
    assert re.match(rf"refused: {said}", child.run(LOCK, "always", touch, preexec_fn=unable_to_lock)[0])
    assert child.run(LOCK, "never", touch, preexec_fn=unable_to_lock)[0] == "notes: []\nlocked: 0\n"


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root: to lock 4 MiB")
@pytest.mark.parametrize("touch", ["touch", "sparse"])
def test_locked_when_allowed(touch: str) -> None:
    out, _ = child.run(LOCK, "always", touch)
    assert "notes: []" in out and "locked: 4096" in out
