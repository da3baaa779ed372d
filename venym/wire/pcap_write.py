"""UDP payloads written as a capture of Ethernet frames, in a pcap of nanosecond resolution.

    pcap  | magic 4 | version 2+2 | zone 4 | accuracy 4 | snapshot length 4 | link type 4 |              little-endian
    then  | seconds 4 | nanoseconds 4 | captured length 4 | length 4 | frame |
    frame | Ethernet 14 | IPv4 20 | UDP 8 | payload |                                                       big-endian

The headers of a frame are copied from a template, made once for each destination; times, lengths and checksums are its
own. What reads it back is `pcap` and `ethernet`.
"""

from ipaddress import IPv4Address

import numpy as np

from ..hot.intrinsics import be16, be32, copy_octets, put_be16, put_le32
from ..hot.jit import step
from .ethernet import IP_HEADER_BYTES, UDP_HEADER_BYTES, UDP_PROTOCOL

FILE_HEADER = (
    bytes.fromhex("4d3cb2a1 0200 0400 00000000 00000000 0000 0400 01000000")  # snapshot length 262,144; Ethernet
)
RECORD_OCTETS, ETHERNET_OCTETS = 16, 14
IP_AT = RECORD_OCTETS + ETHERNET_OCTETS
UDP_AT = IP_AT + IP_HEADER_BYTES
PAYLOAD_AT = UDP_AT + UDP_HEADER_BYTES  # of a record; all before is copied from the template
SOURCE = "192.0.2.1"  # an address of the documentation's, for a sender that is not known
SECOND_NS = 1_000_000_000


def make_headers(group: str, port: int, source: str = SOURCE) -> np.ndarray:
    """The (PAYLOAD_AT,) uint8 that stand before a payload sent to a group or address; its sender's port is the same."""
    target = IPv4Address(group).packed
    if IPv4Address(group).is_multicast:
        ethernet = bytes((1, 0, 0x5E, target[1] & 0x7F, *target[2:]))
    else:
        ethernet = bytes.fromhex("020000000002")
    octets = bytes(RECORD_OCTETS) + ethernet + bytes.fromhex("020000000001 0800")
    octets += bytes.fromhex("4500 0000 0000 4000 10 11 0000") + IPv4Address(source).packed + target
    octets += port.to_bytes(2, "big") * 2 + bytes(4)
    return np.frombuffer(octets, np.uint8).copy()


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
def put_headers(octets, at, headers, headers_at, received_ns, identification, payload):
    """Write what stands before a payload of `payload` octets that lies at at + PAYLOAD_AT already: the record's header
    and the frame's, from headers[headers_at:]. Returns the offset behind the record."""
    copy_octets(octets, at, headers, headers_at, PAYLOAD_AT)
    frame = PAYLOAD_AT - RECORD_OCTETS + payload
    put_le32(octets, at, received_ns // SECOND_NS)
    put_le32(octets, at + 4, received_ns % SECOND_NS)
    put_le32(octets, at + 8, frame)
    put_le32(octets, at + 12, frame)
    put_be16(octets, at + IP_AT + 2, IP_HEADER_BYTES + UDP_HEADER_BYTES + payload)
    put_be16(octets, at + IP_AT + 4, identification & 0xFFFF)
    put_be16(octets, at + IP_AT + 10, _fold(_sum_words(octets, at + IP_AT, IP_HEADER_BYTES)))
    put_be16(octets, at + UDP_AT + 4, UDP_HEADER_BYTES + payload)
    pseudo = _sum_words(octets, at + IP_AT + 12, 8) + UDP_PROTOCOL + UDP_HEADER_BYTES + payload
    checksum = _fold(pseudo + _sum_words(octets, at + UDP_AT, UDP_HEADER_BYTES + payload))
    put_be16(octets, at + UDP_AT + 6, checksum if checksum != 0 else 0xFFFF)
    return at + PAYLOAD_AT + payload
