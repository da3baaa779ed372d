"""The classic capture file.

    | magic 4 | major 2 | minor 2 | zone 4 | digits 4 | snap length 4 | link type 4 |
    then, a packet: | seconds 4 | fraction 4 | captured 4 | original 4 | captured octets |

The magic is a1b2c3d4 (fraction in microseconds) or a1b23c4d (nanoseconds); the order in which its octets stand is the
byte order of everything but the packets. The snap length of the header is not held against a packet: programs write
larger ones.
"""

import struct
from typing import NamedTuple

from ..hot.intrinsics import be32, le32
from ..hot.jit import hot, small
from .ethernet import LINK_TYPES, hand_on, name_link_type
from .scan import CAPTURED_MAX, FULL, LINES_FULL, MORE, OVERSIZE, Refused

HEADER_BYTES, RECORD_BYTES = 24, 16
MAJOR = 2
MICROSECONDS, NANOSECONDS = 0xA1B2C3D4, 0xA1B23C4D
MAGICS = {struct.pack(order + "I", m): (order, m) for order in "<>" for m in (MICROSECONDS, NANOSECONDS)}
_LINK_TYPE_BITS = 0x03FFFFFF  # above them: whether and how long a frame check sequence follows each frame


class Header(NamedTuple):
    """big: 1 for big-endian; fraction_ns: nanoseconds in one unit of a time stamp's fraction; link_type."""

    big: int
    fraction_ns: int
    link_type: int


def read_header(octets: bytes) -> Header:
    """The first HEADER_BYTES of a file whose magic is one of MAGICS.

    Raises Refused for a version or link type that is not read.
    """
    order, magic = MAGICS[octets[:4]]
    major, minor = struct.unpack_from(order + "HH", octets, 4)
    link_type = struct.unpack_from(order + "I", octets, 20)[0] & _LINK_TYPE_BITS
    if major != MAJOR:
        raise Refused(f"pcap version {major}.{minor}, only {MAJOR}.x is read")
    if link_type not in LINK_TYPES:
        raise Refused(f"pcap of {name_link_type(link_type)}, read are {', '.join(map(name_link_type, LINK_TYPES))}")
    return Header(int(order == ">"), 1 if magic == NANOSECONDS else 1000, link_type)


@small
def u32(octets, offset, big):
    """A 32-bit integer in the file's byte order."""
    return be32(octets, offset) if big else le32(octets, offset)


@hot
def scan(octets, start, end, header, sink):
    """Walk the packets of octets[start:end] into the sink.

    octets: uint8; start, end: int64; header: Header; sink: Sink.
    Returns (position, made, status, detail), see scan.py: MORE, FULL, OVERSIZE or LINES_FULL.
    """
    at, made = start, 0
    while True:
        if made == sink.packets.shape[0]:
            return at, made, FULL, 0
        if at + RECORD_BYTES > end:
            return at, made, MORE, RECORD_BYTES
        captured = u32(octets, at + 8, header.big)
        size = RECORD_BYTES + captured
        if captured > CAPTURED_MAX:
            return at, made, OVERSIZE, size
        if at + size > end:
            return at, made, MORE, size
        original = u32(octets, at + 12, header.big)
        time_ns = u32(octets, at, header.big) * 1_000_000_000 + u32(octets, at + 4, header.big) * header.fraction_ns
        written = hand_on(sink, made, octets, at + RECORD_BYTES, captured, original, header.link_type, time_ns)
        if written < 0:
            return at, made, LINES_FULL, 0
        made += written
        at += size
