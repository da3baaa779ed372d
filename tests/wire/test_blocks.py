"""The messages of packets are found one after another, and nothing beyond a payload is read."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive.itch50 import Walked
from tests.wire.itch50_samples import framed, mold
from venym.hot.jit import hot
from venym.hot.layout import aligned
from venym.records import BLOCKS, MOLDUDP64, PACKET
from venym.wire.blocks import HEADERLESS, LENGTH, OFFSET, TRUNCATED, make_walk, next_block, start_walk

GUARDED = Guarded(1 << 16)


@hot
def collect(walk, frames, packets, count, found):
    """The (offset, length) of as many messages as `found` holds."""
    have = 0
    while have < found.shape[0] and next_block(walk, frames, packets, count):
        found[have, 0] = walk[OFFSET]
        found[have, 1] = walk[LENGTH]
        have += 1
    return have


def walk_over(*lots: tuple[int, bytes], room: int = 100) -> tuple[list[bytes], int, int]:
    """Messages, packets truncated, packets without a header; collected `room` at a time."""
    packets, at = aligned(max(1, len(lots)), PACKET), 0
    frames = GUARDED.put(b"".join(payload for _, payload in lots))
    for packet, (framing, payload) in zip(packets, lots, strict=False):
        packet.offset, packet.length, packet.framing = at, len(payload), framing
        at += len(payload)
    walk, found = make_walk(), np.zeros((room, 2), np.int64)
    start_walk(walk)
    messages: list[bytes] = []
    have = room
    while have == room:
        have = collect(walk, frames, packets, len(lots), found)
        messages += [frames[start : start + length].tobytes() for start, length in found[:have]]
    return messages, int(walk[TRUNCATED]), int(walk[HEADERLESS])


def test_messages_of_both_framings_come_in_order():
    lots = ((MOLDUDP64, mold(b"one", b"two")), (BLOCKS, framed(b"three", b"four")), (MOLDUDP64, mold(b"five")))
    for room in (1, 2, 5, 6):
        assert walk_over(*lots, room=room) == ([b"one", b"two", b"three", b"four", b"five"], 0, 0)


def test_heartbeats_and_ends_of_session_have_no_blocks():
    assert walk_over((MOLDUDP64, mold()), (MOLDUDP64, mold(b"not counted", count=0))) == ([], 0, 0)
    assert walk_over((MOLDUDP64, mold(count=0xFFFF)), (MOLDUDP64, mold(b"late", count=0xFFFF))) == ([], 0, 0)


def test_octets_after_the_last_counted_block_are_not_looked_at():
    assert walk_over((MOLDUDP64, mold(b"one") + b"\xff\xff\xff")) == ([b"one"], 0, 0)


def test_a_block_beyond_the_payload_ends_its_packet_and_is_counted():
    good = (MOLDUDP64, mold(b"good"))
    for cut in range(1, 6):
        assert walk_over((MOLDUDP64, mold(b"one", b"two")[:-cut]), good) == ([b"one", b"good"], 1, 0)
        assert walk_over((BLOCKS, framed(b"one", b"two")[:-cut]), good) == (
            [b"one", b"good"],
            int(cut < 5),  # a whole block less is not a cut one
            0,
        )


def test_a_payload_without_room_for_its_header_is_counted():
    assert walk_over((MOLDUDP64, mold()[:19]), (MOLDUDP64, b""), (MOLDUDP64, mold(b"good"))) == ([b"good"], 0, 2)


def test_empty_blocks_are_passed_over():
    assert walk_over((BLOCKS, framed(b"", b"one", b"")), (MOLDUDP64, mold(b"", b"two", b""))) == (
        [b"one", b"two"],
        0,
        0,
    )


def test_counters_go_on_from_lot_to_lot():
    walk, packets = make_walk(), aligned(1, PACKET)
    frames = GUARDED.put(framed(b"one")[:-1])
    packets[0].length, packets[0].framing = frames.size, BLOCKS
    for lot in (1, 2, 3):
        start_walk(walk)
        assert collect(walk, frames, packets, 1, np.zeros((9, 2), np.int64)) == 0
        assert walk[TRUNCATED] == lot


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from((MOLDUDP64, BLOCKS)), st.binary(max_size=60)), max_size=5))
def test_any_octets_are_walked_as_the_naive_twin_does(lots):
    lots = [(framing, bytes(18) + b"\0" + payload if framing == MOLDUDP64 else payload) for framing, payload in lots]
    walked = Walked(lots)
    assert walk_over(*lots, room=3) == (walked.messages, walked.truncated, walked.headerless)
