"""Fields of messages and back, times as text, and the rules that messages are held to."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.control.session_peers import REPORT, START_NS, Bench
from tests.naive import fix as naive
from venym.control.session_messages import Outgoing, read_message, utc_ns, utc_text, write_message
from venym.control.session_rules import (
    INVALID_TAG,
    INVALID_TYPE,
    NO_VALUE,
    NOT_FOR_TYPE,
    OUT_OF_ORDER,
    REPEATED_TAG,
    REQUIRED_MISSING,
    WRONG_COUNT,
    WRONG_FORM,
    WRONG_VALUE,
    Fault,
    check,
)

TEXTS = st.text(st.characters(max_codepoint=255, exclude_characters="\x01"), min_size=1, max_size=8)
TAGS = st.integers(200, 9_999).filter(lambda tag: tag not in naive.LENGTH_TAGS)
ORDER = {11: "id", 55: "AAPL", 54: "1", 60: "20260105-14:30:00", 40: "1", 21: "1"}


@given(st.lists(st.tuples(TAGS, TEXTS), max_size=5), st.sampled_from(["FIX.4.2", "FIX.4.4"]), st.booleans())
def test_what_is_written_is_right_and_read_back(body, version, again):
    octets = write_message(
        version, "US", "THEM", 7, START_NS, Outgoing("B", tuple(body)), START_NS - 5 if again else None
    )
    assert naive.whole_at(octets, 0) == octets
    message = read_message(octets)
    assert (message.version, message.msg_type, message.number, message.is_again) == (version, "B", 7, again)
    assert message.fields[-len(body) :] == tuple((str(tag), value) for tag, value in body) or not body
    assert list(message.fields[1:]) == [
        (str(tag), value.decode("latin-1")) for tag, value in naive.fields(octets)[3:-1]
    ]


def test_a_length_is_for_its_own_data_only():
    head = [(35, b"B"), (34, b"2")]
    fields = [*head, (95, b"6"), (58, b"ab"), (1, b"2"), (148, b"x")]
    expected = tuple((str(tag), value.decode()) for tag, value in fields)
    assert read_message(naive.message(b"".join(b"%d=%s\x01" % field for field in fields))).fields == expected


@given(st.integers(0, 4 * 10**18))
def test_times_are_written_in_milliseconds_and_read_back(time_ns):
    assert utc_text(time_ns).encode() == naive.time(time_ns)
    assert utc_ns(utc_text(time_ns)) == time_ns // 10**6 * 10**6


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("20260105-14:30:00", START_NS),
        ("20260105-14:30:00.5", START_NS + 5 * 10**8),
        ("20260105-14:30:00.000000001", START_NS + 1),
        ("20260105-14:29:60", START_NS),
        ("20260105-14:29:61", None),
        ("20260229-14:30:00", None),
        ("20260105-24:00:00", None),
        ("20260105 14:30:00", None),
        ("20260105-14:30:00.", None),
        ("20260105", None),
        ("", None),
        (None, None),
    ],
)
def test_times_with_any_decimals_and_what_is_no_time(text, time_ns):
    assert utc_ns(text) == time_ns


def fault(kind, values=None, *, version="FIX.4.2", strict=True, **header):
    return check(read_message(Bench(version=version).message(kind, 2, values, **header)), strict)


@pytest.mark.parametrize(
    ("kind", "values", "found"),
    [
        ("0", {}, None),
        ("D", ORDER, None),
        ("8", REPORT, None),
        ("*", {}, Fault(INVALID_TYPE)),
        ("0", {999: "x"}, Fault(INVALID_TAG, "999")),
        ("0", {5000: "x"}, Fault(INVALID_TAG, "5000")),
        ("0", {55: "x"}, Fault(NOT_FOR_TYPE, "55")),
        ("1", {}, Fault(REQUIRED_MISSING, "112")),
        ("D", {11: "id"}, Fault(REQUIRED_MISSING, "55")),
        ("D", ORDER | {58: ""}, Fault(NO_VALUE, "58")),
        ("D", ORDER | {21: "4"}, Fault(WRONG_VALUE, "21")),
        ("D", ORDER | {167: "BOO"}, Fault(WRONG_VALUE, "167")),
        ("D", ORDER | {114: "X"}, Fault(WRONG_VALUE, "114")),
        ("D", ORDER | {38: "+200.00"}, Fault(WRONG_FORM, "38")),
        ("D", ORDER | {38: "1e3"}, Fault(WRONG_FORM, "38")),
        ("D", ORDER | {38: "."}, Fault(WRONG_FORM, "38")),
        ("D", ORDER | {38: "002000.00"}, None),
        ("D", ORDER | {38: "-.5"}, None),
        ("D", ORDER | {54: "11"}, Fault(WRONG_FORM, "54")),
        ("D", ORDER | {126: "20040415"}, Fault(WRONG_FORM, "126")),
        ("D", ORDER | {64: "20041315"}, Fault(WRONG_FORM, "64")),
        ("D", ORDER | {52: "20260105-14:30:00"}, Fault(OUT_OF_ORDER, "52")),
        ("D", ORDER | {386: "2", 336: "a"}, Fault(WRONG_COUNT, "386")),
        ("D", ORDER | {386: "1"}, Fault(WRONG_COUNT, "386")),
        ("D", ORDER | {386: "1", 336: "a"}, None),
        ("D", ORDER | {386: "0"}, None),
    ],
)
def test_the_first_thing_that_is_wrong_is_found(kind, values, found):
    if 52 in values:
        octets = naive.fields(Bench().message(kind, 2, {tag: value for tag, value in values.items() if tag != 52}))
        moved = [field for field in octets[2:-1] if field[0] != 52] + [(52, values[52].encode())]
        assert check(read_message(naive.message(moved)), True) == found
    else:
        assert fault(kind, values) == found


@pytest.mark.parametrize("tag", [34, 49, 52, 56])
def test_a_header_has_all_it_must_have(tag):
    assert fault("0", **{f"t{tag}": None}) == Fault(REQUIRED_MISSING, str(tag))
    assert fault("0", **{f"t{tag}": ""}) == Fault(NO_VALUE, str(tag))


def test_a_tag_may_come_again_in_a_group_only():
    head = [(35, b"D"), (34, b"2"), (49, b"INET"), (56, b"VENYM"), (52, naive.time(START_NS))]
    order = [*head, *((tag, value.encode()) for tag, value in ORDER.items())]
    twice = [*order, (386, b"2"), (336, b"a"), (336, b"b")]
    assert check(read_message(naive.message(twice)), True) is None
    assert check(read_message(naive.message([*order, (40, b"2")])), True) == Fault(REPEATED_TAG, "40")
    assert check(read_message(naive.message([*order, (40, b"2")])), False) == Fault(REPEATED_TAG, "40")
    assert check(read_message(naive.message([*order, (58, b"a"), (58, b"b")])), True) == Fault(REPEATED_TAG, "58")
    assert check(read_message(naive.message([*order, (58, b"a"), (58, b"b")])), False) is None


@pytest.mark.parametrize("values", [{9882: "A"}, {39: "Z"}, {999: "x"}, {453: "2", 448: "x", 447: "D"}])
def test_a_lenient_check_loses_no_report_for_what_nobody_reads(values):
    assert fault("8", REPORT | values, strict=False) is None
    assert fault("8", REPORT | values, strict=True) is not None


def test_what_some_venues_leave_out_is_not_missed():
    assert fault("A", {108: "30"}, strict=False) is None
    assert fault("A", {108: "30"}) == Fault(REQUIRED_MISSING, "98")
    assert fault("A", {98: "0"}, strict=False) == Fault(REQUIRED_MISSING, "108")


def test_types_that_two_parties_agreed_on_are_left_to_them():
    assert fault("U1", strict=False) is None
    assert fault("U1", strict=True) == Fault(INVALID_TYPE)
    assert fault("PQ", strict=False) == Fault(INVALID_TYPE)


def test_each_version_misses_its_own():
    without = {tag: value for tag, value in REPORT.items() if tag != 20}
    assert fault("8", without) == Fault(REQUIRED_MISSING, "20")
    assert fault("8", without, version="FIX.4.4") is None
