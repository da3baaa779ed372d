"""What the recovery brings: snapshots spliced in exactly once, gaps given up, records that nothing waits for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.mold import NaiveMold
from tests.stages import itch_messages as itch
from tests.stages.drive import block, mold
from tests.stages.recovery_drive import Recovered, essence, part, prints, stream
from tests.stages.test_sequence import assert_same
from venym import pipeline, records
from venym.hot.jit import PLAIN
from venym.records import GIVEN_UP, REREQUESTED, SNAPSHOT_BEGIN, SNAPSHOT_BLOCKS, SNAPSHOT_END
from venym.stages.decoder_words import FIRST_SEEN, FROM_ONE, FROM_SNAPSHOT

pytestmark = pytest.mark.plain

MESSAGES = stream(60)
PRINTS = prints(60)
LAST = len(MESSAGES)
EXAMPLES = 40 if PLAIN else 15


def snapshot_of(end: int) -> list[bytes]:
    """A directory, and the orders alive before message `end`, as a snapshot server tells them."""
    alive: dict[int, bytes] = {}
    for number, message in enumerate(MESSAGES[1 : end - 1], 2):
        if message[:1] == b"A":
            alive[number] = message
        else:
            del alive[number - 2]
    return [MESSAGES[0], *alive.values()]


def blocks(messages: list[bytes]) -> bytes:
    return b"".join(map(block, messages))


def books(drive: Recovered) -> list[object]:
    return [drive.ladder(7, side) for side in "BS"] + [drive.queue(7, "B", 100_000), drive.queue(7, "S", 100_001)]


def whole() -> Recovered:
    drive = Recovered()
    drive.line(part(MESSAGES, 1, LAST + 1))
    return drive


def test_a_record_that_takes_several_steps_is_taken_once():
    drive = Recovered(pace=pipeline.LIVE)
    drive.line(part(MESSAGES, 1, 3))
    drive.line(part(MESSAGES, 12, 14))
    drive.rerequested(part(MESSAGES, 3, 8))
    drive.rerequested(part(MESSAGES, 8, 12))
    assert drive.numbers() == list(range(1, 14))
    assert "malformed_records" not in drive.counters() and drive.stream == "IN_SYNC"


def test_a_snapshot_is_spliced_into_the_live_messages_exactly_once():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    drive.line(part(MESSAGES, 20, 25))
    drive.recover(SNAPSHOT_BEGIN)
    assert (drive.stream, drive.ladder(7, "B"), drive.held) == ("SNAPSHOT", [], 1)
    drive.line(part(MESSAGES, 25, 30))
    drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot_of(27)[:4]))
    drive.line(part(MESSAGES, 30, 40))
    drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot_of(27)[4:]))
    assert drive.numbers() == [1, 2] and drive.stream == "SNAPSHOT"
    drive.recover(SNAPSHOT_END, sequence=27)
    assert (drive.stream, int(drive.channel.expected), drive.held) == ("IN_SYNC", 40, 0)
    drive.line(part(MESSAGES, 40, LAST + 1))
    assert drive.numbers() == [1, 2, *range(27, LAST + 1)]
    assert books(drive) == books(whole()) and not drive.suspect(7)
    counted = drive.counters()
    assert counted["snapshot_messages"] == len(snapshot_of(27)) and counted["snapshots"] == 1
    assert counted["messages"] == 2 + len(snapshot_of(27)) + LAST - 26
    assert "unknown_references" not in counted and "duplicate_references" not in counted


def test_every_instrument_of_the_channel_is_told_that_its_book_was_set_anew():
    drive = Recovered(instruments=("GONE", "TEST", "NEVER"))
    drive.line(
        mold("S1", 1, [itch.directory("TEST", 7), itch.directory("GONE", 8), itch.add(9, "B", 5, 100, 8, "GONE")])
    )
    told = len(drive.events)
    drive.recover(SNAPSHOT_BEGIN)
    drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot_of(9)))
    assert len(drive.events) == told
    drive.recover(SNAPSHOT_END, sequence=9)
    gone, test = drive.events[told:]
    assert [int(event["instrument"]) for event in (gone, test)] == [0, 1]
    for event in (gone, test):
        assert (int(event["kind"]), int(event["marks"]), int(event["sequence"])) == (0, records.RESTARTED, 9)
        assert int(event["time_ns"]) == int(event["clock_ns"]) == itch.START_NS
    assert test["bid_shares"][0] == drive.ladder(7, "B")[0][1] > 0
    assert not gone["bid_shares"].any()


def test_what_a_snapshot_leaves_missing_is_told_and_asked_for():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 20))
    drive.recover(SNAPSHOT_BEGIN)
    drive.line(part(MESSAGES, 22, 24))
    drive.line(part(MESSAGES, 26, 30))
    drive.told()
    drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot_of(11)))
    drive.recover(SNAPSHOT_END, sequence=11)
    assert drive.stream == "GAP"
    assert drive.told() == [("PROGRESS", 11, 22, 11), ("HOLE", 11, 22, 11), ("HOLE", 24, 26, 11)]
    drive.rerequested(part(MESSAGES, 11, 22))
    drive.rerequested(part(MESSAGES, 24, 26))
    assert drive.stream == "IN_SYNC" and drive.numbers()[-19:] == list(range(11, 30))


def test_a_channel_that_begins_with_a_snapshot_waits_for_it():
    drive = Recovered(start=FROM_SNAPSHOT)
    drive.line(part(MESSAGES, 10, 20))
    assert (drive.stream, drive.held, drive.told()) == ("BACKFILL", 1, [("SESSION", 0, 0, 0)])
    drive.recover(SNAPSHOT_BEGIN)
    drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot_of(15)))
    drive.recover(SNAPSHOT_END, sequence=15)
    assert drive.stream == "IN_SYNC" and drive.numbers() == list(range(15, 20))


def test_a_snapshot_may_come_before_the_first_packet_and_tells_the_session():
    drive = Recovered(start=FROM_SNAPSHOT)
    drive.recover(SNAPSHOT_BEGIN, session="")
    assert (drive.stream, drive.counters()["ignored_records"]) == ("UNBEGUN", 1)
    drive.recover(SNAPSHOT_BEGIN)
    drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot_of(15)))
    drive.recover(SNAPSHOT_END, sequence=15)
    drive.line(part(MESSAGES, 10, 20))
    assert drive.stream == "IN_SYNC" and drive.numbers() == list(range(15, 20))


def test_a_new_session_ends_a_snapshot():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 9))
    drive.recover(SNAPSHOT_BEGIN)
    drive.line(part(MESSAGES, 1, 3, "S2"))
    drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot_of(9)))
    drive.recover(SNAPSHOT_END, sequence=9, session="")
    assert (drive.stream, drive.numbers()[-2:], int(drive.channel.expected)) == ("IN_SYNC", [1, 2], 3)
    assert drive.counters()["ignored_records"] == 2


def test_what_is_given_up_is_missed_and_leaves_the_books_suspect():
    drive = Recovered()
    drive.line(part(PRINTS, 1, 6))
    drive.line(part(PRINTS, 9, 12))
    drive.told()
    drive.recover(GIVEN_UP, sequence=9)
    assert drive.stream == "IN_SYNC" and drive.suspect(7)
    assert drive.numbers() == [*range(1, 6), *range(9, 12)]
    assert (drive.counters()["gaps"], drive.counters()["missed_messages"]) == (1, 3)
    drive.recover(GIVEN_UP, sequence=12)
    assert drive.counters()["ignored_records"] == 1 and drive.counters()["gaps"] == 1


def test_a_channel_that_waits_for_a_snapshot_may_be_told_to_do_without():
    drive = Recovered(start=FROM_SNAPSHOT)
    drive.line(part(MESSAGES, 4, 6))
    drive.recover(GIVEN_UP, sequence=1)
    assert (drive.stream, drive.told()[1:]) == ("GAP", [("PROGRESS", 1, 4, 1), ("HOLE", 1, 4, 1)])
    drive.rerequested(part(MESSAGES, 1, 4))
    assert drive.stream == "IN_SYNC" and not drive.suspect(7) and "missed_messages" not in drive.counters()


def test_a_re_requested_packet_never_changes_the_session():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    drive.rerequested(part(MESSAGES, 1, 3, "S2"))
    drive.rerequested(mold("S1", 3, [], 0xFFFF))
    assert drive.stream == "IN_SYNC" and drive.counters()["foreign_sessions"] == 1
    drive.rerequested(part(MESSAGES, 2, 5))
    assert drive.numbers() == [1, 2, 3, 4] and int(drive.channel.session_high) == int.from_bytes(b"S1      ", "big")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [*((REREQUESTED, {"channel": channel}) for channel in (-1, 4, 2**31 - 1)),
     *((REREQUESTED, {"length": length}) for length in (-1, 2009, 19)), (0, {}), (6, {}), (-1, {})],
)  # fmt: skip
def test_an_impossible_record_is_counted_and_has_no_effect(kind, fields):
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    drive.recover(kind, part(MESSAGES, 3, 5), **fields)
    assert (drive.numbers(), drive.counters()["malformed_records"]) == ([1, 2], 1)
    drive.rerequested(part(MESSAGES, 3, 5))
    assert drive.numbers() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", [REREQUESTED, SNAPSHOT_BLOCKS, SNAPSHOT_END, GIVEN_UP])
def test_a_record_that_nothing_waits_for_is_counted_and_has_no_effect(kind):
    drive = Recovered()
    drive.recover(kind, part(MESSAGES, 1, 3), sequence=7)
    assert (drive.stream, drive.counters()["ignored_records"]) == ("UNBEGUN", 1)
    drive.line(part(MESSAGES, 1, 3))
    if kind != REREQUESTED:
        drive.recover(kind, part(MESSAGES, 1, 3), sequence=7, session="S2")
        assert (drive.stream, int(drive.channel.expected)) == ("IN_SYNC", 3)
        assert drive.counters()["ignored_records"] == 2


@pytest.mark.parametrize("sequence", [0, -1, 2**63 - 1])
def test_a_snapshot_cannot_end_where_no_message_is(sequence):
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    drive.recover(SNAPSHOT_BEGIN)
    drive.recover(SNAPSHOT_END, sequence=sequence)
    assert (drive.stream, drive.counters()["ignored_records"]) == ("SNAPSHOT", 1)


def test_lines_and_recovery_take_turns():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 2))
    for number in range(10, 20):
        drive.put(REREQUESTED, part(MESSAGES, number, number + 1))
    drive.line(part(MESSAGES, 2, 3))
    assert int(drive.channel.known) == 20
    link = drive.pipeline.decoder.recovered
    assert link.cursor[0] == link.cursor[32] == 10
    drive.rerequested(part(MESSAGES, 3, 10))
    assert drive.numbers() == list(range(1, 20)) and drive.stream == "IN_SYNC"


@st.composite
def work(draw):
    """Packets of the line, in order with some lost, and records of the recovery in between."""
    made, first = [], 1
    while first <= LAST:
        end = min(LAST + 1, first + draw(st.integers(1, 6)))
        if draw(st.integers(0, 5)):
            made.append(("line", first, end))
        first = end
        kind = draw(st.sampled_from(["", "", "", "begin", "blocks", "end", "rerequest", "give up"]))
        if kind:
            at = draw(st.integers(1, min(LAST, first + 3)))
            made.append((kind, at, min(LAST + 1, at + 4)))
    return made


def both(drive: Recovered, twin: NaiveMold, kind: str, first: int, end: int) -> None:
    if kind == "line":
        drive.line(part(PRINTS, first, end))
        twin.packet(part(PRINTS, first, end))
    elif kind == "rerequest":
        drive.rerequested(part(PRINTS, first, end))
        twin.packet(part(PRINTS, first, end), by_line=False)
    elif kind == "begin":
        drive.recover(SNAPSHOT_BEGIN, session="" if twin.state != "UNBEGUN" else "S1")
        if twin.state == "UNBEGUN":
            twin.begin(b"S1".ljust(10), 0)
        twin.begin_snapshot()
    elif kind == "blocks":
        drive.recover(SNAPSHOT_BLOCKS, blocks(PRINTS[first - 1 : end - 1]))
        twin.snapshot(PRINTS[first - 1 : end - 1])
    elif kind == "end":
        drive.recover(SNAPSHOT_END, sequence=first)
        twin.end_snapshot(first)
    else:
        drive.recover(GIVEN_UP, sequence=first)
        twin.give_up(first)


@settings(max_examples=EXAMPLES, deadline=None)
@given(work(), st.sampled_from([FIRST_SEEN, FROM_ONE, FROM_SNAPSHOT]))
def test_any_order_of_packets_and_records_is_the_twins(made, start):
    drive, twin = Recovered(start=start), NaiveMold(start)
    for kind, first, end in made:
        both(drive, twin, kind, first, end)
        assert_same(drive, twin)


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(st.integers(2, LAST), st.integers(0, 8), st.integers(1, 6), st.sampled_from([FIRST_SEEN, FROM_SNAPSHOT]))
def test_wherever_a_snapshot_is_spliced_in_the_books_are_those_of_the_whole_day(end, ahead, size, start):
    """It is of the time before message `end`; the live messages go on from a little before or after that."""
    drive = Recovered(start=start)
    live = min(LAST, max(2, end - 4 + ahead))
    drive.line(part(MESSAGES, live, live + 1))
    drive.recover(SNAPSHOT_BEGIN)
    told = len(drive.events)
    snapshot = snapshot_of(end)
    for at in range(0, len(snapshot), size):
        first = live + 1 + at
        drive.line(part(MESSAGES, first, min(LAST + 1, first + size))) if first <= LAST else None
        drive.recover(SNAPSHOT_BLOCKS, blocks(snapshot[at : at + size]))
    drive.recover(SNAPSHOT_END, sequence=end)
    first = int(drive.channel.expected)
    while first <= LAST:
        drive.rerequested(part(MESSAGES, first, min(LAST + 1, first + size)))
        first = int(drive.channel.expected)
    assert drive.stream == "IN_SYNC" and books(drive) == books(whole())
    events = [event for event in drive.events[told:] if event["kind"]]
    assert [essence(event) for event in events] == [essence(event) for event in whole().events[end - 1 :]]
