"""What a file is, by its octets; what is not read is refused by a name."""

import random
from pathlib import Path

import pytest

from tests.wire import build
from venym.transport.recognise import Format, recognise
from venym.transport.source import CaptureRefused, CaptureTruncated

pytestmark = pytest.mark.plain

DAY = build.blocks([build.system(), build.directory(), build.add(1)])
HEX = b"\n\n" + build.mold(1, [build.system()]).hex().encode() + b"\n"


@pytest.mark.parametrize(
    ("octets", "format"),
    [
        *((build.pcap_header(order, magic), Format.PCAP) for order in "<>" for magic in (build.US, build.NS)),
        (build.section("<"), Format.PCAPNG),
        (build.section(">"), Format.PCAPNG),
        (DAY, Format.BINARYFILE),
        (build.blocks([build.add(1)]), Format.BINARYFILE),
        (build.blocks([build.system()], end=True), Format.BINARYFILE),
        (build.blocks([build.system()], end=True) + b"more", Format.BINARYFILE),
        (build.blocks([build.system() + b"more", b"~new type"]), Format.BINARYFILE),
        *((DAY[:size], Format.BINARYFILE) for size in range(1, len(DAY))),
        (HEX, Format.HEX),
        (HEX.upper().replace(b"\n", b"\r\n"), Format.HEX),
        (HEX[:-9], Format.HEX),
    ],
)
def test_a_format_is_known_by_its_octets(octets: bytes, format: Format) -> None:
    assert recognise(Path("whatever.txt"), octets) is format


def test_the_name_helps_a_hex_file_that_starts_short_or_wrong() -> None:
    for name in ("a.hex", "A.HEX", "a.hex.gz"):
        assert recognise(Path(name), b"30") is Format.HEX
        assert recognise(Path(name), b"oops\n") is Format.HEX
    with pytest.raises(CaptureRefused, match="looks like text: '30'"):
        recognise(Path("a.txt"), b"30")
    with pytest.raises(CaptureRefused):
        recognise(Path("a.hex"), b"\0\1\2\3")


@pytest.mark.parametrize(
    "octets", [build.pcap_header(), build.pcap_header(">", build.NS), build.section(), b"\x1f\x8b"]
)
def test_a_file_cut_inside_its_magic_is_truncated(octets: bytes) -> None:
    for size in range(1, 4 if octets == build.section() else min(len(octets), 24)):
        with pytest.raises(CaptureTruncated, match=f"byte {size}: the file is cut"):
            recognise(Path("a"), octets[:size])


ZERO_PREFIXES = b"".join(b"\0\0" + message for message in (build.system(), build.directory(), build.add(1)))


@pytest.mark.parametrize(
    ("octets", "words"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04" + bytes(30), "looks like a zip archive, which is not read"),
        (b"\x28\xb5\x2f\xfd" + bytes(30), "looks like zstd"),
        (b"BZh91AY&SY", "looks like bzip2"),
        (b"\xfd7zXZ\x00\x00", "looks like xz"),
        (b"7z\xbc\xaf\x27\x1c", "looks like a 7z archive"),
        (b"\x1f\x8b\x08\x00" + bytes(30), "looks like gzip inside gzip"),
        (b"\xa1\xb2\xcd\x34" + bytes(30), "looks like modified pcap"),
        (b"snoop\0\0\0" + bytes(30), "looks like a snoop capture"),
        (build.section()[:8] + bytes(20), "starts like pcapng, but with byte-order magic 00000000"),
        (b"A", "looks like text: 'A'"),
        (b"Time,Type,Price\n1,2,3\n", "looks like text: 'Time,Type,Price'"),
        ("Zeit in µs\n".encode(), "looks like text: 'Zeit in µs'"),
        ("µ".encode() * 3, "looks like text"),
        ("aµ".encode()[:-1], "looks like text: 'a'"),
        (build.system() + build.directory() + build.add(1), "ITCH messages without their length prefixes"),
        (build.system(), "ITCH messages without their length prefixes"),
        (ZERO_PREFIXES, "BinaryFILE with every length prefix zero"),
        (build.mold(1, [build.system(), build.add(1)]), "bare MoldUDP64 packets"),
        (build.mold(1, [build.system()], bytes(10)), "bare MoldUDP64 packets"),
        (build.mold(7, count=0xFFFF), "bare MoldUDP64 packets"),
        (build.blocks([b"S" + build.system(), b"S" + build.add(1)]), "a SoupBinTCP stream"),
        (build.blocks([b"A0000000001" + b"%20d" % 1]), "a SoupBinTCP stream"),
        (b"\0\0", "starts with a length of 0"),
        (bytes(100), "starts with a length of 0"),
        (build.blocks([build.add(1)[:35]]), "in no known format: it starts with 00 23 41"),
        (build.blocks([build.system(), build.message("A", length=600)]), "in no known format"),
        (b"\x7f\x01\x02", "in no known format: it starts with 7f 01 02"),
    ],
)
def test_what_is_not_read_is_refused_by_what_it_looks_like(octets: bytes, words: str) -> None:
    with pytest.raises(CaptureRefused, match=words) as refused:
        recognise(Path("some/file"), octets)
    assert str(refused.value).startswith("some/file: byte 0: ")


def test_random_octets_are_never_taken_for_a_format() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        with pytest.raises((CaptureRefused, CaptureTruncated)):
            recognise(Path("a"), chance.randbytes(200))
