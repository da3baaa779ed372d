"""A memfd mapped at a 2 MiB boundary, on large pages where they can be had, touched and locked.

    reserved address space   |..unused..|======== memfd, shared ========|..unused..|
                                        ^ a multiple of 2 MiB

Large pages, in the order tried by "auto": the kernel's reserved 2 MiB pages (hugetlb); else ordinary pages collapsed
into 2 MiB ones at start (MADV_COLLAPSE, which asks neither a sysctl nor a privilege, but needs that boundary); else
4 KiB pages. All of it happens in the constructor: afterwards no mapping changes, and what could not be had is told in
`notes`.
"""

import ctypes
import fcntl
import mmap
import os
import resource

import numpy as np

HUGE_OCTETS = 2 << 20
CHOICES = ("auto", "never", "always")
RESERVED = "/proc/sys/vm/nr_hugepages"

# <linux/mman.h>; some are missing from Python's mmap
_MADV_HUGEPAGE, _MADV_NOHUGEPAGE, _MADV_POPULATE_WRITE, _MADV_COLLAPSE = 14, 15, 23, 25
_MAP_FIXED, _MAP_NORESERVE, _MAP_FAILED = 0x10, 0x4000, ctypes.c_void_p(-1).value
_MLOCK_ONFAULT = 1
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
_libc.mlock2.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_uint]


class ArenaError(Exception):
    """The memory cannot be had, shared or given back as asked."""


class ArenaMismatch(ArenaError):
    """What is attached to is not an arena, or not the one expected."""


def round_up(octets: int, unit: int) -> int:
    return -(-octets // unit) * unit


class Pages:
    """`octets` (a multiple of the page size) of the file `fd`, mapped; `view` is all of it as uint8."""

    def __init__(self, fd: int, octets: int, writable: bool) -> None:
        """Takes `fd` over: it is closed with the mapping, or when there can be none."""
        self.fd, self.octets, self.writable = fd, octets, writable
        self.notes: list[str] = []
        self.reserved = False  # on hugetlb pages
        protection = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        try:
            # Python owns the address space and unmaps it only when no array is left in it; the file is laid over it.
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
            self._map = mmap.mmap(-1, octets + HUGE_OCTETS, flags=flags, prot=protection)
            address = np.frombuffer(self._map, np.uint8).ctypes.data
            self._start = -address % HUGE_OCTETS
            address += self._start
            if _libc.mmap(address, octets, protection, mmap.MAP_SHARED | _MAP_FIXED, fd, 0) == _MAP_FAILED:
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
        except OSError as error:
            os.close(fd)
            raise ArenaError(f"{octets} octets cannot be mapped ({error})") from error
        self.view = self._bind()

    @classmethod
    def make(cls, octets: int, huge_pages: str, lock: str, touch: bool) -> "Pages":
        """A new file of at least `octets`; see :class:`venym.hot.arena.Arena` for the words."""
        for name, choice in (("huge_pages", huge_pages), ("lock", lock)):
            if choice not in CHOICES:
                raise ValueError(f"{name} {choice!r} is none of {', '.join(CHOICES)}")
        notes: list[str] = []
        octets = round_up(octets, mmap.PAGESIZE if huge_pages == "never" else HUGE_OCTETS)
        made = _reserved_pages(octets, huge_pages, notes) if huge_pages != "never" else None
        if made is None:
            if touch:
                _check_available(octets)
            made = cls(_make_file(octets, 0), octets, True)
        made.notes = notes
        fcntl.fcntl(made.fd, fcntl.F_ADD_SEALS, _SEALS)
        if not made.reserved:
            made._advise(_MADV_NOHUGEPAGE if huge_pages == "never" else _MADV_HUGEPAGE)
        if touch:
            made._touch()
            if huge_pages == "auto" and not made.reserved:
                made._collapse()
        if lock != "never" and not made.reserved:  # reserved pages are never swapped
            made._lock(must=lock == "always", on_fault=not touch)
        return made

    @classmethod
    def share(cls, fd: int, writable: bool) -> "Pages":
        """The memory behind another process's descriptor, which stays the caller's."""
        try:
            seals = fcntl.fcntl(fd, fcntl.F_GET_SEALS)
        except OSError as error:
            raise ArenaMismatch(f"descriptor {fd} is no memfd ({error})") from error
        if not seals & fcntl.F_SEAL_SHRINK:
            raise ArenaMismatch(f"descriptor {fd} can be cut short by others: it is not sealed")
        return cls(fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3), os.fstat(fd).st_size, writable)

    def close(self) -> None:
        """Unmap and close the descriptor. Raises ArenaError, and changes nothing, while arrays in it are alive."""
        if self.fd < 0:
            return
        del self.view
        try:
            self._map.close()
        except BufferError as error:
            self.view = self._bind()
            raise ArenaError("the memory cannot be unmapped: arrays that lie in it are still in use") from error
        os.close(self.fd)
        self.fd = -1

    def _bind(self) -> np.ndarray:
        return np.frombuffer(self._map, np.uint8, self.octets, self._start)

    def _advise(self, advice: int) -> bool:
        """madvise(2) over all of it; False when this kernel does not know or refuses the advice."""
        try:
            self._map.madvise(advice, self._start, self.octets)
        except OSError:
            return False
        return True

    def _touch(self) -> None:
        if not self._advise(_MADV_POPULATE_WRITE):  # before Linux 5.14, or out of memory
            self.view[:: mmap.PAGESIZE] = 0

    def _collapse(self) -> None:
        self._advise(_MADV_COLLAPSE)
        self._advise(_MADV_NOHUGEPAGE)  # what was collapsed stays so; the kernel's own thread shall not go on with it
        large = _mapped_large_octets(self.view.ctypes.data)
        if large < self.octets:
            self.notes.append(f"{self.octets - large} of {self.octets} octets lie on {mmap.PAGESIZE} octet pages")

    def _lock(self, must: bool, on_fault: bool) -> None:
        if _libc.mlock2(self.view.ctypes.data, self.octets, _MLOCK_ONFAULT if on_fault else 0) == 0:
            return
        reason = os.strerror(ctypes.get_errno())
        limit, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        said = f"{self.octets} octets cannot be locked in memory ({reason}; RLIMIT_MEMLOCK is {limit})"
        if must:
            self.close()
            raise ArenaError(said)
        self.notes.append(said)


def _make_file(octets: int, flags: int) -> int:
    fd = os.memfd_create("venym", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | flags)
    try:
        os.ftruncate(fd, octets)
    except OSError as error:
        os.close(fd)
        raise ArenaError(f"{octets} octets cannot be had ({error})") from error
    return fd


def _reserved_pages(octets: int, huge_pages: str, notes: list[str]) -> Pages | None:
    """The memory on reserved 2 MiB pages, or None and a note why not. Mapping reserves, so nothing faults later."""
    try:
        made = Pages(_make_file(octets, os.MFD_HUGETLB | os.MFD_HUGE_2MB), octets, True)
        made.reserved = True
        return made
    except (OSError, ArenaError) as error:
        reason = f"no {octets // HUGE_OCTETS} reserved 2 MiB pages (see {RESERVED}): {error}"
    if huge_pages == "always":
        raise ArenaError(reason)
    notes.append(reason)
    return None


def _check_available(octets: int) -> None:
    """Touching more than there is ends the process without a word."""
    with open("/proc/meminfo", encoding="ascii") as lines:
        held = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.endswith("kB\n")}
    available = held.get("MemAvailable", octets)
    if octets > available:
        raise ArenaError(f"{octets} octets of memory are needed, {available} are available")


def _mapped_large_octets(address: int) -> int:
    """Octets of the mapping at `address` that lie on 2 MiB pages, from /proc/self/smaps."""
    at = f"{address:x}-"
    found = False
    with open("/proc/self/smaps", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith(at):
                found = True
            elif found and line.startswith("ShmemPmdMapped:"):
                return int(line.split()[1]) * 1024
    return 0
