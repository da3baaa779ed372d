"""The pipeline as a whole: the same events whichever cores run it, memory as announced."""

import random
import time

import numpy as np
import pytest

from tests.skips import require
from tests.stages.drive import SMALL, Drive, aligned, block, cores, told
from tests.stages.test_book import random_day
from venym import pipeline, records
from venym.hot.arena import Arena
from venym.hot.link import HEAD, TAIL
from venym.stages import feed

MESSAGES = list(random_day(random.Random(11), 6_000, 0.02))


def offered(drive: Drive) -> None:
    """Packets of a few messages each, all at once."""
    at = 0
    for k, first in enumerate(range(0, len(MESSAGES), 7)):
        octets = np.frombuffer(b"".join(map(block, MESSAGES[first : first + 7])), np.uint8)
        found = drive.pipeline.feed.found[k]
        drive.pipeline.feed.frames[at : at + octets.size] = octets
        found.cause, found.offset, found.length, found.framing = k, at, octets.size, records.BLOCKS
        found.sequence, found.line, found.marks, found.received_ns = 1 + first, 0, 0, 0
        at += octets.size
    feed.offer(drive.pipeline.feed, k + 1)


def new() -> Drive:
    return Drive(instruments=("TEST",), frames_octets=1 << 18)


def fused() -> Drive:
    drive = new()
    offered(drive)
    drive.drain()
    return drive


def split() -> Drive:
    """Feed and decoder on a thread each; this one takes the events."""
    drive = new()
    offered(drive)
    with cores(drive.pipeline, (pipeline.FEED, pipeline.DECODER)):
        deadline = time.monotonic() + 60
        while drive.counters().get("messages", 0) < len(MESSAGES) and time.monotonic() < deadline:
            drive.take_events()
            time.sleep(0.001)
    drive.take_events()
    return drive


def test_which_cores_run_the_stages_changes_no_event():
    require("needs the compiler")
    one, two = fused(), split()
    assert len(one.events) > 5_000
    assert [told(e) for e in one.events] == [told(e) for e in two.events]
    assert one.counters() == two.counters()


def test_an_arena_of_the_octets_required_holds_the_pipeline():
    def build(take):
        return pipeline.build_market(take, SMALL, 1 << 16, 64, ("TEST",))

    arena = Arena(pipeline.octets_required(build), huge_pages="never", lock="never", touch=False)
    made = build(arena.take)
    assert {"feed_decoder", "decoder_features", "frames", "orders", "trades"} <= {e.name for e in arena.describe()}
    assert pipeline.drain(made, pipeline.MARKET_SIDE) == 0


def test_every_link_is_a_power_of_two_of_records_that_holds_a_burst():
    for plan in pipeline.LINKS.values():
        assert plan.capacity & (plan.capacity - 1) == 0 and plan.burst <= plan.capacity
        assert plan.when_full and plan.record.itemsize % 64 == 0


def test_memory_that_a_link_cannot_lie_in_is_refused():
    def skewed(name, count, dtype):
        octets = aligned(count * dtype.itemsize + 8, np.dtype(np.uint8), touch=False)
        return octets[8:].view(dtype)

    with pytest.raises(ValueError, match="cursor"):
        pipeline.build_market(skewed, SMALL, 1 << 16, 64)


def test_from_packets_to_signals_in_one_pipeline():
    """Every book event comes out as a signal with the market as it was, whoever consumes late."""
    drive = new()
    offered(drive)
    signals = drive.pipeline.inference.signals
    taken = []
    while pipeline.drain(drive.pipeline, pipeline.MARKET_SIDE):
        for index in range(int(signals.cursor[TAIL]), int(signals.cursor[HEAD])):
            taken.append(told(signals.slots[index & (signals.slots.shape[0] - 1)]["market"]))
        signals.cursor[TAIL] = signals.cursor[HEAD]
    assert taken == [told(event) for event in fused().events]
