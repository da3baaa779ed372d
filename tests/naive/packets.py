"""A pcap of UDP, or MoldUDP64 in it, taken apart and checked the slow way; knows only what wire.pcap_write writes."""

from collections.abc import Iterator
from typing import NamedTuple

from tests.naive.itch50 import blocks

END_OF_SESSION = 0xFFFF


class Packet(NamedTuple):
    received_ns: int
    destination: tuple[str, int]
    session: str
    sequence: int
    counted: int
    messages: list[bytes]
    payload_octets: int


class Datagram(NamedTuple):
    received_ns: int
    source: str
    destination: tuple[str, int]
    payload: bytes


def read_packets(capture: bytes) -> Iterator[Packet]:
    """Every packet. Fails as `read_datagrams` does, and on messages that are cut or miscounted."""
    for received_ns, _, destination, payload in read_datagrams(capture):
        count = int.from_bytes(payload[18:20], "big")
        messages, rest = blocks(payload[20:])
        assert rest == b"" and len(messages) == (0 if count == END_OF_SESSION else count)
        session, sequence = payload[:10].decode(), int.from_bytes(payload[10:18], "big")
        yield Packet(received_ns, destination, session, sequence, count, messages, len(payload))


def read_datagrams(capture: bytes) -> Iterator[Datagram]:
    """Every datagram. Fails on a wrong length, checksum or header, and on octets left over."""
    assert capture[:24] == bytes.fromhex("4d3cb2a1 0200 0400 00000000 00000000 00000400 01000000")
    at, identification = 24, 0
    while at < len(capture):
        seconds, nanoseconds, held, length = (
            int.from_bytes(capture[at + 4 * word : at + 4 * word + 4], "little") for word in range(4)
        )
        frame = capture[at + 16 : at + 16 + held]
        assert len(frame) == held == length and nanoseconds < 1_000_000_000
        yield _datagram(seconds * 1_000_000_000 + nanoseconds, frame)
        identification = identification + 1 & 0xFFFF
        assert int.from_bytes(frame[18:20], "big") == identification
        at += 16 + held


def _datagram(received_ns: int, frame: bytes) -> Datagram:
    ethernet, ip, udp, payload = frame[:14], frame[14:34], frame[34:42], frame[42:]
    assert ethernet[12:] == b"\x08\x00"
    group_address = bytes((1, 0, 0x5E, ip[17] & 0x7F, ip[18], ip[19]))
    assert ethernet[:6] == (group_address if ip[16] >> 4 == 14 else bytes((2, 0, 0, 0, 0, 2)))
    assert ip[0] == 0x45 and ip[9] == 17 and int.from_bytes(ip[2:4], "big") == len(frame) - 14
    assert internet_sum(ip) == 0xFFFF
    assert int.from_bytes(udp[4:6], "big") == 8 + len(payload)
    assert udp[6:] != b"\0\0"  # that would mean: not summed
    assert internet_sum(ip[12:20] + bytes((0, 17)) + udp[4:6] + udp + payload) == 0xFFFF
    source, target = (".".join(str(octet) for octet in ip[at : at + 4]) for at in (12, 16))
    return Datagram(received_ns, source, (target, int.from_bytes(udp[2:4], "big")), payload)


def internet_sum(octets: bytes) -> int:
    """The ones' complement sum of 16-bit words: all ones when a right checksum is among them."""
    total = 0
    for at in range(0, len(octets), 2):
        total += int.from_bytes(octets[at : at + 2].ljust(2, b"\0"), "big")
        total = (total & 0xFFFF) + (total >> 16)
    return total
