"""Holes and how they close: states, what is told, what is applied; two lines, loss, and re-requests beside the twin."""

from itertools import groupby, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.mold import NaiveMold, ranges
from tests.stages.drive import mold
from tests.stages.recovery_drive import Recovered, essence, part, prints, stream
from venym import records
from venym.hot.jit import PLAIN
from venym.stages.decoder_words import FIRST_SEEN, FROM_ONE

pytestmark = pytest.mark.plain

MESSAGES, PRINTS = stream(60), prints(60)
EXAMPLES = 25


def test_a_channel_is_in_sync_only_when_the_last_hole_has_closed():
    drive = Recovered()
    seen = []
    for first, end in ((1, 3), (6, 9), (9, 11), (3, 4), (4, 6)):
        drive.line(part(MESSAGES, first, end))
        seen.append((drive.stream, int(drive.channel.expected), drive.told()))
    assert seen == [
        ("IN_SYNC", 3, [("SESSION", 0, 0, 0)]),
        ("GAP", 3, [("HOLE", 3, 6, 3)]),
        ("GAP", 3, []),
        ("GAP", 4, [("PROGRESS", 4, 6, 4)]),
        ("IN_SYNC", 11, [("PROGRESS", 11, 11, 11)]),
    ]
    assert drive.numbers() == list(range(1, 11)) and drive.held == 0
    assert not drive.suspect(7) and "gaps" not in drive.counters()


def test_the_end_of_a_session_is_not_65535_messages_and_what_is_late_still_counts():
    drive = Recovered()
    for datagram in (part(MESSAGES, 1, 4), mold("S1", 4, [], 0xFFFF), part(MESSAGES, 4, 6), mold("S1", 6, [], 0xFFFF)):
        drive.line(datagram)
    assert drive.numbers() == [1, 2, 3, 4, 5]
    assert (int(drive.channel.expected), drive.stream) == (6, "ENDED")
    assert drive.told() == [("SESSION", 0, 0, 0), ("ENDED", 4, 4, 4)]
    assert "holes" not in drive.counters() and "gaps" not in drive.counters()


def test_a_session_that_ends_above_a_hole_has_ended_when_it_is_filled():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    drive.line(mold("S1", 6, [], 0xFFFF))
    assert (drive.stream, drive.told()[1:]) == ("GAP", [("HOLE", 3, 6, 3)])
    drive.rerequested(part(MESSAGES, 3, 6))
    assert (drive.stream, drive.told()) == ("ENDED", [("PROGRESS", 6, 6, 6), ("ENDED", 6, 6, 6)])
    drive.line(part(MESSAGES, 8, 9))
    assert drive.stream == "GAP"
    drive.line(part(MESSAGES, 6, 8))
    assert drive.stream == "ENDED" and drive.numbers() == list(range(1, 9))


def test_sessions_are_kept_apart_and_a_new_one_begins_with_1():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 4))
    drive.line(part(MESSAGES, 4, 5, "S2"))
    assert drive.counters()["foreign_sessions"] == 1 and drive.numbers() == [1, 2, 3]
    drive.line(part(MESSAGES, 4, 5))
    drive.line(part(MESSAGES, 8, 9))
    drive.line(part(MESSAGES, 1, 3, "S3"))
    drive.line(part(MESSAGES, 3, 4, "S3"))
    assert drive.numbers() == [1, 2, 3, 4, 1, 2, 3] and drive.held == 0
    assert drive.ladder(7, "B") == [(100_000, 2, 1)] and drive.ladder(7, "S") == [(100_001, 3, 1)]
    assert (drive.stream, drive.told()[-1]) == ("IN_SYNC", ("SESSION", 1, 1, 1))


def test_a_heartbeat_reveals_a_hole():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    drive.line(mold("S1", 3, []))
    assert drive.stream == "IN_SYNC"
    drive.line(mold("S1", 5, []))
    assert (drive.stream, drive.told()[1:]) == ("GAP", [("HOLE", 3, 5, 3)])
    drive.rerequested(part(MESSAGES, 3, 5))
    assert drive.stream == "IN_SYNC"


def test_what_is_expected_first_is_a_policy():
    seen, one = Recovered(), Recovered(start=FROM_ONE)
    for drive in (seen, one):
        drive.line(part(MESSAGES, 4, 6))
    assert (seen.stream, seen.numbers()) == ("IN_SYNC", [4])  # 5 deletes an order that did not come
    assert (one.stream, one.told()) == ("BACKFILL", [("SESSION", 1, 1, 1), ("HOLE", 1, 4, 1)])
    one.rerequested(part(MESSAGES, 1, 4))
    assert (one.stream, one.numbers()) == ("IN_SYNC", [1, 2, 3, 4, 5])


def test_the_two_lines_of_a_channel_are_told_at_build_and_no_other_joins():
    drive = Recovered(channels=2)
    drive.line(part(MESSAGES, 1, 3), 0)
    drive.line(mold("S1", 1, MESSAGES[:1]), 2)  # of the same name, on the other channel's line
    drive.line(part(MESSAGES, 3, 4), 1)
    channels = drive.pipeline.decoder.market.channels
    assert [int(channel.expected) for channel in channels[:2]] == [4, 2]


def test_a_packet_that_ends_inside_a_message_is_held_as_far_as_it_is_whole():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    drive.line(part(MESSAGES, 4, 8)[:-3])
    assert drive.counters()["truncated"] == 1 and int(drive.channel.known) == 7
    drive.line(part(MESSAGES, 3, 4))
    assert drive.numbers() == list(range(1, 7)) and drive.stream == "IN_SYNC"


def test_without_a_hold_back_a_gap_is_given_up_and_nobody_is_told():
    drive = Recovered(hold=0)
    drive.line(part(MESSAGES, 1, 3))
    drive.line(part(MESSAGES, 6, 8))
    assert drive.stream == "IN_SYNC" and drive.suspect(7) and drive.told() == []
    assert (drive.counters()["gaps"], drive.counters()["missed_messages"]) == (1, 3)


def test_a_start_that_needs_a_hold_back_is_refused_without_one():
    with pytest.raises(ValueError, match="hold-back"):
        Recovered(hold=0, start=FROM_ONE)
    with pytest.raises(ValueError, match="channels_max"):
        Recovered(channels=5)


LAST = len(MESSAGES)


@st.composite
def packets(draw, session: str = "S1", messages: list[bytes] = MESSAGES):
    """What two lines and a hasty re-request bring of a day: every packet up to twice, or never, in nearly any order."""
    sent, first = [], 1
    while first <= LAST:
        end = min(LAST + 1, first + draw(st.integers(1, 6)))
        sent.append((first, end))
        first = end
    came = []
    for line in (0, 1, None):
        for place, (first, end) in enumerate(sent):
            for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2] if line is not None else [0, 0, 0, 1]))):
                low = max(1, first - draw(st.sampled_from([0, 0, 0, 2])))  # overlaps the one before
                came.append((place + draw(st.integers(0, 6)), line, part(messages, low, end, session)))
        for place in draw(st.lists(st.integers(0, len(sent) - 1), max_size=2)):
            came.append((place, line, mold(session, sent[place][0], [])))
    return [(line, datagram) for _, line, datagram in sorted(came, key=lambda found: found[0])]


RUN = 1 if PLAIN else 40  # packets between two looks; compiled, a call costs more than what it does


def drive_both(drive: Recovered, twin: NaiveMold, came: list[tuple[int | None, bytes]]) -> None:
    for by_line, found in groupby(came, lambda pair: pair[0] is not None):
        held = list(found)
        for first in range(0, len(held), RUN if by_line else 1):
            run = held[first : first + (RUN if by_line else 1)]
            if by_line:
                drive.brought([(line or 0, datagram) for line, datagram in run])
            else:
                drive.rerequested(run[0][1])
            for _, datagram in run:
                twin.packet(datagram, by_line)
            assert_same(drive, twin)


def assert_same(drive: Recovered, twin: NaiveMold) -> None:
    assert drive.stream == twin.state
    if twin.state == "UNBEGUN":
        return
    assert (int(drive.channel.expected), int(drive.channel.known)) == (twin.expected, twin.known)
    assert drive.told() == twin.told
    twin.told.clear()
    assert drive.numbers() == [number for _, number, _ in twin.applied if number is not None]


def fill(drive: Recovered, twin: NaiveMold, session: str, messages: list[bytes], draw: st.DataObject) -> None:
    """Answer every hole, in pieces, until the channel is in sync."""
    datagram = mold(session, LAST + 1, [], 0xFFFF)
    drive_both(drive, twin, [(0, datagram)])
    while twin.state != "ENDED":
        first, end = ranges(twin.missing())[0]
        end = min(end, first + draw.draw(st.integers(1, 9)))
        drive_both(drive, twin, [(None, part(messages, first, end, session))])


@settings(max_examples=EXAMPLES, deadline=None)
@given(packets(), st.sampled_from([FIRST_SEEN, FROM_ONE]), st.data())
def test_whatever_is_lost_repeated_or_late_every_message_is_applied_once_and_in_order(came, start, data):
    came.insert(0, (0, part(MESSAGES, 1, 2)))
    drive, twin = Recovered(start=start), NaiveMold(start)
    drive_both(drive, twin, came)
    fill(drive, twin, "S1", MESSAGES, data)
    whole = Recovered()
    whole.line(part(MESSAGES, 1, LAST + 1))
    assert [essence(event) for event in drive.events] == [essence(event) for event in whole.events]
    assert drive.numbers() == list(range(1, LAST + 1))
    assert drive.held == 0 and "overflow_messages" not in drive.counters()


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(packets("S1", PRINTS), packets("S2", PRINTS), st.integers(0, 20), st.booleans(), st.data())
def test_sessions_that_overlap_are_never_mixed(came, after, early, ends, data):
    """The next session's packets begin among those of the present one: before its number 1 they are foreign, and what
    is late of the old one is foreign after it. An end of session that was seen lets it begin anywhere."""
    drive, twin = Recovered(), NaiveMold()
    if ends:
        came.append((1, mold("S1", LAST + 1, [], 0xFFFF)))
    mixed = (
        came[:-early] + [pair for pairs in zip(came[-early:], after, strict=False) for pair in pairs] if early else came
    )
    drive_both(drive, twin, mixed + after)
    drive_both(drive, twin, [(0, part(PRINTS, 1, 2, "S2"))])
    fill(drive, twin, "S2", PRINTS, data)
    assert [number for session, number, _ in twin.applied if session[:2] == b"S2"] == list(range(1, LAST + 1))


@settings(max_examples=EXAMPLES // 2, deadline=None)
@given(packets(), st.integers(1, 6), st.data())
def test_a_small_hold_back_stays_within_its_bounds_and_nothing_is_lost_but_asked_for(came, hold, data):
    drive = Recovered(hold=hold, octets=data.draw(st.sampled_from([64, 128, 512])))
    told: set[int] = set()
    drive.line(part(MESSAGES, 1, 2))
    came, known = [*came, (0, mold("S1", LAST + 1, []))], 2
    for first in range(0, len(came), RUN // 4 or 1):
        run = came[first : first + (RUN // 4 or 1)]
        for line, datagram in run:
            if line is None:
                drive.put(records.REREQUESTED, datagram)
            sequence, count = int.from_bytes(datagram[10:18], "big"), int.from_bytes(datagram[18:20], "big")
            known = max(known, sequence + count)
        drive.brought([(line, datagram) for line, datagram in run if line is not None])
        assert drive.held <= hold
        for kind, first, end, expected in drive.told() + drive.told_later():
            if kind in ("HOLE", "OVERFLOW"):
                assert expected <= first < end <= known
                told |= set(range(first, end))
        untold = set(range(int(drive.channel.expected), known)) - told
        assert untold <= {n for first, end in held_ranges(drive) for n in range(first, end)}
    while drive.stream != "IN_SYNC":
        first = int(drive.channel.expected)
        drive.rerequested(part(MESSAGES, first, min(LAST + 1, first + data.draw(st.integers(1, 9)))))
    assert drive.numbers() == list(range(1, LAST + 1)) and drive.held == 0


def held_ranges(drive: Recovered) -> list[tuple[int, int]]:
    """[first, end) of every chunk, walked from the first to the last."""
    holding, made = drive.pipeline.decoder.holding, []
    index = int(holding.queues[0].first)
    while index:
        chunk = holding.chunks[index]
        made.append((int(chunk.sequence), int(chunk.end)))
        index = int(chunk.next)
    assert made == sorted(made) and all(a[1] <= b[0] for a, b in pairwise(made))
    assert len(made) == drive.held
    return made
