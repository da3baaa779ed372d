"""The readers of captures once more, slow and plain: what they should find in a whole file held as bytes."""

import struct
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

READ_LINK_TYPES = (0, 1, 12, 14, 101, 108, 113, 228, 276)
INT64_MAX = 2**63 - 1


class Found(NamedTuple):
    """One payload: when and where to it was sent, its octets, whether it was cut by the snap length."""

    time_ns: int
    address: str
    port: int
    payload: bytes
    snapped: bool


@dataclass
class Reading:
    """What a file holds. end: "whole", "truncated", "corrupt" or "refused"."""

    found: list[Found] = field(default_factory=list)
    passed_over: dict[str, int] = field(default_factory=dict)
    end: str = "whole"

    def frame(self, octets: bytes, original: int, link_type: int, time_ns: int) -> None:
        result = udp_in(octets, original, link_type)
        if isinstance(result, str):
            self.count(result)
            return
        if not 0 <= time_ns <= INT64_MAX:
            self.count("bad_time")
            time_ns = 0
        if result.snapped:
            self.count("snapped")
        self.found.append(result._replace(time_ns=time_ns))

    def count(self, name: str) -> None:
        self.passed_over[name] = self.passed_over.get(name, 0) + 1


def ip_in(octets: bytes, link_type: int) -> bytes | str:
    """The IPv4 datagram of a frame, or why there is none."""
    if link_type in (12, 14, 101, 228):
        return octets
    if link_type in (0, 108):
        if len(octets) < 4:
            return "short"
        return octets[4:] if octets[:4] in (b"\0\0\0\2", b"\2\0\0\0") else "not_ipv4"
    size, kind_at = {1: (14, 12), 113: (16, 14), 276: (20, 0)}[link_type]
    if len(octets) < size:
        return "short"
    kind, rest = octets[kind_at : kind_at + 2].hex(), octets[size:]
    while kind in ("8100", "88a8", "9100", "9200"):
        if len(rest) < 4:
            return "short"
        kind, rest = rest[2:4].hex(), rest[4:]
    return rest if kind == "0800" else "not_ipv4"


def udp_in(octets: bytes, original: int, link_type: int) -> Found | str:
    """The UDP payload of a frame, or the name of what is counted instead."""
    datagram = ip_in(octets, link_type)
    if isinstance(datagram, str):
        return datagram
    if len(datagram) < 20:
        return "short"
    first, total, fragment, protocol, address = struct.unpack_from(">BxHxxHxBxxxxxx4s", datagram)
    header = first % 16 * 4
    if first // 16 != 4:
        return "not_ipv4"
    if header < 20 or 0 < total < header:
        return "bad_ip_header"
    if protocol != 17:
        return "not_udp"
    if fragment & 0x2000 or fragment & 0x1FFF:
        return "fragments"
    segment = datagram[header:]
    if len(segment) < 8:
        return "short"
    _, port, length, _ = struct.unpack_from(">HHHH", segment)
    if length < 8 or (total and header + length > total):
        return "bad_udp_length"
    snapped = length > len(segment)
    if snapped and len(octets) >= original:
        return "bad_udp_length"
    return Found(0, ".".join(map(str, address)), port, segment[8:length], snapped)


def read_pcap(octets: bytes) -> Reading:
    reading = Reading()
    order = "<" if octets[0] in (0xD4, 0x4D) else ">"
    (magic,) = struct.unpack_from(order + "I", octets)
    (link_type,) = struct.unpack_from(order + "I", octets, 20)
    at = 24
    while at < len(octets):
        if at + 16 > len(octets):
            reading.end = "truncated"
            break
        seconds, fraction, captured, original = struct.unpack_from(order + "IIII", octets, at)
        at += 16
        if at + captured > len(octets):
            reading.end = "truncated"
            break
        if captured > 262_144:
            reading.end = "corrupt"
            break
        unit = 1 if magic == 0xA1B23C4D else 1000
        reading.frame(octets[at : at + captured], original, link_type, seconds * 10**9 + fraction * unit)
        at += captured
    return reading


def unit_of(resolution: int) -> Fraction:
    """Seconds in one unit of a time stamp, by if_tsresol."""
    return Fraction(1, 2 ** (resolution - 128) if resolution >= 128 else 10**resolution)


def time_of(stamp: int, resolution: int, offset_s: int) -> int:
    """Nanoseconds since the epoch; below 0 for what no int64 holds."""
    time_ns = int(stamp * unit_of(resolution) * 10**9)  # of a positive Fraction: rounds down
    return time_ns + offset_s * 10**9 if time_ns <= INT64_MAX and abs(offset_s) <= INT64_MAX // 10**9 else -1


class Bad(Exception):
    """How a reading ends, before its time."""


def read_pcapng(octets: bytes) -> Reading:
    reading = Reading()
    try:
        _blocks(octets, reading)
    except Bad as bad:
        reading.end = str(bad)
    return reading


def _blocks(rest: bytes, reading: Reading) -> None:
    order, interfaces = "<", []  # type: ignore[var-annotated]
    while rest:
        if rest[:4] == bytes.fromhex("0a0d0d0a"):
            if len(rest) < 12:
                raise Bad("truncated")
            if rest[8:12] not in (bytes.fromhex("1a2b3c4d"), bytes.fromhex("4d3c2b1a")):
                raise Bad("corrupt")
            order, interfaces = (">" if rest[8] == 0x1A else "<"), []
            least = 28
        elif len(rest) < 8:
            raise Bad("truncated")
        else:
            least = 12
        kind, size = struct.unpack_from(order + "II", rest)
        if size < least or size % 4:
            raise Bad("corrupt")
        if kind == 0x0A0D0D0A and len(rest) >= 16 and struct.unpack_from(order + "H", rest, 12) != (1,):
            raise Bad("refused")
        if len(rest) < size:
            raise Bad("truncated")
        if kind in (2, 3, 6) and size > 524_288:
            raise Bad("corrupt")
        block, rest = rest[:size], rest[size:]
        if struct.unpack_from(order + "I", block, size - 4) != (size,):
            raise Bad("corrupt")
        if kind == 1:
            interfaces.append(_interface(block, order))
        elif kind in (2, 3, 6):
            _packet(block, kind, order, interfaces, reading)
        elif kind != 0x0A0D0D0A:
            reading.count("blocks_skipped")


def _interface(block: bytes, order: str) -> tuple[int, int, int, int]:
    """(link type, snap length, resolution, offset in seconds)"""
    if len(block) < 20:
        raise Bad("corrupt")
    link_type, snap_length = struct.unpack_from(order + "HxxI", block, 8)
    resolution, offset_s, options = 6, 0, block[16:-4]
    while len(options) >= 4:
        code, length = struct.unpack_from(order + "HH", options)
        value = options[4 : 4 + length]
        if code == 0:
            break
        if len(value) < length:
            raise Bad("corrupt")
        if code == 9 and value:
            resolution = value[0]
        if code == 14 and length >= 8:
            (offset_s,) = struct.unpack_from(order + "q", value)
        options = options[4 + (length + 3) // 4 * 4 :]
    return link_type, snap_length, resolution, offset_s


def _packet(block: bytes, kind: int, order: str, interfaces: list[tuple[int, int, int, int]], reading: Reading) -> None:
    number = high = low = captured = 0
    body = block[8:-4]
    try:
        if kind == 3:
            (original,), data = struct.unpack_from(order + "I", body), body[4:]
        else:
            head = "IIIII" if kind == 6 else "HxxIIII"
            (number, high, low, captured, original), data = struct.unpack_from(order + head, body), body[20:]
    except struct.error:
        raise Bad("corrupt") from None
    if captured > len(data) or number >= len(interfaces):
        raise Bad("corrupt")
    link_type, snap_length, resolution, offset_s = interfaces[number]
    if link_type not in READ_LINK_TYPES:
        raise Bad("refused")
    time_ns = 0
    if kind == 3:
        captured = min(original, len(data), snap_length or original)
    else:
        time_ns = time_of(high << 32 | low, resolution, offset_s)
    reading.frame(data[:captured], original, link_type, time_ns)


class Records(NamedTuple):
    """The messages of a BinaryFILE day, and how the file ends: "whole", "truncated" or "corrupt"."""

    messages: list[bytes]
    end: str


def read_binaryfile(octets: bytes) -> Records:
    messages: list[bytes] = []
    while octets:
        length = int.from_bytes(octets[:2], "big")
        if len(octets) < 2 + length or len(octets) < 2:
            return Records(messages, "truncated")
        if length == 0:
            return Records(messages, "whole" if len(octets) == 2 else "corrupt")
        messages.append(octets[2 : 2 + length])
        octets = octets[2 + length :]
    return Records(messages, "whole")
