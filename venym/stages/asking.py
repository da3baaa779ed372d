"""What a strategy's call comes to: its intents in the link, or the strategy switched off and a kill.

    batch | slot | slot | ...  ──who, when, upon what──▶ strategy_gateway
            count more than fit, or the call raised ──▶ nothing of it, and a KILL as the next intent

Part of the strategy stage; `desk` is its Desk.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import copy_record, cycles, slot_at
from ..hot.jit import inner, small
from ..hot.link import MARK, claim, commit, peek, room
from ..records import KILL, NEVER_NS
from ..strategies.interface import INTENTS_MAX, SAME_INSTRUMENT
from . import desk as at
from .desk import ASKED, INTENTS_OVER
from .working import expect


@small
def place_of(words, instrument):
    """The instrument's place; the last for one that is not configured."""
    last = words[at.PLACES] - 1
    return np.int64(instrument) if 0 <= instrument < last else last


@small
def is_called(member, place, strategy):
    """Is the strategy there for what happens in this place?"""
    return member.enabled != 0 and (place.strategies >> strategy) & 1 != 0


@inner
def close_call(desk):
    """Send what the call asked for, or nothing of it if that is too much."""
    count, strategy = desk.batch.count[0], desk.words[at.CALLED] - 1
    desk.words[at.CALLED] = 0
    if desk.words[at.CLOSED] != 0:
        desk.counters[metrics.INTENTS_DROPPED] += max(count, np.int64(0))
        for k in range(min(max(count, np.int64(0)), np.int64(INTENTS_MAX))):
            copy_record(slot_at(desk.batch.slots, k), slot_at(desk.blank, 0))
    elif count < 0 or count > INTENTS_MAX:
        desk.counters[metrics.INTENTS_DROPPED] += max(count, np.int64(0))
        for k in range(INTENTS_MAX):
            copy_record(slot_at(desk.batch.slots, k), slot_at(desk.blank, 0))
        switch_off(desk, strategy, INTENTS_OVER)
    elif count > 0:
        send(desk, strategy, count)


@inner
def send(desk, strategy, count):
    """Put the batch into the link, and expect an answer to each."""
    words = desk.words
    upon = peek(desk.signals, 0)  # whatever the slot holds, if the call was not upon a signal
    decided_on_signal = words[at.INPUT] == at.SIGNAL_INPUT
    decided_cycles = cycles()
    for k in range(count):
        slot, intent = slot_at(desk.batch.slots, k), claim(desk.intents, k)
        copy_record(intent, slot)
        if slot.instrument == SAME_INSTRUMENT:
            intent.instrument = words[at.INSTRUMENT]
        copy_record(slot, slot_at(desk.blank, 0))
        stamp(desk, intent, strategy)
        intent.taken_cycles = upon.market.taken_cycles if decided_on_signal else 0
        intent.decoded_cycles = upon.market.decoded_cycles if decided_on_signal else 0
        intent.featured_cycles = upon.featured_cycles if decided_on_signal else 0
        intent.inferred_cycles = upon.inferred_cycles if decided_on_signal else 0
        intent.begun_cycles = words[at.BEGUN_CYCLES]
        intent.decided_cycles = decided_cycles
        intent.reason = 0
        if intent.action == KILL:
            intent.reason = ASKED
            words[at.KILLED] = 1
            turn_off(desk, strategy)
        else:
            expect(desk.working, strategy * words[at.PLACES] + place_of(words, intent.instrument), intent)
    commit(desk.intents, count)
    desk.counters[metrics.INTENTS_SENT] += count


@small
def stamp(desk, intent, strategy):
    """Who asks, when, and upon what."""
    words = desk.words
    intent.clock_ns = max(words[at.CLOCK_NS], desk.intents.cursor[MARK])  # under hold always the first
    intent.ordinal = words[at.ORDINAL]
    intent.cause = words[at.CAUSE]
    intent.strategy = strategy


@small
def turn_off(desk, strategy):
    member = slot_at(desk.members, strategy)
    if member.enabled != 0:
        member.enabled = 0
        member.timer_ns = NEVER_NS
        desk.counters[metrics.STRATEGIES_DISABLED] += 1


@inner
def switch_off(desk, strategy, reason):
    """Call the strategy no more; a kill is the next intent."""
    member = slot_at(desk.members, strategy)
    if member.enabled != 0:
        turn_off(desk, strategy)
        member.kill = reason
        desk.words[at.TO_TELL] += 1


@inner
def tell_kill(desk):
    """Send the kill of the first strategy that has one; 0 if there is no room."""
    words = desk.words
    for k in range(words[at.STRATEGIES]):
        member = slot_at(desk.members, k)
        if member.kill != 0 and room(desk.intents, 1) == 1:
            intent = claim(desk.intents, 0)
            copy_record(intent, slot_at(desk.blank, 0))
            stamp(desk, intent, k)
            intent.action = KILL
            intent.reason = member.kill
            commit(desk.intents, 1)
            desk.counters[metrics.INTENTS_SENT] += 1
            member.kill = 0
            words[at.TO_TELL] -= 1
            words[at.KILLED] = 1
            return np.int64(1)
    return np.int64(0)
