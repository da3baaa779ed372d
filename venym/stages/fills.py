"""Executions into orders and positions: booked once, undone, corrected; and what any report does to an order's state.

    150=1 2 F          fill    shares and money, the order's fills, its exposure, one FILLED
    20=1 or 150=H      undo    the same with negative shares, at the price and fee it had: one FILLED
    20=2 or 150=G      undo    both: a FILLED of negative shares, and one of what it is corrected to

Whatever state its order is in, an execution is booked; unless its ExecID was before.
"""

import numpy as np

from .. import metrics as m
from ..hot.intrinsics import slot_at
from ..hot.jit import inner, small
from ..records import FILLED
from ..wire import fix_parse as fix
from . import gateway_words as w
from . import orders as o
from .executions import EXEC_ID_OCTETS_MAX, add_execution_row, find_execution, last_version
from .inbound import find_field
from .outbound import tell
from .positions import book_execution, is_plausible

_ADDED, _REMOVED = ord("A"), ord("R")
FINAL_STATUS = tuple(ord(c) for c in "2348BC")
EXEC_REF_ID = 19
EVENTS_MAX = 2  # order events that one message may cause


@small
def order_group(ctx, order):
    return o.group_of(ctx.orders, np.int64(order.strategy), np.int64(order.instrument))


@inner
def settle(ctx, row, final):
    """Bring list and exposure in line with the order's fields; `final`: it is no more."""
    order = slot_at(ctx.orders.rows, row)
    group = order_group(ctx, order)
    if final and order.status != o.FINAL:
        order.status = o.FINAL
        o.unlink_order(ctx.orders, group, row)
    o.recount(ctx.positions, order, group)


@inner
def reopen(ctx, row):
    """Take a final order for open again."""
    ctx.counters[m.REOPENED] += 1
    order = slot_at(ctx.orders.rows, row)
    order.status = o.OPEN
    o.link_order(ctx.orders, order_group(ctx, order), row)


@inner
def answer(ctx, index, state):
    """Mark a request as answered; returns its action, 0 if it was answered before or is not a strategy's."""
    request = slot_at(ctx.orders.requests, index)
    if request.state != o.WAITING:
        return np.int64(0)
    request.state = state
    return np.int64(request.action) if request.own == 0 else np.int64(0)


@inner
def accept(ctx, order):
    """The venue has the order; returns NEW if that answers the request for it."""
    if order.status != o.SENT:
        return np.int64(0)
    order.status = o.OPEN
    return answer(ctx, o.find_request(ctx.orders, order.number), o.ACCEPTED)


@inner
def fee_of(ctx, report, shares):
    if report.liquidity == _ADDED:
        return shares * ctx.words[w.MAKE_E6]
    if report.liquidity != _REMOVED:
        ctx.counters[m.UNKNOWN_LIQUIDITIES] += 1
    return shares * ctx.words[w.TAKE_E6]


@inner
def is_booked(ctx, report, row):
    """(row of the execution with the report's ExecID or -1, slot where it would go or -1 if it is too long)."""
    octets = np.int64(report.exec_id_octets)
    if octets > EXEC_ID_OCTETS_MAX:
        return np.int64(-1), np.int64(-1)
    return find_execution(ctx.executions, row, ctx.buffer, report.exec_id_at, octets)


@inner
def enter(ctx, report, row, slot, shares, price_e4, fee_e6):
    """Book an execution: (its row or -1, the reason to kill or 0)."""
    order, entered, reason = slot_at(ctx.orders.rows, row), np.int64(-1), np.int64(0)
    if slot >= 0:
        octets = np.int64(report.exec_id_octets)
        entered = add_execution_row(
            ctx.executions, slot, row, ctx.buffer, report.exec_id_at, octets, shares, price_e4, fee_e6
        )
    if entered < 0:
        ctx.counters[m.EXECUTIONS_FULL] += 1
        reason = np.int64(w.EXECUTIONS_FULL)
    if report.marks & fix.INEXACT_LAST != 0:
        ctx.counters[m.INEXACT_FILLS] += 1
    order.filled_shares += shares
    if book(ctx, order, shares, price_e4, fee_e6) > 0:
        reason = np.int64(w.MONEY)
    return entered, reason


@inner
def book(ctx, order, shares, price_e4, fee_e6):
    cut = book_execution(ctx.positions, order, order_group(ctx, order), shares, price_e4, fee_e6)
    ctx.counters[m.MONEY_CLAMPED] += cut
    return cut


@small
def told_execution(report):
    """Does the report say what was traded, and can it be?"""
    wanted = fix.HAS_LAST_SHARES | fix.HAS_LAST_PRICE
    return report.present & wanted == wanted and is_plausible(report.last_shares, report.last_price_e4)


@inner
def fill(ctx, report, row):
    """Book an execution; (applied, reason to kill or 0)."""
    counters, order = ctx.counters, slot_at(ctx.orders.rows, row)
    shares, price_e4 = np.int64(report.last_shares), np.int64(report.last_price_e4)
    known, slot = is_booked(ctx, report, row)
    if known >= 0:
        counters[m.DUPLICATE_EXECUTIONS] += 1
        return False, np.int64(0)
    if not told_execution(report):
        counters[m.IMPLAUSIBLE] += 1
        return False, np.int64(w.NOT_PLAUSIBLE)
    if order.status == o.FINAL:
        counters[m.LATE_FILLS] += 1
    elif shares > max(order.shares, order.pending_shares) - order.filled_shares:
        counters[m.OVER_FILLS] += 1
    fee_e6 = fee_of(ctx, report, shares)
    action = accept(ctx, order)
    _, reason = enter(ctx, report, row, slot, shares, price_e4, fee_e6)
    counters[m.FILLS] += 1
    ended = report.ord_status in FINAL_STATUS or report.leaves_shares == 0
    settle(ctx, row, ended and not (order.replace != 0 and order.pending_shares > order.filled_shares))
    tell(ctx, row, np.int64(FILLED), action, np.int64(0), shares, price_e4, fee_e6)
    return True, reason


@inner
def undo(ctx, report, start, end, row, corrected, fresh):
    """Undo an execution, and book what it is corrected to; (applied, reason to kill or 0)."""
    counters, order, reason = ctx.counters, slot_at(ctx.orders.rows, row), np.int64(0)
    at, behind = find_field(ctx.buffer, start, end, EXEC_REF_ID)
    found = np.int64(-1)
    if 0 < behind - at <= EXEC_ID_OCTETS_MAX:
        found, _ = find_execution(ctx.executions, row, ctx.buffer, at, behind - at)
    if found < 0:
        counters[m.UNKNOWN_BUSTS] += 1
        return False, np.int64(w.UNKNOWN_BUST)
    booked, slot = is_booked(ctx, report, row)
    old = slot_at(ctx.executions.rows, last_version(ctx.executions, found))
    if old.undone != 0 or (corrected and booked >= 0):
        counters[m.DUPLICATE_EXECUTIONS] += 1
        return False, np.int64(0)
    if corrected and not told_execution(report):
        counters[m.IMPLAUSIBLE] += 1
        return False, np.int64(w.NOT_PLAUSIBLE)

    old.undone = 1
    order.filled_shares -= old.shares
    if book(ctx, order, -old.shares, old.price_e4, -old.fee_e6) > 0:
        reason = np.int64(w.MONEY)
    is_final = report.ord_status in FINAL_STATUS
    if order.status == o.FINAL and fresh and not is_final and report.leaves_shares > 0:
        reopen(ctx, row)
    settle(ctx, row, is_final)
    counters[m.CORRECTIONS if corrected else m.BUSTS] += 1
    tell(ctx, row, np.int64(FILLED), np.int64(0), np.int64(0), -old.shares, old.price_e4, -old.fee_e6)
    if corrected:
        shares, price_e4 = np.int64(report.last_shares), np.int64(report.last_price_e4)
        told = report.present & fix.HAS_LIQUIDITY != 0
        fee_e6 = fee_of(ctx, report, shares) if told else old.fee_e6 // old.shares * shares
        entered, worse = enter(ctx, report, row, slot, shares, price_e4, fee_e6)
        old.successor = entered + 1
        settle(ctx, row, is_final)
        tell(ctx, row, np.int64(FILLED), np.int64(0), np.int64(0), shares, price_e4, fee_e6)
        reason = worse if worse != 0 else reason
    return True, reason
