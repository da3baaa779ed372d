"""What AF_XDP should make of a frame, slow and plain; and which frames the program should take."""

from typing import NamedTuple

from tests.naive.captures import Found, ip_in, udp_in
from tests.naive.packets import internet_sum


class Target(NamedTuple):
    """A line: where its datagrams are sent to, from whom they must come, and on which interface."""

    address: str
    port: int
    source: str | None = None
    interface: int = 0


class Taken(NamedTuple):
    line: int
    payload: bytes
    notes: frozenset[str]


def dotted(octets: bytes) -> str:
    return ".".join(map(str, octets))


def line_of(targets: list[Target | None], interface: int, address: str, port: int, source: str) -> int | None:
    for number, target in enumerate(targets):
        if target is None or target[:2] != (address, port) or target.interface != interface:
            continue
        if target.source in (None, source):
            return number
    return None


def read(frame: bytes, targets: list[Target | None], interface: int = 0, check_sums: bool = True) -> Taken | str:
    """The payload and its line, or the name of the counter."""
    found = udp_in(frame, len(frame), 1)
    if not isinstance(found, Found):
        return "malformed" if found in ("short", "bad_ip_header", "bad_udp_length") else "foreign"
    datagram = ip_in(frame, 1)
    assert isinstance(datagram, bytes)
    line = line_of(targets, interface, found.address, found.port, dotted(datagram[12:16]))
    if line is None:
        return "foreign"
    if not check_sums:
        return Taken(line, found.payload, frozenset())
    header = datagram[: datagram[0] % 16 * 4]
    udp = datagram[len(header) : len(header) + 8]
    if internet_sum(header) != 0xFFFF:
        return "bad_ip_sums"
    pseudo = datagram[12:20] + b"\0\x11" + udp[4:6]
    if udp[6:] == b"\0\0":
        return Taken(line, found.payload, frozenset({"no_sums"}))
    if internet_sum(pseudo + udp + found.payload) == 0xFFFF:
        return Taken(line, found.payload, frozenset())
    if int.from_bytes(udp[6:], "big") == internet_sum(pseudo):
        return Taken(line, found.payload, frozenset({"partial_sums"}))
    return "bad_udp_sums"


def is_steered(frame: bytes, targets: list[Target]) -> bool:
    """Does the program take the frame, instead of leaving it to the kernel?"""
    if len(frame) < 14:
        return False
    kind, rest = frame[12:14].hex(), frame[14:]
    for _ in range(2):
        if kind in ("8100", "88a8"):
            if len(rest) < 4:
                return False
            kind, rest = rest[2:4].hex(), rest[4:]
    if kind != "0800" or len(rest) < 28 or rest[0] // 16 != 4:
        return False
    header = rest[0] % 16 * 4
    if header < 20 or rest[9] != 17 or int.from_bytes(rest[6:8], "big") & 0x3FFF or len(rest) < header + 8:
        return False
    port = int.from_bytes(rest[header + 2 : header + 4], "big")
    return line_of(list(targets), 0, dotted(rest[16:20]), port, dotted(rest[12:16])) is not None
