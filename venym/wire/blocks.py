"""Message blocks of packets, one after another, across packets: what everything that reads whole captures walks with.

    MOLDUDP64   | session 10 | sequence 8 | count 2 | length 2 | message | length 2 | message | ... | not counted |
    BLOCKS                                          | length 2 | message | length 2 | message | ...

`next_block` finds the next message and stays where it is between calls, so a caller whose output is full goes on
later. It reads nothing beyond a packet's payload: a block that would, or a payload too short for its header, ends that
packet and is counted. A block without octets is passed over; octets after the last counted block are not looked at.
A MoldUDP64 packet that counts 0 (heartbeat) or 0xFFFF (end of session) has no blocks.
"""

import numpy as np

from ..hot.intrinsics import be16
from ..hot.jit import hot, small
from ..hot.layout import aligned
from ..records import MOLDUDP64
from .moldudp64 import END_OF_SESSION, HEADER_BYTES, LENGTH_BYTES, count_of

TO_THE_END = -1  # as LEFT: not a number of blocks, but whatever the packet holds

# The words of a walk: where it is, then what it counted.
PACKET_INDEX, OFFSET, END, LEFT, LENGTH, TRUNCATED, HEADERLESS = range(7)
WALK_WORDS = 8


def make_walk() -> np.ndarray:
    """A (8,) int64 walk; `start_walk` before each new lot of packets.

    walk[OFFSET] and walk[LENGTH] say where the message of the last `next_block` lies. walk[TRUNCATED] counts packets
    that ended inside a block, walk[HEADERLESS] those too short for a MoldUDP64 header; both go on from lot to lot.
    """
    return aligned(WALK_WORDS, np.int64)


@hot
def start_walk(walk):
    """Go to the first block of the first packet of a new lot."""
    walk[PACKET_INDEX] = -1
    walk[OFFSET] = walk[END] = walk[LEFT] = walk[LENGTH] = 0


@small
def _enter(walk, frames, packet):
    """Go to the first block of a packet."""
    start = packet.offset
    walk[OFFSET] = start
    walk[END] = start + packet.length
    walk[LENGTH] = 0
    walk[LEFT] = TO_THE_END
    if packet.framing == MOLDUDP64:
        walk[LEFT] = 0
        if packet.length < HEADER_BYTES:
            walk[HEADERLESS] += 1
        else:
            count = count_of(frames, start)
            walk[OFFSET] = start + HEADER_BYTES
            walk[LEFT] = count if count != END_OF_SESSION else 0


@small
def _block_here(walk, frames):
    """Step to the next block of the present packet; False when it has no more."""
    at = walk[OFFSET] + walk[LENGTH]
    room = walk[END] - at
    if walk[LEFT] == 0 or (walk[LEFT] < 0 and room == 0):
        return False
    length = be16(frames, at) if room >= LENGTH_BYTES else room
    if LENGTH_BYTES + length > room:
        walk[TRUNCATED] += 1
        walk[LEFT] = 0
        return False
    walk[LEFT] -= 1
    walk[OFFSET] = at + LENGTH_BYTES
    walk[LENGTH] = length
    return True


@small
def next_block(walk, frames, packets, count):
    """Step to the next message of at least one octet in `packets[:count]`; False when there is none.

    `frames` is uint8, `packets` of records.PACKET. The message is frames[walk[OFFSET] :][: walk[LENGTH]].
    """
    while True:
        while not _block_here(walk, frames):
            if walk[PACKET_INDEX] + 1 >= count:
                return False
            walk[PACKET_INDEX] += 1
            _enter(walk, frames, packets[walk[PACKET_INDEX]])
        if walk[LENGTH] > 0:
            return True
