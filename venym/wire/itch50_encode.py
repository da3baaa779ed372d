"""ITCH 5.0 messages written into a buffer: one function a type, for compiled code.

    at = put_add_order(octets, at, locate, tracking, time_ns, reference, side, shares, stock, price_e4)

Each writes the whole message at `at` (uint8 array) and returns the offset behind it; nothing is checked, the caller
must have made sure of LENGTH_MAX octets. Codes (`side`, `state`, ...) are the byte's number, ``ord("B")``. ALPHA fields
of 4 and 8 octets are the big-endian number of their octets, see `alpha`. Where the fields lie comes from the table in
`itch50`.
"""

from ..hot.intrinsics import put_be16, put_be32, put_be48, put_be64
from ..hot.jit import step
from .itch50 import (
    ADD_ORDER,
    ADD_ORDER_MPID,
    BROKEN_TRADE,
    CROSS_TRADE,
    DIRECT_LISTING_CAPITAL_RAISE,
    IPO_QUOTING_PERIOD_UPDATE,
    LULD_AUCTION_COLLAR,
    MARKET_PARTICIPANT_POSITION,
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


def alpha(text: str, width: int) -> int:
    """An ALPHA field as the number its `width` octets make, padded with spaces; 8 octets as a signed 64-bit number.

    Raises ValueError for text that is longer, or not ASCII.
    """
    octets = text.encode("ascii")
    if len(octets) > width:
        raise ValueError(f"{text!r} does not fit {width} octets")
    return int.from_bytes(octets.ljust(width), "big", signed=width == 8)


@step
def put_header(octets, at, code, locate, tracking, time_ns):
    """What every message starts with; `code` is the type's byte."""
    octets[at] = code
    put_be16(octets, at + STOCK_LOCATE, locate)
    put_be16(octets, at + TRACKING_NUMBER, tracking)
    put_be48(octets, at + TIMESTAMP, time_ns)


@step
def put_system_event(octets, at, locate, tracking, time_ns, event):
    put_header(octets, at, SYSTEM_EVENT.code, locate, tracking, time_ns)
    octets[at + SYSTEM_EVENT.event_code] = event
    return at + SYSTEM_EVENT.length


@step
def put_stock_directory(
    octets,
    at,
    locate,
    tracking,
    time_ns,
    stock,
    market_category,
    financial_status,
    round_lot,
    round_lots_only,
    classification,
    sub_type,
    authenticity,
    short_sale_threshold,
    ipo_flag,
    luld_tier,
    etp_flag,
    etp_leverage,
    inverse,
):
    put_header(octets, at, STOCK_DIRECTORY.code, locate, tracking, time_ns)
    put_be64(octets, at + STOCK_DIRECTORY.stock, stock)
    octets[at + STOCK_DIRECTORY.market_category] = market_category
    octets[at + STOCK_DIRECTORY.financial_status_indicator] = financial_status
    put_be32(octets, at + STOCK_DIRECTORY.round_lot_size, round_lot)
    octets[at + STOCK_DIRECTORY.round_lots_only] = round_lots_only
    octets[at + STOCK_DIRECTORY.issue_classification] = classification
    put_be16(octets, at + STOCK_DIRECTORY.issue_sub_type, sub_type)
    octets[at + STOCK_DIRECTORY.authenticity] = authenticity
    octets[at + STOCK_DIRECTORY.short_sale_threshold_indicator] = short_sale_threshold
    octets[at + STOCK_DIRECTORY.ipo_flag] = ipo_flag
    octets[at + STOCK_DIRECTORY.luld_reference_price_tier] = luld_tier
    octets[at + STOCK_DIRECTORY.etp_flag] = etp_flag
    put_be32(octets, at + STOCK_DIRECTORY.etp_leverage_factor, etp_leverage)
    octets[at + STOCK_DIRECTORY.inverse_indicator] = inverse
    return at + STOCK_DIRECTORY.length


@step
def put_trading_action(octets, at, locate, tracking, time_ns, stock, state, reason):
    put_header(octets, at, STOCK_TRADING_ACTION.code, locate, tracking, time_ns)
    put_be64(octets, at + STOCK_TRADING_ACTION.stock, stock)
    octets[at + STOCK_TRADING_ACTION.trading_state] = state
    octets[at + STOCK_TRADING_ACTION.reserved] = 32  # a space
    put_be32(octets, at + STOCK_TRADING_ACTION.reason, reason)
    return at + STOCK_TRADING_ACTION.length


@step
def put_reg_sho(octets, at, locate, tracking, time_ns, stock, action):
    put_header(octets, at, REG_SHO_RESTRICTION.code, locate, tracking, time_ns)
    put_be64(octets, at + REG_SHO_RESTRICTION.stock, stock)
    octets[at + REG_SHO_RESTRICTION.reg_sho_action] = action
    return at + REG_SHO_RESTRICTION.length


@step
def put_participant_position(octets, at, locate, tracking, time_ns, mpid, stock, primary, mode, state):
    put_header(octets, at, MARKET_PARTICIPANT_POSITION.code, locate, tracking, time_ns)
    put_be32(octets, at + MARKET_PARTICIPANT_POSITION.mpid, mpid)
    put_be64(octets, at + MARKET_PARTICIPANT_POSITION.stock, stock)
    octets[at + MARKET_PARTICIPANT_POSITION.primary_market_maker] = primary
    octets[at + MARKET_PARTICIPANT_POSITION.market_maker_mode] = mode
    octets[at + MARKET_PARTICIPANT_POSITION.market_participant_state] = state
    return at + MARKET_PARTICIPANT_POSITION.length


@step
def put_mwcb_decline_level(octets, at, locate, tracking, time_ns, level_1_e8, level_2_e8, level_3_e8):
    put_header(octets, at, MWCB_DECLINE_LEVEL.code, locate, tracking, time_ns)
    put_be64(octets, at + MWCB_DECLINE_LEVEL.level_1, level_1_e8)
    put_be64(octets, at + MWCB_DECLINE_LEVEL.level_2, level_2_e8)
    put_be64(octets, at + MWCB_DECLINE_LEVEL.level_3, level_3_e8)
    return at + MWCB_DECLINE_LEVEL.length


@step
def put_mwcb_status(octets, at, locate, tracking, time_ns, breached_level):
    put_header(octets, at, MWCB_STATUS.code, locate, tracking, time_ns)
    octets[at + MWCB_STATUS.breached_level] = breached_level
    return at + MWCB_STATUS.length


@step
def put_ipo_quoting_period(octets, at, locate, tracking, time_ns, stock, release_s, qualifier, price_e4):
    put_header(octets, at, IPO_QUOTING_PERIOD_UPDATE.code, locate, tracking, time_ns)
    put_be64(octets, at + IPO_QUOTING_PERIOD_UPDATE.stock, stock)
    put_be32(octets, at + IPO_QUOTING_PERIOD_UPDATE.ipo_quotation_release_time, release_s)
    octets[at + IPO_QUOTING_PERIOD_UPDATE.ipo_quotation_release_qualifier] = qualifier
    put_be32(octets, at + IPO_QUOTING_PERIOD_UPDATE.ipo_price, price_e4)
    return at + IPO_QUOTING_PERIOD_UPDATE.length


@step
def put_auction_collar(
    octets, at, locate, tracking, time_ns, stock, reference_price_e4, upper_price_e4, lower_price_e4, extension
):
    put_header(octets, at, LULD_AUCTION_COLLAR.code, locate, tracking, time_ns)
    put_be64(octets, at + LULD_AUCTION_COLLAR.stock, stock)
    put_be32(octets, at + LULD_AUCTION_COLLAR.auction_collar_reference_price, reference_price_e4)
    put_be32(octets, at + LULD_AUCTION_COLLAR.upper_auction_collar_price, upper_price_e4)
    put_be32(octets, at + LULD_AUCTION_COLLAR.lower_auction_collar_price, lower_price_e4)
    put_be32(octets, at + LULD_AUCTION_COLLAR.auction_collar_extension, extension)
    return at + LULD_AUCTION_COLLAR.length


@step
def put_operational_halt(octets, at, locate, tracking, time_ns, stock, market, action):
    put_header(octets, at, OPERATIONAL_HALT.code, locate, tracking, time_ns)
    put_be64(octets, at + OPERATIONAL_HALT.stock, stock)
    octets[at + OPERATIONAL_HALT.market_code] = market
    octets[at + OPERATIONAL_HALT.operational_halt_action] = action
    return at + OPERATIONAL_HALT.length


@step
def put_add_order(octets, at, locate, tracking, time_ns, reference, side, shares, stock, price_e4):
    put_header(octets, at, ADD_ORDER.code, locate, tracking, time_ns)
    put_be64(octets, at + ADD_ORDER.order_reference_number, reference)
    octets[at + ADD_ORDER.buy_sell_indicator] = side
    put_be32(octets, at + ADD_ORDER.shares, shares)
    put_be64(octets, at + ADD_ORDER.stock, stock)
    put_be32(octets, at + ADD_ORDER.price, price_e4)
    return at + ADD_ORDER.length


@step
def put_add_order_mpid(octets, at, locate, tracking, time_ns, reference, side, shares, stock, price_e4, mpid):
    put_header(octets, at, ADD_ORDER_MPID.code, locate, tracking, time_ns)
    put_be64(octets, at + ADD_ORDER_MPID.order_reference_number, reference)
    octets[at + ADD_ORDER_MPID.buy_sell_indicator] = side
    put_be32(octets, at + ADD_ORDER_MPID.shares, shares)
    put_be64(octets, at + ADD_ORDER_MPID.stock, stock)
    put_be32(octets, at + ADD_ORDER_MPID.price, price_e4)
    put_be32(octets, at + ADD_ORDER_MPID.attribution, mpid)
    return at + ADD_ORDER_MPID.length


@step
def put_order_executed(octets, at, locate, tracking, time_ns, reference, shares, match):
    put_header(octets, at, ORDER_EXECUTED.code, locate, tracking, time_ns)
    put_be64(octets, at + ORDER_EXECUTED.order_reference_number, reference)
    put_be32(octets, at + ORDER_EXECUTED.executed_shares, shares)
    put_be64(octets, at + ORDER_EXECUTED.match_number, match)
    return at + ORDER_EXECUTED.length


@step
def put_order_executed_with_price(octets, at, locate, tracking, time_ns, reference, shares, match, printable, price_e4):
    put_header(octets, at, ORDER_EXECUTED_WITH_PRICE.code, locate, tracking, time_ns)
    put_be64(octets, at + ORDER_EXECUTED_WITH_PRICE.order_reference_number, reference)
    put_be32(octets, at + ORDER_EXECUTED_WITH_PRICE.executed_shares, shares)
    put_be64(octets, at + ORDER_EXECUTED_WITH_PRICE.match_number, match)
    octets[at + ORDER_EXECUTED_WITH_PRICE.printable] = printable
    put_be32(octets, at + ORDER_EXECUTED_WITH_PRICE.execution_price, price_e4)
    return at + ORDER_EXECUTED_WITH_PRICE.length


@step
def put_order_cancel(octets, at, locate, tracking, time_ns, reference, shares):
    put_header(octets, at, ORDER_CANCEL.code, locate, tracking, time_ns)
    put_be64(octets, at + ORDER_CANCEL.order_reference_number, reference)
    put_be32(octets, at + ORDER_CANCEL.cancelled_shares, shares)
    return at + ORDER_CANCEL.length


@step
def put_order_delete(octets, at, locate, tracking, time_ns, reference):
    put_header(octets, at, ORDER_DELETE.code, locate, tracking, time_ns)
    put_be64(octets, at + ORDER_DELETE.order_reference_number, reference)
    return at + ORDER_DELETE.length


@step
def put_order_replace(octets, at, locate, tracking, time_ns, original, reference, shares, price_e4):
    put_header(octets, at, ORDER_REPLACE.code, locate, tracking, time_ns)
    put_be64(octets, at + ORDER_REPLACE.original_order_reference_number, original)
    put_be64(octets, at + ORDER_REPLACE.new_order_reference_number, reference)
    put_be32(octets, at + ORDER_REPLACE.shares, shares)
    put_be32(octets, at + ORDER_REPLACE.price, price_e4)
    return at + ORDER_REPLACE.length


@step
def put_trade(octets, at, locate, tracking, time_ns, reference, side, shares, stock, price_e4, match):
    put_header(octets, at, TRADE_NON_CROSS.code, locate, tracking, time_ns)
    put_be64(octets, at + TRADE_NON_CROSS.order_reference_number, reference)
    octets[at + TRADE_NON_CROSS.buy_sell_indicator] = side
    put_be32(octets, at + TRADE_NON_CROSS.shares, shares)
    put_be64(octets, at + TRADE_NON_CROSS.stock, stock)
    put_be32(octets, at + TRADE_NON_CROSS.price, price_e4)
    put_be64(octets, at + TRADE_NON_CROSS.match_number, match)
    return at + TRADE_NON_CROSS.length


@step
def put_cross_trade(octets, at, locate, tracking, time_ns, shares, stock, price_e4, match, cross_type):
    put_header(octets, at, CROSS_TRADE.code, locate, tracking, time_ns)
    put_be64(octets, at + CROSS_TRADE.shares, shares)
    put_be64(octets, at + CROSS_TRADE.stock, stock)
    put_be32(octets, at + CROSS_TRADE.cross_price, price_e4)
    put_be64(octets, at + CROSS_TRADE.match_number, match)
    octets[at + CROSS_TRADE.cross_type] = cross_type
    return at + CROSS_TRADE.length


@step
def put_broken_trade(octets, at, locate, tracking, time_ns, match):
    put_header(octets, at, BROKEN_TRADE.code, locate, tracking, time_ns)
    put_be64(octets, at + BROKEN_TRADE.match_number, match)
    return at + BROKEN_TRADE.length


@step
def put_noii(
    octets,
    at,
    locate,
    tracking,
    time_ns,
    paired,
    imbalance,
    direction,
    stock,
    far_price_e4,
    near_price_e4,
    reference_price_e4,
    cross_type,
    variation,
):
    put_header(octets, at, NOII.code, locate, tracking, time_ns)
    put_be64(octets, at + NOII.paired_shares, paired)
    put_be64(octets, at + NOII.imbalance_shares, imbalance)
    octets[at + NOII.imbalance_direction] = direction
    put_be64(octets, at + NOII.stock, stock)
    put_be32(octets, at + NOII.far_price, far_price_e4)
    put_be32(octets, at + NOII.near_price, near_price_e4)
    put_be32(octets, at + NOII.current_reference_price, reference_price_e4)
    octets[at + NOII.cross_type] = cross_type
    octets[at + NOII.price_variation_indicator] = variation
    return at + NOII.length


@step
def put_rpii(octets, at, locate, tracking, time_ns, stock, interest):
    put_header(octets, at, RPII.code, locate, tracking, time_ns)
    put_be64(octets, at + RPII.stock, stock)
    octets[at + RPII.interest_flag] = interest
    return at + RPII.length


@step
def put_direct_listing(
    octets, at, locate, tracking, time_ns, stock, eligible, least_e4, most_e4, near_e4, near_time_ns, lower_e4, upper_e4
):
    put_header(octets, at, DIRECT_LISTING_CAPITAL_RAISE.code, locate, tracking, time_ns)
    put_be64(octets, at + DIRECT_LISTING_CAPITAL_RAISE.stock, stock)
    octets[at + DIRECT_LISTING_CAPITAL_RAISE.open_eligibility_status] = eligible
    put_be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.minimum_allowable_price, least_e4)
    put_be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.maximum_allowable_price, most_e4)
    put_be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.near_execution_price, near_e4)
    put_be64(octets, at + DIRECT_LISTING_CAPITAL_RAISE.near_execution_time, near_time_ns)
    put_be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.lower_price_range_collar, lower_e4)
    put_be32(octets, at + DIRECT_LISTING_CAPITAL_RAISE.upper_price_range_collar, upper_e4)
    return at + DIRECT_LISTING_CAPITAL_RAISE.length
