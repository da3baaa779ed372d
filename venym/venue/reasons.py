"""Why a request is turned down: what stands in 58, and the codes of 103 (orders) and 102 (cancels, replacements).

102 and 103 of FIX 4.4 have more values than those of 4.2; where they say more, they are in the last two columns.
"""

from typing import NamedTuple

import numpy as np


class Reason(NamedTuple):
    """A reason: its number, text and codes, in 4.2 and in 4.4."""

    number: int
    text: str
    ord_rej: int
    cxl_rej: int
    ord_rej_44: int
    cxl_rej_44: int


(
    NO_REASON,
    DUPLICATE_ID,
    UNKNOWN_SYMBOL,
    BAD_SIDE,
    BAD_SHARES,
    BAD_LOT,
    BAD_ORD_TYPE,
    BAD_TIF,
    BAD_PRICE,
    BAD_TICK,
    BAD_POST_ONLY,
    CLOSED,
    NOT_TRADING,
    ORDERS_FULL,
    IDS_FULL,
    WOULD_TAKE,
    UNKNOWN_ORDER,
    TOO_LATE,
    NOT_PRESENT_ID,
    OTHER_SYMBOL,
    OTHER_SIDE,
    OTHER_TERMS,
    BELOW_FILLED,
    OTHER_VERSION,
    OTHER_SEQUENCE,
    REASONS,
) = range(26)

TABLE = (
    Reason(NO_REASON, "", 0, 0, 0, 0),
    Reason(DUPLICATE_ID, "ClOrdID was used before", 6, 2, 6, 6),
    Reason(UNKNOWN_SYMBOL, "symbol is not listed", 1, 2, 1, 99),
    Reason(BAD_SIDE, "Side is none of 1, 2, 5", 0, 2, 11, 99),
    Reason(BAD_SHARES, "OrderQty is no whole number from 1 to 2147483647", 0, 2, 13, 99),
    Reason(BAD_LOT, "OrderQty is no multiple of the lot", 0, 2, 13, 99),
    Reason(BAD_ORD_TYPE, "OrdType is neither 1 nor 2", 0, 2, 11, 99),
    Reason(BAD_TIF, "TimeInForce is neither 0 nor 3", 0, 2, 11, 99),
    Reason(BAD_PRICE, "Price is none from 0.0001 to 214748.3647 with four decimals", 0, 2, 99, 99),
    Reason(BAD_TICK, "Price is no multiple of the tick", 0, 2, 99, 99),
    Reason(BAD_POST_ONLY, "only a limit order for the day can be post-only", 0, 2, 11, 99),
    Reason(CLOSED, "market hours are over", 2, 2, 2, 99),
    Reason(NOT_TRADING, "the symbol is not trading", 2, 2, 2, 99),
    Reason(ORDERS_FULL, "venue.orders_max is reached", 3, 2, 3, 99),
    Reason(IDS_FULL, "venue.ids_max is reached", 3, 2, 3, 99),
    Reason(WOULD_TAKE, "post-only order would take", 0, 2, 99, 99),
    Reason(UNKNOWN_ORDER, "OrigClOrdID names no order", 5, 1, 5, 1),
    Reason(TOO_LATE, "the order is no more", 5, 0, 5, 0),
    Reason(NOT_PRESENT_ID, "OrigClOrdID is not the order's present ClOrdID", 0, 2, 0, 99),
    Reason(OTHER_SYMBOL, "Symbol is not the order's", 0, 2, 0, 99),
    Reason(OTHER_SIDE, "Side is not the order's", 0, 2, 0, 99),
    Reason(OTHER_TERMS, "a replacement is a limit order for the day", 0, 2, 0, 99),
    Reason(BELOW_FILLED, "OrderQty is below CumQty", 0, 2, 13, 99),
    Reason(OTHER_VERSION, "BeginString is not the session's", 0, 2, 0, 99),  # of Logouts
    Reason(OTHER_SEQUENCE, "MsgSeqNum expected: ", 0, 2, 0, 99),
)
assert [reason.number for reason in TABLE] == list(range(REASONS))

_TEXT = "".join(reason.text for reason in TABLE).encode()
TEXTS = np.frombuffer(_TEXT, np.uint8)  # all texts end to end
TEXT_OCTETS = np.array([len(reason.text) for reason in TABLE], np.int64)
TEXT_AT = np.cumsum(TEXT_OCTETS) - TEXT_OCTETS
ORD_REJ = np.array([[reason.ord_rej, reason.ord_rej_44] for reason in TABLE], np.int64)
CXL_REJ = np.array([[reason.cxl_rej, reason.cxl_rej_44] for reason in TABLE], np.int64)
