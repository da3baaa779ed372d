"""The classic capture file: headers of every kind, and the walk over packets against a plain twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import captures as naive
from tests.wire import build
from tests.wire.scanning import fresh_sink, walk
from venym.wire import pcap, scan

pytestmark = pytest.mark.plain


def scan_file(octets: bytes, room: int = 64) -> tuple[list[naive.Found], dict[str, int], int, int, int]:
    """Everything behind the header of a file."""
    header = pcap.read_header(octets[: pcap.HEADER_BYTES])

    def run(held: np.ndarray, start: int, end: int, sink: scan.Sink) -> tuple[int, int, int, int]:
        return pcap.scan(held, start, end, header, sink)

    return walk(octets[pcap.HEADER_BYTES :], run, room)


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize(
    ("magic", "fraction_ns", "time_ns"), [(build.US, 1000, 150_304_000), (build.NS, 1, 150_304_789)]
)
def test_byte_order_and_resolution_follow_from_the_magic(
    order: str, magic: int, fraction_ns: int, time_ns: int
) -> None:
    octets = build.pcap([build.frame()], order, magic)
    assert pcap.read_header(octets) == (int(order == ">"), fraction_ns, build.ETHERNET)
    found, _, _, _, _ = scan_file(octets)
    assert [packet.time_ns for packet in found] == [1_546_524_000_000_000_000 + time_ns]


def test_what_follows_each_frame_does_not_change_the_link_type() -> None:
    assert pcap.read_header(build.pcap_header(link_type=0x2400_0001)).link_type == build.ETHERNET


def test_a_link_type_that_is_not_read_is_refused_by_name() -> None:
    with pytest.raises(
        scan.Refused, match=r"pcap of link type 105 \(IEEE 802.11\), read are .*link type 1 \(Ethernet\)"
    ):
        pcap.read_header(build.pcap_header(link_type=105))


def test_a_version_that_is_not_read_is_refused() -> None:
    with pytest.raises(scan.Refused, match=r"pcap version 543\.1, only 2\.x"):
        pcap.read_header(build.pcap_header(version=(543, 1)))


MIXED = [
    build.frame(1),
    build.ethernet(b"", kind=0x0806, pad=60),
    build.frame(2, to="239.1.1.2"),
    build.ethernet(build.ipv4(build.udp(b"x"), protocol=6)),
    build.ethernet(build.ipv4(build.udp(b"x"), fragment=0x2000)),
    build.frame(3, port=26_401),
    b"",
    build.frame(4),
]


@pytest.mark.parametrize("room", [1, 2, 3, 64])
@pytest.mark.parametrize("order", "<>")
def test_packets_and_counts_agree_with_the_twin_however_little_room_there_is(order: str, room: int) -> None:
    octets = build.pcap(MIXED, order)
    found, counts, position, status, detail = scan_file(octets, room)
    expected = naive.read_pcap(octets)
    assert len(found) == 4
    assert (found, counts) == (expected.found, expected.passed_over)
    assert (position, status, detail) == (len(octets) - pcap.HEADER_BYTES, scan.MORE, pcap.RECORD_BYTES)


def test_a_cut_at_any_octet_leaves_every_whole_packet() -> None:
    octets = build.pcap(MIXED[:4])
    for size in range(pcap.HEADER_BYTES, len(octets)):
        found, _, position, status, detail = scan_file(octets[:size])
        expected = naive.read_pcap(octets[:size])
        assert found == expected.found
        assert status == scan.MORE
        assert size - pcap.HEADER_BYTES - position < detail
        assert (size - pcap.HEADER_BYTES == position) == (expected.end == "whole")


def test_the_snap_length_of_the_header_is_not_held_against_a_packet() -> None:
    frame = build.frame()
    octets = build.pcap_header() + build.record(frame, original=len(frame) + 300_000)
    assert len(scan_file(octets)[0]) == 1


@pytest.mark.parametrize("captured", [scan.CAPTURED_MAX + 1, 0x7FFF_FFFF, 0xFFFF_FFFF])
def test_a_length_no_capture_has_stops_the_scan_where_it_stands(captured: int) -> None:
    good = build.record(build.frame())
    found, _, position, status, detail = scan_file(
        build.pcap_header() + good + build.record(b"x" * 28, captured=captured)
    )
    assert len(found) == 1
    assert (position, status, detail) == (len(good), scan.OVERSIZE, pcap.RECORD_BYTES + captured)


def test_the_largest_packet_capture_programs_write_is_one() -> None:
    octets = build.pcap_header() + build.record(build.frame().ljust(scan.CAPTURED_MAX - 1), captured=scan.CAPTURED_MAX)
    header = pcap.read_header(octets)
    held = np.frombuffer(octets[pcap.HEADER_BYTES :], np.uint8)
    size = pcap.RECORD_BYTES + scan.CAPTURED_MAX
    assert pcap.scan(held, 0, len(held), header, fresh_sink()) == (0, 0, scan.MORE, size)


def test_one_destination_too_many_stops_the_scan_before_it() -> None:
    octets = build.pcap([build.frame(1), build.frame(2, port=1), build.frame(3, port=2)])
    header = pcap.read_header(octets)

    def run(held: np.ndarray, start: int, end: int, sink: scan.Sink) -> tuple[int, int, int, int]:
        return pcap.scan(held, start, end, header, sink._replace(line_keys=sink.line_keys[:2]))

    found, _, position, status, _ = walk(octets[pcap.HEADER_BYTES :], run)
    assert len(found) == 2
    assert (position, status) == (2 * 116, scan.LINES_FULL)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_mutated_files_agree_with_the_twin_and_stay_inside_their_octets(data: st.DataObject) -> None:
    order = data.draw(st.sampled_from("<>"))
    octets = bytearray(build.pcap(data.draw(st.permutations(MIXED[:6])), order))
    for _ in range(data.draw(st.integers(1, 6))):
        octets[data.draw(st.integers(pcap.HEADER_BYTES, len(octets) - 1))] = data.draw(st.integers(0, 255))
    octets = octets[: data.draw(st.integers(pcap.HEADER_BYTES, len(octets)))]
    found, counts, position, status, _ = scan_file(bytes(octets))
    expected = naive.read_pcap(bytes(octets))
    assert (found, counts) == (expected.found, expected.passed_over)
    whole = status == scan.MORE and position == len(octets) - pcap.HEADER_BYTES
    assert whole == (expected.end == "whole")
