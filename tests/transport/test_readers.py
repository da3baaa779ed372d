"""A reader a format: it is given what there is, hands on what is whole, and is given the rest again.

Here the readers stand alone; the files around them are tests/transport/test_capture.py.
"""

from collections.abc import Callable
from itertools import chain, repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import captures as naive
from tests.transport.driving import (
    MEMORY,
    PCAP_BODY,
    SINK,
    SPARE,
    Told,
    day,
    drive,
    fresh_sink,
    hexadecimal,
    pcap,
    pcapng,
)
from tests.transport.samples import DAY, HEX, MESSAGES, PAYLOADS, PCAP, PCAPNG
from tests.wire import build
from venym.records import BLOCKS, MOLDUDP64
from venym.transport import readers
from venym.transport.readers import BinaryFileReader, HexReader, PcapReader, Reader, Step
from venym.wire import scan
from venym.wire.pcap import HEADER_BYTES

pytestmark = pytest.mark.plain

# Any read size


def of_datagrams(payloads: list[bytes], times: list[int] | None = None, lines: list[int] | None = None) -> list[Told]:
    """What is told of datagrams."""
    count = len(payloads)
    rows = zip(payloads, times or [0] * count, range(count), lines or [0] * count, strict=True)
    return [Told(payload, time_ns, cause, line, MOLDUDP64, 0) for payload, time_ns, cause, line in rows]


def of_reading(reading: naive.Reading) -> list[Told]:
    """The same of what the plain twin found."""
    places = list(dict.fromkeys((found.address, found.port) for found in reading.found))
    lines = [places.index((found.address, found.port)) for found in reading.found]
    return of_datagrams([found.payload for found in reading.found], [found.time_ns for found in reading.found], lines)


HEX_TOLD = of_datagrams([*PAYLOADS[:2], PAYLOADS[3]])
DATAGRAMS = {
    "pcap": (pcap, PCAP_BODY, of_reading(naive.read_pcap(PCAP))),
    "pcapng": (pcapng, PCAPNG, of_reading(naive.read_pcapng(PCAPNG))),
    "hex": (hexadecimal, HEX, HEX_TOLD),
    "hex without a last newline": (hexadecimal, HEX.rstrip(b"\n"), HEX_TOLD),
    "hex in capitals, of Windows": (hexadecimal, HEX.upper().replace(b"\n", b" \r\n"), HEX_TOLD),
}
SIZES = [1, 2, 3, 7, 28, 60, 61, 1 << 18]


@pytest.mark.parametrize("name", DATAGRAMS)
@pytest.mark.parametrize("size", SIZES)
def test_any_read_size_gives_the_same_packets(name: str, size: int) -> None:
    make, octets, expected = DATAGRAMS[name]
    got = drive(make, octets, repeat(size))
    assert (got.told, got.status, got.at, got.error) == (expected, scan.MORE, len(octets), None)
    assert len(expected) >= 3


@pytest.mark.parametrize("name", DATAGRAMS)
@given(sizes=st.lists(st.integers(1, 130), max_size=30), room=st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_so_do_reads_of_changing_sizes_and_any_room(name: str, sizes: list[int], room: int) -> None:
    make, octets, expected = DATAGRAMS[name]
    assert drive(make, octets, chain(sizes, repeat(9)), room).told == expected


@pytest.mark.parametrize("name", ["pcap", "pcapng", "hex"])
def test_where_there_is_room_for_no_more_it_says_so(name: str) -> None:
    make, octets, expected = DATAGRAMS[name]
    sink = fresh_sink(2)
    held = MEMORY.put(octets)
    step = make(sink).scan(held, 0, len(held), False)
    assert (step.made, step.status) == (2, scan.FULL)
    assert [held[p.offset : p.offset + p.length].tobytes() for p in sink.packets] == [told[0] for told in expected[:2]]


@given(sizes=st.lists(st.integers(1, 130), max_size=30))
@settings(max_examples=60, deadline=None)
def test_a_day_is_the_same_records_in_packets_of_as_many_as_came(sizes: list[int]) -> None:
    got = drive(day, DAY, chain(sizes, repeat(9)))
    assert (b"".join(got.payloads), got.at, got.error) == (DAY, len(DAY), None)
    records = 1
    assert int(SINK.counts[scan.RECORDS]) == len(MESSAGES)
    for number, packet in enumerate(got.told):
        read = naive.read_binaryfile(packet.payload)
        assert read.end == "whole"
        assert packet[1:] == (0, number, 0, BLOCKS, records)  # from 1, and on from packet to packet
        records += len(read.messages)
    assert records == 1 + len(MESSAGES)


def test_a_packet_of_a_day_is_no_longer_than_its_length_can_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "_BLOCKS_MAX", 60)  # 2 GiB
    octets = build.blocks([build.add(k) for k in range(4)])
    got = drive(day, octets)
    assert got.payloads == [octets[k : k + 38] for k in range(0, 4 * 38, 38)]
    assert [packet.sequence for packet in got.told] == [1, 2, 3, 4]


WHOLE: dict[str, tuple[Callable[[scan.Sink], Reader], bytes, Callable[[bytes], list[bytes]]]] = {
    "pcap": (pcap, PCAP_BODY, lambda part: [f.payload for f in naive.read_pcap(PCAP[:HEADER_BYTES] + part).found]),
    "pcapng": (pcapng, PCAPNG, lambda part: [f.payload for f in naive.read_pcapng(part).found]),
    "day": (day, DAY, lambda part: [build.blocks([message]) for message in naive.read_binaryfile(part).messages]),
    "hex": (hexadecimal, HEX, lambda part: [bytes.fromhex(line.decode()) for line in part.split(b"\n")[:-1] if line]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_a_packet_is_handed_on_as_soon_as_its_last_octet_is_there_and_not_before(name: str) -> None:
    make, octets, whole = WHOLE[name]
    sink = fresh_sink()
    reader = make(sink)
    done, payloads = 0, []
    for given_out in range(1, len(octets) + 1):
        held = MEMORY.put(octets[done:given_out] + bytes(SPARE))
        step = reader.scan(held, 0, given_out - done, False)
        payloads += [held[p.offset : p.offset + p.length].tobytes() for p in sink.packets[: step.made]]
        done += step.position
        assert payloads == whole(octets[:given_out]), given_out
    assert (done, len(payloads) >= 3) == (len(octets), True)


@pytest.mark.parametrize("name", ["pcap", "pcapng", "day"])
def test_with_what_was_asked_for_it_goes_on_and_with_less_it_does_not(name: str) -> None:
    make, octets, _ = WHOLE[name]
    sink = fresh_sink()
    reader = make(sink)
    done = asked = 0
    while done < len(octets):
        if asked:
            held = MEMORY.put(octets[done : done + asked - 1] + bytes(SPARE))
            step = reader.scan(held, 0, asked - 1, False)
            assert step[:3] == (0, 0, scan.MORE) and step.detail >= asked
        held = MEMORY.put(octets[done : done + asked] + bytes(SPARE))
        step = reader.scan(held, 0, asked, False)
        assert step.status == scan.MORE and (step.position or step.detail > asked)
        done, asked = done + step.position, step.detail
    assert done == len(octets)


def test_of_a_block_the_least_that_tells_more_is_asked_for_and_then_all_of_it() -> None:
    section, interface = build.section(options=build.option(1, bytes(8))), build.interface()
    packet, other = build.enhanced(build.frame()), build.block(5, bytes(12))
    for before, block, told_at in ((b"", section, 12), (section, interface, 8), (section + interface, packet, 8),
                                   (section, other, 8)):  # fmt: skip
        sink = fresh_sink()
        reader = pcapng(sink)
        done = reader.scan(MEMORY.put(before), 0, len(before), False).position
        assert done == len(before)
        for there in range(len(block)):
            held = MEMORY.put(block[:there] + bytes(SPARE))
            needed = len(block) if there >= told_at else 12
            assert reader.scan(held, 0, there, False) == Step(0, 0, scan.MORE, needed)
        assert reader.scan(MEMORY.put(block), 0, len(block), False).position == len(block)


def test_each_interface_keeps_what_it_says_however_many_there_are() -> None:
    octets = build.section() + b"".join(build.interface(offset_s=number) for number in range(10))
    octets += b"".join(build.enhanced(build.frame(), 0, number) for number in range(10))
    for size in (1, 50, 1 << 18):
        got = drive(pcapng, octets, repeat(size))
        assert [packet.received_ns for packet in got.told] == [number * 10**9 for number in range(10)]


# How it ends


@pytest.mark.parametrize("name", ["pcap", "pcapng", "day"])
def test_a_cut_record_stays_and_what_it_needs_is_told(name: str) -> None:
    make, octets, _ = WHOLE[name]
    cut = drive(make, octets[:-1], [1 << 18])
    assert cut.status == scan.MORE and cut.error is None
    assert cut.at + cut.detail == len(octets) and cut.at < len(octets) - 1


def test_what_ends_a_day_stands_where_it_is_said_to() -> None:
    for size in SIZES:
        got = drive(day, DAY + b"\0\0" + DAY, repeat(size))
        assert (b"".join(got.payloads), got.status, got.at) == (DAY, scan.END_OF_SESSION, len(DAY))
    held = MEMORY.put(DAY + b"\0\0")
    reader = day(fresh_sink())
    for made in (1, 0):
        assert reader.scan(held, len(DAY) * (1 - made), len(held), False) == (len(DAY), made, scan.END_OF_SESSION, 0)
        assert reader.at == len(DAY)


@pytest.mark.parametrize("size", SIZES)
def test_a_packet_that_no_capture_holds_is_told_with_its_size_behind_what_came_before(size: int) -> None:
    record = build.record(b"", captured=scan.CAPTURED_MAX + 1)
    got = drive(pcap, PCAP_BODY + record + bytes(99), repeat(size))
    assert (len(got.told), got.status, got.at) == (3, scan.OVERSIZE, len(PCAP_BODY))
    assert got.detail == 16 + scan.CAPTURED_MAX + 1
    block = build.block(6, b"", length=1 << 20)
    got = drive(pcapng, PCAPNG + build.section() + block, repeat(size))
    assert (len(got.told), got.status, got.detail) == (4, scan.OVERSIZE, 1 << 20)
    assert got.at == len(PCAPNG + build.section())


def test_a_block_of_no_interest_that_the_memory_cannot_hold_is_to_be_skipped() -> None:
    head, large = build.section() + build.interface(), build.block(10, bytes(500))
    octets = head + large + build.enhanced(build.frame(1))
    held = MEMORY.put(octets[:200])
    step = pcapng(fresh_sink()).scan(held, 0, len(held), False)
    assert step == Step(len(head), 0, scan.SKIP, len(large))
    for size in (1, 50, 200):  # the reader goes on behind it
        assert drive(pcapng, octets, repeat(size)).payloads == PAYLOADS[:1]


@pytest.mark.parametrize(
    ("line", "whole"),
    [
        (PAYLOADS[0].hex(), True),
        (PAYLOADS[3].hex(), True),  # the session's end counts no messages
        (PAYLOADS[0].hex()[:-2], False),  # a message is cut
        (PAYLOADS[0].hex()[:-1], False),  # an octet is
        (PAYLOADS[0].hex()[:38], False),  # the header is
        (PAYLOADS[0].hex()[:42], False),  # a length is
        ("", True),
    ],
)
def test_of_a_last_line_without_its_end_the_packet_itself_tells_whether_it_is_whole(line: str, whole: bool) -> None:
    before = PAYLOADS[1].hex().encode() + b"\n"
    octets = before + line.encode()
    for size in (1, 9, 1 << 18):
        got = drive(hexadecimal, octets, repeat(size))
        expected = [PAYLOADS[1]] + ([bytes.fromhex(line)] if whole and line else [])
        assert (got.payloads, got.error) == (expected, None)
        assert got.at == (len(octets) if whole else len(before))
        assert got.detail > len(octets) - got.at  # so the file ends too soon, if anything is left


def test_a_line_with_its_end_is_handed_on_whatever_its_packet_lacks() -> None:
    """The decoder counts it as it counts datagrams that were cut."""
    for packet in (PAYLOADS[0][:-1], PAYLOADS[0][:19], b"\1"):
        assert drive(hexadecimal, packet.hex().encode() + b"\n").payloads == [packet]


# What cannot be read


GOOD_PCAPNG = build.section() + build.interface() + build.enhanced(build.frame(1))
GOOD_HEX = PAYLOADS[0].hex().encode() + b"\n\n"
Faults = list[tuple[Callable[[scan.Sink], Reader], bytes, bytes, type[Exception], str]]
FAULTS: Faults = [
    *(
        (pcapng, GOOD_PCAPNG, bad + build.enhanced(build.frame(2)), kind, words)
        for bad, kind, words in (
            (build.block(99, b"", length=8), scan.Malformed, "a block of 8 bytes"),
            (build.block(99, b"", length=13), scan.Malformed, "a block of 13 bytes"),
            (build.block(99, b"", trailer=16), scan.Malformed, "of 12 bytes that does not end with its length"),
            (build.enhanced(b"", captured=8), scan.Malformed, "a packet of 8 bytes that does not fit into its block"),
            (build.enhanced(b"", number=9), scan.Malformed, "a packet of interface 9, but the section describes 1"),
            (build.block(0x0A0D0D0A, bytes(16)), scan.Malformed, "byte-order magic 00000000"),
            (build.section()[:-4] + bytes(4), scan.Malformed, "block of 28 bytes that ends as one of 0"),
            (
                build.section(options=build.option(1, bytes(8)))[:-4] + bytes(4),
                scan.Malformed,
                "block of 40 bytes that ends as one of 0",
            ),
            (build.section(version=(2, 0)), scan.Refused, "pcapng version 2.0, only 1.x is read"),
            (build.block(1, b""), scan.Malformed, "interface block of 12 bytes"),
        )
    ),
    (
        pcapng,
        GOOD_PCAPNG + build.interface(127),
        build.enhanced(build.frame(2), number=1),
        scan.Refused,
        r"a packet of interface 1, which has link type 127 \(IEEE 802.11 radiotap\)",
    ),
    (hexadecimal, GOOD_HEX, b"30xx\n", scan.Malformed, "line 3 is not hexadecimal: b'30xx'"),
    (hexadecimal, GOOD_HEX, b"303\n", scan.Malformed, "line 3 is not hexadecimal: b'303'"),
    (hexadecimal, GOOD_HEX, b"\xc2\xb5\n", scan.Malformed, "line 3 is not hexadecimal"),
    (hexadecimal, GOOD_HEX, b"30xx", scan.Malformed, "line 3 is not hexadecimal"),
    (hexadecimal, GOOD_HEX, b"30x", scan.Malformed, "line 3 is not hexadecimal"),
]


@pytest.mark.parametrize(("make", "good", "bad", "kind", "words"), FAULTS)
@pytest.mark.parametrize("size", SIZES)
def test_a_fault_is_named_with_its_place_when_all_before_it_was_handed_on(
    make: Callable[[scan.Sink], Reader], good: bytes, bad: bytes, kind: type[Exception], words: str, size: int
) -> None:
    got = drive(make, good + bad, repeat(size))
    assert (got.payloads, got.at) == (PAYLOADS[:1], len(good))
    assert type(got.error) is kind
    with pytest.raises(kind, match=words):
        raise got.error


def test_a_line_longer_than_a_datagram_is_named() -> None:
    longest = build.mold(1, count=0).ljust(readers.DATAGRAM_MAX, b"\0")
    assert drive(hexadecimal, longest.hex().encode() + b"\n").payloads == [longest]
    got = drive(hexadecimal, GOOD_HEX + longest.hex().encode() + b"00\n")
    assert (got.payloads, got.at) == (PAYLOADS[:1], len(GOOD_HEX))
    assert str(got.error) == "line 3 has 65536 bytes, more than a datagram"


def test_a_pcap_file_of_what_is_not_read_is_refused_by_its_header() -> None:
    for header, words in (
        (build.pcap_header(link_type=127), r"link type 127 \(IEEE 802.11 radiotap\)"),
        (build.pcap_header(version=(3, 0)), "pcap version 3.0, only 2.x is read"),
    ):
        with pytest.raises(scan.Refused, match=words):
            PcapReader(fresh_sink(), header)


def test_more_interfaces_than_a_capture_has_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("venym.wire.pcapng.INTERFACES_MAX", 6)
    octets = build.section() + build.interface() * 6
    assert drive(pcapng, octets + build.section() + build.interface() * 6).at == 2 * len(octets)  # in each section
    for size in SIZES:
        got = drive(pcapng, octets + build.interface(), repeat(size))
        assert (type(got.error), str(got.error)) == (scan.Refused, "more than 6 interfaces in a section")
        assert got.at == len(octets)


# Destinations


@pytest.mark.parametrize(
    ("make", "head", "packet"),
    [(pcap, b"", build.record), (pcapng, build.section() + build.interface(), build.enhanced)],
)
def test_one_destination_too_many_is_refused_behind_the_packets_before_it(
    make: Callable[[scan.Sink], Reader], head: bytes, packet: Callable[[bytes], bytes]
) -> None:
    sink = fresh_sink()
    reader = make(sink)
    held = MEMORY.put(head + packet(build.frame(1)))
    assert reader.scan(held, 0, len(held), False).made == 1
    sink.counts[scan.LINES] = scan.LINES_MAX  # all others are taken
    known = packet(build.frame(2))
    held = MEMORY.put(known + packet(build.frame(3, to="239.1.1.2")))
    step = reader.scan(held, 0, len(held), False)
    assert (step.position, step.made, int(sink.packets[0].line)) == (len(known), 1, 0)
    with pytest.raises(scan.Refused, match=f"more than {scan.LINES_MAX} destinations: not a capture of market data"):
        reader.scan(held, step.position, len(held), False)
    assert reader.at == len(known)


@pytest.mark.parametrize("make", [BinaryFileReader, HexReader])
def test_a_file_without_destinations_is_a_line_of_its_own(make: Callable[[scan.Sink, int], Reader]) -> None:
    sink = fresh_sink()
    make(sink, 0)
    make(sink, 3)
    assert int(sink.counts[scan.LINES]) == 2
    assert [int(key) for key in sink.line_keys[:2]] == [~0, ~3]  # below 0, which no destination is
    sink.counts[scan.LINES] = scan.LINES_MAX
    with pytest.raises(scan.Refused, match="destinations"):
        make(sink, 4)
    assert int(sink.counts[scan.LINES]) == scan.LINES_MAX
