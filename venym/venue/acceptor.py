"""What the venue does with a member's message: accepts an order, cancels it, replaces it, or says why not.

    octets ──frame──▶ parse ──▶ session ──▶ D ──▶ checks ──▶ accepted (39=0), then TAKING      or 39=8
                                            F ──▶ checks ──▶ canceled (39=4)                   or 35=9
                                            G ──▶ checks ──▶ replaced (150=5), then TAKING     or 35=9

Every message gets one answer at once; what follows from it is a task (matching.py). Octets that are no message are
counted and dropped. A message of another version or without a number, or whose number is not the next one, is not
taken: it is answered with a Logout that says which is expected, unless it says itself that it may come twice (43=Y);
expected stays what it was. The session is there from the beginning and stays; its own messages (0 1 2 3 4 5 A) are
taken and not answered. Anything else of the session's is answered with a Reject (35=3), and a message of another type
with a Business Message Reject (35=j).
"""

from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import copy_octets, slot_at
from ..hot.jit import apart, small
from ..hot.link import Link, peek, release
from ..records import WIRE_OCTETS_MAX
from ..wire.fix import BAD_CHECKSUM, COMPLETE, MESSAGE_OCTETS_MAX, MORE, frame
from . import reasons
from .displayed import Take, first_available
from .market_side import EVENT_NS, KIND, ORDER, TAKING, is_trading
from .matching import DAY, IOC, LIMIT, MARKET, limit_key
from .member import (
    ID_OCTETS_MAX,
    ORDERS_TOP,
    find_name,
    is_final,
    name_order,
    names_left,
    orders_left,
    side_index,
    unrest_order,
)
from .reports import (
    CANCELED,
    FILLED,
    NEW,
    PARTLY,
    REPLACED,
    report_cancel_rejected,
    report_logout,
    report_order,
    report_rejected,
    report_session_reject,
)
from .requests import (
    ABSENT,
    BAD,
    RIGHT,
    TAG_MISSING,
    UNSUPPORTED,
    VALUE_WRONG,
    WRONG_PARTY,
    Names,
    make_request,
    parse_request,
)

# Words of an inbox: octets [START, END) of its buffer are to be looked at; NEXT: the number of the next message;
# LOOK: 1, there may be a whole message.
START, END, NEXT, LOOK = range(4)
INBOX_WORDS = 8
INBOX_OCTETS = MESSAGE_OCTETS_MAX + 2 * WIRE_OCTETS_MAX

_NEW_ORDER, _CANCEL, _REPLACE = ord("D"), ord("F"), ord("G")
_ADMIN = tuple(ord(letter) for letter in "012345A")
_BUY, _SELL, _SHORT = ord("1"), ord("2"), ord("5")


class Inbox(NamedTuple):
    """link: of WIRE_MESSAGE; octets (n,) uint8: what came and was not looked at; names: what the session's messages
    are to have; requests (1,) REQUEST: the message in hand; words (8,) int64."""

    link: Link
    octets: np.ndarray
    names: Names
    requests: np.ndarray
    words: np.ndarray


def build_inbox(take: Take, link: Link, names: Names) -> Inbox:
    """An inbox that expects message 1."""
    made = Inbox(
        link=link,
        octets=take("venue_inbox", INBOX_OCTETS, np.dtype(np.uint8)),
        names=names,
        requests=make_request(),
        words=take("venue_inbox_words", INBOX_WORDS, np.dtype(np.int64)),
    )
    made.words[NEXT] = 1
    return made


@small
def receive(inbox):
    """Put the octets of the next WIRE_MESSAGE behind those that are there."""
    message, words = peek(inbox.link, 0), inbox.words
    length = np.int64(message.length)
    if length < 0 or length > WIRE_OCTETS_MAX:
        raise IndexError("a wire message is longer than its record")
    left = words[END] - words[START]
    for k in range(left):  # may overlap
        inbox.octets[k] = inbox.octets[words[START] + k]
    copy_octets(inbox.octets, left, message.octets, 0, length)
    words[START], words[END], words[LOOK] = 0, left + length, 1
    release(inbox.link, 1)


@small
def look(venue):
    """Take one message, or one piece that is none, from the inbox."""
    inbox, counters = venue.inbox, venue.market.counters
    words = inbox.words
    if words[START] == words[END]:
        words[LOOK] = 0
        return
    status, start, end = frame(inbox.octets, words[START], words[END])
    if status == MORE:
        words[LOOK] = 0
        return
    words[START] = end
    if status != COMPLETE:
        wrong_sum = status == BAD_CHECKSUM
        counters[metrics.VENUE_WRONG_CHECKSUMS if wrong_sum else metrics.VENUE_GARBLED] += 1
        return
    counters[metrics.VENUE_REQUESTS] += 1
    parse_request(inbox.octets, start, end, inbox.names, inbox.requests)
    answer(venue)


@small
def answer(venue):
    """The session's part of a message; then what it asks for."""
    inbox, counters, reports = venue.inbox, venue.market.counters, venue.reports
    request, words, event_ns = slot_at(inbox.requests, 0), inbox.words, venue.market.task[EVENT_NS]
    if request.version == 0:
        counters[metrics.VENUE_LOGOUTS] += 1
        report_logout(reports, event_ns, np.int64(reasons.OTHER_VERSION), np.int64(0))
        return
    if request.sequence != words[NEXT]:
        if request.poss_dup != 0 and 0 < request.sequence < words[NEXT]:
            counters[metrics.VENUE_POSS_DUPS] += 1
            return
        counters[metrics.VENUE_LOGOUTS] += 1
        report_logout(reports, event_ns, np.int64(reasons.OTHER_SEQUENCE), words[NEXT])
        return
    words[NEXT] += 1
    if request.kind in _ADMIN:
        counters[metrics.VENUE_ADMIN] += 1
        return
    tag, reason = fault(request)
    if reason != RIGHT:
        counters[metrics.VENUE_UNSUPPORTED if reason == UNSUPPORTED else metrics.VENUE_SESSION_REJECTS] += 1
        report_session_reject(reports, request, inbox.octets, event_ns, tag, reason)
    elif request.kind == _NEW_ORDER:
        new_order(venue, request)
    else:
        change_order(venue, request)


@small
def fault(request):
    """(tag, reason) of what the session rejects a message for; (0, RIGHT): nothing."""
    tag, reason = np.int64(0), np.int64(RIGHT)
    if request.sender == 0 or request.target == 0:
        tag, reason = np.int64(49 if request.sender == 0 else 56), np.int64(WRONG_PARTY)
    elif request.error_reason != RIGHT:
        tag, reason = request.error_tag, request.error_reason
    elif request.kind not in (_NEW_ORDER, _CANCEL, _REPLACE):
        reason = np.int64(UNSUPPORTED)
    elif request.id_octets == 0 or request.id_octets > ID_OCTETS_MAX:
        tag, reason = np.int64(11), np.int64(TAG_MISSING if request.id_octets == 0 else VALUE_WRONG)
    elif request.kind != _NEW_ORDER and (request.orig_octets == 0 or request.orig_octets > ID_OCTETS_MAX):
        tag, reason = np.int64(41), np.int64(TAG_MISSING if request.orig_octets == 0 else VALUE_WRONG)
    elif request.side in (ABSENT, BAD):
        tag, reason = np.int64(54), np.int64(TAG_MISSING if request.side == ABSENT else VALUE_WRONG)
    elif request.symbol_octets == 0:
        tag, reason = np.int64(55), np.int64(TAG_MISSING)
    return tag, reason


@apart
def listed(venue, symbol):
    """Index of the instrument of this symbol, or -1."""
    instruments = venue.market.instruments
    for k in range(instruments.shape[0]):
        if slot_at(instruments, k).fix_symbol == symbol:
            return np.int64(k)
    return np.int64(-1)


@apart
def terms_fault(venue, request, k):
    """What is wrong with an order's terms, or with the time for it: a reason, or NO_REASON."""
    instrument = slot_at(venue.market.instruments, k)
    if request.side not in (_BUY, _SELL, _SHORT):
        return reasons.BAD_SIDE
    if request.shares <= 0:
        return reasons.BAD_SHARES
    if request.shares % instrument.lot_shares != 0:
        return reasons.BAD_LOT
    if request.ord_type not in (MARKET, LIMIT):
        return reasons.BAD_ORD_TYPE
    if request.tif not in (ABSENT, DAY, IOC):
        return reasons.BAD_TIF
    if request.ord_type == LIMIT:
        if request.price_e4 <= 0:
            return reasons.BAD_PRICE
        if request.price_e4 % instrument.tick_e4 != 0:
            return reasons.BAD_TICK
    if request.post_only != 0 and (request.ord_type == MARKET or request.tif == IOC):
        return reasons.BAD_POST_ONLY
    if instrument.channel >= 0 and slot_at(venue.market.feed.channels, np.int64(instrument.channel)).closed != 0:
        return reasons.CLOSED
    if not is_trading(instrument):
        return reasons.NOT_TRADING
    return reasons.NO_REASON


@small
def new_order(venue, request):
    """D: accept the order and begin to match it, or reject it."""
    member, octets, counters = venue.member, venue.inbox.octets, venue.market.counters
    reason, k = np.int64(reasons.NO_REASON), listed(venue, request.symbol)
    if find_name(member, octets, request.id_at, request.id_octets) != 0:
        reason = np.int64(reasons.DUPLICATE_ID)
    elif k < 0:
        reason = np.int64(reasons.UNKNOWN_SYMBOL)
    else:
        reason = np.int64(terms_fault(venue, request, k))
        if reason == reasons.NO_REASON:
            if orders_left(member) <= 0:
                reason = np.int64(reasons.ORDERS_FULL)
            elif names_left(member) <= 0:
                reason = np.int64(reasons.IDS_FULL)
    row = member.words[ORDERS_TOP] + 1
    if reason == reasons.NO_REASON:
        order = slot_at(member.orders, row)
        order.instrument, order.side, order.ord_type = k, request.side, request.ord_type
        order.tif = IOC if request.tif == IOC else DAY
        order.price_e4 = request.price_e4 if request.ord_type == LIMIT else 0
        order.shares = order.leaves = request.shares
        order.status = NEW
        if request.post_only != 0 and would_take(venue, order, order.price_e4):
            reason = np.int64(reasons.WOULD_TAKE)
    if reason != reasons.NO_REASON:
        counters[metrics.VENUE_ORDERS_REJECTED] += 1
        report_rejected(venue.reports, request, octets, venue.market.task[EVENT_NS], reason)
        return
    counters[metrics.VENUE_ORDERS] += 1
    member.words[ORDERS_TOP] = row
    name_order(member, octets, request.id_at, request.id_octets, row)
    report_request(venue, request, row, np.int64(NEW), np.int64(0))
    venue.market.task[KIND], venue.market.task[ORDER] = TAKING, row


@apart
def would_take(venue, order, price_e4):
    """Is anything available on the other side to an order of this price?"""
    other = side_index(order) ^ 1
    held = order.price_e4
    order.price_e4 = price_e4
    key = limit_key(order, other)
    order.price_e4 = held
    return first_available(venue.market.book, other, key) != 0


@apart
def report_request(venue, request, row, kind, orig):
    """Report on an order under the name of the request in hand; orig: row of the name it had."""
    symbol = slot_at(venue.market.instruments, np.int64(slot_at(venue.member.orders, row).instrument)).fix_symbol
    report_order(
        venue.reports, venue.member, row, symbol, venue.market.task[EVENT_NS], kind, venue.inbox.octets,
        request.id_at, request.id_octets, orig, np.int64(0), np.int64(0), np.int64(0),
    )  # fmt: skip


@small
def change_order(venue, request):
    """F, G: cancel or replace an order, or reject that."""
    member, octets, counters = venue.member, venue.inbox.octets, venue.market.counters
    name = find_name(member, octets, request.orig_at, request.orig_octets)
    row = np.int64(slot_at(member.names, name).order) if name != 0 else np.int64(0)
    reason = np.int64(change_fault(venue, request, name, row))
    if reason == reasons.NO_REASON and request.kind == _REPLACE:
        reason = np.int64(replace_fault(venue, request, row))
    if reason != reasons.NO_REASON:
        counters[metrics.VENUE_CHANGES_REJECTED] += 1
        report_cancel_rejected(venue.reports, member, request, octets, venue.market.task[EVENT_NS], row, reason)
        return
    if request.kind == _REPLACE:
        counters[metrics.VENUE_REPLACES] += 1
        replace_order(venue, request, row, name)
        return
    counters[metrics.VENUE_CANCELS] += 1
    unrest_order(member, row)
    order = slot_at(member.orders, row)
    order.leaves, order.status = 0, CANCELED
    report_request(venue, request, row, np.int64(CANCELED), name)


@small
def change_fault(venue, request, name, row):
    """What is wrong with a cancel, and with a replacement too."""
    if name == 0:
        return reasons.UNKNOWN_ORDER
    order = slot_at(venue.member.orders, row)
    if find_name(venue.member, venue.inbox.octets, request.id_at, request.id_octets) != 0:
        return reasons.DUPLICATE_ID
    if is_final(order):
        return reasons.TOO_LATE
    if order.name != name:
        return reasons.NOT_PRESENT_ID
    if slot_at(venue.market.instruments, np.int64(order.instrument)).fix_symbol != request.symbol:
        return reasons.OTHER_SYMBOL
    if (order.side == _BUY) != (request.side == _BUY):
        return reasons.OTHER_SIDE
    return reasons.NO_REASON


@small
def replace_fault(venue, request, row):
    """What else is wrong with a replacement."""
    order = slot_at(venue.member.orders, row)
    if request.ord_type != LIMIT or request.tif == IOC:
        return reasons.OTHER_TERMS
    reason = terms_fault(venue, request, np.int64(order.instrument))
    if reason != reasons.NO_REASON:
        return reason
    if request.shares < order.filled:
        return reasons.BELOW_FILLED
    if names_left(venue.member) <= 0:
        return reasons.IDS_FULL
    if request.post_only != 0 and request.shares > order.filled and would_take(venue, order, request.price_e4):
        return reasons.WOULD_TAKE
    return reasons.NO_REASON


@small
def _status(order):
    """39 of an order that was replaced: what it is filled comes before that."""
    if order.leaves == 0:
        return FILLED
    return PARTLY if order.filled > 0 else REPLACED


@small
def replace_order(venue, request, row, name):
    """G: the same price and no more shares keep the order's place in time; anything else is a new order's."""
    member = venue.member
    order = slot_at(member.orders, row)
    keeps = request.price_e4 == order.price_e4 and request.shares <= order.shares
    order.shares, order.price_e4 = request.shares, request.price_e4
    order.leaves = request.shares - order.filled
    order.status = _status(order)
    name_order(member, venue.inbox.octets, request.id_at, request.id_octets, row)
    if order.leaves == 0 or not keeps:
        unrest_order(member, row)
    report_request(venue, request, row, np.int64(REPLACED), name)
    if order.leaves > 0 and not keeps:
        venue.market.task[KIND], venue.market.task[ORDER] = TAKING, row
