"""All that a strategy imports: the calls it answers, the records it is shown, the words it asks with.

A strategy is one Python file. Copy taker.py or quoter.py, beside this one, and change a line:

    PARAMS = {"threshold": 0.5, "shares": 100}     # name: default; set in the configuration, read as params[k]
    THRESHOLD, SHARES = range(len(PARAMS))

    def decide(params, state, market, signal, orders, position, intents): ...                  # on every signal
    def on_execution(params, state, execution, market, orders, position, intents): ...         # if wanted
    def on_timer(params, state, clock_ns, market, orders, position, intents): ...              # if wanted, and then
    TIMER_NS = 1_000_000_000                       # every multiple of this, in exchange time

    params     (PARAMS_MAX,) float64, in the order of PARAMS
    state      his own, for this instrument, kept between calls: whole, int64, and real, float64, STATE_WORDS zeros each
    market     BOOK_EVENT: the instrument's book after its last event (zeros before its first)
    signal     SIGNAL: ready, y as the model says; without a model never ready
    execution  ORDER_EVENT: what became of an order of his; the kinds are FILLED, ACCEPTED ... below
    orders     WORKING_ORDER records, his own in this instrument, oldest first: sent, and not known to be final
    position   POSITION: his own in this instrument
    intents    what he asks for, through limit, post, ioc, at_market, cancel, replace; at most INTENTS_MAX a call

The calls are compiled when the file is loaded: numbers, arrays, loops and the helpers below; nothing that allocates.
Helpers of his own he decorates with `small`. What he is shown is the stage's: he writes to `state` only. A strategy
that raises, or asks for more than INTENTS_MAX in one call, is switched off: what it asked for in that call is dropped,
and trading is killed. Prices count 1e-4 dollars. Shares and prices may be floats of whole value; what is not whole,
NaN included, is sent as NOT_WHOLE, and the gateway refuses it by name.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import from_dtype, types

from ..hot.intrinsics import slot_at
from ..hot.jit import hot, small, step
from ..hot.layout import record
from ..records import (
    ACCEPTED,
    BOOK_EVENT,
    BUY,
    CANCEL,
    CANCEL_REJECTED,
    CANCELED,
    CROSSED,
    DAY,
    EXPIRED,
    FILLED,
    GAPPED,
    INTENT,
    IOC,
    KILL,
    LIMIT,
    MARKET,
    NEW,
    ORDER_EVENT,
    REFUSED,
    REJECTED,
    REPLACE,
    REPLACED,
    SELL,
    SIGNAL,
    SUSPECT,
    TRADABLE,
)

__all__ = [
    "ACCEPTED", "BUY", "CANCEL", "CANCELED", "CANCEL_REJECTED", "DAY", "EXPIRED", "FILLED", "IOC", "KILL", "LIMIT",
    "MARKET", "NEW", "REFUSED", "REJECTED", "REPLACE", "REPLACED", "SELL",
    "ask_e4", "at_market", "bid_e4", "cancel", "find", "first", "hot", "ioc", "kill", "limit", "microprice_e4",
    "mid_e4", "new_order", "new_token", "post", "replace", "round_down", "round_up", "small", "tradable", "two_sided",
]  # fmt: skip

PARAMS_MAX = 64
STATE_WORDS = 64
TOKEN = STATE_WORDS - 1  # word of state.whole that new_token counts in
INTENTS_MAX = 16  # a call
ORDERS_MAX = 32  # working, of one strategy in one instrument

NOT_WHOLE = -1  # instead of a number that is no whole one within ± WHOLE_MAX
WHOLE_MAX = float(1 << 53)
NO_CODE = 255  # instead of a side or type that no octet holds
SAME_INSTRUMENT = -1  # in a slot: that of the call

WORKING_ORDER = record(
    "WORKING_ORDER",
    [
        ("token", "i8"),
        ("shares", "i8"),  # total, as the venue last confirmed it, or as sent
        ("leaves_shares", "i8"),
        ("filled_shares", "i8"),
        ("price_e4", "i8"),
        ("pending_shares", "i8"),  # pending REPLACE: as asked for
        ("pending_price_e4", "i8"),
        ("cancels", "u2"),  # how many of each are not answered
        ("replaces", "u2"),
        ("news", "u1"),
        ("pending", "u1"),  # the request that is not answered: NEW, CANCEL, REPLACE; 0: none
        ("side", "u1"),
        ("acknowledged", "u1"),  # 1: the venue has it
    ],
    64,
)
REQUESTS_MAX = 65_535  # of a kind, not answered, for one order

POSITION = record(
    "POSITION",
    [
        ("shares", "i8"),  # filled; negative: short
        ("open_buy_shares", "i8"),  # of working orders; a pending replace counts the larger
        ("open_sell_shares", "i8"),
        ("bought_shares", "i8"),
        ("sold_shares", "i8"),
        ("cash_e6", "i8"),  # received less paid, without fees
        ("fees_e6", "i8"),  # paid; negative: rebates
    ],
    64,
)


class State(NamedTuple):
    """A strategy's memory in one instrument: (STATE_WORDS,) int64 and float64."""

    whole: np.ndarray
    real: np.ndarray


class Intents(NamedTuple):
    """What one call asks for. slots: (INTENTS_MAX,) INTENT, of which it fills the first count[0]; a request beyond
    them is only counted."""

    slots: np.ndarray
    count: np.ndarray  # type: ignore[assignment]


_PARAMS = types.float64[::1]
_STATE = types.NamedTuple((types.int64[::1], types.float64[::1]), State)
_MARKET, _SIGNAL, _EXECUTION = from_dtype(BOOK_EVENT), from_dtype(SIGNAL), from_dtype(ORDER_EVENT)
_ORDERS, _POSITION = types.Array(from_dtype(WORKING_ORDER), 1, "C"), from_dtype(POSITION)
_INTENTS = types.NamedTuple((types.Array(from_dtype(INTENT), 1, "C"), types.int64[::1]), Intents)

DECIDE = types.void(_PARAMS, _STATE, _MARKET, _SIGNAL, _ORDERS, _POSITION, _INTENTS)
ON_EXECUTION = types.void(_PARAMS, _STATE, _EXECUTION, _MARKET, _ORDERS, _POSITION, _INTENTS)
ON_TIMER = types.void(_PARAMS, _STATE, types.int64, _MARKET, _ORDERS, _POSITION, _INTENTS)


# Asking


@small
def limit(intents, token, side, shares, price_e4):
    """A limit order for the day."""
    _ask(intents, NEW, whole(token), code(side), whole(shares), whole(price_e4), LIMIT, DAY, 0)


@small
def post(intents, token, side, shares, price_e4):
    """A limit order for the day that the venue rejects if it would trade at once."""
    _ask(intents, NEW, whole(token), code(side), whole(shares), whole(price_e4), LIMIT, DAY, 1)


@small
def ioc(intents, token, side, shares, price_e4):
    """A limit order of which what does not trade at once is canceled."""
    _ask(intents, NEW, whole(token), code(side), whole(shares), whole(price_e4), LIMIT, IOC, 0)


@small
def at_market(intents, token, side, shares):
    """A market order, immediate or cancel."""
    _ask(intents, NEW, whole(token), code(side), whole(shares), 0, MARKET, IOC, 0)


@small
def new_order(intents, token, side, shares, price_e4, ord_type, tif, post_only):
    """Any order: ord_type MARKET or LIMIT, tif DAY or IOC, post_only 1 or 0."""
    _ask(
        intents, NEW, whole(token), code(side), whole(shares), whole(price_e4), code(ord_type), code(tif),
        code(post_only),
    )  # fmt: skip


@small
def cancel(intents, token):
    """Cancel the order of this name."""
    _ask(intents, CANCEL, whole(token), 0, 0, 0, 0, 0, 0)


@small
def replace(intents, token, shares, price_e4):
    """Change the order of this name; `shares` is its new total, what was executed included."""
    _ask(intents, REPLACE, whole(token), 0, whole(shares), whole(price_e4), 0, 0, 0)


@small
def kill(intents):
    """Stop all trading: every order is canceled, this strategy is not called again."""
    _ask(intents, KILL, 0, 0, 0, 0, 0, 0, 0)


@step
def _ask(intents, action, token, side, shares, price_e4, ord_type, tif, post_only):
    at = intents.count[0]
    intents.count[0] = at + 1
    if 0 <= at < intents.slots.shape[0]:
        slot = slot_at(intents.slots, at)
        slot.action = action
        slot.token = token
        slot.side = side
        slot.shares = shares
        slot.price_e4 = price_e4
        slot.ord_type = ord_type
        slot.tif = tif
        slot.post_only = post_only
        slot.instrument = SAME_INSTRUMENT


@step
def whole(value):
    """The number as an int64; NOT_WHOLE for NaN, what is not whole, and what is not below WHOLE_MAX."""
    number = np.float64(value)
    if not abs(number) < WHOLE_MAX or number != math.floor(number):
        return np.int64(NOT_WHOLE)
    return np.int64(number)


@step
def code(value):
    """The number as an octet; NO_CODE for what is none."""
    number = whole(value)
    if number < 0 or number > NO_CODE:
        return np.int64(NO_CODE)
    return number


@small
def new_token(state):
    """A name for an order that this strategy has not used before in this instrument: 1, 2, 3 ..."""
    state.whole[TOKEN] += 1
    return state.whole[TOKEN]


# Looking


@small
def bid_e4(market):
    """The best bid; 0: none."""
    return np.int64(market.bid_price_e4[0]) if market.bid_shares[0] > 0 else np.int64(0)


@small
def ask_e4(market):
    """The best ask; 0: none."""
    return np.int64(market.ask_price_e4[0]) if market.ask_shares[0] > 0 else np.int64(0)


@small
def two_sided(market):
    """Is there a bid and an ask?"""
    return market.bid_shares[0] > 0 and market.ask_shares[0] > 0


@small
def tradable(market):
    """May an order be sent: trading, in a two-sided book that is neither crossed nor suspect, nor misses messages?"""
    return (np.int64(market.marks) & (TRADABLE | SUSPECT | CROSSED | GAPPED)) == TRADABLE and two_sided(market)


@small
def mid_e4(market):
    """Halfway between bid and ask, a float. Of a two-sided book."""
    return (bid_e4(market) + ask_e4(market)) / 2.0


@small
def microprice_e4(market):
    """The mid drawn to the side with fewer shares, a float. Of a two-sided book."""
    bids, asks = np.float64(market.bid_shares[0]), np.float64(market.ask_shares[0])
    return (bid_e4(market) * asks + ask_e4(market) * bids) / (bids + asks)


@small
def round_down(price_e4, tick_e4):
    """The price on the tick at or below."""
    return np.floor(price_e4 / tick_e4) * tick_e4


@small
def round_up(price_e4, tick_e4):
    """The price on the tick at or above."""
    return np.ceil(price_e4 / tick_e4) * tick_e4


@hot
def find(orders, token):
    """Where in `orders` the order of this name stands; -1: it does not work."""
    for k in range(orders.shape[0]):
        if slot_at(orders, k).token == token:
            return k
    return -1


@hot
def first(orders, side):
    """Where in `orders` the oldest of a side stands; -1: there is none."""
    for k in range(orders.shape[0]):
        if slot_at(orders, k).side == side:
            return k
    return -1
