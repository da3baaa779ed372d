"""Hostile packets: flush against a page nobody may touch, whatever their lengths claim."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive.book import NaiveMarket
from tests.stages import itch_messages as itch
from tests.stages.drive import SMALL, Drive, block, mold
from tests.stages.test_book import random_day
from venym import records
from venym.wire.itch50 import MESSAGES

GUARDED = Guarded(1 << 16)
PACKETS = [
    mold("S1", 1, [itch.message(kind, stock="TEST") if any(f.name == "stock" for f in held.fields) else
                   itch.message(kind) for kind, held in MESSAGES.items()]),
    mold("S1", 1, list(random_day(random.Random(7), 12, 0.1))),
    b"".join(block(m) for m in random_day(random.Random(8), 12, 0.1)),
]  # fmt: skip


def flush(datagram: bytes, framing: int) -> Drive:
    """Decode a datagram whose last octet is the last before the guard page."""
    drive = Drive(instruments=("TEST",), frames=GUARDED.put(datagram))
    found = drive.pipeline.feed.found[0]
    found.length, found.framing, found.sequence = len(datagram), framing, 1
    drive.pipeline.feed.cursor[8] = 1
    drive.drain()
    return drive


def naive(datagram: bytes, framing: int) -> NaiveMarket:
    """The whole messages of a first datagram, by slicing."""
    market, at, left = NaiveMarket(), 0, len(datagram)
    if framing == records.MOLDUDP64:
        sequence, count = int.from_bytes(datagram[10:18], "big"), int.from_bytes(datagram[18:20], "big")
        if len(datagram) < 20 or sequence >= 2**63:
            return market
        at, left = 20, 0 if count == 0xFFFF else count
    while left and at + 2 <= len(datagram):
        length = int.from_bytes(datagram[at : at + 2], "big")
        if at + 2 + length > len(datagram):
            break
        market.apply(datagram[at + 2 : at + 2 + length])
        at, left = at + 2 + length, left - 1
    return market


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(PACKETS), st.data())
def test_a_mutated_packet_is_decoded_like_its_twin_and_never_read_past_its_end(packet, data):
    octets = bytearray(packet)
    for _ in range(data.draw(st.integers(0, 6))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    octets = octets[: data.draw(st.integers(0, len(octets)))]
    framing = records.BLOCKS if packet is PACKETS[2] else records.MOLDUDP64
    drive, expected = flush(bytes(octets), framing), naive(bytes(octets), framing)
    assert drive.counters().get("messages", 0) == expected.counters["messages"]
    for locate, book in expected.books.items():
        for side in "BS":
            assert drive.ladder(locate, side) == book.ladder(side)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=200), st.sampled_from([records.BLOCKS, records.MOLDUDP64]))
def test_any_octets_are_decoded_like_their_twin(octets, framing):
    drive, expected = flush(octets, framing), naive(octets, framing)
    assert drive.counters().get("messages", 0) == expected.counters["messages"]


@pytest.mark.parametrize("length", [0, 1, 2, 12, 35, 36, 255, 0x7FFF, 0xFFFF])
def test_a_length_that_lies_ends_the_packet(length):
    datagram = mold("S1", 1, [])[:18] + b"\x00\x02" + block(itch.add(1, "B", 5, 100)) + length.to_bytes(2, "big") + b"A"
    counters = flush(datagram, records.MOLDUDP64).counters()
    assert counters["messages"] == (2 if length < 2 else 1)
    assert counters.get("truncated", 0) == (0 if length < 2 else 1)


def test_a_million_malformed_messages_leave_other_memory_and_the_process_as_they_were():
    rng = np.random.default_rng(5)
    drive = Drive(SMALL._replace(instruments_max=65_536, orders_max=65_536, levels_max=65_536, trades_max=1_000_000),
                  frames_octets=1 << 20)  # fmt: skip
    drive.messages([itch.add(9, "B", 5, 100_000)])
    kinds = np.frombuffer(b"EXDUCAFPQBHRIJ~", np.uint8)
    size = 44
    count = 20_000
    resident = []
    for _ in range(50):
        records_ = rng.integers(0, 256, (count, 2 + size), np.uint8)
        records_[:, 0], records_[:, 1] = 0, rng.integers(1, size + 1, count)
        records_[:, 2] = rng.choice(kinds, count)
        drive.payloads([b"".join(bytes(r[: 2 + r[1]]) for r in records_)], framing=records.BLOCKS)
        resident.append(int(Path("/proc/self/statm").read_text().split()[1]))
    assert drive.counters()["messages"] == 1_000_001
    assert resident[-1] - resident[25] < 2_000  # pages: the books it fills are touched early, then it is flat
