"""Datagrams of the lines into octets of a capture: one core receives, another thread packs.

    sockets ── receive ──▶ frames, PACKET link ── pack ──▶ pcap records, to be written to a file
               take()      slots >= capacity      the link's packets, given back once copied

When the link is full nothing is received: datagrams wait in the kernel, and what it has no room for it counts.
"""

from typing import NamedTuple

import numpy as np

from ..hot.duty_cycle import rest, running
from ..hot.intrinsics import copy_octets, cycles
from ..hot.jit import hot
from ..hot.layout import aligned
from ..hot.link import Link, claim, commit, peek, ready, release, room
from ..wire.pcap_write import PAYLOAD_AT, make_headers, put_headers
from .lines import Line
from .udp import TAKEN, receive

WRITTEN = 0
WORDS = 8


class Recorder(NamedTuple):
    """packets: the link; frames (n,) uint8; headers (lines * PAYLOAD_AT,) uint8, for each number of a line; words (8,)
    int64: WRITTEN packets so far; octets (n,) uint8: what was packed."""

    packets: Link
    frames: np.ndarray
    headers: np.ndarray
    words: np.ndarray
    octets: np.ndarray


def make_recorder(
    packets: Link, frames: np.ndarray, lines: list[Line | None], slot_octets: int, octets: int
) -> Recorder:
    """A recorder that packs up to `octets` at a time. Raises ValueError when that may not hold one packet."""
    if octets < PAYLOAD_AT + slot_octets:
        raise ValueError(f"{octets} octets do not hold a packet of {slot_octets} and what stands before it")
    headers = np.zeros(len(lines) * PAYLOAD_AT, np.uint8)
    for number, line in enumerate(lines):
        if line is not None:
            sender = {} if line.source is None else {"source": line.source}
            headers[number * PAYLOAD_AT : (number + 1) * PAYLOAD_AT] = make_headers(line.group, line.port, **sender)
    return Recorder(packets, frames, headers, aligned(WORDS, np.int64), aligned(octets, np.uint8))


@hot
def take(control, ctx, packets, packets_max):
    """Receive into the link until stopped, or `packets_max` (-1: no end) have been. `ctx`: udp.Context, with at least
    as many slots as the link has records."""
    while running(control) and ctx.words[TAKEN] != packets_max:
        work = np.int64(0)
        if room(packets, 1) > 0:
            packet = claim(packets, 0)
            work = receive(ctx, packet)
            if work != 0:
                packet.cause = ctx.words[TAKEN] - 1
                packet.taken_cycles = cycles()
                commit(packets, 1)
        rest(control, work)


@hot
def pack(recorder):
    """Pack what waits in the link, as much as there is room for, and give it back. Returns the octets packed."""
    waiting = ready(recorder.packets, recorder.packets.slots.shape[0])
    at, count = np.int64(0), np.int64(0)
    while count < waiting:
        packet = peek(recorder.packets, count)
        length = np.int64(packet.length)
        if at + PAYLOAD_AT + length > recorder.octets.shape[0]:
            break
        copy_octets(recorder.octets, at + PAYLOAD_AT, recorder.frames, packet.offset, length)
        number = recorder.words[WRITTEN] + 1
        headers_at = np.int64(packet.line) * PAYLOAD_AT
        at = put_headers(recorder.octets, at, recorder.headers, headers_at, packet.received_ns, number, length)
        recorder.words[WRITTEN] = number
        count += 1
    release(recorder.packets, count)
    return at
