"""Packets of SoupBinTCP, field by field and by the thousand, against the naive twin; nothing is read beyond the end."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import soupbintcp as naive
from venym.wire import soupbintcp as soup
from venym.wire.soupbintcp import Accepted, Login, SoupError

READ, WRITTEN = Guarded(1 << 17), Guarded(1 << 17)
WHY = {soup.MORE: "MORE", soup.FULL: "FULL", soup.LAST: "LAST", soup.OTHER: "OTHER", soup.TYPELESS: "TYPELESS"}
MESSAGES = st.lists(st.binary(max_size=40), max_size=8)


def gathered(octets: bytes, room: int, last: int = -1) -> tuple[int, bytes, int, str]:
    into = WRITTEN.put(bytes(room))
    position, end, messages, status = soup.gather(READ.put(octets), 0, len(octets), into, 0, room, last)
    return int(position), into[:end].tobytes(), int(messages), WHY[int(status)]


def test_a_login_as_it_lies_on_the_wire():
    octets = soup.pack_login(Login("user", "secret", "", 1))
    assert octets == b"\0\x2fLuser  secret    " + b" " * 10 + b" " * 19 + b"1"
    assert soup.read_login(octets[3:]) == Login("user", "secret", "", 1)
    assert soup.read_login(octets[3:] + b"   15") == Login("user", "secret", "", 1)  # 4.x says how patient it is


def test_an_acceptance_as_it_lies_on_the_wire():
    octets = soup.pack_accepted(Accepted("ABC", 12))
    assert octets == b"\0\x1fA       ABC                  12"
    assert soup.read_accepted(octets[3:]) == Accepted("ABC", 12)


@given(
    st.text("aZ09", max_size=6), st.text("aZ09", max_size=10), st.text("aZ09", max_size=10), st.integers(0, 2**63 - 1)
)
@settings(deadline=None)
def test_a_login_is_read_as_it_was_written(username: str, password: str, session: str, sequence: int):
    login = Login(username, password, session, sequence)
    assert soup.read_login(soup.pack_login(login)[3:]) == login
    accepted = Accepted(session, sequence)
    assert soup.read_accepted(soup.pack_accepted(accepted)[3:]) == accepted


@pytest.mark.parametrize(
    ("login", "text"),
    [
        (Login("sevens7", "", "", 1), "username is not at most 6 printable ASCII characters"),
        (Login("", "elevenchars", "", 1), "password is not at most 10 printable ASCII characters"),
        (Login("", "", "elevenchars", 1), "session is not at most 10 printable ASCII characters"),
        (Login("ü", "", "", 1), "username"),
        (Login("a\n", "", "", 1), "username"),
        (Login("", "", "", -1), "sequence number -1 is out of range"),
        (Login("", "", "", 2**63), "is out of range"),
    ],
)
def test_what_does_not_fit_its_field_is_refused(login: Login, text: str):
    with pytest.raises(ValueError, match=text) as refused:
        soup.pack_login(login)
    assert "elevenchars" not in str(refused.value)  # a password is not shown


def test_fields_that_cannot_be_read():
    for payload in (b"", bytes(45), b"user  secret              " + b"x" * 20):
        with pytest.raises(SoupError, match=r"login request of|is no number"):
            soup.read_login(payload)
    for payload in (b" " * 30, b" " * 29, b"ABC       -000000000000000001", b"\xff" * 10 + b" " * 19 + b"1"):
        with pytest.raises(SoupError):
            soup.read_accepted(payload)
    with pytest.raises(SoupError, match="is no number"):
        soup.read_digits("n", b"99999999999999999999")


def test_a_payload_no_length_holds():
    assert len(soup.pack(soup.MESSAGE, bytes(soup.MESSAGE_MAX))) == soup.PACKET_MAX
    with pytest.raises(ValueError, match="payload of 65535 octets is over 65534"):
        soup.pack(soup.MESSAGE, bytes(soup.MESSAGE_MAX + 1))


@given(MESSAGES, st.integers(0, 60), st.integers(0, 120))
@settings(max_examples=100, deadline=None)
def test_messages_become_blocks_as_far_as_there_is_room(messages: list[bytes], cut: int, room: int):
    octets = b"".join(naive.frame(b"S", message) for message in messages)
    octets = octets[: max(0, len(octets) - cut)]
    assert gathered(octets, room) == naive.gather(octets, room, -1)


@given(
    st.lists(
        st.tuples(st.sampled_from((b"S", b"S", b"S", b"H", b"+")), st.sampled_from((b"", b"AB", b"G1"))), max_size=6
    )
)
@settings(max_examples=100, deadline=None)
def test_it_stops_before_other_packets_and_before_the_last_message(packets: list[tuple[bytes, bytes]]):
    octets = b"".join(naive.frame(*packet) for packet in packets)
    for last in (-1, ord("G")):
        assert gathered(octets, 200, last) == naive.gather(octets, 200, last)


@given(st.binary(max_size=60), st.integers(0, 60))
@settings(max_examples=200, deadline=None)
def test_any_octets(octets: bytes, room: int):
    for start in (b"", b"\0\3SA", b"\0\2S"):
        assert gathered(start + octets, room) == naive.gather(start + octets, room, -1)


@given(MESSAGES, st.integers(0, 30), st.integers(0, 200))
@settings(max_examples=100, deadline=None)
def test_blocks_become_packets_as_far_as_there_is_room(messages: list[bytes], cut: int, room: int):
    blocks = b"".join(len(message).to_bytes(2, "big") + message for message in messages)
    blocks = blocks[: max(0, len(blocks) - cut)]
    into = WRITTEN.put(bytes(room))
    position, end, count = soup.spread(READ.put(blocks), 0, len(blocks), into, 0)
    octets = into[:end].tobytes()
    assert naive.packets(octets) == ([(b"S", message) for message in messages[:count]], b"")
    assert position == sum(2 + len(message) for message in messages[:count])
    if count < len(messages):  # for one of two reasons
        block_end = position + 2 + len(messages[count])
        assert block_end > len(blocks) or end + 3 + len(messages[count]) > room


def test_a_block_no_packet_holds_is_left():
    blocks = np.frombuffer(b"\xff\xff" + bytes(0xFFFF), np.uint8)
    assert soup.spread(blocks, 0, len(blocks), np.zeros(1 << 17, np.uint8), 0) == (0, 0, 0)
