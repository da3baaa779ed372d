"""What crosses the links between decoder and recovery; answers are looked through, and nothing beyond them is read."""

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from venym.hot.link import HEAD, Link, commit, make_link, release
from venym.records import MISSING, RECOVERED, RECOVERED_OCTETS_MAX, REREQUESTED, SNAPSHOT_BLOCKS
from venym.stages import recovery_links as links

pytestmark = pytest.mark.plain

GUARDED = Guarded(1 << 17)
SESSION = b"SESSION001"
HIGH, LOW = struct.unpack(">qH", SESSION)


def last(link: Link) -> np.record:
    return link.slots[(int(link.cursor[HEAD]) - 1) % len(link.slots)]


def looked_through(octets: bytes) -> tuple[int, int, int, bytes]:
    """What became of it, and the packet handed on."""
    link = make_link(RECOVERED, 1)
    became, first, end = links.push_answer(link, 3, HIGH, LOW, GUARDED.put(octets), len(octets))
    if became != links.HANDED_ON:
        assert int(link.cursor[HEAD]) == 0
        return became, first, end, b""
    record = last(link)
    assert (record.channel, record.kind, record.sequence) == (3, REREQUESTED, first)
    assert (record.session_high, record.session_low) == (HIGH, LOW)
    return became, first, end, record.octets[: record.length].tobytes()


def naive(octets: bytes) -> tuple[int, int, int, bytes]:
    """The same, message by message."""
    if len(octets) < 20:
        return links.SHORT, 0, 0, b""
    session, first, count = struct.unpack_from(">10sqH", octets)
    if session != SESSION:
        return links.FOREIGN, 0, 0, b""
    messages: list[bytes] = []
    rest = octets[20:]
    while len(rest) >= 2 and len(messages) < count % 0xFFFF:
        size = int.from_bytes(rest[:2], "big")
        if 2 + size > len(rest) or 20 + sum(map(len, messages)) + 2 + size > RECOVERED_OCTETS_MAX:
            break
        messages.append(rest[: 2 + size])
        rest = rest[2 + size :]
    if not messages or first < 1:
        return links.EMPTY, 0, 0, b""
    whole = struct.pack(">10sqH", SESSION, first, len(messages)) + b"".join(messages)
    return links.HANDED_ON, first, first + len(messages), whole


@given(
    st.sampled_from((SESSION, SESSION, SESSION, b"SESSION002", b"TESSION001")),
    st.sampled_from((-1, 0, 1, 7, 2**40)),
    st.lists(st.integers(0, 60) | st.just(900), max_size=12),
    st.sampled_from((-1, 0, 0, 0, 1, 0xFFFF)),
    st.integers(0, 30),
)
@settings(max_examples=200, deadline=None)
def test_an_answer_is_handed_on_as_far_as_it_is_whole(session, first, sizes, more, cut):
    count = 0xFFFF if more == 0xFFFF else max(0, len(sizes) + more)
    octets = struct.pack(">10sqH", session, first, count)
    octets += b"".join(size.to_bytes(2, "big") + bytes([size % 256]) * size for size in sizes)
    octets = octets[: len(octets) - cut]
    assert looked_through(octets) == naive(octets)


@given(st.binary(max_size=50))
@settings(max_examples=100, deadline=None)
def test_any_octets(octets):
    assert looked_through(octets) == naive(octets)
    assert looked_through(SESSION + octets) == naive(SESSION + octets)


def test_an_answer_that_finds_no_room_is_left_as_it_is():
    link = make_link(RECOVERED, 1)
    octets = np.frombuffer(bytearray(struct.pack(">10sqH", SESSION, 5, 9) + b"\0\1a"), np.uint8)
    assert links.has_room(link)
    assert links.push_answer(link, 0, HIGH, LOW, octets, len(octets)) == (links.HANDED_ON, 5, 6)
    octets[19] = 9
    assert not links.has_room(link)
    assert links.push_answer(link, 0, HIGH, LOW, octets, len(octets)) == (links.NO_ROOM, 0, 0)
    assert octets[19] == 9
    release(link, 1)
    assert links.push_answer(link, 0, HIGH, LOW, octets, len(octets))[0] == links.HANDED_ON


def test_records_are_filled_as_said():
    link, octets = make_link(RECOVERED, 2), np.arange(RECOVERED_OCTETS_MAX, dtype=np.int64).astype(np.uint8)
    for length in (0, 5, RECOVERED_OCTETS_MAX):
        assert links.push(link, 1, SNAPSHOT_BLOCKS, HIGH, LOW, 7, octets, length)
        record = last(link)
        assert (record.channel, record.kind, record.sequence, record.length) == (1, SNAPSHOT_BLOCKS, 7, length)
        assert record.octets[:length].tobytes() == octets[:length].tobytes()
        release(link, 1)
    assert links.push(link, 1, SNAPSHOT_BLOCKS, HIGH, LOW, 7, octets, 0)
    assert links.push(link, 1, SNAPSHOT_BLOCKS, HIGH, LOW, 7, octets, 0)
    assert not links.push(link, 1, SNAPSHOT_BLOCKS, HIGH, LOW, 7, octets, 0)


@pytest.mark.parametrize("count", [0, 1, links.ROWS, links.ROWS + 5])
def test_what_is_missing_is_read_in_order_and_given_back(count: int):
    link, rows = make_link(MISSING, 512), links.make_rows()
    for k in range(count):
        record = link.slots[k]
        record.session_high, record.session_low, record.first, record.end = -k, k, 10 * k, 10 * k + 3
        record.expected, record.received_ns, record.channel, record.kind = k + 1, 99, k % 3, k % 5
    commit(link, count)
    got: list[list[int]] = []
    while taken := links.take_missing(link, rows):
        assert taken <= links.ROWS
        got += rows[:taken].tolist()
    assert got == [[-k, k, 10 * k, 10 * k + 3, k + 1, k % 3, k % 5] for k in range(count)]
