"""Which format a file is in, by its first octets; a name for what is not read.

A pcap, pcapng or gzip file has a magic. BinaryFILE has none: its first record must be a message of ITCH 5.0, and its
second one look like a message. A .hex file starts with a line of hexadecimal digits.
"""

import string
from enum import Enum
from pathlib import Path

from ..wire import moldudp64, pcap, pcapng
from ..wire.itch50 import LENGTH_MAX, LENGTH_MIN, LENGTHS
from .source import GZIP_MAGIC, CaptureRefused, CaptureTruncated

PROBE_BYTES = 4096


class Format(Enum):
    """What is read; the values are for people."""

    PCAP = "pcap"
    PCAPNG = "pcapng"
    BINARYFILE = "BinaryFILE"
    HEX = "lines of hexadecimal MoldUDP64 packets"


_OTHERS = (
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"\x04\x22\x4d\x18", "lz4"),
    (b"\x1f\x9d", "compress (.Z)"),
    (GZIP_MAGIC, "gzip inside gzip"),
    (b"\xa1\xb2\xcd\x34", "modified pcap"),
    (b"\x34\xcd\xb2\xa1", "modified pcap"),
    (b"snoop\x00\x00\x00", "a snoop capture"),
    (b"GMBU", "a Network Monitor capture"),
    (b"RTSS", "a Network Monitor capture"),
    (b"PAR1", "Parquet"),
    (b"DBN", "Databento DBN"),
    (b"\x89HDF", "HDF5"),
    (b"\x7fELF", "a program"),
)
_MAGICS = (*pcap.MAGICS, pcapng.SECTION_MAGIC, GZIP_MAGIC)
_HEX_DIGITS = frozenset(string.hexdigits.encode())
_HEX_LINE_MIN = 2 * moldudp64.HEADER_BYTES
_LONGER = 32  # octets a message may have beyond those of its type, by versions to come
_UNKNOWN_LENGTH_MAX = 512  # of a second record whose type is not known
_MOLD_COUNT_MAX = 1000


def recognise(path: Path, head: bytes) -> Format:
    """The format of the file at `path` whose first octets, PROBE_BYTES if it has that many, are `head`.

    Raises CaptureRefused with what the file looks like, CaptureTruncated when it is cut inside its magic.
    """
    if not head:
        raise CaptureRefused(path, 0, "the file is empty")
    if head[:4] in pcap.MAGICS:
        if len(head) < pcap.HEADER_BYTES:
            raise CaptureTruncated(path, len(head), "the file is cut inside the pcap header")
        return Format.PCAP
    if head.startswith(pcapng.SECTION_MAGIC):
        if len(head) >= pcapng.ORDER_BYTES and head[8:12] not in pcapng.ORDERS:
            raise CaptureRefused(path, 0, f"starts like pcapng, but with byte-order magic {head[8:12].hex()}")
        return Format.PCAPNG
    if any(magic.startswith(head) for magic in _MAGICS):
        raise CaptureTruncated(path, len(head), "the file is cut inside its magic number")
    for magic, name in _OTHERS:
        if head.startswith(magic):
            raise CaptureRefused(path, 0, f"looks like {name}, which is not read")
    if _looks_like_hex(path, head):
        return Format.HEX
    if _looks_like_binaryfile(head):
        return Format.BINARYFILE
    raise CaptureRefused(path, 0, describe(head))


def describe(head: bytes) -> str:
    """What a file that is not read looks like."""
    if _is_text(head):
        return f"looks like text: {head.decode('utf-8', 'ignore').split(chr(10))[0].strip()[:40]!r}"
    if _is_message(head, 0, int(LENGTHS[head[0]])):
        return "looks like ITCH messages without their length prefixes"
    if head[:2] == b"\0\0" and len(head) > 2 and _zero_prefixes(head):
        return "looks like BinaryFILE with every length prefix zero"
    if _looks_like_moldudp64(head):
        return "looks like bare MoldUDP64 packets, without a capture around them"
    if _looks_like_soupbintcp(head):
        return "looks like a SoupBinTCP stream"
    if head[:2] == b"\0\0":
        return "starts with a length of 0: no record, and no known format"
    return f"is in no known format: it starts with {head[:16].hex(' ')}"


def _is_text(head: bytes) -> bool:
    """ASCII or UTF-8 without control characters; a character cut at the end of the probe does not count against it."""
    if any(octet < 0x20 and octet not in b"\t\n\r\f" for octet in head):
        return False
    return any(len(head[: len(head) - cut].decode("utf-8", "ignore").encode()) == len(head) - cut for cut in range(4))


def _looks_like_hex(path: Path, head: bytes) -> bool:
    """By the first line that is not blank; the name helps one that is short or wrong."""
    line = next((line for line in head.splitlines() if line.strip()), b"").strip()
    if path.name.lower().removesuffix(".gz").endswith(".hex"):
        return _is_text(head)
    return len(line) >= _HEX_LINE_MIN and all(octet in _HEX_DIGITS for octet in line)


def _looks_like_binaryfile(head: bytes) -> bool:
    """Judged by two records, and of a file cut inside them by what is there."""
    if len(head) == 1:
        return head == b"\0"
    length = int.from_bytes(head[:2], "big")
    if len(head) == 2:
        return LENGTH_MIN <= length <= LENGTH_MAX + _LONGER
    known = int(LENGTHS[head[2]])
    if not known or not known <= length <= known + _LONGER or _looks_like_soupbintcp(head):
        return False
    second = head[2 + length : 2 + length + 3]
    if len(second) < 3:
        return True
    length, kind = int.from_bytes(second[:2], "big"), second[2]
    if length == 0:
        return True
    if known := int(LENGTHS[kind]):
        return length <= known + _LONGER
    return chr(kind) in string.printable and length <= _UNKNOWN_LENGTH_MAX


def _looks_like_soupbintcp(head: bytes) -> bool:
    """Sequenced data: length, S, then a message; or a login accepted."""
    length = int.from_bytes(head[:2], "big")
    if head[2:3] == b"S" and len(head) > 3:
        return length > LENGTH_MIN and length - 1 == LENGTHS[head[3]]
    return head[2:3] == b"A" and length == 31 and len(head) >= 33 and head[13:33].strip().isdigit()


def _is_message(head: bytes, at: int, length: int) -> bool:
    """Whether a message of a known type starts at `at` and, `length` on, another one."""
    if not length or at >= len(head) or not LENGTHS[head[at]]:
        return False
    return at + length >= len(head) or bool(LENGTHS[head[at + length]])


def _zero_prefixes(head: bytes) -> bool:
    length = int(LENGTHS[head[2]])
    following = head[2 + length : 4 + length]
    return length > 0 and following == b"\0\0"[: len(following)]


def _looks_like_moldudp64(head: bytes) -> bool:
    if len(head) < moldudp64.HEADER_BYTES:
        return False
    session = head[: moldudp64.SESSION_BYTES]
    sequence = int.from_bytes(head[10:18], "big")
    count = int.from_bytes(head[18:20], "big")
    if not (session == bytes(10) or session.decode("latin-1").isprintable()) or not 0 < sequence < 1 << 40:
        return False
    if count > _MOLD_COUNT_MAX:
        return count == moldudp64.END_OF_SESSION
    at = moldudp64.HEADER_BYTES
    for _ in range(count):
        if at + 3 > len(head):
            break
        length = int.from_bytes(head[at : at + 2], "big")
        if not 0 < length < 2048 or chr(head[at + 2]) not in string.printable:
            return False
        at += 2 + length
    return True
