"""Frames of AF_XDP sockets to packets, in compiled code; the frames stay where the kernel put them.

    kernel ──receive ring──▶ receive ──PACKET──▶ readers ··· give_back ──fill ring──▶ kernel
                                │ not ours, malformed, bad sum: counted                  ▲
                                └────────────────────────────────────────────────────────┘

    frame of a chunk   | unused | stamp 8 | Ethernet, tags, IP, options, UDP | payload | padding |
                                          ▲ where the descriptor points      ▲ PACKET.offset

At any time every frame is in one place: fill ring + receive ring + handed out + held by the driver == all of them.
Packets are given back in the order they were handed out, whatever socket they came from.

The payload is as long as UDP says, and the frame at least as long as that: Ethernet pads.

Check sums. A card's verdict does not reach an AF_XDP socket, so sums are verified here, unless told not to: the IP
header's and UDP's, over all octets. A datagram with a wrong one is counted and dropped, as the kernel's own sockets
would, and shows as a gap. Two kinds pass and are counted: sum 0, which says that the sender made none; and a partial
sum, that of the addresses and the length alone, which a sender leaves that expects its card to finish it. It is what
comes from another network namespace of the same machine (veth).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import be32, le16, le32, le64, load_acquire, put_le64, slot_at
from ..hot.jit import inner, small, step
from ..hot.layout import aligned
from ..hot.libc import EAGAIN, EINTR, MSG_DONTWAIT, recvfrom
from ..hot.ring_words import load_acquire_32, store_release_32
from ..metrics import (
    XDP_BAD_DESCRIPTORS,
    XDP_BAD_IP_SUMS,
    XDP_BAD_UDP_SUMS,
    XDP_COUNTERS,
    XDP_ERRORS,
    XDP_FOREIGN,
    XDP_FRAMES,
    XDP_MALFORMED,
    XDP_NO_SUMS,
    XDP_OCTETS,
    XDP_PACKETS,
    XDP_PARTIAL_SUMS,
    XDP_UNSTAMPED,
    XDP_WAKEUPS,
)
from ..records import MOLDUDP64
from ..wire.ethernet import ETHERNET, UDP_HEADER_BYTES, find_ipv4, find_udp
from ..wire.scan import BAD_IP_HEADER, BAD_UDP_LENGTH, PACKETS, SHORT
from .bpf_program import STAMP_OCTETS
from .xdp_rings import (
    BASE,
    FD,
    FILL_ADDRESSES,
    FILL_FLAGS,
    FILL_PRODUCER,
    INTERFACE,
    MASK,
    OCTETS,
    PLACES,
    RX_CONSUMER,
    RX_DESCRIPTORS,
    RX_PRODUCER,
)

Take = Callable[[str, int, np.dtype], np.ndarray]

# `words`
TURN, HANDED, GIVEN_BACK, CHUNK, CHECK_SUMS, LAST_ERROR, WORDS = range(7)
# columns of `state`, 32-bit counts as the kernel has them: frames taken, frames known to be there, frames given to the
# fill ring, of these told to the kernel
TAKEN, SEEN, GIVEN, TOLD, STATES = range(5)
# columns of `lines`
KEY, SOURCE, LINE_INTERFACE, LINE, LINE_COLUMNS = range(5)

FRAMES_MAX = 16  # looked at in one call: all but the last were dropped
COUNT_MASK = 0xFFFFFFFF
NEED_WAKEUP = 1  # flag of a fill ring
SOCKET_BITS = 16  # of an entry of `handed`, the rest is where the frame begins


class Context(NamedTuple):
    """What `receive` and `give_back` work on, all int64 but where said.

    frames         (n,) uint8, memory of all sockets
    words_32       uint32, `entries` int64: two views of the rings
    places, state  (sockets, …): where a socket's rings lie, and how far they were read and written
    lines          (lines, …): address << 16 | port, source (0: any), number of the interface, number of the line
    handed         (power of two,) ring of the frames handed out: offset << 16 | socket
    clock          (1,) CLOCK_REALTIME - CLOCK_MONOTONIC, which the control plane keeps right
    words, counts  the transport's own, and what it counts (metrics.XDP)
    """

    frames: np.ndarray
    words_32: np.ndarray
    entries: np.ndarray
    places: np.ndarray
    state: np.ndarray
    lines: np.ndarray
    handed: np.ndarray
    clock: np.ndarray
    words: np.ndarray
    counts: np.ndarray


def lay_context(
    take: Take,
    frames: np.ndarray,
    ring_octets: np.ndarray,
    places: np.ndarray,
    lines: np.ndarray,
    frames_each: int,
    chunk_octets: int,
    check_sums: bool,
) -> Context:
    """A context over rings whose fill rings hold `frames_each` frames each; `lines` as Context has them."""
    capacity = 1 << max(frames_each * len(places) - 1, 1).bit_length()
    ctx = Context(
        frames=frames,
        words_32=ring_octets.view(np.uint32),
        entries=ring_octets.view(np.int64),
        places=places,
        state=aligned(len(places) * STATES, np.int64).reshape(len(places), STATES),
        lines=lines,
        handed=aligned(capacity, np.int64),
        clock=aligned(1, np.int64),  # on a line of its own: the control plane writes it
        words=aligned(WORDS, np.int64),
        counts=take("xdp_counts", XDP_COUNTERS, np.dtype(np.int64)),
    )
    ctx.words[CHUNK], ctx.words[CHECK_SUMS] = chunk_octets, check_sums
    ctx.state[:, GIVEN] = ctx.state[:, TOLD] = frames_each
    return ctx


def closed() -> Context:
    """No socket at all, and no frames: of the same types as open ones."""
    places, lines = np.zeros((0, PLACES), np.int64), np.zeros((0, LINE_COLUMNS), np.int64)
    octets = aligned(8, np.uint8)
    return lay_context(lambda name, count, dtype: aligned(count, dtype), octets, octets, places, lines, 64, 2048, False)


@step
def receive(ctx, packet):
    """Take one datagram, of the sockets in turn: 1 and `packet` filled, or 0 when there is none now. Never waits.

    Fills offset (in ctx.frames), length, line, received_ns, framing, marks and sequence. received_ns is when the
    driver had the frame, 0 where it could not say.
    """
    sockets = ctx.places.shape[0]
    empty, looked = 0, 0
    while empty < sockets and looked < FRAMES_MAX:
        number = ctx.words[TURN]
        ctx.words[TURN] = number + 1 if number + 1 < sockets else 0
        if _is_empty(ctx, number):
            empty += 1
            continue
        empty = 0
        looked += 1
        if _take(ctx, number, packet) != 0:
            return np.int64(1)
    return np.int64(0)


@step
def give_back(ctx, count):
    """Let the kernel fill anew the frames of the oldest `count` packets handed out; of more than there are, all."""
    count = min(count, ctx.words[HANDED] - ctx.words[GIVEN_BACK])
    for _ in range(count):
        entry = slot_at(ctx.handed, ctx.words[GIVEN_BACK] & (ctx.handed.shape[0] - 1))
        number = entry & ((1 << SOCKET_BITS) - 1)
        _put(ctx, number, (entry >> SOCKET_BITS) - ctx.places[number, BASE])
        ctx.words[GIVEN_BACK] += 1
    for number in range(ctx.places.shape[0]):
        _tell(ctx, number)


@inner
def _is_empty(ctx, number):
    """Is nothing in the receive ring? If so, a driver that asked for it is woken."""
    if ctx.state[number, SEEN] != ctx.state[number, TAKEN]:
        return False
    ctx.state[number, SEEN] = load_acquire_32(ctx.words_32, ctx.places[number, RX_PRODUCER])
    if ctx.state[number, SEEN] != ctx.state[number, TAKEN]:
        return False
    if load_acquire_32(ctx.words_32, ctx.places[number, FILL_FLAGS]) & NEED_WAKEUP != 0:
        ctx.counts[XDP_WAKEUPS] += 1
        got = recvfrom(ctx.places[number, FD], 0, 0, MSG_DONTWAIT, 0, 0)
        if got < 0 and got not in (-EAGAIN, -EINTR):
            ctx.counts[XDP_ERRORS] += 1
            ctx.words[LAST_ERROR] = -got
    return True


@inner
def _take(ctx, number, packet):
    """The next frame of a socket: 1 when it was handed on, 0 when it was dropped."""
    descriptor = ctx.places[number, RX_DESCRIPTORS] + 2 * (ctx.state[number, TAKEN] & ctx.places[number, MASK])
    at, extent = slot_at(ctx.entries, descriptor), slot_at(ctx.entries, descriptor + 1)
    ctx.state[number, TAKEN] = (ctx.state[number, TAKEN] + 1) & COUNT_MASK
    store_release_32(ctx.words_32, ctx.places[number, RX_CONSUMER], ctx.state[number, TAKEN])
    ctx.counts[XDP_FRAMES] += 1
    chunk = ctx.words[CHUNK]
    if at < 0 or at >= ctx.places[number, OCTETS]:
        ctx.counts[XDP_BAD_DESCRIPTORS] += 1  # of no frame, so there is none to give back
        return np.int64(0)
    inside, length = at & (chunk - 1), extent & COUNT_MASK
    start = ctx.places[number, BASE] + at
    if extent >> 32 != 0 or inside < STAMP_OCTETS or inside + length > chunk:
        verdict = XDP_BAD_DESCRIPTORS
    else:
        verdict = _read(ctx, number, start, length, packet)
    if verdict != XDP_PACKETS:
        ctx.counts[verdict] += 1
        _put(ctx, number, at)
        _tell(ctx, number)
        return np.int64(0)
    handed = ctx.words[HANDED]
    ctx.handed[handed & (ctx.handed.shape[0] - 1)] = start << SOCKET_BITS | number
    ctx.words[HANDED] = handed + 1
    ctx.counts[XDP_PACKETS] += 1
    ctx.counts[XDP_OCTETS] += packet.length
    return np.int64(1)


@inner
def _read(ctx, number, start, length, packet):
    """Fill `packet` from the frame at `start`: XDP_PACKETS, or the counter of what is wrong with it."""
    verdict, payload, octets, key, _ = find_udp(ctx.frames, start, length, length, ETHERNET)
    if verdict != PACKETS:
        malformed = verdict in (SHORT, BAD_IP_HEADER, BAD_UDP_LENGTH)
        return XDP_MALFORMED if malformed else XDP_FOREIGN
    ip = find_ipv4(ctx.frames, start, start + length, ETHERNET)
    line = _line_of(ctx, ctx.places[number, INTERFACE], key, be32(ctx.frames, ip + 12))
    if line < 0:
        return XDP_FOREIGN
    if ctx.words[CHECK_SUMS] != 0:
        verdict = _judge_sums(ctx, ip, payload - UDP_HEADER_BYTES, octets + UDP_HEADER_BYTES)
        if verdict != XDP_PACKETS:
            return verdict
    stamp = le64(ctx.frames, start - STAMP_OCTETS)
    put_le64(ctx.frames, start - STAMP_OCTETS, 0)  # so that an old one is never taken for a new one
    if stamp == 0:
        ctx.counts[XDP_UNSTAMPED] += 1
    packet.received_ns = stamp + load_acquire(ctx.clock, 0) if stamp != 0 else 0
    packet.offset = payload
    packet.sequence = 0
    packet.length = octets
    packet.line = line
    packet.framing = MOLDUDP64
    packet.marks = 0
    return XDP_PACKETS


@inner
def _line_of(ctx, interface, key, source):
    for k in range(ctx.lines.shape[0]):
        ours = ctx.lines[k, KEY] == key and ctx.lines[k, LINE_INTERFACE] == interface
        if ours and (ctx.lines[k, SOURCE] == 0 or ctx.lines[k, SOURCE] == source):
            return ctx.lines[k, LINE]
    return np.int64(-1)


@inner
def _judge_sums(ctx, ip, udp, octets):
    """XDP_PACKETS, or the counter of the sum that is wrong. The words are added as this machine loads them: a ones'
    complement sum is the same in either byte order, but for the order of its own octets."""
    frames = ctx.frames
    if _folded(_added(frames, ip, 4 * (np.int64(frames[ip]) & 15))) != 0xFFFF:
        return XDP_BAD_IP_SUMS
    held = le16(frames, udp + 6)
    if held == 0:
        ctx.counts[XDP_NO_SUMS] += 1
        return XDP_PACKETS
    # 17, the protocol, is the second octet of its word
    pseudo = le32(frames, ip + 12) + le32(frames, ip + 16) + (17 << 8) + le16(frames, udp + 4)
    if _folded(pseudo + _added(frames, udp, octets)) == 0xFFFF:
        return XDP_PACKETS
    if held == _folded(pseudo):
        ctx.counts[XDP_PARTIAL_SUMS] += 1
        return XDP_PACKETS
    return XDP_BAD_UDP_SUMS


@inner
def _added(octets, start, count):
    """The sum of `count` octets as words of 16 bits, not folded: at most 65,535 octets do not overflow it."""
    total = np.int64(0)
    whole = count & -4
    for k in range(0, whole, 4):
        total += le32(octets, start + k)
    if count & 2 != 0:
        total += le16(octets, start + whole)
    if count & 1 != 0:
        total += np.int64(octets[start + count - 1])
    return total


@small
def _folded(total):
    """A sum of 16-bit words brought into 16 bits, carries added in; 48 bits at most."""
    total = (total & 0xFFFFFFFF) + (total >> 32)
    total = (total & 0xFFFF) + (total >> 16)
    return (total & 0xFFFF) + (total >> 16)


@inner
def _put(ctx, number, at):
    """Put the frame that `at` lies in into the fill ring; the kernel knows when it is told."""
    given = ctx.state[number, GIVEN]
    ctx.entries[ctx.places[number, FILL_ADDRESSES] + (given & ctx.places[number, MASK])] = at & -ctx.words[CHUNK]
    ctx.state[number, GIVEN] = (given + 1) & COUNT_MASK


@inner
def _tell(ctx, number):
    if ctx.state[number, TOLD] != ctx.state[number, GIVEN]:
        ctx.state[number, TOLD] = ctx.state[number, GIVEN]
        store_release_32(ctx.words_32, ctx.places[number, FILL_PRODUCER], ctx.state[number, GIVEN])
