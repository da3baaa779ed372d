"""Every order book of every channel: orders by reference, levels in price order, orders of a level in time order.

    reference ──hash──▶ heads ──▶ ORDER ◀─chain─▶ ORDER            one table a channel, chained
                                    │  ▲ previous/next: the queue of its level, first in first out
                                    ▼  │
    book, side ──▶ SIDE ──▶ ladder: [(key, level) ... (key, level)]   ascending: the best is the last
                                          └──▶ LEVEL: price, shares, orders, head and tail of the queue

A ladder is a sorted run of int64s: the price's key in the high half, the level's index in the low one. A bid's key is
its price, an ask's the complement, so that on both sides the best has the greatest key and most changes happen at the
end. A run that is full moves to one of twice the size, one that is nearly empty to one of half; runs given back are
kept by size. Orders and levels come from pools with free lists. Index 0 is nobody: zeroed memory is empty memory.

No step allocates. A pool that runs out raises TableFull; its size is a setting.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import PLAIN, hot, small, step
from ..hot.layout import record

LOCATES = 65_536  # ITCH locates are 16 bits wide
BUY, SELL = 0, 1  # side index: 2 * book + BUY or SELL

ORDER = record(
    "ORDER",
    [
        ("reference", "i8"),
        ("shares", "u4"),  # still displayed
        ("level", "i4"),
        ("previous", "i4"),  # ahead in the queue; 0: first
        ("next", "i4"),  # behind in the queue; 0: last
        ("chain", "i4"),  # next order of the same hash, or next free one
        ("attribution", "u4"),  # MPID as four ASCII bytes, big-endian; 0: none
    ],
    32,
)
LEVEL = record(
    "LEVEL",
    [
        ("shares", "i8"),
        ("price_e4", "u4"),
        ("orders", "i4"),
        ("head", "i4"),  # first order of the queue, or next free level
        ("tail", "i4"),
        ("side", "i4"),
    ],
    32,
)
SIDE = record("SIDE", [("first", "i4"), ("count", "i4"), ("size_class", "i4")], 16)

RUN_CLASS_MIN = 3  # a ladder's first run: 8 entries, one cache line
RUN_CLASSES = 32

# Indices into `pools`.
ORDERS_TOP, ORDERS_FREE, ORDERS_LIVE, LEVELS_TOP, LEVELS_FREE, LADDER_TOP, QUEUES, HASH_SHIFT = range(8)
POOL_WORDS = 16

_FIBONACCI = 0x9E3779B97F4A7C15  # 2^64 / golden ratio: Knuth, The Art of Computer Programming 3, 6.4
_FIBONACCI_SIGNED = _FIBONACCI - 2**64


class TableFull(Exception):
    """A table reached its named maximum (`book.orders_max` or another): nothing is dropped in silence."""


class Orders(NamedTuple):
    """The memory of all books. Shapes: heads (channels << bits,) int32; orders (orders_max + 1,) ORDER; levels
    (levels_max + 1,) LEVEL; sides (2 * (instruments_max + 1),) SIDE; ladder (entries,) int64; runs (32,) int32 of free
    runs by size class; pools (16,) int64."""

    heads: np.ndarray
    orders: np.ndarray
    levels: np.ndarray
    sides: np.ndarray
    ladder: np.ndarray
    runs: np.ndarray
    pools: np.ndarray


Take = Callable[[str, int, np.dtype], np.ndarray]


def ladder_entries(levels_max: int, instruments_max: int) -> int:
    """Entries the ladders may need: a run holds at least a quarter of its size, except the smallest; the runs given
    back while books grow double that."""
    return min(8 * levels_max + (2 << RUN_CLASS_MIN) * (instruments_max + 1), 2**31 - 1)


def build_orders(
    take: Take, channels_max: int, orders_max: int, levels_max: int, instruments_max: int, queues: bool = True
) -> Orders:
    """Empty books. `queues=False` keeps prices, shares and order counts only: faster, no queue positions."""
    bits = max(4, (orders_max - 1).bit_length())
    made = Orders(
        heads=take("heads", channels_max << bits, np.dtype(np.int32)),
        orders=take("orders", orders_max + 1, ORDER),
        levels=take("levels", levels_max + 1, LEVEL),
        sides=take("sides", 2 * (instruments_max + 1), SIDE),
        ladder=take("ladder", ladder_entries(levels_max, instruments_max), np.dtype(np.int64)),
        runs=take("runs", RUN_CLASSES, np.dtype(np.int32)),
        pools=take("pools", POOL_WORDS, np.dtype(np.int64)),
    )
    made.pools[HASH_SHIFT] = 64 - bits
    made.pools[QUEUES] = queues
    made.pools[LADDER_TOP] = 1 << RUN_CLASS_MIN  # base 0 means: no run yet
    return made


@small
def bucket_of(books, channel, reference):
    """Index into `heads` of the chain that holds this reference, if any does."""
    shift = books.pools[HASH_SHIFT]
    mixed = np.int64(np.uint64(reference * np.int64(_FIBONACCI_SIGNED)) >> np.uint64(shift))
    return (channel << (64 - shift)) + mixed


def _bucket_of_plain(books, channel, reference):
    """The same without the compiler, where a product of 64-bit integers does not wrap in silence."""
    shift = int(books.pools[HASH_SHIFT])
    return (int(channel) << (64 - shift)) + ((int(reference) * _FIBONACCI & 2**64 - 1) >> shift)


if PLAIN:
    bucket_of = _bucket_of_plain


@small
def find_order(books, bucket, reference):
    """Index of the order with this reference in the chain of `bucket`, or 0."""
    index = np.int64(slot_at(books.heads, bucket))
    while index != 0 and slot_at(books.orders, index).reference != reference:
        index = np.int64(slot_at(books.orders, index).chain)
    return index


@small
def level_key(side, price_e4):
    """A signed 32-bit key that grows towards the better price; `side` is a side index."""
    if side & 1 == BUY:
        return price_e4 - 0x80000000
    return 0x7FFFFFFF - price_e4


@step
def ladder_position(ladder, base, count, key):
    """How many of the run's entries are worse than `key`: its position, or where it belongs. Looks at the best few
    first, where nearly everything happens, then halves the rest."""
    low = key << 32
    position = count
    near = max(count - 8, 0)
    while position > near and slot_at(ladder, base + position - 1) >= low:
        position -= 1
    if position > near or near == 0:
        return position
    first = np.int64(0)
    while first < position:
        middle = (first + position) >> 1
        if slot_at(ladder, base + middle) >= low:
            position = middle
        else:
            first = middle + 1
    return position


@hot
def resize_run(books, side, size_class):
    """Move a side's ladder to a run of 2**size_class entries."""
    held = slot_at(books.sides, side)
    base = np.int64(books.runs[size_class])
    if base != 0:
        books.runs[size_class] = books.ladder[base]
    else:
        base = books.pools[LADDER_TOP]
        if base + (1 << size_class) > books.ladder.shape[0]:
            raise TableFull("book.levels_max: no room for another ladder")
        books.pools[LADDER_TOP] = base + (1 << size_class)
    old = np.int64(held.first)
    for k in range(held.count):
        books.ladder[base + k] = books.ladder[old + k]
    if old != 0:
        books.ladder[old] = books.runs[held.size_class]
        books.runs[held.size_class] = old
    held.first = base
    held.size_class = size_class


@step
def insert_level(books, side, position, price_e4):
    """A new, empty level at this position of the side's ladder; returns its index."""
    held = slot_at(books.sides, side)
    count = np.int64(held.count)
    if held.first == 0:
        resize_run(books, side, RUN_CLASS_MIN)
    elif count == 1 << held.size_class:
        resize_run(books, side, held.size_class + 1)
    index = books.pools[LEVELS_FREE]
    if index != 0:
        books.pools[LEVELS_FREE] = np.int64(slot_at(books.levels, index).head)
    else:
        index = books.pools[LEVELS_TOP] + 1
        if index >= books.levels.shape[0]:
            raise TableFull("book.levels_max")
        books.pools[LEVELS_TOP] = index
    level = slot_at(books.levels, index)
    level.shares = 0
    level.price_e4 = price_e4
    level.orders = 0
    level.head = 0
    level.tail = 0
    level.side = side
    base = np.int64(held.first)
    for k in range(base + count, base + position, -1):
        books.ladder[k] = slot_at(books.ladder, k - 1)
    books.ladder[base + position] = level_key(side, price_e4) << 32 | index
    held.count = count + 1
    return index


@step
def remove_level(books, index):
    """Take an empty level off its ladder and give it back."""
    level = slot_at(books.levels, index)
    side = np.int64(level.side)
    held = slot_at(books.sides, side)
    count, base = np.int64(held.count), np.int64(held.first)
    position = ladder_position(books.ladder, base, count, level_key(side, np.int64(level.price_e4)))
    for k in range(base + position, base + count - 1):
        books.ladder[k] = slot_at(books.ladder, k + 1)
    held.count = count - 1
    if held.size_class > RUN_CLASS_MIN and (count - 1) << 2 < 1 << held.size_class:
        resize_run(books, side, held.size_class - 1)
    level.head = books.pools[LEVELS_FREE]
    books.pools[LEVELS_FREE] = index


@step
def add_order(books, bucket, side, reference, shares, price_e4, attribution):
    """Append an order to the queue of its level. The caller has seen that the reference is not in the table and that
    shares > 0."""
    held = slot_at(books.sides, side)
    base, count = np.int64(held.first), np.int64(held.count)
    key = level_key(side, price_e4)
    position = ladder_position(books.ladder, base, count, key)
    level_index = np.int64(0)
    if position < count:
        entry = slot_at(books.ladder, base + position)
        if entry >> 32 == key:
            level_index = entry & 0xFFFFFFFF
    if level_index == 0:
        level_index = insert_level(books, side, position, price_e4)
    level = slot_at(books.levels, level_index)

    index = books.pools[ORDERS_FREE]
    if index != 0:
        books.pools[ORDERS_FREE] = np.int64(slot_at(books.orders, index).chain)
    else:
        index = books.pools[ORDERS_TOP] + 1
        if index >= books.orders.shape[0]:
            raise TableFull("book.orders_max")
        books.pools[ORDERS_TOP] = index
    books.pools[ORDERS_LIVE] += 1
    order = slot_at(books.orders, index)
    order.reference = reference
    order.shares = shares
    order.level = level_index
    order.attribution = attribution
    order.chain = slot_at(books.heads, bucket)
    books.heads[bucket] = index
    level.shares += shares
    level.orders += 1
    if books.pools[QUEUES] != 0:
        tail = np.int64(level.tail)
        order.previous = tail
        order.next = 0
        if tail != 0:
            slot_at(books.orders, tail).next = index
        else:
            level.head = index
        level.tail = index


@step
def reduce_order(books, bucket, index, shares):
    """Take `shares` (at most what it has) off an order; at none left it is removed, and its level with the last."""
    order = slot_at(books.orders, index)
    level_index = np.int64(order.level)
    level = slot_at(books.levels, level_index)
    level.shares -= shares
    left = np.int64(order.shares) - shares
    order.shares = left
    if left > 0:
        return
    unchain(books, bucket, index)
    books.pools[ORDERS_LIVE] -= 1
    level.orders -= 1
    if level.orders == 0:
        remove_level(books, level_index)
    elif books.pools[QUEUES] != 0:
        ahead, behind = np.int64(order.previous), np.int64(order.next)
        if ahead != 0:
            slot_at(books.orders, ahead).next = behind
        else:
            level.head = behind
        if behind != 0:
            slot_at(books.orders, behind).previous = ahead
        else:
            level.tail = ahead


@small
def unchain(books, bucket, index):
    """Take an order out of its hash chain and put it on the free list."""
    order = slot_at(books.orders, index)
    walked = np.int64(slot_at(books.heads, bucket))
    if walked == index:
        books.heads[bucket] = order.chain
    else:
        while slot_at(books.orders, walked).chain != index:
            walked = np.int64(slot_at(books.orders, walked).chain)
        slot_at(books.orders, walked).chain = order.chain
    order.chain = books.pools[ORDERS_FREE]
    books.pools[ORDERS_FREE] = index


@hot
def clear_channel(books, channel):
    """Remove every order of a channel, whatever the state of its queues."""
    buckets = np.int64(1) << (64 - books.pools[HASH_SHIFT])
    for bucket in range(channel * buckets, (channel + 1) * buckets):
        while books.heads[bucket] != 0:
            index = np.int64(books.heads[bucket])
            reduce_order(books, bucket, index, np.int64(slot_at(books.orders, index).shares))


@small
def best_level(books, side, depth):
    """Index of the depth-th best level of a side (0: the best), or 0."""
    held = slot_at(books.sides, side)
    if depth >= held.count:
        return np.int64(0)
    return slot_at(books.ladder, held.first + held.count - 1 - depth) & 0xFFFFFFFF


@small
def is_crossed(books, book):
    """Best bid at or above best ask: locked or crossed."""
    bid, ask = best_level(books, 2 * book + BUY, 0), best_level(books, 2 * book + SELL, 0)
    return bid != 0 and ask != 0 and slot_at(books.levels, bid).price_e4 >= slot_at(books.levels, ask).price_e4
