"""What a member sends, read into one fixed record: NewOrderSingle (D), OrderCancelRequest (F),
OrderCancelReplaceRequest (G), and of any other message its header.

Fields that are not known are passed over. The first field that is none (no number, empty, twice) is remembered as
`error_tag` and `error_reason` (SessionRejectReason, 373), and the reading goes on behind the next SOH. A value that is
not of its form is BAD; whether that matters, and what it is answered with, the acceptor decides.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import apart, inner
from ..hot.layout import aligned, record
from ..wire.fix import BAD_DATA, BAD_TAG, EMPTY_VALUE, END, NO_DATA, data_announced, next_field
from ..wire.fix_parse import symbol_word
from ..wire.fix_values import E8, find_soh, is_text, read_decimal, read_whole

BAD = -1
ABSENT = 0

# What a message is rejected for: the values of 373, and a type that is not taken.
BAD_TAG_NUMBER, TAG_MISSING, NO_VALUE, VALUE_WRONG, VALUE_FORM, WRONG_PARTY, TAG_TWICE, UNSUPPORTED = (
    0,
    1,
    4,
    5,
    6,
    9,
    13,
    100,
)
RIGHT = -1

SHARES_MAX = PRICE_E4_MAX = 2**31 - 1
_E8_OF_E4 = 10_000

REQUEST = record(
    "REQUEST",
    [
        ("start", "i8"),  # where in the buffer it begins, and ends
        ("end", "i8"),
        ("kind", "i8"),  # 35: its character, or two as first << 8 | second; BAD when longer
        ("kind_at", "i8"),
        ("kind_octets", "i8"),
        ("sequence", "i8"),  # 34; ABSENT or BAD
        ("id_at", "i8"),  # 11
        ("id_octets", "i8"),  # 0: absent
        ("orig_at", "i8"),  # 41
        ("orig_octets", "i8"),
        ("symbol_at", "i8"),  # 55
        ("symbol_octets", "i8"),
        ("symbol", "i8"),  # eight big-endian octets; 0: none, or longer than eight
        ("shares", "i8"),  # 38: 1 to SHARES_MAX; ABSENT or BAD
        ("price_e4", "i8"),  # 44: 1 to PRICE_E4_MAX; ABSENT or BAD
        ("side", "i8"),  # 54, 40, 59: the character; ABSENT or BAD
        ("ord_type", "i8"),
        ("tif", "i8"),
        ("post_only", "i8"),
        ("poss_dup", "i8"),
        ("version", "i8"),  # 1: as the session's
        ("sender", "i8"),  # 1: as the session's
        ("target", "i8"),
        ("error_tag", "i8"),  # 0: none is to blame
        ("error_reason", "i8"),  # -1: nothing wrong
    ],
    256,
)

_TAGS = (8, 35, 34, 43, 49, 56, 11, 41, 55, 38, 44, 54, 40, 59)
_BIT_OF = np.full(60, -1, np.int64)
for _bit, _tag in enumerate(_TAGS):
    _BIT_OF[_tag] = _bit
_SPACE, _YES = ord(" "), ord("Y")


class Names(NamedTuple):
    """What a member's messages are to have: begin (n,) uint8, BeginString; sender and target (n,) uint8; post (n,)
    uint8: what marks an order as post-only, in the tag post_tag (1,) int64."""

    begin: np.ndarray
    sender: np.ndarray
    target: np.ndarray
    post: np.ndarray
    post_tag: np.ndarray


def make_request() -> np.ndarray:
    """(1,) REQUEST."""
    return aligned(1, REQUEST)


@inner
def _has_word(octets, start, end, word):
    """Is `word` one of the words [start, end), which spaces divide?"""
    while start < end:
        behind = start
        while behind < end and octets[behind] != _SPACE:
            behind += 1
        if is_text(octets, start, behind, word):
            return True
        start = behind + 1
    return False


@inner
def _character(octets, start, end):
    return np.int64(octets[start]) if end - start == 1 else BAD


@inner
def _amount(octets, start, end, unit, amount_max):
    """A decimal in units of `unit` e-8, from 1 to `amount_max`; BAD if it is none."""
    value, exact = read_decimal(octets, start, end)
    if exact == 0 or value % unit != 0 or value < unit or value > amount_max * unit:
        return BAD
    return value // unit


@inner
def _take(octets, start, end, names, tag, request):
    """Put the value [start, end) where it belongs."""
    count = end - start
    if tag == 11:
        request.id_at, request.id_octets = start, count
    elif tag == 41:
        request.orig_at, request.orig_octets = start, count
    elif tag == 55:
        request.symbol_at, request.symbol_octets = start, count
        request.symbol = symbol_word(octets, start, end)
    elif tag == 38:
        request.shares = _amount(octets, start, end, E8, SHARES_MAX)
    elif tag == 44:
        request.price_e4 = _amount(octets, start, end, _E8_OF_E4, PRICE_E4_MAX)
    elif tag == 54:
        request.side = _character(octets, start, end)
    elif tag == 40:
        request.ord_type = _character(octets, start, end)
    elif tag == 59:
        request.tif = _character(octets, start, end)
    elif tag == 34:
        request.sequence = read_whole(octets, start, end)
    elif tag == 35:
        request.kind_at, request.kind_octets = start, count
        request.kind = np.int64(octets[start])
        if count > 1:
            request.kind = request.kind << 8 | np.int64(octets[start + 1]) if count == 2 else BAD
    elif tag == 43:
        request.poss_dup = 1 if count == 1 and octets[start] == _YES else 0
    elif tag == 49:
        request.sender = 1 if is_text(octets, start, end, names.sender) else 0
    elif tag == 56:
        request.target = 1 if is_text(octets, start, end, names.target) else 0
    elif tag == 8:
        request.version = 1 if is_text(octets, start, end, names.begin) else 0


@inner
def _clear(request, start, end):
    request.start, request.end = start, end
    request.kind = request.kind_at = request.kind_octets = request.sequence = 0
    request.id_at = request.id_octets = request.orig_at = request.orig_octets = 0
    request.symbol_at = request.symbol_octets = request.symbol = request.shares = request.price_e4 = 0
    request.side = request.ord_type = request.tif = request.post_only = request.poss_dup = 0
    request.version = request.sender = request.target = request.error_tag = 0
    request.error_reason = RIGHT


@inner
def _blame(request, tag, reason):
    """The first thing that is wrong stays."""
    if request.error_reason < 0:
        request.error_tag, request.error_reason = tag, reason


@apart
def parse_request(octets, start, end, names, requests):
    """Read the message that `frame` found at octets[start:end] (uint8) into requests[0]."""
    request = slot_at(requests, 0)
    _clear(request, start, end)
    at, announced, present = start, NO_DATA, 0
    while True:
        tag, value_start, value_end = next_field(octets, at, end, announced)
        if tag == END:
            break
        if tag < 0:
            named = tag in (EMPTY_VALUE, BAD_DATA)
            blamed = read_whole(octets, value_start, value_end - 1) if named else np.int64(0)
            reason = VALUE_FORM
            if tag in (BAD_TAG, EMPTY_VALUE):
                reason = BAD_TAG_NUMBER if tag == BAD_TAG else NO_VALUE
            _blame(request, max(blamed, 0), reason)
            at, announced = find_soh(octets, value_start, end) + 1, NO_DATA
            continue
        bit = _BIT_OF[tag] if tag < _BIT_OF.shape[0] else np.int64(-1)
        if bit >= 0:
            if present >> bit & 1:
                _blame(request, tag, TAG_TWICE)
            else:
                present |= 1 << bit
                _take(octets, value_start, value_end, names, tag, request)
        if tag == names.post_tag[0] and _has_word(octets, value_start, value_end, names.post):
            request.post_only = 1
        announced = data_announced(octets, tag, value_start, value_end)
        if announced == BAD_DATA:
            _blame(request, tag, VALUE_FORM)
            announced = NO_DATA
        at = value_end + 1
