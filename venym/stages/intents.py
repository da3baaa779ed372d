"""Intents, judged and sent or refused; and the market they are judged by.

INTENT ─▶ market states up to its ordinal ─▶ code, order ─▶ gate ─▶ message, latency
              │                                └─────────────┴▶ REFUSED ─▶ at once | ring of the delayed
              └▶ open orders that must not rest any more ─▶ cancels

delayed   | past ... | told ... | waiting ... |      a place is free once its time is past, whether or not it was
          PAST       TOLD       MADE                 told long before: so how many fit does not depend on chance
"""

import numpy as np

from .. import metrics
from ..hot.histogram import record as record_value
from ..hot.intrinsics import copy_record, cycles, slot_at
from ..hot.jit import inner
from ..hot.link import claim, commit, peek, ready, release, room
from ..records import CANCEL, KILL, NEVER_NS, NEW, REFUSED, REPLACE
from . import gateway_words as w
from . import orders as o
from . import risk
from .outbound import add_cancel, cancel_resting, send_cancel, send_new, send_replace

LAST_ORDINAL = 1 << 62
DELAYED_MAX = 4_096  # refusals that wait to be told; a power of two

# Histograms of cycles, by row. Each lasts from the record before; HOLD is what the strategy waited for older inputs.
DECODER, FEATURES, INFERENCE, HOLD, STRATEGY, GATEWAY, TICK_TO_ORDER, LATENCIES = range(8)
LATENCY_NAMES = ("decoder", "features", "inference", "hold", "strategy", "gateway", "tick_to_order")


@inner
def apply_market(ctx, ordinal_max, before_ns):
    """Apply the market states up to an ordinal and before a time; returns how many."""
    count, there = np.int64(0), ready(ctx.market, ctx.market.slots.shape[0])
    while count < there:
        state = peek(ctx.market, count)
        if state.ordinal > ordinal_max or state.clock_ns >= before_ns:
            break
        instrument = np.int64(state.instrument)
        if instrument < 0 or instrument >= ctx.states.shape[0]:
            raise IndexError("a market state's instrument is not one of the gateway's")
        known = slot_at(ctx.states, instrument)
        rested = not risk.must_not_rest(ctx.limits, np.int64(known.marks))
        if rested and risk.must_not_rest(ctx.limits, np.int64(state.marks)):
            cancel_resting(ctx, instrument, max(ctx.words[w.CLOCK_NS], state.clock_ns))
        copy_record(known, state)
        count += 1
    if count > 0:
        ctx.counters[metrics.MARKET_STATES] += count
        release(ctx.market, count)
    return count


@inner
def see_market(ctx, intent):
    """Bring the market to where it was when the intent was decided upon; False if that cancels something, which is
    to be written first."""
    apply_market(ctx, intent.ordinal if ctx.words[w.HOLD] != 0 else np.int64(LAST_ORDINAL), np.int64(NEVER_NS))
    return ctx.words[w.UNSENT] == ctx.orders.words[o.REQUESTS_USED]


@inner
def take_intent(ctx, intent):
    """Judge an intent by the market it has seen; send what passes, refuse what does not."""
    words, orders, held = ctx.words, ctx.orders, ctx.words[w.HOLD] != 0
    words[w.BEGUN_CYCLES] = cycles() if held else intent.decided_cycles  # a replay's waiting is no latency
    ctx.counters[metrics.INTENTS] += 1
    words[w.CLOCK_NS] = max(words[w.CLOCK_NS], intent.clock_ns)
    if intent.action == KILL:
        w.kill(ctx, np.int64(intent.reason), np.int64(intent.strategy))
        return
    reason, group, row = find_meant(ctx, intent)
    short, worth_e4 = np.int64(0), np.int64(0)
    if reason == 0 and intent.action == CANCEL:
        if slot_at(orders.rows, row).cancel != 0:
            reason = np.int64(risk.PENDING)
        elif orders.words[o.REQUESTS_USED] >= orders.requests.shape[0]:
            reason = np.int64(risk.TABLE_FULL)
        else:
            add_cancel(ctx, row, np.int64(0), intent.cause, words[w.CLOCK_NS])
            send_cancel(ctx)
    elif reason == 0:
        reason, short, worth_e4 = risk.judge(ctx, intent, group, row)
        if reason == 0 and room(ctx.journal, 1) == 0:
            reason = np.int64(risk.JOURNAL_FULL)
        if reason == 0:
            if row < 0:
                sent = send_new(ctx, intent, group, short, worth_e4)
            else:
                sent = send_replace(ctx, intent, group, row)
            reason = np.int64(0) if sent else np.int64(risk.ENCODE)
    if reason == 0:
        count_latency(ctx, intent)
    else:
        refuse(ctx, intent, row, reason, held)


@inner
def find_meant(ctx, intent):
    """(0 or the reason to refuse, group, row of the order that CANCEL and REPLACE mean, or -1)."""
    orders, nothing = ctx.orders, np.int64(-1)
    if ctx.words[w.KILLED] != 0 and intent.action != CANCEL:
        return np.int64(risk.KILLED), nothing, nothing
    if intent.action not in (NEW, CANCEL, REPLACE):
        return np.int64(risk.BAD_INTENT), nothing, nothing
    if intent.strategy < 0 or intent.strategy >= orders.words[o.STRATEGIES]:
        return np.int64(risk.BAD_INTENT), nothing, nothing
    if intent.instrument < 0 or intent.instrument >= orders.words[o.INSTRUMENTS]:
        return np.int64(risk.UNKNOWN_INSTRUMENT), nothing, nothing
    group = o.group_of(orders, np.int64(intent.strategy), np.int64(intent.instrument))
    if intent.action == NEW:
        return np.int64(0), group, nothing
    row = o.find_order(orders, group, intent.token)
    return (np.int64(0) if row >= 0 else np.int64(risk.UNKNOWN_TOKEN)), group, row


@inner
def refuse(ctx, intent, row, reason, held):
    """Count a refusal and tell it: at once, or in replay when the venue could have."""
    words = ctx.words
    ctx.counters[metrics.REFUSALS] += 1
    ctx.refusals[reason] += 1
    event = slot_at(ctx.delayed, words[w.DELAYED_MADE] & (DELAYED_MAX - 1))
    while words[w.DELAYED_PAST] < words[w.DELAYED_TOLD]:
        if slot_at(ctx.delayed, words[w.DELAYED_PAST] & (DELAYED_MAX - 1)).clock_ns > words[w.CLOCK_NS]:
            break
        words[w.DELAYED_PAST] += 1
    if held and words[w.DELAYED_MADE] - words[w.DELAYED_PAST] == DELAYED_MAX:
        ctx.counters[metrics.REFUSALS_UNTOLD] += 1
        w.kill(ctx, w.REFUSALS_FULL, w.BY_GATEWAY)
        return
    if not held:
        if room(ctx.order_events, 1) == 0:
            ctx.counters[metrics.EVENTS_UNTOLD] += 1
            w.kill(ctx, w.EVENTS_FULL, w.BY_GATEWAY)
            return
        event = claim(ctx.order_events, 0)
    fill_refusal(ctx, event, intent, row, reason)
    if held:
        event.clock_ns += words[w.REFUSAL_NS]
        words[w.DELAYED_MADE] += 1
    else:
        commit(ctx.order_events, 1)


@inner
def fill_refusal(ctx, event, intent, row, reason):
    """final: there is no working order of that token."""
    event.clock_ns, event.token = ctx.words[w.CLOCK_NS], intent.token
    event.strategy, event.instrument, event.reason = intent.strategy, intent.instrument, reason
    event.kind, event.side, event.action = REFUSED, intent.side, intent.action
    event.shares, event.price_e4, event.leaves_shares, event.filled_shares = intent.shares, intent.price_e4, 0, 0
    event.last_shares, event.last_price_e4, event.fee_e6 = 0, 0, 0
    event.final = row < 0 and reason != risk.DUPLICATE_TOKEN
    if row >= 0:
        order = slot_at(ctx.orders.rows, row)
        event.shares, event.price_e4, event.side = order.shares, order.price_e4, order.side
        event.leaves_shares, event.filled_shares = o.leaves_of(order), order.filled_shares


@inner
def count_latency(ctx, intent):
    """Into the histograms, what has passed since the packet; those before the strategy only for what one began."""
    latencies = ctx.latencies
    strategy, gateway = intent.decided_cycles - intent.begun_cycles, cycles() - ctx.words[w.BEGUN_CYCLES]
    record_value(latencies[STRATEGY], strategy)
    record_value(latencies[GATEWAY], gateway)
    if intent.taken_cycles != 0:
        decoder = intent.decoded_cycles - intent.taken_cycles
        features = intent.featured_cycles - intent.decoded_cycles
        inference = intent.inferred_cycles - intent.featured_cycles
        record_value(latencies[DECODER], decoder)
        record_value(latencies[FEATURES], features)
        record_value(latencies[INFERENCE], inference)
        waited = intent.begun_cycles - intent.inferred_cycles + ctx.words[w.BEGUN_CYCLES] - intent.decided_cycles
        record_value(latencies[HOLD], waited)
        record_value(latencies[TICK_TO_ORDER], decoder + features + inference + strategy + gateway)
