"""Files of every format as one stream: same packets at any read size, every whole record before any error."""

import gzip
import zlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.naive import captures as naive
from tests.transport.reading import read
from tests.transport.samples import DAY, HEX, MESSAGES, PAYLOADS, PCAP, PCAPNG, put, read_octets
from tests.wire import build
from venym.transport.capture import (
    FRAMES_BYTES_MIN,
    CaptureCorrupt,
    CaptureRefused,
    CaptureTruncated,
    Line,
)

pytestmark = pytest.mark.plain


# Framing (A3)


@pytest.mark.parametrize("read_bytes", [1, 2, 3, 13, 14, 37, 60, None])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_any_read_size_gives_the_same_records_and_packets(folder: Path, compress, read_bytes: int | None) -> None:  # type: ignore[no-untyped-def]
    day = read(put(folder, compress(DAY)), read_bytes=read_bytes)
    assert (day.messages, day.errors) == ({"file": MESSAGES}, [])
    assert day.lines == [Line("file", 0)]
    pcap = read(put(folder, compress(PCAP)), read_bytes=read_bytes)
    assert (pcap.found, pcap.errors) == (naive.read_pcap(PCAP).found, [])
    assert pcap.lines == [Line("239.1.1.1", 26_400), Line("239.1.1.2", 26_400)]
    pcapng = read(put(folder, compress(PCAPNG)), read_bytes=read_bytes)
    assert (pcapng.found, pcapng.errors) == (naive.read_pcapng(PCAPNG).found, [])
    assert len(pcapng.found) == 4
    lines = read(put(folder, compress(HEX)), read_bytes=read_bytes)
    assert [found.payload for found in lines.found] == [*PAYLOADS[:2], PAYLOADS[3]]
    assert lines.lines == [Line("file", 0)]


@pytest.mark.parametrize("room", [1, 2, 3])
def test_any_room_for_packets_gives_the_same_packets(folder: Path, room: int) -> None:
    for octets, twin in ((PCAP, naive.read_pcap), (PCAPNG, naive.read_pcapng)):
        assert read_octets(folder, octets, room=room).found == twin(octets).found
    assert len(read_octets(folder, HEX, room=room).found) == 3


def test_an_unframed_day_is_refused(folder: Path) -> None:
    with pytest.raises(CaptureRefused, match="without their length prefixes"):
        read_octets(folder, b"".join(MESSAGES))


def test_a_record_longer_than_its_message_is_whole(folder: Path) -> None:
    messages = [*MESSAGES, build.message("A", length=38), build.message("E")]
    assert read_octets(folder, build.blocks(messages)).messages == {"file": messages}


def test_a_record_of_length_0_ends_the_session_and_nothing_may_follow(folder: Path) -> None:
    for read_bytes in (1, 4096):
        day = read_octets(folder, DAY + b"\0\0", read_bytes=read_bytes)
        assert (day.messages, day.errors) == ({"file": MESSAGES}, [])
        day = read_octets(folder, DAY + b"\0\0" + DAY, read_bytes=read_bytes)
        assert (day.messages, day.end) == ({"file": MESSAGES}, "corrupt")
        assert f"byte {len(DAY) + 2}: octets behind the record that ends the session" in str(day.errors[0])


def test_both_members_of_a_gzip_file_are_read(folder: Path) -> None:
    day = read_octets(folder, gzip.compress(DAY[:50]) + gzip.compress(DAY[50:]))
    assert (day.messages, day.errors) == ({"file": MESSAGES}, [])


# Cuts (A3, C19)


def expected_end(size: int, wholes: list[int]) -> str:
    return "whole" if size in wholes else "truncated"


def test_a_day_cut_anywhere_gives_its_whole_records_and_one_error(folder: Path) -> None:
    for size in range(1, len(DAY)):
        day = read_octets(folder, DAY[:size])
        expected = naive.read_binaryfile(DAY[:size])
        assert day.messages.get("file", []) == expected.messages
        assert day.end == expected.end, size


def test_a_pcap_file_cut_anywhere_gives_its_whole_packets_and_one_error(folder: Path) -> None:
    for size in range(1, len(PCAP)):
        pcap = read_octets(folder, PCAP[:size])
        expected = naive.read_pcap(PCAP[:size]) if size >= 24 else naive.Reading(end="truncated")
        assert (pcap.found, pcap.end) == (expected.found, expected.end), size
        if pcap.errors:
            offset = pcap.errors[0].offset
            assert f"file: byte {offset}: the file " in str(pcap.errors[0])
            assert offset == size if size < 24 else offset < size


def test_a_pcapng_file_cut_anywhere_gives_its_whole_packets_and_one_error(folder: Path) -> None:
    for size in range(1, len(PCAPNG)):
        pcapng = read_octets(folder, PCAPNG[:size])
        expected = naive.read_pcapng(PCAPNG[:size])
        assert (pcapng.found, pcapng.end) == (expected.found, expected.end), size


def test_a_hex_file_cut_anywhere_gives_its_whole_lines_and_one_error(folder: Path) -> None:
    """Before the end of a last line without newline only the packet itself can tell."""
    ends = [end for end, octet in enumerate(HEX) if octet == ord("\n")]
    wholes = sorted({0, *ends, *(end + 1 for end in ends)})
    for size in range(1, len(HEX)):
        lines = read(put(folder, HEX[:size], "file.hex"))
        expected = [bytes.fromhex(line.decode()) for line in HEX[: max(w for w in wholes if w <= size)].split()]
        assert [found.payload for found in lines.found] == expected
        assert lines.end == expected_end(size, wholes), size


@pytest.mark.parametrize("octets", [PCAP, PCAPNG, DAY])
def test_a_gzip_file_cut_anywhere_gives_the_whole_records_in_it_and_one_error(folder: Path, octets: bytes) -> None:
    compressed = gzip.compress(octets, mtime=0)
    for size in range(1, len(compressed)):
        inflated = zlib.decompressobj(31).decompress(compressed[:size])
        result = read_octets(folder, compressed[:size], read_bytes=50)
        assert result.end == "truncated", size
        if octets == DAY:
            assert result.messages.get("file", []) == naive.read_binaryfile(inflated).messages
        elif len(inflated) >= 28:
            twin = naive.read_pcap if octets == PCAP else naive.read_pcapng
            assert result.found == twin(inflated).found


def test_after_a_cut_file_the_next_one_is_read(folder: Path) -> None:
    cut, whole = put(folder, PCAP[:-1], "cut"), put(folder, PCAP, "whole")
    result = read(cut, whole, put(folder, DAY[:-1], "day"), whole)
    packets = naive.read_pcap(PCAP).found
    assert result.found == packets[:-1] + packets + packets
    assert result.messages == {"day": MESSAGES[:-1]}
    assert [(type(error), error.path.name) for error in result.errors] == [
        (CaptureTruncated, "cut"),
        (CaptureTruncated, "day"),
    ]


# Time stamps and interfaces (C14, C15)


@pytest.mark.parametrize("order", "<>")
def test_times_are_integer_nanoseconds_under_every_magic(folder: Path, order: str) -> None:
    us = read_octets(folder, build.pcap([build.frame()], order, build.US))
    assert [found.time_ns for found in us.found] == [1_546_524_000_150_304_000]
    ns = read_octets(folder, build.pcap([build.frame()], order, build.NS))
    assert [found.time_ns for found in ns.found] == [1_546_524_000_150_304_789]


@pytest.mark.parametrize("order", "<>")
def test_each_interface_has_its_own_resolution_and_link_type(folder: Path, order: str) -> None:
    microseconds = 1_546_524_000_150_304
    file = [
        build.section(order),
        build.interface(resolution=6, order=order),
        build.interface(resolution=9, order=order),
        build.interface(resolution=0x94, order=order),
        build.interface(build.SLL, 9, order=order),
        build.enhanced(build.frame(1), microseconds, 0, order),
        build.enhanced(build.frame(2), microseconds * 1000 + 1_000_000, 1, order),
        build.enhanced(build.frame(3), (1_546_524_000 << 20) + 157_606, 2, order),
        build.enhanced(build.frame(4, build.SLL), microseconds * 1000 + 3_000_000, 3, order),
    ]
    result = read_octets(folder, b"".join(file))
    assert [found.payload for found in result.found] == [build.mold(n, [build.add(n)]) for n in (1, 2, 3, 4)]
    times = [found.time_ns - 1_546_524_000_000_000_000 for found in result.found]
    assert times == [150_304_000, 151_304_000, 157_606 * 10**9 >> 20, 153_304_000]


def test_a_section_forgets_the_interfaces_before_it(folder: Path) -> None:
    result = read_octets(folder, PCAPNG + build.section() + build.enhanced(build.frame()))
    assert (len(result.found), result.end) == (4, "corrupt")
    assert f"byte {len(PCAPNG) + 28}: a packet of interface 0, but the section describes 0" in str(result.errors[0])


def test_many_interfaces_are_kept_apart(folder: Path) -> None:
    file = build.section() + b"".join(build.interface(offset_s=number) for number in range(100))
    file += b"".join(build.enhanced(build.frame(), 0, number) for number in range(100))
    assert [found.time_ns for found in read_octets(folder, file).found] == [n * 10**9 for n in range(100)]


# Tags and cooked captures (C18)


def test_tagged_and_cooked_frames_are_read(folder: Path) -> None:
    datagram = build.ipv4(build.udp(PAYLOADS[0]))
    tagged = [build.ethernet(datagram, tags) for tags in ([0x8100], [0x88A8, 0x8100], [0x9100, 0x8100], [0x9200])]
    assert [found.payload for found in read_octets(folder, build.pcap(tagged)).found] == [PAYLOADS[0]] * 4
    for link_type in (build.SLL, build.SLL2, build.RAW, build.LOOPBACK):
        file = build.pcap([build.frame(1, link_type)], link_type=link_type)
        assert [found.payload for found in read_octets(folder, file).found] == [PAYLOADS[0]]


def test_a_link_type_that_is_not_read_is_refused_by_name(folder: Path) -> None:
    with pytest.raises(CaptureRefused, match=r"file: byte 0: pcap of link type 127 \(IEEE 802.11 radiotap\)"):
        read_octets(folder, build.pcap([build.frame()], link_type=127))
    head = build.section() + build.interface() + build.interface(127)
    good, bad = build.enhanced(build.frame()), build.enhanced(build.frame(), number=1)
    result = read_octets(folder, head + good + bad)
    assert (len(result.found), result.end) == (1, "refused")
    assert str(result.errors[0]).endswith(
        f"byte {len(head + good)}: a packet of interface 1, which has link type 127 (IEEE 802.11 radiotap)"
    )
    assert read_octets(folder, head + good).end == "whole"  # no packet came from the other


def test_all_that_is_passed_over_is_counted(folder: Path) -> None:
    ip = build.ipv4
    counters = read_octets(
        folder,
        build.pcap_header()
        + build.record(build.frame())
        + build.record(build.ethernet(b"", kind=0x0806))
        + build.record(build.ethernet(ip(b"", protocol=6))) * 2
        + build.record(build.ethernet(ip(build.udp(b""), fragment=0x2000))) * 3
        + build.record(b"") * 4
        + build.record(build.ethernet(ip(build.udp(b""), words=0))) * 5
        + build.record(build.ethernet(ip(build.udp(b"", length=4)))) * 6
        + build.record(build.frame()[:50], original=100) * 7,
    ).counters
    assert (counters.packets, counters.frames, counters.octets, counters.lines) == (8, 29, 58 + 7 * 8, 1)
    assert (counters.not_ipv4, counters.not_udp, counters.fragments, counters.short) == (1, 2, 3, 4)
    assert (counters.bad_ip_header, counters.bad_udp_length, counters.snapped) == (5, 6, 7)
    ng = build.section() + build.interface() + build.block(5, b"") + build.enhanced(build.frame(), 2**64 - 1)
    counters = read_octets(folder, ng).counters
    assert (counters.blocks_skipped, counters.bad_time, counters.packets) == (1, 1, 1)
    counters = read_octets(folder, DAY).counters
    assert (counters.records, counters.packets, counters.octets) == (3, 1, len(DAY))


# Lengths (C19)


def test_a_snapped_packet_is_handed_on_marked(folder: Path) -> None:
    frames = [build.frame(n) for n in (1, 2)]
    file = build.pcap_header() + b"".join(build.record(frame[:96], original=100) for frame in frames)
    result = read_octets(folder, file)
    assert [(found.payload, found.snapped) for found in result.found] == [(p[:-4], True) for p in PAYLOADS[:2]]
    assert result.counters.snapped == 2


@pytest.mark.parametrize("captured", [0x7FFF_FFFF, 0xFFFF_FFFF, 300_000])
@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_huge_length_in_a_short_file_is_a_cut(folder: Path, captured: int, compress) -> None:  # type: ignore[no-untyped-def]
    file = build.pcap([build.frame()]) + build.record(b"x" * 28, captured=captured)
    result = read_octets(folder, compress(file))
    assert (len(result.found), result.end) == (1, "truncated")
    assert f"byte 140: the file ends inside a record of {captured + 16} bytes, of which 44 are there" in str(
        result.errors[0]
    )


def test_a_huge_length_in_a_file_that_goes_on_is_nonsense(folder: Path) -> None:
    file = build.pcap([build.frame()]) + build.record(bytes(1 << 21), captured=300_000)
    result = read_octets(folder, file)
    assert (len(result.found), result.end) == (1, "corrupt")
    assert "byte 140: a record of 300016 bytes" in str(result.errors[0])
    head = build.section() + build.interface() + build.enhanced(build.frame())
    for kind in (6, 1, 0x0A0D0D0A):
        body = (b"\x4d\x3c\x2b\x1a\1\0" if kind > 6 else b"") + bytes(3 << 20)
        result = read_octets(folder, head + build.block(kind, body))
        assert (len(result.found), result.end) == (1, "corrupt"), kind
        result = read_octets(folder, head + build.block(kind, body)[:-1])
        assert (len(result.found), result.end) == (1, "truncated"), kind


def test_a_block_of_no_interest_may_be_larger_than_the_memory(folder: Path) -> None:
    large = build.block(10, bytes(FRAMES_BYTES_MIN * 2))
    head, packet = build.section() + build.interface(), build.enhanced(build.frame())
    result = read_octets(folder, head + packet + large + packet)
    assert (len(result.found), result.end, result.counters.blocks_skipped) == (2, "whole", 1)
    result = read_octets(folder, head + packet + large[:-1])
    assert (len(result.found), result.end) == (1, "truncated")


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (build.block(99, b"", length=8), "a block of 8 bytes"),
        (build.block(99, b"", trailer=16), "a block of 12 bytes that does not end with its length"),
        (build.enhanced(b"", captured=8), "a packet of 8 bytes that does not fit into its block"),
        (build.enhanced(build.frame(), number=9), "a packet of interface 9, but the section describes 1"),
        (build.block(0x0A0D0D0A, bytes(16)), "byte-order magic 00000000"),
        (build.block(1, b""), "interface block of 12 bytes"),
    ],
)
def test_nonsense_in_the_middle_is_named_with_its_place(folder: Path, block: bytes, words: str) -> None:
    head = build.section() + build.interface() + build.enhanced(build.frame()) + build.block(5, bytes(100))
    result = read_octets(folder, head + block + build.enhanced(build.frame()))
    assert (len(result.found), result.end) == (1, "corrupt")
    assert f"file: byte {len(head)}: " in str(result.errors[0])
    assert words in str(result.errors[0])


def test_too_many_interfaces_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("venym.wire.pcapng.INTERFACES_MAX", 3)
    assert read_octets(folder, build.section() + build.interface() * 3).end == "whole"
    result = read_octets(folder, build.section() + build.interface() * 4)
    assert result.end == "refused"
    assert "more than 3 interfaces" in str(result.errors[0])


def test_damaged_gzip_is_corrupt_after_the_records_in_it(folder: Path) -> None:
    good = gzip.compress(PCAP)
    result = read_octets(folder, good[:-8] + bytes(8))
    assert (len(result.found), result.end) == (3, "corrupt")
    assert f"byte {len(PCAP)}: gzip: the check sum does not match" in str(result.errors[0])


def test_a_line_that_is_not_hexadecimal_is_named_by_its_number(folder: Path) -> None:
    for bad in (b"30xx", b"303", "µ".encode(), b"00" * 65_536):
        file = PAYLOADS[0].hex().encode() + b"\n\n" + bad + b"\n" + PAYLOADS[1].hex().encode()
        for read_bytes in (7, 4096):
            result = read_octets(folder, file, read_bytes=read_bytes) if len(bad) < 100 else read_octets(folder, file)
            assert ([found.payload for found in result.found], result.end) == (PAYLOADS[:1], "corrupt")
            assert f"byte {2 * len(PAYLOADS[0]) + 2}: line 3 " in str(result.errors[0])


@given(st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_files_give_what_the_twin_gives(folder: Path, data: st.DataObject) -> None:
    base, twin, head = data.draw(st.sampled_from([(PCAP, naive.read_pcap, 24), (PCAPNG, naive.read_pcapng, 28)]))
    octets = bytearray(base)
    for _ in range(data.draw(st.integers(1, 4))):
        octets[data.draw(st.integers(head, len(octets) - 1))] = data.draw(st.integers(0, 255))
    octets = octets[: data.draw(st.integers(head, len(octets)))]
    result = read_octets(folder, bytes(octets), read_bytes=data.draw(st.sampled_from([13, 4096])))
    expected = twin(bytes(octets))
    assert (result.found, result.end) == (expected.found, expected.end)


def test_an_error_is_one_of_four_kinds_and_carries_its_place(folder: Path) -> None:
    result = read_octets(folder, PCAP[:-1])
    error = result.errors[0]
    assert isinstance(error, CaptureTruncated)
    assert not isinstance(error, CaptureCorrupt)
    assert (error.path, error.offset) == (folder / "file", len(PCAP) - 116)
    assert str(error) == f"{error.path}: byte {error.offset}: {error.reason}"
