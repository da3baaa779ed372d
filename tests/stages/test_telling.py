"""Events of no message: when a channel's books are not whole, and when they are again."""

import pytest

from tests.stages import itch_messages as itch
from tests.stages.drive import mold
from tests.stages.recovery_drive import Recovered, essence, part, stream
from venym import pipeline
from venym.hot.link import HEAD, TAIL
from venym.records import GAPPED, GIVEN_UP, RESTARTED, SNAPSHOT_BEGIN, SNAPSHOT_END, SUSPECT, TRADABLE
from venym.stages import feed

pytestmark = pytest.mark.plain

MESSAGES = [itch.directory(), itch.trading_action("T"), *stream(40)[2:]]


def silent(drive: Recovered) -> list[tuple[int, int]]:
    return [(int(event["instrument"]), int(event["marks"])) for event in drive.events if event["kind"] == 0]


def test_a_gap_and_its_end_are_told_once_to_every_instrument_of_the_channel():
    drive = Recovered(tell_gaps=True, instruments=("OTHER", "TEST", "NEVER"))
    first = [itch.directory("OTHER", 8), *MESSAGES[:2]]
    drive.line(mold("S1", 1, [*first, *MESSAGES[2:5]]))
    assert silent(drive) == []
    drive.line(mold("S1", 9, MESSAGES[7:9]))
    drive.line(mold("S1", 12, MESSAGES[10:11]))
    assert silent(drive) == [(0, GAPPED), (1, GAPPED | TRADABLE)]
    before = drive.events[-1]
    assert [tuple(row) for row in (before["bid_shares"], before["bid_price_e4"])] == [
        tuple(row) for row in (drive.events[-3]["bid_shares"], drive.events[-3]["bid_price_e4"])
    ]
    assert (before["kind"], before["side"], before["reference"], before["shares"], before["price_e4"]) == (
        0,
        0,
        0,
        0,
        0,
    )
    drive.rerequested(mold("S1", 7, MESSAGES[5:7]))
    assert len(silent(drive)) == 2 and all(event["marks"] & GAPPED for event in drive.events[-4:])
    drive.rerequested(mold("S1", 11, MESSAGES[9:10]))
    assert silent(drive)[2:] == [(0, 0), (1, TRADABLE)]
    assert [int(event["ordinal"]) for event in drive.events] == list(range(len(drive.events)))


def test_untold_gaps_leave_the_events_of_the_loss_free_run():
    drive, whole = Recovered(), Recovered()
    for first, end in ((1, 10), (15, 20), (10, 15)):
        drive.line(part(MESSAGES, first, end))
    whole.line(part(MESSAGES, 1, 20))
    assert [(essence(e), e["marks"]) for e in drive.events] == [(essence(e), e["marks"]) for e in whole.events]


def test_a_gap_given_up_ends_with_suspect_books():
    drive = Recovered(tell_gaps=True)
    drive.line(part(MESSAGES, 1, 6))
    drive.line(part(MESSAGES, 8, 9))
    drive.recover(GIVEN_UP, sequence=8)
    assert silent(drive) == [(0, GAPPED | TRADABLE), (0, SUSPECT | TRADABLE)]


def test_a_snapshot_tells_a_gap_then_a_book_set_anew():
    drive = Recovered(tell_gaps=True)
    drive.line(part(MESSAGES, 1, 6))
    drive.recover(SNAPSHOT_BEGIN)
    drive.line(part(MESSAGES, 9, 12))
    drive.recover(SNAPSHOT_END, sequence=11)
    assert silent(drive) == [(0, GAPPED), (0, GAPPED | RESTARTED), (0, 0)]
    drive.recover(SNAPSHOT_BEGIN)
    drive.recover(SNAPSHOT_END, sequence=12)
    assert silent(drive)[3:] == [(0, GAPPED), (0, RESTARTED)]


def test_a_new_session_leaves_empty_books_and_says_so():
    drive = Recovered(tell_gaps=True)
    drive.line(part(MESSAGES, 1, 6))
    drive.line(mold("S2", 1, [itch.add(9, "B", 5, 100)]))
    event = drive.events[-2]
    assert silent(drive) == [(0, RESTARTED)] and not event["bid_shares"].any() and event["state"] == 0


def test_every_event_of_no_message_has_its_market_state():
    drive = Recovered(tell_gaps=True, trading=True)
    drive.line(part(MESSAGES, 1, 6))
    drive.line(part(MESSAGES, 8, 9))
    states = drive.pipeline.decoder.states
    told = [states.slots[k] for k in range(int(states.cursor[TAIL]), int(states.cursor[HEAD]))]
    assert [int(state.ordinal) for state in told] == [int(event["ordinal"]) for event in drive.events]
    assert told[-1].marks == GAPPED | TRADABLE and told[-1].bid_price_e4 == drive.events[-1]["bid_price_e4"][0] > 0


def test_a_full_link_stops_a_sweep_and_it_goes_on_where_it_stopped():
    names = tuple(f"T{k}" for k in range(40))
    drive = Recovered(tell_gaps=True, instruments=names, pace=pipeline.Pace(events=7))
    drive.line(mold("S1", 1, [itch.directory(name, 10 + k) for k, name in enumerate(names)]))
    link = drive.pipeline.decoder.events
    room = 11
    link.cursor[HEAD] += len(link.slots) - room
    made = drive.pipeline.feed
    octets = mold("S1", 43, [itch.add(1, "B", 5, 100, 10, "T0")])
    made.frames[: len(octets)] = memoryview(octets)
    made.found[0].length, made.found[0].framing = len(octets), 0
    feed.offer(made, 1)
    before = int(link.cursor[HEAD])
    steps = []
    for _ in range(4):
        pipeline.lap_market(drive.pipeline, pipeline.BOOKS)
        steps.append(int(link.cursor[HEAD]) - before)
    assert steps == [7, room, room, room]
    link.cursor[TAIL] = before
    drive.drain()
    assert [instrument for instrument, _ in silent(drive)] == list(range(40))
    drive.line(mold("S1", 41, [itch.add(2, "B", 5, 100, 10, "T0"), itch.add(3, "B", 5, 100, 10, "T0")]))
    assert drive.numbers()[-3:] == [41, 42, 43] and len(silent(drive)) == 80
