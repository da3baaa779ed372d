"""A made-up day's regular messages: what kind comes next, to which order or instrument, at what price.

The kinds U E C X P have budgets, spent evenly; the rest are adds and deletes, in the ratio that brings the number of
live orders where the phase wants it. Towards the end of system hours that number is exact:

    left    regular messages still to come before it
    slack   left - (live - LATE_DELETES): what may be done besides deleting. An add takes 2 of it, a delete or whole
            execution 0, everything else 1. At 0 there are only deletes.
"""

import numpy as np

from ..hot.intrinsics import prefetch, slot_at
from ..hot.jit import small, step
from ..wire.itch50_encode import (
    put_add_order,
    put_add_order_mpid,
    put_order_cancel,
    put_order_delete,
    put_order_executed,
    put_order_executed_with_price,
    put_order_replace,
)
from .chance import below, draw
from .day_book import ASK, BID, NOWHERE, add, first_at, last_at, live_from, price_at, remove, replace
from .day_plan import LATE_DELETES
from .day_rows import QUOTED, TRADE_TRACKING, TRADING, YES, is_two_sided, next_trade, put_imbalance, put_print
from .day_state import AHEAD, ENGINES

STAY = 190  # of 256 adds and trades are for the instrument of the message before
REQUOTED = 115  # of 256 deletes, cancels and replaces are for the instrument of the message before
ATTRIBUTED = 687  # of 65,536 adds carry a participant
WHOLE = 199  # of 256 executions take all of the order
OUT_OF_TURN = 1  # of 256 executions pass the oldest order by
STUB_BID_E4, STUB_ASK_E4 = 100, 1_999_999_900
NOT_PUT = -1
TRIES = 8
NOON_NS = 12 * 3600 * 1_000_000_000

ADD, DELETE, REPLACE, EXECUTION, PRICED_EXECUTION, CANCEL, PRINT, IMBALANCE = range(8)
OPENING, CLOSING = ord("O"), ord("C")


@small
def _may_add(symbol):
    return symbol.state in (TRADING, QUOTED) and not symbol.is_halted_here


@small
def _may_trade(symbol):
    return symbol.state == TRADING and not symbol.is_halted_here


@step
def _choose_locate(day):
    """An instrument in which orders may be entered, by popularity, often the one of the last message."""
    locate = np.int64(slot_at(day.today, 0).locate)
    luck = draw(day.chance)
    if luck & 255 < STAY and _may_add(slot_at(day.books.symbols, locate)):
        return locate
    count = day.popularity_cut.shape[0]
    for _ in range(TRIES):
        rank = (luck >> 8) * count >> 24
        luck = draw(day.chance)
        locate = day.popularity_own[rank]
        if luck >= day.popularity_cut[rank]:
            locate = day.popularity_other[rank]
        if _may_add(slot_at(day.books.symbols, locate)):
            return locate
        luck = draw(day.chance)
    while not _may_add(slot_at(day.books.symbols, locate)):  # the most popular one always may
        locate = locate % count + 1
    return locate


@step
def choose_ahead(day):
    """Choose an order some messages before it is needed, by age: three times of four spread evenly over the powers of
    two, so that most are young, else over all."""
    today, counts = slot_at(day.today, 0), slot_at(day.books.counts, 0)
    luck, count = draw(day.chance), counts.arrived - counts.oldest
    size = 1 << ((luck & 255) * today.age_octaves >> 8)
    age = size - 1 + (draw(day.chance) & (size - 1))
    if luck >> 8 & 3 == 0 or age >= count:
        age = below(day.chance, count)
    position = counts.arrived - 1 - age
    prefetch(day.books.orders, day.books.arrivals[position])
    index = today.chosen & (AHEAD - 1)
    today.chosen += 1
    chosen = day.ahead[index]
    day.ahead[index] = position
    return chosen


@step
def _choose_order(day):
    """The slot of a live order: the youngest at a best price of the last message's instrument, or one by age. There
    must be a live order."""
    luck = draw(day.chance)
    if luck & 255 < REQUOTED:
        symbol = slot_at(day.books.symbols, slot_at(day.today, 0).locate)
        best = np.int64(symbol.best_bid if luck & 256 else symbol.best_ask)
        if 0 <= best < symbol.width:
            return last_at(day.books, symbol, best)
    position = choose_ahead(day)
    return live_from(day.books, min(position, slot_at(day.books.counts, 0).arrived - 1))


@step
def _choose_shares(day, luck):
    shares = day.shares[luck & 255]
    if shares == 0:
        shares = 1 + (luck >> 8 & 127) % 99
    return shares


@step
def _choose_step(day, symbol, side):
    """A price at which an order of this side neither crosses nor locks the book."""
    luck = draw(day.chance)
    offset = day.offsets[luck & 1023] * symbol.spread + (luck >> 10 & (symbol.spread - 1))
    offset &= (symbol.width >> 2) - 1
    if side == BID:
        return np.int64(max(min(symbol.fair - offset, symbol.best_ask - 1), 0))
    return np.int64(min(max(symbol.fair + 1 + offset, symbol.best_bid + 1), symbol.width - 1))


@step
def _far_price(day, symbol, side):
    """A price nobody expects to trade at: a stub quote, or some eighths away."""
    luck = draw(day.chance)
    eighths = 1 + (luck >> 2) % 7
    if side == BID:
        if luck & 3 == 0:
            return min(STUB_BID_E4, symbol.first_price_e4 - symbol.tick_e4)
        return max(symbol.first_price_e4 * eighths // 8 // symbol.tick_e4, 1) * symbol.tick_e4
    if luck & 3 == 0:
        return STUB_ASK_E4
    top_e4 = price_at(symbol, symbol.width)
    return (top_e4 + top_e4 * eighths // 4) // 100 * 100 + 100


@step
def _next_reference(day, locate):
    engine = locate & (ENGINES - 1)
    day.engines[engine] += 1 + (draw(day.chance) & 3)
    return day.engines[engine] * ENGINES + engine


@step
def _put_add(day, octets, at):
    """A or F: a new order."""
    today = slot_at(day.today, 0)
    locate = _choose_locate(day)
    symbol = slot_at(day.books.symbols, locate)
    luck = draw(day.chance)
    side = BID if luck & 1 else ASK
    shares = _choose_shares(day, luck >> 1)
    if luck >> 24 == 0:
        price_step, price_e4 = NOWHERE, _far_price(day, symbol, side)
    else:
        price_step = _choose_step(day, symbol, side)
        price_e4 = price_at(symbol, price_step)
    reference = _next_reference(day, locate)
    add(day.books, locate, side, price_step, shares, reference)
    today.locate = locate
    luck = draw(day.chance)
    if luck & 0xFFFF < ATTRIBUTED:
        mpid = day.mpids[(luck >> 16) % day.mpids.shape[0]]
        return put_add_order_mpid(
            octets, at, locate, 0, today.time_ns, reference, side, shares, symbol.stock, price_e4, mpid
        )
    return put_add_order(octets, at, locate, 0, today.time_ns, reference, side, shares, symbol.stock, price_e4)


@step
def _put_delete(day, octets, at):
    """D: a live order goes."""
    today = slot_at(day.today, 0)
    slot = _choose_order(day)
    order = slot_at(day.books.orders, slot)
    locate = np.int64(order.locate)
    today.locate = locate
    at = put_order_delete(octets, at, locate, 0, today.time_ns, order.reference)
    remove(day.books, slot)
    return at


@step
def _put_cancel(day, octets, at):
    """X: part of an order goes, in round lots where it can. NOT_PUT when the order has one share."""
    today = slot_at(day.today, 0)
    order = slot_at(day.books.orders, _choose_order(day))
    shares, locate = np.int64(order.shares), np.int64(order.locate)
    if shares < 2:
        return NOT_PUT
    lot = 100 if shares > 100 else 1
    cancelled = lot * (1 + below(day.chance, (shares - 1) // lot))
    order.shares = shares - cancelled
    today.locate = locate
    return put_order_cancel(octets, at, locate, 0, today.time_ns, order.reference, cancelled)


@step
def _put_replace(day, octets, at):
    """U: new reference, price and half the time size. NOT_PUT while no orders may be entered."""
    today = slot_at(day.today, 0)
    slot = _choose_order(day)
    order = slot_at(day.books.orders, slot)
    locate = np.int64(order.locate)
    symbol = slot_at(day.books.symbols, locate)
    if not _may_add(symbol):
        return NOT_PUT
    luck = draw(day.chance)
    shares = np.int64(order.shares) if luck & 1 else _choose_shares(day, luck >> 1)
    price_step = _choose_step(day, symbol, np.int64(order.side))
    original, reference = np.int64(order.reference), _next_reference(day, locate)
    replace(day.books, slot, price_step, shares, reference)
    today.locate = locate
    return put_order_replace(
        octets, at, locate, 0, today.time_ns, original, reference, shares, price_at(symbol, price_step)
    )


@step
def _choose_side_hit(day, symbol, luck):
    """Which resting side is hit: mostly the one on the wrong side of the fair price. 0 when the book is empty."""
    if not is_two_sided(symbol):
        return BID if symbol.best_bid >= 0 else (ASK if symbol.best_ask < symbol.width else 0)
    is_rising = 2 * symbol.fair + 1 >= symbol.best_bid + symbol.best_ask
    return ASK if is_rising == (luck & 3 != 0) else BID


@step
def _move_fair(symbol, luck):
    """A random walk within the middle half of the window."""
    if luck & 3 == 0:
        fair = symbol.fair + (symbol.spread if luck & 4 else -symbol.spread)
        if symbol.width >> 2 <= fair < 3 * (symbol.width >> 2):
            symbol.fair = fair


@step
def _put_execution(day, octets, at, is_priced):
    """E, or C at a better price for the incoming order: the oldest order at the best price, nearly always.

    NOT_PUT when the instrument does not trade or its book is empty.
    """
    today = slot_at(day.today, 0)
    locate = _choose_locate(day)
    symbol = slot_at(day.books.symbols, locate)
    luck = draw(day.chance)
    side = _choose_side_hit(day, symbol, luck)
    if side == 0 or not _may_trade(symbol):
        return NOT_PUT
    best = np.int64(symbol.best_bid if side == BID else symbol.best_ask)
    slot = first_at(day.books, symbol, best)
    order = slot_at(day.books.orders, slot)
    if luck >> 2 & 255 < OUT_OF_TURN and order.next != 0:
        slot = np.int64(order.next)
        order = slot_at(day.books.orders, slot)
    executed = held = np.int64(order.shares)
    if luck >> 10 & 255 >= WHOLE and held > 1:
        executed = 1 + below(day.chance, held - 1)
    match, reference = next_trade(day, locate), np.int64(order.reference)
    order.shares = held - executed
    if executed == held:
        remove(day.books, slot)
    _move_fair(symbol, luck >> 18)
    today.locate = locate
    if is_priced:
        inwards_e4 = symbol.tick_e4 if side == BID else -symbol.tick_e4
        price_e4 = price_at(symbol, best) + inwards_e4
        return put_order_executed_with_price(
            octets, at, locate, TRADE_TRACKING, today.time_ns, reference, executed, match, YES, price_e4
        )
    return put_order_executed(octets, at, locate, TRADE_TRACKING, today.time_ns, reference, executed, match)


@step
def _put_phase_imbalance(day, octets, at):
    """I of the next instrument that trades, all in turn."""
    today, count = slot_at(day.today, 0), day.popularity_cut.shape[0]
    today.imbalance_locate = today.imbalance_locate % count + 1
    while not _may_trade(slot_at(day.books.symbols, today.imbalance_locate)):  # the most popular one always does
        today.imbalance_locate = today.imbalance_locate % count + 1
    cross_type = OPENING if today.time_ns < NOON_NS else CLOSING
    return put_imbalance(day, octets, at, today.imbalance_locate, cross_type)


@step
def _add_or_delete(day, slack):
    today, counts = slot_at(day.today, 0), slot_at(day.books.counts, 0)
    if counts.live == 0:
        return ADD
    if slack < 2 or counts.free == 0:
        return DELETE
    return ADD if draw(day.chance) & 0xFFFF < today.add_odds else DELETE


@step
def _spend_budget(day, left):
    """One of the kinds with a budget, each as likely as it must be to be spent in `left` messages; or ADD."""
    today = slot_at(day.today, 0)
    lot = below(day.chance, left)
    lot -= today.replaces_left
    if lot < 0:
        return REPLACE
    lot -= today.executions_left
    if lot < 0:
        return EXECUTION
    lot -= today.cancels_left
    if lot < 0:
        return CANCEL
    lot -= today.prints_left
    if lot < 0:
        return PRINT
    lot -= today.priced_executions_left
    return PRICED_EXECUTION if lot < 0 else ADD


@step
def _choose_kind(day, left, slack):
    """What comes next: what must, else what a budget calls for, else ADD (which may become a delete)."""
    today, counts = slot_at(day.today, 0), slot_at(day.books.counts, 0)
    if slack <= 0:
        return DELETE
    if slack > left or counts.live == 0:
        return ADD
    if left == 1:
        return PRINT
    if today.imbalances_left > 0:
        phase_left = slot_at(day.phases, today.phase).end_at - today.emitted
        if below(day.chance, max(phase_left, 1)) < today.imbalances_left:
            return IMBALANCE
    return _spend_budget(day, left)


@step
def _put_kind(day, octets, at, kind):
    """A message that is neither add nor delete, taken off its budget; NOT_PUT when the books do not allow it."""
    today = slot_at(day.today, 0)
    if kind == REPLACE:
        end = _put_replace(day, octets, at)
        today.replaces_left -= end != NOT_PUT
    elif kind in (EXECUTION, PRICED_EXECUTION):
        end = _put_execution(day, octets, at, kind == PRICED_EXECUTION)
        today.executions_left -= end != NOT_PUT and kind == EXECUTION
        today.priced_executions_left -= end != NOT_PUT and kind == PRICED_EXECUTION
    elif kind == CANCEL:
        end = _put_cancel(day, octets, at)
        today.cancels_left -= end != NOT_PUT
    elif kind == PRINT:
        end = put_print(day, octets, at, _choose_locate(day))
        today.prints_left -= 1
    else:
        end = _put_phase_imbalance(day, octets, at)
        today.imbalances_left -= 1
    return end


@step
def put_regular(day, octets, at):
    """Write the next regular message; returns the offset behind it."""
    today, counts = slot_at(day.today, 0), slot_at(day.books.counts, 0)
    left = today.regular_end_at - today.emitted - today.rows_before_end
    slack = left - (counts.live - LATE_DELETES)
    kind = _choose_kind(day, left, slack) if left > 0 else DELETE
    if kind >= REPLACE:
        end = _put_kind(day, octets, at, kind)
        if end != NOT_PUT:
            return end
        kind = ADD
    if kind == ADD and slack <= left:
        kind = _add_or_delete(day, slack)
    return _put_add(day, octets, at) if kind == ADD else _put_delete(day, octets, at)
