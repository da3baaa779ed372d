"""Feed: packets of a capture -> decoder. Owns the cursor into the packets that its transport has read.

    transport ──fills──▶ frames, found[0 : count] ──PACKET──▶ feed_decoder
                                                      └─────▶ feed_venue, where a venue in memory reads too

Reads     `found`, the PACKET records that `transport.capture.Capture.fill` left there.
Writes    the same records, in order, with the time stamp counter as they go.
Invariant a packet's bytes stay where they are in `frames` until all who read have released its record: refill only
          when `done`. After `close` and the last packet both links are marked NEVER_NS.
When full it comes back later; a file waits.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import copy_record, cycles, load_acquire, slot_at, store_release
from ..hot.jit import step as stage_step
from ..hot.link import MARK, Link, claim, commit, is_empty, room, set_mark
from ..records import NEVER_NS, PACKET
from .book import Take

# Words of `cursor`: the feed's, then those of whoever fills. NEXT and COUNT number the packets of all offers, so that a
# feed that runs sees an offer whole; BASE is the number of the first in `found`.
NEXT, TO_VENUE, COUNT, CLOSED, BASE = 0, 1, 8, 9, 10
CURSOR_WORDS = 16


class Context(NamedTuple):
    """found (n,) PACKET; frames (n,) uint8; cursor (16,) int64; packets, venue_packets: the links to the decoder and to
    the venue; burst (1,) int64."""

    found: np.ndarray
    frames: np.ndarray
    cursor: np.ndarray
    packets: Link
    venue_packets: Link
    burst: np.ndarray


def build(
    take: Take, packets: Link, venue_packets: Link, to_venue: bool, frames_octets: int, found_max: int, burst: int
) -> Context:
    """A feed with room for `frames_octets` bytes and `found_max` packets at a time; `to_venue`: somebody reads
    `venue_packets`."""
    made = Context(
        found=take("packets", found_max, PACKET),
        frames=take("frames", frames_octets, np.dtype(np.uint8)),
        cursor=take("feed_cursor", CURSOR_WORDS, np.dtype(np.int64)),
        packets=packets,
        venue_packets=venue_packets,
        burst=np.array([burst], np.int64),
    )
    made.cursor[TO_VENUE] = to_venue
    return made


def offer(ctx: Context, count: int) -> None:
    """Tell the feed that `found` now holds this many new packets. Only when `exhausted`."""
    ctx.cursor[BASE] = ctx.cursor[COUNT]
    ctx.cursor[COUNT] += count


def close(ctx: Context) -> None:
    """Tell the feed that nothing will follow what was offered."""
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
    first = ctx.cursor[NEXT]
    closed = load_acquire(ctx.cursor, CLOSED)
    left = load_acquire(ctx.cursor, COUNT) - first
    count = room(ctx.packets, min(left, ctx.burst[0]))
    if ctx.cursor[TO_VENUE] != 0:
        count = room(ctx.venue_packets, count)
    if count > 0:
        now_cycles = cycles()
        for k in range(count):
            packet = slot_at(ctx.found, first - ctx.cursor[BASE] + k)
            packet.taken_cycles = now_cycles
            copy_record(claim(ctx.packets, k), packet)
            if ctx.cursor[TO_VENUE] != 0:
                copy_record(claim(ctx.venue_packets, k), packet)
        commit(ctx.packets, count)
        if ctx.cursor[TO_VENUE] != 0:
            commit(ctx.venue_packets, count)
        store_release(ctx.cursor, NEXT, first + count)
    elif closed != 0 and left == 0:
        set_mark(ctx.packets, MARK, NEVER_NS)
        set_mark(ctx.venue_packets, MARK, NEVER_NS)
    return count
