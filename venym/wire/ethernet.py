"""A captured frame to the UDP payload in it.

    Ethernet       | to 6 | from 6 | type 2 |
    Linux SLL      | direction 2 | hardware 2 | length 2 | address 8 | type 2 |
    Linux SLL2     | type 2 | 0 2 | interface 4 | hardware 2 | direction 1 | length 1 | address 8 |
    BSD loopback   | family 4 |
    raw IP         nothing

    type 8100, 88a8, 9100 or 9200: | tag 2 | type 2 |, as often as they come

    IPv4           | 4, words | service 1 | total length 2 | id 2 | fragment 2 | ttl 1 | protocol 1 | sum 2 | from 4 | to 4 | options |
    UDP            | from 2 | to 2 | length 2 | sum 2 | payload

The payload is as long as UDP says, not as long as the frame: Ethernet pads. Checksums are not looked at: a capture
taken where the card computes them holds wrong ones, and anonymised captures hold zeros, as they do in addresses and
ports. A fragment of a datagram is counted and passed over, the first one too, since its length cannot be trusted.
"""  # noqa: E501

import numpy as np

from ..hot.intrinsics import be16, be32, le32, slot_at
from ..hot.jit import step
from ..records import MOLDUDP64, SNAPPED
from .scan import (
    BAD_IP_HEADER,
    BAD_TIME,
    BAD_UDP_LENGTH,
    FRAGMENTS,
    FRAMES,
    NOT_IPV4,
    NOT_UDP,
    OCTETS,
    PACKETS,
    SHORT,
    SNAPPED_PACKETS,
    line_of,
)

# Link types, by the registry of tcpdump.org; several mean raw IP.
LOOPBACK, ETHERNET, RAW_BSD, RAW_OPENBSD, RAW, LOOPBACK_OPENBSD, SLL, RAW_IPV4, SLL2 = (
    *(0, 1, 12, 14, 101, 108, 113, 228, 276),
)
LINK_TYPES = {
    LOOPBACK: "BSD loopback",
    ETHERNET: "Ethernet",
    RAW_BSD: "raw IP",
    RAW_OPENBSD: "raw IP",
    RAW: "raw IP",
    LOOPBACK_OPENBSD: "OpenBSD loopback",
    SLL: "Linux cooked",
    RAW_IPV4: "raw IPv4",
    SLL2: "Linux cooked 2",
}
_NOT_READ = {
    6: "token ring",
    9: "PPP",
    10: "FDDI",
    50: "PPP in HDLC",
    51: "PPPoE",
    104: "Cisco HDLC",
    105: "IEEE 802.11",
    127: "IEEE 802.11 radiotap",
    187: "Bluetooth",
    189: "USB",
    197: "ERF",
    220: "USB",
    229: "raw IPv6",
    239: "netfilter log",
    247: "InfiniBand",
}

IPV4_TYPE = 0x0800
UDP_PROTOCOL = 17
AF_INET = 2
IP_HEADER_BYTES, UDP_HEADER_BYTES = 20, 8


def name_link_type(link_type: int) -> str:
    """For messages: the number, and the name where it is known."""
    name = LINK_TYPES.get(link_type) or _NOT_READ.get(link_type)
    return f"link type {link_type} ({name})" if name else f"link type {link_type}"


@step
def find_ipv4(octets, start, end, link_type):
    """Where the IPv4 header of the frame octets[start:end] should be; or -SHORT or -NOT_IPV4."""
    size = end - start
    if link_type == ETHERNET:
        if size < 14:
            return np.int64(-SHORT)
        kind, at = be16(octets, start + 12), start + 14
    elif link_type == SLL:
        if size < 16:
            return np.int64(-SHORT)
        kind, at = be16(octets, start + 14), start + 16
    elif link_type == SLL2:
        if size < 20:
            return np.int64(-SHORT)
        kind, at = be16(octets, start), start + 20
    elif link_type in (LOOPBACK, LOOPBACK_OPENBSD):
        if size < 4:
            return np.int64(-SHORT)
        # The family is in the byte order of the machine that captured.
        if be32(octets, start) != AF_INET and le32(octets, start) != AF_INET:
            return np.int64(-NOT_IPV4)
        return start + 4
    else:
        return np.int64(start)
    while kind in (0x8100, 0x88A8, 0x9100, 0x9200):
        if at + 4 > end:
            return np.int64(-SHORT)
        kind, at = be16(octets, at + 2), at + 4
    if kind != IPV4_TYPE:
        return np.int64(-NOT_IPV4)
    return np.int64(at)


@step
def find_udp(octets, start, captured, original, link_type):
    """The UDP payload of the frame that lies at `start`, of which `captured` of `original` octets were kept.

    Returns (verdict, offset, length, key, marks): the verdict is the counter the frame belongs to, PACKETS for a
    payload to hand on; `length` octets are present; key is destination address << 16 | port.
    """
    end = start + captured
    at = find_ipv4(octets, start, end, link_type)
    if at < 0:
        return -at, 0, 0, 0, 0
    if at + IP_HEADER_BYTES > end:
        return SHORT, 0, 0, 0, 0
    first = np.int64(octets[at])
    if first >> 4 != 4:
        return NOT_IPV4, 0, 0, 0, 0
    header = 4 * (first & 15)
    total = be16(octets, at + 2)  # 0 when the network card was to cut the datagram
    if header < IP_HEADER_BYTES or (total != 0 and total < header):
        return BAD_IP_HEADER, 0, 0, 0, 0
    if octets[at + 9] != UDP_PROTOCOL:
        return NOT_UDP, 0, 0, 0, 0
    if be16(octets, at + 6) & 0x3FFF != 0:
        return FRAGMENTS, 0, 0, 0, 0
    udp = at + header
    payload = udp + UDP_HEADER_BYTES
    if payload > end:
        return SHORT, 0, 0, 0, 0
    length = be16(octets, udp + 4)
    if length < UDP_HEADER_BYTES or (total != 0 and header + length > total):
        return BAD_UDP_LENGTH, 0, 0, 0, 0
    key = be32(octets, at + 16) << 16 | be16(octets, udp + 2)
    if udp + length <= end:
        return PACKETS, payload, length - UDP_HEADER_BYTES, key, 0
    if captured < original:
        return PACKETS, payload, end - payload, key, SNAPPED
    return BAD_UDP_LENGTH, 0, 0, 0, 0


@step
def hand_on(sink, made, octets, start, captured, original, link_type, received_ns):
    """Count one frame, and write its payload as sink.packets[made] if it has one. A time below 0 is one that no int64
    holds. Returns the number of PACKETs written: 1 or 0; -1, and nothing counted, when the lines are full."""
    verdict, offset, length, key, marks = find_udp(octets, start, captured, original, link_type)
    if verdict != PACKETS:
        sink.counts[FRAMES] += 1
        sink.counts[verdict] += 1
        return np.int64(0)
    line = line_of(sink, key)
    if line < 0:
        return np.int64(-1)
    if received_ns < 0:
        sink.counts[BAD_TIME] += 1
        received_ns = 0
    packet = slot_at(sink.packets, made)
    packet.cause = sink.counts[PACKETS]
    packet.received_ns = received_ns
    packet.offset = offset
    packet.sequence = 0
    packet.length = length
    packet.line = line
    packet.framing = MOLDUDP64
    packet.marks = marks
    sink.counts[FRAMES] += 1
    sink.counts[PACKETS] += 1
    sink.counts[OCTETS] += length
    if marks & SNAPPED:
        sink.counts[SNAPPED_PACKETS] += 1
    return np.int64(1)
