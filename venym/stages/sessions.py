"""Sessions: which channel a line carries, and what a new session forgets. Part of the decoder; `ctx` is its Context."""

import numpy as np

from .. import metrics
from ..hot.intrinsics import slot_at
from ..hot.jit import hot
from .book import TableFull, clear_channel
from .market import OPEN, UNBEGUN, forget_channel


@hot
def channel_of_line(ctx, line, high, low):
    """Index of the line's channel. A line seen for the first time joins the channel that carries its session: it is
    the other copy; otherwise it begins a channel of its own."""
    if ctx.channel_of[line] != 0:
        return np.int64(ctx.channel_of[line]) - 1
    channels = ctx.market.channels
    for index in range(channels.shape[0]):
        channel = slot_at(channels, index)
        if channel.stream == UNBEGUN:
            begin_session(ctx, index, high, low)
        if channel.session_high == high and channel.session_low == low:
            ctx.channel_of[line] = index + 1
            return np.int64(index)
    raise TableFull("book.channels_max")


@hot
def begin_session(ctx, index, high, low):
    """Empty books, and nothing known but the session."""
    ctx.counters[metrics.SESSIONS] += 1
    channel = slot_at(ctx.market.channels, index)
    if channel.stream != UNBEGUN:
        clear_channel(ctx.orders, index)
    forget_channel(ctx.market, index)
    channel.session_high = high
    channel.session_low = low
    channel.expected = 0
    channel.stream = OPEN
