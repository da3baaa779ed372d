"""The market's displayed orders of the listed symbols: by reference, and level by level in price-time order.

    reference ──▶ heads ──▶ DISPLAYED ─chain─▶ DISPLAYED          a member's orders are not among them (member.py)
                                │ previous/next: the queue of its level, first come first
    side ──▶ ladder [(key, level) ... (key, level)]               ascending: the best is the last
                          └──▶ LEVEL: price, shares, taken, head and tail of the queue

A side is 2 * instrument + BUY or SELL; its ladder is a run of `side_levels_max` int64s: the price's key in the high
half, the level's index in the low one. A key grows towards the better price. Index 0 is nobody.

`taken` are shares of an order that a member's order has taken, which the market knows nothing of: they stay displayed,
and are not there to be taken again. What is available of an order or level is shares - taken.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import apart, inner, small
from ..hot.layout import record

BUY, SELL = 0, 1

DISPLAYED = record(
    "DISPLAYED",
    [
        ("reference", "i8"),
        ("number", "i8"),  # of its place in time: who came first has the smaller one, members' orders included
        ("shares", "i8"),
        ("taken", "i8"),
        ("level", "i4"),
        ("previous", "i4"),
        ("next", "i4"),
        ("chain", "i4"),  # next of the same hash, or next free one
        ("channel", "i4"),
    ],
    64,
)
LEVEL = record(
    "VENUE_LEVEL",
    [
        ("price_e4", "i8"),
        ("shares", "i8"),
        ("taken", "i8"),
        ("orders", "i4"),
        ("head", "i4"),  # first of the queue, or next free level
        ("tail", "i4"),
        ("side", "i4"),
    ],
    64,
)

# Indices into `words`.
ORDERS_TOP, ORDERS_FREE, ORDERS_LIVE, LEVELS_TOP, LEVELS_FREE, NUMBER, SIDE_LEVELS = range(7)
WORDS = 8


class VenueFull(Exception):
    """A table of the market's side reached its named maximum (`venue.displayed_max` or another)."""


class Displayed(NamedTuple):
    """heads (power of two,) int32; orders (displayed_max + 1,) DISPLAYED; levels (levels_max + 1,) LEVEL; ladder
    (sides * side_levels_max,) int64; counts (sides,) int64: levels of a side; words (8,) int64."""

    heads: np.ndarray
    orders: np.ndarray
    levels: np.ndarray
    ladder: np.ndarray
    counts: np.ndarray
    words: np.ndarray


Take = Callable[[str, int, np.dtype], np.ndarray]


def build_displayed(
    take: Take, instruments: int, displayed_max: int, levels_max: int, side_levels_max: int
) -> Displayed:
    """No order at all."""
    made = Displayed(
        heads=take("venue_heads", 1 << max(4, (displayed_max - 1).bit_length()), np.dtype(np.int32)),
        orders=take("venue_displayed", displayed_max + 1, DISPLAYED),
        levels=take("venue_levels", levels_max + 1, LEVEL),
        ladder=take("venue_ladder", 2 * instruments * side_levels_max, np.dtype(np.int64)),
        counts=take("venue_counts", 2 * instruments, np.dtype(np.int64)),
        words=take("venue_displayed_words", WORDS, np.dtype(np.int64)),
    )
    made.words[SIDE_LEVELS] = side_levels_max
    return made


@small
def _bucket(book, channel, reference):
    """References are handed out in turn, so their low bits are as good as chance."""
    return (reference ^ (reference >> 21) ^ (channel << 5)) & (book.heads.shape[0] - 1)


@inner
def find_displayed(book, channel, reference):
    """Index of a channel's order, or 0."""
    index = np.int64(slot_at(book.heads, _bucket(book, channel, reference)))
    while index != 0:
        order = slot_at(book.orders, index)
        if order.reference == reference and order.channel == channel:
            break
        index = np.int64(order.chain)
    return index


@small
def price_key(side, price_e4):
    """A signed 32-bit key that grows towards the better price."""
    return price_e4 - 0x80000000 if side & 1 == BUY else 0x7FFFFFFF - price_e4


@inner
def _position(book, base, count, key):
    """How many levels of the ladder at `base` are worse than `key`."""
    low, high, wanted = np.int64(0), count, key << 32
    if count > 4 and slot_at(book.ladder, base + count - 4) < wanted:
        low = count - 3  # most of what happens, happens near the best
    while low < high:
        middle = (low + high) >> 1
        if slot_at(book.ladder, base + middle) < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def _insert_level(book, side, base, position, price_e4):
    count, index = book.counts[side], book.words[LEVELS_FREE]
    if count == book.words[SIDE_LEVELS]:
        raise VenueFull("venue.side_levels_max")
    if index != 0:
        book.words[LEVELS_FREE] = np.int64(slot_at(book.levels, index).head)
    else:
        index = book.words[LEVELS_TOP] + 1
        if index >= book.levels.shape[0]:
            raise VenueFull("venue.levels_max")
        book.words[LEVELS_TOP] = index
    level = slot_at(book.levels, index)
    level.price_e4, level.side = price_e4, side
    level.shares = level.taken = 0
    level.orders = level.head = level.tail = 0
    for k in range(base + count, base + position, -1):
        book.ladder[k] = slot_at(book.ladder, k - 1)
    book.ladder[base + position] = price_key(side, price_e4) << 32 | index
    book.counts[side] = count + 1
    return index


@inner
def _remove_level(book, index):
    level = slot_at(book.levels, index)
    side = np.int64(level.side)
    base, count = side * book.words[SIDE_LEVELS], book.counts[side]
    position = _position(book, base, count, price_key(side, level.price_e4))
    for k in range(base + position, base + count - 1):
        book.ladder[k] = slot_at(book.ladder, k + 1)
    book.counts[side] = count - 1
    level.head = book.words[LEVELS_FREE]
    book.words[LEVELS_FREE] = index


@inner
def add_displayed(book, channel, side, reference, shares, price_e4, taken):
    """Append an order to its level's queue; returns its index. The caller has seen that there is none of this reference
    and that shares > 0."""
    base, count, key = side * book.words[SIDE_LEVELS], book.counts[side], price_key(side, price_e4)
    position = _position(book, base, count, key)
    level_index = np.int64(0)
    if position < count and slot_at(book.ladder, base + position) >> 32 == key:
        level_index = slot_at(book.ladder, base + position) & 0xFFFFFFFF
    else:
        level_index = _insert_level(book, side, base, position, price_e4)
    level = slot_at(book.levels, level_index)
    index = book.words[ORDERS_FREE]
    if index != 0:
        book.words[ORDERS_FREE] = np.int64(slot_at(book.orders, index).chain)
    else:
        index = book.words[ORDERS_TOP] + 1
        if index >= book.orders.shape[0]:
            raise VenueFull("venue.displayed_max")
        book.words[ORDERS_TOP] = index
    book.words[ORDERS_LIVE] += 1
    order, bucket, tail = slot_at(book.orders, index), _bucket(book, channel, reference), np.int64(level.tail)
    order.reference, order.channel, order.shares, order.taken = reference, channel, shares, taken
    order.number = next_number(book)
    order.level, order.previous, order.next = level_index, tail, 0
    order.chain = slot_at(book.heads, bucket)
    book.heads[bucket] = index
    if tail != 0:
        slot_at(book.orders, tail).next = index
    else:
        level.head = index
    level.tail = index
    level.shares += shares
    level.taken += taken
    level.orders += 1
    return index


@small
def next_number(book):
    """The next place in time."""
    book.words[NUMBER] += 1
    return book.words[NUMBER]


@inner
def reduce_displayed(book, index, shares):
    """Take `shares`, at most what it has, off an order; with none left it is gone. Nothing more can be taken of it than
    is left."""
    order = slot_at(book.orders, index)
    level_index = np.int64(order.level)
    level = slot_at(book.levels, level_index)
    left = order.shares - shares
    taken = min(order.taken, left)
    level.shares -= shares
    level.taken -= order.taken - taken
    order.shares, order.taken = left, taken
    if left > 0:
        return
    bucket = _bucket(book, np.int64(order.channel), order.reference)
    walked = np.int64(slot_at(book.heads, bucket))
    if walked == index:
        book.heads[bucket] = order.chain
    else:
        while slot_at(book.orders, walked).chain != index:
            walked = np.int64(slot_at(book.orders, walked).chain)
        slot_at(book.orders, walked).chain = order.chain
    order.chain = book.words[ORDERS_FREE]
    book.words[ORDERS_FREE] = index
    book.words[ORDERS_LIVE] -= 1
    level.orders -= 1
    if level.orders == 0:
        _remove_level(book, level_index)
        return
    ahead, behind = np.int64(order.previous), np.int64(order.next)
    if ahead != 0:
        slot_at(book.orders, ahead).next = behind
    else:
        level.head = behind
    if behind != 0:
        slot_at(book.orders, behind).previous = ahead
    else:
        level.tail = ahead


@small
def take_displayed(book, index, shares):
    """A member's order takes `shares`, at most what is available."""
    order = slot_at(book.orders, index)
    order.taken += shares
    slot_at(book.levels, np.int64(order.level)).taken += shares


@apart
def first_available(book, side, limit_key):
    """Index of the first order of a side, in price-time order, of which something is available at a key of at least
    `limit_key`; 0 if there is none."""
    base = side * book.words[SIDE_LEVELS]
    for k in range(base + book.counts[side] - 1, base - 1, -1):
        entry = slot_at(book.ladder, k)
        if entry >> 32 < limit_key:
            break
        level = slot_at(book.levels, entry & 0xFFFFFFFF)
        if level.shares > level.taken:
            index = np.int64(level.head)
            while slot_at(book.orders, index).shares == slot_at(book.orders, index).taken:
                index = np.int64(slot_at(book.orders, index).next)
            return index
    return np.int64(0)


@apart
def clear_side(book, side):
    """Remove every order of a side."""
    base = side * book.words[SIDE_LEVELS]
    while book.counts[side] > 0:
        level = slot_at(book.levels, slot_at(book.ladder, base + book.counts[side] - 1) & 0xFFFFFFFF)
        index = np.int64(level.head)
        reduce_displayed(book, index, slot_at(book.orders, index).shares)
