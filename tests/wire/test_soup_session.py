"""Both sides of a SoupBinTCP connection keep the protocol, however TCP cuts it, and notice when the other does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import soupbintcp as naive
from venym.wire import soup_session as session
from venym.wire import soupbintcp as soup
from venym.wire.soup_session import Client, Rejected, Server, Side, Silent
from venym.wire.soupbintcp import Login, SoupError

SECOND = 1_000_000_000
ACCEPTED = soup.pack_accepted(soup.Accepted("S1", 1))
INTO = np.zeros(1 << 18, np.uint8)


def give(side: Side, octets: bytes, now_ns: int = 0) -> None:
    space = side.space()
    space[: len(octets)] = octets
    side.received(len(octets), now_ns)


def take(side: Side) -> bytes:
    octets = bytes(side.outgoing)
    side.sent(len(octets))
    return octets


def client() -> Client:
    made = Client(Login("user", "secret", "", 1), 0)
    take(made)
    return made


def read(made: Client, last: int = -1) -> bytes:
    end, _ = made.gather(INTO, 0, len(INTO), last)
    return INTO[:end].tobytes()


def test_a_conversation():
    one, other = Client(Login("user", "secret", "", 1), 0), Server(0)
    give(other, take(one))
    assert other.read_login() == Login("user", "secret", "", 1)
    other.accept("S1", 1, 0)
    other.put_message(b"first", 0)
    other.put_message(b"second", 0)
    give(one, take(other))
    assert read(one) == naive.blocks([b"first", b"second"])
    assert (one.state, one.session, one.sequence) == (session.OPEN, "S1", 3)
    one.put(soup.pack(soup.UNNUMBERED, b"up"), 0)
    one.log_out(0)
    give(other, take(one))
    assert other.read() == [b"up"] and other.state == session.ENDED


def test_a_stream_may_be_cut_anywhere():
    octets = ACCEPTED + b"".join(
        (naive.frame(b"S", b"one"), naive.frame(b"H"), naive.frame(b"+", b"hello"), naive.frame(b"S", b"two"))
    )
    octets += naive.frame(b"Z")
    for cut in range(len(octets) + 1):
        made = client()
        give(made, octets[:cut])
        got = read(made)
        give(made, octets[cut:])
        assert got + read(made) == naive.blocks([b"one", b"two"])
        assert (made.state, made.sequence) == (session.ENDED, 3)


@given(st.lists(st.binary(min_size=1, max_size=70), max_size=20), st.lists(st.integers(1, 90), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_a_stream_in_any_pieces(messages: list[bytes], sizes: list[int]):
    octets, got, made, at, turn = ACCEPTED, b"", client(), 0, 0
    octets += b"".join(naive.frame(b"S", message) for message in messages)
    while at < len(octets):
        size = sizes[turn % len(sizes)]
        give(made, octets[at : at + size])
        at, turn = at + size, turn + 1
        got += read(made)
    assert got == naive.blocks(messages) and made.sequence == 1 + len(messages)


@given(st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_octets_are_read_or_refused(octets: bytes):
    for made in (client(), Server(0)):
        give(made, octets)
        try:
            read(made) if isinstance(made, Client) else made.read_login()
        except SoupError:
            continue
        assert naive.packets(octets) is not None or made.state != session.LOGIN


def test_there_is_always_space_for_the_largest_packet():
    made = client()
    give(made, ACCEPTED)
    large = naive.frame(b"S", bytes(soup.MESSAGE_MAX))
    for _ in range(10):
        for octets in (naive.frame(b"S", b"x" * 999), large):
            for at in range(0, len(octets), 50_000):
                give(made, octets[at : at + 50_000])
                read(made)
    assert made.sequence == 21


def test_what_has_no_room_waits():
    made = client()
    give(made, ACCEPTED + naive.frame(b"S", b"one") + naive.frame(b"S", b"two"))
    assert made.gather(INTO, 0, 9) == (5, soup.FULL)
    assert made.gather(INTO, 0, 9) == (5, soup.MORE)
    assert INTO[:5].tobytes() == b"\0\3two"


def test_the_last_message_is_left_unread():
    made = client()
    give(made, ACCEPTED + naive.frame(b"S", b"one") + naive.frame(b"S", b"G12"))
    assert made.gather(INTO, 0, 99, ord("G")) == (5, soup.LAST)
    assert made.next_packet() == (soup.MESSAGE, b"G12")


@pytest.mark.parametrize(
    ("reason", "text"), [(b"A", "not authorised"), (b"S", "session not available"), (b"?", r"b'\?'")]
)
def test_a_rejected_login(reason: bytes, text: str):
    made, other = client(), Server(0)
    other.reject(reason, 0)
    give(made, take(other))
    with pytest.raises(Rejected, match=f"login rejected: {text}"):
        read(made)
    assert made.state == session.REJECTED == other.state
    made.update(99 * SECOND)
    assert not made.outgoing


def test_heartbeats_both_ways():
    one, other = client(), Server(0)
    give(other, soup.pack_login(Login("user", "secret", "", 1)))
    other.read_login()
    other.accept("S1", 1, 0)
    give(one, take(other))
    read(one)
    for side, heartbeat in ((one, b"\0\1R"), (other, b"\0\1H")):
        side.update(SECOND - 1)
        assert take(side) == b""
        side.update(SECOND)
        assert take(side) == heartbeat
        side.update(SECOND * 3 // 2)
        assert take(side) == b""
    give(one, b"\0\1H", SECOND)
    give(other, b"\0\1R", SECOND)
    assert read(one) == b"" and other.read() == []


def test_a_silent_peer():
    for made in (client(), Server(0)):
        give(made, b"\0", 5 * SECOND)
        made.update(20 * SECOND - 1)
        with pytest.raises(Silent, match=r"nothing came for 15\.0 s"):
            made.update(20 * SECOND)


def test_a_client_that_talks_but_does_not_log_in():
    made = Server(0)
    for second in range(30):
        give(made, b"\0\1R", second * SECOND)
        assert made.read_login() is None
        made.update(second * SECOND)
    with pytest.raises(Silent, match="no login for 30 s"):
        made.update(30 * SECOND)


@pytest.mark.parametrize("octets", [b"\0\0", b"\0\1Q", b"\0\4Sone", b"\0\1Z", b"\0\2Ax"])
def test_what_may_not_come_before_the_login_is_accepted(octets: bytes):
    made = client()
    give(made, octets)
    with pytest.raises(SoupError):
        read(made)


@pytest.mark.parametrize("octets", [b"\0\0", ACCEPTED, b"\0\2JA", b"\0\1R"])
def test_what_may_not_come_after_it(octets: bytes):
    made = client()
    give(made, ACCEPTED)
    read(made)
    give(made, octets)
    with pytest.raises(SoupError):
        read(made)


def test_what_a_server_does_not_take():
    for octets in (b"\0\1U", b"\0\1O", b"\0\1S"):
        made = Server(0)
        give(made, octets)
        with pytest.raises(SoupError, match="before the login"):
            made.read_login()
    made = Server(0)
    made.accept("S1", 1, 0)
    give(made, b"\0\1L")
    with pytest.raises(SoupError, match="'L' that may not come in state OPEN"):
        made.read()


def test_the_end_of_a_session():
    made, other = client(), Server(0)
    other.accept("S1", 5, 0)
    other.end(0)
    give(made, take(other))
    assert read(made) == b""
    assert (made.state, made.sequence, other.state) == (session.ENDED, 5, session.ENDED)
