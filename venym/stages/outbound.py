"""What the gateway sends: requests as messages to the venue, order events to the strategy.

    intent ─▶ encode ─▶ wire, journal ─▶ request row           new and replace: written when judged, or refused
    cancel ─▶ request row ─▶ encode ─▶ wire, journal           decided at once, written as the link has room

A cancel counts as sent from when it is decided: so a kill cancels everything at one moment, in one order, however full
the link to the venue is. UNSENT is the first one not written; while there is one, nothing else is.

A cancel names the youngest request that the order may be known by: the replace not answered, else the last accepted.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import copy_octets, slot_at
from ..hot.jit import apart, inner, small
from ..hot.link import claim, commit, room
from ..records import CANCEL, LIMIT, NEW, OUTBOUND, SELL
from ..wire.fix_encode import SELL_SHORT, encode_cancel, encode_new_order, encode_replace
from . import gateway_words as w
from .orders import (
    FINAL,
    FIRST_NUMBER,
    NO_TOKEN,
    ORDERS_USED,
    REQUESTS_USED,
    SENT,
    STRATEGIES,
    add_request,
    find_order,
    find_request,
    group_of,
    leaves_of,
    link_order,
    recount,
)


@small
def wire_side(order):
    """Tag 54."""
    return SELL_SHORT if order.side == SELL and order.short != 0 else np.int64(order.side)


@small
def next_number(orders):
    return orders.words[REQUESTS_USED] + orders.words[FIRST_NUMBER]


@inner
def publish(ctx, end, clock_ns, cause):
    """Hand on the message written into the wire's first free slot, of `end` octets, and journal it."""
    words = ctx.words
    message = claim(ctx.wire, 0)
    message.clock_ns, message.cause, message.direction, message.length = clock_ns, cause, OUTBOUND, end
    write_journal(ctx, message, np.int64(OUTBOUND))
    words[w.OUT_SEQUENCE] += 1
    made = words[w.RATE_MADE]
    ctx.times[made % ctx.times.shape[0]] = clock_ns
    words[w.RATE_MADE] = made + 1
    commit(ctx.wire, 1)


@inner
def write_journal(ctx, message, direction):
    """Copy a message into the journal; live, a full one misses it."""
    if room(ctx.journal, 1) == 0:
        ctx.counters[metrics.JOURNAL_MISSED] += 1
        return
    copy = claim(ctx.journal, 0)
    length = min(max(np.int64(message.length), np.int64(0)), np.int64(copy.octets.shape[0]))
    copy.clock_ns, copy.cause, copy.direction, copy.length = message.clock_ns, message.cause, direction, length
    copy_octets(copy.octets, 0, message.octets, 0, length)
    commit(ctx.journal, 1)


@inner
def send_new(ctx, intent, group, short, worth_e4):
    """Write a new order that the gate let pass and enter it; False if it cannot be written: nothing has changed."""
    orders, words, clock_ns = ctx.orders, ctx.words, ctx.words[w.CLOCK_NS]
    side = SELL_SHORT if short != 0 else np.int64(intent.side)
    time_ns = words[w.MIDNIGHT_NS] + clock_ns
    end = encode_new_order(
        ctx.session.new, claim(ctx.wire, 0).octets, np.int64(0), words[w.OUT_SEQUENCE], time_ns, next_number(orders),
        slot_at(ctx.instruments, np.int64(intent.instrument)).symbol, side, intent.shares, intent.price_e4,
        np.int64(intent.ord_type), np.int64(intent.tif), np.int64(intent.post_only), time_ns,
    )  # fmt: skip
    if end < 0:
        return False
    row = orders.words[ORDERS_USED]
    orders.words[ORDERS_USED] = row + 1
    order = slot_at(orders.rows, row)
    order.token, order.strategy, order.instrument = intent.token, intent.strategy, intent.instrument
    order.shares, order.worth_e4 = intent.shares, worth_e4
    order.price_e4 = intent.price_e4 if intent.ord_type == LIMIT else 0
    order.side, order.ord_type, order.tif, order.post_only = intent.side, intent.ord_type, intent.tif, intent.post_only
    order.short, order.status = short, SENT
    order.number = add_request(orders, row, NEW, 0, intent.shares, intent.price_e4, 0, clock_ns, intent.cause)
    words[w.UNSENT] = orders.words[REQUESTS_USED]
    link_order(orders, group, row)
    recount(ctx.positions, order, group)
    ctx.counters[metrics.NEW_ORDERS] += 1
    publish(ctx, end, clock_ns, intent.cause)
    return True


@inner
def send_replace(ctx, intent, group, row):
    """Write a replace that the gate let pass and enter it; False if it cannot be written."""
    orders, words, clock_ns = ctx.orders, ctx.words, ctx.words[w.CLOCK_NS]
    order = slot_at(orders.rows, row)
    time_ns = words[w.MIDNIGHT_NS] + clock_ns
    number, at = next_number(orders), np.int64(0)
    end = encode_replace(
        ctx.session.replace, claim(ctx.wire, 0).octets, at, words[w.OUT_SEQUENCE], time_ns, number, order.number,
        slot_at(ctx.instruments, np.int64(order.instrument)).symbol, wire_side(order), intent.shares, intent.price_e4,
        np.int64(order.ord_type), np.int64(order.tif), np.int64(order.post_only), time_ns,
    )  # fmt: skip
    if end < 0:
        return False
    add_request(orders, row, intent.action, 0, intent.shares, intent.price_e4, order.number, clock_ns, intent.cause)
    words[w.UNSENT] = orders.words[REQUESTS_USED]
    order.replace, order.pending_shares, order.pending_price_e4 = number, intent.shares, intent.price_e4
    recount(ctx.positions, order, group)
    ctx.counters[metrics.REPLACES] += 1
    publish(ctx, end, clock_ns, intent.cause)
    return True


@inner
def add_cancel(ctx, row, own, cause, clock_ns):
    """Decide to cancel an order; `send_cancel` writes it. The caller has seen that there is a row for it."""
    orders = ctx.orders
    order = slot_at(orders.rows, row)
    orig = order.replace if order.replace != 0 else order.number
    shares = order.pending_shares if order.replace != 0 else order.shares
    order.cancel = add_request(orders, row, CANCEL, own, shares, order.price_e4, orig, clock_ns, cause)


@inner
def send_cancel(ctx):
    """Write the oldest cancel that is not; the wire has room."""
    orders, words, counters = ctx.orders, ctx.words, ctx.counters
    index = words[w.UNSENT]
    request = slot_at(orders.requests, index)
    order = slot_at(orders.rows, np.int64(request.order))
    time_ns = words[w.MIDNIGHT_NS] + request.clock_ns
    end = encode_cancel(
        ctx.session.cancel, claim(ctx.wire, 0).octets, np.int64(0), words[w.OUT_SEQUENCE], time_ns,
        index + orders.words[FIRST_NUMBER], request.orig,
        slot_at(ctx.instruments, np.int64(order.instrument)).symbol, wire_side(order), request.shares, time_ns,
    )  # fmt: skip
    words[w.UNSENT] = index + 1
    if end < 0:
        counters[metrics.ENCODE_FAILURES] += 1
        w.kill(ctx, w.ENCODE, w.BY_GATEWAY)
        return
    counters[metrics.CANCELS] += 1
    counters[metrics.OWN_CANCELS] += request.own
    publish(ctx, end, request.clock_ns, request.cause)


@inner
def sweep(ctx):
    """Decide to cancel every open order that has no cancel on its way, oldest of each group first."""
    ctx.words[w.SWEEP] = 0
    for group in range(ctx.orders.heads.shape[0]):
        cancel_group(ctx, group, ctx.words[w.CLOCK_NS])


@inner
def cancel_resting(ctx, instrument, clock_ns):
    """Decide to cancel every open order in an instrument that has no cancel on its way."""
    for strategy in range(ctx.orders.words[STRATEGIES]):
        cancel_group(ctx, group_of(ctx.orders, strategy, instrument), clock_ns)


@apart
def cancel_group(ctx, group, clock_ns):
    """As `cancel_resting`, for one strategy."""
    orders = ctx.orders
    at = slot_at(orders.heads, group)
    while at != 0:
        order = slot_at(orders.rows, at - 1)
        if order.cancel == 0:
            if orders.words[REQUESTS_USED] < orders.requests.shape[0]:
                cause = slot_at(orders.requests, find_request(orders, order.number)).cause
                add_cancel(ctx, at - 1, np.int64(1), cause, clock_ns)
            else:
                ctx.counters[metrics.REQUESTS_FULL] += 1
        at = np.int64(order.next)


@inner
def tell(ctx, row, kind, action, reason, last_shares, last_price_e4, fee_e6):
    """Tell the strategy what became of the order `row`; live, a link without room is a kill."""
    if room(ctx.order_events, 1) == 0:
        ctx.counters[metrics.EVENTS_UNTOLD] += 1
        w.kill(ctx, w.EVENTS_FULL, w.BY_GATEWAY)
        return
    orders = ctx.orders
    order = slot_at(orders.rows, row)
    event = claim(ctx.order_events, 0)
    event.clock_ns, event.token = ctx.words[w.CLOCK_NS], order.token
    event.shares, event.price_e4, event.filled_shares = order.shares, order.price_e4, order.filled_shares
    event.leaves_shares = leaves_of(order)
    event.last_shares, event.last_price_e4, event.fee_e6 = last_shares, last_price_e4, fee_e6
    event.strategy, event.instrument, event.reason = order.strategy, order.instrument, reason
    event.kind, event.side, event.action, event.final = kind, order.side, action, order.status == FINAL
    if order.status == FINAL:
        group = group_of(orders, np.int64(order.strategy), np.int64(order.instrument))
        if find_order(orders, group, order.token) >= 0:
            event.token = NO_TOKEN
    commit(ctx.order_events, 1)
