"""The feed hands packets on in order, as many as there is room for, and comes back."""

import numpy as np

from tests.stages.drive import Drive
from venym import pipeline
from venym.stages import feed


def test_packets_are_handed_on_whole_in_order_and_no_faster_than_taken():
    drive = Drive()
    context, link = drive.pipeline.feed, drive.pipeline.feed.packets
    capacity, burst = link.slots.shape[0], int(context.burst[0])
    rng = np.random.default_rng(3)
    for name in context.found.dtype.names:
        if name != "padding":
            context.found[name] = rng.integers(0, 1 << 30, context.found.shape[0])
    feed.offer(context, 600)
    assert not feed.exhausted(context)
    handed = pipeline.drain(drive.pipeline, pipeline.FEED)
    assert handed == capacity == int(link.cursor[0])
    taken = [link.slots[k].tobytes()[:48] for k in range(capacity)]
    for _ in range(3):
        link.cursor[32] += 100
        more = min(100, 600 - handed)
        assert pipeline.drain(drive.pipeline, pipeline.FEED) == more
        taken += [link.slots[k & (capacity - 1)].tobytes()[:48] for k in range(handed, handed + more)]
        handed += more
    link.cursor[32] = 512
    rest = pipeline.drain(drive.pipeline, pipeline.FEED)
    taken += [link.slots[k & (capacity - 1)].tobytes()[:48] for k in range(handed, handed + rest)]
    assert feed.exhausted(context) and burst < capacity
    assert taken == [context.found[k].tobytes()[:48] for k in range(600)]


def test_nothing_offered_is_nothing_done():
    drive = Drive()
    assert feed.exhausted(drive.pipeline.feed)
    assert pipeline.drain(drive.pipeline, pipeline.FEED) == 0
