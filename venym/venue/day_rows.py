"""A made-up day's scripted messages: one ROW, one message, and what it changes.

Crosses are the exception: before a Q row the best orders of one side are executed, one C (not printable) a message, all
at the price of the cross, which is the limit of the last of them.
"""

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import small, step
from ..wire.itch50_encode import (
    put_auction_collar,
    put_broken_trade,
    put_cross_trade,
    put_ipo_quoting_period,
    put_mwcb_decline_level,
    put_noii,
    put_operational_halt,
    put_order_executed_with_price,
    put_participant_position,
    put_reg_sho,
    put_stock_directory,
    put_system_event,
    put_trade,
    put_trading_action,
)
from .chance import below, draw
from .day_book import ASK, BID, first_at, price_at, remove
from .day_plan import LATE_DELETES
from .day_state import TRADES

EVENT, DIRECTORY, ACTION, SHORT_SALE, PARTICIPANT, DECLINE_LEVELS = (ord(kind) for kind in "SRHYLV")
QUOTING, COLLAR, OPERATIONAL, CROSS, IMBALANCE = (ord(kind) for kind in "KJhQI")

YES, NO, BUY, SELL, NONE, TRADING, QUOTED, HALTED, NASDAQ = (ord(code) for code in "YNBSNTQHQ")
ACTIVE, NORMAL, ANTICIPATED, UNDER_ONE_PERCENT = (ord(code) for code in "ANAL")

TRADE_TRACKING = 2  # what real days have in executions and trades; nearly everything else has 0
DECLINES_E8 = (2_492_45000000, 2_331_65000000, 2_144_04000000)  # 7, 13 and 20 % below 2,680.05


@step
def next_match(day):
    """A match number of its own."""
    today = slot_at(day.today, 0)
    today.match += 1 + (draw(day.chance) & 3)
    return today.match


@step
def next_trade(day, locate):
    """A match number, remembered as that of a trade that may be broken."""
    match = next_match(day)
    trade = slot_at(day.trades, match & (TRADES - 1))
    trade.match = match
    trade.locate = locate
    return match


@small
def is_two_sided(symbol):
    return symbol.best_bid >= 0 and symbol.best_ask < symbol.width


@step
def put_imbalance(day, octets, at, locate, cross_type):
    """An I message around the fair price."""
    today, symbol = slot_at(day.today, 0), slot_at(day.books.symbols, locate)
    luck = draw(day.chance)
    paired = 100 * below(day.chance, 2_000)
    direction, imbalance = NONE, 0
    if luck & 3 != 0:
        direction = BUY if luck & 1 else SELL
        imbalance = 100 * (1 + (luck >> 2 & 1023))
    reference_e4 = price_at(symbol, symbol.fair)
    far_e4 = near_e4 = 0
    if paired > 0:
        far_e4 = reference_e4 + symbol.tick_e4 * ((luck >> 12 & 15) - 8)
        near_e4 = reference_e4 + symbol.tick_e4 * ((luck >> 16 & 7) - 4)
    return put_noii(
        octets,
        at,
        locate,
        0,
        today.time_ns,
        paired,
        imbalance,
        direction,
        symbol.stock,
        far_e4,
        near_e4,
        reference_e4,
        cross_type,
        UNDER_ONE_PERCENT,
    )


@step
def put_print(day, octets, at, locate):
    """A trade against a hidden order, between the best prices, or at the only one; at the fair one in an empty book."""
    today, symbol = slot_at(day.today, 0), slot_at(day.books.symbols, locate)
    price_e4 = price_at(symbol, symbol.fair)
    if is_two_sided(symbol):
        halves = below(day.chance, 2 * (symbol.best_ask - symbol.best_bid) + 1)
        price_e4 = price_at(symbol, symbol.best_bid) + halves * symbol.tick_e4 // 2
    elif symbol.best_bid >= 0:
        price_e4 = price_at(symbol, symbol.best_bid)
    elif symbol.best_ask < symbol.width:
        price_e4 = price_at(symbol, symbol.best_ask)
    shares = 1 + below(day.chance, 400)
    match = next_trade(day, locate)
    return put_trade(octets, at, locate, TRADE_TRACKING, today.time_ns, 0, BUY, shares, symbol.stock, price_e4, match)


@step
def _last_of(books, symbol, side, count):
    """The step of the last order that is executed when the first `count` of a side are; -1 when it has none."""
    price_step, away = np.int64(symbol.best_bid), -1
    if side == ASK:
        price_step, away = np.int64(symbol.best_ask), 1
    last = -1
    while count > 0 and 0 <= price_step < symbol.width:
        slot = first_at(books, symbol, price_step)
        while slot != 0 and count > 0:
            last = price_step
            slot = np.int64(slot_at(books.orders, slot).next)
            count -= 1
        price_step += away
    return last


@step
def begin_cross(day, locate, executions):
    """Choose the side of the book that takes part, and the one price at which its best orders all can."""
    today, symbol = slot_at(day.today, 0), slot_at(day.books.symbols, locate)
    side = BID if draw(day.chance) & 1 else ASK
    last = _last_of(day.books, symbol, side, executions)
    if last < 0:
        executions = 0
        last = (symbol.best_bid + symbol.best_ask) // 2 if is_two_sided(symbol) else symbol.fair
    today.crossing = executions
    today.crossing_side = side
    today.crossed_shares = 0
    today.cross_price_e4 = price_at(symbol, last)


@step
def _put_cross_execution(day, octets, at, locate):
    """The oldest order at the top of the side that takes part, all of it, off the book; -1 when the side is empty or
    the day cannot spare an order."""
    today, counts = slot_at(day.today, 0), slot_at(day.books.counts, 0)
    symbol = slot_at(day.books.symbols, locate)
    best = np.int64(symbol.best_bid if today.crossing_side == BID else symbol.best_ask)
    left = today.regular_end_at - today.emitted - today.rows_before_end
    if today.crossing == 0 or not 0 <= best < symbol.width or counts.live <= LATE_DELETES or left <= 0:
        return -1
    slot = first_at(day.books, symbol, best)
    order = slot_at(day.books.orders, slot)
    shares, match, price_e4 = np.int64(order.shares), next_match(day), today.cross_price_e4
    at = put_order_executed_with_price(
        octets, at, locate, TRADE_TRACKING, today.time_ns, order.reference, shares, match, NO, price_e4
    )
    today.crossing -= 1
    today.crossed_shares += shares
    remove(day.books, slot)
    return at


@step
def _put_cross(day, octets, at, locate, cross_type):
    """The cross itself; its volume also counts orders that were never displayed. Nothing traded: price 0."""
    today, symbol = slot_at(day.today, 0), slot_at(day.books.symbols, locate)
    shares, luck = today.crossed_shares, draw(day.chance)
    if symbol.state in (TRADING, QUOTED) and luck & 1:
        shares += 1 + (luck >> 1 & 0xFFFF)
    price_e4 = today.cross_price_e4 if shares > 0 else 0
    today.crossing = -1
    match = next_match(day)
    return put_cross_trade(
        octets, at, locate, TRADE_TRACKING, today.time_ns, shares, symbol.stock, price_e4, match, cross_type
    )


@step
def _put_directory(day, octets, at, locate, profile, is_new):
    codes, symbol = day.profiles[profile], slot_at(day.books.symbols, locate)
    return put_stock_directory(
        octets,
        at,
        locate,
        0,
        slot_at(day.today, 0).time_ns,
        symbol.stock,
        codes[0],
        codes[1],
        codes[2],
        codes[3],
        codes[4],
        codes[5],
        codes[6],
        codes[7],
        YES if is_new else codes[8],
        codes[9],
        codes[10],
        codes[11],
        codes[12],
    )


@step
def _put_broken_trade(day, octets, at):
    """Breaks one of the latest trades, each at most once; where there is none, a trade is printed instead."""
    today = slot_at(day.today, 0)
    index = draw(day.chance) & (TRADES - 1)
    for _ in range(TRADES):
        trade = slot_at(day.trades, index)
        if trade.match != 0:
            match, locate = trade.match, trade.locate
            trade.match = 0
            return put_broken_trade(octets, at, locate, 0, today.time_ns, match)
        index = (index + 1) & (TRADES - 1)
    return put_print(day, octets, at, today.locate)


@step
def _put_collar(day, octets, at, locate):
    """A collar 5 % about the fair price."""
    symbol = slot_at(day.books.symbols, locate)
    fair_e4 = price_at(symbol, symbol.fair)
    fifth_e4 = fair_e4 // 20 // symbol.tick_e4 * symbol.tick_e4
    time_ns = slot_at(day.today, 0).time_ns
    return put_auction_collar(
        octets, at, locate, 0, time_ns, symbol.stock, fair_e4, fair_e4 + fifth_e4, fair_e4 - fifth_e4, 0
    )


@step
def put_row(day, octets, at, row):
    """Write the next message a row calls for. Returns the offset behind it; the row is over when today.crossing < 0."""
    today, locate = slot_at(day.today, 0), row.locate
    symbol = slot_at(day.books.symbols, locate)
    kind, time_ns = row.kind, today.time_ns
    if kind == CROSS:
        end = _put_cross_execution(day, octets, at, locate)
        return end if end >= 0 else _put_cross(day, octets, at, locate, row.a)
    if kind == DIRECTORY:
        return _put_directory(day, octets, at, locate, row.a, row.b)
    if kind == ACTION:
        symbol.state = row.a
        return put_trading_action(octets, at, locate, 0, time_ns, symbol.stock, row.a, row.b)
    if kind == SHORT_SALE:
        return put_reg_sho(octets, at, locate, 0, time_ns, symbol.stock, row.a)
    if kind == PARTICIPANT:
        mpid = day.mpids[row.a]
        return put_participant_position(octets, at, locate, 0, time_ns, mpid, symbol.stock, YES, NORMAL, ACTIVE)
    if kind == IMBALANCE:
        return put_imbalance(day, octets, at, locate, row.a)
    if kind == COLLAR:
        return _put_collar(day, octets, at, locate)
    if kind == OPERATIONAL:
        symbol.is_halted_here = row.a == HALTED
        return put_operational_halt(octets, at, locate, 0, time_ns, symbol.stock, NASDAQ, row.a)
    if kind == QUOTING:  # one of the few whose locate is 0 though it names a stock
        price_e4 = price_at(symbol, symbol.fair)
        return put_ipo_quoting_period(octets, at, 0, 0, time_ns, symbol.stock, row.a, ANTICIPATED, price_e4)
    if kind == DECLINE_LEVELS:
        return put_mwcb_decline_level(octets, at, 0, 0, time_ns, DECLINES_E8[0], DECLINES_E8[1], DECLINES_E8[2])
    if kind == EVENT:
        return put_system_event(octets, at, 0, 0, time_ns, row.a)
    return _put_broken_trade(day, octets, at)
