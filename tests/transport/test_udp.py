"""Datagrams of real sockets on the loopback: taken once, by the line they were sent to, and nothing lost in silence."""

import errno
import os
import socket
import struct
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

from tests.transport.udp_toys import (
    SLOTS,
    came,
    counted,
    free_port,
    opened,
    payloads,
    quiet,
    read_control,
    receive_all,
    sender,
)
from venym.hot.layout import aligned
from venym.metrics import UDP_DROPPED
from venym.records import MOLDUDP64, PACKET
from venym.transport import udp
from venym.transport.udp import ERROR, ERROR_LINE, STAY, TAKEN, Line, LineError, Udp, UdpError

GROUP_A, GROUP_B, OTHER = "239.255.71.1", "239.255.71.2", "239.255.71.3"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def sending() -> Iterator[socket.socket]:
    with sender() as made:
        yield made


def test_a_datagram_lies_in_its_slot_as_it_was_sent(port: int, sending: socket.socket) -> None:
    with opened([None, Line(GROUP_A, port, "lo")]) as made:
        for text in (b"one", b"", b"x" * 2048):
            before_ns = time.time_ns()
            sending.sendto(text, (GROUP_A, port))
            (got,) = came(made.context, 1)
            assert (got.line, got.payload) == (1, text)
            assert before_ns <= got.received_ns <= time.time_ns()
        assert quiet(made.context)
        assert counted(made.context) == {"packets": 3, "octets": 2051}
        assert made.context.words[TAKEN] == 3


def test_every_field_that_is_not_the_feeds_is_set(port: int, sending: socket.socket) -> None:
    packets = aligned(1, PACKET)
    packets.view(np.uint8)[:] = 0xFF
    with opened([Line(GROUP_A, port, "lo")]) as made:
        sending.sendto(b"abc", (GROUP_A, port))
        assert receive_all(made.context, packets, 1, 1_000) == 1
    packet = packets[0]
    assert (packet.offset, packet.length, packet.line, packet.sequence) == (0, 3, 0, 0)
    assert (packet.framing, packet.marks) == (MOLDUDP64, 0)


def test_slots_are_used_in_turn(port: int, sending: socket.socket) -> None:
    with opened([Line(GROUP_A, port, "lo")], slots=4, slot_octets=16) as made:
        for number in range(11):
            sending.sendto(b"%d" % number, (GROUP_A, port))
        assert payloads(made.context, 4) == [b"0", b"1", b"2", b"3"]
        assert [made.context.frames[at] for at in (0, 16, 32, 48)] == list(b"0123")
        assert payloads(made.context, 3) == [b"4", b"5", b"6"]
        assert [made.context.frames[at] for at in (0, 16, 32, 48)] == list(b"4563")


def test_another_groups_packets_on_the_same_port_are_never_taken(port: int, sending: socket.socket) -> None:
    with (
        opened([Line(GROUP_A, port, "lo")]) as ours,
        opened([Line(OTHER, port, "lo")]) as theirs,  # somebody here has joined it
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unicast,
    ):
        sending.sendto(b"not ours", (OTHER, port))
        unicast.sendto(b"not ours", ("127.0.0.1", port))
        sending.sendto(b"ours", (GROUP_A, port))
        assert payloads(ours.context, 1) == [b"ours"]
        assert quiet(ours.context)
        assert payloads(theirs.context, 1) == [b"not ours"]


def test_two_processes_may_take_the_same_line(port: int, sending: socket.socket) -> None:
    with opened([Line(GROUP_A, port, "lo")]) as one, opened([Line(GROUP_A, port, "lo")]) as two:
        sending.sendto(b"for both", (GROUP_A, port))
        assert payloads(one.context, 1) == payloads(two.context, 1) == [b"for both"]


def test_only_the_source_that_is_named_is_heard(port: int) -> None:
    with opened([Line(GROUP_A, port, "lo", "127.0.0.2")]) as made, sender() as wrong, sender() as right:
        wrong.bind(("127.0.0.3", 0))
        right.bind(("127.0.0.2", 0))
        wrong.sendto(b"wrong", (GROUP_A, port))
        right.sendto(b"right", (GROUP_A, port))
        assert payloads(made.context, 1) == [b"right"]
        assert quiet(made.context)


def test_an_oversize_datagram_is_counted_and_spoils_no_other(port: int, sending: socket.socket) -> None:
    for stamps in ("software", "none"):
        with opened([Line(GROUP_A, port, "lo")], stamps) as made:
            for text in (b"1", b"x" * 2049, b"2", b"x" * 9000, b"x" * 2048):
                sending.sendto(text, (GROUP_A, port))
            assert payloads(made.context, 3) == [b"1", b"2", b"x" * 2048]
            assert quiet(made.context)
            assert counted(made.context) == {"packets": 3, "octets": 2050, "too_long": 2}


def test_no_line_waits_for_another(port: int, sending: socket.socket) -> None:
    lines = [Line(GROUP_A, port, "lo"), None, Line(GROUP_B, port, "lo"), None, Line(OTHER, port, "lo")]
    with opened(lines) as made:
        for group in (GROUP_A, GROUP_B, OTHER):
            for number in range(20 if group == GROUP_A else 3):
                sending.sendto(b"%d" % number, (group, port))
        got = came(made.context, 26)
        assert [held.line for held in got] == [0] * STAY + [2] * 3 + [4] * 3 + [0] * (20 - STAY)
        assert [held.payload for held in got if held.line == 0] == [b"%d" % number for number in range(20)]
        assert [counted(made.context, place)["packets"] for place in range(3)] == [20, 3, 3]


def test_lines_that_always_have_something_take_turns(port: int, sending: socket.socket) -> None:
    with opened([Line(GROUP_A, port, "lo"), Line(GROUP_B, port, "lo")]) as made:
        for _ in range(3 * STAY):
            for group in (GROUP_A, GROUP_B):
                sending.sendto(b"x", (group, port))
        assert [held.line for held in came(made.context, 6 * STAY)] == ([0] * STAY + [1] * STAY) * 3


def test_without_stamps_no_time_is_told(port: int, sending: socket.socket) -> None:
    with opened([Line(GROUP_A, port, "lo")], "none") as made:
        sending.sendto(b"when?", (GROUP_A, port))
        assert [held[1:] for held in came(made.context, 1)] == [(b"when?", 0)]
        assert counted(made.context) == {"packets": 1, "octets": 5}


def test_what_the_kernel_drops_is_counted(port: int, sending: socket.socket) -> None:
    with opened([Line(GROUP_A, port, "lo")], buffer_octets=4_096) as made:
        for number in range(100):
            sending.sendto(b"%d" % number, (GROUP_A, port))
        (lost,) = made.dropped()
        assert 0 < lost < 100
        got = payloads(made.context, 100 - lost)
        assert got == [b"%d" % number for number in range(100 - lost)]
        sending.sendto(b"after", (GROUP_A, port))
        assert payloads(made.context, 1) == [b"after"]
        assert counted(made.context)["dropped"] == lost


def test_the_count_of_drops_goes_on_where_the_kernels_wraps(port: int, sending: socket.socket) -> None:
    with opened([Line(GROUP_A, port, "lo")], buffer_octets=4_096) as made:
        made.context.counts[UDP_DROPPED] = before = 5 * 2**32 - 1
        for _ in range(100):
            sending.sendto(b"x", (GROUP_A, port))
        (lost,) = made.dropped()
        payloads(made.context, 100 - lost)
        sending.sendto(b"after", (GROUP_A, port))
        payloads(made.context, 1)
        assert made.context.counts[UDP_DROPPED] == before + 1 + lost


def test_nothing_is_lost_while_the_kernel_has_room(port: int, sending: socket.socket) -> None:
    count, ahead = 2_000, 100  # so many fit the buffer
    got: list[tuple[int, int]] = []
    until = time.monotonic() + 20

    def send() -> None:
        for number in range(count):
            while number - len(got) > ahead and time.monotonic() < until:
                time.sleep(0.0001)
            sending.sendto(struct.pack("=I", number), (GROUP_A if number % 2 else GROUP_B, port))

    with opened([Line(GROUP_A, port, "lo"), Line(GROUP_B, port, "lo")], slots=SLOTS) as made:
        thread = threading.Thread(target=send)
        thread.start()
        while len(got) < count and time.monotonic() < until:
            for held in came(made.context, min(ahead // 2, count - len(got)), 0.05):
                got.append((held.line, struct.unpack("=I", held.payload)[0]))
        thread.join()
        assert sorted(number for _, number in got) == list(range(count))
        for line in (0, 1):
            numbers = [number for at, number in got if at == line]
            assert numbers == sorted(numbers)
        assert made.dropped() == [0, 0]


def test_an_address_of_this_machine_will_do(port: int) -> None:
    with opened([Line("127.0.0.1", port)]) as made, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sending:
        sending.sendto(b"here", ("127.0.0.1", port))
        assert payloads(made.context, 1) == [b"here"]
        with pytest.raises(UdpError, match=r"another socket has this address and port .* \(Address already in use\)"):
            opened([Line("127.0.0.1", port)])


def test_an_error_of_a_socket_is_counted_and_the_others_go_on(port: int, sending: socket.socket) -> None:
    with opened([Line(GROUP_A, port, "lo"), Line(GROUP_B, port, "lo")]) as made:
        made.context.descriptors[0] = -1
        sending.sendto(b"on", (GROUP_B, port))
        assert payloads(made.context, 1) == [b"on"]
        assert counted(made.context, 0)["errors"] > 0
        assert (made.context.words[ERROR], made.context.words[ERROR_LINE]) == (errno.EBADF, 0)


def test_all_is_closed_when_one_line_is_refused(port: int) -> None:
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(UdpError):
        opened([Line(GROUP_A, port, "lo"), Line("192.0.2.250", port)])
    assert len(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize(
    ("line", "options", "said"),
    [
        (Line(GROUP_A, 4000, "nosuch0"), {}, r"there is no network interface nosuch0; there are .*lo"),
        (Line("192.0.2.250", 4000), {}, r"this is no address of this machine"),
        (
            Line(GROUP_A, 4000, "lo"),
            {"stamps": "hardware"},
            r"lo cannot (stamp every packet|be set to stamp without CAP_NET_ADMIN).*; .*set stamps to software",
        ),
        (Line(GROUP_A, 4000), {"stamps": "hardware"}, r"the card that is to stamp is not known; name the interface"),
    ],
)
def test_what_the_system_refuses_is_named(line: Line, options: dict[str, str], said: str) -> None:
    with pytest.raises(UdpError, match=f"^line {line}: {said}"):
        opened([line], **options)  # type: ignore[arg-type]


def test_what_cannot_be_meant_is_refused() -> None:
    with pytest.raises(LineError, match="there is no line"):
        opened([])
    with pytest.raises(ValueError, match="stamps 'exact' is none of software, hardware, none"):
        opened([Line(GROUP_A, 1, "lo")], "exact")
    with pytest.raises(ValueError, match="no room for packets in 0 slots"):
        opened([Line(GROUP_A, 1, "lo")], slots=0)


def control(*messages: tuple[int, int, bytes]) -> bytes:
    """Control messages: level, type, data."""
    return b"".join(
        struct.pack("=Qii", 16 + len(data), level, kind) + data + bytes(-len(data) % 8)
        for level, kind, data in messages
    )


@pytest.fixture
def told() -> Iterator[Udp]:
    with opened([Line(GROUP_A, free_port(), "lo")], "none") as made:
        made.context.words[udp.STAMPING] = udp.HARDWARE
        yield made


HARD = struct.pack("=6q", 5, 7, 0, 0, 3, 9)
SOFT = struct.pack("=6q", 5, 7, 0, 0, 0, 0)


@pytest.mark.parametrize(
    ("octets", "received_ns", "counts"),
    [
        (control((1, 37, HARD)), 3_000_000_009, {}),
        (control((1, 37, SOFT)), 5_000_000_007, {"not_hardware": 1}),
        (control((1, 40, b"\5\0\0\0"), (1, 37, HARD)), 3_000_000_009, {"dropped": 5}),
        (control((0, 37, HARD)), 0, {"unstamped": 1}),  # of another level
        (control((1, 37, HARD[:40])), 0, {"unstamped": 1}),  # too short for what it is
        (control((1, 37, HARD))[:-1], 0, {"unstamped": 1}),  # cut
        (struct.pack("=Qii", 15, 1, 37) + HARD, 0, {"unstamped": 1}),  # would never end
        (struct.pack("=Qii", 2**63, 1, 37) + HARD, 0, {"unstamped": 1}),
        (struct.pack("=Qii", 2**64 - 1, 1, 37) + HARD, 0, {"unstamped": 1}),
        (b"", 0, {"unstamped": 1}),
    ],
)
def test_stamps_are_the_cards_where_it_gives_some(
    told: Udp, octets: bytes, received_ns: int, counts: dict[str, int]
) -> None:
    told.context.control[: len(octets)] = np.frombuffer(octets, np.uint8)
    assert read_control(told.context, len(octets)) == received_ns
    assert counted(told.context) == counts
