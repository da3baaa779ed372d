"""The block-structured capture file: time stamps of every unit, blocks of every kind, against plain twins."""

import struct

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.naive import captures as naive
from tests.wire import build
from tests.wire.scanning import walk
from venym.wire import pcapng, scan

pytestmark = pytest.mark.plain


def row_of(resolution: int, offset_s: int) -> np.ndarray:
    """The interface table of one interface."""
    block = build.interface(resolution=resolution, offset_s=offset_s)
    return np.array([pcapng.read_interface(block, "<")], np.int64)


def to_ns(stamp: int, resolution: int, offset_s: int = 0) -> int:
    return int(pcapng.to_ns(np.int64(stamp >> 32), np.int64(stamp & 0xFFFFFFFF), row_of(resolution, offset_s), 0))


# Time stamps


@pytest.mark.parametrize(
    ("stamp", "resolution", "time_ns"),
    [
        (1_546_524_000, 0, 1_546_524_000_000_000_000),
        (1_546_524_000_150_304, 6, 1_546_524_000_150_304_000),
        (1_546_524_000_150_304_789, 9, 1_546_524_000_150_304_789),
        (15_465_240_001_503_047_899, 10, 1_546_524_000_150_304_789),  # above 2^63
        (1_546_524_000 << 20 | 1 << 19, 0x94, 1_546_524_000_500_000_000),
        (1_546_524_000 << 32 | 1 << 31, 0xA0, 1_546_524_000_500_000_000),
        (1_546_524_000, 0x80, 1_546_524_000_000_000_000),
    ],
)
def test_a_time_stamp_counts_powers_of_ten_or_of_two(stamp: int, resolution: int, time_ns: int) -> None:
    assert to_ns(stamp, resolution) == time_ns


def test_the_offset_of_an_interface_is_added_before_or_after_the_epoch() -> None:
    assert to_ns(5_000_000, 6, 10) == 15_000_000_000
    assert to_ns(15_000_000, 6, -10) == 5_000_000_000
    assert to_ns(15_000_000, 6, -16) == -1
    assert to_ns(1 << 62, 9, 9_000_000_000) == -1
    assert to_ns(0, 9, 1 << 62) == -1  # an offset beyond any date


@given(
    st.one_of(st.integers(0, 2**64 - 1), st.integers(0, 64).map(lambda bits: (1 << bits) - 1)),
    st.integers(0, 255),
    st.one_of(st.just(0), st.integers(-(2**63), 2**63 - 1), st.integers(-(10**10), 10**10)),
)
@example(2**64 - 1, 19, 0)
@example(2**64 - 1, 28, 0)
@example(2**64 - 1, 29, 0)
@example(2**64 - 1, 0xFF, 0)
@settings(max_examples=400, deadline=None)
def test_every_resolution_is_exact_or_said_not_to_fit(stamp: int, resolution: int, offset_s: int) -> None:
    expected = naive.time_of(stamp, resolution, offset_s)
    assert to_ns(stamp, resolution, offset_s) == (expected if 0 <= expected <= naive.INT64_MAX else -1)


# Section and interface blocks


@pytest.mark.parametrize("order", "<>")
def test_a_section_says_its_byte_order(order: str) -> None:
    block = build.section(order, options=build.option(4, b"somebody", order))
    assert pcapng.read_section(block) == (order, len(block))
    assert pcapng.read_section(block[:12]) == (order, len(block))
    assert pcapng.read_section(block[:11]) is None


def test_a_section_that_cannot_be_is_refused() -> None:
    block = build.section()
    for octets, error, words in [
        (block[:8] + b"\0\0\0\0" + block[12:], scan.Malformed, "byte-order magic 00000000"),
        (block[:4] + struct.pack("<I", 24) + block[8:], scan.Malformed, "section block of 24 bytes"),
        (block[:4] + struct.pack("<I", 30) + block[8:], scan.Malformed, "section block of 30 bytes"),
        (block[:-4] + struct.pack("<I", 32), scan.Malformed, "28 bytes that ends as one of 32"),
        (build.section(version=(2, 0)), scan.Refused, r"version 2\.0"),
    ]:
        with pytest.raises(error, match=words):
            pcapng.read_section(octets)


def test_an_interface_has_microseconds_unless_it_says_otherwise() -> None:
    assert pcapng.read_interface(build.interface(), "<") == [1, 0, pcapng.TIMES, 1000, naive.INT64_MAX // 1000, 0]
    row = pcapng.read_interface(build.interface(113, 9, 2, 96, ">"), ">")
    assert row == [113, 96, pcapng.TIMES, 1, naive.INT64_MAX, 2_000_000_000]


def test_an_interface_of_a_link_type_that_is_not_read_is_kept_inverted() -> None:
    assert pcapng.read_interface(build.interface(105), "<")[pcapng.LINK_TYPE] == ~105


def test_an_interface_that_cannot_be_is_malformed() -> None:
    block = build.interface(resolution=9)
    long_option = build.block(1, struct.pack("<HHIHH", 1, 0, 0, 2, 64_000))
    for octets, words in [
        (build.block(1, b"\1\0\0\0"), "interface block of 16 bytes"),
        (block[:-4] + bytes(4), "that ends as one of 0"),
        (long_option, "option 2 of 64000 bytes does not fit"),
    ]:
        with pytest.raises(scan.Malformed, match=words):
            pcapng.read_interface(octets, "<")


# The walk over packets

INTERFACES = np.array(
    [
        pcapng.read_interface(block, "<")
        for block in (
            build.interface(),
            build.interface(build.SLL, resolution=9),
            build.interface(105),
            build.interface(resolution=0x94, offset_s=-1, snap_length=60),
        )
    ],
    np.int64,
)
HEAD = build.section() + build.interface() + build.interface(build.SLL, resolution=9)
HEAD += build.interface(105) + build.interface(resolution=0x94, offset_s=-1, snap_length=60)


def scan_blocks(octets: bytes, room: int = 64, order: str = "<", interfaces: np.ndarray = INTERFACES):  # type: ignore[no-untyped-def]
    """What stands behind HEAD, up to a section or interface."""

    def run(held: np.ndarray, start: int, end: int, sink: scan.Sink) -> tuple[int, int, int, int]:
        return pcapng.scan(held, start, end, int(order == ">"), interfaces, len(interfaces), sink)

    return walk(octets, run, room)


def mixed(order: str = "<") -> list[bytes]:
    """A block of every kind."""
    comment = build.option(1, b"seen", order) + build.option(0, b"", order)
    return [
        build.enhanced(build.frame(1), order=order),
        build.block(5, bytes(12), order),
        build.enhanced(build.frame(2, build.SLL), build.TIME_NS, 1, order, options=comment),
        build.simple(build.frame(3), order),
        build.obsolete(build.frame(4), order=order),
        build.block(0x0BAD, b"anything", order),
        build.enhanced(build.ethernet(b"", kind=0x0806), order=order),
        build.enhanced(build.frame(5), 1_546_524_001 << 20, 3, order),
        build.enhanced(build.frame(6)[:90], order=order, original=100),
    ]


@pytest.mark.parametrize("room", [1, 2, 64])
@pytest.mark.parametrize("order", "<>")
def test_packets_of_every_kind_agree_with_the_twin(order: str, room: int) -> None:
    body = b"".join(mixed(order))
    found, counts, position, status, _ = scan_blocks(body, room, order)
    head = build.section(order) + build.interface(order=order) + build.interface(build.SLL, 9, order=order)
    head += build.interface(105, order=order) + build.interface(1, 0x94, -1, 60, order)
    expected = naive.read_pcapng(head + body)
    assert expected.end == "whole"
    assert len(found) == 6
    assert (found, counts) == (expected.found, expected.passed_over)
    assert (position, status) == (len(body), scan.MORE)


@pytest.mark.parametrize("snap_length", [0, 60, 100])
def test_a_simple_packet_is_cut_to_the_snap_length_and_has_no_time(snap_length: int) -> None:
    interface = build.interface(snap_length=snap_length)
    table = np.array([pcapng.read_interface(interface, "<")], np.int64)
    body = build.simple(build.frame(1)[:60], original=100)
    found, counts, _, _, _ = scan_blocks(body, interfaces=table)
    assert found == naive.read_pcapng(build.section() + interface + body).found
    assert counts == {"snapped": 1}
    assert found[0].time_ns == 0
    assert len(found[0].payload) == 60 - 42


def test_a_time_that_does_not_fit_is_0_and_counted() -> None:
    found, counts, _, _, _ = scan_blocks(build.enhanced(build.frame(), 2**64 - 1))
    assert found[0].time_ns == 0
    assert counts == {"bad_time": 1}


@pytest.mark.parametrize("block", [build.section(">"), build.interface()])
def test_a_section_or_interface_is_left_to_the_caller(block: bytes) -> None:
    good = build.enhanced(build.frame())
    found, _, position, status, _ = scan_blocks(good + block + good)
    assert len(found) == 1
    assert (position, status) == (len(good), scan.BLOCK)


@pytest.mark.parametrize(
    ("block", "status", "detail"),
    [
        (build.block(6, b"", length=8), scan.BAD_BLOCK_LENGTH, 8),
        (build.block(99, b"", length=14), scan.BAD_BLOCK_LENGTH, 14),
        (build.block(99, b"abcd", trailer=20), scan.BAD_TRAILER, 16),
        (build.enhanced(build.frame(), captured=101), scan.BAD_PACKET_BLOCK, 101),
        (build.enhanced(build.frame(), captured=0xFFFF_FFFF), scan.BAD_PACKET_BLOCK, 0xFFFF_FFFF),
        (build.block(6, bytes(16)), scan.BAD_PACKET_BLOCK, 0),
        (build.block(3, b""), scan.BAD_PACKET_BLOCK, 0),
        (build.enhanced(build.frame(), number=4), scan.UNKNOWN_INTERFACE, 4),
        (build.enhanced(build.frame(), number=0xFFFF_FFFF), scan.UNKNOWN_INTERFACE, 0xFFFF_FFFF),
        (build.enhanced(build.frame(), number=2), scan.UNREADABLE_LINK, 2),
        (build.block(6, bytes(8), length=pcapng.PACKET_BLOCK_MAX + 4), scan.OVERSIZE, pcapng.PACKET_BLOCK_MAX + 4),
        (build.block(6, bytes(8), length=0x7FFF_FFFC), scan.OVERSIZE, 0x7FFF_FFFC),
        (build.block(99, bytes(8), length=0x7FFF_FFFC), scan.SKIP, 0x7FFF_FFFC),
        (build.block(1, bytes(8), length=0x7FFF_FFFC), scan.MORE, 0x7FFF_FFFC),
    ],
)
def test_a_block_that_cannot_be_stops_the_scan_behind_the_good_ones(block: bytes, status: int, detail: int) -> None:
    good = build.enhanced(build.frame())
    found, _, position, *stopped = scan_blocks(good + block)
    assert len(found) == 1
    assert (position, stopped) == (len(good), [status, detail])


def test_a_packet_of_no_interface_is_not_read() -> None:
    table = np.zeros((0, pcapng.INTERFACE_COLUMNS), np.int64)
    assert scan_blocks(build.simple(build.frame()), interfaces=table)[3:] == (scan.UNKNOWN_INTERFACE, 0)


def test_a_cut_at_any_octet_leaves_every_whole_packet() -> None:
    body = b"".join(mixed()[:5])
    for size in range(len(body)):
        found, _, position, status, _ = scan_blocks(body[:size])
        expected = naive.read_pcapng(HEAD + body[:size])
        assert found == expected.found
        assert (position == size) == (expected.end == "whole")
        assert status in (scan.MORE, scan.SKIP)


ENDS = {
    "whole": {scan.MORE},
    "truncated": {scan.MORE, scan.OVERSIZE, scan.SKIP},
    "refused": {scan.UNREADABLE_LINK},
    "corrupt": {
        scan.BAD_BLOCK_LENGTH,
        scan.BAD_TRAILER,
        scan.BAD_PACKET_BLOCK,
        scan.UNKNOWN_INTERFACE,
    },
}


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_mutated_blocks_agree_with_the_twin_and_stay_inside_their_octets(data: st.DataObject) -> None:
    octets = bytearray(b"".join(data.draw(st.permutations(mixed()))[:5]))
    starts = st.integers(0, len(octets) - 1)
    for _ in range(data.draw(st.integers(1, 5))):
        octets[data.draw(starts)] = data.draw(st.integers(0, 255))
    octets = octets[: data.draw(st.integers(1, len(octets)))]
    found, counts, position, status, _ = scan_blocks(bytes(octets))
    if status == scan.BLOCK:  # a mutation made one: the rest is the caller's
        octets = octets[:position]
        status = scan.MORE
    expected = naive.read_pcapng(HEAD + bytes(octets))
    assert (found, counts) == (expected.found, expected.passed_over)
    assert status in ENDS[expected.end]
