"""How a member's orders are filled: one execution, and one report, at a time.

    TAKING     an order that was accepted takes what is available of the displayed orders on the other side, at their
               prices, in price-time order. What is left rests if it is a limit order for the day, else it is canceled.
    EXECUTED   shares of a displayed order were executed in the market. A resting order on the same side that comes
               before it, by a better price or at the same price and earlier, would have had them: it is filled at its
               own price. Executions of orders that came before ours only make the queue before us shorter.
    ADDED      an order came into the market that crosses a resting order: it would have met it. The resting order is
               filled at its own price; what it got counts as taken from the order that came.
    EXPIRING   market hours are over: whatever rests expires.

Every share of an execution, and every displayed share, fills at most one share of ours; among ours price and time
decide. Shares of a displayed order that were taken stay taken, also when it is replaced; apart from that the market's
book goes its way as if we were not there. Members' orders do not meet one another. Trades that name no displayed order
(P), crosses (Q) and what is executed or comes while the symbol is not trading fill nothing.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import slot_at
from ..hot.jit import apart, small
from .displayed import first_available, next_number, price_key, take_displayed
from .market_side import (
    ADDED,
    CHANNEL,
    EVENT_NS,
    EXECUTED,
    EXPIRING,
    KIND,
    NOTHING,
    NUMBER,
    ORDER,
    PRICE_E4,
    SHARES,
    SIDE,
    TAKING,
)
from .member import (
    ID_OCTETS_MAX,
    ORDERS_TOP,
    fill_order,
    is_better,
    rest_order,
    side_index,
    unrest_order,
)
from .reports import CANCELED, EXPIRED, MADE, TAKEN, TRADE, report_order

ANY_PRICE = -(1 << 31)  # a key that no price is worse than
MARKET, LIMIT = ord("1"), ord("2")
DAY, IOC = ord("0"), ord("3")


@small
def limit_key(order, other):
    """The worst key on the side `other` that an order takes."""
    return np.int64(ANY_PRICE) if order.price_e4 == 0 else price_key(other, order.price_e4)


@small
def go_on(venue):
    """Do the next thing of the task, which may need room for one report."""
    kind = venue.market.task[KIND]
    if kind == TAKING:
        take_next(venue)
    elif kind == EXPIRING:
        expire_next(venue)
    elif kind in (EXECUTED, ADDED):
        fill_next(venue)


@apart
def tell_order(venue, row, kind, shares, price_e4, who):
    """Report on an order under its present name."""
    order = slot_at(venue.member.orders, row)
    name = np.int64(order.name)
    symbol = slot_at(venue.market.instruments, np.int64(order.instrument)).fix_symbol
    octets = np.int64(slot_at(venue.member.names, name).octets)
    report_order(
        venue.reports, venue.member, row, symbol, venue.market.task[EVENT_NS], kind, venue.member.texts,
        name * ID_OCTETS_MAX, octets, np.int64(0), shares, price_e4, who,
    )  # fmt: skip


@apart
def fill(venue, row, shares, price_e4, who):
    """An execution of a member's order, and its report."""
    counters = venue.market.counters
    counters[metrics.VENUE_FILLS] += 1
    counters[metrics.VENUE_SHARES_TAKEN if who == TAKEN else metrics.VENUE_SHARES_MADE] += shares
    fill_order(venue.member, row, shares, price_e4)
    tell_order(venue, row, np.int64(TRADE), shares, price_e4, who)


@small
def take_next(venue):
    """TAKING: one execution; or the end of it."""
    book, task, row = venue.market.book, venue.market.task, venue.market.task[ORDER]
    order = slot_at(venue.member.orders, row)
    other = side_index(order) ^ 1
    index = first_available(book, other, limit_key(order, other)) if order.leaves > 0 else np.int64(0)
    if index != 0:
        displayed = slot_at(book.orders, index)
        price_e4 = np.int64(slot_at(book.levels, np.int64(displayed.level)).price_e4)
        shares = min(order.leaves, displayed.shares - displayed.taken)
        take_displayed(book, index, shares)
        fill(venue, row, shares, price_e4, np.int64(TAKEN))
        return
    task[KIND] = NOTHING
    if order.leaves == 0:
        return
    if order.tif == IOC or order.ord_type == MARKET:
        end_order(venue, row, np.int64(CANCELED))
    else:
        order.number = next_number(book)
        rest_order(venue.member, row)


@apart
def end_order(venue, row, kind):
    """An order that is no more, without a request for it: CANCELED or EXPIRED."""
    order = slot_at(venue.member.orders, row)
    unrest_order(venue.member, row)
    order.leaves, order.status = 0, kind
    venue.market.counters[metrics.VENUE_EXPIRED if kind == EXPIRED else metrics.VENUE_UNFILLED] += 1
    tell_order(venue, row, kind, np.int64(0), np.int64(0), np.int64(0))


@small
def filled_side(task):
    """EXECUTED, ADDED: the side of the resting orders that may be filled."""
    return task[SIDE] ^ 1 if task[KIND] == ADDED else task[SIDE]


@small
def fill_next(venue):
    """EXECUTED, ADDED: one execution of the resting order that comes first; or the end of it."""
    task, member, book = venue.market.task, venue.member, venue.market.book
    added, side = task[KIND] == ADDED, filled_side(task)
    row = np.int64(member.first[side])
    if row == 0 or task[SHARES] == 0 or not comes_before(slot_at(member.orders, row), task, side, added):
        task[KIND] = NOTHING
        return
    order = slot_at(member.orders, row)
    shares, price_e4 = min(order.leaves, task[SHARES]), np.int64(order.price_e4)
    task[SHARES] -= shares
    if added:
        take_displayed(book, task[ORDER], shares)
    fill(venue, row, shares, price_e4, np.int64(MADE))


@small
def comes_before(order, task, side, added):
    """Does a resting order get something of the task's displayed order?"""
    if added:
        return not is_better(side, task[PRICE_E4], order.price_e4)
    earlier = order.price_e4 == task[PRICE_E4] and order.number < task[NUMBER]
    return is_better(side, order.price_e4, task[PRICE_E4]) or earlier


@small
def expire_next(venue):
    """EXPIRING: the next order that rests in an instrument of the channel; or the end of it."""
    task, member = venue.market.task, venue.member
    while task[ORDER] <= member.words[ORDERS_TOP]:
        row = task[ORDER]
        task[ORDER] += 1
        order = slot_at(member.orders, row)
        channel = slot_at(venue.market.instruments, np.int64(order.instrument)).channel
        if order.resting != 0 and channel == task[CHANNEL]:
            end_order(venue, row, np.int64(EXPIRED))
            return
    task[KIND] = NOTHING
