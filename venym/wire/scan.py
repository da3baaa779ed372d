"""What the readers of captures share: how a scan ends, what it counts, where it puts what it found.

A scan walks the records in a chunk of octets and writes a PACKET for each payload it finds. It returns
``(position, made, status, detail)``: where it stopped, how many PACKETs it wrote, why it stopped, and a number that
goes with the reason. It never reads past the chunk, and starts again at `position` when there is more.

    | record | record | rec          chunk                 line_slots: key -> line + 1, open addressing
      ^ start           ^ position   status MORE           line_keys:  line -> address << 16 | port
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..hot.jit import step
from ..hot.layout import aligned
from ..records import PACKET

# Why a scan stopped, and its detail.
MORE = 0  # the record at `position` is not all here; octets it needs from there
FULL = 1  # no room for another PACKET
BLOCK = 2  # pcapng: a section or interface block that the caller reads; its total length, 0 when not known yet
SKIP = 3  # pcapng: a block of no interest that is larger than the memory; its total length
END_OF_SESSION = 4  # BinaryFILE: a record of length 0
OVERSIZE = 5  # a packet no capture holds: the record's length by its own account
LINES_FULL = 6  # one destination too many
BAD_BLOCK_LENGTH = 7  # pcapng: the length
BAD_TRAILER = 8  # pcapng: the length that should stand there once more
BAD_PACKET_BLOCK = 9  # pcapng: the captured length that does not fit into the block
UNKNOWN_INTERFACE = 10  # pcapng: its number
UNREADABLE_LINK = 11  # pcapng: the number of an interface whose link type is not read

CAPTURED_MAX = 262_144  # octets of the largest packet capture programs write
LINES_MAX = 65_536  # destinations one capture may hold
_SLOTS = 2 * LINES_MAX


@dataclass(frozen=True)
class Counters:
    """What was read and what was passed over. frames = packets + not_ipv4 + not_udp + fragments + short +
    bad_ip_header + bad_udp_length, but for BinaryFILE, which has records instead of frames."""

    packets: int = 0  # PACKETs handed on
    not_ipv4: int = 0  # ARP, IPv6, LLDP, ...
    not_udp: int = 0
    fragments: int = 0  # of IPv4 datagrams, the first ones too: not put together
    short: int = 0  # frames that end before their headers do
    bad_ip_header: int = 0
    bad_udp_length: int = 0  # below 8, beyond the IP datagram, or beyond a frame that was kept whole
    snapped: int = 0  # packets handed on of which the capture kept only the start
    bad_time: int = 0  # packets handed on with received_ns = 0 because no int64 holds their time stamp
    frames: int = 0  # captured frames, and lines of a .hex file
    octets: int = 0  # of payload handed on
    records: int = 0  # length-prefixed records handed on
    blocks_skipped: int = 0  # pcapng blocks of no interest
    lines: int = 0  # destinations, or files that have none


(
    PACKETS,
    NOT_IPV4,
    NOT_UDP,
    FRAGMENTS,
    SHORT,
    BAD_IP_HEADER,
    BAD_UDP_LENGTH,
    SNAPPED_PACKETS,
    BAD_TIME,
    FRAMES,
    OCTETS,
    RECORDS,
    BLOCKS_SKIPPED,
    LINES,
) = range(len(Counters.__dataclass_fields__))


class Refused(ValueError):
    """The octets may be sound, but they are in no form that is read here."""


class Malformed(ValueError):
    """The octets contradict the format they are in."""


class Sink(NamedTuple):
    """packets: (n,) PACKET; counts: (14,) int64, see Counters; line_slots: (131072,) and line_keys: (65536,) int64."""

    packets: np.ndarray
    counts: np.ndarray
    line_slots: np.ndarray
    line_keys: np.ndarray


def make_sink(packets: np.ndarray) -> Sink:
    """A sink with everything at zero that writes into `packets`, an (n,) recarray of PACKET."""
    if packets.dtype != PACKET or packets.shape[0] < 1:
        raise ValueError("packets is not a recarray of at least one PACKET")
    counts = aligned(len(Counters.__dataclass_fields__), np.int64)
    return Sink(packets.view(np.recarray), counts, aligned(_SLOTS, np.int64), aligned(LINES_MAX, np.int64))


@step
def line_of(sink, key):
    """The index of the destination ``address << 16 | port``, numbered as they come; -1 when there is no room."""
    mask = sink.line_slots.shape[0] - 1
    slot = (((key ^ (key >> 20)) & 0x7FFFFFFF) * 0x1E3779B1 >> 24) & mask
    while sink.line_slots[slot] != 0:
        line = sink.line_slots[slot] - 1
        if sink.line_keys[line] == key:
            return line
        slot = (slot + 1) & mask
    line = sink.counts[LINES]
    if line >= sink.line_keys.shape[0]:
        return np.int64(-1)
    sink.line_keys[line] = key
    sink.line_slots[slot] = line + 1
    sink.counts[LINES] = line + 1
    return line
