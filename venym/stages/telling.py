"""What the decoder tells: a BOOK_EVENT, and a MARKET_STATE where a gateway listens. Part of the decoder.

    a message of a configured instrument      ──▶ its event
    a channel is out of sync, or in it again  ──▶ an event of no message (kind 0) for each of its instruments: a sweep

A sweep tells as many at a time as the links have room for, and nothing else is told before it is over.
"""

import numpy as np

from ..hot.intrinsics import cycles, slot_at
from ..hot.jit import apart, small
from ..hot.link import claim, commit
from ..records import CROSSED, GAPPED, PRINTABLE, SUSPECT, TOP_LEVELS, TRADABLE
from .book import BUY, SELL, best_level, is_crossed
from .decoder_words import (
    CAUSE,
    CLOCK_NS,
    ORDINAL,
    SEQUENCE,
    SWEEP,
    SWEEP_AT,
    SWEEP_MARKS,
    TAKEN_CYCLES,
    TELL_GAPS,
    TO_GATEWAY,
)
from .itch import is_print
from .market import ENDED, IN_SYNC, effective_state, is_suspect, trading


@apart
def tell_message(ctx, k, channel, book_index, octets, at, side, price_e4, shares, reference):
    """Fill the k-th free BOOK_EVENT with what the message at octets[at] did, and the book as it is now, and the k-th
    MARKET_STATE."""
    book = slot_at(ctx.market.books, book_index)
    event = claim(ctx.events, k)
    event.time_ns = book.time_ns
    event.sequence = ctx.cursor[SEQUENCE]
    event.kind = octets[at]
    event.side = side
    event.price_e4 = price_e4
    event.shares = shares
    event.reference = reference
    event.instrument = book.instrument
    describe_book(ctx, event, k, channel, book_index, np.int64(PRINTABLE if is_print(octets, at) else 0))


@small
def describe_book(ctx, event, k, channel, book_index, marks):
    """The rest of the event, which is the same whatever happened."""
    book = slot_at(ctx.market.books, book_index)
    held = slot_at(ctx.market.channels, channel)
    event.cause = ctx.cursor[CAUSE]
    event.clock_ns = ctx.cursor[CLOCK_NS]
    event.ordinal = ctx.cursor[ORDINAL]
    ctx.cursor[ORDINAL] += 1
    event.volume_shares = book.volume_shares
    event.paired_shares = book.paired_shares
    event.far_price_e4 = book.far_price_e4
    event.near_price_e4 = book.near_price_e4
    event.state = effective_state(book)
    if trading(book):
        marks |= TRADABLE
    if is_suspect(held, book):
        marks |= SUSPECT
    if is_crossed(ctx.orders, book_index):
        marks |= CROSSED
    if ctx.cursor[TELL_GAPS] != 0 and held.stream not in (IN_SYNC, ENDED):
        marks |= GAPPED
        held.gap_told = 1
    event.marks = marks
    for depth in range(TOP_LEVELS):
        bid = slot_at(ctx.orders.levels, best_level(ctx.orders, 2 * book_index + BUY, depth))
        ask = slot_at(ctx.orders.levels, best_level(ctx.orders, 2 * book_index + SELL, depth))
        event.bid_price_e4[depth] = bid.price_e4
        event.bid_shares[depth] = bid.shares
        event.ask_price_e4[depth] = ask.price_e4
        event.ask_shares[depth] = ask.shares
    if ctx.cursor[TO_GATEWAY] != 0:
        tell_state(claim(ctx.states, k), event, book)
    event.taken_cycles = ctx.cursor[TAKEN_CYCLES]
    event.decoded_cycles = cycles()


@small
def tell_state(state, event, book):
    """Fill a MARKET_STATE with what an order is judged by."""
    state.clock_ns = event.clock_ns
    state.cause = event.cause
    state.ordinal = event.ordinal
    state.instrument = event.instrument
    state.bid_price_e4 = event.bid_price_e4[0]
    state.ask_price_e4 = event.ask_price_e4[0]
    state.last_price_e4 = book.last_price_e4
    state.state = event.state
    state.marks = event.marks


@small
def publish(ctx, events):
    """Commit this many events, and their states first."""
    if ctx.cursor[TO_GATEWAY] != 0:
        commit(ctx.states, events)
    commit(ctx.events, events)


@small
def begin_sweep(ctx, channel, marks):
    """Each of the channel's instruments is to get an event of no message, with these marks and those that apply when
    its turn comes. Nothing else is told before the sweep is over, so there is never a second channel's."""
    ctx.cursor[SWEEP] = channel + 1
    ctx.cursor[SWEEP_AT] = 0
    ctx.cursor[SWEEP_MARKS] |= marks


@apart
def sweep(ctx, allowed):
    """Go on with the sweep for at most `allowed` (> 0) events; returns how many were told."""
    cursor, market = ctx.cursor, ctx.market
    channel, k, events = cursor[SWEEP] - 1, cursor[SWEEP_AT], np.int64(0)
    while k < market.instruments.shape[0] and events < allowed:
        if market.instrument_channels[k] == channel + 1:
            tell_standing_book(ctx, events, channel, k)
            events += 1
        k += 1
    cursor[SWEEP_AT] = k
    if k == market.instruments.shape[0]:
        cursor[SWEEP] = 0
        cursor[SWEEP_MARKS] = 0
    if events > 0:
        publish(ctx, events)
    return events


@small
def tell_standing_book(ctx, k, channel, instrument):
    """Fill the k-th free BOOK_EVENT, and MARKET_STATE, with an event of no message: the book as it stands, empty if the
    instrument has none any more. Its time is the clock's."""
    book_index = ctx.market.instrument_books[instrument]
    if slot_at(ctx.market.books, book_index).instrument != instrument:
        book_index = np.int64(0)
    event = claim(ctx.events, k)
    event.time_ns = ctx.cursor[CLOCK_NS]
    event.sequence = slot_at(ctx.market.channels, channel).expected
    event.kind = 0
    event.side = 0
    event.price_e4 = 0
    event.shares = 0
    event.reference = 0
    event.instrument = instrument
    describe_book(ctx, event, k, channel, book_index, ctx.cursor[SWEEP_MARKS])
