"""The sequence of a channel: what is applied now, what is held back, what is missing. Part of the decoder.

    UNBEGUN ──first packet──▶ BACKFILL ──nothing known is missing──▶ IN_SYNC ──end of session──▶ ENDED
                                 │ ▲                                  │   ▲                       │
                       SNAPSHOT_ │ │ SNAPSHOT_END             a hole  ▼   │ filled, given up      │ a hole
                          BEGIN  ▼ │ (or GAP, IN_SYNC)               GAP ─┴───▶ ENDED ◀───────────┘
                               SNAPSHOT ◀──SNAPSHOT_BEGIN, from any state

    expected   next to be applied         known   one past the highest number known to exist
    IN_SYNC    expected == known; GAP, BACKFILL: expected < known

Numbers below `expected` were applied before. A packet at it is applied; one above it is held back, and the numbers
between are a hole. BACKFILL is a hole before the channel was ever in sync, or the time before it is known what comes
first. In SNAPSHOT, and while a snapshot is waited for, everything is held back. In ENDED what still comes is applied.
Without a hold-back a hole is given up as it is seen: its messages are missed, the channel's books suspect.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import cycles, slot_at
from ..hot.jit import apart, inner, small
from ..records import ENDED as TOLD_ENDED
from ..records import HOLE, PROGRESS
from .decoder_words import (
    AT,
    BUSY,
    CAUSE,
    CHANNEL_INDEX,
    END,
    FROM_HOLD,
    HOLD,
    LEFT,
    NOT_LOOKED,
    RECEIVED_NS,
    SEQUENCE,
    SILENT,
    SKIP,
    SOURCE,
    TAKEN_CYCLES,
    TELL_GAPS,
    TIMED,
    TURN,
)
from .holding import drop_below, hold_back
from .market import BACKFILL, ENDED, GAP, IN_SYNC, SNAPSHOT
from .missing import end_overflow, first_held, note_overflow, tell_missing
from .telling import begin_sweep


@small
def is_held_whole(channel):
    """Is nothing to be applied before a snapshot is complete?"""
    return channel.stream == SNAPSHOT or channel.waiting != 0


@small
def follow(ctx, channel):
    """After the blocks up to the cursor: what the channel expects next."""
    held = slot_at(ctx.market.channels, channel)
    if ctx.cursor[SEQUENCE] > held.expected and held.expected != 0:
        held.expected = ctx.cursor[SEQUENCE]
        held.known = max(held.known, held.expected)


@small
def give_up(ctx, channel, sequence):
    """Go on with `sequence`: what is missing below it will not come."""
    held = slot_at(ctx.market.channels, channel)
    ctx.counters[metrics.GAPS] += 1
    ctx.counters[metrics.MISSED_MESSAGES] += sequence - max(held.expected, np.int64(1))
    held.gaps += 1
    held.expected = sequence
    held.known = max(held.known, sequence)


@apart
def put_off(ctx, channel, octets, line, sequence, count, at, end):
    """Blocks that are not due: hold them back, and tell what is missing below them. Of a heartbeat, which has none,
    only the number counts. Returns how many of the messages had not come before."""
    held = slot_at(ctx.market.channels, channel)
    known = np.int64(held.known)
    if sequence > known:
        held.known = sequence
        if known != 0:
            ctx.counters[metrics.HOLES] += 1
            tell_missing(ctx, channel, np.int64(HOLE), known, sequence)
    if held.stream in (IN_SYNC, ENDED):
        held.stream = GAP
        if ctx.cursor[TELL_GAPS] != 0:
            begin_sweep(ctx, channel, np.int64(0))
    if count == 0:
        return np.int64(0)
    whole, kept, lost = sequence, np.int64(0), sequence
    if ctx.cursor[HOLD] == 0:
        whole = sequence + count
    else:
        whole, kept, lost = hold_back(
            ctx.holding, channel, octets, at, end, sequence, count, line, ctx.cursor[CAUSE], ctx.cursor[RECEIVED_NS]
        )
    if whole < sequence + count:
        ctx.counters[metrics.TRUNCATED] += 1
    if kept > 0:
        ctx.counters[metrics.HELD_PACKETS] += 1
        if lost > held.known:
            end_overflow(ctx, channel)
            held.known = lost
    ctx.counters[metrics.OLD_MESSAGES] += lost - sequence - kept
    if lost < whole:
        ctx.counters[metrics.OVERFLOW_MESSAGES] += whole - lost
        if whole > held.known:
            note_overflow(ctx, channel, max(lost, np.int64(held.known)), whole)
            held.known = whole
    return kept + whole - lost


@apart
def settle(ctx, channel):
    """After work on a channel that was not in sync: open the held blocks that are due, or see how it stands."""
    held = slot_at(ctx.market.channels, channel)
    if held.stream in (IN_SYNC, ENDED) or is_held_whole(held) or held.expected == 0:
        return
    drop_below(ctx.holding, channel, np.int64(held.expected))
    due = first_held(ctx, channel)
    index = np.int64(slot_at(ctx.holding.queues, channel).first)
    if index != 0 and due <= held.expected:
        open_held(ctx, channel, index)
    elif held.expected >= held.known:
        enter_sync(ctx, channel)
    elif held.expected != held.told_expected:
        tell_missing(ctx, channel, np.int64(PROGRESS), np.int64(held.expected), due)


@small
def open_held(ctx, channel, index):
    """Point the cursor at held blocks. They count as taken now: waiting for the network is no latency of ours."""
    cursor, chunk = ctx.cursor, slot_at(ctx.holding.chunks, index)
    cursor[SOURCE] = FROM_HOLD
    cursor[BUSY] = 1
    cursor[CHANNEL_INDEX] = channel
    cursor[SEQUENCE] = chunk.sequence
    cursor[LEFT] = chunk.end - chunk.sequence
    cursor[SKIP] = slot_at(ctx.market.channels, channel).expected - chunk.sequence
    cursor[AT] = index * ctx.holding.slot[0]
    cursor[END] = cursor[AT] + chunk.length
    cursor[CAUSE] = chunk.cause
    cursor[RECEIVED_NS] = chunk.received_ns
    cursor[TAKEN_CYCLES] = cycles()
    cursor[TIMED] = 0
    cursor[SILENT] = 0
    cursor[TURN] = NOT_LOOKED


@inner
def enter_sync(ctx, channel):
    """Nothing known is missing."""
    held = slot_at(ctx.market.channels, channel)
    end_overflow(ctx, channel)
    held.stream = ENDED if held.ended != 0 else IN_SYNC
    expected = np.int64(held.expected)
    tell_missing(ctx, channel, np.int64(PROGRESS), expected, expected)
    if held.ended != 0:
        tell_missing(ctx, channel, np.int64(TOLD_ENDED), expected, expected)
    if held.gap_told != 0:
        held.gap_told = 0
        begin_sweep(ctx, channel, np.int64(0))


@small
def end_session(ctx, channel):
    """The end of the session was seen. With messages missing the channel is ended when they have come."""
    held = slot_at(ctx.market.channels, channel)
    held.ended = 1
    if held.stream == IN_SYNC:
        held.stream = ENDED
        tell_missing(ctx, channel, np.int64(TOLD_ENDED), np.int64(held.expected), np.int64(held.expected))


@small
def begin_sync(ctx, channel):
    """Something is known to be due, and nothing before it is: no hole was ever seen."""
    held = slot_at(ctx.market.channels, channel)
    if held.stream == BACKFILL and held.known <= held.expected:
        held.stream = IN_SYNC
