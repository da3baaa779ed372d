"""The XDP program that takes our datagrams off the wire, and the few instructions it is made of.

    frame ── IPv4, UDP, whole, one of our (address, port[, source])? ── yes ──▶ socket of the receive queue
                │ no                                                            │ none there
                └──────────────────────────────▶ the kernel ◀───────────────────┘

Read are frames without a tag, with one and with two (802.1Q, 802.1ad), and IP headers of any length. What is in doubt
goes to the kernel: more tags, fragments, a header that is cut. A tag that the card took off the frame (VLAN offload) is
not seen here, so the frame is taken as if it had none.

Before the frame's first octet lies the time it was seen, in 8 octets of metadata: CLOCK_MONOTONIC, in nanoseconds, in
the machine's byte order. A driver without room for metadata leaves it out.

An instruction is 8 octets: | code 1 | source << 4 | target 1 | offset 2 | constant 4 |.
"""

import socket
import struct
from collections.abc import Sequence
from typing import NamedTuple

from ..wire.ethernet import IP_HEADER_BYTES, IPV4_TYPE, UDP_HEADER_BYTES, UDP_PROTOCOL
from .bpf import PASS

NAME = "venym_xdp"
STAMP_OCTETS = 8
TAG_TYPES = (0x8100, 0x88A8)
TAGS_MAX = 2

# Registers: results and arguments, then those that survive a call.
R0, R1, R2, R3, R4, R5, R6, R7, R8, R9 = range(10)
_REDIRECT_MAP, _KTIME_NS, _ADJUST_META = 51, 5, 54
# struct xdp_md
_DATA, _DATA_END, _DATA_META, _QUEUE = 0, 4, 8, 16


class Target(NamedTuple):
    """Datagrams to take: to `address` and `port`, from `source`; None: from anybody."""

    address: str
    port: int
    source: str | None


class Assembler:
    """Instructions, with jumps to names that are set later."""

    def __init__(self) -> None:
        self._instructions: list[tuple[int, int, int, int, int]] = []
        self._labels: dict[str, int] = {}
        self._jumps: list[tuple[int, str]] = []

    def emit(self, code: int, target: int = 0, source: int = 0, offset: int = 0, constant: int = 0) -> None:
        self._instructions.append((code, target, source, offset, constant))

    def label(self, name: str) -> None:
        self._labels[name] = len(self._instructions)

    def copy(self, target: int, source: int) -> None:
        self.emit(0xBF, target, source)

    def set(self, target: int, constant: int) -> None:
        self.emit(0xB7, target, constant=constant)

    def add(self, target: int, constant: int) -> None:
        self.emit(0x07, target, constant=constant)

    def add_register(self, target: int, source: int) -> None:
        self.emit(0x0F, target, source)

    def mask(self, target: int, constant: int) -> None:
        self.emit(0x57, target, constant=constant)

    def shift_left(self, target: int, bits: int) -> None:
        self.emit(0x67, target, constant=bits)

    def load_32(self, target: int, source: int, offset: int) -> None:
        self.emit(0x61, target, source, offset)

    def load_16(self, target: int, source: int, offset: int) -> None:
        self.emit(0x69, target, source, offset)

    def load_8(self, target: int, source: int, offset: int) -> None:
        self.emit(0x71, target, source, offset)

    def store_64(self, target: int, source: int, offset: int) -> None:
        self.emit(0x7B, target, source, offset)

    def jump(self, to: str) -> None:
        self._jump(to, 0x05)

    def if_equal(self, target: int, constant: int, to: str) -> None:
        self._jump(to, 0x15, target, constant=constant)

    def if_not_equal(self, target: int, constant: int, to: str) -> None:
        self._jump(to, 0x55, target, constant=constant)

    def if_not_equal_32(self, target: int, constant: int, to: str) -> None:
        """The low 32 bits only: a constant of 64 would be sign-extended."""
        self._jump(to, 0x56, target, constant=constant)

    def if_less(self, target: int, constant: int, to: str) -> None:
        self._jump(to, 0xA5, target, constant=constant)

    def if_above(self, target: int, source: int, to: str) -> None:
        self._jump(to, 0x2D, target, source)

    def _jump(self, to: str, code: int, target: int = 0, source: int = 0, constant: int = 0) -> None:
        self._jumps.append((len(self._instructions), to))
        self.emit(code, target, source, 0, constant)

    def map_of(self, target: int, map_fd: int) -> None:
        """Load the map behind a descriptor: a constant of 64 bits takes two instructions."""
        self.emit(0x18, target, 1, constant=map_fd)
        self.emit(0)

    def call(self, function: int) -> None:
        self.emit(0x85, constant=function)

    def leave(self) -> None:
        self.emit(0x95)

    def code(self) -> bytes:
        """The octets of it all. Raises KeyError for a jump to a name that was never set."""
        placed = list(self._instructions)
        for at, name in self._jumps:
            code, target, source, _, constant = placed[at]
            placed[at] = (code, target, source, self._labels[name] - at - 1, constant)
        return b"".join(
            struct.pack("=BBhI", code, target | source << 4, offset, constant & 0xFFFFFFFF)
            for code, target, source, offset, constant in placed
        )


def _port(value: int) -> int:
    """A 16-bit field of the wire, as this machine loads it."""
    return int(struct.unpack("=H", struct.pack(">H", value))[0])


def _address(text: str) -> int:
    return int(struct.unpack("=I", socket.inet_aton(text))[0])


def steer(map_fd: int, targets: Sequence[Target]) -> bytes:
    """The program that sends the datagrams of `targets` to the socket that the map holds for their queue, and
    everything else, or where the map holds none, to the kernel."""
    a = Assembler()
    a.copy(R6, R1)
    a.load_32(R2, R6, _DATA)
    a.load_32(R3, R6, _DATA_END)
    _find_ip(a)
    _find_udp(a)
    _match(a, targets)
    a.label("pass")
    a.set(R0, PASS)
    a.leave()
    a.label("ours")
    _stamp(a)
    a.load_32(R2, R6, _QUEUE)
    a.map_of(R1, map_fd)
    a.set(R3, PASS)  # the verdict where the map holds no socket
    a.call(_REDIRECT_MAP)
    a.leave()
    return a.code()


def _find_ip(a: Assembler) -> None:
    """R7: the IP header, of whose octets, and of 8 more, it is known that they are there."""
    a.copy(R7, R2)
    a.add(R7, 14)
    a.copy(R4, R7)
    a.if_above(R4, R3, "pass")
    a.load_16(R5, R2, 12)
    for tag in range(TAGS_MAX):
        for kind in TAG_TYPES:
            a.if_equal(R5, _port(kind), f"tag {tag}")
        a.jump("type")
        a.label(f"tag {tag}")
        a.copy(R4, R7)
        a.add(R4, 4)
        a.if_above(R4, R3, "pass")
        a.load_16(R5, R7, 2)
        a.add(R7, 4)
    a.label("type")
    a.if_not_equal(R5, _port(IPV4_TYPE), "pass")
    a.copy(R4, R7)
    a.add(R4, IP_HEADER_BYTES + UDP_HEADER_BYTES)
    a.if_above(R4, R3, "pass")


def _find_udp(a: Assembler) -> None:
    """R9: the UDP header, behind the options if there are any."""
    a.load_8(R5, R7, 0)
    a.copy(R8, R5)
    a.mask(R5, 0xF0)
    a.if_not_equal(R5, 0x40, "pass")
    a.mask(R8, 0x0F)
    a.shift_left(R8, 2)
    a.if_less(R8, IP_HEADER_BYTES, "pass")
    a.load_8(R5, R7, 9)
    a.if_not_equal(R5, UDP_PROTOCOL, "pass")
    a.load_16(R5, R7, 6)
    a.mask(R5, _port(0x3FFF))
    a.if_not_equal(R5, 0, "pass")
    a.copy(R9, R7)
    a.add_register(R9, R8)
    a.copy(R4, R9)
    a.add(R4, UDP_HEADER_BYTES)
    a.if_above(R4, R3, "pass")


def _match(a: Assembler, targets: Sequence[Target]) -> None:
    a.load_16(R5, R9, 2)
    a.load_32(R4, R7, 16)
    a.load_32(R8, R7, 12)
    for number, target in enumerate(targets):
        a.if_not_equal(R5, _port(target.port), f"not {number}")
        a.if_not_equal_32(R4, _address(target.address), f"not {number}")
        if target.source is not None:
            a.if_not_equal_32(R8, _address(target.source), f"not {number}")
        a.jump("ours")
        a.label(f"not {number}")


def _stamp(a: Assembler) -> None:
    a.copy(R1, R6)
    a.set(R2, -STAMP_OCTETS)
    a.call(_ADJUST_META)
    a.if_not_equal(R0, 0, "unstamped")
    a.call(_KTIME_NS)
    a.load_32(R2, R6, _DATA_META)
    a.load_32(R3, R6, _DATA)
    a.copy(R4, R2)
    a.add(R4, STAMP_OCTETS)
    a.if_above(R4, R3, "unstamped")
    a.store_64(R2, R0, 0)
    a.label("unstamped")
