"""ITCH 5.0 messages as rows of one table: every field of every type in a column of its own name.

    octets = np.fromfile("01302019.NASDAQ_ITCH50", np.uint8)       length 2 | message | length 2 | message | ...
    messages, skipped = aligned(1_000_000, MESSAGE), np.zeros(256, np.int64)
    count, at = decode_blocks(octets, 0, octets.size, messages, skipped)      go on from `at` for the next million
    rows = named(messages[:count])
    rows.price[(rows.message_type == b"A") & (rows.stock == b"AAPL    ")]

Packets of a capture are decoded by `decode_packets` in the same way.

A column has the specification's field name, except that fields of different types which mean the same share one
(COLUMN_OF says which). Values are as on the wire: PRICE4 in 1e-4 dollars, PRICE8 in 1e-8 dollars, times in
nanoseconds since midnight except K's release time, which counts seconds. A column that a message's type does not
have is 0.

Two views of the same bytes: MESSAGE, whose columns are all integers, is what compiled code reads and writes (64-bit
ones signed, so a reference number above 2**63 shows as its bit pattern, and characters packed in wire order);
MESSAGE_NAMED, what `named` gives, has characters as byte strings with their padding and integers unsigned.
"""

import numpy as np

from ..hot.intrinsics import be16, be32, be48, be64, le16, le32, le64
from ..hot.jit import hot, step
from ..hot.layout import record
from .blocks import LENGTH, LENGTH_BYTES, OFFSET, next_block
from .itch50 import (
    ADD_ORDER,
    ADD_ORDER_MPID,
    ALPHA,
    BROKEN_TRADE,
    CROSS_TRADE,
    DIRECT_LISTING_CAPITAL_RAISE,
    HEADER,
    IPO_QUOTING_PERIOD_UPDATE,
    LENGTHS,
    LULD_AUCTION_COLLAR,
    MARKET_PARTICIPANT_POSITION,
    MESSAGES,
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
    RPII,
    STOCK_DIRECTORY,
    STOCK_LOCATE,
    STOCK_TRADING_ACTION,
    SYSTEM_EVENT,
    TIMESTAMP,
    TRACKING_NUMBER,
    TRADE_NON_CROSS,
)

# Fields that share a column with fields of other types: field -> column. Any other field is its own column.
COLUMN_OF = {
    "original_order_reference_number": "order_reference_number",
    "executed_shares": "shares",
    "cancelled_shares": "shares",
    "execution_price": "price",
    "cross_price": "price",
    "ipo_price": "price",
    "current_reference_price": "reference_price",
    "auction_collar_reference_price": "reference_price",
    "near_execution_price": "reference_price",
    "upper_auction_collar_price": "upper_collar_price",
    "upper_price_range_collar": "upper_collar_price",
    "lower_auction_collar_price": "lower_collar_price",
    "lower_price_range_collar": "lower_collar_price",
    "attribution": "mpid",
}

MESSAGE = record(
    "MESSAGE",
    [
        ("timestamp", "i8"),
        ("stock", "i8"),
        ("order_reference_number", "i8"),  # the original one of U
        ("new_order_reference_number", "i8"),
        ("match_number", "i8"),
        ("shares", "i8"),
        ("paired_shares", "i8"),
        ("imbalance_shares", "i8"),
        ("level_1", "i8"),
        ("level_2", "i8"),
        ("level_3", "i8"),
        ("near_execution_time", "i8"),
        ("price", "u4"),
        ("reference_price", "u4"),
        ("far_price", "u4"),
        ("near_price", "u4"),
        ("upper_collar_price", "u4"),
        ("lower_collar_price", "u4"),
        ("minimum_allowable_price", "u4"),
        ("maximum_allowable_price", "u4"),
        ("auction_collar_extension", "u4"),
        ("ipo_quotation_release_time", "u4"),
        ("round_lot_size", "u4"),
        ("etp_leverage_factor", "u4"),
        ("mpid", "u4"),
        ("reason", "u4"),
        ("stock_locate", "u2"),
        ("tracking_number", "u2"),
        ("issue_sub_type", "u2"),
        ("message_type", "u1"),
        ("buy_sell_indicator", "u1"),
        ("printable", "u1"),
        ("cross_type", "u1"),
        ("imbalance_direction", "u1"),
        ("price_variation_indicator", "u1"),
        ("event_code", "u1"),
        ("market_category", "u1"),
        ("financial_status_indicator", "u1"),
        ("round_lots_only", "u1"),
        ("issue_classification", "u1"),
        ("authenticity", "u1"),
        ("short_sale_threshold_indicator", "u1"),
        ("ipo_flag", "u1"),
        ("luld_reference_price_tier", "u1"),
        ("etp_flag", "u1"),
        ("inverse_indicator", "u1"),
        ("trading_state", "u1"),
        ("reserved", "u1"),
        ("reg_sho_action", "u1"),
        ("primary_market_maker", "u1"),
        ("market_maker_mode", "u1"),
        ("market_participant_state", "u1"),
        ("breached_level", "u1"),
        ("ipo_quotation_release_qualifier", "u1"),
        ("market_code", "u1"),
        ("operational_halt_action", "u1"),
        ("interest_flag", "u1"),
        ("open_eligibility_status", "u1"),
    ],
    192,
)


def _named_dtype() -> np.dtype:
    """MESSAGE's bytes with characters as byte strings and integers unsigned."""
    alpha = {COLUMN_OF.get(f.name, f.name) for m in MESSAGES.values() for f in HEADER + m.fields if f.kind == ALPHA}
    columns = {name: kind for name, kind in (MESSAGE.fields or {}).items() if name != "padding"}
    formats = [f"S{kind[0].itemsize}" if name in alpha else f"u{kind[0].itemsize}" for name, kind in columns.items()]
    offsets = [kind[1] for kind in columns.values()]
    return np.dtype(
        {"names": list(columns), "formats": formats, "offsets": offsets, "itemsize": MESSAGE.itemsize}, align=True
    )


MESSAGE_NAMED = _named_dtype()
BLANK = np.zeros(1, MESSAGE)


def named(messages: np.ndarray) -> np.recarray:
    """The same memory for Python: ``named(m).stock`` is S8, ``.message_type`` S1, integers are unsigned.

    Character columns keep the wire's padding (``b"AAPL    "``); of a type without the field they are ``b""``.
    """
    return messages.view(MESSAGE_NAMED).view(np.recarray)


@hot
def decode(octets, offset, length, messages, index):
    """Decode the message octets[offset : offset + length] into messages[index]; False, and nothing written, if its
    type is not in the table or it is shorter than its type. Octets beyond the type's length are not looked at."""
    if length < 1:
        return False
    code = octets[offset]
    if LENGTHS[code] == 0 or length < LENGTHS[code]:
        return False
    messages[index] = BLANK[0]
    message = messages[index]
    message.message_type = code
    message.stock_locate = be16(octets, offset + STOCK_LOCATE)
    message.tracking_number = be16(octets, offset + TRACKING_NUMBER)
    message.timestamp = be48(octets, offset + TIMESTAMP)
    if not _order(octets, offset, code, message) and not _trade(octets, offset, code, message):
        _state(octets, offset, code, message)
    return True


@hot
def decode_blocks(octets, start, end, messages, skipped):
    """Decode length-prefixed messages from octets[start:end] into `messages` until it is full or no whole block is
    left; returns (messages written, offset of the first block not consumed).

    With fewer messages than room, an offset below `end` is that of a block cut off by `end`. skipped (256,) int64
    counts by type what was not decoded: a type not in the table (LENGTHS is 0), or a message shorter than its type.
    """
    count = 0
    while count < messages.shape[0] and end - start >= LENGTH_BYTES:
        length = be16(octets, start)
        message_at = start + LENGTH_BYTES
        if length > end - message_at:
            break
        if length > 0:
            if decode(octets, message_at, length, messages, count):
                count += 1
            else:
                skipped[octets[message_at]] += 1
        start = message_at + length
    return count, start


@hot
def decode_packets(frames, packets, count, walk, messages, skipped):
    """Decode the messages of packets[:count] from where `walk` stands, until they end or `messages` is full; returns
    (messages written, whether packets[:count] ended).

    frames: uint8; packets: records.PACKET; walk: see blocks, which also counts packets that are cut; skipped as above.
    """
    written = 0
    while written < messages.shape[0]:
        if not next_block(walk, frames, packets, count):
            return written, True
        if decode(frames, walk[OFFSET], walk[LENGTH], messages, written):
            written += 1
        else:
            skipped[frames[walk[OFFSET]]] += 1
    return written, False


@step
def _order(octets, at, code, message):
    """A F E C X D U; False for any other."""
    if code in (ADD_ORDER.code, ADD_ORDER_MPID.code):
        message.order_reference_number = be64(octets, at + ADD_ORDER.order_reference_number)
        message.buy_sell_indicator = octets[at + ADD_ORDER.buy_sell_indicator]
        message.shares = be32(octets, at + ADD_ORDER.shares)
        message.stock = le64(octets, at + ADD_ORDER.stock)
        message.price = be32(octets, at + ADD_ORDER.price)
        if code == ADD_ORDER_MPID.code:
            message.mpid = le32(octets, at + ADD_ORDER_MPID.attribution)
    elif code == ORDER_DELETE.code:
        message.order_reference_number = be64(octets, at + ORDER_DELETE.order_reference_number)
    elif code == ORDER_REPLACE.code:
        message.order_reference_number = be64(octets, at + ORDER_REPLACE.original_order_reference_number)
        message.new_order_reference_number = be64(octets, at + ORDER_REPLACE.new_order_reference_number)
        message.shares = be32(octets, at + ORDER_REPLACE.shares)
        message.price = be32(octets, at + ORDER_REPLACE.price)
    elif code in (ORDER_EXECUTED.code, ORDER_EXECUTED_WITH_PRICE.code):
        message.order_reference_number = be64(octets, at + ORDER_EXECUTED.order_reference_number)
        message.shares = be32(octets, at + ORDER_EXECUTED.executed_shares)
        message.match_number = be64(octets, at + ORDER_EXECUTED.match_number)
        if code == ORDER_EXECUTED_WITH_PRICE.code:
            message.printable = octets[at + ORDER_EXECUTED_WITH_PRICE.printable]
            message.price = be32(octets, at + ORDER_EXECUTED_WITH_PRICE.execution_price)
    elif code == ORDER_CANCEL.code:
        message.order_reference_number = be64(octets, at + ORDER_CANCEL.order_reference_number)
        message.shares = be32(octets, at + ORDER_CANCEL.cancelled_shares)
    else:
        return False
    return True


@step
def _trade(octets, at, code, message):
    """P Q B I N; False for any other."""
    if code == TRADE_NON_CROSS.code:
        message.order_reference_number = be64(octets, at + TRADE_NON_CROSS.order_reference_number)
        message.buy_sell_indicator = octets[at + TRADE_NON_CROSS.buy_sell_indicator]
        message.shares = be32(octets, at + TRADE_NON_CROSS.shares)
        message.stock = le64(octets, at + TRADE_NON_CROSS.stock)
        message.price = be32(octets, at + TRADE_NON_CROSS.price)
        message.match_number = be64(octets, at + TRADE_NON_CROSS.match_number)
    elif code == CROSS_TRADE.code:
        message.shares = be64(octets, at + CROSS_TRADE.shares)
        message.stock = le64(octets, at + CROSS_TRADE.stock)
        message.price = be32(octets, at + CROSS_TRADE.cross_price)
        message.match_number = be64(octets, at + CROSS_TRADE.match_number)
        message.cross_type = octets[at + CROSS_TRADE.cross_type]
    elif code == NOII.code:
        message.paired_shares = be64(octets, at + NOII.paired_shares)
        message.imbalance_shares = be64(octets, at + NOII.imbalance_shares)
        message.imbalance_direction = octets[at + NOII.imbalance_direction]
        message.stock = le64(octets, at + NOII.stock)
        message.far_price = be32(octets, at + NOII.far_price)
        message.near_price = be32(octets, at + NOII.near_price)
        message.reference_price = be32(octets, at + NOII.current_reference_price)
        message.cross_type = octets[at + NOII.cross_type]
        message.price_variation_indicator = octets[at + NOII.price_variation_indicator]
    elif code == BROKEN_TRADE.code:
        message.match_number = be64(octets, at + BROKEN_TRADE.match_number)
    elif code == RPII.code:
        message.stock = le64(octets, at + RPII.stock)
        message.interest_flag = octets[at + RPII.interest_flag]
    else:
        return False
    return True


@step
def _directory(octets, at, message):
    """R"""
    message.stock = le64(octets, at + STOCK_DIRECTORY.stock)
    message.market_category = octets[at + STOCK_DIRECTORY.market_category]
    message.financial_status_indicator = octets[at + STOCK_DIRECTORY.financial_status_indicator]
    message.round_lot_size = be32(octets, at + STOCK_DIRECTORY.round_lot_size)
    message.round_lots_only = octets[at + STOCK_DIRECTORY.round_lots_only]
    message.issue_classification = octets[at + STOCK_DIRECTORY.issue_classification]
    message.issue_sub_type = le16(octets, at + STOCK_DIRECTORY.issue_sub_type)
    message.authenticity = octets[at + STOCK_DIRECTORY.authenticity]
    message.short_sale_threshold_indicator = octets[at + STOCK_DIRECTORY.short_sale_threshold_indicator]
    message.ipo_flag = octets[at + STOCK_DIRECTORY.ipo_flag]
    message.luld_reference_price_tier = octets[at + STOCK_DIRECTORY.luld_reference_price_tier]
    message.etp_flag = octets[at + STOCK_DIRECTORY.etp_flag]
    message.etp_leverage_factor = be32(octets, at + STOCK_DIRECTORY.etp_leverage_factor)
    message.inverse_indicator = octets[at + STOCK_DIRECTORY.inverse_indicator]


@step
def _state(octets, at, code, message):
    """S R H Y L V W K J h O"""
    if code == STOCK_DIRECTORY.code:
        _directory(octets, at, message)
    elif code == STOCK_TRADING_ACTION.code:
        message.stock = le64(octets, at + STOCK_TRADING_ACTION.stock)
        message.trading_state = octets[at + STOCK_TRADING_ACTION.trading_state]
        message.reserved = octets[at + STOCK_TRADING_ACTION.reserved]
        message.reason = le32(octets, at + STOCK_TRADING_ACTION.reason)
    elif code == REG_SHO_RESTRICTION.code:
        message.stock = le64(octets, at + REG_SHO_RESTRICTION.stock)
        message.reg_sho_action = octets[at + REG_SHO_RESTRICTION.reg_sho_action]
    elif code == MARKET_PARTICIPANT_POSITION.code:
        message.mpid = le32(octets, at + MARKET_PARTICIPANT_POSITION.mpid)
        message.stock = le64(octets, at + MARKET_PARTICIPANT_POSITION.stock)
        message.primary_market_maker = octets[at + MARKET_PARTICIPANT_POSITION.primary_market_maker]
        message.market_maker_mode = octets[at + MARKET_PARTICIPANT_POSITION.market_maker_mode]
        message.market_participant_state = octets[at + MARKET_PARTICIPANT_POSITION.market_participant_state]
    elif code == SYSTEM_EVENT.code:
        message.event_code = octets[at + SYSTEM_EVENT.event_code]
    elif code == OPERATIONAL_HALT.code:
        message.stock = le64(octets, at + OPERATIONAL_HALT.stock)
        message.market_code = octets[at + OPERATIONAL_HALT.market_code]
        message.operational_halt_action = octets[at + OPERATIONAL_HALT.operational_halt_action]
    elif code == LULD_AUCTION_COLLAR.code:
        message.stock = le64(octets, at + LULD_AUCTION_COLLAR.stock)
        message.reference_price = be32(octets, at + LULD_AUCTION_COLLAR.auction_collar_reference_price)
        message.upper_collar_price = be32(octets, at + LULD_AUCTION_COLLAR.upper_auction_collar_price)
        message.lower_collar_price = be32(octets, at + LULD_AUCTION_COLLAR.lower_auction_collar_price)
        message.auction_collar_extension = be32(octets, at + LULD_AUCTION_COLLAR.auction_collar_extension)
    else:
        _rare_state(octets, at, code, message)


@step
def _rare_state(octets, at, code, message):
    """V W K O"""
    if code == MWCB_DECLINE_LEVEL.code:
        message.level_1 = be64(octets, at + MWCB_DECLINE_LEVEL.level_1)
        message.level_2 = be64(octets, at + MWCB_DECLINE_LEVEL.level_2)
        message.level_3 = be64(octets, at + MWCB_DECLINE_LEVEL.level_3)
    elif code == MWCB_STATUS.code:
        message.breached_level = octets[at + MWCB_STATUS.breached_level]
    elif code == IPO_QUOTING_PERIOD_UPDATE.code:
        message.stock = le64(octets, at + IPO_QUOTING_PERIOD_UPDATE.stock)
        message.ipo_quotation_release_time = be32(octets, at + IPO_QUOTING_PERIOD_UPDATE.ipo_quotation_release_time)
        message.ipo_quotation_release_qualifier = octets[at + IPO_QUOTING_PERIOD_UPDATE.ipo_quotation_release_qualifier]
        message.price = be32(octets, at + IPO_QUOTING_PERIOD_UPDATE.ipo_price)
    elif code == DIRECT_LISTING_CAPITAL_RAISE.code:
        message.stock = le64(octets, at + DIRECT_LISTING_CAPITAL_RAISE.stock)
        message.open_eligibility_status = octets[at + DIRECT_LISTING_CAPITAL_RAISE.open_eligibility_status]
        message.minimum_allowable_price = be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.minimum_allowable_price)
        message.maximum_allowable_price = be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.maximum_allowable_price)
        message.reference_price = be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.near_execution_price)
        message.near_execution_time = be64(octets, at + DIRECT_LISTING_CAPITAL_RAISE.near_execution_time)
        message.lower_collar_price = be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.lower_price_range_collar)
        message.upper_collar_price = be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.upper_price_range_collar)
