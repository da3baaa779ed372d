"""Stores made of messages or packets, and who listens to a line, for tests of the publisher."""

import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import NamedTuple

import numpy as np

from venym.hot.layout import aligned
from venym.records import BLOCKS, MOLDUDP64, PACKET
from venym.venue.message_store import Store
from venym.venue.store_builder import BY_TIME, Builder, Left, Packing

SESSION = "SESSION001"
OVER = 0xFFFF
RECEIVE_BUFFER_OCTETS = 1 << 24


class Given(NamedTuple):
    """A packet for a builder."""

    octets: bytes
    line: int = 0
    received_ns: int = 0
    framing: int = MOLDUDP64


def block(message: bytes) -> bytes:
    return struct.pack(">H", len(message)) + message


def mold(sequence: int, messages: Sequence[bytes], session: str = SESSION, count: int | None = None) -> bytes:
    number = len(messages) if count is None else count
    return struct.pack(">10sQH", session.encode(), sequence, number) + b"".join(map(block, messages))


def over(sequence: int, session: str = SESSION) -> bytes:
    return mold(sequence, [], session, OVER)


def built(
    packets: Sequence[Given],
    packing: Packing = BY_TIME,
    session: str = SESSION,
    rename: bool = False,
    lot: int = 1 << 30,
) -> tuple[Store, Left]:
    """The store of these packets, `lot` of them at a time."""
    with closing(Builder(session, packing, rename)) as builder:
        for start in range(0, len(packets), lot):
            part = packets[start : start + lot]
            frames = np.frombuffer(b"".join(given.octets for given in part) or b"\0", np.uint8).copy()
            records, at = aligned(len(part), PACKET), 0
            for record, given in zip(records, part, strict=True):
                record.offset, record.length, record.line = at, len(given.octets), given.line
                record.framing, record.received_ns = given.framing, given.received_ns
                at += len(given.octets)
            builder.add(frames, records, len(part))
        return builder.finish()


def store_of(messages: Sequence[bytes], a_packet: int = 1) -> Store:
    """Messages of one session from 1 on, so many to a packet."""
    lot = b"".join(map(block, messages))
    return built([Given(lot, framing=BLOCKS)], Packing(a_packet, None))[0]


def packets_of(store: Store) -> list[bytes]:
    return [store.octets[int(row.offset) :][: int(row.length)].tobytes() for row in store.rows]


def messages_of(packet: bytes) -> dict[int, bytes]:
    """By number. Fails if they are not exactly what the packet counts."""
    _, sequence, count = struct.unpack_from(">10sQH", packet)
    found, at = {}, 20
    for number in range(sequence, sequence + (0 if count == OVER else count)):
        size = int.from_bytes(packet[at : at + 2], "big")
        found[number] = packet[at + 2 : at + 2 + size]
        at += 2 + size
    assert at == len(packet)
    return found


def is_over(packet: bytes) -> bool:
    return packet[18:20] == b"\xff\xff"


def is_heartbeat(packet: bytes) -> bool:
    return packet[18:20] == b"\0\0"


class Listener:
    """Keeps what comes to a port of the loopback, as it comes."""

    def __init__(self, group: str = "127.0.0.1") -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_OCTETS)
        self.socket.bind((group, 0))
        if group != "127.0.0.1":
            member = socket.inet_aton(group) + bytes(4) + socket.if_nametoindex("lo").to_bytes(4, "little")
            self.socket.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, member)
        self.socket.settimeout(0.02)
        self.port = int(self.socket.getsockname()[1])
        self.packets: list[bytes] = []
        self.times_ns: list[int] = []
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def data(self) -> list[bytes]:
        """Packets with messages."""
        return [packet for packet in self.packets if not is_heartbeat(packet) and not is_over(packet)]

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                packet = self.socket.recv(65_536)
            except TimeoutError:
                continue
            self.times_ns.append(time.monotonic_ns())
            self.packets.append(packet)

    def close(self) -> None:
        self._stopped.set()
        self._thread.join(5)
        self.socket.close()


@contextmanager
def listening(*groups: str) -> Iterator[tuple[Listener, ...]]:
    made = tuple(map(Listener, groups))
    try:
        yield made
    finally:
        for listener in made:
            listener.close()
