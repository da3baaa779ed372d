"""Feed: packets of a capture -> decoder. Owns the cursor into the packets that its transport has read.

    transport ──fills──▶ frames, found[0 : count] ──PACKET──▶ feed_decoder

Reads     `found`, the PACKET records that `transport.capture.Capture.fill` left there.
Writes    the same records, in order.
Invariant a packet's bytes stay where they are in `frames` until the decoder has released its record: refill only when
          `exhausted` and the link is empty.
When full it comes back later; a file waits.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import copy_record, load_acquire, slot_at, store_release
from ..hot.jit import step as stage_step
from ..hot.link import Link, claim, commit, room
from ..records import PACKET
from .book import Take

NEXT, COUNT = 0, 8  # words of `cursor`
CURSOR_WORDS = 16


class Context(NamedTuple):
    """found (n,) PACKET; frames (n,) uint8; cursor (16,) int64; packets: the link to the decoder; burst (1,) int64."""

    found: np.ndarray
    frames: np.ndarray
    cursor: np.ndarray
    packets: Link
    burst: np.ndarray


def build(take: Take, packets: Link, frames_octets: int, found_max: int, burst: int) -> Context:
    """A feed with room for `frames_octets` bytes and `found_max` packets at a time."""
    return Context(
        found=take("packets", found_max, PACKET),
        frames=take("frames", frames_octets, np.dtype(np.uint8)),
        cursor=take("feed_cursor", CURSOR_WORDS, np.dtype(np.int64)),
        packets=packets,
        burst=np.array([burst], np.int64),
    )


def offer(ctx: Context, count: int) -> None:
    """Tell the feed that `found` now holds this many new packets."""
    ctx.cursor[NEXT] = 0
    ctx.cursor[COUNT] = count


def exhausted(ctx: Context) -> bool:
    """Has everything offered been handed on?"""
    return int(ctx.cursor[NEXT]) == int(ctx.cursor[COUNT])


@stage_step
def step(ctx):
    """Hand on at most `burst` packets; returns how many."""
    first = ctx.cursor[NEXT]
    left = load_acquire(ctx.cursor, COUNT) - first
    count = room(ctx.packets, min(left, ctx.burst[0]))
    for k in range(count):
        copy_record(claim(ctx.packets, k), slot_at(ctx.found, first + k))
    if count > 0:
        commit(ctx.packets, count)
        store_release(ctx.cursor, NEXT, first + count)
    return count
