"""Orders as FIX 4.2 and 4.4 messages: a template's pieces with values between them.

    pieces   8=FIX.4.2|9=    |35=D|34=    |49=VENYM|52=          |56=INET|1=A|11=V    |18=6|21=1|38=    |40=2|44=
    values               171          42               20260105-…                 1042              100

A template holds the pieces of every kind of one message type: what stays the same for a session, for the order type,
for a post-only or a short order. Fields go out as 8 9 35 34 49 52 56, the session's further header fields, and then by
tag number. Values are as short as they can be, and all lengths are known before the first octet is written, so a
message is written from left to right, whole, or not at all.

`encode_new_order`, `encode_cancel` and `encode_replace` return the offset behind the message, or a negative code and
leave `out` as it was. Nothing outside the message is written.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import bit_length, le64, put_be64, put_le64
from ..hot.jit import step
from .fix_values import SECONDS_OCTETS, digits_of, make_clock, put_price, put_time, put_whole, sum_of_word

NEW_ORDER, CANCEL, REPLACE = ord("D"), ord("F"), ord("G")
BUY, SELL, SELL_SHORT = 1, 2, 5  # 54
MARKET, LIMIT = 1, 2  # 40
DAY, IOC = 0, 3  # 59

# Codes instead of an offset.
NO_ROOM, WRONG_TEMPLATE, BAD_SEQUENCE, BAD_TIME, BAD_CL_ORD_ID, BAD_SYMBOL, BAD_SIDE = -1, -2, -3, -4, -5, -6, -7
BAD_SHARES, BAD_PRICE, BAD_ORD_TYPE, BAD_TIF = -8, -9, -10, -11

SEQUENCE_MAX = 2**53
CL_ORD_ID_MAX = 10**18 - 1
SHARES_MAX = PRICE_E4_MAX = 2**31 - 1
VERSIONS = ("FIX.4.2", "FIX.4.4")
STATIC_OCTETS_MAX = 1_000
PREFIX_OCTETS_MAX = 20

# A template's kinds: order type and post-only, short orders behind the others.
_MARKET_KIND, _LIMIT_KIND, _POST_ONLY_KIND, _KINDS = 0, 1, 2, 3

# Slots in the order they are written; the piece before a slot bears its number, the last one ends the message.
_SLOTS = ("length", "sequence", "sent", "11", "38", "41", "44", "54", "55", "59", "60")
_LENGTH, _SEQUENCE, _SENT, _ID, _SHARES, _ORIG, _PRICE, _SIDE, _SYMBOL, _TIF, _TRANSACT, _LAST = range(12)
_TRAILER = b"10=000\x01"
_DYNAMIC = {
    NEW_ORDER: (11, 38, 44, 54, 55, 59, 60),
    CANCEL: (11, 38, 41, 54, 55, 60),
    REPLACE: (11, 38, 41, 44, 54, 55, 59, 60),
}
_HEADER_TAGS = (50, 57, 90, 91, 115, 116, 128, 129, 142, 143, 144, 145)
_TAKEN = {8, 9, 10, 34, 35, 40, 43, 49, 52, 56, 97, 122, *(tag for tags in _DYNAMIC.values() for tag in tags)}

# Eight octets at once. Of characters from ! to ~ the subtraction leaves no high bit, and DEL is looked for by itself.
_SPACES, _LETTERS_FOR_SPACES, _PRINTABLE = 0x2020202020202020, 0x2121212121212121, 0x2121212121212121
_DELETES, _ONES, _HIGHS = 0x7F7F7F7F7F7F7F7F, 0x0101010101010101, -0x7F7F7F7F7F7F7F80


class TemplateError(ValueError):
    """A template cannot be made of what was given."""


class Template(NamedTuple):
    """The pieces of one message type for one session. `clock` is written to: one thread a template."""

    msg_type: int
    decimals: int  # of the second, in 52 and 60
    octets: np.ndarray  # uint8, all pieces end to end
    pieces: np.ndarray  # (2 * kinds, slots + 1, 2) int64: start and length
    body_octets: np.ndarray  # (2 * kinds,) int64: BodyLength without the values
    sums: np.ndarray  # (2 * kinds,) int64: the sum of the pieces' octets, the trailer's not
    clock: np.ndarray  # see put_time


def make_template(
    version: str,
    msg_type: int,
    sender: str,
    target: str,
    static: Mapping[int, str] | None = None,
    market: Mapping[int, str] | None = None,
    limit: Mapping[int, str] | None = None,
    post_only: Mapping[int, str] | None = None,
    short: Mapping[int, str] | None = None,
    cl_ord_id_prefix: str = "",
    decimals: int = 3,
) -> Template:
    """The template of `msg_type`, NEW_ORDER, CANCEL or REPLACE, for a session.

    Fields by tag: `static` for every message, and beside them `market` or `limit` by order type, `post_only` with
    `limit`, `short` for SELL_SHORT; the later one wins. 21=1 is there in 4.2 unless `static` says otherwise. A ClOrdID
    is `cl_ord_id_prefix` and the number. `decimals`: 0, 3, 6 or 9, of the second.

    Raises TemplateError for a version, type or tag that is not ours to write, and for a value that is empty or has a
    control character in it.
    """
    if version not in VERSIONS:
        raise TemplateError(f"FIX version {version!r} is none of {', '.join(VERSIONS)}")
    if msg_type not in _DYNAMIC:
        raise TemplateError(f"message type {msg_type!r} is none of NEW_ORDER, CANCEL, REPLACE")
    if decimals not in (0, 3, 6, 9):
        raise TemplateError(f"{decimals} decimals of the second: 0, 3, 6 or 9 can be written")
    if len(cl_ord_id_prefix) > PREFIX_OCTETS_MAX:
        raise TemplateError(f"the prefix of ClOrdID is longer than {PREFIX_OCTETS_MAX} characters")
    common = {**({21: "1"} if version == "FIX.4.2" and msg_type != CANCEL else {}), **(static or {})}
    by_kind = (market or {}, limit or {}, {**(limit or {}), **(post_only or {})})
    octets, body_octets, sums = b"", [], []
    pieces: list[list[tuple[int, int]]] = []
    for shorts in ({}, short or {}):
        for kind in range(_KINDS):
            fields = {**common, **({} if msg_type == CANCEL else by_kind[kind]), **shorts}
            made = _pieces(version, msg_type, kind, sender, target, fields, cl_ord_id_prefix)
            body_octets.append(sum(map(len, made[1:])) - 1 - len(_TRAILER))  # the SOH behind the length is not counted
            sums.append(sum(b"".join(made)) - sum(_TRAILER))
            pieces.append([])
            for piece in made:
                pieces[-1].append((len(octets), len(piece)))
                octets += piece
    if max(body_octets) > STATIC_OCTETS_MAX:
        raise TemplateError(f"{max(body_octets)} octets of fixed fields are more than {STATIC_OCTETS_MAX}")
    bank = np.frombuffer(octets + bytes(16), np.uint8).copy()  # pieces are read by the word
    rows, lengths, totals = (np.array(numbers, np.int64) for numbers in (pieces, body_octets, sums))
    return Template(msg_type, decimals, bank, rows, lengths, totals, make_clock())


def _field(tag: int, value: str) -> bytes:
    octets = value.encode("ascii", "replace")
    if not value or not value.isascii() or min(octets) < ord(" ") or max(octets) > ord("~"):
        raise TemplateError(f"tag {tag}: {value!r} is empty or has a character that FIX text may not have")
    return b"%d=%s\x01" % (tag, octets)


def _pieces(
    version: str, msg_type: int, kind: int, sender: str, target: str, static: Mapping[int, str], prefix: str
) -> list[bytes]:
    """What stands before each slot, and behind the last one; a slot that a message lacks has nothing before it."""
    for tag in static:
        if tag in _TAKEN or tag <= 0:
            raise TemplateError(f"tag {tag} is not one that a template may fix")
    if prefix:
        _field(11, prefix)
    header = [_field(tag, static[tag]) for tag in sorted(static) if tag in _HEADER_TAGS]
    body = {tag: _field(tag, value) for tag, value in static.items() if tag not in _HEADER_TAGS}
    if msg_type != CANCEL:
        body[40] = _field(40, str(MARKET if kind == _MARKET_KIND else LIMIT))
    dynamic = [tag for tag in _DYNAMIC[msg_type] if tag != 44 or kind != _MARKET_KIND]
    made = {
        "length": _field(8, version) + b"9=",
        "sequence": b"\x01" + _field(35, chr(msg_type)) + b"34=",
        "sent": b"\x01" + _field(49, sender) + b"52=",
    }
    before = b"\x01" + _field(56, target) + b"".join(header)
    for tag in sorted({*body, *dynamic}):
        if tag in body:
            before += body[tag]
        else:
            made[str(tag)] = before + b"%d=" % tag + (prefix.encode() if tag in (11, 41) else b"")
            before = b"\x01"
    return [made.get(slot, b"") for slot in _SLOTS] + [before + _TRAILER]


@step
def _put_piece(template, kind, slot, out, at):
    """Copy a piece by the word, up to 15 octets too far: no more than the rest of the message, which ends with a time
    and the trailer."""
    source, length = template.pieces[kind, slot, 0], template.pieces[kind, slot, 1]
    put_le64(out, at, le64(template.octets, source))
    put_le64(out, at + 8, le64(template.octets, source + 8))
    done = 16
    while done < length:
        put_le64(out, at + done, le64(template.octets, source + done))
        done += 8
    return at + length


@step
def _put_last(template, kind, out, at, total):
    """Copy the last piece, of eight octets or more, and not one octet too far; the check sum is `total`."""
    source, length = template.pieces[kind, _LAST, 0], template.pieces[kind, _LAST, 1]
    done = 0
    while done + 8 < length:
        put_le64(out, at + done, le64(template.octets, source + done))
        done += 8
    at += length
    tens = total // 10
    digits = total // 100 | (tens - total // 100 * 10) << 8 | (total - tens * 10) << 16
    put_le64(out, at - 8, le64(template.octets, source + length - 8) + (digits << 32))
    return at


@step
def _symbol_octets(symbol):
    """How many of the eight octets of a symbol come before its padding; 0 if it is empty or has one that is not
    printable, or a space."""
    letters = symbol ^ _SPACES
    if letters == 0:
        return 0
    padding = (bit_length(letters & -letters) - 1) >> 3
    word = symbol + ((1 << 8 * padding) - 1 & _LETTERS_FOR_SPACES)
    deletes = word ^ _DELETES
    if word & _HIGHS != 0 or (word - _PRINTABLE) & _HIGHS != 0 or (deletes - _ONES) & ~deletes & _HIGHS != 0:
        return 0
    return 8 - padding


@step
def _refused(template, msg_type, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, side, shares, transact_time_ns):
    """The code for values no message of ours may have, or 0."""
    if template.msg_type != msg_type:
        return WRONG_TEMPLATE
    if sequence < 1 or sequence > SEQUENCE_MAX:
        return BAD_SEQUENCE
    if sending_time_ns < 0 or transact_time_ns < 0:
        return BAD_TIME
    if cl_ord_id < 1 or cl_ord_id > CL_ORD_ID_MAX or orig_cl_ord_id < 0 or orig_cl_ord_id > CL_ORD_ID_MAX:
        return BAD_CL_ORD_ID
    if side not in (BUY, SELL, SELL_SHORT):
        return BAD_SIDE
    if shares < 1 or shares > SHARES_MAX:
        return BAD_SHARES
    return 0


@step
def _write(
    template, kind, out, at, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, symbol, side, shares, price_e4, tif,
    transact_time_ns,
):  # fmt: skip
    """Write a message of values that were looked at; an `orig_cl_ord_id`, `price_e4` of 0 or a `tif` below 0: none."""
    symbol_octets = _symbol_octets(symbol)
    if symbol_octets == 0:
        return BAD_SYMBOL
    sequence_digits, id_digits, shares_digits = digits_of(sequence), digits_of(cl_ord_id), digits_of(shares)
    orig_digits = digits_of(orig_cl_ord_id) if orig_cl_ord_id > 0 else 0
    units_digits = digits_of(price_e4 // 10_000) if price_e4 > 0 else 0
    decimals = template.decimals
    time_octets = SECONDS_OCTETS + (decimals + 1 if decimals > 0 else 0)
    body = template.body_octets[kind] + sequence_digits + id_digits + shares_digits + orig_digits + symbol_octets + 1
    body += 2 * time_octets + (units_digits + 5 if price_e4 > 0 else 0) + (1 if tif >= 0 else 0)
    length_digits = digits_of(body)
    behind = at + template.pieces[kind, _LENGTH, 1] + length_digits + 1 + body + 7  # SOH; 10=ddd, SOH
    if at < 0 or behind > out.shape[0]:
        return NO_ROOM
    at, total = put_whole(out, _put_piece(template, kind, _LENGTH, out, at), body, length_digits)
    total += template.sums[kind] + 0x30 + side + sum_of_word(symbol) - 0x20 * (8 - symbol_octets)
    at, added = put_whole(out, _put_piece(template, kind, _SEQUENCE, out, at), sequence, sequence_digits)
    total += added
    at, added = put_time(out, _put_piece(template, kind, _SENT, out, at), sending_time_ns, decimals, template.clock)
    total += added
    at, added = put_whole(out, _put_piece(template, kind, _ID, out, at), cl_ord_id, id_digits)
    total += added
    at, added = put_whole(out, _put_piece(template, kind, _SHARES, out, at), shares, shares_digits)
    total += added
    if orig_cl_ord_id > 0:
        at, added = put_whole(out, _put_piece(template, kind, _ORIG, out, at), orig_cl_ord_id, orig_digits)
        total += added
    if price_e4 > 0:
        at, added = put_price(out, _put_piece(template, kind, _PRICE, out, at), price_e4, units_digits)
        total += added
    at = _put_piece(template, kind, _SIDE, out, at)
    out[at] = 0x30 + side
    at = _put_piece(template, kind, _SYMBOL, out, at + 1)
    put_be64(out, at, symbol)
    at += symbol_octets
    if tif >= 0:
        at = _put_piece(template, kind, _TIF, out, at)
        out[at] = 0x30 + tif
        total += 0x30 + tif
        at += 1
    at = _put_piece(template, kind, _TRANSACT, out, at)
    at, added = put_time(out, at, transact_time_ns, decimals, template.clock)
    return _put_last(template, kind, out, at, total + added & 0xFF)


@step
def _kind_of(ord_type, post_only, side):
    """The kind of an order, or BAD_ORD_TYPE; only a limit order can be post-only."""
    if ord_type == LIMIT:
        kind = _POST_ONLY_KIND if post_only != 0 else _LIMIT_KIND
    elif ord_type == MARKET and post_only == 0:
        kind = _MARKET_KIND
    else:
        return BAD_ORD_TYPE
    return kind + _KINDS if side == SELL_SHORT else kind


@step
def _order(
    template, msg_type, out, at, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, symbol, side, shares, price_e4,
    ord_type, tif, post_only, transact_time_ns,
):  # fmt: skip
    refused = _refused(
        template, msg_type, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, side, shares, transact_time_ns
    )
    if refused < 0:
        return refused
    kind = _kind_of(ord_type, post_only, side)
    if kind < 0:
        return kind
    if tif not in (DAY, IOC):
        return BAD_TIF
    if ord_type == MARKET:
        price_e4 = 0
    elif price_e4 < 1 or price_e4 > PRICE_E4_MAX:
        return BAD_PRICE
    return _write(
        template, kind, out, at, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, symbol, side, shares, price_e4,
        tif, transact_time_ns,
    )  # fmt: skip


@step
def encode_new_order(
    template, out, at, sequence, sending_time_ns, cl_ord_id, symbol, side, shares, price_e4, ord_type, tif, post_only,
    transact_time_ns,
):  # fmt: skip
    """Write a NewOrderSingle into out[at:] (uint8); return the offset behind it, or a negative code.

    sequence: 1 to SEQUENCE_MAX. Times: ns since 1970 (UTC). cl_ord_id: 1 to CL_ORD_ID_MAX. symbol: int64, eight ASCII
    octets, big-endian, padded with spaces. side: BUY, SELL, SELL_SHORT. shares: 1 to SHARES_MAX. price_e4: 1 to
    PRICE_E4_MAX; a MARKET order's is not looked at. tif: DAY, IOC. post_only: 0 or 1, of LIMIT orders.
    """
    return _order(
        template, NEW_ORDER, out, at, sequence, sending_time_ns, cl_ord_id, 0, symbol, side, shares, price_e4, ord_type,
        tif, post_only, transact_time_ns,
    )  # fmt: skip


@step
def encode_replace(
    template, out, at, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, symbol, side, shares, price_e4, ord_type,
    tif, post_only, transact_time_ns,
):  # fmt: skip
    """Write an OrderCancelReplaceRequest; as `encode_new_order`, with the ClOrdID of the order to be replaced.

    shares: the order's new total quantity, what was executed included.
    """
    if orig_cl_ord_id < 1:
        return BAD_CL_ORD_ID
    return _order(
        template, REPLACE, out, at, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, symbol, side, shares,
        price_e4, ord_type, tif, post_only, transact_time_ns,
    )  # fmt: skip


@step
def encode_cancel(
    template, out, at, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, symbol, side, shares, transact_time_ns
):
    """Write an OrderCancelRequest; as `encode_replace`. shares: the order's quantity as last sent."""
    if orig_cl_ord_id < 1:
        return BAD_CL_ORD_ID
    refused = _refused(
        template, CANCEL, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, side, shares, transact_time_ns
    )
    if refused < 0:
        return refused
    kind = _KINDS if side == SELL_SHORT else 0
    return _write(
        template, kind, out, at, sequence, sending_time_ns, cl_ord_id, orig_cl_ord_id, symbol, side, shares, 0, -1,
        transact_time_ns,
    )  # fmt: skip
