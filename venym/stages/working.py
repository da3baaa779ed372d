"""What the strategy stage knows of its orders: those that work, by strategy and instrument, and the positions.

    strategy * places + place ──▶ block of ORDERS_MAX rows | oldest | ... | newest | free ... |     counts[block] in use
                                  POSITION

A place is an instrument; one more, the last, stands for every instrument that is not configured: what is asked of it
the gateway refuses, and the refusal has to go somewhere.

Rows begin with the intent and then follow ORDER_EVENTs only. A row is gone with its final event. `ROWS` counts the
rows of all blocks, `STRAYS` the requests that belong to none: a name not known, a name used twice, a full block, an
order that became final meanwhile. While both are 0 no ORDER_EVENT is to come.
"""

from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import copy_record, slot_at
from ..hot.jit import hot, inner, small
from ..records import ACCEPTED, BUY, CANCEL, FILLED, NEW, REFUSED, REPLACE, REPLACED, SELL
from ..strategies.interface import ORDERS_MAX, POSITION, REQUESTS_MAX, WHOLE_MAX, WORKING_ORDER
from .book import Take

ROWS, STRAYS, UNANSWERED = range(3)  # words of `totals`; the last: requests of rows
SHARES_MAX = int(WHOLE_MAX)
CENT_E6 = 100  # e6 dollars of 1e-4


class Working(NamedTuple):
    """Of every block: orders (ORDERS_MAX each,) WORKING_ORDER; counts; positions POSITION. totals (2,) int64."""

    orders: np.ndarray
    counts: np.ndarray
    positions: np.ndarray
    totals: np.ndarray


def build_working(take: Take, blocks: int) -> Working:
    word = np.dtype(np.int64)
    return Working(
        orders=take("working_orders", blocks * ORDERS_MAX, WORKING_ORDER),
        counts=take("working_counts", blocks, word),
        positions=take("strategy_positions", blocks, POSITION),
        totals=take("working_totals", 3, word),
    )


@small
def orders_of(working, block):
    """The block's rows in use."""
    return working.orders[block * ORDERS_MAX : block * ORDERS_MAX + working.counts[block]]


@small
def nothing_to_come(working):
    """Is every request answered, and every order final?"""
    return working.totals[ROWS] == 0 and working.totals[STRAYS] == 0


@small
def nothing_to_be_answered(working):
    """Is every request answered?"""
    return working.totals[UNANSWERED] == 0 and working.totals[STRAYS] == 0


@hot
def row_of(working, block, token):
    """Index of the working order of this name; -1: there is none."""
    first = block * ORDERS_MAX
    for k in range(first, first + working.counts[block]):
        if slot_at(working.orders, k).token == token:
            return k
    return np.int64(-1)


@hot
def expect(working, block, intent):
    """An intent is sent: an answer will come."""
    action, at = np.int64(intent.action), row_of(working, block, intent.token)
    if action == NEW and at < 0 and working.counts[block] < ORDERS_MAX:
        row = append(working, block, intent.token)
        row.side = intent.side
        row.shares = held_shares(intent.shares)
        row.leaves_shares = row.shares
        row.price_e4 = intent.price_e4
        row.news = 1
        working.totals[UNANSWERED] += 1
        show_pending(row)
    elif action == CANCEL and at >= 0 and slot_at(working.orders, at).cancels < REQUESTS_MAX:
        row = slot_at(working.orders, at)
        row.cancels += 1
        working.totals[UNANSWERED] += 1
        show_pending(row)
    elif action == REPLACE and at >= 0 and slot_at(working.orders, at).replaces < REQUESTS_MAX:
        row = slot_at(working.orders, at)
        row.replaces += 1
        working.totals[UNANSWERED] += 1
        row.pending_shares = held_shares(intent.shares)
        row.pending_price_e4 = intent.price_e4
        show_pending(row)
    else:
        working.totals[STRAYS] += 1
    sum_open(working, block)


@hot
def follow(working, block, event, counters):
    """An ORDER_EVENT is taken. False if it tells of an order for which there is no row left."""
    kept = True
    kind, action, final = np.int64(event.kind), np.int64(event.action), event.final == 1
    if kind == FILLED:
        book_fill(slot_at(working.positions, block), event)
    at = row_of(working, block, event.token)
    if at >= 0:
        row = slot_at(working.orders, at)
        refused_again = action == NEW and kind == REFUSED and (row.news == 0 or not final)
        answered = not refused_again and answer(row, action)
        if answered:
            working.totals[UNANSWERED] -= 1
        if not answered and kind == REFUSED:
            drop_stray(working)
        if kind != REFUSED:
            copy_numbers(row, event)
        if final and (kind != REFUSED or (action == NEW and answered)):
            remove(working, block, at)
    else:
        if action != 0 or kind == REFUSED:
            drop_stray(working)
        if not final and kind in (ACCEPTED, REPLACED, FILLED):
            counters[metrics.ORDERS_FOUND] += 1
            kept = working.counts[block] < ORDERS_MAX
            if kept:
                row = append(working, block, event.token)
                row.side = event.side
                copy_numbers(row, event)
    sum_open(working, block)
    return kept


@small
def held_shares(shares):
    """Within what can be summed: what is out of it the gateway refuses."""
    return min(max(shares, np.int64(0)), np.int64(SHARES_MAX))


@small
def drop_stray(working):
    working.totals[STRAYS] = max(working.totals[STRAYS] - 1, np.int64(0))


@inner
def append(working, block, token):
    """A new row, all 0 but for its name."""
    row = slot_at(working.orders, block * ORDERS_MAX + working.counts[block])
    working.counts[block] += 1
    working.totals[ROWS] += 1
    row.token = token
    row.shares = 0
    row.leaves_shares = 0
    row.filled_shares = 0
    row.price_e4 = 0
    row.pending_shares = 0
    row.pending_price_e4 = 0
    row.acknowledged = 0
    row.pending = 0
    row.news = 0
    row.cancels = 0
    row.replaces = 0
    return row


@inner
def remove(working, block, at):
    """Close the gap that a final order leaves. What it was still asked for is answered later, and belongs to no row."""
    row = slot_at(working.orders, at)
    working.totals[STRAYS] += np.int64(row.cancels) + np.int64(row.replaces)
    working.totals[UNANSWERED] -= np.int64(row.cancels) + np.int64(row.replaces) + np.int64(row.news)
    last = block * ORDERS_MAX + working.counts[block] - 1
    for k in range(at, last):
        copy_record(slot_at(working.orders, k), slot_at(working.orders, k + 1))
    working.counts[block] -= 1
    working.totals[ROWS] -= 1


@inner
def answer(row, action):
    """One request of this kind less is open; False if none was."""
    found = True
    if action == NEW and row.news > 0:
        row.news = 0
    elif action == CANCEL and row.cancels > 0:
        row.cancels -= 1
    elif action == REPLACE and row.replaces > 0:
        row.replaces -= 1
        if row.replaces == 0:
            row.pending_shares = 0
            row.pending_price_e4 = 0
    else:
        found = False
    show_pending(row)
    return found


@small
def show_pending(row):
    if row.cancels > 0:
        row.pending = CANCEL
    elif row.replaces > 0:
        row.pending = REPLACE
    elif row.news > 0:
        row.pending = NEW
    else:
        row.pending = 0


@small
def copy_numbers(row, event):
    """What the venue says of the order; all but a refused request tell that it has it."""
    row.shares = held_shares(event.shares)
    row.leaves_shares = held_shares(event.leaves_shares)
    row.filled_shares = held_shares(event.filled_shares)
    row.price_e4 = event.price_e4
    row.acknowledged = 1


@small
def book_fill(position, event):
    """Move shares and money. A fill taken back has negative last_shares."""
    shares = event.last_shares
    sign = np.int64(1) if event.side == BUY else np.int64(-1)
    position.shares += sign * shares
    if event.side == BUY:
        position.bought_shares += shares
    else:
        position.sold_shares += shares
    position.cash_e6 -= sign * shares * event.last_price_e4 * CENT_E6
    position.fees_e6 += event.fee_e6


@inner
def sum_open(working, block):
    """What the block's orders could still trade, by side."""
    buys, sells = np.int64(0), np.int64(0)
    first = block * ORDERS_MAX
    for k in range(first, first + working.counts[block]):
        row = slot_at(working.orders, k)
        leaves = row.leaves_shares
        if row.replaces > 0:
            leaves = max(leaves, row.pending_shares - row.filled_shares)
        if row.side == BUY:
            buys += leaves
        elif row.side == SELL:
            sells += leaves
    position = slot_at(working.positions, block)
    position.open_buy_shares = buys
    position.open_sell_shares = sells
