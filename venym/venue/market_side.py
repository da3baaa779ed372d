"""What the market's messages do to the displayed orders and trading states of the listed symbols.

    R A F P Q I H h Y    tell which instrument a locate is
    A F E C X D U        change the displayed orders; what a member's resting orders get of it is a task (matching.py)
    H h W                may it trade
    S (M)                market hours are over: a task, too

The other symbols' messages only move the clock. A symbol that a second channel lists too is taken from the channel that
told it first. A modification that does not fit is never applied beyond what is there, as the decoder does it.
"""

from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import be16, be32, be64, slot_at
from ..hot.jit import apart, inner, small
from ..hot.layout import record
from ..wire.itch50 import (
    ADD_ORDER,
    ADD_ORDER_MPID,
    CROSS_TRADE,
    LENGTHS,
    MESSAGES,
    MWCB_STATUS,
    NOII,
    OPERATIONAL_HALT,
    ORDER_CANCEL,
    ORDER_DELETE,
    ORDER_EXECUTED,
    ORDER_EXECUTED_WITH_PRICE,
    ORDER_REPLACE,
    REG_SHO_RESTRICTION,
    STOCK_DIRECTORY,
    STOCK_LOCATE,
    STOCK_TRADING_ACTION,
    SYSTEM_EVENT,
    TRADE_NON_CROSS,
)
from .displayed import BUY, SELL, Displayed, add_displayed, clear_side, find_displayed, reduce_displayed
from .market_feed import CHANNEL_INDEX, FOREIGN, LOCATES, UNTOLD, MarketFeed

INSTRUMENT = record(
    "LISTING",
    [
        ("symbol", "i8"),  # as in the market's messages: eight octets, big-endian
        ("fix_symbol", "i8"),  # as in the member's
        ("tick_e4", "i8"),
        ("lot_shares", "i8"),
        ("channel", "i4"),  # that told it; -1: none has
        ("locate", "i4"),
        ("state", "u1"),  # H P Q T as announced; 0: never
        ("halted", "u1"),  # by the operations of this market
        ("breached", "u1"),  # market-wide circuit breaker
    ],
    48,
)

# A task: what is left to do of an input, one report at a time. Words: KIND, and what each kind says it needs.
KIND, EVENT_NS, SIDE, PRICE_E4, SHARES, NUMBER, ORDER, CHANNEL = range(8)
TASK_WORDS = 16
NOTHING, EXECUTED, ADDED, TAKING, EXPIRING = range(5)

_A, _F, _E, _C = ADD_ORDER.code, ADD_ORDER_MPID.code, ORDER_EXECUTED.code, ORDER_EXECUTED_WITH_PRICE.code
_X, _D, _U = ORDER_CANCEL.code, ORDER_DELETE.code, ORDER_REPLACE.code
_R, _H, _h = STOCK_DIRECTORY.code, STOCK_TRADING_ACTION.code, OPERATIONAL_HALT.code
_S, _W = SYSTEM_EVENT.code, MWCB_STATUS.code
_BUY, _SELL, _TRADING, _HALT, _NASDAQ, _MARKET_CLOSES = (ord(letter) for letter in "BSTHQM")
_BLANK = int.from_bytes(b" " * 8, "big")

_STOCK_AT = np.zeros(256, np.int64)  # offset of the symbol, of the types that tell it
for _told in (
    STOCK_DIRECTORY, ADD_ORDER, ADD_ORDER_MPID, TRADE_NON_CROSS, CROSS_TRADE, NOII, STOCK_TRADING_ACTION,
    OPERATIONAL_HALT, REG_SHO_RESTRICTION,
):  # fmt: skip
    _STOCK_AT[_told.code] = _told.stock
_OF_ORDERS = np.zeros(256, np.bool_)
_OF_ORDERS[[_A, _F, _E, _C, _X, _D, _U]] = True
_MARKET_WIDE = np.zeros(256, np.bool_)
_MARKET_WIDE[[_S, _W]] = True
assert set(MESSAGES) >= {"S", "W"}


class MarketSide(NamedTuple):
    """feed; book; instruments (listed,) INSTRUMENT; task (16,) int64; counters (n,) int64."""

    feed: MarketFeed
    book: Displayed
    instruments: np.ndarray
    task: np.ndarray
    counters: np.ndarray


@small
def is_trading(instrument):
    """May orders meet now?"""
    return instrument.state == _TRADING and instrument.halted == 0 and instrument.breached == 0


@apart
def begin_session(market):
    """A session begins: its channel knows nothing any more."""
    feed = market.feed
    channel = feed.words[CHANNEL_INDEX]
    market.counters[metrics.VENUE_SESSIONS] += 1
    feed.instrument_of[channel * LOCATES : (channel + 1) * LOCATES] = UNTOLD
    slot_at(feed.channels, channel).closed = 0
    for k in range(market.instruments.shape[0]):
        if slot_at(market.instruments, k).channel == channel:
            forget(market, k)


@apart
def forget(market, k):
    """An instrument of which nothing is known any more."""
    instrument = slot_at(market.instruments, k)
    instrument.channel = -1
    instrument.state = instrument.halted = instrument.breached = 0
    clear_side(market.book, 2 * k + BUY)
    clear_side(market.book, 2 * k + SELL)


@small
def apply_message(market, at, length):
    """Apply the message at frames[at : at + length], which the caller has seen to be there, and its turn."""
    feed = market.feed
    kind = np.int64(feed.frames[at])
    if length < LENGTHS[kind]:
        market.counters[metrics.VENUE_SHORT_MESSAGES] += 1
        return
    channel = feed.words[CHANNEL_INDEX]
    if _MARKET_WIDE[kind]:
        apply_market_wide(market, channel, at, kind)
        return
    place = channel * LOCATES + be16(feed.frames, at + STOCK_LOCATE)
    told = np.int64(slot_at(feed.instrument_of, place))
    if kind == _R or (told == UNTOLD and _STOCK_AT[kind] > 0):
        told = learn(market, channel, place, at, kind)
    if told <= 0:
        return
    market.counters[metrics.VENUE_LISTED_MESSAGES] += 1
    if _OF_ORDERS[kind]:
        apply_order(market, channel, told - 1, at, kind)
    elif kind in (_H, _h):
        apply_state(market, told - 1, at, kind)


@apart
def learn(market, channel, place, at, kind):
    """Which instrument a locate is, by the symbol in the message: what `instrument_of` holds from now on."""
    feed = market.feed
    symbol, before = be64(feed.frames, at + _STOCK_AT[kind]), np.int64(feed.instrument_of[place])
    told = np.int64(UNTOLD if symbol == _BLANK else FOREIGN)
    for k in range(market.instruments.shape[0]):
        if slot_at(market.instruments, k).symbol == symbol:
            told = np.int64(k + 1)
    if told == before:
        return told
    if before > 0:
        forget(market, before - 1)
    if told > 0:
        instrument, locate = slot_at(market.instruments, told - 1), place - channel * LOCATES
        if instrument.channel >= 0 and instrument.channel != channel:
            market.counters[metrics.VENUE_SECOND_MARKETS] += 1
            told = np.int64(FOREIGN)
        else:
            if instrument.channel >= 0:
                feed.instrument_of[channel * LOCATES + instrument.locate] = FOREIGN
                forget(market, told - 1)
            instrument.channel, instrument.locate = channel, locate
    feed.instrument_of[place] = told
    return told


@small
def apply_market_wide(market, channel, at, kind):
    if kind == _W:
        for k in range(market.instruments.shape[0]):
            instrument = slot_at(market.instruments, k)
            if instrument.channel == channel:
                instrument.breached = 1
    elif market.feed.frames[at + SYSTEM_EVENT.event_code] == _MARKET_CLOSES:
        slot_at(market.feed.channels, channel).closed = 1
        market.task[KIND], market.task[ORDER], market.task[CHANNEL] = EXPIRING, 1, channel


@small
def apply_state(market, k, at, kind):
    instrument, frames = slot_at(market.instruments, k), market.feed.frames
    if kind == _H:
        instrument.state = frames[at + STOCK_TRADING_ACTION.trading_state]
        if instrument.state == _TRADING:
            instrument.breached = 0
    elif frames[at + OPERATIONAL_HALT.market_code] == _NASDAQ:
        instrument.halted = 1 if frames[at + OPERATIONAL_HALT.operational_halt_action] == _HALT else 0


@small
def apply_order(market, channel, k, at, kind):
    """A F E C X D U of an instrument."""
    book, frames, counters = market.book, market.feed.frames, market.counters
    reference = be64(frames, at + ADD_ORDER.order_reference_number)
    index = find_displayed(book, channel, reference)
    if kind in (_A, _F):
        letter = frames[at + ADD_ORDER.buy_sell_indicator]
        if letter not in (_BUY, _SELL):
            counters[metrics.VENUE_MISFITS] += 1
            return
        side = 2 * k + (BUY if letter == _BUY else SELL)
        shares, price_e4 = be32(frames, at + ADD_ORDER.shares), be32(frames, at + ADD_ORDER.price)
        add(market, channel, side, reference, shares, price_e4, np.int64(0))
        return
    if index == 0:
        counters[metrics.VENUE_MISFITS] += 1
        return
    order = slot_at(book.orders, index)
    level = slot_at(book.levels, np.int64(order.level))
    side, shares, taken = np.int64(level.side), np.int64(order.shares), np.int64(order.taken)
    if kind in (_E, _C, _X):
        shares = be32(frames, at + ORDER_EXECUTED.executed_shares)
        if shares > order.shares:
            counters[metrics.VENUE_MISFITS] += 1
            shares = np.int64(order.shares)
        if kind != _X and shares > 0:
            tell(market, EXECUTED, side, np.int64(level.price_e4), shares, np.int64(order.number), index)
    reduce_displayed(book, index, shares)
    if kind == _U:
        reference = be64(frames, at + ORDER_REPLACE.new_order_reference_number)
        shares, price_e4 = be32(frames, at + ORDER_REPLACE.shares), be32(frames, at + ORDER_REPLACE.price)
        add(market, channel, side, reference, shares, price_e4, taken)


@inner
def add(market, channel, side, reference, shares, price_e4, taken):
    """A F U: an order that came, of which `taken` shares had been taken under its former name."""
    book = market.book
    if find_displayed(book, channel, reference) != 0:
        market.counters[metrics.VENUE_MISFITS] += 1
    elif shares > 0:
        taken = min(taken, shares)
        index = add_displayed(book, channel, side, reference, shares, price_e4, taken)
        if shares > taken:
            number = np.int64(slot_at(book.orders, index).number)
            tell(market, ADDED, side, price_e4, shares - taken, number, index)


@small
def tell(market, kind, side, price_e4, shares, number, index):
    """Note what resting orders of a member's may get something of: an execution of displayed shares, or an order that
    came. side, price_e4, number, index: the displayed order's."""
    if is_trading(slot_at(market.instruments, side >> 1)):
        task = market.task
        task[KIND], task[SIDE], task[PRICE_E4], task[SHARES] = kind, side, price_e4, shares
        task[NUMBER], task[ORDER] = number, index
