"""The gate: every intent is judged before it becomes a message, and what is refused is refused by name.

    intent, market state, own orders and positions, limits ──judge──▶ 0: let it pass | a reason of REASONS

The reasons are looked at in the order of the table, so an intent has one. KILL passes always. A CANCEL passes unless
its order is not there, a cancel of it waits for its answer, or the table of requests is full. What is open counts as
if it were filled. Whether a sale is short, though, is a matter of what all strategies hold together.

All numbers an intent brings are held against their bounds before anything is reckoned with them: a strategy may write
anything. Products stay below 2**63 that way.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import inner, small
from ..metrics import Counter
from ..records import BUY, CROSSED, DAY, GAPPED, IOC, LIMIT, MARKET, SELL, SUSPECT, TRADABLE
from ..wire.fix_encode import PRICE_E4_MAX, SHARES_MAX
from . import gateway_words as w
from .orders import (
    NO_TOKEN,
    OPEN,
    OPEN_LIMIT,
    OPEN_ORDERS,
    ORDERS_USED,
    REQUESTS_USED,
    VALUE_E4_MAX,
    find_order,
    value_of,
)
from .positions import HELD_VALUE_E4, OPEN_VALUE_E4

(
    KILLED,
    BAD_INTENT,
    UNKNOWN_INSTRUMENT,
    UNKNOWN_TOKEN,
    DUPLICATE_TOKEN,
    PENDING,
    NOT_ARMED,
    BAD_SHARES,
    LOT,
    ORDER_SIZE,
    BAD_PRICE,
    TICK,
    NO_MARKET,
    STALE,
    NOT_TRADABLE,
    SUSPECT_BOOK,
    GAPPED_BOOK,
    CROSSED_BOOK,
    COLLAR,
    NOTIONAL,
    SHORT,
    POSITION,
    GROSS,
    OPEN_MAX,
    RATE,
    TABLE_FULL,
    JOURNAL_FULL,
    ENCODE,
) = range(1, 29)

REASONS = (
    Counter(KILLED, "killed", "trading was stopped; only cancels pass"),
    Counter(BAD_INTENT, "bad_intent", "no such action, side, order type, time in force, strategy; or they do not fit"),
    Counter(UNKNOWN_INSTRUMENT, "unknown_instrument", "no such instrument"),
    Counter(UNKNOWN_TOKEN, "unknown_token", "the strategy has no working order of that token there"),
    Counter(DUPLICATE_TOKEN, "duplicate_token", "a working order has that token"),
    Counter(PENDING, "pending", "the order has a cancel not answered; or, to be replaced, a replace, or no answer yet"),
    Counter(NOT_ARMED, "not_armed", "the process observes"),
    Counter(BAD_SHARES, "bad_shares", "shares not from 1 to 2147483647, or a new total that is filled already"),
    Counter(LOT, "lot", "shares that are no multiple of the lot"),
    Counter(ORDER_SIZE, "order_size", "more shares than order_shares_max"),
    Counter(BAD_PRICE, "bad_price", "a price not from 0.0001 to 214748.3647"),
    Counter(TICK, "tick", "a price that is no multiple of the tick"),
    Counter(NO_MARKET, "no_market", "nothing to judge the price by; a market order needs both sides"),
    Counter(STALE, "stale", "the instrument's last event is stale_ns old or older"),
    Counter(NOT_TRADABLE, "not_tradable", "the instrument is not trading"),
    Counter(SUSPECT_BOOK, "suspect", "the book may be wrong"),
    Counter(GAPPED_BOOK, "gapped", "messages of the instrument's channel are missing, for now"),
    Counter(CROSSED_BOOK, "crossed", "the book is crossed"),
    Counter(COLLAR, "collar", "a price more than collar_bps beyond the other side's best, or the last"),
    Counter(NOTIONAL, "notional", "worth more than order_notional_max_e6"),
    Counter(SHORT, "short", "a short sale where none is allowed, or a sale that would become one"),
    Counter(POSITION, "position", "more than position_shares_max, were all that is open filled"),
    Counter(GROSS, "gross", "more than gross_notional_max_e6 in open orders and positions"),
    Counter(OPEN_MAX, "open_orders", "more than open_orders_max of the strategy in the instrument"),
    Counter(RATE, "rate", "more than messages_per_second_max in a second"),
    Counter(TABLE_FULL, "table_full", "no room in the table of orders, or of requests with cancels kept back"),
    Counter(JOURNAL_FULL, "journal_full", "no room to journal what is sent, live"),
    Counter(ENCODE, "encode", "the message cannot be written"),
)
REASON_WORDS = len(REASONS) + 1
SECOND_NS = 1_000_000_000
CANCELS_KEPT = 4  # request rows kept back for each open order
COLLAR_BPS_MAX = 10_000
RATE_MAX = 1 << 20


class RiskLimits(NamedTuple):
    """What the gate lets pass."""

    order_shares_max: int
    order_notional_max_e6: int
    position_shares_max: int  # of a strategy in an instrument, either side, were all its open orders filled
    gross_notional_max_e6: int  # of all together: open orders at their prices, positions at their last execution's
    open_orders_max: int  # of a strategy in an instrument
    messages_per_second_max: int
    collar_bps: int
    stale_ns: int  # age of the instrument's last event; 0: not looked at
    short_sales: int  # 1: allowed
    cancel_halted: int = 0  # 1: open orders in an instrument that stops trading are canceled
    cancel_gapped: int = 0  # 1: open orders in instruments of a channel that misses messages are canceled


_BOUNDS = {
    "order_shares_max": (1, SHARES_MAX),
    "order_notional_max_e6": (1, (VALUE_E4_MAX - 1) * 100),
    "position_shares_max": (0, 1 << 60),
    "gross_notional_max_e6": (1, (VALUE_E4_MAX - 1) * 100),
    "open_orders_max": (1, 1 << 16),
    "messages_per_second_max": (1, RATE_MAX),
    "collar_bps": (0, COLLAR_BPS_MAX),
    "stale_ns": (0, 1 << 62),
    "short_sales": (0, 1),
    "cancel_halted": (0, 1),
    "cancel_gapped": (0, 1),
}


def check_limits(limits: RiskLimits) -> None:
    """Raises ValueError, naming the limit, for one that could not be held to."""
    for name, (least, most) in _BOUNDS.items():
        value = getattr(limits, name)
        if isinstance(value, float) or not least <= value <= most:
            raise ValueError(f"{name} is a whole number from {least} to {most}, not {value!r}")


@inner
def judge(ctx, intent, group, row):
    """0 or the reason to refuse a NEW (row -1) or REPLACE of the order `row`; and for NEW whether it is a short sale,
    and what a share counts with. Strategy, instrument and action are the caller's to look at."""
    limits, state = ctx.limits, slot_at(ctx.states, np.int64(intent.instrument))
    instrument = slot_at(ctx.instruments, np.int64(intent.instrument))
    new = row < 0
    order = slot_at(ctx.orders.rows, max(row, 0))
    side = np.int64(intent.side) if new else np.int64(order.side)
    ord_type = np.int64(intent.ord_type) if new else np.int64(order.ord_type)
    shares, price_e4 = np.int64(intent.shares), np.int64(intent.price_e4)
    short = np.int64(0) if new else np.int64(order.short)

    reason = judge_form(ctx, intent, group, row)
    if reason != 0:
        return reason, short, price_e4
    if ctx.words[w.ARMED] == 0:
        return NOT_ARMED, short, price_e4
    reason = judge_numbers(limits, instrument, shares, price_e4, ord_type)
    if reason == 0 and not new and shares <= order.filled_shares:
        reason = BAD_SHARES
    if reason == 0:
        reason = judge_market(ctx, state, side, ord_type)
    if reason != 0:
        return reason, short, price_e4
    touch_e4 = touch_of(state, side)
    if ord_type == MARKET:
        price_e4 = touch_e4
    elif is_beyond(limits.collar_bps, side, price_e4, touch_e4):
        return COLLAR, short, price_e4
    if shares * price_e4 > limits.order_notional_max_e6 // 100:
        return NOTIONAL, short, price_e4

    # What the order would count with, beyond what it counts with now.
    now, now_e4 = (np.int64(0), np.int64(0)) if new else (order.open_shares, order.open_value_e4)
    filled = np.int64(0) if new else order.filled_shares
    more = max(shares - filled - now, np.int64(0))
    more_e4 = max(value_of(shares - filled, price_e4) - now_e4, np.int64(0))
    total = slot_at(ctx.positions.totals, np.int64(intent.instrument))
    if side == SELL:
        held = total.shares - total.open_sell_long_shares
        if new:
            short = np.int64(held < shares)
        if (new and short != 0 and limits.short_sales == 0) or (not new and short == 0 and held < more):
            return SHORT, short, price_e4
    return judge_limits(ctx, group, side, more, more_e4, new), short, price_e4


@inner
def judge_form(ctx, intent, group, row):
    """What needs no number: the codes, and the order there is."""
    if row >= 0:
        order = slot_at(ctx.orders.rows, row)
        if order.ord_type != LIMIT:
            return np.int64(BAD_INTENT)
        if order.status != OPEN or order.cancel != 0 or order.replace != 0:
            return np.int64(PENDING)
        return np.int64(0)
    if intent.side not in (BUY, SELL) or intent.ord_type not in (MARKET, LIMIT) or intent.tif not in (DAY, IOC):
        return np.int64(BAD_INTENT)
    if intent.post_only > 1 or intent.token == NO_TOKEN:
        return np.int64(BAD_INTENT)
    if intent.post_only == 1 and (intent.ord_type == MARKET or intent.tif == IOC):
        return np.int64(BAD_INTENT)
    if find_order(ctx.orders, group, intent.token) >= 0:
        return np.int64(DUPLICATE_TOKEN)
    return np.int64(0)


@inner
def judge_numbers(limits, instrument, shares, price_e4, ord_type):
    """Shares and price by themselves."""
    if shares < 1 or shares > SHARES_MAX:
        return np.int64(BAD_SHARES)
    if shares % instrument.lot_shares != 0:
        return np.int64(LOT)
    if shares > limits.order_shares_max:
        return np.int64(ORDER_SIZE)
    if ord_type == LIMIT:
        if price_e4 < 1 or price_e4 > PRICE_E4_MAX:
            return np.int64(BAD_PRICE)
        if price_e4 % instrument.tick_e4 != 0:
            return np.int64(TICK)
    return np.int64(0)


@inner
def judge_market(ctx, state, side, ord_type):
    """Is there a market to trade in?"""
    marks = np.int64(state.marks)
    one_sided = state.bid_price_e4 == 0 or state.ask_price_e4 == 0
    if state.clock_ns < 0 or (ord_type == MARKET and one_sided) or touch_of(state, side) == 0:
        return np.int64(NO_MARKET)
    if ctx.limits.stale_ns > 0 and ctx.words[w.CLOCK_NS] - state.clock_ns >= ctx.limits.stale_ns:
        return np.int64(STALE)
    if marks & TRADABLE == 0:
        return np.int64(NOT_TRADABLE)
    if marks & SUSPECT != 0:
        return np.int64(SUSPECT_BOOK)
    if marks & GAPPED != 0:
        return np.int64(GAPPED_BOOK)
    if marks & CROSSED != 0:
        return np.int64(CROSSED_BOOK)
    return np.int64(0)


@small
def must_not_rest(limits, marks):
    """Are open orders in an instrument with these marks to be canceled?"""
    halted = limits.cancel_halted != 0 and marks & TRADABLE == 0
    return halted or (limits.cancel_gapped != 0 and marks & GAPPED != 0)


@small
def touch_of(state, side):
    """The other side's best price, or the last where it is empty; 0: neither."""
    touch_e4 = np.int64(state.ask_price_e4) if side == BUY else np.int64(state.bid_price_e4)
    return touch_e4 if touch_e4 != 0 else np.int64(state.last_price_e4)


@small
def is_beyond(collar_bps, side, price_e4, touch_e4):
    """Is the price further beyond the touch than the collar allows? Prices are below 2**32."""
    if side == BUY:
        return price_e4 * 10_000 > touch_e4 * (10_000 + collar_bps)
    return price_e4 * 10_000 < touch_e4 * (10_000 - collar_bps)


@inner
def judge_limits(ctx, group, side, more, more_e4, new):
    """What all orders together come to."""
    limits, orders, words, values = ctx.limits, ctx.orders, ctx.words, ctx.positions.values
    holding = slot_at(ctx.positions.holdings, group)
    if side == BUY:
        worst = holding.shares + holding.open_buy_shares + more
    else:
        worst = holding.open_sell_shares - holding.shares + more
    if more > 0 and worst > limits.position_shares_max:
        return np.int64(POSITION)
    gross_e4 = values[OPEN_VALUE_E4] + values[HELD_VALUE_E4] + more_e4
    if more_e4 > 0 and gross_e4 > limits.gross_notional_max_e6 // 100:
        return np.int64(GROSS)
    if new and slot_at(orders.counts, group) >= limits.open_orders_max:
        return np.int64(OPEN_MAX)
    if not may_send(ctx, words[w.CLOCK_NS]):
        return np.int64(RATE)
    if new and (orders.words[ORDERS_USED] >= orders.rows.shape[0] or orders.words[OPEN_ORDERS] >= OPEN_LIMIT):
        return np.int64(TABLE_FULL)
    kept = CANCELS_KEPT * (orders.words[OPEN_ORDERS] + np.int64(new))
    if orders.words[REQUESTS_USED] + 1 + kept > orders.requests.shape[0]:
        return np.int64(TABLE_FULL)
    return np.int64(0)


@small
def may_send(ctx, clock_ns):
    """Were fewer than messages_per_second_max messages sent in the second before?"""
    made, places = ctx.words[w.RATE_MADE], ctx.times.shape[0]
    return made < places or clock_ns - slot_at(ctx.times, made % places) >= SECOND_NS
