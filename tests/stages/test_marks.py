"""Exchange time along the market side: what a stage says of events to come holds, and reaches the last link."""

import numpy as np
import pytest

from tests.stages.drive import Drive, block
from tests.stages.itch_messages import START_NS, add, directory, message
from venym import pipeline, records
from venym.hot.link import DONE, HEAD, MARK, TAIL
from venym.records import NEVER_NS
from venym.stages import feed

pytestmark = pytest.mark.plain

LINKS = ("decoder_features", "features_inference", "inference_strategy")


def links(drive):
    made = drive.pipeline
    return made.decoder.events, made.features.rows, made.inference.signals


def marks(drive, word=MARK):
    return [int(link.cursor[word]) for link in links(drive)]


def unread(link):
    head, tail = int(link.cursor[HEAD]), int(link.cursor[TAIL])
    return [link.slots[k & (len(link.slots) - 1)] for k in range(tail, head)]


def trading(**how):
    return Drive(instruments=("TEST",), trading=True, settle_ns=50, **how)


def given(drive, messages, mask=pipeline.MARKET_SIDE):
    octets = b"".join(map(block, messages))
    drive.pipeline.feed.frames[: len(octets)] = np.frombuffer(octets, np.uint8)
    found = drive.pipeline.feed.found[0]
    found.offset, found.length, found.framing, found.sequence = 0, len(octets), records.BLOCKS, drive.sequence
    drive.sequence += len(messages)
    feed.offer(drive.pipeline.feed, 1)
    pipeline.drain(drive.pipeline, mask)


def test_the_clock_never_falls_and_other_symbols_drive_it_too():
    drive = trading()
    times = [10, 30, 20, 30, 40]
    given(drive, [directory()] + [add(k, "B", 100, 10_000, time_ns=START_NS + t) for k, t in enumerate(times, 1)])
    events = unread(links(drive)[2])
    assert [int(e.market.clock_ns) - START_NS for e in events] == [0, 10, 30, 30, 30, 40]
    assert [int(e.market.time_ns) - START_NS for e in events] == [0, *times]
    assert [int(e.market.ordinal) for e in events] == list(range(6))
    given(drive, [add(9, "B", 1, 10_000, locate=8, symbol="OTHER", time_ns=START_NS + 90)])
    assert marks(drive) == [START_NS + 90] * 3


def test_every_event_has_its_market_state_published_with_it():
    drive = trading()
    given(drive, [directory(), add(1, "B", 100, 10_000), add(2, "S", 100, 10_100), message("H", 7, trading_state="T",
          stock="TEST")])  # fmt: skip
    events, states = unread(links(drive)[2]), unread(drive.pipeline.decoder.states)
    assert [int(s.ordinal) for s in states] == [int(e.market.ordinal) for e in events]
    last = states[-1]
    assert (int(last.bid_price_e4), int(last.ask_price_e4), chr(last.state)) == (10_000, 10_100, "T")
    assert last.marks == events[-1].market.marks and last.cause == events[-1].market.cause


def test_a_gateway_that_does_not_take_its_states_stops_the_decoder_and_loses_nothing():
    drive = trading()
    capacity = len(drive.pipeline.decoder.states.slots)
    taken = []

    def take():
        signals = drive.pipeline.inference.signals
        taken.extend(int(s.market.ordinal) for s in unread(signals))
        signals.cursor[TAIL] = signals.cursor[HEAD]

    for _ in range(0, capacity + 3, 100):
        given(drive, [directory()] * 100)
        take()
    assert taken == list(range(capacity))
    drive.pipeline.decoder.states.cursor[TAIL] += 10
    pipeline.drain(drive.pipeline, pipeline.MARKET_SIDE)
    take()
    assert taken == list(range(capacity + 4))


def test_without_an_order_side_nothing_waits_for_it():
    drive = Drive(instruments=("TEST",))
    given(drive, [directory(), add(1, "B", 100, 10_000)])
    assert not unread(drive.pipeline.decoder.states) and not unread(drive.pipeline.feed.venue_packets)
    assert len(unread(links(drive)[2])) == 2


def test_a_packet_goes_to_decoder_and_venue_or_to_none():
    drive = trading()
    venue = drive.pipeline.feed.venue_packets
    given(drive, [directory()], pipeline.BOOKS)
    assert not feed.done(drive.pipeline.feed)  # the venue still reads
    assert [int(p.length) for p in unread(venue)] == [len(block(directory()))]
    for _ in range(len(venue.slots) - 1):
        feed.offer(drive.pipeline.feed, 1)
        pipeline.drain(drive.pipeline, pipeline.BOOKS)
    feed.offer(drive.pipeline.feed, 1)  # the venue lags a whole link behind
    assert pipeline.drain(drive.pipeline, pipeline.BOOKS) == 0
    assert not unread(drive.pipeline.feed.packets)
    venue.cursor[TAIL] = venue.cursor[HEAD]
    assert pipeline.drain(drive.pipeline, pipeline.BOOKS) > 0
    venue.cursor[TAIL] = venue.cursor[HEAD]
    assert feed.done(drive.pipeline.feed)


def test_the_end_of_the_file_lets_time_settle_and_says_so():
    drive = trading()
    given(drive, [directory(), add(1, "B", 100, 10_000, time_ns=START_NS + 7)])
    assert marks(drive, DONE) == [0, 0, 0]
    feed.close(drive.pipeline.feed)
    pipeline.drain(drive.pipeline, pipeline.MARKET_SIDE)
    pipeline.drain(drive.pipeline, pipeline.MARKET_SIDE)
    assert int(drive.pipeline.feed.venue_packets.cursor[MARK]) == NEVER_NS
    assert marks(drive) == marks(drive, DONE) == [START_NS + 57] * 3


def test_at_the_pace_of_latency_a_step_tells_one_event():
    drive = trading(pace=pipeline.Pace(packets=1, events=1))
    given(drive, [directory()] + [add(k, "B", 100, 10_000) for k in range(1, 5)], pipeline.FEED)
    for told_so_far in range(1, 6):
        pipeline.lap_market(drive.pipeline, pipeline.DECODER)
        assert len(unread(drive.pipeline.decoder.events)) == told_so_far


def test_latency_is_read_off_the_record():
    drive = trading()
    given(drive, [directory(), add(1, "B", 100, 10_000)])
    for signal in unread(links(drive)[2]):
        market = signal.market
        assert 0 < market.taken_cycles <= market.decoded_cycles <= signal.featured_cycles <= signal.inferred_cycles
