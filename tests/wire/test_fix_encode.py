"""Orders are written as the twin writes them, to the octet, and read by others."""

import struct
import subprocess

import numpy as np
import pytest
import simplefix
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import fix as naive
from tests.wire import build
from tests.wire.fix_samples import EDGES_NS, KINDS, ORDERS, STATIC, Order, encode, expected, template, word
from venym.wire import fix, fix_encode
from venym.wire.fix_encode import CANCEL, LIMIT, MARKET, NEW_ORDER, REPLACE, TemplateError, make_template

ROOM = 512
GUARDED = Guarded(ROOM)
TEMPLATES = {
    (msg_type, version, decimals): template(msg_type, version, decimals)
    for msg_type in KINDS
    for version in fix_encode.VERSIONS
    for decimals in (0, 3, 6, 9)
}


def encoded(order: Order, msg_type: int = NEW_ORDER, version: str = "FIX.4.2", decimals: int = 3) -> bytes:
    out = np.zeros(ROOM, np.uint8)
    end = encode(TEMPLATES[msg_type, version, decimals], order, out)
    assert end > 0, end
    return out[:end].tobytes()


def field(message: bytes, tag: int) -> bytes | None:
    return dict(naive.fields(message)).get(tag)


def test_a_new_order_octet_by_octet():
    assert encoded(Order()).replace(b"\x01", b"|") == (
        b"8=FIX.4.2|9=179|35=D|34=42|49=VENYM|52=20260105-14:30:00.123|56=INET|57=DESK|1=ACC1|11=V1042|21=1|38=100|40=2"
        b"|44=1234.5678|47=P|54=1|55=AAPL|59=0|60=20260105-14:30:00.124|109=MPID|110=100|9140=Y|10=075|"
    )


def test_a_cancel_has_neither_price_nor_type_and_names_both_orders():
    assert encoded(Order(), CANCEL).replace(b"\x01", b"|") == (
        b"8=FIX.4.2|9=152|35=F|34=42|49=VENYM|52=20260105-14:30:00.123|56=INET|57=DESK|1=ACC1|11=V1042|38=100|41=V1041"
        b"|47=P|54=1|55=AAPL|60=20260105-14:30:00.124|109=MPID|9140=Y|10=168|"
    )


@given(ORDERS, st.sampled_from(sorted(KINDS)), st.sampled_from(fix_encode.VERSIONS), st.sampled_from([0, 3, 6, 9]))
@settings(max_examples=200)
def test_every_message_is_what_the_twin_writes_and_what_others_read(order, msg_type, version, decimals):
    message = encoded(order, msg_type, version, decimals)
    assert message == expected(msg_type, order, version, decimals)
    assert fix.frame(np.frombuffer(message, np.uint8), 0, len(message)) == (fix.COMPLETE, 0, len(message))
    parser = simplefix.FixParser()
    parser.append_buffer(message)
    read = parser.get_message()
    assert [(int(tag), value) for tag, value in read.pairs] == naive.fields(message)
    assert read.encode() == message  # lengths and sums as simplefix makes them


@given(ORDERS, st.sampled_from(sorted(KINDS)), st.integers(0, 9))
@settings(max_examples=100)
def test_room_is_needed_to_the_octet_and_nothing_beside_is_written(order, msg_type, at):
    size = len(encoded(order, msg_type))
    made = TEMPLATES[msg_type, "FIX.4.2", 3]
    out = GUARDED.put(b"\xee" * (at + size))
    assert encode(made, order, out, at) == at + size
    assert out[:at].tobytes() == b"\xee" * at
    wide = np.full(at + size + 16, 0xEE, np.uint8)
    assert encode(made, order, wide, at) == at + size
    assert wide[at + size :].tobytes() == b"\xee" * 16
    for less in (1, 7, size):
        out = GUARDED.put(b"\xee" * (at + size - less))
        assert encode(made, order, out, at) == fix_encode.NO_ROOM
        assert set(out.tobytes()) <= {0xEE}
    assert encode(made, order, wide, -1) == fix_encode.NO_ROOM
    assert encode(made, order, wide, len(wide) + 1) == fix_encode.NO_ROOM


@pytest.mark.parametrize(
    ("price_e4", "text"),
    [
        (1, b"0.0001"), (3_000, b"0.3000"), (9_999, b"0.9999"), (10_000, b"1.0000"), (1_000_000, b"100.0000"),
        (12_345_678, b"1234.5678"), (2**31 - 1, b"214748.3647"), (round((0.1 + 0.2) * 10_000), b"0.3000"),
        (np.int64(12_345_678), b"1234.5678"),
    ],
)  # fmt: skip
def test_prices_have_four_decimals_and_no_exponent(price_e4, text):
    assert field(encoded(Order(price_e4=price_e4)), 44) == text


@pytest.mark.parametrize("shares", [100, np.int64(100), 1, 2**31 - 1])
def test_quantities_are_integers(shares):
    assert field(encoded(Order(shares=shares)), 38) == b"%d" % shares


def test_a_market_order_has_no_price_and_its_own_fields():
    message = encoded(Order(ord_type=MARKET, price_e4=0, tif=3))
    assert [field(message, tag) for tag in (40, 44, 18, 59, 110)] == [b"1", None, b"1", b"3", None]


def test_post_only_and_short_have_their_own_fields():
    assert field(encoded(Order()), 18) is None
    assert field(encoded(Order(post_only=1)), 18) == b"6"
    assert field(encoded(Order(post_only=1)), 110) == b"200"
    assert [field(encoded(Order(side=side)), 114) for side in (1, 2, 5)] == [None, None, b"N"]
    assert field(encoded(Order(side=5, post_only=1)), 114) == b"N"


def test_handling_is_there_in_4_2_and_may_be_another():
    assert [field(encoded(Order(), NEW_ORDER, version), 21) for version in fix_encode.VERSIONS] == [b"1", None]
    out = np.zeros(ROOM, np.uint8)
    end = encode(template(NEW_ORDER, static={**STATIC, 21: "3"}), Order(), out)
    assert field(out[:end].tobytes(), 21) == b"3"


def test_a_sum_of_eight_is_three_digits():
    orders = (Order(sequence=n, symbol=chr(letter) * 8) for n in range(1, 9) for letter in range(62, 94))
    message = next(made for order in orders if (made := encoded(order)).endswith(b"\x0110=008\x01"))
    assert fix.frame(np.frombuffer(message, np.uint8), 0, len(message))[0] == fix.COMPLETE


def test_times_at_the_edges_in_any_order():
    for time_ns in [*EDGES_NS, *reversed(EDGES_NS)]:  # the date is kept from one message to the next
        message = encoded(Order(sent_ns=time_ns, transact_ns=EDGES_NS[0]), decimals=9)
        assert field(message, 52) == naive.time(time_ns, 9)
        assert field(message, 60) == b"19700101-00:00:00.000000000"


def test_every_day_of_four_hundred_years_has_its_date():
    day_ns = 86_400 * 10**9
    for day in range(0, 106_000, 97):  # to 2260, through every month and every kind of leap year
        assert field(encoded(Order(sent_ns=day * day_ns)), 52) == naive.time(day * day_ns)


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"sequence": 0}, "BAD_SEQUENCE"), ({"sequence": 2**53 + 1}, "BAD_SEQUENCE"), ({"sent_ns": -1}, "BAD_TIME"),
        ({"transact_ns": -1}, "BAD_TIME"), ({"cl_ord_id": 0}, "BAD_CL_ORD_ID"),
        ({"cl_ord_id": 10**18}, "BAD_CL_ORD_ID"),
        ({"symbol": ""}, "BAD_SYMBOL"), ({"symbol": "A\x01B"}, "BAD_SYMBOL"), ({"symbol": "A B"}, "BAD_SYMBOL"),
        ({"symbol": "A\x7f"}, "BAD_SYMBOL"), ({"side": 0}, "BAD_SIDE"), ({"side": 3}, "BAD_SIDE"),
        ({"shares": 0}, "BAD_SHARES"), ({"shares": -1}, "BAD_SHARES"), ({"shares": 2**31}, "BAD_SHARES"),
        ({"price_e4": 0}, "BAD_PRICE"), ({"price_e4": -1}, "BAD_PRICE"), ({"price_e4": 2**31}, "BAD_PRICE"),
        ({"ord_type": 3}, "BAD_ORD_TYPE"), ({"ord_type": MARKET, "post_only": 1}, "BAD_ORD_TYPE"),
        ({"tif": 1}, "BAD_TIF"), ({"tif": -1}, "BAD_TIF"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_refused_and_nothing_written(change, code):
    for msg_type in (NEW_ORDER, REPLACE, CANCEL):
        if msg_type == CANCEL and code in ("BAD_PRICE", "BAD_ORD_TYPE", "BAD_TIF"):
            continue
        out = GUARDED.put(b"\xee" * ROOM)
        made = TEMPLATES[msg_type, "FIX.4.2", 3]
        assert encode(made, Order()._replace(**change), out) == getattr(fix_encode, code)
        assert set(out.tobytes()) == {0xEE}


@pytest.mark.parametrize("orig", [0, -1, 10**18])
def test_an_order_to_cancel_or_replace_is_named(orig):
    for msg_type in (CANCEL, REPLACE):
        made = TEMPLATES[msg_type, "FIX.4.2", 3]
        assert encode(made, Order(orig_cl_ord_id=orig), np.zeros(ROOM, np.uint8)) == fix_encode.BAD_CL_ORD_ID


def test_a_template_of_another_type_is_refused():
    o = Order()
    head = (np.zeros(ROOM, np.uint8), 0, o.sequence, o.sent_ns)
    made = TEMPLATES[CANCEL, "FIX.4.2", 3]
    values = (word(o.symbol), 1, 100, 10_000, LIMIT, 0, 0, o.transact_ns)
    assert fix_encode.encode_new_order(made, *head, 1, *values) == fix_encode.WRONG_TEMPLATE


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"version": "FIX.5.0"}, "version"), ({"msg_type": ord("8")}, "message type"), ({"decimals": 4}, "decimals"),
        ({"static": {44: "1"}}, "tag 44"), ({"static": {34: "1"}}, "tag 34"), ({"static": {0: "1"}}, "tag 0"),
        ({"static": {1: ""}}, "tag 1"), ({"static": {1: "a\x01b"}}, "tag 1"), ({"static": {1: "\u00e9"}}, "tag 1"),
        ({"sender": ""}, "tag 49"), ({"target": "\n"}, "tag 56"), ({"cl_ord_id_prefix": "\x01"}, "tag 11"),
        ({"cl_ord_id_prefix": "x" * 21}, "prefix"), ({"post_only": {40: "2"}}, "tag 40"),
        ({"static": {58: "x" * 1_000}}, "octets"),
    ],
)  # fmt: skip
def test_a_template_that_would_not_do_is_refused(change, says):
    right = {"version": "FIX.4.2", "msg_type": NEW_ORDER, "sender": "A", "target": "B"}
    assert make_template(**right).msg_type == NEW_ORDER
    with pytest.raises(TemplateError, match=says):
        make_template(**(right | change))


def test_tshark_finds_every_field_and_the_right_sums(tshark, tmp_path):
    orders = [Order(sequence=n, price_e4=10**n % (2**31 - 1) + 1, sent_ns=EDGES_NS[n]) for n in range(1, 10)]
    messages = [encoded(order, msg_type, version) for order in orders for msg_type, version, _ in list(TEMPLATES)[::4]]
    spoilt = messages[0].replace(b"55=AAPL", b"55=AAPM")
    path, at, frames = tmp_path / "fix.pcap", 1, []
    for message in [*messages, spoilt]:
        tcp = struct.pack(">HHIIBBHHH", 40_000, 9_878, at, 1, 0x50, 0x18, 65_535, 0, 0) + message
        frames.append(build.ethernet(build.ipv4(tcp, to="10.0.0.2", protocol=6)))
        at += len(message)
    path.write_bytes(build.pcap(frames))
    names = ("BodyLength", "MsgSeqNum", "SendingTime", "Symbol", "OrderQty", "Price", "checksum_good", "checksum_bad")
    wanted = [argument for name in names for argument in ("-e", f"fix.{name}")]
    command = [tshark, "-r", str(path), "-d", "tcp.port==9878,fix", "-T", "fields", *wanted, "-e", "_ws.malformed"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    found = [line.split("\t") for line in lines]
    tags = (9, 34, 52, 55, 38, 44)
    for line, message in zip(found, messages, strict=False):
        assert line == [*((field(message, tag) or b"").decode() for tag in tags), "1", "0", ""]
    assert len(found) == len(messages) + 1
    assert found[-1][-3:] == ["0", "1", ""]
