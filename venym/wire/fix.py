"""FIX 4.2 and 4.4 on the wire: where a message begins and ends, and its fields one after another.

    8=FIX.4.2 | 9=65 | 35=8 | 34=7 | ... | 10=128 |        | is SOH, octet 1
                     ^---- BodyLength ---^
    ^------------- CheckSum -------------^                 sum modulo 256, three digits

`frame` looks at what has arrived, [start, end), and never beyond:

    COMPLETE   a message lies at [message_start, message_end): its 8, 9, 35, 10, length and check sum are right
    MORE       so far it may be one
    GARBLED    or above: drop [message_start, message_end), for the reason the status names, and look again

What a garbled message claims is dropped with it: its data may hold another message, which was not sent to us and must
not be acted on. The next look is at the first ``8=FIX`` behind an SOH from where the BodyLength pointed, or, where that
is no length of a body, from the message's own beginning. Before a first message, and after what was no message, the
``8=FIX`` may stand behind anything. MORE is never the answer to MESSAGE_OCTETS_MAX octets or more, and what is no
beginning is dropped as soon as it is seen.
"""

import numpy as np

from ..hot.jit import hot, small, step
from .fix_values import SOH, ZERO, find_soh, read_whole, sum_of

COMPLETE, MORE, GARBLED = 0, 1, 2
JUNK, BAD_LENGTH, BAD_CHECKSUM = 2, 3, 4  # why GARBLED: no 8=FIX or 9= where due; length, 35= or 10= wrong; sum wrong

BEGIN_OCTETS_MAX = 16  # of 8=..., without its SOH
LENGTH_DIGITS_MAX = 9
BODY_LENGTH_MAX = 8_192
TRAILER_OCTETS = 7  # 10=ddd and SOH
MESSAGE_OCTETS_MAX = BEGIN_OCTETS_MAX + 4 + LENGTH_DIGITS_MAX + BODY_LENGTH_MAX + TRAILER_OCTETS

_BEGIN = np.frombuffer(b"8=FIX", np.uint8)
_TYPE = np.frombuffer(b"35=", np.uint8)  # the body's first field
_TRAILER = np.frombuffer(b"\x0110=", np.uint8)  # with the SOH of the body's last field
_EQUALS = ord("=")

# What `next_field` gives instead of a tag, and the parser as its status.
END = 0
BAD_TAG = -1  # no digits before the =, another character, a zero in front, more than TAG_DIGITS_MAX
EMPTY_VALUE = -2
UNTERMINATED = -3  # the octets end before the field does
BAD_DATA = -4  # a length tag without a number, or no SOH where its data should end
TAG_DIGITS_MAX = 8
NO_DATA = 0

# Data may hold SOH, and so follows the field that tells its length.
LENGTH_THEN_DATA = {
    90: 91, 93: 89, 95: 96, 212: 213, 348: 349, 350: 351, 352: 353, 354: 355,
    356: 357, 358: 359, 360: 361, 362: 363, 364: 365, 445: 446, 618: 619, 621: 622,
}  # fmt: skip
_DATA_TAG = np.zeros(640, np.uint16)
for _length_tag, _data_tag in LENGTH_THEN_DATA.items():
    _DATA_TAG[_length_tag] = _data_tag


@small
def _begins(octets, at, end):
    """How many octets of 8=FIX stand at `at`, of those before `end`; 0 when another octet follows them."""
    count = 0
    while count < 5 and at + count < end and octets[at + count] == _BEGIN[count]:
        count += 1
    return count if count == 5 or at + count == end else 0


@step
def _next_begin(octets, at, end, anywhere):
    """The first offset from `at` on where a message may begin, or `end`; behind an SOH only, unless `anywhere`."""
    while at < end:
        if octets[at] == _BEGIN[0] and (anywhere or octets[at - 1] == SOH) and _begins(octets, at, end) > 0:
            return at
        at += 1
    return end


@step
def _header(octets, start, end):
    """(status, offset of the body, BodyLength) of a message whose 8=FIX is there; COMPLETE: go on to the body."""
    stop = min(end, start + BEGIN_OCTETS_MAX + 1)
    at = find_soh(octets, start, stop)
    if at == stop:
        return (MORE if stop == end and end - start <= BEGIN_OCTETS_MAX else JUNK), 0, 0
    at += 1
    if (at < end and octets[at] != ZERO + 9) or (at + 1 < end and octets[at + 1] != _EQUALS):
        return JUNK, 0, 0
    at += 2
    first, length = at, 0
    while at < end and octets[at] != SOH:
        digit = np.int64(octets[at]) - ZERO
        if digit < 0 or digit > 9 or at - first == LENGTH_DIGITS_MAX:
            return BAD_LENGTH, 0, 0
        length = length * 10 + digit
        if length > BODY_LENGTH_MAX:
            return BAD_LENGTH, 0, 0
        at += 1
    if at >= end:
        return MORE, 0, 0
    return (COMPLETE if at > first else BAD_LENGTH), at + 1, length


@step
def _body(octets, start, body, length, end):
    """(status, where to look on if GARBLED) of a message whose header is right."""
    for i in range(3):
        if body + i < end and octets[body + i] != _TYPE[i]:
            return BAD_LENGTH, start + 1
    trailer = body + length
    if length < 5:  # 35=0 and SOH
        return BAD_LENGTH, start + 1
    for i in range(4):
        if trailer - 1 + i < end and octets[trailer - 1 + i] != _TRAILER[i]:
            return BAD_LENGTH, trailer
    if trailer + TRAILER_OCTETS > end:
        return MORE, trailer
    if octets[trailer + TRAILER_OCTETS - 1] != SOH:
        return BAD_CHECKSUM, trailer
    told = read_whole(octets, trailer + 3, trailer + 6)
    return (COMPLETE if told == sum_of(octets, start, trailer) else BAD_CHECKSUM), trailer


@hot
def frame(octets, start, end):
    """(status, message_start, message_end) of what lies at `start` in octets[:end]; see above.

    octets: uint8[:]. `message_start` is `start`. For MORE `message_end` is `end`. GARBLED drops at least one octet.
    An `end` beyond the array, or a `start` not in [0, end], is MORE with nothing to look at.
    """
    if start < 0 or end > octets.shape[0] or start >= end:
        return MORE, start, max(start, end)
    begun = _begins(octets, start, end)
    if begun == 0:
        return JUNK, start, _next_begin(octets, start + 1, end, True)
    if begun < 5:
        return MORE, start, end
    again = start + 1
    status, body, length = _header(octets, start, end)
    if status == COMPLETE:
        status, again = _body(octets, start, body, length, end)
    if status == COMPLETE:
        return COMPLETE, start, body + length + TRAILER_OCTETS
    if status == MORE:
        return MORE, start, end
    return status, start, _next_begin(octets, again, end, False)


@step
def next_field(octets, at, end, announced):
    """(tag, value_start, value_end) of the field at `at`; the next one begins at value_end + 1.

    octets: uint8[:], of which [at, end) is the caller's. END at the end. A tag below 0 is BAD_TAG, EMPTY_VALUE,
    UNTERMINATED or BAD_DATA: `value_start` is then where the field begins, and `value_end` how far it was read, which
    for EMPTY_VALUE and BAD_DATA is behind its =. announced: `data_announced` by the field before, or NO_DATA.
    """
    if at >= end:
        return END, at, at
    start, tag = at, 0
    while at < end and octets[at] != _EQUALS:
        digit = np.int64(octets[at]) - ZERO
        if digit < 0 or digit > 9 or at - start == TAG_DIGITS_MAX or (at == start and digit == 0):
            return BAD_TAG, start, at
        tag = tag * 10 + digit
        at += 1
    if at == end:
        return UNTERMINATED, start, at
    if at == start:
        return BAD_TAG, start, at
    at += 1
    if tag == announced >> 32:
        behind = at + (announced & 0xFFFFFFFF)
        if behind >= end or octets[behind] != SOH:
            return BAD_DATA, start, at
        return tag, at, behind
    behind = find_soh(octets, at, end)
    if behind == end:
        return UNTERMINATED, start, at
    if behind == at:
        return EMPTY_VALUE, start, at
    return tag, at, behind


@step
def data_announced(octets, tag, value_start, value_end):
    """What `next_field` has to know of the field before it: tag << 32 | length of the data that should follow,
    NO_DATA, or BAD_DATA where a length is no number."""
    if tag >= _DATA_TAG.shape[0] or _DATA_TAG[tag] == 0:
        return NO_DATA
    length = read_whole(octets, value_start, value_end)
    if length < 0 or length > BODY_LENGTH_MAX:
        return BAD_DATA
    return np.int64(_DATA_TAG[tag]) << 32 | length
