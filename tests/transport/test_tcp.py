"""A TCP connection takes whole messages in order, blocks nobody, and says when it is over."""

import errno
import socket
from collections.abc import Iterator

import numpy as np
import pytest

from tests.transport.tcp_toys import receive_into, send_from
from venym.hot.link import HEAD, TAIL, Link, make_link
from venym.records import INBOUND, WIRE_MESSAGE, WIRE_OCTETS_MAX
from venym.transport import tcp

pytestmark = pytest.mark.plain


@pytest.fixture
def pair() -> Iterator[tuple[tcp.Context, socket.socket]]:
    """A connection, and the peer's side of it; both hold little."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        ours = socket.socket()
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 2_048)
        ours.connect(listener.getsockname())
        peer, _ = listener.accept()
    with ours, peer:
        peer.settimeout(10)
        yield tcp.connected(ours), peer


def put(link: Link, octets: bytes) -> None:
    slot = link.slots[int(link.cursor[HEAD]) & (len(link.slots) - 1)]
    slot["length"] = len(octets)
    slot["octets"][: len(octets)] = np.frombuffer(octets, np.uint8)
    link.cursor[HEAD] += 1


def took(link: Link) -> list[bytes]:
    found = [link.slots[k & (len(link.slots) - 1)] for k in range(int(link.cursor[TAIL]), int(link.cursor[HEAD]))]
    link.cursor[TAIL] = link.cursor[HEAD]
    return [slot["octets"][: slot["length"]].tobytes() for slot in found]


def read(peer: socket.socket, count: int) -> bytes:
    octets = b""
    while len(octets) < count:
        octets += peer.recv(count - len(octets))
    return octets


def test_messages_leave_in_order_and_small_ones_at_once(pair):
    ctx, peer = pair
    link = make_link(WIRE_MESSAGE, 4)
    put(link, b"8=FIX.4.2|one")
    put(link, b"8=FIX.4.2|second")
    assert send_from(ctx, link) == 2
    assert read(peer, 29) == b"8=FIX.4.2|one8=FIX.4.2|second"
    assert link.cursor[TAIL] == 2 and ctx.words[tcp.OCTETS_OUT] == 29
    held = socket.socket(fileno=socket.dup(int(ctx.words[tcp.FD])))
    with held:
        assert held.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1


def test_a_peer_that_stops_reading_is_seen_as_a_full_link_and_no_message_is_cut(pair):
    ctx, peer = pair
    link = make_link(WIRE_MESSAGE, 64)
    messages = [bytes([k]) * (WIRE_OCTETS_MAX - k % 7) for k in range(200)]
    waiting, got, stuck = list(messages), b"", 0
    while waiting or link.cursor[HEAD] != link.cursor[TAIL]:
        while waiting and link.cursor[HEAD] - link.cursor[TAIL] < 64:
            put(link, waiting.pop(0))
        if send_from(ctx, link) == 0:
            stuck += 1
            assert ctx.words[tcp.DOWN] == 0
            got += peer.recv(1_000)  # reads a little
    got += read(peer, sum(map(len, messages)) - len(got))
    assert stuck > 0 and got == b"".join(messages)


def test_octets_come_as_they_come_and_wait_where_there_is_no_room(pair):
    ctx, peer = pair
    link = make_link(WIRE_MESSAGE, 1)
    assert receive_into(ctx, link, 5) == 0
    peer.sendall(b"x" * WIRE_OCTETS_MAX + b"rest")
    found = b""
    while len(found) < WIRE_OCTETS_MAX + 4:
        receive_into(ctx, link, 77)
        if link.cursor[HEAD] != link.cursor[TAIL]:
            assert receive_into(ctx, link, 77) == 0  # no room
            slot = link.slots[0]
            assert (int(slot["clock_ns"]), int(slot["direction"])) == (77, INBOUND)
            found += b"".join(took(link))
    assert found == b"x" * WIRE_OCTETS_MAX + b"rest" and ctx.words[tcp.OCTETS_IN] == len(found)


def test_a_connection_that_the_peer_has_closed_is_down(pair):
    ctx, peer = pair
    peer.close()
    link = make_link(WIRE_MESSAGE, 1)
    for _ in range(10_000):
        if receive_into(ctx, link, 0) == 0 and ctx.words[tcp.DOWN]:
            break
    assert ctx.words[tcp.DOWN] == tcp.CLOSED
    put(link, b"lost?")
    assert send_from(ctx, link) == 0 and link.cursor[TAIL] == 0  # it stays where it is


def test_what_the_system_refuses_is_kept(pair):
    ctx, _ = pair
    ctx.words[tcp.FD] = 1 << 20
    link = make_link(WIRE_MESSAGE, 1)
    put(link, b"lost?")
    assert send_from(ctx, link) == 0
    assert (ctx.words[tcp.DOWN], ctx.words[tcp.ERROR]) == (tcp.REFUSED, errno.EBADF)
    assert tcp.closed().words[tcp.FD] == tcp.NOT_OPEN
