"""Message blocks packed into a capture: MoldUDP64 in UDP multicast in Ethernet, in a pcap of nanosecond resolution.

    frame | Ethernet 14 | IPv4 20 | UDP 8 | session 10 | sequence 8 | count 2 | blocks |                    big-endian
    block | length 2 | message |                                         the same as in a BinaryFILE, so they are copied

A packet holds messages that came close together, as many as an Ethernet frame has room for, and bears the time of the
last one. What stands around the packets of a capture: `wire.pcap_write`.
"""

from datetime import UTC, date, datetime, timedelta

import numpy as np

from ..hot.intrinsics import be16, be48, copy_octets, put_be16, put_be64, slot_at
from ..hot.jit import hot, step
from ..hot.layout import aligned, record
from ..wire.itch50 import TIMESTAMP
from ..wire.pcap_write import PAYLOAD_AT, SECOND_NS, make_headers, put_headers

MOLD_OCTETS = 20
BLOCKS_AT = PAYLOAD_AT + MOLD_OCTETS
PAYLOAD_MAX = 1_472  # of a UDP datagram in an Ethernet frame
PACKET_MAX = PAYLOAD_AT + PAYLOAD_MAX
LENGTH_OCTETS = 2

SPAN_NS = 20_000  # no message of a packet is later than this after the first
MESSAGES_A_PACKET = 35
END_OF_SESSION = 0xFFFF

GROUP, PORT = "233.54.12.111", 26_477  # TotalView's own
SESSION_OCTETS = 10

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
    mold = np.frombuffer(session.encode() + bytes(MOLD_OCTETS - SESSION_OCTETS), np.uint8)
    return state, np.concatenate([make_headers(GROUP, PORT), mold])


@step
def _finish(packer, template, octets, at, payload, count):
    """Write the headers of a packet at `at`, whose blocks are there already and whose UDP payload has `payload`
    octets. Returns the offset behind it."""
    copy_octets(octets, at + PAYLOAD_AT, template, PAYLOAD_AT, SESSION_OCTETS)
    put_be64(octets, at + PAYLOAD_AT + SESSION_OCTETS, packer.sequence)
    put_be16(octets, at + PAYLOAD_AT + 18, count)
    received_ns = packer.midnight_ns + packer.time_ns
    end = put_headers(octets, at, template, 0, received_ns, packer.identification, payload)
    packer.identification += 1
    return end


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
