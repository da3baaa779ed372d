"""Frames to packets and back to the kernel, over rings in ordinary memory."""

import errno
import socket

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import xdp as naive
from tests.naive.packets import internet_sum
from tests.transport.xdp_frames import (
    GROUP,
    NONE,
    PARTIAL,
    PORT,
    RIGHT,
    WRONG,
    datagram,
    fold,
    frame,
    frames,
    give_back_many,
    receive_many,
)
from tests.transport.xdp_kernel import HEADROOM, Kernel
from tests.wire import build
from venym.hot.layout import aligned
from venym.metrics import XDP, named
from venym.records import MOLDUDP64, PACKET
from venym.transport.xdp_receive import LAST_ERROR
from venym.transport.xdp_rings import FD, FILL_ADDRESSES, FILL_CONSUMER, FILL_FLAGS, OCTETS, RX_DESCRIPTORS

pytestmark = pytest.mark.plain

GUARDED = Guarded(4096)
TARGETS: list[naive.Target | None] = [None, naive.Target(GROUP, PORT), naive.Target("239.1.1.2", PORT, "10.0.0.2")]


def rows(targets: list[naive.Target | None]) -> list[tuple[int, int, int, int]]:
    def number(address: str | None) -> int:
        return int.from_bytes(socket.inet_aton(address), "big") if address else 0

    return [
        (number(target.address) << 16 | target.port, number(target.source), target.interface, line)
        for line, target in enumerate(targets)
        if target is not None
    ]


def taken(kernel: Kernel, most: int = 64) -> list[tuple[int, bytes]]:
    """Line and payload of all that can be received now."""
    packets = aligned(most, PACKET)
    count = receive_many(kernel.ctx, packets)
    return [(int(p.line), kernel.ctx.frames[p.offset : p.offset + p.length].tobytes()) for p in packets[:count]]


def counted(kernel: Kernel) -> dict[str, int]:
    return {name: count for name, count in named(XDP, kernel.ctx.counts).items() if count}


def made_of(octets: bytes, check_sums: bool = True) -> naive.Taken | str:
    """What becomes of a frame that ends at a page nobody may touch, in the twin's words."""
    memory = GUARDED.put(bytes(HEADROOM) + octets)
    kernel = Kernel(rows(TARGETS), chunk=4096, frames_each=1, frames=memory, check_sums=check_sums)
    kernel.places[0, OCTETS] = 4096
    kernel.words[kernel.places[0, FILL_CONSUMER]] += 1  # the kernel took the chunk
    kernel.describe(HEADROOM, len(octets))
    found, counts = taken(kernel), counted(kernel)
    assert counts.pop("frames") == 1
    if not found:
        ((name, count),) = counts.items()
        assert count == 1 and kernel.account()[:4] == (1, 1, 0, 0)
        return name
    assert (counts.pop("packets"), counts.pop("octets", 0), counts.pop("unstamped")) == (1, len(found[0][1]), 1)
    return naive.Taken(*found[0], frozenset(counts))


@pytest.mark.parametrize("tags", [(), (0x8100,), (0x88A8,), (0x88A8, 0x8100), (0x8100, 0x8100)], ids=str)
@pytest.mark.parametrize("options", [b"", bytes(4), b"\x01" * 40], ids=len)
@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 21, 1400])
def test_a_datagram_is_found_behind_tags_and_options(tags: tuple[int, ...], options: bytes, size: int) -> None:
    payload = bytes(k * 7 & 0xFF for k in range(size))
    assert made_of(frame(payload, tags, options=options)) == naive.Taken(1, payload, frozenset())


def test_padding_is_no_payload() -> None:
    assert made_of(frame(b"abc", pad=60)) == naive.Taken(1, b"abc", frozenset())


@pytest.mark.parametrize(
    ("sums", "made"),
    [
        (RIGHT, naive.Taken(1, b"payload", frozenset())),
        (NONE, naive.Taken(1, b"payload", frozenset({"no_sums"}))),
        (PARTIAL, naive.Taken(1, b"payload", frozenset({"partial_sums"}))),
        (WRONG, "bad_udp_sums"),
    ],
)
def test_a_wrong_sum_is_dropped_and_none_or_a_partial_one_passes(sums: str, made: naive.Taken | str) -> None:
    assert made_of(frame(sums=sums)) == made
    assert made_of(frame(sums=sums), check_sums=False) == naive.Taken(1, b"payload", frozenset())


def test_a_header_with_a_wrong_sum_is_dropped() -> None:
    assert made_of(frame(ip_sum=False)) == "bad_ip_sums"


@pytest.mark.parametrize(
    ("octets", "counter"),
    [
        (b"", "malformed"),
        (frame()[:33], "malformed"),
        (frame()[:-1], "malformed"),
        (build.ethernet(build.ipv4(build.udp(b"x", PORT, length=7))), "malformed"),
        (build.ethernet(build.ipv4(build.udp(b"x", PORT), words=4)), "malformed"),
        (build.ethernet(build.ipv4(build.udp(b"x", PORT), fragment=0x2000)), "foreign"),
        (build.ethernet(build.ipv4(build.udp(b"x", PORT), protocol=6)), "foreign"),
        (build.ethernet(b"x" * 40, kind=0x86DD), "foreign"),
        (frame(port=PORT + 1), "foreign"),
        (frame(to="239.1.1.2"), "foreign"),  # from another source than that line's
    ],
)
def test_what_is_not_a_datagram_of_ours_is_counted(octets: bytes, counter: str) -> None:
    assert made_of(octets) == counter


@given(frames(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_any_frame_is_read_as_the_twin_reads_it_and_not_beyond_its_end(octets: bytes, check_sums: bool) -> None:
    assert made_of(octets, check_sums) == naive.read(octets, TARGETS, 0, check_sums)


def test_a_line_is_known_by_address_port_source_and_interface() -> None:
    targets: list[naive.Target | None] = [
        naive.Target(GROUP, PORT, None, 0),
        naive.Target(GROUP, PORT, None, 1),
        naive.Target("239.1.1.2", PORT, "10.0.0.1", 1),
    ]
    kernel = Kernel(rows(targets), sockets=2)
    for number in (0, 1):
        kernel.deliver(frame(b"first"), number)
        kernel.deliver(frame(b"second", to="239.1.1.2"), number)
    assert taken(kernel) == [(0, b"first"), (1, b"first"), (2, b"second")]
    assert counted(kernel)["foreign"] == 1


def test_a_packet_says_when_it_came_and_a_stamp_is_used_once() -> None:
    kernel = Kernel(rows(TARGETS), frames_each=1)
    kernel.ctx.clock[0] = 1_700_000_000_000_000_000
    packets = aligned(1, PACKET)
    at = kernel.deliver(frame(b"one"), stamp=123_456_789)
    assert at is not None
    assert receive_many(kernel.ctx, packets) == 1
    packet = packets[0]
    assert packet.received_ns == 1_700_000_000_123_456_789
    assert (packet.framing, packet.marks, packet.offset, packet.sequence) == (MOLDUDP64, 0, at + 42, 0)
    give_back_many(kernel.ctx, 1)
    kernel.describe(HEADROOM, len(frame(b"one")))  # the same octets, and no new stamp
    assert receive_many(kernel.ctx, packets) == 1
    assert packets[0].received_ns == 0 and counted(kernel)["unstamped"] == 1


def test_sockets_take_turns() -> None:
    kernel = Kernel(rows([naive.Target(GROUP, PORT, None, k) for k in range(3)]), sockets=3)
    for number, count in ((0, 4), (1, 1), (2, 2)):
        for _ in range(count):
            kernel.deliver(frame(), number)
    assert [line for line, _ in taken(kernel)] == [0, 1, 2, 0, 2, 0, 0]


@pytest.mark.parametrize(
    ("address", "length", "options", "filling"),
    [
        (-1, 60, 0, 3),
        (4 * 2048, 60, 0, 3),
        (1 << 62, 60, 0, 3),
        (2048 - 60, 61, 0, 4),
        (7, 60, 0, 4),
        (HEADROOM, 0xFFFFFFFF, 0, 4),
        (HEADROOM, 60, 1, 4),
        (4 * 2048 - 1, 2, 0, 4),
    ],
)
def test_a_descriptor_that_cannot_be_is_counted(address: int, length: int, options: int, filling: int) -> None:
    """One that lies in no frame costs one: nobody knows which it was."""
    kernel = Kernel(rows(TARGETS))
    kernel.deliver(frame())
    descriptor = kernel.places[0, RX_DESCRIPTORS]
    kernel.entries[descriptor : descriptor + 2] = (address, options << 32 | length)
    assert taken(kernel) == [] and counted(kernel) == {"frames": 1, "bad_descriptors": 1}
    assert kernel.account() == (4, filling, 0, 0, 4 - filling)


def test_a_driver_that_asks_for_it_is_woken() -> None:
    """Seen by what the call does to another kind of socket: it takes a datagram."""
    kernel = Kernel(rows(TARGETS))
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with here, there:
        here.setblocking(False)
        kernel.places[0, FD] = here.fileno()
        there.send(b"x")
        assert taken(kernel) == [] and counted(kernel) == {}
        kernel.words[kernel.places[0, FILL_FLAGS]] = 1
        assert taken(kernel) == [] and counted(kernel) == {"wakeups": 1}
        with pytest.raises(BlockingIOError):
            here.recv(1)
        assert taken(kernel) == [] and counted(kernel) == {"wakeups": 2}  # there is nothing: no error
    kernel.places[0, FD] = -1
    assert taken(kernel) == [] and counted(kernel) == {"wakeups": 3, "errors": 1}
    assert kernel.ctx.words[LAST_ERROR] == errno.EBADF


def test_what_is_given_back_is_a_whole_frame_again() -> None:
    kernel = Kernel(rows(TARGETS))
    for _ in range(4):
        kernel.deliver(frame())
    assert len(taken(kernel)) == 4
    addresses = kernel.entries[kernel.places[0, FILL_ADDRESSES] :][:4]
    addresses[:] = -1
    give_back_many(kernel.ctx, 4)
    assert addresses.tolist() == [0, 2048, 4096, 6144]


@given(
    st.one_of(
        st.integers(0, (1 << 48) - 1), st.sampled_from([0xFFFF, 0x1FFFE, 0xFFFFFFFF, 0x1_0000_FFFE, 0xFFFE_0001_FFFF])
    )
)
@settings(max_examples=200, deadline=None)
def test_carries_are_added_in_until_there_are_none(total: int) -> None:
    folded = total
    while folded > 0xFFFF:
        folded = (folded & 0xFFFF) + (folded >> 16)
    assert fold(total) == folded


def test_more_than_was_handed_out_is_not_given_back() -> None:
    kernel = Kernel(rows(TARGETS))
    kernel.deliver(frame())
    assert len(taken(kernel)) == 1
    give_back_many(kernel.ctx, 5)
    assert kernel.account() == (4, 4, 0, 0, 0)
    give_back_many(kernel.ctx, 1)
    assert kernel.account() == (4, 4, 0, 0, 0)


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("deliver"), st.integers(0, 1), st.booleans()),
            st.tuples(st.just("take"), st.integers(1, 5), st.just(True)),
            st.tuples(st.just("give"), st.integers(0, 5), st.just(True)),
        ),
        max_size=60,
    ),
    st.sampled_from([0, (1 << 32) - 3]),
)
@settings(max_examples=100, deadline=None)
def test_every_frame_is_in_one_place_and_packets_keep_their_octets(
    steps: list[tuple[str, int, bool]], start: int
) -> None:
    """Whatever the order of deliveries, takings and returns, across the wrap of the indices."""
    kernel = Kernel(rows([naive.Target(GROUP, PORT, None, k) for k in range(2)]), sockets=2, start=start)
    ring: list[list[bytes]] = [[], []]
    held: list[tuple[int, bytes]] = []
    packets = aligned(8, PACKET)
    for count, (what, number, ours) in enumerate(steps):
        if what == "deliver":
            payload = b"%d" % count
            if kernel.deliver(frame(payload, port=PORT + (not ours)), number) is not None and ours:
                ring[number].append(payload)
        elif what == "take":
            for packet in packets[: receive_many(kernel.ctx, packets[:number])]:
                payload = kernel.ctx.frames[packet.offset : packet.offset + packet.length].tobytes()
                assert ring[packet.line].pop(0) == payload
                held.append((int(packet.offset), payload))
        else:
            give_back_many(kernel.ctx, number)
            held = held[number:]
        for offset, payload in held:
            assert kernel.ctx.frames[offset : offset + len(payload)].tobytes() == payload
        now = kernel.account()
        assert (now.total, now.handed, now.kernel) == (8, len(held), 0)
        assert now.received >= sum(map(len, ring))


def test_the_datagrams_of_these_tests_have_right_sums() -> None:
    for size in (0, 1, 11):
        made = datagram(b"\xff" * size)
        assert internet_sum(made[:20]) == 0xFFFF
        assert internet_sum(made[12:20] + b"\0\x11" + made[24:26] + made[20:]) == 0xFFFF
