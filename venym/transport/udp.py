"""Datagrams of the lines, polled in compiled code into frames: no Python a packet, nothing ever waits.

    socket 0 ─┐                        frames  |.........|#########|.........|    slots of `slot_octets`
    socket 1 ─┼─ recvmsg, in turn ──▶           ▲ slot TAKEN % slots
    socket 2 ─┘                        PACKET  offset, length, line, received_ns

One datagram a call: measured on a loopback that costs 950 ns for the one that is there, against 1,220 for `recvmmsg`,
which asks for a second one in vain; when datagrams wait in a row it is 1,120 against 830 each, and either keeps up with
500,000 a second. Without stamps `recv` will do: 680 ns. To ask a socket in vain costs 450 ns, 330 without stamps; so a
socket that gives is asked again, but no more than STAY times before the others have their turn.

`received_ns` is nanoseconds since the Unix epoch: when the kernel took the datagram from the card, or, with hardware
stamps, when the card had it, by the card's own clock (which is as good as what keeps it; PTP's TAI, where that runs, is
the caller's to convert). 0: not asked for, or not told.

A datagram longer than a slot is cut by the kernel; it is counted and not handed on, so that it shows as a gap. What the
kernel had no room for is counted as it tells it, with the next datagram.

The caller lets a slot be used anew only when whoever reads has done with it: `slots` is at least the number of packets
that can be on their way.
"""

import os
import socket
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np

from ..hot.intrinsics import le32, le64, slot_at
from ..hot.jit import inner, step
from ..hot.layout import aligned
from ..hot.libc import EAGAIN, EINTR, MSG_DONTWAIT, MSG_TRUNC, address, make_messages, recv, recvmsg
from ..metrics import (
    UDP_DROPPED,
    UDP_ERRORS,
    UDP_NOT_HARDWARE,
    UDP_OCTETS,
    UDP_PACKETS,
    UDP_TOO_LONG,
    UDP_UNSTAMPED,
)
from ..records import MOLDUDP64
from .lines import Line, LineError, check_lines
from .sockets import STAMPS, Options, UdpError, dropped, open_line

__all__ = ["LINE_WORDS", "TAKEN", "Context", "Line", "LineError", "Options", "Udp", "UdpError", "open_udp", "receive"]

Take = Callable[[str, int, np.dtype], np.ndarray]

# Words of `words`.
TAKEN, TURN, LEFT, ERROR, ERROR_LINE, SLOTS, SLOT_OCTETS, STAMPING = range(8)
WORDS = 16
STAY = 4  # datagrams of one socket in a row, while others may wait
LINE_WORDS = 8  # of `counts`, a cache line for each line
SOFTWARE, HARDWARE, NONE = range(3)  # STAMPING, in the order of STAMPS

CONTROL_OCTETS = 128  # for the control messages: 64 for three stamps, 24 for the count of what was dropped
_HEADER_OCTETS = 16  # of a control message: length 8, level 4, type 4
_SOL_SOCKET, _SO_TIMESTAMPNS, _SO_TIMESTAMPING, _SO_RXQ_OVFL = 1, 35, 37, 40
SECOND_NS = 1_000_000_000
OVFL_MASK = 0xFFFFFFFF


class Context(NamedTuple):
    """frames (slots * slot_octets,) uint8.

    descriptors (n,) int64, of the sockets; numbers (n,) int64, of their lines; counts (n * LINE_WORDS,) int64,
    metrics.UDP of each. words (16,) int64: TAKEN packets handed on; TURN of the socket that is asked first, LEFT
    datagrams it may give before the next one's turn; ERROR, the number of the last call that was refused, and of which
    socket; SLOTS, SLOT_OCTETS, STAMPING. What recvmsg is told, and tells: message (1,) MESSAGE, vectors (1,) VECTOR,
    control (CONTROL_OCTETS,) uint8.
    """

    frames: np.ndarray
    descriptors: np.ndarray
    numbers: np.ndarray
    counts: np.ndarray
    words: np.ndarray
    message: np.ndarray
    vectors: np.ndarray
    control: np.ndarray


class Udp:
    """The open lines. `context` is for `receive`; `lines` those that there are, in the order of the context's arrays;
    `notes` a sentence for each thing that is not as asked for."""

    def __init__(self, context: Context, lines: list[Line], sockets: list[socket.socket], notes: list[str]) -> None:
        self.context, self.lines, self.notes = context, lines, notes
        self._sockets = sockets

    def dropped(self) -> list[int]:
        """Datagrams that the kernel had no room for, so far (modulo 2**32), of each line: at once, and without
        stamps too. Raises OSError."""
        return [dropped(made) for made in self._sockets]

    def error(self) -> str:
        """The last call that the system refused, and of which line; "" if none was."""
        number = int(self.context.words[ERROR])
        return f"{self.lines[int(self.context.words[ERROR_LINE])]}: {os.strerror(number)}" if number else ""

    def close(self) -> None:
        """Leave the groups. Nobody may be receiving any more."""
        for made in self._sockets:
            made.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def open_udp(take: Take, lines: Sequence[Line | None], slots: int, slot_octets: int, options: Options) -> Udp:
    """Open and join every line; PACKET.line will be its place in `lines`.

    Raises LineError for what is no line, UdpError when the system refuses one; none is open then.
    """
    if options.stamps not in STAMPS:
        raise ValueError(f"stamps {options.stamps!r} is none of {', '.join(STAMPS)}")
    if slots < 1 or slot_octets < 1:
        raise ValueError(f"there is no room for packets in {slots} slots of {slot_octets} octets")
    check_lines(lines)
    numbers = [number for number, line in enumerate(lines) if line is not None]
    there = [line for line in lines if line is not None]
    notes: list[str] = []
    sockets: list[socket.socket] = []
    try:
        for line in there:
            sockets.append(open_line(line, options, notes))
    except BaseException:
        for made in sockets:
            made.close()
        raise
    message, vectors = make_messages(1)
    context = Context(
        frames=take("frames", slots * slot_octets, np.dtype(np.uint8)),
        descriptors=np.array([made.fileno() for made in sockets], np.int64),
        numbers=np.array(numbers, np.int64),
        counts=take("udp_counts", len(there) * LINE_WORDS, np.dtype(np.int64)),
        words=take("udp_words", WORDS, np.dtype(np.int64)),
        message=message,
        vectors=vectors,
        control=aligned(CONTROL_OCTETS, np.uint8),
    )
    message[0].control = context.control.ctypes.data
    vectors[0].octets = slot_octets
    context.words[[LEFT, SLOTS, SLOT_OCTETS, STAMPING]] = STAY, slots, slot_octets, STAMPS.index(options.stamps)
    return Udp(context, there, sockets, notes)


def closed() -> Context:
    """No line at all, and no frames: of the same types as open ones."""
    message, vectors = make_messages(1)
    nothing = np.zeros(0, np.int64)
    words = aligned(WORDS, np.int64)
    return Context(aligned(1, np.uint8), nothing, nothing, nothing, words, message, vectors, aligned(1, np.uint8))


@step
def receive(ctx, packet):
    """Take one datagram, if there is one: 1, and packet (a PACKET) says where it lies; else 0, at once.

    Each socket is asked once, beginning with the one that gave the last datagram, or, when it gave STAY in a row, with
    the next. Sets packet.received_ns, offset, sequence, length, line, framing and marks.
    """
    turn, left = ctx.words[TURN], ctx.words[LEFT]
    for _ in range(ctx.descriptors.shape[0]):
        after = turn + 1 if turn + 1 < ctx.descriptors.shape[0] else np.int64(0)
        if _receive_from(ctx, turn, packet) != 0:
            ctx.words[TURN] = turn if left > 1 else after
            ctx.words[LEFT] = left - 1 if left > 1 else STAY
            return np.int64(1)
        turn, left = after, np.int64(STAY)
    return np.int64(0)


@inner
def _receive_from(ctx, turn, packet):
    """Take a datagram of one socket, if there is one that fits a slot."""
    slot_octets = ctx.words[SLOT_OCTETS]
    offset = ctx.words[TAKEN] % ctx.words[SLOTS] * slot_octets
    row = turn * LINE_WORDS
    received_ns = np.int64(0)
    if ctx.words[STAMPING] == NONE:
        length = recv(ctx.descriptors[turn], address(ctx.frames, offset), slot_octets, MSG_DONTWAIT | MSG_TRUNC)
        is_cut = length > slot_octets
    else:
        message = slot_at(ctx.message, 0)
        slot_at(ctx.vectors, 0).at = address(ctx.frames, offset)
        message.control_octets = CONTROL_OCTETS
        length = recvmsg(ctx.descriptors[turn], address(ctx.message, 0), MSG_DONTWAIT)
        is_cut = message.came_flags & MSG_TRUNC != 0
        if length >= 0:
            received_ns = _read_control(ctx, message.control_octets, row)
    if length < 0:
        if length not in (-EAGAIN, -EINTR):
            ctx.counts[row + UDP_ERRORS] += 1
            ctx.words[ERROR] = -length
            ctx.words[ERROR_LINE] = turn
        return np.int64(0)
    if is_cut:
        ctx.counts[row + UDP_TOO_LONG] += 1
        return np.int64(0)
    packet.received_ns = received_ns
    packet.offset = offset
    packet.sequence = 0
    packet.length = length
    packet.line = ctx.numbers[turn]
    packet.framing = MOLDUDP64
    packet.marks = 0
    ctx.counts[row + UDP_PACKETS] += 1
    ctx.counts[row + UDP_OCTETS] += length
    ctx.words[TAKEN] += 1
    return np.int64(1)


@inner
def _read_control(ctx, octets, row):
    """Count what the control messages tell was dropped; returns the time of arrival, 0 if none is told."""
    at, software_ns, hardware_ns = np.int64(0), np.int64(0), np.int64(0)
    end = min(octets, CONTROL_OCTETS)
    while at + _HEADER_OCTETS <= end:
        length = le64(ctx.control, at)
        if length < _HEADER_OCTETS or length > end - at:
            break
        kind = le32(ctx.control, at + 12)
        if le32(ctx.control, at + 8) == _SOL_SOCKET:
            if (kind == _SO_TIMESTAMPNS and length >= 32) or (kind == _SO_TIMESTAMPING and length >= 64):
                software_ns = le64(ctx.control, at + 16) * SECOND_NS + le64(ctx.control, at + 24)
                if kind == _SO_TIMESTAMPING:  # software, an old form that is empty, the card's
                    hardware_ns = le64(ctx.control, at + 48) * SECOND_NS + le64(ctx.control, at + 56)
            elif kind == _SO_RXQ_OVFL and length >= 20:
                # The kernel counts in 32 bits; ours goes on above them.
                more = (le32(ctx.control, at + 16) - ctx.counts[row + UDP_DROPPED]) & OVFL_MASK
                ctx.counts[row + UDP_DROPPED] += more
        at += (length + 7) & ~7
    if hardware_ns == 0:
        if software_ns == 0:
            ctx.counts[row + UDP_UNSTAMPED] += 1
        elif ctx.words[STAMPING] == HARDWARE:
            ctx.counts[row + UDP_NOT_HARDWARE] += 1
        return software_ns
    return hardware_ns
