"""Opening what is next: the cursor at the blocks of a packet that are due, or past its end. Part of the decoder.

feed_decoder      PACKET     ──▶ MoldUDP64: session, sequence ──▶ due: apply       above: hold back
                             ──▶ blocks of a day file: apply
recovery_decoder  RECOVERED  ──▶ recovered.py
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import cycles, slot_at
from ..hot.jit import apart, small
from ..hot.link import peek, ready
from ..records import BLOCKS
from ..wire.moldudp64 import (
    END_OF_SESSION,
    HEADER_BYTES,
    SEQUENCE_MAX,
    count_of,
    sequence_of,
    session_high,
    session_low,
)
from ..wire.scan import LINES_MAX
from .decoder_words import (
    AT,
    BUSY,
    CAUSE,
    CHANNEL_INDEX,
    END,
    FROM_LINE,
    FROM_RECOVERY,
    HOLD,
    LEFT,
    NOT_LOOKED,
    RECEIVED_NS,
    SEQUENCE,
    SILENT,
    SKIP,
    SOURCE,
    TAKEN_CYCLES,
    TIMED,
    TOOK_RECOVERED,
    TURN,
    UNBOUNDED,
    WINDOW,
)
from .holding import RECOVERY_LINE
from .lines import note_copy, note_line
from .recovered import open_record
from .sequence import begin_sync, end_session, give_up, is_held_whole, put_off
from .sessions import begin_session, channel_of_line


@small
def open_next(ctx):
    """Open the next record of either link, by turns where both have one; False if there is none. Nothing is open."""
    by_line, by_recovery = ready(ctx.packets, 1) > 0, ready(ctx.recovered, 1) > 0
    if by_recovery and not (by_line and ctx.cursor[TOOK_RECOVERED] != 0):
        ctx.cursor[TOOK_RECOVERED] = 1
        open_recovered(ctx)
    elif by_line:
        ctx.cursor[TOOK_RECOVERED] = 0
        open_packet(ctx)
    return by_line or by_recovery


@apart
def open_recovered(ctx):
    """Point the cursor at what a re-request or snapshot server sent."""
    cursor = ctx.cursor
    cursor[SOURCE] = FROM_RECOVERY
    cursor[BUSY] = 1
    cursor[SKIP] = 0
    cursor[LEFT] = 0
    cursor[SEQUENCE] = 0
    cursor[TAKEN_CYCLES] = cycles()
    cursor[TIMED] = 0
    cursor[SILENT] = 0
    cursor[TURN] = NOT_LOOKED
    ctx.counters[metrics.RECOVERED_RECORDS] += 1
    if open_record(ctx):
        open_mold(ctx, ctx.recovered_octets, np.int64(RECOVERY_LINE), cursor[AT])


@apart
def open_packet(ctx):
    """Point the cursor at the next packet's blocks, or past its end if it has none to apply."""
    packet = peek(ctx.packets, 0)
    cursor = ctx.cursor
    start, length = packet.offset, np.int64(packet.length)
    if start < 0 or length < 0 or start + length > ctx.frames.shape[0]:
        raise IndexError("a packet lies outside the frame memory")
    if packet.line < 0 or packet.line >= LINES_MAX:
        raise IndexError("a packet's line is not one of the feed's")
    ctx.counters[metrics.PACKETS] += 1
    cursor[SOURCE] = FROM_LINE
    cursor[BUSY] = 1
    cursor[AT] = start
    cursor[END] = start + length
    cursor[SKIP] = 0
    cursor[LEFT] = 0
    cursor[SEQUENCE] = 0
    cursor[CAUSE] = packet.cause
    cursor[RECEIVED_NS] = packet.received_ns
    cursor[TAKEN_CYCLES] = packet.taken_cycles if cursor[WINDOW] == 0 else cycles()
    cursor[TIMED] = 0
    cursor[SILENT] = 0
    cursor[TURN] = NOT_LOOKED
    if packet.framing == BLOCKS:
        cursor[TIMED] = 1 if ctx.market.instruments.shape[0] > 0 else 0
        cursor[CHANNEL_INDEX] = channel_of_line(ctx, np.int64(packet.line), np.int64(-1), np.int64(packet.line))
        begin_sync(ctx, cursor[CHANNEL_INDEX])
        cursor[SEQUENCE] = packet.sequence
        cursor[LEFT] = UNBOUNDED
    elif length < HEADER_BYTES:
        ctx.counters[metrics.MALFORMED_PACKETS] += 1
    else:
        open_mold(ctx, ctx.frames, np.int64(packet.line), start)


@apart
def open_mold(ctx, octets, line, start):
    """Read a MoldUDP64 header and decide which of its messages are due; hold back those that are above a hole. `line`
    is RECOVERY_LINE for what a re-request brought, whose channel is known, and which says nothing of sessions."""
    cursor, counters = ctx.cursor, ctx.counters
    by_line = line != RECOVERY_LINE
    high, low = session_high(octets, start), session_low(octets, start)
    sequence, count = sequence_of(octets, start), count_of(octets, start)
    blocks = np.int64(0) if count == END_OF_SESSION else count
    if sequence < 0 or sequence > SEQUENCE_MAX:
        counters[metrics.MALFORMED_PACKETS] += 1
        return
    index = channel_of_line(ctx, line, high, low) if by_line else cursor[CHANNEL_INDEX]
    channel = slot_at(ctx.market.channels, index)
    if channel.session_high != high or channel.session_low != low:
        if not by_line or (sequence != 1 and channel.ended == 0):
            counters[metrics.FOREIGN_SESSIONS] += 1
            return
        begin_session(ctx, index, high, low, np.int64(1))
    if sequence == 0 and (channel.expected != 0 or is_held_whole(channel)):
        counters[metrics.MALFORMED_PACKETS] += 1
        return
    if blocks == 0:
        counters[metrics.HEARTBEATS] += 1
    cursor[CHANNEL_INDEX] = index
    if by_line:
        note_line(ctx, line, cursor[RECEIVED_NS], sequence + blocks)
    is_first, above = True, False
    if sequence != 0:  # 0: a capture whose headers were wiped; its messages are taken as they come
        if channel.expected == 0 and not is_held_whole(channel):
            channel.expected = sequence
            channel.known = max(channel.known, sequence)
        above = sequence > channel.expected
        if above and cursor[HOLD] == 0 and not is_held_whole(channel):
            give_up(ctx, index, sequence)
            above = False
        if above:
            is_first = put_off(ctx, index, octets, line, sequence, blocks, start + HEADER_BYTES, cursor[END]) > 0
        else:
            is_first = sequence + blocks > channel.expected
            cursor[SKIP] = min(channel.expected - sequence, blocks)
    begin_sync(ctx, index)
    if by_line and count not in (0, END_OF_SESSION):
        note_copy(ctx, index, line, cursor[RECEIVED_NS], sequence, is_first)
    if count == END_OF_SESSION and by_line:
        end_session(ctx, index)
    if not above:
        cursor[SEQUENCE] = sequence
        cursor[LEFT] = blocks
        cursor[AT] = start + HEADER_BYTES
