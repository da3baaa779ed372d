"""What is displayed and announced at one sequence number, over all instruments: what a spin tells.

    reference ──▶ heads ──chain──▶ LIVE          found by its reference
    first ──▶ LIVE ⇄ LIVE ⇄ ... ──▶ last         by arrival: who came first to a level comes first

    told     | the last R | H | Y | h by market code |          one row a locate, each as it came
    event    | the last S |

Arrival is the order of queues: a replaced order arrives anew, with the side, locate and attribution it had. Messages
that do not fit (a reference not known or known already, more shares than there are) change no more than they can.
`apply_rows` stops where there is no room for another order; `grown` gives the same with more.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import be16, be32, be48, be64, copy_octets, put_be16, put_be32, put_be48, put_be64, slot_at
from ..hot.jit import hot
from ..hot.layout import aligned, record
from ..wire.itch50 import (
    ADD_ORDER,
    ADD_ORDER_MPID,
    LENGTHS,
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
)
from ..wire.moldudp64 import END_OF_SESSION, HEADER_BYTES, LENGTH_BYTES

LIVE = record(
    "LIVE_ORDER",
    [
        ("reference", "i8"),
        ("time_ns", "i8"),  # of its arrival
        ("shares", "i8"),
        ("price_e4", "i8"),
        ("attribution", "u4"),  # of an F
        ("locate", "i4"),
        ("previous", "i4"),
        ("next", "i4"),
        ("chain", "i4"),  # next of the same hash, or next free one
        ("side", "u1"),  # B or S
        ("code", "u1"),  # A or F
    ],
    64,
)

LOCATES = 65_536
ORDERS_FIRST = 65_536
BUY, SELL = ord("B"), ord("S")

# A row of `told`, octet by octet; a message that has not come has a 0 for its type.
SYMBOL_OCTETS = 8
SYMBOL_AT = 0
DIRECTORY_AT = 8
TRADING_AT = DIRECTORY_AT + STOCK_DIRECTORY.length
SHORT_AT = TRADING_AT + STOCK_TRADING_ACTION.length
HALTS_AT = SHORT_AT + REG_SHO_RESTRICTION.length
HALTS_MAX = 4  # market codes: Q, B, X, and one that is new
TOLD_OCTETS = 192

# Words: what is read; of the list and the table; what is told.
ROW_AT, SEQUENCE, FIRST, LAST, TOP, FREE, COUNT, OVER = range(8)
WORDS = 16


class LiveOrders(NamedTuple):
    """heads (power of two,) int32; orders (n + 1,) LIVE, 0 is nobody; told (65536 * 192,) uint8; event (12,) uint8;
    words (16,) int64: rows of the store that were applied, the number of the message that follows."""

    heads: np.ndarray
    orders: np.ndarray
    told: np.ndarray
    event: np.ndarray
    words: np.ndarray


def make_live_orders(orders: int = ORDERS_FIRST) -> LiveOrders:
    """Nothing read yet; room for `orders`, a power of two."""
    return LiveOrders(
        heads=aligned(orders, np.int32),
        orders=aligned(orders + 1, LIVE, touch=False),
        told=aligned(LOCATES * TOLD_OCTETS, np.uint8, touch=False),
        event=aligned(SYSTEM_EVENT.length, np.uint8),
        words=aligned(WORDS, np.int64),
    )


def grown(live: LiveOrders) -> LiveOrders:
    """The same, with twice the room."""
    made = make_live_orders(2 * len(live.heads))
    made.orders[: len(live.orders)] = live.orders
    made.words[:] = live.words
    _hash_anew(made.heads, made.orders, made.words)
    return made._replace(told=live.told, event=live.event)


@hot
def _bucket(heads, reference):
    """References are handed out in turn, so their low bits are as good as chance."""
    return (reference ^ (reference >> 21)) & (heads.shape[0] - 1)


@hot
def _hash_anew(heads, orders, words):
    index = words[FIRST]
    while index != 0:
        order = slot_at(orders, index)
        bucket = _bucket(heads, order.reference)
        order.chain = heads[bucket]
        heads[bucket] = index
        index = np.int64(order.next)


@hot
def _find(live, reference):
    """Index of the order, or 0."""
    index = np.int64(live.heads[_bucket(live.heads, reference)])
    while index != 0 and slot_at(live.orders, index).reference != reference:
        index = np.int64(slot_at(live.orders, index).chain)
    return index


@hot
def _add(live, reference, time_ns, locate, side, shares, price_e4, code, attribution):
    """An order arrives. The caller has seen that there is room, shares, and no order of this reference."""
    words = live.words
    index = words[FREE]
    if index != 0:
        words[FREE] = np.int64(slot_at(live.orders, index).chain)
    else:
        words[TOP] += 1
        index = words[TOP]
    order, last, bucket = slot_at(live.orders, index), words[LAST], _bucket(live.heads, reference)
    order.reference, order.time_ns, order.shares, order.price_e4 = reference, time_ns, shares, price_e4
    order.locate, order.side, order.code, order.attribution = locate, side, code, attribution
    order.previous, order.next, order.chain = last, 0, live.heads[bucket]
    live.heads[bucket] = index
    if last != 0:
        slot_at(live.orders, last).next = index
    else:
        words[FIRST] = index
    words[LAST] = index
    words[COUNT] += 1


@hot
def _remove(live, index):
    words, order = live.words, slot_at(live.orders, index)
    bucket = _bucket(live.heads, order.reference)
    walked = np.int64(live.heads[bucket])
    if walked == index:
        live.heads[bucket] = order.chain
    else:
        while slot_at(live.orders, walked).chain != index:
            walked = np.int64(slot_at(live.orders, walked).chain)
        slot_at(live.orders, walked).chain = order.chain
    ahead, behind = np.int64(order.previous), np.int64(order.next)
    if ahead != 0:
        slot_at(live.orders, ahead).next = behind
    else:
        words[FIRST] = behind
    if behind != 0:
        slot_at(live.orders, behind).previous = ahead
    else:
        words[LAST] = ahead
    order.chain = words[FREE]
    words[FREE] = index
    words[COUNT] -= 1


@hot
def _reduce(live, reference, shares):
    index = _find(live, reference)
    if index != 0:
        order = slot_at(live.orders, index)
        if shares >= order.shares:
            _remove(live, index)
        else:
            order.shares -= shares


@hot
def _apply_add(live, octets, at, code):
    reference, shares = be64(octets, at + ADD_ORDER.order_reference_number), be32(octets, at + ADD_ORDER.shares)
    locate, side = be16(octets, at + STOCK_LOCATE), octets[at + ADD_ORDER.buy_sell_indicator]
    told_at = locate * TOLD_OCTETS
    if live.told[told_at] == 0:
        copy_octets(live.told, told_at + SYMBOL_AT, octets, at + ADD_ORDER.stock, SYMBOL_OCTETS)
    if side in (BUY, SELL) and shares > 0 and _find(live, reference) == 0:
        attribution = np.int64(0)
        if code == ADD_ORDER_MPID.code:
            attribution = be32(octets, at + ADD_ORDER_MPID.attribution)
        price_e4 = be32(octets, at + ADD_ORDER.price)
        _add(live, reference, be48(octets, at + TIMESTAMP), locate, side, shares, price_e4, code, attribution)


@hot
def _apply_replace(live, octets, at):
    index = _find(live, be64(octets, at + ORDER_REPLACE.original_order_reference_number))
    if index == 0:
        return
    order = slot_at(live.orders, index)
    locate, side, code = np.int64(order.locate), order.side, np.int64(order.code)
    attribution = np.int64(order.attribution)
    reference = be64(octets, at + ORDER_REPLACE.new_order_reference_number)
    shares, time_ns = be32(octets, at + ORDER_REPLACE.shares), be48(octets, at + TIMESTAMP)
    _remove(live, index)
    if shares > 0 and _find(live, reference) == 0:
        price_e4 = be32(octets, at + ORDER_REPLACE.price)
        _add(live, reference, time_ns, locate, side, shares, price_e4, code, attribution)


@hot
def _apply_told(live, octets, at, code):
    """Keep the last message of a kind."""
    base = be16(octets, at + STOCK_LOCATE) * TOLD_OCTETS
    if code == STOCK_DIRECTORY.code:
        copy_octets(live.told, base + DIRECTORY_AT, octets, at, STOCK_DIRECTORY.length)
        copy_octets(live.told, base + SYMBOL_AT, octets, at + STOCK_DIRECTORY.stock, SYMBOL_OCTETS)
    elif code == STOCK_TRADING_ACTION.code:
        copy_octets(live.told, base + TRADING_AT, octets, at, STOCK_TRADING_ACTION.length)
    elif code == REG_SHO_RESTRICTION.code:
        copy_octets(live.told, base + SHORT_AT, octets, at, REG_SHO_RESTRICTION.length)
    elif code == OPERATIONAL_HALT.code:
        for k in range(HALTS_MAX):
            into = base + HALTS_AT + k * OPERATIONAL_HALT.length
            same = live.told[into + OPERATIONAL_HALT.market_code] == octets[at + OPERATIONAL_HALT.market_code]
            if live.told[into] == 0 or same:
                copy_octets(live.told, into, octets, at, OPERATIONAL_HALT.length)
                break


@hot
def apply_message(live, octets, at, length):
    """Apply the message octets[at:][:length]."""
    code = np.int64(octets[at]) if length > 0 else np.int64(0)
    if LENGTHS[code] == 0 or length < LENGTHS[code]:
        return
    if code in (ADD_ORDER.code, ADD_ORDER_MPID.code):
        _apply_add(live, octets, at, code)
    elif code in (ORDER_EXECUTED.code, ORDER_EXECUTED_WITH_PRICE.code):
        reference = be64(octets, at + ORDER_EXECUTED.order_reference_number)
        _reduce(live, reference, be32(octets, at + ORDER_EXECUTED.executed_shares))
    elif code == ORDER_CANCEL.code:
        reference = be64(octets, at + ORDER_CANCEL.order_reference_number)
        _reduce(live, reference, be32(octets, at + ORDER_CANCEL.cancelled_shares))
    elif code == ORDER_DELETE.code:
        index = _find(live, be64(octets, at + ORDER_DELETE.order_reference_number))
        if index != 0:
            _remove(live, index)
    elif code == ORDER_REPLACE.code:
        _apply_replace(live, octets, at)
    elif code == SYSTEM_EVENT.code:
        copy_octets(live.event, 0, octets, at, SYSTEM_EVENT.length)
    else:
        _apply_told(live, octets, at, code)


@hot
def _begin_session(live):
    live.heads[:] = 0
    live.told[:] = 0
    live.event[:] = 0
    row_at = live.words[ROW_AT]
    live.words[:] = 0
    live.words[ROW_AT] = row_at


@hot
def apply_rows(live, store, end, rows_max):
    """Apply the rows of the store up to `end`, at most `rows_max` of them. False where there is no room for another
    row's orders."""
    words = live.words
    until = min(end, words[ROW_AT] + rows_max)
    while words[ROW_AT] < until:
        row = slot_at(store.rows, words[ROW_AT])
        if words[OVER] != 0 and row.count != END_OF_SESSION:
            _begin_session(live)
        if row.count == END_OF_SESSION:
            words[OVER] = 1
        else:
            count = np.int64(row.count)
            if words[COUNT] + count >= live.orders.shape[0]:
                return False
            at = row.offset + HEADER_BYTES
            for k in range(count):
                length = be16(store.octets, at)
                if row.sequence + k >= words[SEQUENCE]:
                    apply_message(live, store.octets, at + LENGTH_BYTES, length)
                at += LENGTH_BYTES + length
            words[SEQUENCE] = max(words[SEQUENCE], row.sequence + count)
        words[ROW_AT] += 1
    return True


@hot
def spin_octets(live):
    """At most so many octets has the spin."""
    block = LENGTH_BYTES + STOCK_DIRECTORY.length
    told = LOCATES * (4 + HALTS_MAX) * block
    return SYSTEM_EVENT.length + LENGTH_BYTES + told + live.words[COUNT] * (LENGTH_BYTES + ADD_ORDER_MPID.length)


@hot
def _put_told(live, into, at, from_, length):
    """A message that came, as a block, if it did."""
    if live.told[from_] == 0:
        return at
    put_be16(into, at, length)
    copy_octets(into, at + LENGTH_BYTES, live.told, from_, length)
    return at + LENGTH_BYTES + length


@hot
def _put_order(live, into, at, order):
    is_attributed = order.code == ADD_ORDER_MPID.code
    length = ADD_ORDER_MPID.length if is_attributed else ADD_ORDER.length
    locate = np.int64(order.locate)
    put_be16(into, at, length)
    at += LENGTH_BYTES
    into[at] = order.code
    put_be16(into, at + STOCK_LOCATE, locate)
    put_be16(into, at + STOCK_LOCATE + 2, 0)
    put_be48(into, at + TIMESTAMP, order.time_ns)
    put_be64(into, at + ADD_ORDER.order_reference_number, order.reference)
    into[at + ADD_ORDER.buy_sell_indicator] = order.side
    put_be32(into, at + ADD_ORDER.shares, order.shares)
    copy_octets(into, at + ADD_ORDER.stock, live.told, locate * TOLD_OCTETS + SYMBOL_AT, SYMBOL_OCTETS)
    put_be32(into, at + ADD_ORDER.price, order.price_e4)
    if is_attributed:
        put_be32(into, at + ADD_ORDER_MPID.attribution, np.int64(order.attribution))
    return at + length


@hot
def put_spin(live, into):
    """Write the spin as blocks into `into` (uint8, `spin_octets` of it): all but its end. Returns the octets."""
    at = np.int64(0)
    if live.event[0] != 0:
        put_be16(into, at, SYSTEM_EVENT.length)
        copy_octets(into, at + LENGTH_BYTES, live.event, 0, SYSTEM_EVENT.length)
        at += LENGTH_BYTES + SYSTEM_EVENT.length
    for locate in range(LOCATES):
        at = _put_told(live, into, at, locate * TOLD_OCTETS + DIRECTORY_AT, STOCK_DIRECTORY.length)
    for locate in range(LOCATES):
        at = _put_told(live, into, at, locate * TOLD_OCTETS + TRADING_AT, STOCK_TRADING_ACTION.length)
    for locate in range(LOCATES):
        at = _put_told(live, into, at, locate * TOLD_OCTETS + SHORT_AT, REG_SHO_RESTRICTION.length)
    for locate in range(LOCATES):
        for k in range(HALTS_MAX):
            halt_at = locate * TOLD_OCTETS + HALTS_AT + k * OPERATIONAL_HALT.length
            at = _put_told(live, into, at, halt_at, OPERATIONAL_HALT.length)
    index = live.words[FIRST]
    while index != 0:
        order = slot_at(live.orders, index)
        at = _put_order(live, into, at, order)
        index = np.int64(order.next)
    return at
