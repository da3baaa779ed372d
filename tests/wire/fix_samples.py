"""Orders and reports for the tests of FIX, as the session profile of an exchange would have them."""

from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from tests.naive import fix as naive
from venym.wire import fix_encode
from venym.wire.fix_encode import CANCEL, LIMIT, MARKET, NEW_ORDER, REPLACE, SELL_SHORT, Template, make_template

TIME_NS = 1_767_623_400_123_456_789  # 2026-01-05 14:30
TIME_NS_MAX = naive.time_ns(b"22611231-23:59:59.999999999")
STATIC = {1: "ACC1", 47: "P", 57: "DESK", 109: "MPID", 9140: "Y"}
MARKET_ONLY, LIMIT_ONLY, POST_ONLY, SHORT = {18: "1"}, {110: "100"}, {18: "6", 110: "200"}, {114: "N"}
ENCODERS: dict[int, Any] = {
    NEW_ORDER: fix_encode.encode_new_order,
    CANCEL: fix_encode.encode_cancel,
    REPLACE: fix_encode.encode_replace,
}
KINDS = {NEW_ORDER: "D", CANCEL: "F", REPLACE: "G"}


class Order(NamedTuple):
    """What goes into a message; a cancel looks at some of it only."""

    sequence: int = 42
    sent_ns: int = TIME_NS
    cl_ord_id: int = 1042
    orig_cl_ord_id: int = 1041
    symbol: str = "AAPL"
    side: int = 1
    shares: int = 100
    price_e4: int = 12_345_678
    ord_type: int = LIMIT
    tif: int = 0
    post_only: int = 0
    transact_ns: int = TIME_NS + 1_000_000


def word(symbol: str) -> np.int64:
    return np.int64(int.from_bytes(symbol.encode().ljust(8), "big"))


def template(msg_type: int, version: str = "FIX.4.2", decimals: int = 3, static: Any = None) -> Template:
    return make_template(
        version, msg_type, "VENYM", "INET", STATIC if static is None else static, MARKET_ONLY, LIMIT_ONLY, POST_ONLY,
        SHORT, "V", decimals,
    )  # fmt: skip


def encode(made: Template, order: Order, out: np.ndarray, at: int = 0) -> int:
    """The encoder of the template's type, on `order`."""
    o = order
    ids = (o.cl_ord_id,) if made.msg_type == NEW_ORDER else (o.cl_ord_id, o.orig_cl_ord_id)
    head = (made, out, at, o.sequence, o.sent_ns, *ids, word(o.symbol), o.side, o.shares)
    rest = () if made.msg_type == CANCEL else (o.price_e4, o.ord_type, o.tif, o.post_only)
    return int(ENCODERS[made.msg_type](*head, *rest, o.transact_ns))


def expected(msg_type: int, order: Order, version: str = "FIX.4.2", decimals: int = 3) -> bytes:
    """The same message by the twin."""
    values: dict[int, Any] = {**STATIC, 11: f"V{order.cl_ord_id}", 38: order.shares, 54: order.side, 55: order.symbol}
    if msg_type != CANCEL:
        values |= {40: order.ord_type, 59: order.tif} | ({21: "1"} if version == "FIX.4.2" else {})
        values |= MARKET_ONLY if order.ord_type == MARKET else POST_ONLY if order.post_only else LIMIT_ONLY
        if order.ord_type == LIMIT:
            values[44] = naive.price(order.price_e4).decode()
    if msg_type != NEW_ORDER:
        values[41] = f"V{order.orig_cl_ord_id}"
    if order.side == SELL_SHORT:
        values |= SHORT
    octets = {tag: str(value).encode() for tag, value in values.items()}
    octets[60] = naive.time(order.transact_ns, decimals)
    target = "INET\x0157=" + values[57]  # a header field, behind the target
    del octets[57]
    sent = naive.time(order.sent_ns, decimals)
    return naive.order(version, KINDS[msg_type], "VENYM", target, order.sequence, sent, octets)


EDGES_NS = [
    naive.time_ns(text)
    for text in (
        b"19700101-00:00:00", b"19991231-23:59:59.999999999", b"20000229-00:00:00", b"20000301-00:00:00",
        b"20240228-23:59:59.999", b"20240229-12:00:00", b"20240301-00:00:00", b"20991231-23:59:59.999999",
        b"21000228-23:59:59", b"21000301-00:00:00", b"22611231-23:59:59.999999999",
    )
]  # fmt: skip
TIMES_NS = st.sampled_from(EDGES_NS) | st.integers(0, TIME_NS_MAX)
PRICES_E4 = st.sampled_from([1, 9_999, 10_000, 3_000, 12_345_678, 2**31 - 1]) | st.integers(1, 2**31 - 1)
SYMBOLS = st.text(st.characters(min_codepoint=33, max_codepoint=126, exclude_characters="="), min_size=1, max_size=8)
ORDERS = st.builds(
    Order,
    st.sampled_from([1, 9, 10, 99, 100, 2**53]) | st.integers(1, 2**53),
    TIMES_NS,
    st.integers(1, 10**18 - 1),
    st.integers(1, 10**18 - 1),
    SYMBOLS,
    st.sampled_from([1, 2, 5]),
    st.sampled_from([1, 2**31 - 1]) | st.integers(1, 2**31 - 1),
    PRICES_E4,
    st.sampled_from([MARKET, LIMIT]),
    st.sampled_from([0, 3]),
    st.just(0),
    TIMES_NS,
) | st.builds(lambda price_e4, sent_ns: Order(price_e4=price_e4, sent_ns=sent_ns, post_only=1), PRICES_E4, TIMES_NS)
