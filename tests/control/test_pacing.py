"""How fast exchange time goes by: the decoder is never let past it."""

import numpy as np
import pytest

from tests.stages.drive import Drive, block, mold
from tests.stages.itch_messages import START_NS, add, directory
from venym import metrics, pipeline, records
from venym.control.pacing import Pacer, first_time_ns, parse_speed
from venym.stages import feed

SECOND_NS = 1_000_000_000
MESSAGES = [directory()] + [add(k, "B", 100, 10_000, time_ns=START_NS + k * SECOND_NS) for k in range(1, 11)]


@pytest.mark.parametrize(("text", "speed"), [("max", None), ("realtime", 1.0), ("60", 60.0), ("0.25", 0.25)])
def test_a_speed_is_max_realtime_or_a_number(text, speed):
    assert parse_speed(text) == speed


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "fast", "1x"])
def test_what_is_no_speed_is_refused(text):
    with pytest.raises(ValueError, match="no speed"):
        parse_speed(text)


def laid(drive: Drive, octets: bytes, framing: int) -> np.ndarray:
    """One packet of these octets, not yet offered."""
    found = drive.pipeline.feed.found
    drive.pipeline.feed.frames[: len(octets)] = np.frombuffer(octets, np.uint8)
    found[0].offset, found[0].length, found[0].framing, found[0].sequence = 0, len(octets), framing, 1
    return found[:1]


@pytest.mark.parametrize("framing", [records.BLOCKS, records.MOLDUDP64])
def test_time_begins_with_the_first_message_that_bears_one(framing):
    drive = Drive()
    messages = [b"", b"~", add(1, "B", 100, 10_000, time_ns=77), add(2, "B", 100, 10_000, time_ns=99)]
    octets = b"".join(map(block, messages)) if framing == records.BLOCKS else mold("S", 1, messages)
    assert first_time_ns(drive.pipeline.feed.frames, laid(drive, octets, framing)) == 77


def test_packets_without_messages_begin_no_time():
    drive = Drive()
    assert first_time_ns(drive.pipeline.feed.frames, laid(drive, mold("S", 1, []), records.MOLDUDP64)) is None
    assert first_time_ns(drive.pipeline.feed.frames, laid(drive, b"", records.BLOCKS)) is None


@pytest.mark.parametrize(("speed", "after_seconds"), [(1.0, 5.0), (2.0, 2.5), (0.5, 10.0)])
def test_messages_come_when_their_time_has(speed, after_seconds):
    drive = Drive()
    now = [0]
    pacer = Pacer(drive.pipeline.decoder, speed, lambda: now[0])
    packets = laid(drive, b"".join(map(block, MESSAGES)), records.BLOCKS)
    feed.offer(drive.pipeline.feed, 1)
    pipeline.drain(drive.pipeline, pipeline.BOOKS)
    assert drive.counters().get("messages", 0) == 0  # not before the clock was started
    pacer.begin(first_time_ns(drive.pipeline.feed.frames, packets))
    now[0] = int(after_seconds * SECOND_NS)
    pacer.update()
    pipeline.drain(drive.pipeline, pipeline.BOOKS)
    assert drive.counters()["messages"] == 1 + 5
    now[0] *= 3
    pacer.update()
    pipeline.drain(drive.pipeline, pipeline.BOOKS)
    assert drive.pipeline.decoder.counters[metrics.MESSAGES] == len(MESSAGES)


def test_without_a_speed_nothing_waits():
    drive = Drive()
    pacer = Pacer(drive.pipeline.decoder, None)
    pacer.begin(START_NS)
    laid(drive, b"".join(map(block, MESSAGES)), records.BLOCKS)
    feed.offer(drive.pipeline.feed, 1)
    pacer.update()
    drive.drain()
    assert drive.counters()["messages"] == len(MESSAGES)
