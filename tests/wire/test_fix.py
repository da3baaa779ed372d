"""Messages are found in whatever arrives, garbled ones cost only themselves, and fields are walked where they lie."""

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import fix as naive
from venym.hot.jit import hot
from venym.wire import fix

GUARDED = Guarded(4 * fix.MESSAGE_OCTETS_MAX)
HEAD = [(34, b"9"), (49, b"VENUE"), (56, b"VENYM"), (52, b"20260105-14:30:00.000")]
TEST_REQUEST = naive.message([(35, b"1"), *HEAD, (112, b"OK")])
HEARTBEAT = naive.message([(35, b"0"), *HEAD])
NEWS = naive.message([(35, b"B"), *HEAD, (148, b"x"), (33, b"1"), (58, b"y"), (95, b"5"), (96, b"ab\x01cd")])
REASONS = {fix.JUNK: "junk", fix.BAD_LENGTH: "length", fix.BAD_CHECKSUM: "sum"}


def soh(text: str) -> bytes:
    return text.replace("|", "\x01").encode()


def framed(reads: Iterable[bytes]) -> tuple[list[bytes], list[str], bytes]:
    """Messages, reasons of what was dropped, and what waits for more."""
    messages, dropped, waiting = [], [], b""
    for read in reads:
        waiting += read
        while True:
            status, start, end = map(int, fix.frame(GUARDED.put(waiting), 0, len(waiting)))
            assert start == 0
            if status == fix.MORE:
                assert end == len(waiting) < fix.MESSAGE_OCTETS_MAX
                break
            assert 0 < end <= len(waiting)
            if status == fix.COMPLETE:
                messages.append(waiting[:end])
            else:
                dropped.append(REASONS[status])
            waiting = waiting[end:]
    return messages, dropped, waiting


@hot
def walk(octets, start, end, found):
    """Rows of tag, value_start, value_end; how many, and the last tag: END or a status."""
    count, announced = 0, fix.NO_DATA
    while count < found.shape[0]:
        tag, value_start, value_end = fix.next_field(octets, start, end, announced)
        if tag <= fix.END:
            return count, tag
        found[count, 0], found[count, 1], found[count, 2] = tag, value_start, value_end
        count += 1
        announced = fix.data_announced(octets, tag, value_start, value_end)
        if announced < 0:
            return count, announced
        start = value_end + 1
    return count, fix.END


def walked(message: bytes) -> tuple[list[naive.Field], int]:
    octets, found = GUARDED.put(message), np.zeros((len(message) + 1, 3), np.int64)
    count, last = walk(octets, 0, len(message), found)
    return [(int(tag), message[start:end]) for tag, start, end in found[:count]], int(last)


# Framing


def test_a_message_cut_anywhere_waits_for_the_rest_and_comes_once():
    for cut in range(len(NEWS) + 1):
        assert framed([NEWS[:cut]])[0] == [NEWS] * (cut == len(NEWS))
        assert framed([NEWS[:cut], NEWS[cut:]]) == ([NEWS], [], b"")
    assert framed(NEWS[i : i + 1] for i in range(len(NEWS))) == ([NEWS], [], b"")


HEADER = "|35=0|34=9|49=VENUE|56=VENYM|52=20260105-14:30:00.000|"
GARBLED = {
    "too short a BodyLength": (soh(f"8=FIX.4.2|9=5{HEADER}10=161|"), ["length"]),
    "too long a BodyLength": (soh(f"8=FIX.4.2|9=55{HEADER}10=220|"), ["length"]),
    "wrong check sum": (soh(f"8=FIX.4.2|9=53{HEADER}10=000|"), ["sum"]),
    "two digits of check sum": (soh(f"8=FIX.4.2|9=53{HEADER}10=18|"), ["sum"]),
    "no check sum": (soh(f"8=FIX.4.2|9=53{HEADER}"), ["length"]),
    "junk in front": (b"junk", ["junk"]),
    "a BodyLength out of proportion": (soh(f"8=FIX.4.2|9=1000000000{HEADER}10=077|"), ["length"]),
    "letters in BodyLength": (soh("8=FIX.4.2|9=0K2|8=FIX.4.2|9=02A|"), ["length", "length"]),
    "no BodyLength": (soh("8=FIX.4.2|9=|35=0|10=000|"), ["length"]),
    "a negative BodyLength": (soh(f"8=FIX.4.2|9=-53{HEADER}10=000|"), ["length"]),
    "BodyLength not second": (soh(f"8=FIX.4.2{HEADER}9=53|10=000|"), ["junk"]),
    "MsgType not third": (naive.message([(34, b"2"), (35, b"0"), (49, b"A")]), ["length"]),
    "BeginString not first": (soh("35=0|8=FIX.4.2|9=29|34=2|49=TW|10=121|"), ["junk", "length"]),
    "no end of BeginString": (soh("8=FIX.4.2.and.so.on.and.on|"), ["junk"]),
    "a beginning in a text": (soh("8=FIX.4.2|9=9|35=0|58=8=FIX.4.2|9=5|35=0|10=161|"), ["length"]),
}


@pytest.mark.parametrize("name", GARBLED)
def test_what_is_garbled_is_dropped_and_the_next_message_is_found(name):
    garbled, reasons = GARBLED[name]
    assert framed([garbled + TEST_REQUEST]) == ([TEST_REQUEST], reasons, b"")
    for cut in range(1, len(garbled)):
        messages, dropped, waiting = framed([garbled[:cut], garbled[cut:] + TEST_REQUEST])
        assert (messages, waiting) == ([TEST_REQUEST], b"")
        assert dropped


@pytest.mark.parametrize("version", ["FIX.4.2", "FIX.4.4"])
def test_a_message_in_the_data_of_a_garbled_one_is_not_found(version):
    inner = naive.message([(35, b"8"), *HEAD, (37, b"not ours")], version)
    outer = naive.message([(35, b"B"), *HEAD, (95, b"%d" % (len(inner) + 2)), (96, b"\x01" + inner + b"\x01")], version)
    assert framed([outer + TEST_REQUEST]) == ([outer, TEST_REQUEST], [], b"")
    garbled = outer[:-4] + b"%03d\x01" % ((int(outer[-4:-1]) + 1) % 256)
    assert framed([garbled + TEST_REQUEST]) == ([TEST_REQUEST], ["sum"], b"")
    assert framed(garbled[i : i + 1] for i in range(len(garbled))) == ([], ["sum"], b"")


def test_a_body_length_that_takes_in_the_next_message_costs_that_one_too():
    garbled = soh(f"8=FIX.4.2|9=65{HEADER}10=220|")
    assert framed([garbled + HEARTBEAT + TEST_REQUEST]) == ([TEST_REQUEST], ["length"], b"")


@pytest.mark.parametrize(
    "odd", [(b"ab", b"1"), (b"112", b""), (b"58", b"8=FIX.4.2"), (b"58", b"10=161"), (b"", b"x")], ids=str
)
def test_an_odd_field_is_no_matter_of_framing(odd):
    message = naive.message(naive.joined([(35, b"0"), *HEAD]) + b"%s=%s\x01" % odd)
    assert framed([message + TEST_REQUEST]) == ([message, TEST_REQUEST], [], b"")


def test_every_wrong_check_sum_is_refused():
    right = int(HEARTBEAT[-4:-1])
    taken = [n for n in range(1000) if framed([HEARTBEAT[:-4] + b"%03d\x01" % n])[0]]
    assert taken == [right]


def test_a_sum_of_eight_is_three_digits():
    bodies = (naive.joined([(35, b"0"), (112, b"%d" % i)]) for i in range(10_000))
    message = next(made for made in map(naive.message, bodies) if made.endswith(b"\x0110=008\x01"))
    assert framed([message]) == ([message], [], b"")
    assert framed([message[:-4] + b"8\x01"])[0] == []


def test_endless_octets_without_an_end_are_dropped_as_they_come():
    messages, dropped, waiting = framed([b"x" * 1_000] * 50)
    assert (messages, waiting, dropped) == ([], b"", ["junk"] * 50)
    messages, dropped, waiting = framed([b"8=", *[b"y" * 1_000] * 50])
    assert (messages, waiting) == ([], b"")
    messages, dropped, waiting = framed([b"8=FIX", *[b"y" * 1_000] * 50])
    assert (messages, waiting) == ([], b"")


def test_a_long_message_that_never_ends_is_dropped_at_its_length():
    claimed = soh(f"8=FIX.4.2|9={fix.BODY_LENGTH_MAX}|35=0|58=")
    messages, dropped, waiting = framed([claimed, *[b"z" * 500] * 17, b"\x01" + TEST_REQUEST])
    assert (messages, dropped[0], waiting) == ([TEST_REQUEST], "length", b"")
    assert framed([soh(f"8=FIX.4.2|9={fix.BODY_LENGTH_MAX + 1}|")])[1] == ["length"]
    longest = naive.message(b"35=0\x0158=" + b"w" * (fix.BODY_LENGTH_MAX - 9) + b"\x01", "FIX.4.2.andmor")
    assert framed([longest]) == ([longest], [], b"")


def test_a_begin_in_the_middle_of_a_buffer_is_framed_where_it_lies():
    octets = GUARDED.put(b"..." + HEARTBEAT + TEST_REQUEST)
    end = len(octets)
    assert fix.frame(octets, 3, end) == (fix.COMPLETE, 3, 3 + len(HEARTBEAT))
    assert fix.frame(octets, 3 + len(HEARTBEAT), end) == (fix.COMPLETE, 3 + len(HEARTBEAT), end)


@pytest.mark.parametrize(("start", "end"), [(-1, 3), (0, 4), (3, 3), (4, 3), (2, 1)])
def test_what_is_not_in_the_buffer_is_not_looked_at(start, end):
    assert fix.frame(GUARDED.put(b"8=F"), start, end)[0] == fix.MORE


PIECES = st.sampled_from(
    [TEST_REQUEST, HEARTBEAT, NEWS, b"\x01", b"8=FIX", b"8=FIX.4.4\x019=", b"9=5\x01", b"10=161\x01", b"junk", b"35="]
)
MUTATIONS = st.lists(st.tuples(st.integers(0, 90), st.sampled_from(b"\x01\x0089=FIX.-")), max_size=3)


@st.composite
def streams(draw):
    stream = b""
    for piece in draw(st.lists(PIECES, max_size=6)):
        mutated = bytearray(piece)
        for at, octet in draw(MUTATIONS):
            mutated[at % len(mutated)] = octet
        stream += bytes(mutated)
    return stream


@given(streams())
@settings(max_examples=150)
def test_a_stream_is_framed_as_by_bytes_split(stream):
    ended = stream + b"\x01" + HEARTBEAT * (2 + fix.BODY_LENGTH_MAX // len(HEARTBEAT))
    assert framed([ended])[0] == naive.framed(ended)


@given(streams(), st.integers(1, 40))
@settings(max_examples=40)
def test_however_it_is_cut_the_session_carries_on(stream, size):
    reads = [stream[i : i + size] for i in range(0, len(stream), size)]
    messages, _, _ = framed([*reads, b"\x01" + TEST_REQUEST * (2 + fix.BODY_LENGTH_MAX // len(TEST_REQUEST)), NEWS])
    assert messages[-1] == NEWS


# The walk


TAGS = st.integers(1, 10**fix.TAG_DIGITS_MAX - 1).filter(lambda tag: tag not in fix.LENGTH_THEN_DATA)
VALUES = st.binary(min_size=1, max_size=30).map(lambda octets: octets.replace(b"\x01", b"="))
PLAIN_FIELDS = st.tuples(TAGS, VALUES).map(lambda field: [field])
DATA_FIELDS = st.tuples(st.sampled_from(sorted(fix.LENGTH_THEN_DATA.items())), st.binary(min_size=0, max_size=20)).map(
    lambda drawn: [(drawn[0][0], b"%d" % len(drawn[1])), (drawn[0][1], drawn[1])]
)


@given(st.lists(PLAIN_FIELDS | DATA_FIELDS, max_size=12))
@settings(max_examples=100)
@example([[(95, b"5"), (96, b"ab\x01cd")], [(58, b"=")]])
def test_fields_are_walked_with_their_values_where_they_lie(groups):
    fields = [field for group in groups for field in group]
    assert walked(naive.joined(fields)) == (naive.fields(naive.joined(fields)), fix.END) == (fields, fix.END)


@pytest.mark.parametrize(
    ("text", "count", "status"),
    [
        ("35=0|ab=1|", 1, fix.BAD_TAG),
        ("35=0|=1|", 1, fix.BAD_TAG),
        ("35=0||58=x|", 1, fix.BAD_TAG),
        ("-1=0|", 0, fix.BAD_TAG),
        ("035=0|", 0, fix.BAD_TAG),
        ("0=0|", 0, fix.BAD_TAG),
        ("123456789=0|", 0, fix.BAD_TAG),
        ("35=0|112=|58=x|", 1, fix.EMPTY_VALUE),
        ("35=0|58=x", 1, fix.UNTERMINATED),
        ("35=0|58=", 1, fix.UNTERMINATED),
        ("35=0|58", 1, fix.UNTERMINATED),
        ("95=4|96=ab|cd|", 1, fix.BAD_DATA),
        ("95=6|96=ab|cd|", 1, fix.BAD_DATA),
        ("95=99999999|96=ab|", 1, fix.BAD_DATA),
        ("95=x|96=ab|", 1, fix.BAD_DATA),
        ("95=-1|96=ab|", 1, fix.BAD_DATA),
        ("95=5|58=ab|", 2, fix.END),
        ("96=ab|58=x|", 2, fix.END),
    ],
)
def test_a_wrong_field_ends_the_walk_with_its_name(text, count, status):
    found, last = walked(soh(text))
    assert (len(found), last) == (count, status)


@given(MUTATIONS, st.integers(0, len(NEWS)))
@settings(max_examples=100)
def test_no_walk_leaves_the_buffer(mutations, end):
    mutated = bytearray(NEWS)
    for at, octet in mutations:
        mutated[-1 - at % len(mutated)] = octet
    found, last = walked(bytes(mutated[:end]))
    assert last <= fix.END
    assert len(naive.joined(found)) <= end
