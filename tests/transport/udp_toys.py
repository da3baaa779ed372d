"""A compiled caller of the UDP transport, and what opens it, for tests."""

import socket
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from venym.hot.intrinsics import slot_at
from venym.hot.jit import hot
from venym.hot.layout import aligned
from venym.metrics import UDP, named
from venym.records import PACKET
from venym.transport.lines import Line
from venym.transport.udp import LINE_WORDS, Context, Options, Udp, _read_control, open_udp, receive

SLOTS, SLOT_OCTETS = 256, 2048
BUFFER_OCTETS = 200_000  # anybody may have that


@hot
def receive_all(ctx, packets, count, polls):
    """At most `count` datagrams, in at most `polls` turns."""
    got = 0
    for _ in range(polls):
        if got < count:
            got += receive(ctx, slot_at(packets, got))
    return got


@hot
def read_control(ctx, octets):
    """What `octets` of control messages tell, for the first line."""
    return _read_control(ctx, octets, 0)


class Came(NamedTuple):
    line: int
    payload: bytes
    received_ns: int


def opened(
    lines: Sequence[Line | None],
    stamps: str = "software",
    slots: int = SLOTS,
    slot_octets: int = SLOT_OCTETS,
    buffer_octets: int = BUFFER_OCTETS,
    busy_poll_us: int = 0,
) -> Udp:
    def take(name: str, count: int, dtype: np.dtype) -> np.ndarray:
        return aligned(count, dtype)

    return open_udp(take, lines, slots, slot_octets, Options(stamps, busy_poll_us, buffer_octets))


def came(ctx: Context, count: int, seconds: float = 2.0) -> list[Came]:
    """What is received until there are `count`, or it takes too long."""
    packets = aligned(count, PACKET)
    held: list[Came] = []
    until = time.monotonic() + seconds
    while len(held) < count and time.monotonic() < until:
        got = receive_all(ctx, packets, count - len(held), 64)
        for packet in packets[:got]:
            start = int(packet.offset)
            payload = ctx.frames[start : start + packet.length].tobytes()
            held.append(Came(int(packet.line), payload, int(packet.received_ns)))
    return held


def payloads(ctx: Context, count: int, seconds: float = 2.0) -> list[bytes]:
    return [held.payload for held in came(ctx, count, seconds)]


def quiet(ctx: Context) -> bool:
    """Does nothing come?"""
    return came(ctx, 1, 0.05) == []


def counted(ctx: Context, place: int = 0) -> dict[str, int]:
    """What was counted for a line, without what is 0."""
    row = ctx.counts[place * LINE_WORDS :]
    return {name: count for name, count in named(UDP, row).items() if count}


def sender(interface: str = "lo") -> socket.socket:
    """A socket that sends to groups over this interface, heard on this machine too."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    index = socket.if_nametoindex(interface)
    made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, bytes(8) + index.to_bytes(4, "little"))
    made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
    return made


def free_port() -> int:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as made:
        made.bind(("", 0))
        return int(made.getsockname()[1])
