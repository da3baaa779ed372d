"""What each ITCH 5.0 message does to the books and to what is known of the market.

    A F        add                 E C X D    take from an order            U    remove, then add at the back of a queue
    P Q B      prints, no orders   H h W      may it trade                  R Y K J V I S L N O    facts

A modification that does not fit is never applied beyond what is there: it is counted (metrics.DECODER) and makes its
instrument suspect. Shares of a print are always those of the message: the trade took place.
"""

import numpy as np

from .. import metrics
from ..hot.intrinsics import be16, be32, be48, be64, slot_at
from ..hot.jit import hot, small, step
from ..wire.itch50 import (
    ADD_ORDER,
    ADD_ORDER_MPID,
    BROKEN_TRADE,
    CROSS_TRADE,
    IPO_QUOTING_PERIOD_UPDATE,
    LENGTHS,
    LULD_AUCTION_COLLAR,
    MWCB_DECLINE_LEVEL,
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
    TIMESTAMP,
    TRADE_NON_CROSS,
)
from .book import BUY, SELL, add_order, bucket_of, find_order, reduce_order
from .market import (
    book_at,
    book_named,
    breach,
    break_trade,
    name_book,
    print_trade,
)

# Message types by their letters; E C X D share the offsets of their first fields.
_A, _F, _E, _C, _X, _D, _U = (
    kind.code
    for kind in (
        ADD_ORDER,
        ADD_ORDER_MPID,
        ORDER_EXECUTED,
        ORDER_EXECUTED_WITH_PRICE,
        ORDER_CANCEL,
        ORDER_DELETE,
        ORDER_REPLACE,
    )
)
_P, _Q, _B, _I = TRADE_NON_CROSS.code, CROSS_TRADE.code, BROKEN_TRADE.code, NOII.code
_R, _H, _h, _Y = STOCK_DIRECTORY.code, STOCK_TRADING_ACTION.code, OPERATIONAL_HALT.code, REG_SHO_RESTRICTION.code
_K, _J = IPO_QUOTING_PERIOD_UPDATE.code, LULD_AUCTION_COLLAR.code
_S, _V, _W = SYSTEM_EVENT.code, MWCB_DECLINE_LEVEL.code, MWCB_STATUS.code
_CHANGES_BOOK = np.zeros(256, np.bool_)
_CHANGES_BOOK[[_A, _F, _E, _C, _X, _D, _U]] = True
VOLUME_MAX = 1 << 62  # shares a day; a cross that would go beyond is not applied
_YES, _BUY, _SELL, _HALT, _TRADING = 89, 66, 83, 72, 84


@step
def apply_message(orders, market, counters, channel, octets, at, length):
    """Apply the message at octets[at : at + length], which the caller has seen to be there.

    Returns (book, side letter, price_e4, shares, reference) of what happened: the index of the book it concerns, 0 if
    none or not applied; then what BOOK_EVENT says of it, 0 where the type has no such field.
    """
    kind = np.int64(octets[at])
    counters[metrics.MESSAGES] += 1
    if length < LENGTHS[kind]:
        counters[metrics.SHORT_MESSAGES] += 1
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    if _CHANGES_BOOK[kind]:
        return apply_order(orders, market, counters, channel, octets, at, kind)
    return apply_other(orders, market, counters, channel, octets, at, kind)


@step
def apply_order(orders, market, counters, channel, octets, at, kind):
    """A F E C X D U: the messages that change a book. Same result as apply_message."""
    locate = be16(octets, at + STOCK_LOCATE)
    book_index = book_at(market, channel, locate)
    book = slot_at(market.books, book_index)
    book.time_ns = be48(octets, at + TIMESTAMP)
    reference = be64(octets, at + ADD_ORDER.order_reference_number)
    bucket = bucket_of(orders, channel, reference)
    index = find_order(orders, bucket, reference)
    if kind in (_A, _F):
        shares, price_e4 = be32(octets, at + ADD_ORDER.shares), be32(octets, at + ADD_ORDER.price)
        letter = np.int64(octets[at + ADD_ORDER.buy_sell_indicator])
        if book.symbol == 0:
            name_book(market, book_index, be64(octets, at + ADD_ORDER.stock))
        if letter not in (_BUY, _SELL):
            counters[metrics.UNKNOWN_CODES] += 1
            book.misfit = 1
            return np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
        attribution = be32(octets, at + ADD_ORDER_MPID.attribution) if kind == _F else np.int64(0)
        side = 2 * book_index + (BUY if letter == _BUY else SELL)
        add_checked(orders, book, counters, bucket, index, side, reference, shares, price_e4, attribution)
        return book_index, letter, price_e4, shares, reference

    if index == 0:
        counters[metrics.UNKNOWN_REFERENCES] += 1
        book.misfit = 1
        if kind in (_E, _C):
            print_unknown(market, book, channel, octets, at, kind)
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)

    order = slot_at(orders.orders, index)
    level = slot_at(orders.levels, np.int64(order.level))
    side, price_e4, held = np.int64(level.side), np.int64(level.price_e4), np.int64(order.shares)
    attribution = np.int64(order.attribution)
    letter = np.int64(_BUY if side & 1 == BUY else _SELL)
    if side >> 1 != book_index:
        counters[metrics.WRONG_LOCATES] += 1
        book.misfit = 1
        book_index = side >> 1
        book = slot_at(market.books, book_index)
        book.misfit = 1
    shares = held
    if kind in (_E, _C, _X):
        shares = be32(octets, at + ORDER_EXECUTED.executed_shares)
        if kind != _X:
            price_e4 = print_execution(market, book, channel, octets, at, kind, shares, price_e4)
        if shares > held:
            counters[metrics.OVER_CANCELS if kind == _X else metrics.OVER_EXECUTIONS] += 1
            book.misfit = 1
    reduce_order(orders, bucket, index, min(shares, held))
    if kind == _U:
        reference = be64(octets, at + ORDER_REPLACE.new_order_reference_number)
        shares, price_e4 = be32(octets, at + ORDER_REPLACE.shares), be32(octets, at + ORDER_REPLACE.price)
        bucket = bucket_of(orders, channel, reference)
        index = find_order(orders, bucket, reference)
        if shares != 0:
            add_checked(orders, book, counters, bucket, index, side, reference, shares, price_e4, attribution)
    return book_index, letter, price_e4, shares, reference


@step
def add_checked(orders, book, counters, bucket, index, side, reference, shares, price_e4, attribution):
    """Add an order unless its reference is taken (`index` != 0: the order there stays) or it has no shares."""
    if index != 0:
        counters[metrics.DUPLICATE_REFERENCES] += 1
        book.misfit = 1
    elif shares == 0:
        counters[metrics.ZERO_SHARES] += 1
    else:
        add_order(orders, bucket, side, reference, shares, price_e4, attribution)


@step
def print_execution(market, book, channel, octets, at, kind, shares, price_e4):
    """The print of an E or C; returns its price. A C that is not printable is in a later bulk print (Q)."""
    if kind == _C:
        price_e4 = be32(octets, at + ORDER_EXECUTED_WITH_PRICE.execution_price)
        if not is_print(octets, at):
            return price_e4
    owner = np.int64(slot_at(market.channels, channel).owner)
    print_trade(market, book, owner, be64(octets, at + ORDER_EXECUTED.match_number), shares, price_e4)
    return price_e4


@small
def is_print(octets, at):
    """Does this message, E C P Q or another, count as volume?"""
    kind = octets[at]
    if kind == _C:
        return octets[at + ORDER_EXECUTED_WITH_PRICE.printable] == _YES
    return kind in (_E, _P, _Q)


@hot
def print_unknown(market, book, channel, octets, at, kind):
    """The print of an execution whose order is not in the book: its price stands only in a C."""
    shares = be32(octets, at + ORDER_EXECUTED.executed_shares)
    print_execution(market, book, channel, octets, at, kind, shares, np.int64(book.last_price_e4))


@hot
def apply_other(orders, market, counters, channel, octets, at, kind):
    """All types that leave the orders alone. Same result as apply_message."""
    nothing = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    if LENGTHS[kind] == 0:
        counters[metrics.UNKNOWN_TYPES] += 1
        return nothing
    if kind in (_S, _V, _W):
        apply_market_wide(market, channel, octets, at, kind)
        return nothing
    locate = be16(octets, at + STOCK_LOCATE)
    if kind == _K:  # to be keyed by its symbol: the specification puts locate 0 there
        book_index = book_named(market, channel, be64(octets, at + IPO_QUOTING_PERIOD_UPDATE.stock))
        if book_index == 0:
            return nothing
    else:
        book_index = book_at(market, channel, locate)
    book = slot_at(market.books, book_index)
    book.time_ns = be48(octets, at + TIMESTAMP)
    if kind == _P:
        shares, price_e4 = be32(octets, at + TRADE_NON_CROSS.shares), be32(octets, at + TRADE_NON_CROSS.price)
        match = be64(octets, at + TRADE_NON_CROSS.match_number)
        print_trade(market, book, np.int64(slot_at(market.channels, channel).owner), match, shares, price_e4)
        learn_symbol(market, book_index, be64(octets, at + TRADE_NON_CROSS.stock))
        return book_index, np.int64(0), price_e4, shares, match
    if kind == _Q:
        return apply_cross(market, counters, book_index, octets, at)
    if kind == _B:
        match = be64(octets, at + BROKEN_TRADE.match_number)
        if not break_trade(market, book, np.int64(slot_at(market.channels, channel).owner), match):
            counters[metrics.UNKNOWN_MATCHES] += 1
        return book_index, np.int64(0), np.int64(0), np.int64(0), match
    if kind == _I:
        return apply_noii(market, book_index, octets, at)
    apply_fact(market, book_index, octets, at, kind)
    return book_index, np.int64(0), np.int64(0), np.int64(0), np.int64(0)


@hot
def learn_symbol(market, book_index, symbol):
    """Take a symbol from any message that carries it, until the directory tells."""
    if slot_at(market.books, book_index).symbol == 0:
        name_book(market, book_index, symbol)


@hot
def apply_cross(market, counters, book_index, octets, at):
    """Q: the bulk print of an auction; shares may be 0, and go beyond 32 bits."""
    book = slot_at(market.books, book_index)
    learn_symbol(market, book_index, be64(octets, at + CROSS_TRADE.stock))
    shares, price_e4 = be64(octets, at + CROSS_TRADE.shares), be32(octets, at + CROSS_TRADE.cross_price)
    if shares < 0 or shares > VOLUME_MAX - book.volume_shares:
        counters[metrics.UNKNOWN_CODES] += 1
        book.misfit = 1
        return np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    book.volume_shares += shares
    book.cross_shares = shares
    book.cross_price_e4 = price_e4
    book.cross = octets[at + CROSS_TRADE.cross_type]
    if shares != 0:
        book.last_price_e4 = price_e4
    return book_index, np.int64(0), price_e4, shares, be64(octets, at + CROSS_TRADE.match_number)


@hot
def apply_noii(market, book_index, octets, at):
    """I: net order imbalance before a cross."""
    book = slot_at(market.books, book_index)
    learn_symbol(market, book_index, be64(octets, at + NOII.stock))
    book.paired_shares = be64(octets, at + NOII.paired_shares)
    book.imbalance_shares = be64(octets, at + NOII.imbalance_shares)
    book.imbalance_direction = octets[at + NOII.imbalance_direction]
    book.far_price_e4 = be32(octets, at + NOII.far_price)
    book.near_price_e4 = be32(octets, at + NOII.near_price)
    book.reference_price_e4 = be32(octets, at + NOII.current_reference_price)
    book.noii_cross = octets[at + NOII.cross_type]
    direction = np.int64(book.imbalance_direction)
    return book_index, direction, np.int64(book.reference_price_e4), np.int64(book.imbalance_shares), np.int64(0)


@hot
def apply_fact(market, book_index, octets, at, kind):
    """R H h Y K J: what else is told of one instrument. L, N and O are legal and change nothing kept here."""
    book = slot_at(market.books, book_index)
    if kind == _R:
        name_book(market, book_index, be64(octets, at + STOCK_DIRECTORY.stock))
        book.round_lot_shares = be32(octets, at + STOCK_DIRECTORY.round_lot_size)
        book.authenticity = octets[at + STOCK_DIRECTORY.authenticity]
    elif kind == _H:
        learn_symbol(market, book_index, be64(octets, at + STOCK_TRADING_ACTION.stock))
        book.state = octets[at + STOCK_TRADING_ACTION.trading_state]
        if book.state == _TRADING:
            book.mwcb_level = 0
    elif kind == _h:
        learn_symbol(market, book_index, be64(octets, at + OPERATIONAL_HALT.stock))
        if octets[at + OPERATIONAL_HALT.market_code] == slot_at(market.channels, np.int64(book.channel)).code:
            book.operational_halt = 1 if octets[at + OPERATIONAL_HALT.operational_halt_action] == _HALT else 0
    elif kind == _Y:
        learn_symbol(market, book_index, be64(octets, at + REG_SHO_RESTRICTION.stock))
        book.reg_sho = octets[at + REG_SHO_RESTRICTION.reg_sho_action]
    elif kind == _K:
        book.ipo_release_s = be32(octets, at + IPO_QUOTING_PERIOD_UPDATE.ipo_quotation_release_time)
        book.ipo_qualifier = octets[at + IPO_QUOTING_PERIOD_UPDATE.ipo_quotation_release_qualifier]
        book.ipo_price_e4 = be32(octets, at + IPO_QUOTING_PERIOD_UPDATE.ipo_price)
    elif kind == _J:
        learn_symbol(market, book_index, be64(octets, at + LULD_AUCTION_COLLAR.stock))
        book.collar_reference_e4 = be32(octets, at + LULD_AUCTION_COLLAR.auction_collar_reference_price)
        book.collar_upper_e4 = be32(octets, at + LULD_AUCTION_COLLAR.upper_auction_collar_price)
        book.collar_lower_e4 = be32(octets, at + LULD_AUCTION_COLLAR.lower_auction_collar_price)
        book.collar_extension = be32(octets, at + LULD_AUCTION_COLLAR.auction_collar_extension)


@hot
def apply_market_wide(market, channel, octets, at, kind):
    """S V W: for every instrument of the channel."""
    held = slot_at(market.channels, channel)
    if kind == _S:
        held.system_event = octets[at + SYSTEM_EVENT.event_code]
    elif kind == _V:
        held.mwcb_level_1_e8 = be64(octets, at + MWCB_DECLINE_LEVEL.level_1)
        held.mwcb_level_2_e8 = be64(octets, at + MWCB_DECLINE_LEVEL.level_2)
        held.mwcb_level_3_e8 = be64(octets, at + MWCB_DECLINE_LEVEL.level_3)
    else:
        breach(market, channel, np.int64(octets[at + MWCB_STATUS.breached_level]))
