"""Looking ahead: while one message is applied, ask memory for what the next ones will touch.

    messages ahead   16             12                   8                       4                  0
                     block ──▶ hash bucket, side ──▶ order, ladder ──▶ level, neighbours ──▶ level's last order   apply

A day's books are larger than any cache, and a message touches four or five unrelated lines. Each stage of the walk
loads what the stage before has asked for. Everything here is a hint: the books may have changed by the time the message
is applied, and a wrong guess costs a line of cache. There are no branches on the message's type, which is as good as
random: what a type does not need points at index 0, which is always near.
"""

import numpy as np

from ..hot.intrinsics import be16, be64, prefetch, slot_at
from ..hot.jit import step
from .book import bucket_of

DEPTH = 16  # messages looked ahead, a power of two
_STRIDE = 4  # messages between two stages of the walk
RING_WORDS = 3 * DEPTH  # by message: hash bucket, side, level

# By message type: 1 if it names an order, 1 if it adds one with a side of its own.
_NAMES_ORDER = np.zeros(256, np.int64)
_NAMES_ORDER[[ord(kind) for kind in "AFECXDU"]] = 1
_ADDS_ORDER = np.zeros(256, np.int64)
_ADDS_ORDER[[ord(kind) for kind in "AF"]] = 1
_REACH_BYTES = 2 + 20  # of a block, as far as it is read here; D, the shortest that names an order, is shorter


@step
def look_ahead(orders, books_of, channel, octets, at, end, ring, turn):
    """One turn of the walk. `at` is the offset of the block DEPTH messages ahead (or near the end); returns the next
    one's. `turn` counts the messages."""
    place = turn & (DEPTH - 1)
    bucket = np.int64(0)
    side = np.int64(0)
    if at + _REACH_BYTES <= end:
        kind = slot_at(octets, at + 2)
        bucket = bucket_of(orders, channel, be64(octets, at + 13)) * _NAMES_ORDER[kind]
        prefetch(orders.heads, bucket)
        book = np.int64(slot_at(books_of, (channel << 16) + be16(octets, at + 3)))
        side = (2 * book + 1 - (np.int64(slot_at(octets, at + 21)) == 66)) * _ADDS_ORDER[kind]
        prefetch(orders.sides, side)
        at += 2 + be16(octets, at)
    ring[place] = bucket
    ring[DEPTH + place] = side

    place = (turn - _STRIDE) & (DEPTH - 1)
    prefetch(orders.orders, np.int64(slot_at(orders.heads, ring[place])))
    held = slot_at(orders.sides, ring[DEPTH + place])
    best = np.int64(held.first) + max(np.int64(held.count) - 1, 0)
    prefetch(orders.ladder, best)

    place = (turn - 2 * _STRIDE) & (DEPTH - 1)
    order = slot_at(orders.orders, np.int64(slot_at(orders.heads, ring[place])))
    prefetch(orders.levels, np.int64(order.level))
    prefetch(orders.orders, np.int64(order.previous))
    prefetch(orders.orders, np.int64(order.next))
    held = slot_at(orders.sides, ring[DEPTH + place])
    best = np.int64(held.first) + max(np.int64(held.count) - 1, 0)
    level = slot_at(orders.ladder, best) & 0x7FFFFFFF
    ring[2 * DEPTH + place] = level
    prefetch(orders.levels, level)

    place = (turn - 3 * _STRIDE) & (DEPTH - 1)
    prefetch(orders.orders, np.int64(slot_at(orders.levels, ring[2 * DEPTH + place]).tail))
    return at
