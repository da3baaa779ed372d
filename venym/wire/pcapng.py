"""The block-structured capture file.

    | type 4 | total length 4 | body | total length 4 |       a multiple of 4 octets

    section    0a0d0d0a  byte order 4 (1a2b3c4d) | major 2 | minor 2 | section length 8 | options
    interface  1         link type 2 | 0 2 | snap length 4 | options
    packet     6         interface 4 | time high 4 | time low 4 | captured 4 | original 4 | octets | options
    (obsolete) 2         interface 2 | drops 2 | the rest as above
    (simple)   3         original 4 | octets        of interface 0, no time

    options    | code 2 | length 2 | value, padded to 4 |, ended by code 0

A section sets the byte order and starts its interfaces anew; an interface says what its frames are and what one unit
of its time stamps is. Both are rare and read in Python; packets are walked in compiled code, and blocks of any other
type are counted and passed over.
"""

import struct
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import be16, le16
from ..hot.jit import hot, small, step
from .ethernet import LINK_TYPES, hand_on
from .pcap import u32
from .scan import (
    BAD_BLOCK_LENGTH,
    BAD_PACKET_BLOCK,
    BAD_TRAILER,
    BLOCK,
    BLOCKS_SKIPPED,
    CAPTURED_MAX,
    FULL,
    LINES_FULL,
    MORE,
    OVERSIZE,
    SKIP,
    UNKNOWN_INTERFACE,
    UNREADABLE_LINK,
    Malformed,
    Refused,
)

SECTION, INTERFACE, OBSOLETE_PACKET, SIMPLE_PACKET, ENHANCED_PACKET = 0x0A0D0D0A, 1, 2, 3, 6
SECTION_MAGIC = bytes.fromhex("0a0d0d0a")  # the same in both byte orders
ORDERS = {bytes.fromhex("1a2b3c4d"): ">", bytes.fromhex("4d3c2b1a"): "<"}
MAJOR = 1
BLOCK_BYTES_MIN, SECTION_BYTES_MIN, INTERFACE_BYTES_MIN = 12, 28, 20
ORDER_BYTES = 12  # of a section block, up to where its byte order and length are known
PACKET_BYTES, SIMPLE_PACKET_BYTES = 28, 12  # before the frame
TRAILER_BYTES = 4
PACKET_BLOCK_MAX = CAPTURED_MAX + 65_536 * 4  # the largest packet with generous options
INTERFACES_MAX = 65_536

# Columns of an interface row; a link type that is not read is kept inverted, so below 0.
LINK_TYPE, SNAP_LENGTH, UNIT, FACTOR, LIMIT, SHIFT_NS = range(6)
INTERFACE_COLUMNS = 6
# What UNIT says about a 64-bit time stamp t.
TIMES, OVER, BINARY, UNKNOWN = range(4)  # t * FACTOR up to LIMIT; t / 2 / FACTOR; t * 1e9 / 2^FACTOR; no int64 holds it

_INT64_MAX = (1 << 63) - 1
_SECOND_NS = 1_000_000_000
_RESOLUTION, _TIME_OFFSET = 9, 14  # option codes


class Section(NamedTuple):
    """order: as struct writes it; length: of the whole block, in octets."""

    order: str
    length: int


def read_section(block: bytes) -> Section | None:
    """A section block's byte order and length from its first octets; None while there are fewer than ORDER_BYTES.

    Raises Malformed for a block that cannot be, Refused for a version that is not read.
    """
    if len(block) < ORDER_BYTES:
        return None
    order = ORDERS.get(block[8:12])
    if order is None:
        raise Malformed(f"pcapng section with byte-order magic {block[8:12].hex()}")
    (length,) = struct.unpack_from(order + "I", block, 4)
    if length < SECTION_BYTES_MIN or length % 4:
        raise Malformed(f"pcapng section block of {length} bytes")
    if len(block) >= 16:
        major, minor = struct.unpack_from(order + "HH", block, 12)
        if major != MAJOR:
            raise Refused(f"pcapng version {major}.{minor}, only {MAJOR}.x is read")
    if len(block) >= length:
        _check_trailer(block, length, order)
    return Section(order, length)


def read_interface(block: bytes, order: str) -> list[int]:
    """The row of a whole interface block. Raises Malformed."""
    if len(block) < INTERFACE_BYTES_MIN:
        raise Malformed(f"pcapng interface block of {len(block)} bytes")
    _check_trailer(block, len(block), order)
    link_type, _, snap_length = struct.unpack_from(order + "HHI", block, 8)
    resolution, shift_s = 6, 0
    for code, value in _options(block[16:-TRAILER_BYTES], order):
        if code == _RESOLUTION and len(value) >= 1:
            resolution = value[0]
        elif code == _TIME_OFFSET and len(value) >= 8:
            (shift_s,) = struct.unpack_from(order + "q", value)
    unit, factor, limit = _time_unit(resolution)
    if abs(shift_s) > _INT64_MAX // _SECOND_NS:
        unit, shift_s = UNKNOWN, 0
    return [
        link_type if link_type in LINK_TYPES else ~link_type,
        snap_length,
        unit,
        factor,
        limit,
        shift_s * _SECOND_NS,
    ]


def _check_trailer(block: bytes, length: int, order: str) -> None:
    (trailer,) = struct.unpack_from(order + "I", block, length - TRAILER_BYTES)
    if trailer != length:
        raise Malformed(f"pcapng block of {length} bytes that ends as one of {trailer}")


def _options(octets: bytes, order: str) -> list[tuple[int, bytes]]:
    found, at = [], 0
    while at + 4 <= len(octets):
        code, length = struct.unpack_from(order + "HH", octets, at)
        if code == 0:
            break
        if at + 4 + length > len(octets):
            raise Malformed(f"pcapng option {code} of {length} bytes does not fit into its block")
        found.append((code, octets[at + 4 : at + 4 + length]))
        at += 4 + -(-length // 4) * 4
    return found


def _time_unit(resolution: int) -> tuple[int, int, int]:
    """UNIT, FACTOR and LIMIT for if_tsresol: the negative power of ten or, with the high bit, of two."""
    exponent = resolution & 0x7F
    if resolution & 0x80:
        return BINARY, exponent, 0
    if exponent <= 9:
        factor = 10 ** (9 - exponent)
        return TIMES, factor, _INT64_MAX // factor
    # Halved, so that it and the time stamp fit into an int64; beyond 10^20 every time stamp is less than 1 ns.
    return OVER, min(10 ** (exponent - 9) // 2, _INT64_MAX), 0


@step
def to_ns(high, low, interfaces, number):
    """A time stamp's two 32-bit halves to nanoseconds since the epoch, exact and rounded down; -1 when no int64 holds
    it or it lies before the epoch."""
    unit, factor = interfaces[number, UNIT], interfaces[number, FACTOR]
    shift_ns = interfaces[number, SHIFT_NS]
    if unit == TIMES:
        stamp = high << 32 | low
        if high >= 0x80000000 or stamp > interfaces[number, LIMIT]:
            return np.int64(-1)
        time_ns = stamp * factor
    elif unit == OVER:
        half = high << 31 | low >> 1
        time_ns = half // factor if factor < 0x7FFFFFFFFFFFFFFF else np.int64(0)
    elif unit == BINARY:
        # high * 2^32 * 1e9 and low * 1e9, each below 2^62
        upper, lower = high * 1_000_000_000, low * 1_000_000_000
        if factor > 32:
            time_ns = (upper + (lower >> 32)) >> min(factor - 32, 63)
        elif upper >> (31 + factor) != 0 or upper << (32 - factor) > 0x7FFFFFFFFFFFFFFF - (lower >> factor):
            return np.int64(-1)
        else:
            time_ns = (upper << (32 - factor)) + (lower >> factor)
    else:
        return np.int64(-1)
    if shift_ns > 0 and time_ns > 0x7FFFFFFFFFFFFFFF - shift_ns:
        return np.int64(-1)
    return max(time_ns + shift_ns, np.int64(-1))


@small
def u16(octets, offset, big):
    """A 16-bit integer in the section's byte order."""
    return be16(octets, offset) if big else le16(octets, offset)


@step
def packet_in(octets, at, kind, big):
    """(interface, captured octets, original length) of a packet block whose fields are there. A simple block does not
    say how much was captured."""
    if kind == SIMPLE_PACKET:
        return np.int64(0), np.int64(0), u32(octets, at + 8, big)
    number = u32(octets, at + 8, big) if kind == ENHANCED_PACKET else u16(octets, at + 8, big)
    return number, u32(octets, at + 20, big), u32(octets, at + 24, big)


@hot
def scan(octets, start, end, big, interfaces, interface_count, sink):
    """Walk the blocks of octets[start:end] into the sink, up to the next section or interface block.

    octets: uint8; start, end, interface_count: int64; big: 1 when the section is big-endian; interfaces: (n, 6)
    int64, the first `interface_count` rows from read_interface. Returns (position, made, status, detail), see scan.py.
    """
    at, made = start, 0
    while True:
        if made == sink.packets.shape[0]:
            return at, made, FULL, 0
        if at + 8 > end:
            return at, made, MORE, BLOCK_BYTES_MIN
        kind, size = u32(octets, at, big), u32(octets, at + 4, big)
        if kind == SECTION:
            return at, made, BLOCK, 0
        if size < BLOCK_BYTES_MIN or size & 3:
            return at, made, BAD_BLOCK_LENGTH, size
        carries_packet = kind in (ENHANCED_PACKET, SIMPLE_PACKET, OBSOLETE_PACKET)
        if carries_packet and size > PACKET_BLOCK_MAX:
            return at, made, OVERSIZE, size
        if at + size > end:
            return at, made, (MORE if size <= octets.shape[0] or carries_packet or kind == INTERFACE else SKIP), size
        last = at + size - TRAILER_BYTES
        if u32(octets, last, big) != size:
            return at, made, BAD_TRAILER, size
        if kind == INTERFACE:
            return at, made, BLOCK, size
        if not carries_packet:
            sink.counts[BLOCKS_SKIPPED] += 1
            at += size
            continue
        frame = at + (SIMPLE_PACKET_BYTES if kind == SIMPLE_PACKET else PACKET_BYTES)
        if frame > last:
            return at, made, BAD_PACKET_BLOCK, 0
        number, captured, original = packet_in(octets, at, kind, big)
        if frame + captured > last:
            return at, made, BAD_PACKET_BLOCK, captured
        if number >= interface_count:
            return at, made, UNKNOWN_INTERFACE, number
        link_type, snap_length = interfaces[number, LINK_TYPE], interfaces[number, SNAP_LENGTH]
        if link_type < 0:
            return at, made, UNREADABLE_LINK, number
        time_ns = np.int64(0)
        if kind == SIMPLE_PACKET:
            captured = min(original, last - frame, snap_length if snap_length > 0 else original)
        else:
            time_ns = to_ns(u32(octets, at + 12, big), u32(octets, at + 16, big), interfaces, number)
        written = hand_on(sink, made, octets, frame, captured, original, link_type, time_ns)
        if written < 0:
            return at, made, LINES_FULL, 0
        made += written
        at += size
