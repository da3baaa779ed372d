"""The books of a made-up day: every live order in a queue at its price, and which prices are best.

    SYMBOL   step 0 ................ best_bid | best_ask ................ width - 1     a window of prices, a tick apart
    LEVEL         [head | tail]      bids       asks      [head | tail]                 one a step, both sides share it
    ORDER          slot -> next -> next ... oldest first                                slot 0 is no order

The book is never crossed, so one row of levels holds both sides. An order far outside the window (a stub quote) has
no level and no place in a queue: it can never be the best.

`arrivals` lists the live orders by age, oldest first, with holes (0) where an order has left; `compact` closes them.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import hot, small, step
from ..hot.layout import aligned, record

BID, ASK = 66, 83  # B and S
NOWHERE = -1  # level of an order outside the window

ORDER = record(
    "ORDER",
    [
        ("reference", "i8"),
        ("shares", "i4"),
        ("level", "i4"),  # index into levels, or NOWHERE
        ("next", "i4"),  # younger order at the same price, or 0
        ("previous", "i4"),
        ("arrival", "i4"),  # where arrivals names this slot
        ("locate", "u2"),
        ("side", "u1"),  # BID, ASK; 0 when the slot is free
    ],
    32,
)

LEVEL = record("LEVEL", [("head", "i4"), ("tail", "i4")], 8)

SYMBOL = record(
    "SYMBOL",
    [
        ("stock", "i8"),
        ("first_level", "i8"),  # of step 0
        ("first_price_e4", "i8"),  # of step 0
        ("tick_e4", "i8"),
        ("width", "i4"),  # steps, a power of two
        ("best_bid", "i4"),  # step; -1: none
        ("best_ask", "i4"),  # step; width: none
        ("fair", "i4"),  # new bids go at or below it, new asks above it
        ("spread", "i4"),  # steps between prices people like to use
        ("state", "u1"),  # T Q P H, 0 before it is announced
        ("is_halted_here", "u1"),  # operational halt
    ],
    64,
)

COUNTS = record(
    "COUNTS",
    [
        ("live", "i8"),
        ("live_max", "i8"),
        ("free", "i8"),  # entries of `free` left
        ("arrived", "i8"),  # entries of `arrivals` in use
        ("oldest", "i8"),  # before this entry there are only holes
        ("walked", "i8"),  # holes looked at since they were last closed
    ],
    64,
)


class Books(NamedTuple):
    """`counts` has one item; `symbols` is indexed by locate."""

    orders: np.ndarray
    levels: np.ndarray
    symbols: np.ndarray
    arrivals: np.ndarray  # int32
    free: np.ndarray  # int32: a stack of slots
    counts: np.ndarray


def make_books(orders_max: int, symbols: np.ndarray) -> Books:
    """Empty books for `symbols` (SYMBOL records by locate, widths and prices filled in) and at most `orders_max` live
    orders. Fills in first_level, best_bid and best_ask."""
    symbols["first_level"] = np.cumsum(symbols["width"]) - symbols["width"]
    symbols["best_bid"] = -1
    symbols["best_ask"] = symbols["width"]
    free = aligned(orders_max, np.int32)
    free[:] = np.arange(orders_max, 0, -1)
    counts = aligned(1, COUNTS)
    counts[0].free = orders_max
    return Books(
        orders=aligned(orders_max + 1, ORDER),
        levels=aligned(int(symbols["width"].sum()), LEVEL),
        symbols=symbols,
        arrivals=aligned(4 * orders_max + ARRIVALS_SPARE, np.int32),
        free=free,
        counts=counts,
    )


ARRIVALS_SPARE = 4096


@small
def price_at(symbol, price_step):
    """The price of a step, in 1e-4 dollars."""
    return symbol.first_price_e4 + symbol.tick_e4 * price_step


@small
def _arrive(books, slot, order):
    """List the order as the youngest."""
    counts = slot_at(books.counts, 0)
    order.arrival = counts.arrived
    books.arrivals[counts.arrived] = slot
    counts.arrived += 1


@step
def _link(books, slot, order, symbol, price_step):
    """Put the order at the end of the queue at a step of its symbol's window; NOWHERE: in no queue."""
    if price_step < 0:
        order.level = NOWHERE
        return
    index = symbol.first_level + price_step
    order.level = index
    level = slot_at(books.levels, index)
    order.next = 0
    order.previous = level.tail
    if level.tail == 0:
        level.head = slot
    else:
        slot_at(books.orders, level.tail).next = slot
    level.tail = slot
    if order.side == BID:
        symbol.best_bid = max(symbol.best_bid, price_step)
    else:
        symbol.best_ask = min(symbol.best_ask, price_step)


@step
def _find_best(books, symbol, side):
    """The best price of a side is gone: step away from the other side until there is an order."""
    if side == BID:
        at = np.int64(symbol.best_bid)
        while at >= 0 and slot_at(books.levels, symbol.first_level + at).head == 0:
            at -= 1
        symbol.best_bid = at
    else:
        at = np.int64(symbol.best_ask)
        while at < symbol.width and slot_at(books.levels, symbol.first_level + at).head == 0:
            at += 1
        symbol.best_ask = at


@step
def _unlink(books, order, symbol):
    """Take the order out of its queue."""
    if order.level == NOWHERE:
        return
    level = slot_at(books.levels, order.level)
    if order.previous == 0:
        level.head = order.next
    else:
        slot_at(books.orders, order.previous).next = order.next
    if order.next == 0:
        level.tail = order.previous
    else:
        slot_at(books.orders, order.next).previous = order.previous
    if level.head == 0:
        at = order.level - symbol.first_level
        if at in (symbol.best_bid, symbol.best_ask):
            _find_best(books, symbol, np.int64(order.side))


@step
def add(books, locate, side, price_step, shares, reference):
    """A new order at the end of its queue; returns its slot. The caller has seen to it that a slot is free."""
    counts = slot_at(books.counts, 0)
    counts.free -= 1
    counts.live += 1
    counts.live_max = max(counts.live_max, counts.live)
    slot = books.free[counts.free]
    order = slot_at(books.orders, slot)
    order.reference = reference
    order.shares = shares
    order.locate = locate
    order.side = side
    _link(books, slot, order, slot_at(books.symbols, locate), price_step)
    _arrive(books, slot, order)
    return slot


@step
def remove(books, slot):
    """The order leaves, its slot is free."""
    order = slot_at(books.orders, slot)
    _unlink(books, order, slot_at(books.symbols, order.locate))
    books.arrivals[order.arrival] = 0
    order.side = 0
    counts = slot_at(books.counts, 0)
    books.free[counts.free] = slot
    counts.free += 1
    counts.live -= 1


@step
def replace(books, slot, price_step, shares, reference):
    """The order gets a new reference, size and price, and goes to the end of the queue there; its slot stays."""
    order = slot_at(books.orders, slot)
    symbol = slot_at(books.symbols, order.locate)
    _unlink(books, order, symbol)
    books.arrivals[order.arrival] = 0
    order.reference = reference
    order.shares = shares
    _link(books, slot, order, symbol, price_step)
    _arrive(books, slot, order)


@small
def first_at(books, symbol, price_step):
    """The slot of the oldest order at a step, or 0."""
    return np.int64(slot_at(books.levels, symbol.first_level + price_step).head)


@small
def last_at(books, symbol, price_step):
    """The slot of the youngest order at a step, or 0."""
    return np.int64(slot_at(books.levels, symbol.first_level + price_step).tail)


@step
def live_from(books, at):
    """The slot of the first live order at or before position `at` of arrivals, else the youngest; 0 when none lives."""
    counts = slot_at(books.counts, 0)
    if counts.live == 0:
        return 0
    slot = np.int64(books.arrivals[at])
    while slot == 0:
        counts.walked += 1
        at -= 1
        if at < counts.oldest:
            at = counts.arrived - 1
        slot = np.int64(books.arrivals[at])
    return slot


@step
def trim(books):
    """Leave out the holes before the oldest order and behind the youngest, so that nobody walks through them."""
    counts = slot_at(books.counts, 0)
    oldest, arrived = counts.oldest, counts.arrived
    while arrived > 0 and books.arrivals[arrived - 1] == 0:
        arrived -= 1
    oldest = min(oldest, arrived)
    while oldest < arrived and books.arrivals[oldest] == 0:
        oldest += 1
    counts.oldest, counts.arrived = oldest, arrived


@hot
def compact(books):
    """Close the holes in arrivals."""
    counts = slot_at(books.counts, 0)
    counts.oldest = counts.walked = 0
    to = 0
    for at in range(counts.arrived):
        slot = books.arrivals[at]
        if slot != 0:
            books.arrivals[to] = slot
            slot_at(books.orders, slot).arrival = to
            to += 1
    counts.arrived = to
