"""The member's orders: every one of the day, the names it goes by, and the queues of those that rest.

    ClOrdID ──hash──▶ id_heads ──▶ NAME ──▶ ORDER          rows are never used again: a late cancel is told what became
                                      ▲        │           of the order, and a ClOrdID is known to have been used
                                      └─ present name
    instrument, side ──▶ first ──▶ ORDER ◀─previous/next─▶ ORDER     those that rest, in price-time order

Row 0 is nobody. OrderID is the row. A ClOrdID is a text of at most ID_OCTETS_MAX octets; only those of orders and
replacements that were accepted are kept.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import copy_octets, slot_at
from ..hot.jit import apart, inner, small
from ..hot.layout import record
from .displayed import BUY, Take

ID_OCTETS_MAX = 48

ORDER = record(
    "MEMBER_ORDER",
    [
        ("price_e4", "i8"),  # 0: a market order
        ("shares", "i8"),  # in all
        ("filled", "i8"),
        ("leaves", "i8"),
        ("value_e4", "i8"),  # paid or received: shares * price
        ("number", "i8"),  # of its place in time, as DISPLAYED.number
        ("name", "i4"),  # row of its present ClOrdID
        ("instrument", "i4"),
        ("previous", "i4"),
        ("next", "i4"),
        ("resting", "u1"),
        ("side", "u1"),  # characters of FIX: 54
        ("ord_type", "u1"),  # 40
        ("tif", "u1"),  # 59
        ("status", "u1"),  # 39
        ("replaced", "u1"),
    ],
    72,
)
NAME = record("NAME", [("order", "i4"), ("chain", "i4"), ("octets", "i4")], 16)

# Indices into `words`.
ORDERS_TOP, NAMES_TOP = range(2)
WORDS = 8

_NEW, _PARTLY, _FILLED, _REPLACED = ord("0"), ord("1"), ord("2"), ord("5")
_BUY = ord("1")


class Member(NamedTuple):
    """orders (orders_max + 1,) ORDER; names (ids_max + 1,) NAME; texts ((ids_max + 1) * 48,) uint8; heads (power of
    two,) int32; first (sides,) int32: best resting order; words (8,) int64."""

    orders: np.ndarray
    names: np.ndarray
    texts: np.ndarray
    heads: np.ndarray
    first: np.ndarray
    words: np.ndarray


def build_member(take: Take, instruments: int, orders_max: int, ids_max: int) -> Member:
    """No order yet."""
    return Member(
        orders=take("venue_orders", orders_max + 1, ORDER),
        names=take("venue_names", ids_max + 1, NAME),
        texts=take("venue_texts", (ids_max + 1) * ID_OCTETS_MAX, np.dtype(np.uint8)),
        heads=take("venue_name_heads", 1 << max(4, (ids_max - 1).bit_length()), np.dtype(np.int32)),
        first=take("venue_first", 2 * instruments, np.dtype(np.int32)),
        words=take("venue_member_words", WORDS, np.dtype(np.int64)),
    )


@inner
def _bucket(member, octets, at, count):
    mixed = count
    for k in range(at, at + count):
        mixed = (mixed * 31 + np.int64(octets[k])) & 0x7FFFFFFF
    return (mixed ^ mixed >> 15) & (member.heads.shape[0] - 1)


@apart
def find_name(member, octets, at, count):
    """Row of the name octets[at : at + count] (count <= ID_OCTETS_MAX), or 0."""
    row = np.int64(member.heads[_bucket(member, octets, at, count)])
    while row != 0:
        name = slot_at(member.names, row)
        if name.octets == count:
            start, same = row * ID_OCTETS_MAX, np.int64(0)
            while same < count and member.texts[start + same] == octets[at + same]:
                same += 1
            if same == count:
                break
        row = np.int64(name.chain)
    return row


@small
def names_left(member):
    return member.names.shape[0] - 1 - member.words[NAMES_TOP]


@small
def orders_left(member):
    return member.orders.shape[0] - 1 - member.words[ORDERS_TOP]


@apart
def name_order(member, octets, at, count, order_row):
    """Give an order a new name, its present one. The caller has seen `names_left`, and that there is none such yet."""
    row = member.words[NAMES_TOP] + 1
    member.words[NAMES_TOP] = row
    copy_octets(member.texts, row * ID_OCTETS_MAX, octets, at, count)
    bucket = _bucket(member, octets, at, count)
    name = slot_at(member.names, row)
    name.order, name.octets, name.chain = order_row, count, member.heads[bucket]
    member.heads[bucket] = row
    slot_at(member.orders, order_row).name = row


@small
def side_index(order):
    """2 * instrument + BUY or SELL: where the order rests."""
    return 2 * np.int64(order.instrument) + (BUY if order.side == _BUY else BUY + 1)


@small
def is_better(side, price_e4, other_e4):
    """Does a price come before another on this side?"""
    return price_e4 > other_e4 if side & 1 == BUY else price_e4 < other_e4


@apart
def rest_order(member, row):
    """Put an order into the queue of its side, behind all of the same price."""
    order = slot_at(member.orders, row)
    side = side_index(order)
    ahead, behind = np.int64(0), np.int64(member.first[side])
    while behind != 0 and not is_better(side, order.price_e4, slot_at(member.orders, behind).price_e4):
        ahead, behind = behind, np.int64(slot_at(member.orders, behind).next)
    order.previous, order.next, order.resting = ahead, behind, 1
    if ahead != 0:
        slot_at(member.orders, ahead).next = row
    else:
        member.first[side] = row
    if behind != 0:
        slot_at(member.orders, behind).previous = row


@apart
def unrest_order(member, row):
    """Take an order out of its queue, if it is in one."""
    order = slot_at(member.orders, row)
    if order.resting == 0:
        return
    ahead, behind = np.int64(order.previous), np.int64(order.next)
    if ahead != 0:
        slot_at(member.orders, ahead).next = behind
    else:
        member.first[side_index(order)] = behind
    if behind != 0:
        slot_at(member.orders, behind).previous = ahead
    order.resting = 0


@apart
def fill_order(member, row, shares, price_e4):
    """Book an execution; an order with nothing left is final."""
    order = slot_at(member.orders, row)
    order.filled += shares
    order.leaves -= shares
    order.value_e4 += shares * price_e4
    if order.leaves == 0:
        order.status = _FILLED
        unrest_order(member, row)
    else:
        order.status = _PARTLY


@small
def is_final(order):
    """Filled, canceled or expired."""
    return order.status not in (_NEW, _PARTLY, _REPLACED)
