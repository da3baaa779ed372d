"""The hold-back itself: sorted, never twice, within its room, beside a dictionary."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.stages.drive import block, zeroed
from venym.hot.jit import PLAIN, hot
from venym.stages import holding as held_back

pytestmark = pytest.mark.plain

SLOT = 64


@hot
def hold(holding, channel, octets, sequence, count, line):
    return held_back.hold_back(
        holding,
        channel,
        octets,
        np.int64(0),
        np.int64(octets.shape[0]),
        sequence,
        count,
        line,
        np.int64(7),
        np.int64(8),
    )


@hot
def drop(holding, channel, expected):
    held_back.drop_below(holding, channel, expected)


def message(number: int) -> bytes:
    """Of a length that depends on the number, so that no block lies where another's would."""
    return bytes([number % 251]) * (number * 7 % 23)


class Room:
    """A hold-back and its twin: {number: message}."""

    def __init__(self, packets: int = 200, channels: int = 1) -> None:
        self.holding = held_back.build_holding(zeroed, channels, packets, SLOT)
        self.twin: dict[int, bytes] = {}

    def put(self, first: int, end: int, line: int = 0, channel: int = 0, cut: int = 0) -> tuple[int, ...]:
        packet = b"".join(block(message(number)) for number in range(first, end))
        octets = np.frombuffer(packet[: len(packet) - cut], np.uint8).copy()
        found = hold(self.holding, channel, octets, np.int64(first), np.int64(end - first), np.int64(line))
        return tuple(int(value) for value in found)

    def chunks(self, channel: int = 0) -> list[tuple[int, Any]]:
        made, index, before = [], int(self.holding.queues[channel].first), 0
        while index:
            chunk = self.holding.chunks[index]
            assert (int(chunk.owner), int(chunk.previous)) == (channel + 1, before)
            made.append((index, chunk))
            before, index = index, int(chunk.next)
        assert int(self.holding.queues[channel].last) == before
        assert int(self.holding.queues[channel].count) == len(made)
        return made

    def messages(self, channel: int = 0) -> dict[int, bytes]:
        """What is held, by number, in the order of the list."""
        made: dict[int, bytes] = {}
        for index, chunk in self.chunks(channel):
            at = index * SLOT
            octets = self.holding.octets[at : at + int(chunk.length)].tobytes()
            assert int(chunk.length) <= SLOT and chunk.sequence < chunk.end
            for number in range(int(chunk.sequence), int(chunk.end)):
                length = int.from_bytes(octets[:2], "big")
                assert number not in made
                made[number], octets = octets[2 : 2 + length], octets[2 + length :]
            assert not octets
        return made

    def free(self, channel: int = 0) -> int:
        count, index = 0, int(self.holding.queues[channel].free)
        while index:
            assert self.holding.chunks[index].owner == 0
            count, index = count + 1, int(self.holding.chunks[index].next)
        return count


PARTS = st.tuples(st.integers(1, 60), st.integers(1, 9), st.integers(0, 3), st.integers(0, 30))


@settings(max_examples=40 if PLAIN else 200, deadline=None)
@given(st.lists(st.one_of(PARTS, st.integers(1, 60)), max_size=30), st.sampled_from([3, 8, 200]))
def test_whatever_overlaps_each_message_is_held_once_and_in_order(steps, packets):
    room = Room(packets)
    for step in steps:
        if isinstance(step, int):
            drop(room.holding, 0, np.int64(step))
            for index_chunk in room.chunks():
                assert index_chunk[1].end > step
            room.twin = {number: room.twin[number] for number in room.messages()}
        else:
            first, count, line, cut = step
            before = dict(room.twin)
            sizes = [2 + len(message(number)) for number in range(first, first + count)]
            there = sum(np.cumsum(sizes) <= sum(sizes) - min(cut, sum(sizes)))
            whole, kept, lost = room.put(first, first + count, line, cut=min(cut, sum(sizes)))
            for number in range(first, min(lost, first + int(there))):
                room.twin.setdefault(number, message(number))
            assert kept == len(room.twin) - len(before)
            assert whole in (first + there, first + count)
            assert lost == whole or room.free() == 0
            if whole == first + count and there < count:  # a copy of what is held: not looked at again
                assert all(number in before for number in range(first, whole))
        assert room.messages() == room.twin and list(room.twin.values()) is not None
        assert len(room.chunks()) + room.free() == packets
        ends = [(int(chunk.sequence), int(chunk.end)) for _, chunk in room.chunks()]
        assert all(one[1] <= other[0] for one, other in pairwise(ends))


def test_what_does_not_fit_is_told_from_where():
    room = Room(2)
    assert room.put(10, 12) == (12, 2, 12)
    assert room.put(14, 15) == (15, 1, 15)
    assert room.put(20, 23) == (23, 0, 20)
    assert room.put(8, 11) == (11, 0, 8)
    assert room.put(10, 11) == (11, 0, 11)  # held already
    assert int(room.holding.queues[0].count_max) == 2


def test_a_packet_longer_than_a_chunk_takes_several_and_a_message_longer_than_one_is_not_held():
    room = Room(50)
    assert room.put(1, 40) == (40, 39, 40)
    assert len(room.chunks()) > 5 and list(room.messages()) == list(range(1, 40))
    long = np.frombuffer(block(bytes(SLOT - 1)) + block(b"x"), np.uint8).copy()
    assert hold(room.holding, 0, long, np.int64(50), np.int64(2), np.int64(0)) == (52, 0, 50)


def test_channels_have_rooms_of_their_own():
    room = Room(2, channels=3)
    for channel in (2, 0, 1):
        assert room.put(5, 6, channel=channel)[1] == room.put(9, 10, channel=channel)[1] == 1
        assert room.put(20, 21, channel=channel)[1] == 0
    drop(room.holding, 1, np.int64(6))
    assert room.put(20, 21, channel=1)[1] == 1 and list(room.messages(1)) == [9, 20]
    assert list(room.messages(0)) == list(room.messages(2)) == [5, 9]


def test_where_a_line_was_last_is_remembered_and_harmless_when_it_is_gone():
    room = Room(4)
    for first in (10, 20, 30, 40):
        room.put(first, first + 2)
    room.put(20, 22, line=1)
    assert room.holding.chunks[room.holding.near[1]].sequence == 20
    drop(room.holding, 0, np.int64(32))
    assert room.put(35, 36, line=1) == (36, 1, 36)
    assert list(room.messages()) == [35, 40, 41]


def test_an_impossible_room_is_refused():
    for packets, octets in ((-1, 64), (1, 0)):
        with pytest.raises(ValueError, match="hold-back"):
            held_back.build_holding(zeroed, 1, packets, octets)
