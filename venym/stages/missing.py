"""What the decoder tells the control plane about messages that are missing. Part of the decoder.

    HOLE, OVERFLOW, PROGRESS, SESSION, ENDED ──room──▶ decoder_recovery
                                         └─no room──▶ CHANNEL.untold ──later──▶ the present truth

A channel that once had no room tells nothing more until it can tell how it stands then: session, expected, every hole.
An overflow that grows is told anew when the control plane has read everything else, and at its end.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import slot_at
from ..hot.jit import apart, inner, small
from ..hot.link import claim, commit, room
from ..records import ENDED, HOLE, OVERFLOW, PROGRESS, SESSION
from . import market
from .decoder_words import HOLD, RECEIVED_NS, UNTOLD

STANDING, BEGUN, GROWN = 1, 2, 4  # bits of CHANNEL.untold: how it stands; that a session began; overflow_end alone
TRUTH_MAX = 4  # records of the present truth, beside its holes


@small
def put_missing(ctx, channel, kind, first, end):
    """Write one record; the caller has seen that there is room."""
    held = slot_at(ctx.market.channels, channel)
    told = claim(ctx.missing, 0)
    told.session_high = held.session_high
    told.session_low = held.session_low
    told.first = first
    told.end = end
    told.expected = held.expected
    told.received_ns = ctx.cursor[RECEIVED_NS]
    told.channel = channel
    told.kind = kind
    held.told_expected = held.expected
    commit(ctx.missing, 1)


@apart
def tell_missing(ctx, channel, kind, first, end):
    """Tell the control plane, or remember that something is untold. Without a hold-back nobody is told."""
    if ctx.cursor[HOLD] == 0:
        return
    held = slot_at(ctx.market.channels, channel)
    if np.int64(held.untold) & ~GROWN == 0:
        if room(ctx.missing, 1) == 1:
            put_missing(ctx, channel, kind, first, end)
            return
        ctx.counters[metrics.TOLD_LATE] += 1
    held.untold |= BEGUN | STANDING if kind == SESSION else STANDING
    ctx.cursor[UNTOLD] = 1


@small
def note_overflow(ctx, channel, first, end):
    """Messages [first, end) came above all that is known, and there was no room to hold them."""
    held = slot_at(ctx.market.channels, channel)
    if held.overflowing == 0 or held.overflow_end <= held.expected:
        held.overflowing = 1
        held.overflow_first = first
        held.overflow_end = end
        held.overflow_told = end
        tell_missing(ctx, channel, OVERFLOW, first, end)
    else:
        held.overflow_end = end
        held.untold |= GROWN
        ctx.cursor[UNTOLD] = 1


@inner
def end_overflow(ctx, channel):
    """What comes above is held again, or all of it has come."""
    held = slot_at(ctx.market.channels, channel)
    if held.overflowing != 0:
        held.overflowing = 0
        held.untold &= ~GROWN & 0xFF
        if held.overflow_told < held.overflow_end and held.overflow_end > held.expected:
            tell_missing(ctx, channel, OVERFLOW, max(held.overflow_first, held.expected), held.overflow_end)


@apart
def catch_up(ctx):
    """Tell what is untold, as far as there is room: after a step that left something so."""
    left = np.int64(0)
    for channel in range(ctx.market.channels.shape[0]):
        held = slot_at(ctx.market.channels, channel)
        if held.untold == 0:
            continue
        capacity = ctx.missing.slots.shape[0]
        if held.untold == GROWN:
            if room(ctx.missing, capacity) == capacity:
                held.untold = 0
                held.overflow_told = held.overflow_end
                put_missing(ctx, channel, OVERFLOW, max(held.overflow_first, held.expected), held.overflow_end)
        elif room(ctx.missing, TRUTH_MAX + 1) > TRUTH_MAX:
            tell_standing(ctx, channel)
            held.untold = 0
        left |= np.int64(held.untold)
    if left == 0:
        ctx.cursor[UNTOLD] = 0


@small
def tell_standing(ctx, channel):
    """The present truth, in at least TRUTH_MAX + 1 records' room. Where there is no room for every hole, the last one
    told goes from where it begins to the highest number known."""
    held = slot_at(ctx.market.channels, channel)
    if np.int64(held.untold) & BEGUN:
        put_missing(ctx, channel, SESSION, held.expected, held.expected)
    put_missing(ctx, channel, PROGRESS, held.expected, first_held(ctx, channel))
    if held.stream == market.ENDED:
        put_missing(ctx, channel, ENDED, held.expected, held.expected)
    tell_holes(ctx, channel)
    if held.overflowing != 0:
        held.overflow_told = held.overflow_end


@small
def tell_holes(ctx, channel):
    """Every hole from `expected` to what is known, as far as there is room: for at least one."""
    held = slot_at(ctx.market.channels, channel)
    chunks = ctx.holding.chunks
    number = np.int64(held.expected)
    index = np.int64(slot_at(ctx.holding.queues, channel).first)
    if number == 0:  # nothing below what is held is wanted
        number = first_held(ctx, channel)
    while index != 0 and room(ctx.missing, 2) == 2:
        chunk = slot_at(chunks, index)
        if chunk.sequence > number:
            put_missing(ctx, channel, HOLE, number, chunk.sequence)
        number = max(number, chunk.end)
        index = np.int64(chunk.next)
    if number < held.known and room(ctx.missing, 1) == 1:
        put_missing(ctx, channel, HOLE, number, held.known)


@small
def first_held(ctx, channel):
    """Number of the first message held, or one past the highest known."""
    index = np.int64(slot_at(ctx.holding.queues, channel).first)
    if index == 0:
        return max(slot_at(ctx.market.channels, channel).known, slot_at(ctx.market.channels, channel).expected)
    return slot_at(ctx.holding.chunks, index).sequence
