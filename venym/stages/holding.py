"""Hold-back: copies of what came above a hole, a sorted list a channel, until the hole is filled.

    expected                                     known
       │  hole   first                    last     │
       ▼         ▼                        ▼        ▼
       . . . . . [6 7 8]──[9 10] . . . . [13 14 15]          chunk: whole blocks of one packet, lengths included

A channel has a fixed number of chunks, each with room for `slot_octets`; a packet larger than that takes several.
Chunks never overlap: of a packet that overlaps what is held, only what is not held is copied. Appending, taking from
the front and recognising a copy are O(1): where a line's last packet went is remembered, and its next one is beside it.
Part of the decoder.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import be16, copy_octets, slot_at
from ..hot.jit import apart, inner, small
from ..hot.layout import record
from ..wire.moldudp64 import LENGTH_BYTES
from ..wire.scan import LINES_MAX
from .book import Take

CHUNK = record(
    "CHUNK",
    [
        ("sequence", "i8"),  # of its first message
        ("end", "i8"),  # one past its last
        ("cause", "i8"),  # of the packet it came in
        ("received_ns", "i8"),
        ("length", "i4"),
        ("next", "i4"),  # 0: none; of a free chunk, the next free one
        ("previous", "i4"),
        ("owner", "i4"),  # 1 + its channel; 0: free
    ],
    64,
)

QUEUE = record(
    "QUEUE",
    [
        ("first", "i4"),  # 0: none
        ("last", "i4"),
        ("free", "i4"),
        ("count", "i4"),  # chunks held
        ("count_max", "i4"),  # most ever held
    ],
    64,
)

RECOVERY_LINE = LINES_MAX  # the line, in `near`, of what a re-request brought


class Holding(NamedTuple):
    """chunks (channels * packets + 1,) CHUNK, 0 is none; octets: `slot_octets` for each; queues (channels,) QUEUE; near
    (LINES_MAX + 1,) int32: the chunk where a line's last packet went; slot (1,) int64: slot_octets."""

    chunks: np.ndarray
    octets: np.ndarray
    queues: np.ndarray
    near: np.ndarray
    slot: np.ndarray


def build_holding(take: Take, channels: int, packets: int, slot_octets: int) -> Holding:
    """Room for `packets` chunks of `slot_octets` each channel. Raises ValueError for a negative number or no octets."""
    if packets < 0 or slot_octets < 1:
        raise ValueError(f"a hold-back of {packets} packets of {slot_octets} octets")
    count = channels * packets + 1
    made = Holding(
        chunks=take("held_chunks", count, CHUNK),
        octets=take("held_octets", count * slot_octets if packets else 1, np.dtype(np.uint8)),
        queues=take("held_queues", channels, QUEUE),
        near=take("held_near", LINES_MAX + 1, np.dtype(np.int32)),
        slot=np.array([slot_octets], np.int64),
    )
    for channel in range(channels if packets else 0):
        first = 1 + channel * packets
        made.queues[channel].free = first
        made.chunks["next"][first : first + packets] = np.arange(first + 1, first + packets + 1)
        made.chunks["next"][first + packets - 1] = 0
    return made


@apart
def hold_back(holding, channel, octets, at, end, sequence, count, line, cause, received_ns):
    """Copy what of the `count` blocks at octets[at : end] is not held yet; the first is number `sequence`.

    Returns (whole, kept, lost): one past the last message that is wholly there; how many were copied; the first that
    was not looked at because there was no room, or `whole`.
    """
    chunks = holding.chunks
    last = sequence + count
    before = chunk_before(holding, channel, sequence, line)
    if before != 0 and slot_at(chunks, before).end >= last:
        holding.near[line] = before
        return last, np.int64(0), last
    number, kept = sequence, np.int64(0)
    while number < last:
        if before != 0 and slot_at(chunks, before).end > number:  # held already
            covered = min(slot_at(chunks, before).end, last)
            number, at = pass_blocks(octets, at, end, number, covered, np.int64(UNLIMITED))
            if number < covered:
                break
            continue
        following = np.int64(slot_at(chunks, before).next if before != 0 else slot_at(holding.queues, channel).first)
        limit = min(last, slot_at(chunks, following).sequence) if following != 0 else last
        if number == limit:
            before = following
            continue
        until, after = pass_blocks(octets, at, end, number, limit, holding.slot[0])
        if until == number and not is_whole(octets, at, end):
            break
        index = np.int64(slot_at(holding.queues, channel).free)
        if until == number or index == 0:  # one message longer than a chunk, or no chunk
            whole, _ = pass_blocks(octets, at, end, number, last, np.int64(UNLIMITED))
            return whole, kept, number
        insert_chunk(holding, channel, index, before)
        chunk = slot_at(chunks, index)
        chunk.sequence = number
        chunk.end = until
        chunk.cause = cause
        chunk.received_ns = received_ns
        chunk.length = after - at
        copy_octets(holding.octets, index * holding.slot[0], octets, at, after - at)
        kept += until - number
        number, at, before = until, after, index
    holding.near[line] = before
    return number, kept, number


UNLIMITED = 1 << 62


@small
def is_whole(octets, at, end):
    """Is the block at `at` wholly there?"""
    return at + LENGTH_BYTES <= end and at + LENGTH_BYTES + be16(octets, at) <= end


@inner
def pass_blocks(octets, at, end, number, until, room):
    """Go on from block `number` at `at` to block `until`, or to the last before that which is whole and ends within
    `room` octets; returns its number and offset."""
    stop = at + room
    while number < until and at + LENGTH_BYTES <= end:
        after = at + LENGTH_BYTES + be16(octets, at)
        if after > end or after > stop:
            break
        at = after
        number += 1
    return number, at


@inner
def chunk_before(holding, channel, sequence, line):
    """The last chunk that begins at or below `sequence`, or 0."""
    chunks = holding.chunks
    index = np.int64(slot_at(holding.queues, channel).last)
    if index == 0 or slot_at(chunks, index).sequence <= sequence:
        return index
    near = np.int64(holding.near[line])
    if near != 0 and slot_at(chunks, near).owner == channel + 1:  # any chunk of the list is a place to begin at
        index = near
    while index != 0 and slot_at(chunks, index).sequence > sequence:
        index = np.int64(slot_at(chunks, index).previous)
    while index != 0:
        following = np.int64(slot_at(chunks, index).next)
        if following == 0 or slot_at(chunks, following).sequence > sequence:
            break
        index = following
    return index


@inner
def insert_chunk(holding, channel, index, before):
    """Take the channel's first free chunk, which is `index`, and put it behind `before`, or first if that is 0."""
    chunks = holding.chunks
    queue, chunk = slot_at(holding.queues, channel), slot_at(chunks, index)
    queue.free = chunk.next
    queue.count += 1
    queue.count_max = max(np.int64(queue.count_max), np.int64(queue.count))
    following = np.int64(slot_at(chunks, before).next if before != 0 else queue.first)
    chunk.owner = channel + 1
    chunk.previous = before
    chunk.next = following
    if before != 0:
        slot_at(chunks, before).next = index
    else:
        queue.first = index
    if following != 0:
        slot_at(chunks, following).previous = index
    else:
        queue.last = index


@inner
def drop_below(holding, channel, expected):
    """Give back the chunks whose messages are all below `expected`."""
    chunks = holding.chunks
    queue = slot_at(holding.queues, channel)
    while queue.first != 0 and slot_at(chunks, np.int64(queue.first)).end <= expected:
        index = np.int64(queue.first)
        chunk = slot_at(chunks, index)
        queue.first = chunk.next
        if queue.first != 0:
            slot_at(chunks, np.int64(queue.first)).previous = 0
        else:
            queue.last = 0
        chunk.owner = 0
        chunk.next = queue.free
        queue.free = index
        queue.count -= 1
