"""ExecutionReport (35=8) and OrderCancelReject (35=9) into a fixed record, in one walk over the message's fields.

    |17=E77|150=2|...|31=12.3456|...       ->  record.exec_id_at, .exec_id_octets  where the text lies in the buffer
                                               record.exec_type = "2"              one character
                                               record.last_price_e4 = 123456       with INEXACT_LAST in .marks if cut
                                               record.present |= HAS_LAST_PRICE    what was there at all

Tags that are not in TAGS are passed over, known or not, in whatever number. A tag of TAGS that comes twice, a value
that is empty or not of its form, a tag that is no number: the walk ends there, the status says why and
`record.error_tag` where. Fields whose values are text stay where they are: an offset in the buffer, valid as long as
the buffer is.
"""

import numpy as np

from ..hot.jit import hot, small, step
from ..hot.layout import record
from .fix import BAD_DATA, EMPTY_VALUE, END, NO_DATA, data_announced, next_field
from .fix_values import E8, REFUSED, is_text, read_decimal, read_time, read_whole

# Status, beside those of `next_field`.
OK = 0
DUPLICATE_TAG = -5
BAD_VALUE = -6
MISSING_TAG = -7  # one of REQUIRED; `error_tag` says which
WRONG_TYPE = -8  # 35 is neither 8 nor 9
OUT_OF_BOUNDS = -9  # [start, end) is not in the buffer

EXECUTION_REPORT, CANCEL_REJECT = ord("8"), ord("9")

# marks
INEXACT_PRICE, INEXACT_LAST, INEXACT_AVERAGE = 1, 2, 4  # the _e4 is cut; the _e8 beside it has what it had, to 1e-8
POSS_DUP, POSS_RESEND = 8, 16

# The tags, each with its bit in `present`. Order is that of the bits.
TAGS = (
    35, 34, 52, 43, 97, 122, 37, 11, 41, 17, 150, 39, 20, 55, 54, 38, 44, 32, 31, 151, 14, 6, 60, 103, 102, 434, 378,
    58, 9882,
)  # fmt: skip
(
    HAS_MSG_TYPE, HAS_SEQUENCE, HAS_SENDING_TIME, HAS_POSS_DUP, HAS_POSS_RESEND, HAS_ORIG_SENDING_TIME, HAS_ORDER_ID,
    HAS_CL_ORD_ID, HAS_ORIG_CL_ORD_ID, HAS_EXEC_ID, HAS_EXEC_TYPE, HAS_ORD_STATUS, HAS_EXEC_TRANS_TYPE, HAS_SYMBOL,
    HAS_SIDE, HAS_ORDER_SHARES, HAS_PRICE, HAS_LAST_SHARES, HAS_LAST_PRICE, HAS_LEAVES_SHARES, HAS_CUM_SHARES,
    HAS_AVG_PRICE, HAS_TRANSACT_TIME, HAS_ORD_REJ_REASON, HAS_CXL_REJ_REASON, HAS_CXL_REJ_RESPONSE_TO,
    HAS_RESTATEMENT_REASON, HAS_TEXT, HAS_LIQUIDITY,
) = (1 << bit for bit in range(len(TAGS)))  # fmt: skip

# What both versions require. 4.2 also wants 20 and 55 in a report: look at `present`.
REQUIRED = {
    EXECUTION_REPORT: (35, 34, 52, 37, 17, 150, 39, 54, 151, 14, 6),
    CANCEL_REJECT: (35, 34, 52, 37, 11, 41, 39, 434),
}

EXECUTION = record(
    "EXECUTION",
    [
        ("sequence", "i8"),  # 34
        ("sending_time_ns", "i8"),  # 52, since 1970
        ("orig_sending_time_ns", "i8"),  # 122
        ("transact_time_ns", "i8"),  # 60
        ("symbol", "i8"),  # 55 as eight big-endian octets padded with spaces; 0 when it is longer than eight
        ("order_shares", "i8"),  # 38
        ("last_shares", "i8"),  # 32
        ("leaves_shares", "i8"),  # 151
        ("cum_shares", "i8"),  # 14
        ("price_e4", "i8"),  # 44
        ("price_e8", "i8"),
        ("last_price_e4", "i8"),  # 31
        ("last_price_e8", "i8"),
        ("avg_price_e4", "i8"),  # 6
        ("avg_price_e8", "i8"),
        ("order_id_at", "i8"),  # 37
        ("cl_ord_id_at", "i8"),  # 11
        ("orig_cl_ord_id_at", "i8"),  # 41
        ("exec_id_at", "i8"),  # 17
        ("text_at", "i8"),  # 58
        ("present", "i8"),  # HAS_ bits
        ("order_id_octets", "i4"),
        ("cl_ord_id_octets", "i4"),
        ("orig_cl_ord_id_octets", "i4"),
        ("exec_id_octets", "i4"),
        ("text_octets", "i4"),
        ("ord_rej_reason", "i4"),  # 103, -1 when absent, as below
        ("cxl_rej_reason", "i4"),  # 102
        ("restatement_reason", "i4"),  # 378
        ("error_tag", "i4"),  # to blame for the status; 0 when none is, or it is not whole
        ("marks", "i4"),
        ("msg_type", "u1"),  # characters, 0 when absent
        ("exec_type", "u1"),  # 150
        ("ord_status", "u1"),  # 39
        ("exec_trans_type", "u1"),  # 20
        ("side", "u1"),  # 54
        ("cxl_rej_response_to", "u1"),  # 434
        ("liquidity", "u1"),  # 9882, only its first character
    ],
    256,
)

_TEXT, _CHARACTER, _SHARES, _PRICE, _TIME, _NUMBER, _FLAG, _SYMBOL = range(1, 9)
_FORMS = {
    35: _CHARACTER, 34: _NUMBER, 52: _TIME, 43: _FLAG, 97: _FLAG, 122: _TIME, 37: _TEXT, 11: _TEXT, 41: _TEXT,
    17: _TEXT, 150: _CHARACTER, 39: _CHARACTER, 20: _CHARACTER, 55: _SYMBOL, 54: _CHARACTER, 38: _SHARES, 44: _PRICE,
    32: _SHARES, 31: _PRICE, 151: _SHARES, 14: _SHARES, 6: _PRICE, 60: _TIME, 103: _NUMBER, 102: _NUMBER,
    434: _CHARACTER, 378: _NUMBER, 58: _TEXT, 9882: _CHARACTER,
}  # fmt: skip
_BIT_OF = np.full(9_883, -1, np.int8)
_FORM_OF_BIT = np.array([_FORMS[tag] for tag in TAGS], np.int8)
for _bit, _tag in enumerate(TAGS):
    _BIT_OF[_tag] = _bit
_TAG_OF_BIT = np.array(TAGS, np.int64)


def _mask(tags: tuple[int, ...]) -> int:
    return sum(1 << TAGS.index(tag) for tag in tags)


_REPORT_MASK, _REJECT_MASK = _mask(REQUIRED[EXECUTION_REPORT]), _mask(REQUIRED[CANCEL_REJECT])
_SPACES = 0x2020202020202020
_I4_MAX = 2**31 - 1


@small
def _clear(execution):
    execution.sequence = execution.sending_time_ns = execution.orig_sending_time_ns = execution.transact_time_ns = 0
    execution.symbol = execution.order_shares = execution.last_shares = execution.leaves_shares = 0
    execution.cum_shares = execution.price_e4 = execution.price_e8 = execution.last_price_e4 = 0
    execution.last_price_e8 = execution.avg_price_e4 = execution.avg_price_e8 = execution.present = 0
    execution.order_id_at = execution.cl_ord_id_at = execution.orig_cl_ord_id_at = execution.exec_id_at = 0
    execution.text_at = execution.order_id_octets = execution.cl_ord_id_octets = 0
    execution.orig_cl_ord_id_octets = execution.exec_id_octets = execution.text_octets = 0
    execution.ord_rej_reason = execution.cxl_rej_reason = execution.restatement_reason = -1
    execution.error_tag = execution.marks = execution.msg_type = execution.exec_type = execution.ord_status = 0
    execution.exec_trans_type = execution.side = execution.cxl_rej_response_to = execution.liquidity = 0


@step
def _take_text(execution, tag, at, octets):
    if tag == 37:
        execution.order_id_at, execution.order_id_octets = at, octets
    elif tag == 11:
        execution.cl_ord_id_at, execution.cl_ord_id_octets = at, octets
    elif tag == 41:
        execution.orig_cl_ord_id_at, execution.orig_cl_ord_id_octets = at, octets
    elif tag == 17:
        execution.exec_id_at, execution.exec_id_octets = at, octets
    else:
        execution.text_at, execution.text_octets = at, octets
    return OK


@step
def _take_character(execution, tag, value, octets):
    if octets != 1 and tag not in (35, 9882):  # 35 of two characters is a type of others
        return BAD_VALUE
    if tag == 35:
        execution.msg_type = value
        if octets != 1 or value not in (EXECUTION_REPORT, CANCEL_REJECT):
            return WRONG_TYPE
    elif tag == 150:
        execution.exec_type = value
    elif tag == 39:
        execution.ord_status = value
    elif tag == 20:
        execution.exec_trans_type = value
    elif tag == 54:
        execution.side = value
    elif tag == 434:
        execution.cxl_rej_response_to = value
    else:
        execution.liquidity = value
    return OK


@step
def _take_flag(execution, tag, value, octets):
    if octets != 1 or value not in (ord("Y"), ord("N")):
        return BAD_VALUE
    if value == ord("Y"):
        execution.marks |= POSS_DUP if tag == 43 else POSS_RESEND
    return OK


@step
def _take_shares(execution, tag, value_e8, exact):
    """Quantities are floats in 4.2: 100, 100. and 100.00 are one and the same, 100.5 is none of ours."""
    if value_e8 < 0 or exact == 0 or value_e8 % E8 != 0:
        return BAD_VALUE
    shares = value_e8 // E8
    if tag == 38:
        execution.order_shares = shares
    elif tag == 32:
        execution.last_shares = shares
    elif tag == 151:
        execution.leaves_shares = shares
    else:
        execution.cum_shares = shares
    return OK


@step
def _take_price(execution, tag, price_e8, exact):
    if price_e8 < 0:
        return BAD_VALUE
    price_e4 = price_e8 // 10_000
    inexact = exact == 0 or price_e4 * 10_000 != price_e8
    if tag == 44:
        execution.price_e4, execution.price_e8 = price_e4, price_e8
        execution.marks |= INEXACT_PRICE if inexact else 0
    elif tag == 31:
        execution.last_price_e4, execution.last_price_e8 = price_e4, price_e8
        execution.marks |= INEXACT_LAST if inexact else 0
    else:
        execution.avg_price_e4, execution.avg_price_e8 = price_e4, price_e8
        execution.marks |= INEXACT_AVERAGE if inexact else 0
    return OK


@step
def _take_time(execution, tag, time_ns):
    if time_ns == REFUSED:
        return BAD_VALUE
    if tag == 52:
        execution.sending_time_ns = time_ns
    elif tag == 122:
        execution.orig_sending_time_ns = time_ns
    else:
        execution.transact_time_ns = time_ns
    return OK


@step
def _take_number(execution, tag, value):
    if value < 0 or (tag != 34 and value > _I4_MAX):
        return BAD_VALUE
    if tag == 34:
        execution.sequence = value
    elif tag == 103:
        execution.ord_rej_reason = value
    elif tag == 102:
        execution.cxl_rej_reason = value
    else:
        execution.restatement_reason = value
    return OK


@step
def symbol_word(octets, start, end):
    """The symbol [start, end) as eight big-endian octets padded with spaces; 0 when there are none or more than
    eight."""
    count = end - start
    if count < 1 or count > 8:
        return 0
    word = _SPACES
    for i in range(count):
        shift = 8 * (7 - i)
        word ^= (np.int64(octets[start + i]) ^ 0x20) << shift
    return word


@step
def _take(octets, start, end, execution, tag, form):
    """Put the value [start, end) where it belongs."""
    if form == _TEXT:
        return _take_text(execution, tag, start, end - start)
    if form == _CHARACTER:
        return _take_character(execution, tag, np.int64(octets[start]), end - start)
    if form == _SHARES:
        value, exact = read_decimal(octets, start, end)
        return _take_shares(execution, tag, value, exact)
    if form == _PRICE:
        value, exact = read_decimal(octets, start, end)
        return _take_price(execution, tag, value, exact)
    if form == _TIME:
        return _take_time(execution, tag, read_time(octets, start, end))
    if form == _NUMBER:
        return _take_number(execution, tag, read_whole(octets, start, end))
    if form == _FLAG:
        return _take_flag(execution, tag, np.int64(octets[start]), end - start)
    execution.symbol = symbol_word(octets, start, end)
    return OK


@hot
def parse_execution_report(octets, start, end, execution):
    """Fill `execution` (one EXECUTION) from the message that `frame` found at octets[start:end]; return a status.

    octets: uint8[:]. OK, or a negative status with `execution.error_tag` where a tag is to blame; the record then holds
    what came before. Check sum and length are `frame`'s to look at, and are not looked at again.
    """
    _clear(execution)
    if start < 0 or end > octets.shape[0] or start > end or end - start > _I4_MAX:
        return OUT_OF_BOUNDS
    at, announced, present = start, NO_DATA, 0
    while True:
        tag, value_start, value_end = next_field(octets, at, end, announced)
        if tag == END:
            break
        if tag < 0:
            if tag in (EMPTY_VALUE, BAD_DATA):
                execution.error_tag = read_whole(octets, value_start, value_end - 1)
            return tag
        bit = np.int64(_BIT_OF[tag]) if tag < _BIT_OF.shape[0] else -1
        if bit >= 0:
            if present >> bit & 1:
                execution.error_tag = tag
                return DUPLICATE_TAG
            status = _take(octets, value_start, value_end, execution, tag, _FORM_OF_BIT[bit])
            if status < 0:
                execution.error_tag = tag
                return status
            present |= 1 << bit
            execution.present = present
        announced = data_announced(octets, tag, value_start, value_end)
        if announced == BAD_DATA:
            execution.error_tag = tag
            return BAD_DATA
        at = value_end + 1
    missing = ~present & (_REJECT_MASK if execution.msg_type == CANCEL_REJECT else _REPORT_MASK)
    if missing != 0:
        for bit in range(_TAG_OF_BIT.shape[0]):
            if missing >> bit & 1:
                execution.error_tag = _TAG_OF_BIT[bit]
                break
        return MISSING_TAG
    return OK


@hot
def number_behind(octets, start, end, prefix):
    """The number of a ClOrdID octets[start:end] made with `prefix` (uint8[:]), or REFUSED if it is none of ours."""
    if start < 0 or end > octets.shape[0] or end - start <= prefix.shape[0]:
        return REFUSED
    if not is_text(octets, start, start + prefix.shape[0], prefix):
        return REFUSED
    if octets[start + prefix.shape[0]] == ord("0"):  # a number is written without zeros in front
        return REFUSED
    return read_whole(octets, start + prefix.shape[0], end)
