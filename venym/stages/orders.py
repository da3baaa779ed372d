"""Orders and requests: what the gateway has sent, and what the venue has made of it.

    ClOrdID number - first = row of REQUEST ──order──▶ row of ORDER ──next──▶ the strategy's next open one

    SENT ──accepted, filled──▶ OPEN ──filled, canceled, expired──▶ FINAL
      └──────────────────rejected, canceled────────────────────────▶┘

Every request (new, cancel, replace) takes the next number, and no number and no row is used twice in a day: a late
report always finds the order it means. Open orders of one strategy in one instrument, a group, are linked oldest
first.

`recount` is the only place where exposure changes: an order that is not FINAL counts with the larger of its shares and
those of a replace that is not answered, less what was filled. What it counts with stands in the order.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import inner, small
from ..hot.layout import record
from ..records import BUY
from ..wire.fix_encode import CL_ORD_ID_MAX
from .book import Take

SENT, OPEN, FINAL = 1, 2, 3  # ORDER.status
WAITING, ACCEPTED, REJECTED = 1, 2, 3  # REQUEST.state
NO_TOKEN = -(1 << 63)  # of an event whose order's token another order has now

ORDER = record(
    "ORDER",
    [
        ("token", "i8"),
        ("shares", "i8"),  # total, as the venue last confirmed it, or as sent
        ("price_e4", "i8"),
        ("filled_shares", "i8"),
        ("pending_shares", "i8"),  # of the replace that is not answered; 0: none
        ("pending_price_e4", "i8"),
        ("worth_e4", "i8"),  # what a share counts with: the price, or of MARKET orders the touch when sent
        ("open_shares", "i8"),  # counted as exposure
        ("open_value_e4", "i8"),
        ("number", "i8"),  # the ClOrdID under which the venue has it
        ("cancel", "i8"),  # number of the cancel that is not answered; 0: none
        ("replace", "i8"),
        ("next", "i4"),  # row + 1 of the group's next younger open order; 0: none
        ("previous", "i4"),
        ("strategy", "i4"),
        ("instrument", "i4"),
        ("side", "u1"),
        ("short", "u1"),
        ("ord_type", "u1"),
        ("tif", "u1"),
        ("post_only", "u1"),
        ("status", "u1"),
    ],
    128,
)

REQUEST = record(
    "REQUEST",
    [
        ("clock_ns", "i8"),  # when it was decided
        ("cause", "i8"),
        ("shares", "i8"),  # as sent
        ("price_e4", "i8"),
        ("orig", "i8"),  # number of the order it cancels or replaces
        ("order", "i4"),  # row
        ("action", "u1"),
        ("own", "u1"),  # the gateway's, not a strategy's
        ("state", "u1"),
    ],
    64,
)

ORDERS_USED, REQUESTS_USED, REQUESTS_SENT, OPEN_ORDERS, FIRST_NUMBER, INSTRUMENTS, STRATEGIES, _WORDS = range(8)
ORDERS_LIMIT = (1 << 31) - 1  # rows; a row is an int32
OPEN_LIMIT = 1 << 18  # orders open at once, so that no sum of values overflows
VALUE_E4_MAX = 1 << 44  # of one order, or one position: 1.7 billion dollars


class Orders(NamedTuple):
    """rows (orders_max,) ORDER; requests (requests_max,) REQUEST; heads, tails, counts (strategies * instruments,)
    int64: of each group the first and last open order (row + 1) and how many; words: as named above."""

    rows: np.ndarray
    requests: np.ndarray
    heads: np.ndarray
    tails: np.ndarray
    counts: np.ndarray
    words: np.ndarray


def build_orders(
    take: Take, orders_max: int, requests_max: int, strategies: int, instruments: int, first_number: int = 1
) -> Orders:
    """Empty tables. `first_number`: the first ClOrdID of this process, above every one of the day before it. Raises
    ValueError for what cannot be."""
    if not 1 <= orders_max <= ORDERS_LIMIT:
        raise ValueError(f"orders_max is 1 to {ORDERS_LIMIT}, not {orders_max}")
    if requests_max < orders_max:
        raise ValueError(f"requests_max {requests_max} is less than orders_max {orders_max}")
    if not 1 <= first_number <= CL_ORD_ID_MAX - requests_max:
        raise ValueError(f"the first ClOrdID number {first_number} leaves no room for {requests_max} requests")
    groups, word = max(strategies * instruments, 1), np.dtype(np.int64)
    made = Orders(
        rows=take("gateway_orders", orders_max, ORDER),
        requests=take("requests", requests_max, REQUEST),
        heads=take("order_heads", groups, word),
        tails=take("order_tails", groups, word),
        counts=take("order_counts", groups, word),
        words=take("order_words", _WORDS, word),
    )
    made.words[FIRST_NUMBER] = first_number
    made.words[INSTRUMENTS], made.words[STRATEGIES] = instruments, strategies
    return made


@small
def group_of(orders, strategy, instrument):
    """Index of a strategy's orders in an instrument."""
    return strategy * orders.words[INSTRUMENTS] + instrument


@inner
def find_order(orders, group, token):
    """Row of the group's open order of that token, or -1."""
    at = slot_at(orders.heads, group)
    while at != 0:
        order = slot_at(orders.rows, at - 1)
        if order.token == token:
            return at - 1
        at = np.int64(order.next)
    return np.int64(-1)


@inner
def find_request(orders, number):
    """Row of the request of that ClOrdID number, or -1 if none has it."""
    row = number - orders.words[FIRST_NUMBER]
    return row if 0 <= row < orders.words[REQUESTS_USED] else np.int64(-1)


@inner
def link_order(orders, group, row):
    """Add an order to its group's open ones, as the youngest."""
    order = slot_at(orders.rows, row)
    last = slot_at(orders.tails, group)
    order.previous, order.next = last, 0
    if last == 0:
        orders.heads[group] = row + 1
    else:
        slot_at(orders.rows, last - 1).next = row + 1
    orders.tails[group] = row + 1
    orders.counts[group] += 1
    orders.words[OPEN_ORDERS] += 1


@inner
def unlink_order(orders, group, row):
    """Take an order from its group's open ones."""
    order = slot_at(orders.rows, row)
    before, behind = np.int64(order.previous), np.int64(order.next)
    if before == 0:
        orders.heads[group] = behind
    else:
        slot_at(orders.rows, before - 1).next = behind
    if behind == 0:
        orders.tails[group] = before
    else:
        slot_at(orders.rows, behind - 1).previous = before
    order.previous, order.next = 0, 0
    orders.counts[group] -= 1
    orders.words[OPEN_ORDERS] -= 1


@inner
def add_request(orders, row, action, own, shares, price_e4, orig, clock_ns, cause):
    """The next request, of the order `row`; returns its number. The caller has seen that there is room."""
    index = orders.words[REQUESTS_USED]
    request = slot_at(orders.requests, index)
    request.clock_ns, request.cause = clock_ns, cause
    request.shares, request.price_e4, request.orig = shares, price_e4, orig
    request.order, request.action, request.own, request.state = row, action, own, WAITING
    orders.words[REQUESTS_USED] = index + 1
    return index + orders.words[FIRST_NUMBER]


@small
def leaves_of(order):
    """Shares still to be filled, as the venue last confirmed the order."""
    return max(order.shares - order.filled_shares, 0) if order.status != FINAL else 0


@small
def value_of(shares, price_e4):
    """Shares (0 to 2**31) times price (0 to 2**31), at most VALUE_E4_MAX."""
    return min(shares * price_e4, VALUE_E4_MAX)


@inner
def recount(positions, order, group):
    """Make the exposure what the order's fields now say."""
    shares, value_e4 = np.int64(0), np.int64(0)
    if order.status != FINAL:
        shares = max(max(order.shares, order.pending_shares) - order.filled_shares, np.int64(0))
        value_e4 = value_of(shares, max(order.worth_e4, order.pending_price_e4))
    change = shares - order.open_shares
    positions.values[0] += value_e4 - order.open_value_e4
    order.open_shares, order.open_value_e4 = shares, value_e4
    if change != 0:
        count_open(slot_at(positions.holdings, group), order, change)
        count_open(slot_at(positions.totals, np.int64(order.instrument)), order, change)


@small
def count_open(holding, order, change):
    if order.side == BUY:
        holding.open_buy_shares += change
    else:
        holding.open_sell_shares += change
        if order.short == 0:
            holding.open_sell_long_shares += change
