"""NASDAQ TotalView-ITCH 5.0 (specification of 2026-02-19): every message, every field, where it lies.

    | type 1 | stock locate 2 | tracking number 2 | timestamp 6 | the rest by type ...     big-endian, unsigned

MESSAGES is the one table; lengths, names and offsets used elsewhere come from it. Times are nanoseconds since
midnight, US Eastern, and go on past 24 h for a session that does. PRICE4 counts 1e-4 dollars, PRICE8 1e-8 dollars.
ALPHA is ASCII, padded with spaces on the right; symbols may hold ``- . + * = ^ #``.

A message of a type not in the table, or a code not in the specification, is legal: the venue adds them.

Compiled code says where a field lies by name: ``be32(octets, start + ADD_ORDER.price)``, and which type it has in
hand by ``ADD_ORDER.code``.
"""

from collections import namedtuple
from typing import Any, NamedTuple

import numpy as np

ALPHA, INT, PRICE4, PRICE8 = range(4)


class Field(NamedTuple):
    """One field: its name in the specification, byte offset in the message, width in bytes, and kind."""

    name: str
    offset: int
    width: int
    kind: int


class Message(NamedTuple):
    """One message type; `fields` leave out the common header (see HEADER)."""

    name: str
    length: int
    fields: tuple[Field, ...]


HEADER = (
    Field("message_type", 0, 1, ALPHA),
    Field("stock_locate", 1, 2, INT),
    Field("tracking_number", 3, 2, INT),
    Field("timestamp", 5, 6, INT),
)

MESSAGES: dict[str, Message] = {
    "S": Message("system_event", 12, (Field("event_code", 11, 1, ALPHA),)),
    "R": Message(
        "stock_directory",
        39,
        (
            Field("stock", 11, 8, ALPHA),
            Field("market_category", 19, 1, ALPHA),
            Field("financial_status_indicator", 20, 1, ALPHA),
            Field("round_lot_size", 21, 4, INT),
            Field("round_lots_only", 25, 1, ALPHA),
            Field("issue_classification", 26, 1, ALPHA),
            Field("issue_sub_type", 27, 2, ALPHA),
            Field("authenticity", 29, 1, ALPHA),
            Field("short_sale_threshold_indicator", 30, 1, ALPHA),
            Field("ipo_flag", 31, 1, ALPHA),
            Field("luld_reference_price_tier", 32, 1, ALPHA),
            Field("etp_flag", 33, 1, ALPHA),
            Field("etp_leverage_factor", 34, 4, INT),
            Field("inverse_indicator", 38, 1, ALPHA),
        ),
    ),
    "H": Message(
        "stock_trading_action",
        25,
        (
            Field("stock", 11, 8, ALPHA),
            Field("trading_state", 19, 1, ALPHA),
            Field("reserved", 20, 1, ALPHA),
            Field("reason", 21, 4, ALPHA),
        ),
    ),
    "Y": Message(
        "reg_sho_restriction",
        20,
        (
            Field("stock", 11, 8, ALPHA),
            Field("reg_sho_action", 19, 1, ALPHA),
        ),
    ),
    "L": Message(
        "market_participant_position",
        26,
        (
            Field("mpid", 11, 4, ALPHA),
            Field("stock", 15, 8, ALPHA),
            Field("primary_market_maker", 23, 1, ALPHA),
            Field("market_maker_mode", 24, 1, ALPHA),
            Field("market_participant_state", 25, 1, ALPHA),
        ),
    ),
    "V": Message(
        "mwcb_decline_level",
        35,
        (
            Field("level_1", 11, 8, PRICE8),
            Field("level_2", 19, 8, PRICE8),
            Field("level_3", 27, 8, PRICE8),
        ),
    ),
    "W": Message("mwcb_status", 12, (Field("breached_level", 11, 1, ALPHA),)),
    "K": Message(
        "ipo_quoting_period_update",
        28,
        (
            Field("stock", 11, 8, ALPHA),
            Field("ipo_quotation_release_time", 19, 4, INT),
            Field("ipo_quotation_release_qualifier", 23, 1, ALPHA),
            Field("ipo_price", 24, 4, PRICE4),
        ),
    ),
    "J": Message(
        "luld_auction_collar",
        35,
        (
            Field("stock", 11, 8, ALPHA),
            Field("auction_collar_reference_price", 19, 4, PRICE4),
            Field("upper_auction_collar_price", 23, 4, PRICE4),
            Field("lower_auction_collar_price", 27, 4, PRICE4),
            Field("auction_collar_extension", 31, 4, INT),
        ),
    ),
    "h": Message(
        "operational_halt",
        21,
        (
            Field("stock", 11, 8, ALPHA),
            Field("market_code", 19, 1, ALPHA),
            Field("operational_halt_action", 20, 1, ALPHA),
        ),
    ),
    "A": Message(
        "add_order",
        36,
        (
            Field("order_reference_number", 11, 8, INT),
            Field("buy_sell_indicator", 19, 1, ALPHA),
            Field("shares", 20, 4, INT),
            Field("stock", 24, 8, ALPHA),
            Field("price", 32, 4, PRICE4),
        ),
    ),
    "F": Message(
        "add_order_mpid",
        40,
        (
            Field("order_reference_number", 11, 8, INT),
            Field("buy_sell_indicator", 19, 1, ALPHA),
            Field("shares", 20, 4, INT),
            Field("stock", 24, 8, ALPHA),
            Field("price", 32, 4, PRICE4),
            Field("attribution", 36, 4, ALPHA),
        ),
    ),
    "E": Message(
        "order_executed",
        31,
        (
            Field("order_reference_number", 11, 8, INT),
            Field("executed_shares", 19, 4, INT),
            Field("match_number", 23, 8, INT),
        ),
    ),
    "C": Message(
        "order_executed_with_price",
        36,
        (
            Field("order_reference_number", 11, 8, INT),
            Field("executed_shares", 19, 4, INT),
            Field("match_number", 23, 8, INT),
            Field("printable", 31, 1, ALPHA),
            Field("execution_price", 32, 4, PRICE4),
        ),
    ),
    "X": Message(
        "order_cancel",
        23,
        (
            Field("order_reference_number", 11, 8, INT),
            Field("cancelled_shares", 19, 4, INT),
        ),
    ),
    "D": Message("order_delete", 19, (Field("order_reference_number", 11, 8, INT),)),
    "U": Message(
        "order_replace",
        35,
        (
            Field("original_order_reference_number", 11, 8, INT),
            Field("new_order_reference_number", 19, 8, INT),
            Field("shares", 27, 4, INT),
            Field("price", 31, 4, PRICE4),
        ),
    ),
    "P": Message(
        "trade_non_cross",
        44,
        (
            Field("order_reference_number", 11, 8, INT),
            Field("buy_sell_indicator", 19, 1, ALPHA),
            Field("shares", 20, 4, INT),
            Field("stock", 24, 8, ALPHA),
            Field("price", 32, 4, PRICE4),
            Field("match_number", 36, 8, INT),
        ),
    ),
    "Q": Message(
        "cross_trade",
        40,
        (
            Field("shares", 11, 8, INT),
            Field("stock", 19, 8, ALPHA),
            Field("cross_price", 27, 4, PRICE4),
            Field("match_number", 31, 8, INT),
            Field("cross_type", 39, 1, ALPHA),
        ),
    ),
    "B": Message("broken_trade", 19, (Field("match_number", 11, 8, INT),)),
    "I": Message(
        "noii",
        50,
        (
            Field("paired_shares", 11, 8, INT),
            Field("imbalance_shares", 19, 8, INT),
            Field("imbalance_direction", 27, 1, ALPHA),
            Field("stock", 28, 8, ALPHA),
            Field("far_price", 36, 4, PRICE4),
            Field("near_price", 40, 4, PRICE4),
            Field("current_reference_price", 44, 4, PRICE4),
            Field("cross_type", 48, 1, ALPHA),
            Field("price_variation_indicator", 49, 1, ALPHA),
        ),
    ),
    "N": Message(
        "rpii",
        20,
        (
            Field("stock", 11, 8, ALPHA),
            Field("interest_flag", 19, 1, ALPHA),
        ),
    ),
    "O": Message(
        "direct_listing_capital_raise",
        48,
        (
            Field("stock", 11, 8, ALPHA),
            Field("open_eligibility_status", 19, 1, ALPHA),
            Field("minimum_allowable_price", 20, 4, PRICE4),
            Field("maximum_allowable_price", 24, 4, PRICE4),
            Field("near_execution_price", 28, 4, PRICE4),
            Field("near_execution_time", 32, 8, INT),
            Field("lower_price_range_collar", 40, 4, PRICE4),
            Field("upper_price_range_collar", 44, 4, PRICE4),
        ),
    ),
}

LENGTHS = np.zeros(256, np.int64)  # of the type's byte; 0: a type not in the table
for _type, _message in MESSAGES.items():
    LENGTHS[ord(_type)] = _message.length
LENGTH_MIN = 12  # the shortest message: common header and one byte
LENGTH_MAX = int(LENGTHS.max())

STOCK_LOCATE, TRACKING_NUMBER, TIMESTAMP = (field.offset for field in HEADER[1:])


def layout(kind: str) -> Any:
    """A named tuple of ints for one message type, constants to compiled code: `code` (the type's byte), `length`, then
    the byte offset of each field under the field's name. Raises KeyError for a type not in MESSAGES."""
    message = MESSAGES[kind]
    make_type: Any = namedtuple
    made = make_type(message.name, ["code", "length"] + [field.name for field in message.fields])
    return made(ord(kind), message.length, *(field.offset for field in message.fields))


SYSTEM_EVENT = layout("S")
STOCK_DIRECTORY = layout("R")
STOCK_TRADING_ACTION = layout("H")
REG_SHO_RESTRICTION = layout("Y")
MARKET_PARTICIPANT_POSITION = layout("L")
MWCB_DECLINE_LEVEL = layout("V")
MWCB_STATUS = layout("W")
IPO_QUOTING_PERIOD_UPDATE = layout("K")
LULD_AUCTION_COLLAR = layout("J")
OPERATIONAL_HALT = layout("h")
ADD_ORDER = layout("A")
ADD_ORDER_MPID = layout("F")
ORDER_EXECUTED = layout("E")
ORDER_EXECUTED_WITH_PRICE = layout("C")
ORDER_CANCEL = layout("X")
ORDER_DELETE = layout("D")
ORDER_REPLACE = layout("U")
TRADE_NON_CROSS = layout("P")
CROSS_TRADE = layout("Q")
BROKEN_TRADE = layout("B")
NOII = layout("I")
RPII = layout("N")
DIRECT_LISTING_CAPITAL_RAISE = layout("O")
