"""What the recovery brings: records of a re-request or snapshot server, put into the sequence. Part of the decoder.

    REREQUESTED      a packet, as if a line had brought it; of another session: dropped
    SNAPSHOT_BEGIN   the channel's books are emptied, its live packets held back
    SNAPSHOT_BLOCKS  messages applied as they come, told to nobody
    SNAPSHOT_END     n: held messages below n are dropped, those from n on applied: each message takes effect once
    GIVEN_UP         n: go on with n; what is missing below is missed, and the channel's books are suspect

A record for a session that is not the channel's, or that comes when nothing waits for it, is counted and has no effect.
A session of no octets (0, 0) is any. To a channel that nothing came of yet, a snapshot must tell the session.
"""

from typing import Any

import numpy as np

from .. import metrics
from ..hot.intrinsics import slot_at
from ..hot.jit import inner, small
from ..hot.link import TAIL, peek
from ..records import (
    GIVEN_UP,
    RECOVERED,
    RECOVERED_OCTETS_MAX,
    REREQUESTED,
    RESTARTED,
    SNAPSHOT_BEGIN,
    SNAPSHOT_BLOCKS,
    SNAPSHOT_END,
)
from ..wire.moldudp64 import HEADER_BYTES, SEQUENCE_MAX
from .decoder_words import AT, CHANNEL_INDEX, END, LEFT, SEQUENCE, SILENT, TELL_GAPS, UNBOUNDED, UNTOLD
from .holding import drop_below
from .market import GAP, SNAPSHOT, UNBEGUN
from .missing import STANDING
from .sequence import enter_sync, give_up
from .sessions import begin_session, empty_channel
from .telling import begin_sweep

RECORD_BYTES = RECOVERED.itemsize
_FIELDS: Any = RECOVERED.fields
OCTETS_AT = _FIELDS["octets"][1]


@inner
def open_record(ctx):
    """Do what the next record asks for, and point the cursor at its octets; True if they are a packet."""
    cursor, counters = ctx.cursor, ctx.counters
    record = peek(ctx.recovered, 0)
    kind, channel, length = np.int64(record.kind), np.int64(record.channel), np.int64(record.length)
    if channel < 0 or channel >= ctx.market.channels.shape[0] or length < 0 or length > RECOVERED_OCTETS_MAX:
        counters[metrics.MALFORMED_RECORDS] += 1
        return False
    cursor[CHANNEL_INDEX] = channel
    cursor[AT] = (ctx.recovered.cursor[TAIL] & (ctx.recovered.slots.shape[0] - 1)) * RECORD_BYTES + OCTETS_AT
    cursor[END] = cursor[AT] + length
    if kind == REREQUESTED:
        if length < HEADER_BYTES:
            counters[metrics.MALFORMED_RECORDS] += 1
            return False
        if slot_at(ctx.market.channels, channel).stream == UNBEGUN:
            counters[metrics.IGNORED_RECORDS] += 1
            return False
        return True
    done = False
    if is_of_session(slot_at(ctx.market.channels, channel), record):
        if kind == SNAPSHOT_BEGIN:
            done = begin_snapshot(ctx, channel, record)
        elif kind == SNAPSHOT_BLOCKS:
            done = open_snapshot(ctx, channel)
        elif kind == SNAPSHOT_END:
            done = end_snapshot(ctx, channel, record.sequence)
        elif kind == GIVEN_UP:
            done = go_on(ctx, channel, record.sequence)
        else:
            counters[metrics.MALFORMED_RECORDS] += 1
            return False
    if not done:
        counters[metrics.IGNORED_RECORDS] += 1
    return False


@small
def is_of_session(held, record):
    """Is the record for the session the channel is in, or for any, or is there none yet?"""
    unsaid = record.session_high == 0 and record.session_low == 0
    if held.stream == UNBEGUN:
        return not unsaid
    return unsaid or (record.session_high == held.session_high and record.session_low == held.session_low)


@small
def begin_snapshot(ctx, channel, record):
    held = slot_at(ctx.market.channels, channel)
    if held.stream == UNBEGUN:
        begin_session(ctx, channel, record.session_high, record.session_low, np.int64(0))
    else:
        empty_channel(ctx, channel)
        if ctx.cursor[TELL_GAPS] != 0:
            begin_sweep(ctx, channel, np.int64(0))
    held.stream = SNAPSHOT
    held.waiting = 0
    held.expected = 0
    ctx.counters[metrics.SNAPSHOTS] += 1
    return True


@small
def open_snapshot(ctx, channel):
    if slot_at(ctx.market.channels, channel).stream != SNAPSHOT:
        return False
    ctx.cursor[SEQUENCE] = 0
    ctx.cursor[LEFT] = UNBOUNDED
    ctx.cursor[SILENT] = 1
    return True


@small
def end_snapshot(ctx, channel, sequence):
    held = slot_at(ctx.market.channels, channel)
    if held.stream != SNAPSHOT or sequence < 1 or sequence > SEQUENCE_MAX:
        return False
    begin_sweep(ctx, channel, np.int64(RESTARTED))
    stand_at(ctx, channel, sequence)
    return True


@small
def go_on(ctx, channel, sequence):
    held = slot_at(ctx.market.channels, channel)
    if held.stream == UNBEGUN or sequence <= held.expected or sequence > SEQUENCE_MAX:
        return False
    if sequence > 1 or held.stream == SNAPSHOT:
        give_up(ctx, channel, sequence)
    held.waiting = 0
    stand_at(ctx, channel, sequence)
    return True


@inner
def stand_at(ctx, channel, sequence):
    """Expect `sequence`, whatever was expected before, and see what of that is missing."""
    held = slot_at(ctx.market.channels, channel)
    held.expected = sequence
    held.stream = GAP
    drop_below(ctx.holding, channel, sequence)
    if held.known <= sequence:
        held.known = sequence
        enter_sync(ctx, channel)
    else:
        held.untold |= STANDING
        ctx.cursor[UNTOLD] = 1
