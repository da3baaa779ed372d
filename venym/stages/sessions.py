"""Sessions: which channel a line carries, and what a new session forgets. Part of the decoder; `ctx` is its Context.

A packet of another session than the channel's begins that session if it is numbered 1, or if the end of the present
one was seen; otherwise it is foreign: counted and dropped. What a re-request brought never begins a session.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import slot_at
from ..hot.jit import apart, small
from ..records import RESTARTED, SESSION
from .book import TableFull, clear_channel
from .decoder_words import FROM_ONE, FROM_SNAPSHOT, PRESET, START, TELL_GAPS
from .holding import drop_below
from .market import BACKFILL, UNBEGUN, forget_channel
from .missing import GROWN, tell_missing
from .telling import begin_sweep

ALL = 1 << 62  # above every sequence number


@small
def channel_of_line(ctx, line, high, low):
    """Index of the line's channel."""
    index = np.int64(ctx.channel_of[line]) - 1
    if index < 0 or slot_at(ctx.market.channels, index).stream == UNBEGUN:
        index = find_channel(ctx, line, high, low)
    return index


@apart
def find_channel(ctx, line, high, low):
    """The channel of a line nothing came by before. It joins the one that carries its session: it is the other copy;
    otherwise it begins a channel of its own. Channels whose lines were told at build take no other."""
    if ctx.channel_of[line] != 0:
        index = np.int64(ctx.channel_of[line]) - 1
        join_session(ctx, index, high, low)
        return index
    channels = ctx.market.channels
    for index in range(ctx.cursor[PRESET], channels.shape[0]):
        channel = slot_at(channels, index)
        if channel.stream == UNBEGUN:
            join_session(ctx, index, high, low)
        if channel.session_high == high and channel.session_low == low:
            ctx.channel_of[line] = index + 1
            return np.int64(index)
    raise TableFull("book.channels_max")


@apart
def join_session(ctx, index, high, low):
    """The first session of a channel: it may have been going on."""
    begin_session(ctx, index, high, low, np.int64(1 if ctx.cursor[START] == FROM_ONE else 0))
    slot_at(ctx.market.channels, index).waiting = 1 if ctx.cursor[START] == FROM_SNAPSHOT else 0


@apart
def begin_session(ctx, index, high, low, expected):
    """Empty books, and nothing known but the session, and what is expected first."""
    ctx.counters[metrics.SESSIONS] += 1
    channel = slot_at(ctx.market.channels, index)
    empty_channel(ctx, index)
    if channel.stream != UNBEGUN and ctx.cursor[TELL_GAPS] != 0:
        begin_sweep(ctx, np.int64(index), np.int64(RESTARTED))
    drop_below(ctx.holding, np.int64(index), np.int64(ALL))
    channel.session_high = high
    channel.session_low = low
    channel.expected = expected
    channel.known = expected
    channel.overflowing = 0
    channel.untold &= ~GROWN & 0xFF
    channel.ended = 0
    channel.waiting = 0
    channel.stream = BACKFILL
    tell_missing(ctx, np.int64(index), np.int64(SESSION), expected, expected)


@small
def empty_channel(ctx, index):
    """Forget every order, and what is known of every instrument."""
    if slot_at(ctx.market.channels, index).stream != UNBEGUN:
        clear_channel(ctx.orders, index)
    forget_channel(ctx.market, index)
