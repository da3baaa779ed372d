"""Message blocks packed into a capture: MoldUDP64 in UDP multicast in Ethernet, in a pcap of nanosecond resolution.

    pcap  | magic 4 | version 2+2 | zone 4 | accuracy 4 | snapshot length 4 | link type 4 |              little-endian
    then  | seconds 4 | nanoseconds 4 | captured length 4 | length 4 | frame |
    frame | Ethernet 14 | IPv4 20 | UDP 8 | session 10 | sequence 8 | count 2 | blocks |                    big-endian
    block | length 2 | message |                                         the same as in a BinaryFILE, so they are copied

A packet holds messages that came close together, as many as an Ethernet frame has room for, and bears the time of the
last one.
"""

from datetime import UTC, date, datetime, timedelta

import numpy as np

from ..hot.intrinsics import be16, be32, be48, copy_octets, put_be16, put_be64, put_le32, slot_at
from ..hot.jit import hot, step
from ..hot.layout import aligned, record
from ..wire.itch50 import TIMESTAMP

FILE_HEADER = (
    bytes.fromhex("4d3cb2a1 0200 0400 00000000 00000000 0000 0400 01000000")  # snapshot length 262,144; Ethernet
)
RECORD_OCTETS = 16
ETHERNET_OCTETS, IP_OCTETS, UDP_OCTETS, MOLD_OCTETS = 14, 20, 8, 20
IP_AT = RECORD_OCTETS + ETHERNET_OCTETS
UDP_AT = IP_AT + IP_OCTETS
MOLD_AT = UDP_AT + UDP_OCTETS
BLOCKS_AT = MOLD_AT + MOLD_OCTETS
PAYLOAD_MAX = 1_472  # of a UDP datagram in an Ethernet frame
PACKET_MAX = MOLD_AT + PAYLOAD_MAX
LENGTH_OCTETS = 2

SPAN_NS = 20_000  # no message of a packet is later than this after the first
MESSAGES_A_PACKET = 35
END_OF_SESSION = 0xFFFF

GROUP, PORT = "233.54.12.111", 26_477  # TotalView's own
SOURCE = "192.0.2.1"  # an address of the documentation's
SESSION_OCTETS = 10
SECOND_NS = 1_000_000_000

PACKER = record(
    "PACKER",
    [
        ("sequence", "i8"),  # of the next message
        ("identification", "i8"),  # of the next IPv4 packet
        ("midnight_ns", "i8"),  # of the session date, since the epoch
        ("time_ns", "i8"),  # of the last packet, since midnight
        ("consumed", "i8"),  # octets of blocks by the last `pack`
        ("written", "i8"),  # octets of packets
    ],
    64,
)


def new_york_midnight_ns(day: date) -> int:
    """Midnight in New York at the start of `day`, in nanoseconds since the epoch; by the rule in force since 2007.

    Daylight saving time begins and ends at two in the morning, so it does not matter for a midnight of those days.
    """
    spring = date(day.year, 3, 14) - timedelta(days=(date(day.year, 3, 14).weekday() + 1) % 7)  # second Sunday
    autumn = date(day.year, 11, 7) - timedelta(days=(date(day.year, 11, 7).weekday() + 1) % 7)  # first Sunday
    hours = 4 if spring < day <= autumn else 5
    midnight = datetime(day.year, day.month, day.day, hours, tzinfo=UTC)
    return int(midnight.timestamp()) * SECOND_NS


def make_packer(session: str, midnight_ns: int) -> tuple[np.ndarray, np.ndarray]:
    """The state of a packer before its first packet (one PACKER), and the packet all others are copied from (uint8).

    Raises ValueError for a session that is not ten characters of ASCII.
    """
    if len(session) != SESSION_OCTETS or not session.isascii():
        raise ValueError(f"{session!r} is no MoldUDP64 session: {SESSION_OCTETS} characters")
    state = aligned(1, PACKER)
    state[0].sequence = state[0].identification = 1
    state[0].midnight_ns = midnight_ns
    group, source = (bytes(int(part) for part in address.split(".")) for address in (GROUP, SOURCE))
    multicast = bytes((1, 0, 0x5E, group[1] & 0x7F, *group[2:]))
    template = bytes(RECORD_OCTETS) + multicast + bytes.fromhex("020000000001 0800")
    template += bytes.fromhex("4500 0000 0000 4000 10 11 0000") + source + group
    template += PORT.to_bytes(2, "big") * 2 + bytes(4)
    template += session.encode() + bytes(10)
    return state, np.frombuffer(template, np.uint8).copy()


@step
def _sum_words(octets, at, length):
    """The sum of 16-bit words, an odd last octet filled up with zero; as good as the ones' complement sum."""
    total, end = 0, at + length
    while at + 4 <= end:
        total += be32(octets, at)  # two words at once: 2^16 is 1 modulo 2^16 - 1
        at += 4
    if at + 2 <= end:
        total += be16(octets, at)
        at += 2
    if at < end:
        total += np.int64(octets[at]) << 8
    return total


@step
def _fold(total):
    """The Internet checksum that belongs to a sum."""
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


@step
def _finish(packer, template, octets, at, payload, count):
    """Write the headers of a packet at `at`, whose blocks are there already and whose UDP payload has `payload`
    octets. Returns the offset behind it."""
    copy_octets(octets, at, template, 0, BLOCKS_AT)
    frame = MOLD_AT - RECORD_OCTETS + payload
    received_ns = packer.midnight_ns + packer.time_ns
    put_le32(octets, at, received_ns // SECOND_NS)
    put_le32(octets, at + 4, received_ns % SECOND_NS)
    put_le32(octets, at + 8, frame)
    put_le32(octets, at + 12, frame)
    put_be16(octets, at + IP_AT + 2, IP_OCTETS + UDP_OCTETS + payload)
    put_be16(octets, at + IP_AT + 4, packer.identification & 0xFFFF)
    put_be16(octets, at + IP_AT + 10, _fold(_sum_words(octets, at + IP_AT, IP_OCTETS)))
    put_be16(octets, at + UDP_AT + 4, UDP_OCTETS + payload)
    put_be64(octets, at + MOLD_AT + SESSION_OCTETS, packer.sequence)
    put_be16(octets, at + MOLD_AT + 18, count)
    pseudo = _sum_words(octets, at + IP_AT + 12, 8) + 17 + UDP_OCTETS + payload
    checksum = _fold(pseudo + _sum_words(octets, at + UDP_AT, UDP_OCTETS + payload))
    put_be16(octets, at + UDP_AT + 6, checksum if checksum != 0 else 0xFFFF)
    packer.identification += 1
    return at + MOLD_AT + payload


@hot
def pack(state, template, blocks, is_last, span_ns, octets):
    """Pack `blocks` (whole ones, uint8) into packets, written to `octets` from 0.

    Stops where `octets` may not hold another packet, and, unless these are the last blocks, before a packet that the
    next ones might fill. state.consumed says how far it came, state.written how much it wrote.
    """
    packer = slot_at(state, 0)
    at = written = 0
    length = blocks.shape[0]
    while at < length and written + PACKET_MAX <= octets.shape[0]:
        first_ns = be48(blocks, at + LENGTH_OCTETS + TIMESTAMP)
        end, count, is_open = at, 0, not is_last
        while end < length:
            after = end + LENGTH_OCTETS + be16(blocks, end)
            time_ns = be48(blocks, end + LENGTH_OCTETS + TIMESTAMP)
            is_full = MOLD_OCTETS + after - at > PAYLOAD_MAX or count == MESSAGES_A_PACKET
            if is_full or time_ns - first_ns > span_ns:
                is_open = False
                break
            packer.time_ns = time_ns
            count += 1
            end = after
        if is_open:
            break
        copy_octets(octets, written + BLOCKS_AT, blocks, at, end - at)
        written = _finish(packer, template, octets, written, MOLD_OCTETS + end - at, count)
        packer.sequence += count
        at = end
    packer.consumed = at
    packer.written = written


@hot
def pack_end(state, template, octets):
    """Write the packet that ends the session, one second after the last, to `octets` from 0."""
    packer = slot_at(state, 0)
    packer.time_ns += SECOND_NS
    packer.consumed = 0
    packer.written = _finish(packer, template, octets, 0, MOLD_OCTETS, END_OF_SESSION)
