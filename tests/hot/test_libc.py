"""System calls from compiled code, on real sockets."""

import errno
import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest

from tests.hot import libc_toys as toys
from venym.hot import libc
from venym.hot.layout import aligned
from venym.hot.libc import MSG_DONTWAIT, MSG_TRUNC, make_messages

Pair = tuple[socket.socket, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """Two UDP sockets on the loopback, the first connected to the second."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
    ):
        receiver.bind(("127.0.0.1", 0))
        sender.connect(receiver.getsockname())
        yield sender, receiver


def octets_of(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8).copy()


def test_the_address_is_numpys() -> None:
    for array in (aligned(8, np.int64), aligned(8, np.uint8), aligned(8, libc.MESSAGE)):
        for index in (0, 3, 8):
            assert toys.address_of(array, index) == array.ctypes.data + index * array.itemsize


def test_what_was_sent_is_received(pair: Pair) -> None:
    sender, receiver = pair
    assert toys.send(sender.fileno(), octets_of(b"hello")) == 5
    octets = aligned(16, np.uint8)
    assert toys.receive(receiver.fileno(), octets, 16, MSG_DONTWAIT) == 5
    assert octets.tobytes() == b"hello".ljust(16, b"\0")


def test_nothing_there_is_told_at_once(pair: Pair) -> None:
    assert toys.receive(pair[1].fileno(), aligned(16, np.uint8), 16, MSG_DONTWAIT) == -libc.EAGAIN


def test_an_error_is_told_by_its_number(pair: Pair) -> None:
    assert toys.send(-1, octets_of(b"x")) == -errno.EBADF
    assert toys.send(pair[0].fileno(), aligned(70_000, np.uint8)) == -errno.EMSGSIZE
    assert toys.receive(-1, aligned(16, np.uint8), 16, 0) == -errno.EBADF


def test_a_datagram_too_long_is_cut_and_its_length_told(pair: Pair) -> None:
    sender, receiver = pair
    sender.send(b"0123456789")
    octets = aligned(16, np.uint8)
    assert toys.receive(receiver.fileno(), octets, 4, MSG_DONTWAIT | MSG_TRUNC) == 10
    assert octets.tobytes() == b"0123".ljust(16, b"\0")


def test_the_sender_is_told(pair: Pair) -> None:
    sender, receiver = pair
    sender.send(b"who")
    octets, source = aligned(16, np.uint8), aligned(16, np.uint8)
    length = np.array([16], np.int32)
    assert toys.receive_from(receiver.fileno(), octets, source, length) == 3
    host, port = sender.getsockname()
    assert length[0] == 16
    assert source.tobytes()[2:8] == port.to_bytes(2, "big") + socket.inet_aton(host)


def test_sent_to_an_address(pair: Pair) -> None:
    receiver = pair[1]
    host, port = receiver.getsockname()
    target = socket.AF_INET.to_bytes(2, "little") + port.to_bytes(2, "big") + socket.inet_aton(host) + bytes(8)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        assert toys.send_to(sender.fileno(), octets_of(b"there"), octets_of(target)) == 5
    assert receiver.recv(16) == b"there"


def test_several_in_one_call(pair: Pair) -> None:
    sender, receiver = pair
    texts = [b"one", b"", b"three"]
    octets = octets_of(b"onethree")
    messages, vectors = make_messages(3)
    for vector, at, text in zip(vectors, (0, 3, 3), texts, strict=True):
        vector.at, vector.octets = octets.ctypes.data + at, len(text)
    assert toys.send_messages(sender.fileno(), messages, 3) == 3
    assert messages["length"].tolist() == [3, 0, 5]

    came, room = make_messages(5)
    frames = aligned(5 * 16, np.uint8)
    room["at"], room["octets"] = frames.ctypes.data + 16 * np.arange(5), 16
    assert toys.receive_messages(receiver.fileno(), came, MSG_DONTWAIT) == 3
    assert [frames[16 * k : 16 * k + came[k].length].tobytes() for k in range(3)] == texts
    assert toys.receive_messages(receiver.fileno(), came, MSG_DONTWAIT) == -libc.EAGAIN


def test_a_cut_message_is_marked(pair: Pair) -> None:
    sender, receiver = pair
    octets = octets_of(b"0123456789")
    messages, vectors = make_messages(1)
    vectors[0].at, vectors[0].octets = octets.ctypes.data, 10
    assert toys.send_message(sender.fileno(), messages) == 10
    vectors[0].octets = 4
    assert toys.receive_message(receiver.fileno(), messages, MSG_DONTWAIT) == 4
    assert messages[0].came_flags & MSG_TRUNC


def test_the_clock_is_the_systems() -> None:
    moment = aligned(2, np.int64)
    before = time.clock_gettime_ns(time.CLOCK_REALTIME)
    now = toys.now_ns(time.CLOCK_REALTIME, moment)
    assert before <= now <= time.clock_gettime_ns(time.CLOCK_REALTIME)
    assert toys.now_ns(12_345, moment) == -errno.EINVAL


def test_a_call_that_is_missing_is_told_at_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(libc.CALLS, "recv_all_of_it", (libc._word,))
    with pytest.raises(ImportError, match=r"has no recv_all_of_it\(\)"):
        libc._present("recv_all_of_it")
