"""What the venue answers, as FIX messages: execution reports, cancel rejects, and the session's own rejects.

    draft      | fields, echoed | tag form value | tag form value | ...       in the order they are to be written
    echo       | texts of the member's that the draft names ...
    scratch    | ............. 64 | 35=8|34=7|49=VENUE|52=...|56=VENYM| 6=|11=|14=| ...
    WIRE_MESSAGE.octets      | 8=FIX.4.2|9=length| body                               | 10=sum|

A report is drafted field by field, then written by one loop, and copied whole into the next free slot of the link,
whose room the caller has seen. The longest one has some 500 octets: texts of the member are cut off at ECHO_OCTETS_MAX.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import copy_octets, slot_at
from ..hot.jit import apart, small
from ..hot.link import Link, claim, commit
from ..records import INBOUND
from ..wire.fix_values import digits_of, make_clock, put_price, put_time, put_whole, sum_of
from .displayed import Take
from .member import ID_OCTETS_MAX
from .reasons import CXL_REJ, ORD_REJ, TEXT_AT, TEXT_OCTETS, TEXTS
from .requests import TAG_TWICE, UNSUPPORTED, VALUE_WRONG

BODY_AT = 64
SCRATCH_OCTETS = 2048
ECHO_OCTETS_MAX = 48  # of a text of the member's
COMP_ID_OCTETS_MAX = 32
MADE, TAKEN = ord("A"), ord("R")  # 9882: liquidity that was added, or removed

NEW, PARTLY, FILLED, CANCELED, REPLACED, REJECTED, EXPIRED, TRADE = (ord(letter) for letter in "012458CF")

# Indices into `words`: of the next message and report; `constants`.
SEQUENCE, EXEC_ID = 0, 1
REPORT_WORDS = 8
LATENCY_NS, MIDNIGHT_NS, DECIMALS, IS_44 = range(4)

# Forms of a drafted field's value: a number; a price; a character; where in `echo` a text ends, which begins where the
# one before ended; eight octets padded with spaces; a reason's number; nanoseconds since 1970.
_WHOLE, _PRICE, _LETTER, _TEXT, _SYMBOL, _REASON, _TIME = range(7)
_FIELDS_MAX, _FIRST = 40, 2
_SOH, _EQUALS, _SPACE, _ZERO = 1, ord("="), ord(" "), ord("0")
_EXECUTION_REPORT, _CANCEL_REJECT, _REJECT, _BUSINESS_REJECT, _LOGOUT = (ord(letter) for letter in "893j5")
_CANCEL_REQUEST, _TO_CANCEL, _TO_REPLACE, _UNSUPPORTED_TYPE = ord("F"), ord("1"), ord("2"), ord("3")  # 35; 434; 380
_NONE = int.from_bytes(b"NONE    ", "big")


class Reports(NamedTuple):
    """link: of WIRE_MESSAGE; scratch (2048,) uint8; head (n,) uint8: 8=...|9= and 49=...|52= of the venue, |56=...|,
    behind one another, ends (3,) int64: where each ends; clock: see `put_time`; draft (122,) int64; echo (512,) uint8;
    words (8,) int64; constants (4,) int64."""

    link: Link
    scratch: np.ndarray
    head: np.ndarray
    ends: np.ndarray
    clock: np.ndarray
    draft: np.ndarray
    echo: np.ndarray
    words: np.ndarray
    constants: np.ndarray


def build_reports(
    take: Take, link: Link, version: str, sender: str, target: str, latency_ns: int, midnight_ns: int, decimals: int
) -> Reports:
    """No message sent yet. sender, target: the venue's own and the member's CompID."""
    parts = [f"8={version}\x019=", f"49={sender}\x0152=", f"\x0156={target}\x01"]
    made = Reports(
        link=link,
        scratch=take("venue_scratch", SCRATCH_OCTETS, np.dtype(np.uint8)),
        head=np.frombuffer("".join(parts).encode(), np.uint8).copy(),
        ends=np.cumsum([len(part) for part in parts], dtype=np.int64),
        clock=make_clock(),
        draft=take("venue_draft", _FIRST + 3 * _FIELDS_MAX, np.dtype(np.int64)),
        echo=take("venue_echo", 512, np.dtype(np.uint8)),
        words=take("venue_report_words", REPORT_WORDS, np.dtype(np.int64)),
        constants=np.array([latency_ns, midnight_ns, decimals, version == "FIX.4.4"], np.int64),
    )
    made.words[[SEQUENCE, EXEC_ID]] = 1
    return made


@small
def start(draft):
    """A draft without fields."""
    draft[0], draft[1] = 0, 0


@small
def put(draft, tag, form, value):
    """Add a field to a draft."""
    at = _FIRST + 3 * draft[0]
    draft[at], draft[at + 1], draft[at + 2] = tag, form, value
    draft[0] += 1


@apart
def put_text(draft, echo, tag, octets, at, count):
    """Add a field of the text octets[at : at + count], no more of it than ECHO_OCTETS_MAX."""
    count = min(count, ECHO_OCTETS_MAX)
    copy_octets(echo, draft[1], octets, at, count)
    draft[1] += count
    put(draft, tag, _TEXT, draft[1])


@apart
def _write_value(reports, at, form, value, echoed):
    """Write a value to the scratch; returns the offset behind it."""
    out, echo = reports.scratch, reports.echo
    if form == _WHOLE:
        at, _ = put_whole(out, at, value, digits_of(value))
    elif form == _PRICE:
        at, _ = put_price(out, at, value, digits_of(value // 10_000))
    elif form == _LETTER:
        out[at] = value
        at += 1
    elif form == _TEXT:
        copy_octets(out, at, echo, echoed, value - echoed)
        at += value - echoed
    elif form == _SYMBOL:
        shift = 56
        while shift >= 0 and value >> shift & 0xFF != _SPACE:
            out[at] = value >> shift & 0xFF
            at += 1
            shift -= 8
    elif form == _REASON:
        copy_octets(out, at, TEXTS, TEXT_AT[value], TEXT_OCTETS[value])
        at += TEXT_OCTETS[value]
    else:
        at, _ = put_time(out, at, value, reports.constants[DECIMALS], reports.clock)
    return at


@small
def _write_body(reports, kind, event_ns):
    """Write header and drafted fields to the scratch; returns the offset behind them."""
    out, head, draft = reports.scratch, reports.head, reports.draft
    for k in range(3):
        out[BODY_AT + k] = 0x3D3533 >> 8 * k & 0xFF  # 35=
    out[BODY_AT + 3], out[BODY_AT + 4] = kind, _SOH
    at = BODY_AT + 5
    out[at], out[at + 1], out[at + 2] = _ZERO + 3, _ZERO + 4, _EQUALS
    at = _write_value(reports, at + 3, _WHOLE, reports.words[SEQUENCE], 0)
    out[at] = _SOH
    at += 1
    for k in range(1, 3):
        first, count = reports.ends[k - 1], reports.ends[k] - reports.ends[k - 1]
        copy_octets(out, at, head, first, count)
        at += count
        if k == 1:
            at = _write_value(reports, at, _TIME, reports.constants[MIDNIGHT_NS] + event_ns, 0)
    echoed = np.int64(0)
    for k in range(draft[0]):
        field = _FIRST + 3 * k
        at = _write_value(reports, at, _WHOLE, draft[field], 0)
        out[at] = _EQUALS
        at = _write_value(reports, at + 1, draft[field + 1], draft[field + 2], echoed)
        out[at] = _SOH
        at += 1
        if draft[field + 1] == _TEXT:
            echoed = draft[field + 2]
    return at


@apart
def send(reports, kind, event_ns):
    """Write the drafted message of type `kind`, and put it onto the link."""
    length = _write_body(reports, kind, event_ns) - BODY_AT
    slot, begin = claim(reports.link, 0), reports.ends[0]
    octets = slot.octets
    copy_octets(octets, 0, reports.head, 0, begin)
    end, _ = put_whole(octets, begin, length, digits_of(length))
    octets[end] = _SOH
    copy_octets(octets, end + 1, reports.scratch, BODY_AT, length)
    end += 1 + length
    total = sum_of(octets, 0, end)
    octets[end], octets[end + 1], octets[end + 2] = _ZERO + 1, _ZERO, _EQUALS
    for k in range(3):
        octets[end + 5 - k] = _ZERO + total % 10
        total //= 10
    octets[end + 6] = _SOH
    slot.length, slot.direction, slot.cause = end + 7, INBOUND, 0
    slot.clock_ns = event_ns + reports.constants[LATENCY_NS]
    reports.words[SEQUENCE] += 1
    commit(reports.link, 1)


@small
def put_exec_id(reports):
    put(reports.draft, 17, _WHOLE, reports.words[EXEC_ID])
    reports.words[EXEC_ID] += 1
    if reports.constants[IS_44] == 0:
        put(reports.draft, 20, _LETTER, _ZERO)


@small
def put_transact_time(reports, event_ns):
    put(reports.draft, 60, _TIME, reports.constants[MIDNIGHT_NS] + event_ns)


@small
def average_e4(order):
    """AvgPx, rounded to the nearest, half up."""
    return (order.value_e4 + order.filled // 2) // order.filled if order.filled > 0 else np.int64(0)


@small
def status_told(reports, order):
    """39 of an order: 4.4 knows no replaced ones."""
    return NEW if reports.constants[IS_44] != 0 and order.status == REPLACED else np.int64(order.status)


@apart
def report_order(reports, member, row, symbol, event_ns, kind, ids, id_at, id_octets, orig, last_shares, last_e4, who):
    """An execution report of an order as it is now.

    symbol: eight octets. kind: NEW, TRADE, CANCELED, REPLACED or EXPIRED. ids[id_at : id_at + id_octets]: 11. orig: row
    of the name for 41, or 0. last_shares, last_e4, who (MADE or TAKEN): of a TRADE.
    """
    order, draft, exec_type = slot_at(member.orders, row), reports.draft, kind
    start(draft)
    put(draft, 6, _PRICE, average_e4(order))
    put_text(draft, reports.echo, 11, ids, id_at, id_octets)
    put(draft, 14, _WHOLE, order.filled)
    put_exec_id(reports)
    if kind == TRADE:
        put(draft, 31, _PRICE, last_e4)
        put(draft, 32, _WHOLE, last_shares)
        if reports.constants[IS_44] == 0:
            exec_type = np.int64(FILLED if order.leaves == 0 else PARTLY)
    put(draft, 37, _WHOLE, row)
    put(draft, 38, _WHOLE, order.shares)
    put(draft, 39, _LETTER, status_told(reports, order))
    put(draft, 40, _LETTER, np.int64(order.ord_type))
    if orig != 0:
        octets = np.int64(slot_at(member.names, orig).octets)
        put_text(draft, reports.echo, 41, member.texts, orig * ID_OCTETS_MAX, octets)
    if order.price_e4 > 0:
        put(draft, 44, _PRICE, order.price_e4)
    put(draft, 54, _LETTER, np.int64(order.side))
    put(draft, 55, _SYMBOL, symbol)
    put(draft, 59, _LETTER, np.int64(order.tif))
    put_transact_time(reports, event_ns)
    put(draft, 150, _LETTER, exec_type)
    put(draft, 151, _WHOLE, order.leaves)
    if kind == TRADE:
        put(draft, 9882, _LETTER, who)
    send(reports, np.int64(_EXECUTION_REPORT), event_ns)


@apart
def report_rejected(reports, request, buffer, event_ns, reason):
    """An execution report of an order that was not accepted."""
    draft = reports.draft
    start(draft)
    put(draft, 6, _PRICE, 0)
    put_text(draft, reports.echo, 11, buffer, request.id_at, request.id_octets)
    put(draft, 14, _WHOLE, 0)
    put_exec_id(reports)
    put(draft, 37, _SYMBOL, _NONE)
    if request.shares > 0:
        put(draft, 38, _WHOLE, request.shares)
    put(draft, 39, _LETTER, REJECTED)
    if request.price_e4 > 0:
        put(draft, 44, _PRICE, request.price_e4)
    put(draft, 54, _LETTER, request.side)
    put_text(draft, reports.echo, 55, buffer, request.symbol_at, request.symbol_octets)
    put(draft, 58, _REASON, reason)
    put_transact_time(reports, event_ns)
    put(draft, 103, _WHOLE, ORD_REJ[reason, reports.constants[IS_44]])
    put(draft, 150, _LETTER, REJECTED)
    put(draft, 151, _WHOLE, 0)
    send(reports, np.int64(_EXECUTION_REPORT), event_ns)


@apart
def report_cancel_rejected(reports, member, request, buffer, event_ns, row, reason):
    """A cancel reject of a cancel or replacement; row: of the order it named, 0 if there is none."""
    draft = reports.draft
    start(draft)
    put_text(draft, reports.echo, 11, buffer, request.id_at, request.id_octets)
    if row != 0:
        put(draft, 37, _WHOLE, row)
        put(draft, 39, _LETTER, status_told(reports, slot_at(member.orders, row)))
    else:
        put(draft, 37, _SYMBOL, _NONE)
        put(draft, 39, _LETTER, REJECTED)
    put_text(draft, reports.echo, 41, buffer, request.orig_at, request.orig_octets)
    put(draft, 58, _REASON, reason)
    put_transact_time(reports, event_ns)
    put(draft, 102, _WHOLE, CXL_REJ[reason, reports.constants[IS_44]])
    put(draft, 434, _LETTER, _TO_CANCEL if request.kind == _CANCEL_REQUEST else _TO_REPLACE)
    send(reports, np.int64(_CANCEL_REJECT), event_ns)


@apart
def report_session_reject(reports, request, buffer, event_ns, tag, reason):
    """A session-level Reject (35=3) of the message in hand; tag: to blame, 0 for none; reason: 373. One that is
    UNSUPPORTED is a Business Message Reject (35=j)."""
    draft = reports.draft
    start(draft)
    put(draft, 45, _WHOLE, request.sequence)
    if tag > 0:
        put(draft, 371, _WHOLE, tag)
    put_text(draft, reports.echo, 372, buffer, request.kind_at, request.kind_octets)
    if reason == UNSUPPORTED:
        put(draft, 380, _LETTER, _UNSUPPORTED_TYPE)
        send(reports, np.int64(_BUSINESS_REJECT), event_ns)
        return
    twice = reason == TAG_TWICE and reports.constants[IS_44] == 0  # 4.2 has no number for it
    put(draft, 373, _WHOLE, VALUE_WRONG if twice else reason)
    send(reports, np.int64(_REJECT), event_ns)


@apart
def report_logout(reports, event_ns, reason, expected):
    """A Logout (35=5) for a reason; expected, unless it is 0: the number that was to come, behind the text."""
    draft, echo = reports.draft, reports.echo
    start(draft)
    copy_octets(echo, 0, TEXTS, TEXT_AT[reason], TEXT_OCTETS[reason])
    draft[1] = TEXT_OCTETS[reason]
    if expected > 0:
        draft[1], _ = put_whole(echo, draft[1], expected, digits_of(expected))
    put(draft, 58, _TEXT, draft[1])
    send(reports, np.int64(_LOGOUT), event_ns)
