"""One shared memory that holds every array of the process.

    0        128                64 KiB + 128
    | header | directory (512 entries) | array | array | .......... free .......... |
      magic    name, offset, octets,     each named, aligned, zeroed
      version  items, item octets,
      sizes    layout digest

The memory is a memfd called "venym", sealed against shrinking. A second process that is handed the file descriptor maps
the same memory with :meth:`Arena.attach` and finds every array by name; an array is only given out under the dtype it
was made with. Arrays are taken at start, by one process, and never given back.
"""

import hashlib
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from .layout import PAIR_BYTES, as_records, record
from .pages import HUGE_OCTETS, ArenaError, ArenaMismatch, Pages, round_up

__all__ = ["Arena", "ArenaError", "ArenaFull", "ArenaMismatch", "Entry", "required"]

MAGIC = int.from_bytes(b"venymMEM", "little")
VERSION = 1
DIRECTORY_ENTRIES = 512
NAME_OCTETS_MAX = 88

HEADER = record(
    "HEADER",
    [
        ("magic", "i8"),  # written last
        ("octets", "i8"),  # of the whole memory
        ("used", "i8"),  # octets given out, header and directory included
        ("arrays", "i8"),  # entries in the directory
        ("version", "i8"),
        ("entries", "i8"),  # the directory can hold
    ],
    128,
)
ENTRY = record(
    "ENTRY",
    [
        ("offset", "i8"),
        ("octets", "i8"),
        ("items", "i8"),
        ("item_octets", "i8"),
        ("layout", "i8"),  # digest of the dtype
        ("name", f"S{NAME_OCTETS_MAX}"),
    ],
    128,
)
HEADER_OCTETS = HEADER.itemsize + DIRECTORY_ENTRIES * ENTRY.itemsize


class ArenaFull(ArenaError):
    """An array, or its entry in the directory, does not fit any more."""


class Entry(NamedTuple):
    """One array's place in the memory."""

    name: str
    offset: int
    octets: int
    items: int
    item_octets: int


def required(items: Iterable[tuple[int, Any]], alignment: int = PAIR_BYTES) -> int:
    """The octets an arena must have to hold these arrays, given as (count, dtype), and its own header."""
    octets = HEADER_OCTETS
    for count, dtype in items:
        octets = round_up(octets, alignment) + count * np.dtype(dtype).itemsize
    return octets


class Arena:
    """At least `octets` of shared memory, of which `take` cuts arrays.

    huge_pages  auto    2 MiB pages where they can be had
                always  reserved 2 MiB pages, or ArenaError
                never   ordinary pages, for good
    lock        auto    kept from being swapped out, if the process may
                always  or ArenaError
                never   not asked for
    touch       True: every page exists before the constructor returns, so that none is faulted in later.
                False: pages come (and are locked) when first used; for work on files, where most stay unused.

    `fd` is the memory's file descriptor, `octets` its size, `notes` what could not be had. Raises ArenaError also when
    the machine has not the memory, and ValueError for a word that is not one of the three.
    """

    def __init__(self, octets: int, huge_pages: str = "auto", lock: str = "auto", touch: bool = True) -> None:
        if octets < HEADER_OCTETS:
            raise ValueError(f"an arena needs {HEADER_OCTETS} octets for itself, {octets} were asked for")
        self._use(Pages.make(octets, huge_pages, lock, touch), attached=False)
        header = self._header()
        header.version, header.entries = VERSION, DIRECTORY_ENTRIES
        header.octets, header.used = self.octets, HEADER_OCTETS
        header.magic = MAGIC

    @classmethod
    def attach(cls, fd: int, writable: bool = False) -> "Arena":
        """The arena of another process, through its file descriptor (which stays the caller's).

        Raises ArenaMismatch, naming what is wrong, when `fd` is not an arena of this version or its directory does
        not hold together.
        """
        pages = Pages.share(fd, writable)
        arena = cls.__new__(cls)
        arena._use(pages, attached=True)
        try:
            arena._validate()
        except ArenaMismatch:
            pages.close()
            raise
        return arena

    def take(self, name: str, count: int, dtype: Any, alignment: int = PAIR_BYTES) -> np.ndarray:
        """`count` zeroed items of `dtype` (a recarray if it has fields), entered in the directory as `name`.

        Raises ArenaFull when the array or its entry does not fit, ArenaError when the name is taken or too long or
        the arena is attached or closed, ValueError for a count, dtype or alignment that cannot be.
        """
        dtype = np.dtype(dtype)
        if alignment < 1 or alignment & (alignment - 1) or alignment > HUGE_OCTETS:
            raise ValueError(f"{name}: alignment {alignment} is not a power of two of at most {HUGE_OCTETS}")
        if count < 0 or dtype.hasobject or dtype.itemsize == 0:
            raise ValueError(f"{name}: {count} items of {dtype} cannot stand in shared memory")
        self._check_name(name)
        header, octets = self._header(), count * dtype.itemsize
        offset = round_up(int(header.used), alignment)
        if offset + octets > self.octets:
            raise ArenaFull(
                f"{name}: {count} items of {dtype.itemsize} octets ({octets} in all) were asked for, "
                f"{max(self.octets - offset, 0)} of the arena's {self.octets} octets are left"
            )
        if header.arrays == DIRECTORY_ENTRIES:
            raise ArenaFull(f"{name}: the directory holds {DIRECTORY_ENTRIES} arrays and is full")
        entry = self._directory()[header.arrays]
        entry.offset, entry.octets, entry.items, entry.item_octets = offset, octets, count, dtype.itemsize
        entry.layout, entry.name = _layout_digest(dtype), name.encode()
        header.used = offset + octets
        header.arrays += 1
        return self._cut(offset, octets, dtype)

    def view(self, name: str, dtype: Any) -> np.ndarray:
        """The array called `name`; read-only in an arena attached so.

        Raises KeyError when there is none, ArenaMismatch when it was made with another dtype.
        """
        dtype = np.dtype(dtype)
        for entry in self._entries():
            if entry.name == name.encode():
                if entry.item_octets != dtype.itemsize or entry.layout != _layout_digest(dtype):
                    raise ArenaMismatch(f"{name}: it was made with another layout than {dtype}")
                return self._cut(int(entry.offset), int(entry.octets), dtype)
        raise KeyError(f"the arena holds no array called {name!r}")

    def describe(self) -> list[Entry]:
        """The directory, in the order the arrays were taken."""
        return [
            Entry(entry.name.decode(), *(int(entry[field]) for field in Entry._fields[1:])) for entry in self._entries()
        ]

    @property
    def fd(self) -> int:
        """The memory's descriptor, -1 once closed."""
        return self._pages.fd

    @property
    def octets_left(self) -> int:
        """Octets not given out."""
        return self.octets - int(self._header().used)

    def close(self) -> None:
        """Unmap the memory and close the descriptor; a second time does nothing. Raises ArenaError, and changes
        nothing, while arrays that lie in the memory are alive."""
        self._pages.close()

    def _use(self, pages: Pages, attached: bool) -> None:
        self._pages, self._attached = pages, attached
        self.octets, self.notes = pages.octets, pages.notes

    def _cut(self, offset: int, octets: int, dtype: np.dtype) -> np.ndarray:
        if self.fd < 0:
            raise ArenaError("the arena is closed")
        return as_records(self._pages.view[offset : offset + octets].view(dtype))

    def _header(self) -> Any:
        return self._cut(0, HEADER.itemsize, HEADER)[0]

    def _directory(self) -> Any:
        return self._cut(HEADER.itemsize, DIRECTORY_ENTRIES * ENTRY.itemsize, ENTRY)

    def _entries(self) -> Any:
        """The used part of the directory, copied: no view of the memory stays behind in a traceback."""
        return self._directory()[: self._header().arrays].copy()

    def _check_name(self, name: str) -> None:
        if self._attached:
            raise ArenaError(f"{name}: arrays are taken by the process that made the arena")
        if not 0 < len(name.encode()) <= NAME_OCTETS_MAX or "\0" in name:
            raise ArenaError(f"{name!r}: a name has 1 to {NAME_OCTETS_MAX} octets, none of them 0")
        if any(entry.name == name.encode() for entry in self._entries()):
            raise ArenaError(f"{name}: there is an array of that name already")

    def _validate(self) -> None:
        """Raise ArenaMismatch unless header and directory are what this version writes."""
        if self.octets < HEADER_OCTETS:
            raise ArenaMismatch(f"{self.octets} octets are too few for an arena")
        header = self._header().copy()
        if header.magic != MAGIC:
            raise ArenaMismatch(f"the memory does not begin as an arena does ({int(header.magic):#x})")
        if header.version != VERSION or header.entries != DIRECTORY_ENTRIES:
            raise ArenaMismatch(f"an arena of version {header.version}, this is version {VERSION}")
        if header.octets != self.octets:
            raise ArenaMismatch(f"the arena says {header.octets} octets, the memory has {self.octets}")
        if not 0 <= header.arrays <= DIRECTORY_ENTRIES or not HEADER_OCTETS <= header.used <= self.octets:
            raise ArenaMismatch(f"{header.arrays} arrays in {header.used} octets cannot be")
        end = HEADER_OCTETS
        for entry in self._entries():
            whole = entry.items * entry.item_octets == entry.octets and entry.octets >= 0
            if not whole or entry.offset < end or entry.octets > header.used - entry.offset:
                raise ArenaMismatch(f"array {entry.name.decode(errors='replace')!r} lies where it cannot")
            end = entry.offset + entry.octets


def _layout_digest(dtype: np.dtype) -> int:
    """A number for the fields, types and offsets of a dtype."""
    fields = {name: [str(part) for part in field[:2]] for name, field in (dtype.fields or {}).items()} or dtype.str
    digest = hashlib.sha256(repr((fields, dtype.itemsize)).encode()).digest()
    return int.from_bytes(digest[:8], "little", signed=True)
