"""Reports and rejects land in the record field by field; what is wrong has a name; nothing outside is read."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import fix as naive
from tests.wire.fix_samples import EDGES_NS, TIMES_NS, word
from venym.hot.layout import aligned
from venym.wire import fix, fix_parse
from venym.wire.fix_parse import EXECUTION, parse_execution_report

GUARDED = Guarded(4_096)
HEADER = {35: b"8", 34: b"7", 49: b"INET", 52: b"20260105-14:30:00.123456", 56: b"VENYM"}
REPORT = HEADER | {
    6: b"12.3456", 11: b"V1042", 14: b"40", 17: b"E77", 20: b"0", 31: b"12.34", 32: b"40.00", 37: b"O9", 38: b"100",
    39: b"1", 44: b"12.35", 54: b"1", 55: b"BRK.A", 60: b"20260105-14:30:00", 76: b"INET", 150: b"1", 151: b"60",
    9882: b"AX",
}  # fmt: skip
REJECT = HEADER | {35: b"9", 37: b"O9", 11: b"V2", 41: b"V1", 39: b"2", 434: b"1", 102: b"0", 58: b"too late"}


def parse(fields: dict[int, bytes] | bytes, offset: int = 0) -> tuple[int, np.record, bytes]:
    message = fields if isinstance(fields, bytes) else naive.message(list(fields.items()))
    octets, execution = GUARDED.put(b"\x01" * offset + message), aligned(1, EXECUTION)[0]
    execution.price_e4 = execution.error_tag = execution.side = 99  # left by a message before
    return int(parse_execution_report(octets, offset, len(octets), execution)), execution, octets.tobytes()


def text(octets: bytes, execution: np.record, name: str) -> bytes:
    at = execution[f"{name}_at"]
    return octets[at : at + execution[f"{name}_octets"]]


@pytest.mark.parametrize("offset", [0, 100])
def test_a_report_field_by_field(offset):
    status, got, octets = parse(REPORT, offset)
    assert status == fix_parse.OK
    assert (got.msg_type, got.exec_type, got.ord_status, got.exec_trans_type, got.side) == tuple(b"81101")
    assert (got.liquidity, got.cxl_rej_response_to) == (ord("A"), 0)
    assert (got.sequence, got.symbol, got.error_tag, got.marks) == (7, word("BRK.A"), 0, 0)
    assert (got.order_shares, got.last_shares, got.leaves_shares, got.cum_shares) == (100, 40, 60, 40)
    assert (got.price_e4, got.last_price_e4, got.avg_price_e4) == (123_500, 123_400, 123_456)
    assert (got.price_e8, got.last_price_e8, got.avg_price_e8) == (1_235_000_000, 1_234_000_000, 1_234_560_000)
    assert got.sending_time_ns == naive.time_ns(REPORT[52])
    assert (got.transact_time_ns, got.orig_sending_time_ns) == (naive.time_ns(REPORT[60]), 0)
    assert (got.ord_rej_reason, got.cxl_rej_reason, got.restatement_reason) == (-1, -1, -1)
    names = ("order_id", "cl_ord_id", "orig_cl_ord_id", "exec_id", "text")
    assert [text(octets, got, name) for name in names] == [b"O9", b"V1042", b"", b"E77", b""]
    assert got.present & fix_parse.HAS_PRICE and not got.present & fix_parse.HAS_TEXT


def test_a_cancel_reject_field_by_field():
    status, got, octets = parse(REJECT)
    assert status == fix_parse.OK
    assert (got.msg_type, got.ord_status, got.cxl_rej_response_to, got.cxl_rej_reason) == (57, ord("2"), ord("1"), 0)
    names = ("order_id", "cl_ord_id", "orig_cl_ord_id", "text")
    assert [text(octets, got, name) for name in names] == [b"O9", b"V2", b"V1", b"too late"]
    assert (got.exec_type, got.side, got.price_e4, got.symbol) == (0, 0, 0, 0)


def test_a_report_sent_again_says_so():
    _, got, _ = parse(REPORT | {43: b"Y", 97: b"Y", 122: b"20260105-14:29:59.9"})
    assert got.marks == fix_parse.POSS_DUP | fix_parse.POSS_RESEND
    assert got.orig_sending_time_ns == naive.time_ns(b"20260105-14:29:59.900")
    assert parse(REPORT | {43: b"N"})[1].marks == 0


@given(st.permutations(sorted(REPORT.items())))
@settings(max_examples=30)
def test_the_order_of_the_fields_does_not_matter(fields):
    status, got, _ = parse(naive.joined(fields))
    assert (status, got.last_price_e4, got.leaves_shares) == (fix_parse.OK, 123_400, 60)


def test_unknown_tags_are_passed_over_in_any_number_and_data_may_hold_fields():
    extra = b"448=A\x01448=B\x0199999999=x\x01354=9\x01355=\x0137=x\x01\x0140\x01"
    status, got, octets = parse(naive.joined(REPORT.items()) + extra)
    assert (status, text(octets, got, "order_id")) == (fix_parse.OK, b"O9")


# Numbers


@pytest.mark.parametrize(
    ("value", "e4", "e8", "exact"),
    [
        (b"0", 0, 0, True), (b"0.0001", 1, 10_000, True), (b"1234.5678", 12_345_678, 123_456_780_000, True),
        (b"12.", 120_000, 12 * 10**8, True), (b".5", 5_000, 5 * 10**7, True),
        (b"12.345600000", 123_456, 1_234_560_000, True),
        (b"12.34565", 123_456, 1_234_565_000, False), (b"0.00000001", 0, 1, False), (b"0.000000001", 0, 0, False),
        (b"12.3456000000000001", 123_456, 1_234_560_000, False), (b"00012.5", 125_000, 1_250_000_000, True),
        (b"9999999999.9999", 99_999_999_999_999, 999_999_999_999_990_000, True),
    ],
)  # fmt: skip
def test_a_price_is_exact_or_marked(value, e4, e8, exact):
    for tag, name, mark in (
        (44, "price", fix_parse.INEXACT_PRICE),
        (31, "last_price", fix_parse.INEXACT_LAST),
        (6, "avg_price", fix_parse.INEXACT_AVERAGE),
    ):
        status, got, _ = parse(REPORT | {tag: value})
        assert (status, got[f"{name}_e4"], got[f"{name}_e8"]) == (fix_parse.OK, e4, e8)
        assert got.marks == (0 if exact else mark)


@given(st.integers(1, 2**31 - 1), st.integers(0, 2**31 - 1), st.integers(1, 2**53))
@settings(max_examples=60)
def test_prices_quantities_and_sequences_come_back(price_e4, shares, sequence):
    fields = REPORT | {31: naive.price(price_e4), 32: b"%d" % shares, 34: b"%d" % sequence}
    status, got, _ = parse(fields)
    assert (status, got.last_price_e4, got.last_shares, got.sequence) == (fix_parse.OK, price_e4, shares, sequence)


@given(TIMES_NS, st.sampled_from([0, 3, 6, 9]))
@settings(max_examples=100)
def test_times_come_back_to_their_last_digit(time_ns, decimals):
    sent = naive.time(time_ns, decimals)
    assert parse(REPORT | {52: sent})[1].sending_time_ns == naive.time_ns(sent)


def test_days_at_the_edges_and_days_that_are_not():
    for time_ns in EDGES_NS:
        assert parse(REPORT | {60: naive.time(time_ns, 9)})[1].transact_time_ns == time_ns
    for day in (b"20230229", b"21000229", b"20260431", b"20261301", b"20260100", b"20260132", b"19691231", b"22620101"):
        assert parse(REPORT | {60: day + b"-00:00:00"})[0] == fix_parse.BAD_VALUE
    leap = parse(REPORT | {60: b"20161231-23:59:60"})[1]
    assert leap.transact_time_ns == naive.time_ns(b"20170101-00:00:00")


# What is wrong


BAD_VALUES = [
    *((tag, value) for tag in (6, 31, 44) for value in (b"-1", b"1e5", b"1e-05", b".", b"1.2.3", b" 1", b"1,5", b"x")),
    *((44, value) for value in (b"10000000000", b"9" * 30)),
    *((tag, value) for tag in (14, 32, 38, 151) for value in (b"100.5", b"-100", b"x", b"1.000000001", b"1e2")),
    *((34, value) for value in (b"-1", b"1.0", b"x", b"1234567890123456789", b"+7")),
    *((tag, value) for tag in (102, 103, 378) for value in (b"x", b"-1", b"2147483648")),
    *((tag, value) for tag in (20, 39, 54, 150, 434, 43, 97) for value in (b"10", b"YY")),
    *((tag, value) for tag in (43, 97) for value in (b"X", b"1")),
    *(
        (tag, value)
        for tag in (52, 60, 122)
        for value in (
            b"20260105", b"20260105 14:30:00", b"20260105-14:30", b"20260105-24:00:00", b"20260105-14:60:00",
            b"20260105-14:30:61", b"20260105-14:30:00.", b"20260105-14:30:00,123", b"20260105-14:30:00.1234567890",
            b"2026010x-14:30:00", b"20260105-14-30:00", b"20260105-14:30:00Z", b"2026-1-5-14:30:00",
            b"/0260105-14:30:00",
        )
    ),
]  # fmt: skip


@pytest.mark.parametrize(("tag", "value"), BAD_VALUES)
def test_a_value_not_of_its_form_is_named(tag, value):
    status, got, _ = parse(REPORT | {tag: value})
    assert (status, got.error_tag) == (fix_parse.BAD_VALUE, tag)


@pytest.mark.parametrize("tag", fix_parse.TAGS)
def test_a_tag_that_comes_twice_is_named(tag):
    samples = {
        **REPORT,
        43: b"N",
        97: b"N",
        122: REPORT[52],
        41: b"V1",
        58: b"x",
        102: b"1",
        103: b"1",
        434: b"1",
        378: b"5",
    }
    status, got, _ = parse(naive.joined([*samples.items(), (tag, samples[tag])]))
    assert (status, got.error_tag) == (fix_parse.DUPLICATE_TAG, tag)


@pytest.mark.parametrize("fields", [REPORT, REJECT], ids=["report", "reject"])
def test_a_tag_that_is_missing_is_named(fields):
    required = fix_parse.REQUIRED[fields[35][0]]
    for tag in fields:
        status, got, _ = parse({t: v for t, v in fields.items() if t != tag})
        assert (status, got.error_tag) == ((fix_parse.MISSING_TAG, tag) if tag in required else (fix_parse.OK, 0))


def test_octets_that_are_no_fields_are_named():
    whole = naive.joined(REPORT.items())
    for wrong, status, tag in (
        (b"ab=1\x01", fix.BAD_TAG, 0),
        (b"58=\x01", fix.EMPTY_VALUE, 58),
        (b"58=x", fix.UNTERMINATED, 0),
        (b"354=x\x01355=y\x01", fix.BAD_DATA, 354),
        (b"354=9\x01355=y\x01", fix.BAD_DATA, 355),
    ):
        got_status, got, _ = parse(whole + wrong)
        assert (got_status, got.error_tag) == (status, tag)


@pytest.mark.parametrize("kind", [b"0", b"D", b"AE", b"88", b"89"])
def test_a_message_of_another_type_is_not_parsed(kind):
    assert parse(REPORT | {35: kind})[0] == fix_parse.WRONG_TYPE


@pytest.mark.parametrize(("start", "end"), [(-1, 5), (0, 6), (4, 3)])
def test_what_is_not_in_the_buffer_is_not_looked_at(start, end):
    got = parse_execution_report(GUARDED.put(b"35=8\x01"), start, end, aligned(1, EXECUTION)[0])
    assert got == fix_parse.OUT_OF_BOUNDS


def test_a_symbol_of_more_than_eight_octets_is_there_but_no_word():
    status, got, _ = parse(REPORT | {55: b"LONGER-THAN-8"})
    assert (status, got.symbol) == (fix_parse.OK, 0)
    assert got.present & fix_parse.HAS_SYMBOL


WHOLE = naive.message(list(REPORT.items()))
STATUSES = set(range(fix_parse.OUT_OF_BOUNDS + 1, 1))


OCTETS = st.integers(0, 255) | st.sampled_from(b"\x01=.-09")
MUTATIONS = st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), OCTETS), max_size=4)


@given(MUTATIONS, st.integers(0, len(WHOLE)))
@settings(max_examples=200)
def test_whatever_comes_gets_a_status_and_text_within_the_message(mutations, end):
    mutated = bytearray(WHOLE)
    for at, octet in mutations:
        mutated[at] = octet
    status, got, _ = parse(bytes(mutated[:end]))
    assert status in STATUSES
    for name in ("order_id", "cl_ord_id", "orig_cl_ord_id", "exec_id", "text"):
        assert 0 <= got[f"{name}_at"] <= got[f"{name}_at"] + got[f"{name}_octets"] <= end


@pytest.mark.parametrize(
    ("value", "number"),
    [(b"V1042", 1042), (b"V1", 1), (b"V", -1), (b"W1", -1), (b"V01", -1), (b"V0", -1), (b"V1x", -1), (b"", -1)],
)
def test_the_number_of_a_cl_ord_id_is_read_behind_its_prefix(value, number):
    prefix = np.frombuffer(b"V", np.uint8).copy()
    assert fix_parse.number_behind(GUARDED.put(value), 0, len(value), prefix) == number
