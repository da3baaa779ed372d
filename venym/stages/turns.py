"""Whose turn it is: which input of the strategy stage is next, and what is certain of those to come.

    order events  e ─┐        under hold, of what is there or, if nothing is, of the link's MARK:
    timers        t ─┼─▶  e is next if e <= t and e <= s;  t if t < e and t <= s;  s if s < e and s < t
    signals       s ─┘

When the signals have ended (DONE of their link, not 0, says when), all that is earlier than their end is taken first;
then the day is over: order events are still followed, no timer fires, and no intent goes out any more.

While orders work and no request is unanswered, only the market can cause an order event: e is then DONE of the order
events, once MARK says that the last answer was whole. While no order works either, none can come: e is then NEVER_NS,
and signals need not wait for the venue. After a kill the gateway cancels by itself: the first is not relied upon then.

Part of the strategy stage; `desk` is its Desk.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import copy_record, cycles, slot_at
from ..hot.jit import inner, small
from ..hot.link import DONE, MARK, mark, peek, ready, set_mark
from ..records import NEVER_NS
from . import desk as at
from .asking import is_called, place_of, switch_off
from .desk import ORDERS_OVER
from .working import follow, nothing_to_be_answered, nothing_to_come


@inner
def look_at_events(desk):
    """Is an order event there; and its clock, or what none to come is older than."""
    done_ns, until_ns = mark(desk.order_events, DONE), mark(desk.order_events, MARK)
    if ready(desk.order_events, 1) > 0:
        return True, peek(desk.order_events, 0).clock_ns
    if desk.words[at.HOLD] != 0:
        if nothing_to_come(desk.working):
            return False, np.int64(NEVER_NS)
        answered = nothing_to_be_answered(desk.working) and until_ns > desk.words[at.ANSWERED_NS]
        if answered and desk.words[at.KILLED] == 0:
            return False, max(until_ns, done_ns)
    return False, until_ns


@inner
def look_at_signals(desk):
    """Is a signal there; and its clock, or what none to come is older than."""
    until_ns = mark(desk.signals, MARK)
    if ready(desk.signals, 1) > 0:
        return True, peek(desk.signals, 0).market.clock_ns
    if desk.words[at.CLOSED] != 0:
        return False, np.int64(NEVER_NS)
    return False, until_ns


@inner
def is_over(desk, event_ns, timer_ns):
    """Has the last signal been taken, and can nothing come before the end?"""
    end_ns = mark(desk.signals, DONE)
    return end_ns != 0 and ready(desk.signals, 1) == 0 and event_ns >= end_ns and timer_ns >= end_ns


@inner
def close(desk):
    """End the day."""
    desk.words[at.CLOSED] = 1
    for k in range(desk.words[at.STRATEGIES]):
        slot_at(desk.members, k).timer_ns = NEVER_NS


@inner
def next_timer(members, strategies):
    """The strategy whose timer fires next."""
    first = np.int64(0)
    for k in range(1, strategies):
        if slot_at(members, k).timer_ns < slot_at(members, first).timer_ns:
            first = np.int64(k)
    return first


@inner
def choose(desk):
    """Take up the next input, if it is known which that is."""
    words = desk.words
    event_there, event_ns = look_at_events(desk)
    signal_there, signal_ns = look_at_signals(desk)
    firing = next_timer(desk.members, words[at.STRATEGIES])
    timer_ns = slot_at(desk.members, firing).timer_ns
    if words[at.HOLD] != 0 and words[at.CLOSED] == 0 and is_over(desk, event_ns, timer_ns):
        close(desk)
        return
    if words[at.HOLD] != 0:
        event_next = event_there and signal_ns >= event_ns and timer_ns >= event_ns
        timer_next = event_ns > timer_ns and signal_ns >= timer_ns
        signal_next = signal_there and event_ns > signal_ns and timer_ns > signal_ns
    else:
        event_next = event_there
        timer_next = timer_ns <= max(words[at.CLOCK_NS], signal_ns, event_ns)
        signal_next = signal_there
    if event_next:
        begin(words, at.EVENT, event_ns)
        begin_event(desk, peek(desk.order_events, 0))
    elif timer_next and timer_ns < NEVER_NS:
        begin(words, at.TIMER, timer_ns)
        words[at.FIRING] = firing
        desk.counters[metrics.TIMERS_TAKEN] += 1
    elif signal_next:
        begin(words, at.SIGNAL_INPUT, signal_ns)
        begin_signal(desk, peek(desk.signals, 0).market)


@small
def begin(words, kind, clock_ns):
    words[at.INPUT] = kind
    words[at.NEXT] = 0
    words[at.CLOCK_NS] = max(words[at.CLOCK_NS], clock_ns)
    words[at.BEGUN_CYCLES] = cycles()


@inner
def begin_event(desk, event):
    """Let orders and position follow the event; who is called afterwards sees them so."""
    words, strategy = desk.words, np.int64(event.strategy)
    desk.counters[metrics.ORDER_EVENTS_TAKEN] += 1
    words[at.ANSWERED_NS] = event.clock_ns
    if strategy < 0 or strategy >= words[at.STRATEGIES]:
        desk.counters[metrics.EVENTS_MISDIRECTED] += 1
        words[at.NEXT] = 1  # nobody to be called
        return
    block = strategy * words[at.PLACES] + place_of(words, event.instrument)
    if not follow(desk.working, block, event, desk.counters):
        switch_off(desk, strategy, ORDERS_OVER)


@inner
def begin_signal(desk, market):
    """Keep the market for calls between signals, and start the timers of whom it concerns."""
    words = desk.words
    words[at.ORDINAL] = market.ordinal
    words[at.CAUSE] = market.cause
    desk.counters[metrics.SIGNALS_TAKEN] += 1
    place = slot_at(desk.places, place_of(words, market.instrument))
    copy_record(place.market, market)
    place.seen = 1
    for k in range(words[at.STRATEGIES]):
        member = slot_at(desk.members, k)
        if member.period_ns > 0 and member.timer_ns == NEVER_NS and is_called(member, place, k):
            member.timer_ns = (words[at.CLOCK_NS] // member.period_ns + 1) * member.period_ns


@inner
def pass_marks(desk):
    """Say what no intent to come is older than, and which signals are done with."""
    words = desk.words
    _, event_ns = look_at_events(desk)
    _, signal_ns = look_at_signals(desk)
    until_ns = min(event_ns, signal_ns, slot_at(desk.members, next_timer(desk.members, words[at.STRATEGIES])).timer_ns)
    if words[at.INPUT] != at.NONE:
        until_ns = min(until_ns, words[at.CLOCK_NS])
    until_ns = max(until_ns, words[at.CLOCK_NS])  # what was decided upon last: nothing earlier will be
    if words[at.CLOSED] != 0 and words[at.TO_TELL] == 0:
        until_ns = NEVER_NS
    set_mark(desk.intents, DONE, words[at.DONE_ORDINAL])
    if until_ns > desk.intents.cursor[MARK]:
        set_mark(desk.intents, MARK, until_ns)
