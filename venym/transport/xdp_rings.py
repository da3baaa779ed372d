"""AF_XDP sockets: their frames, and the rings they share with the kernel, as arrays.

    frames   | socket 0: frame frame frame … | socket 1: frame … |          one array, cut into chunks
    rings    | socket 0: receive | fill | socket 1: receive | fill |       one stretch of addresses
                         │           └ producer consumer flags, then chunk addresses: frames for the kernel to fill
                         └ producer consumer flags, then descriptors: address 8, length 4, options 4: frames filled

A socket has memory of its own (UMEM), a stretch of `frames`, and addresses count from its start. All rings lie in one
array, so that compiled code has one type for any number of sockets; `places` says where. Indices are 32-bit counts that
wrap. A ring holds all frames of its socket: neither can overflow.
"""

import ctypes
import errno
import mmap
import os
import socket
import struct
import time
from typing import NamedTuple

import numpy as np

from ..hot.pages import Pages, round_up
from .interface import Interface
from .xdp_errors import XdpError, XdpMemoryLimit, XdpMode, XdpPermission, XdpQueueBusy, XdpQueues, XdpUnsupported

AF_XDP = 44
_SOL_XDP = 283
_MMAP_OFFSETS, _RX_RING, _UMEM_REG, _FILL_RING, _COMPLETION_RING, _STATISTICS, _OPTIONS = 1, 2, 4, 5, 6, 7, 8
_COPY, _ZERO_COPY, _NEED_WAKEUP = 2, 4, 8
_RX_OFFSET, _FILL_OFFSET = 0, 0x1_0000_0000
_DESCRIPTOR_OCTETS, _ADDRESS_OCTETS = 16, 8
_COMPLETION_ENTRIES = 64  # nothing is sent, but no socket binds without
_MAP_FIXED, _MAP_FAILED = 0x10, ctypes.c_void_p(-1).value
BIND_WAIT_S, BIND_PAUSE_S = 2.0, 0.005  # a closed socket leaves its queue some milliseconds later

_libc = ctypes.CDLL(None, use_errno=True)
_libc.mmap.restype = ctypes.c_void_p
_libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]

# Columns of `places`. Producers, consumers and flags index uint32, descriptors and addresses int64 words of the rings.
(
    RX_PRODUCER,
    RX_CONSUMER,
    RX_DESCRIPTORS,
    FILL_PRODUCER,
    FILL_CONSUMER,
    FILL_FLAGS,
    FILL_ADDRESSES,
    MASK,  # entries of either ring, less 1
    BASE,  # of the socket's memory in `frames`
    OCTETS,  # of its memory
    FD,
    INTERFACE,  # number of its interface
    PLACES,
) = range(13)

KERNEL_COUNTS = (
    "dropped",  # no frame to fill, or a frame too long
    "invalid_descriptors",
    "invalid_sends",
    "ring_full",
    "fill_ring_empty",
    "send_ring_empty",
)  # struct xdp_statistics


class Stretch:
    """Address space of ours, over which parts of other files are laid and from which they are taken away again: arrays
    in it stay readable whatever became of the file."""

    def __init__(self, octets: int) -> None:
        self._map = mmap.mmap(-1, octets, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.octets = np.frombuffer(self._map, np.uint8)

    def lay(self, at: int, octets: int, fd: int, offset: int) -> None:
        """Raises OSError."""
        self._place(at, octets, mmap.MAP_SHARED | mmap.MAP_POPULATE, fd, offset)

    def detach(self) -> None:
        """Lay memory of our own over all of it, with the same octets: what lay there is given up."""
        held = self.octets.copy()
        self._place(0, len(self.octets), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
        self.octets[:] = held

    def _place(self, at: int, octets: int, flags: int, fd: int, offset: int) -> None:
        address = self.octets.ctypes.data + at
        if _libc.mmap(address, octets, mmap.PROT_READ | mmap.PROT_WRITE, flags | _MAP_FIXED, fd, offset) == _MAP_FAILED:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


class Seat(NamedTuple):
    """Where one socket belongs: a receive queue of an interface, the interface being the `number`-th."""

    interface: Interface
    number: int
    queue: int


class Rings:
    """The sockets of these seats with `frames_each` frames of `chunk_octets` each; nothing is bound yet.

    frames   (n,) uint8 memory of all sockets, one after another
    octets   (n,) uint8, the rings
    places   (sockets, PLACES) int64

    Raises XdpError: XdpUnsupported, XdpPermission, XdpMemoryLimit; ArenaError when there is no such memory.
    """

    def __init__(self, seats: list[Seat], frames_each: int, chunk_octets: int, huge_pages: str) -> None:
        self.seats, self._frames_each, self._chunk_octets = seats, frames_each, chunk_octets
        self._entries_each = 1 << (frames_each - 1).bit_length()
        self._each_octets = round_up(frames_each * chunk_octets, mmap.PAGESIZE)
        self.sockets: list[socket.socket] = []
        self._pages = Pages.make(self._each_octets * len(seats), huge_pages, "never", True)
        self.notes = list(self._pages.notes)
        self.frames = self._pages.view[: self._each_octets * len(seats)]
        self.places = np.zeros((len(seats), PLACES), np.int64)
        self._stretch: Stretch | None = None
        self.octets: np.ndarray
        try:
            for number, seat in enumerate(seats):
                self._open(number, seat)
        except BaseException:
            self.close()
            raise
        assert self._stretch is not None
        self.octets = self._stretch.octets
        self._fill()

    def bind(self, number: int, zero_copy: str, wait_s: float = BIND_WAIT_S) -> bool:
        """Bind one socket to its queue; is it without copies? `zero_copy`: auto, always or never.

        Raises XdpQueueBusy when the queue does not become free in `wait_s` seconds, XdpMode, XdpQueues, XdpPermission.
        """
        seat = self.seats[number]
        wanted = {"never": _COPY, "always": _ZERO_COPY, "auto": 0}[zero_copy] | _NEED_WAKEUP
        name = struct.pack("=HHIII", AF_XDP, wanted, seat.interface.ifindex, seat.queue, 0)
        where = f"queue {seat.queue} of {seat.interface.name}"
        held, fd = ctypes.create_string_buffer(name, len(name)), self.sockets[number].fileno()
        give_up = time.monotonic() + wait_s
        while _libc.bind(fd, held, len(name)) != 0:
            wrong = ctypes.get_errno()
            if wrong == errno.EBUSY and time.monotonic() < give_up:
                time.sleep(BIND_PAUSE_S)
                continue
            raise _bind_error(wrong, where, zero_copy, wait_s)
        options = self.sockets[number].getsockopt(_SOL_XDP, _OPTIONS, 4)
        return bool(struct.unpack("=I", options)[0] & 1)

    def kernel_counts(self, number: int) -> dict[str, int]:
        """What the kernel counted of one socket: KERNEL_COUNTS."""
        size = 8 * len(KERNEL_COUNTS)
        held = self.sockets[number].getsockopt(_SOL_XDP, _STATISTICS, size).ljust(size, b"\0")
        return dict(zip(KERNEL_COUNTS, struct.unpack(f"={len(KERNEL_COUNTS)}Q", held), strict=True))

    def close(self) -> None:
        """Give the sockets up. The arrays stay as they are, and die with the last who holds them."""
        self.places[:, FD] = -1
        if self._stretch is not None:
            self._stretch.detach()  # a mapping holds its socket, and the socket its queue
        for opened in self.sockets:
            opened.close()
        self.sockets = []
        if self._pages.fd >= 0:
            os.close(self._pages.fd)
            self._pages.fd = -1

    def _open(self, number: int, seat: Seat) -> None:
        try:
            opened = socket.socket(AF_XDP, socket.SOCK_RAW | socket.SOCK_CLOEXEC, 0)
        except OSError as error:
            if error.errno in (errno.EPERM, errno.EACCES):
                raise XdpPermission("an AF_XDP socket needs the capability CAP_NET_RAW") from error
            raise XdpUnsupported(f"this kernel has no AF_XDP ({error.strerror}): CONFIG_XDP_SOCKETS") from error
        self.sockets.append(opened)
        base = number * self._each_octets
        octets = self._frames_each * self._chunk_octets
        memory = (self.frames.ctypes.data + base, octets, self._chunk_octets, 0, 0, 0)
        try:
            opened.setsockopt(_SOL_XDP, _UMEM_REG, struct.pack("=QQIIII", *memory))
        except OSError as error:
            if error.errno in (errno.ENOBUFS, errno.EPERM, errno.ENOMEM):
                total = octets * len(self.seats)
                raise XdpMemoryLimit(
                    f"{octets} octets of frames cannot be locked in memory for queue {seat.queue} of "
                    f"{seat.interface.name} ({error.strerror}; {total} in all): raise RLIMIT_MEMLOCK "
                    "(LimitMEMLOCK=infinity), or give the process CAP_IPC_LOCK"
                ) from error
            raise XdpUnsupported(f"the kernel refuses frames of {self._chunk_octets} octets ({error})") from error
        entries = struct.pack("=I", self._entries_each)
        opened.setsockopt(_SOL_XDP, _FILL_RING, entries)
        opened.setsockopt(_SOL_XDP, _COMPLETION_RING, struct.pack("=I", _COMPLETION_ENTRIES))
        opened.setsockopt(_SOL_XDP, _RX_RING, entries)
        self._lay(number, seat, opened, base, octets)

    def _lay(self, number: int, seat: Seat, opened: socket.socket, base: int, octets: int) -> None:
        """Map one socket's rings to their place. struct xdp_mmap_offsets: producer, consumer, entries and flags of the
        receive ring, then of the send ring, then of the fill ring."""
        offsets = struct.unpack("=16Q", opened.getsockopt(_SOL_XDP, _MMAP_OFFSETS, 128))
        rx, fill = offsets[0:4], offsets[8:12]
        rx_octets = round_up(rx[2] + self._entries_each * _DESCRIPTOR_OCTETS, mmap.PAGESIZE)
        fill_octets = round_up(fill[2] + self._entries_each * _ADDRESS_OCTETS, mmap.PAGESIZE)
        if self._stretch is None:
            self._stretch = Stretch((rx_octets + fill_octets) * len(self.seats))
        rx_at = (rx_octets + fill_octets) * number
        fill_at = rx_at + rx_octets
        try:
            self._stretch.lay(rx_at, rx_octets, opened.fileno(), _RX_OFFSET)
            self._stretch.lay(fill_at, fill_octets, opened.fileno(), _FILL_OFFSET)
        except OSError as error:
            raise XdpError(f"the rings of {seat.interface.name} cannot be mapped ({error})") from error
        row = self.places[number]
        row[RX_PRODUCER], row[RX_CONSUMER] = (rx_at + rx[0]) // 4, (rx_at + rx[1]) // 4
        row[FILL_PRODUCER], row[FILL_CONSUMER] = (fill_at + fill[0]) // 4, (fill_at + fill[1]) // 4
        row[FILL_FLAGS] = (fill_at + fill[3]) // 4
        row[RX_DESCRIPTORS], row[FILL_ADDRESSES] = (rx_at + rx[2]) // 8, (fill_at + fill[2]) // 8
        row[MASK], row[BASE], row[OCTETS] = self._entries_each - 1, base, octets
        row[FD], row[INTERFACE] = opened.fileno(), seat.number

    def _fill(self) -> None:
        """Hand every frame to the kernel, before anything is bound."""
        addresses = self._chunk_octets * np.arange(self._frames_each)
        for row in self.places:
            self.octets.view(np.int64)[row[FILL_ADDRESSES] :][: self._frames_each] = addresses
            self.octets.view(np.uint32)[row[FILL_PRODUCER]] = self._frames_each


def _bind_error(wrong: int, where: str, zero_copy: str, wait_s: float) -> XdpError:
    said = os.strerror(wrong)
    if wrong == errno.EBUSY:
        return XdpQueueBusy(f"{where}: another AF_XDP socket has held it for {wait_s:g} s; find it with `ss --xdp`")
    if zero_copy == "always" and wrong in (errno.EOPNOTSUPP, errno.EINVAL, 524):  # 524: the kernel's own ENOTSUPP
        return XdpMode(f"{where}: the driver has no zero copy ({said}); zero_copy = auto would do with copies")
    if wrong in (errno.EPERM, errno.EACCES):
        return XdpPermission(f"{where}: binding needs the capability CAP_NET_RAW ({said})")
    if wrong == errno.EINVAL:
        return XdpQueues(f"{where}: there is no such queue, or it has no XDP ({said})")
    if wrong == errno.ENETDOWN:
        return XdpError(f"{where}: the interface is down: ip link set up")
    return XdpError(f"{where}: the socket cannot be bound ({said})")
