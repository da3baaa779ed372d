"""Feed: packets -> decoder. Owns where they come from: the cursor into a file's, or the sockets of the lines.

    capture ──fills──▶ frames, found[0 : count] ──┐
    lines ──UDP sockets──▶ frames ────────────────┼─PACKET──▶ feed_decoder
    lines ──AF_XDP──▶ frames, which are the rings'┘     └───▶ feed_venue, where a venue in memory reads too

Reads     of a file: `found`, the PACKET records that `transport.capture.Capture.fill` left there; live: what its
          transport has received.
Writes    a PACKET each, in order, with the time stamp counter as they go.
Invariant a packet's bytes stay where they are in `frames` until all who read have released its record. A file is
          refilled only when `done`; a line's frames are used anew when the links have given the packet back. After
          `close` and the last packet both links are marked NEVER_NS.
When full it comes back later: a file waits, and so do datagrams in the kernel, which counts what it has no room for.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import copy_record, cycles, load_acquire, slot_at, store_release
from ..hot.jit import inner
from ..hot.jit import step as stage_step
from ..hot.link import MARK, TAIL, Link, claim, commit, is_empty, room, set_mark
from ..records import NEVER_NS, PACKET
from ..transport import udp, xdp_receive
from .book import Take

# Words of `cursor`: the feed's, then those of whoever fills. NEXT and COUNT number the packets of all offers, so that a
# feed that runs sees an offer whole; BASE is the number of the first in `found`. Live, NEXT numbers what was received,
# and the packets before GIVEN_BACK are back with the transport.
NEXT, TO_VENUE, SOURCE, GIVEN_BACK, COUNT, CLOSED, BASE = 0, 1, 2, 3, 8, 9, 10
CURSOR_WORDS = 16

FILE, UDP, XDP = range(3)  # SOURCE


class Wire(NamedTuple):
    """Where packets come from: FILE, UDP or XDP, and the transports, of which the one that is meant is open."""

    source: int
    udp: udp.Context
    xdp: xdp_receive.Context


class Context(NamedTuple):
    """found (n,) PACKET; frames (n,) uint8; cursor (16,) int64; packets, venue_packets: the links to the decoder and to
    the venue; burst (1,) int64; udp, xdp: the transports."""

    found: np.ndarray
    frames: np.ndarray
    cursor: np.ndarray
    packets: Link
    venue_packets: Link
    burst: np.ndarray
    udp: udp.Context
    xdp: xdp_receive.Context


def no_wire() -> Wire:
    """No transport: packets are offered."""
    return Wire(FILE, udp.closed(), xdp_receive.closed())


def build(
    take: Take,
    packets: Link,
    venue_packets: Link,
    to_venue: bool,
    frames_octets: int,
    found_max: int,
    burst: int,
    wire: Wire | None = None,
) -> Context:
    """A feed. From files it has room for `frames_octets` bytes and `found_max` packets at a time; from a `wire` the
    frames are the transport's. `to_venue`: somebody reads `venue_packets`.

    Raises ValueError for a wire with less room than there may be packets on their way.
    """
    wire = wire or no_wire()
    frames = {UDP: wire.udp.frames, XDP: wire.xdp.frames}.get(wire.source)
    if wire.source == UDP and wire.udp.words[udp.SLOTS] < len(packets.slots):
        raise ValueError(f"{wire.udp.words[udp.SLOTS]} slots are fewer than the {len(packets.slots)} packets of a link")
    made = Context(
        found=take("packets", found_max if wire.source == FILE else 1, PACKET),
        frames=take("frames", frames_octets, np.dtype(np.uint8)) if frames is None else frames,
        cursor=take("feed_cursor", CURSOR_WORDS, np.dtype(np.int64)),
        packets=packets,
        venue_packets=venue_packets,
        burst=np.array([burst], np.int64),
        udp=wire.udp,
        xdp=wire.xdp,
    )
    made.cursor[TO_VENUE], made.cursor[SOURCE] = to_venue, wire.source
    return made


def offer(ctx: Context, count: int) -> None:
    """Tell the feed that `found` now holds this many new packets. Only when `exhausted`."""
    ctx.cursor[BASE] = ctx.cursor[COUNT]
    ctx.cursor[COUNT] += count


def close(ctx: Context) -> None:
    """Tell the feed that nothing will follow what was offered; live, that nothing more is to be received."""
    ctx.cursor[CLOSED] = 1


def exhausted(ctx: Context) -> bool:
    """Has everything offered been handed on?"""
    return int(ctx.cursor[NEXT]) == int(ctx.cursor[COUNT])


def done(ctx: Context) -> bool:
    """Has everything offered been handed on and read? Then `frames` may be filled anew."""
    return exhausted(ctx) and is_empty(ctx.packets) and is_empty(ctx.venue_packets)


@stage_step
def step(ctx):
    """Hand on at most `burst` packets; returns how many."""
    closed = load_acquire(ctx.cursor, CLOSED)
    left = np.int64(0)
    if ctx.cursor[SOURCE] == FILE:
        left = load_acquire(ctx.cursor, COUNT) - ctx.cursor[NEXT]
    elif closed == 0:
        left = ctx.burst[0]
    count = room(ctx.packets, min(left, ctx.burst[0]))
    if ctx.cursor[TO_VENUE] != 0:
        count = room(ctx.venue_packets, count)
    if ctx.cursor[SOURCE] != FILE:
        count = receive(ctx, count)
    elif count > 0:
        take_offered(ctx, count)
    if count > 0:
        commit(ctx.packets, count)
        if ctx.cursor[TO_VENUE] != 0:
            commit(ctx.venue_packets, count)
        store_release(ctx.cursor, NEXT, ctx.cursor[NEXT] + count)
    elif closed != 0 and left == 0:
        set_mark(ctx.packets, MARK, NEVER_NS)
        set_mark(ctx.venue_packets, MARK, NEVER_NS)
    return count


@inner
def take_offered(ctx, count):
    """Copy `count` of the packets offered into the links."""
    first, now_cycles = ctx.cursor[NEXT], cycles()
    for k in range(count):
        packet = slot_at(ctx.found, first - ctx.cursor[BASE] + k)
        packet.taken_cycles = now_cycles
        copy_record(claim(ctx.packets, k), packet)
        if ctx.cursor[TO_VENUE] != 0:
            copy_record(claim(ctx.venue_packets, k), packet)


@inner
def receive(ctx, most):
    """Receive at most `most` packets into the links, after what was read has gone back to the transport."""
    if ctx.cursor[SOURCE] == XDP:
        give_back(ctx)
    count, got = np.int64(0), np.int64(1)
    while count < most and got != 0:
        packet = claim(ctx.packets, count)
        if ctx.cursor[SOURCE] == XDP:
            got = xdp_receive.receive(ctx.xdp, packet)
        else:
            got = udp.receive(ctx.udp, packet)
        if got != 0:
            packet.cause = ctx.cursor[NEXT] + count
            packet.taken_cycles = cycles()
            if ctx.cursor[TO_VENUE] != 0:
                copy_record(claim(ctx.venue_packets, count), packet)
            count += 1
    return count


@inner
def give_back(ctx):
    """Let the card have the frames of the packets that all have read."""
    read = load_acquire(ctx.packets.cursor, TAIL)
    if ctx.cursor[TO_VENUE] != 0:
        read = min(read, load_acquire(ctx.venue_packets.cursor, TAIL))
    more = read - ctx.cursor[GIVEN_BACK]
    if more > 0:
        xdp_receive.give_back(ctx.xdp, more)
        ctx.cursor[GIVEN_BACK] = read
