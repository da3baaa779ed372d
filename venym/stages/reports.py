"""What the venue tells: a message's number, then an execution report or cancel reject into orders and positions.

    message ─▶ number as expected? ─▶ ours? of this symbol and side? ─▶ execution    book it, once
                   │ no: kill             │ no: not applied             state        accepted, replaced, canceled, ...
                                                                        35=9         the request is answered

What an execution tells is a fact: it is booked whatever state its order is in, unless its ExecID was booked before. All
else is applied only if it fits: an answer, to a request that waits for one; an end, to an order that is open. What is
known already is counted as stale. A message numbered too high is applied, and is a kill: what lies between is lost.

An order is final by OrdStatus (2 3 4 8 B C), or by an execution that leaves nothing, for OrdStatus 6 or E hides a 2. It
stays open, however, while a replace to more than is filled waits for its answer. A cancel reject makes it final if it
tells a final status, or that the order is unknown (102=1) by the very number the venue has it under; that a number
is unknown which a rejected replace would have given it says nothing of the order.
"""

import numpy as np

from .. import metrics as m
from ..hot.intrinsics import slot_at
from ..hot.jit import inner
from ..records import (
    ACCEPTED,
    BUY,
    CANCEL,
    CANCEL_REJECTED,
    CANCELED,
    EXPIRED,
    LIMIT,
    NEW,
    REJECTED,
    REPLACED,
)
from ..wire import fix_parse as fix
from ..wire.fix_encode import PRICE_E4_MAX, SHARES_MAX
from . import gateway_words as w
from . import orders as o
from .fills import FINAL_STATUS, accept, answer, fill, reopen, settle, undo
from .inbound import BROKEN, FOREIGN, read_header
from .outbound import tell

_NEW, _DONE, _CANCELED, _REPLACED, _REJECTED, _EXPIRED, _RESTATED = (ord(c) for c in "03458CD")
_PARTIAL, _FILL, _TRADE = (ord(c) for c in "12F")
_UNDONE, _CORRECTED, _STATUS = (ord(c) for c in "123")  # 20
_UNDONE_44, _CORRECTED_44, _STATUS_44 = (ord(c) for c in "HGI")  # 150
_REPORT, _CANCEL_REJECT, _SESSION_REJECT, _BUSINESS_REJECT, _LOGOUT = (ord(c) for c in "893j5")
_SELLS = tuple(ord(c) for c in "256")
DUPLICATE_ORDER = 6  # 103
UNKNOWN_ORDER = 1  # 102
UNKNOWN, UNREADABLE, MISFIT = -1, -2, -3  # instead of a request


@inner
def check_message(ctx, start, end):
    """(8 or 9 if the message at buffer[start:end] is a report to be applied, else 0; was it never sent before)."""
    words, counters = ctx.words, ctx.counters
    status, kind, sequence, again = read_header(ctx.session, ctx.buffer, start, end)
    if status == FOREIGN:
        counters[m.FOREIGN_PARTIES] += 1
        return np.int64(0), False
    reason, told = np.int64(0), np.int64(0)
    expected = words[w.IN_SEQUENCE]
    if status == BROKEN:
        counters[m.UNREADABLE] += 1
        reason = np.int64(w.NOT_READABLE)
    elif sequence < expected and again == 0:
        counters[m.SEQUENCE_LOWS] += 1
        reason = np.int64(w.SEQUENCE_LOW)
    else:
        words[w.IN_SEQUENCE] = max(expected, sequence + 1)
        if sequence > expected:
            counters[m.SEQUENCE_GAPS] += 1
            w.kill(ctx, w.SEQUENCE_GAP, w.BY_GATEWAY)
        if kind in (_REPORT, _CANCEL_REJECT):
            told = kind
        elif kind in (_SESSION_REJECT, _BUSINESS_REJECT):
            counters[m.SESSION_REJECTS] += 1
            reason = np.int64(w.SESSION_REJECT)
        elif kind == _LOGOUT:
            counters[m.LOGOUTS] += 1
            reason = np.int64(w.LOGOUT)
        else:
            counters[m.OTHER_TYPES] += 1
    if reason != 0:
        w.kill(ctx, reason, w.BY_GATEWAY)
    return told, again == 0


@inner
def take_report(ctx, start, end, fresh):
    """Apply the report at buffer[start:end]; `fresh`: it was not sent before."""
    counters, orders, report = ctx.counters, ctx.orders, slot_at(ctx.report, 0)
    applied, reason = False, np.int64(0)
    index, row = read_report(ctx, start, end)
    if index == UNREADABLE:
        reason = np.int64(w.NOT_READABLE)
    elif index == MISFIT:
        reason = np.int64(w.MISMATCH)
    elif index >= 0:
        kind, transaction = np.int64(report.exec_type), np.int64(report.exec_trans_type)
        is_reject = report.msg_type == fix.CANCEL_REJECT
        if transaction == _STATUS or kind == _STATUS_44:
            counters[m.UNCHANGED] += 1
        elif transaction in (_UNDONE, _CORRECTED) or kind in (_UNDONE_44, _CORRECTED_44):
            corrected = transaction == _CORRECTED or kind == _CORRECTED_44
            applied, reason = undo(ctx, report, start, end, row, corrected, fresh)
        elif kind in (_PARTIAL, _FILL, _TRADE):
            applied, reason = fill(ctx, report, row)
        elif is_reject or (kind == _REJECTED and slot_at(orders.requests, index).action != NEW):
            why = np.int64(report.cxl_rej_reason if is_reject else report.ord_rej_reason)
            reason = take_reject(ctx, index, row, why, is_reject and report.ord_status in FINAL_STATUS)
        elif kind in (_NEW, _DONE, _CANCELED, _REPLACED, _REJECTED, _EXPIRED, _RESTATED):
            applied, reason = change_state(ctx, report, index, row, kind, fresh)
        else:
            counters[m.UNCHANGED] += 1
        order = slot_at(orders.rows, row)
        if applied and fresh and report.cum_shares != order.filled_shares:
            counters[m.CUM_DIFFERS] += 1
        if order.status != o.FINAL and order.cancel == 0 and ctx.words[w.KILLED] != 0:
            ctx.words[w.SWEEP] = 1
    if reason != 0:
        w.kill(ctx, reason, w.BY_GATEWAY)


@inner
def read_report(ctx, start, end):
    """(index of the request that a report answers, row of its order); or an index below 0: it is not to be applied."""
    counters, report = ctx.counters, slot_at(ctx.report, 0)
    if fix.parse_execution_report(ctx.buffer, start, end, report) != fix.OK:
        counters[m.UNREADABLE] += 1
        return np.int64(UNREADABLE), np.int64(-1)
    counters[m.REPORTS] += 1
    index = request_named(ctx, report.cl_ord_id_at, np.int64(report.cl_ord_id_octets))
    if index < 0:
        counters[m.UNKNOWN_ORDERS] += 1
        return np.int64(UNKNOWN), np.int64(-1)
    row = np.int64(slot_at(ctx.orders.requests, index).order)
    if not is_of(ctx, report, row):
        counters[m.MISMATCHES] += 1
        return np.int64(MISFIT), row
    return index, row


@inner
def request_named(ctx, at, octets):
    """Index of the request of the ClOrdID that lies at buffer[at:at + octets], or -1."""
    number = fix.number_behind(ctx.buffer, at, at + octets, ctx.session.prefix)
    return o.find_request(ctx.orders, number)


@inner
def is_of(ctx, report, row):
    """Does the report fit the order: symbol, side and OrigClOrdID, where they are told?"""
    order = slot_at(ctx.orders.rows, row)
    symbol = slot_at(ctx.instruments, np.int64(order.instrument)).symbol
    if report.present & fix.HAS_SYMBOL != 0 and report.symbol != symbol:
        return False
    if report.present & fix.HAS_SIDE != 0:
        fits = report.side == ord("1") if order.side == BUY else report.side in _SELLS
        if not fits:
            return False
    if report.present & fix.HAS_ORIG_CL_ORD_ID != 0:
        index = request_named(ctx, report.orig_cl_ord_id_at, np.int64(report.orig_cl_ord_id_octets))
        if index >= 0 and slot_at(ctx.orders.requests, index).order != row:
            return False
    return True


@inner
def take_terms(ctx, order, report, shares, price_e4):
    """Shares and price of an order as the report confirms them, or as they were asked for."""
    told = np.int64(report.order_shares)
    if report.present & fix.HAS_ORDER_SHARES != 0 and told != shares and 1 <= told <= SHARES_MAX:
        ctx.counters[m.TERMS_DIFFER] += 1
        shares = told
    order.shares = shares
    if order.ord_type == LIMIT:
        told = np.int64(report.price_e4)
        exact = report.present & fix.HAS_PRICE != 0 and report.marks & fix.INEXACT_PRICE == 0
        if exact and told != price_e4 and 1 <= told <= PRICE_E4_MAX:
            ctx.counters[m.TERMS_DIFFER] += 1
            price_e4 = told
        order.price_e4, order.worth_e4 = price_e4, price_e4


@inner
def change_state(ctx, report, index, row, kind, fresh):
    """Apply a report of no execution; (applied, reason to kill or 0)."""
    orders, order = ctx.orders, slot_at(ctx.orders.rows, row)
    request = slot_at(orders.requests, index)
    number = index + orders.words[o.FIRST_NUMBER]
    was_final, waits = order.status == o.FINAL, request.state == o.WAITING
    ended = report.ord_status in FINAL_STATUS
    told, action, reason = np.int64(0), np.int64(0), np.int64(0)
    why, none = np.int64(0), np.int64(0)  # the venue's reason, in the event; no execution

    if kind == _NEW and (order.status == o.SENT or was_final) and request.action == NEW and fresh | (not was_final):
        told = np.int64(ACCEPTED)
        if was_final:
            reopen(ctx, row)
            reason = np.int64(w.CONTRADICTION)
        action = accept(ctx, order)
        take_terms(ctx, order, report, order.shares, order.price_e4)
    elif kind == _REPLACED and order.replace == number and waits:
        told = np.int64(REPLACED)
        ended |= report.leaves_shares == 0
        if was_final and not ended and fresh:
            reopen(ctx, row)
            reason = np.int64(w.CONTRADICTION)
        action = answer(ctx, index, o.ACCEPTED)
        order.replace, order.pending_shares, order.pending_price_e4 = 0, 0, 0
        order.number = number
        take_terms(ctx, order, report, request.shares, request.price_e4)
    elif kind in (_CANCELED, _EXPIRED, _DONE):
        ended = True
        first = accept(ctx, order)
        if order.cancel == number and waits:
            order.cancel = 0
            action = answer(ctx, index, o.ACCEPTED)
        action = action if action != 0 else first
        if action != 0 or not was_final:
            told = np.int64(CANCELED if kind == _CANCELED else EXPIRED)
    elif kind == _REJECTED:
        why = np.int64(report.ord_rej_reason)
        if order.status == o.SENT or (not was_final and why != DUPLICATE_ORDER):
            ended = True
            told = np.int64(REJECTED)
            action = answer(ctx, index, o.REJECTED)
    elif kind == _RESTATED and not was_final:
        told = np.int64(REPLACED)
        take_terms(ctx, order, report, order.shares, order.price_e4)

    if told == 0:
        ctx.counters[m.STALE_REPORTS] += 1
        return False, reason
    settle(ctx, row, ended)
    tell(ctx, row, told, action, why, none, none, none)
    return True, reason


@inner
def take_reject(ctx, index, row, why, is_final):
    """A cancel or replace was not done; returns the reason to kill, or 0. `is_final`: it tells a final OrdStatus."""
    counters, orders = ctx.counters, ctx.orders
    request, order = slot_at(orders.requests, index), slot_at(orders.rows, row)
    if request.action == NEW:
        counters[m.MISMATCHES] += 1
        return np.int64(w.MISMATCH)
    if request.state != o.WAITING:
        counters[m.STALE_REPORTS] += 1
        return np.int64(0)
    action = answer(ctx, index, o.REJECTED)
    if request.action == CANCEL:
        order.cancel = 0
    else:
        order.replace, order.pending_shares, order.pending_price_e4 = 0, 0, 0
    retired = False
    if order.status != o.FINAL:
        retired = is_final
        if why == UNKNOWN_ORDER:
            retired = request.orig == order.number
        if retired and order.filled_shares < order.shares:
            counters[m.RETIRED] += 1
    settle(ctx, row, retired)
    if action != 0 or retired:
        none = np.int64(0)
        tell(ctx, row, np.int64(CANCEL_REJECTED), action, why, none, none, none)
    return np.int64(0)
