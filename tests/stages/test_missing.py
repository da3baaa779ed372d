"""What the control plane hears when it listens late, and when there is no room to hold back."""

import pytest

from tests.stages.drive import SMALL, Drive, mold, zeroed
from tests.stages.recovery_drive import Recovered, part, prints
from venym import pipeline
from venym.hot.link import HEAD, TAIL
from venym.stages import decoder

pytestmark = pytest.mark.plain

MESSAGES = prints(1_100)
CAPACITY = pipeline.LINKS["decoder_recovery"].capacity


def fill_link(drive: Recovered, left: int) -> None:
    """As if the control plane had not listened: room for `left` records."""
    cursor = drive.pipeline.decoder.missing.cursor
    cursor[HEAD] = max(cursor[HEAD], cursor[TAIL] + CAPACITY - left)
    cursor[TAIL] = cursor[HEAD] - (CAPACITY - left)


def empty_link(drive: Recovered) -> None:
    link = drive.pipeline.decoder.missing
    link.cursor[TAIL] = link.cursor[HEAD]


def test_an_overflow_is_one_range_that_grows_and_is_told_when_the_rest_was_read():
    drive = Recovered(hold=2)
    for first, end in ((1, 3), (4, 5), (6, 7)):
        drive.line(part(MESSAGES, first, end))
    assert drive.told()[1:] == [("HOLE", 3, 4, 3), ("HOLE", 5, 6, 3)]
    for first in range(7, 20):
        drive.line(part(MESSAGES, first, first + 1))
    assert drive.told() == [("OVERFLOW", 7, 8, 3)]
    assert drive.told_later() == [("OVERFLOW", 7, 20, 3)]
    drive.line(part(MESSAGES, 20, 21))
    assert drive.told() == [("OVERFLOW", 7, 21, 3)]
    drive.line(part(MESSAGES, 25, 26))
    assert drive.told() == [("HOLE", 21, 25, 3)]
    assert drive.told_later() == [("OVERFLOW", 7, 26, 3)]
    assert drive.counters()["overflow_messages"] == 15 and int(drive.channel.known) == 26
    drive.rerequested(part(MESSAGES, 3, 26))
    assert drive.stream == "IN_SYNC" and drive.numbers() == list(range(1, 26))
    assert drive.told()[-1] == ("PROGRESS", 26, 26, 26)


def test_an_overflow_ends_where_something_is_held_again():
    drive = Recovered(hold=1)
    for first, end in ((1, 3), (4, 5), (5, 6), (6, 8)):
        drive.line(part(MESSAGES, first, end))
    drive.line(part(MESSAGES, 3, 4))
    assert drive.held == 0 and int(drive.channel.expected) == 5
    drive.told()
    drive.line(part(MESSAGES, 9, 10))
    assert drive.told() == [("HOLE", 8, 9, 5), ("OVERFLOW", 5, 8, 5)]
    drive.line(part(MESSAGES, 10, 11))
    assert drive.told() == [("OVERFLOW", 10, 11, 5)]


def test_an_overflow_is_forgotten_with_its_session_and_when_all_of_it_has_come():
    drive = Recovered(hold=1)
    for first, end in ((1, 3), (4, 5), (5, 6), (6, 8)):
        drive.line(part(MESSAGES, first, end))
    drive.rerequested(part(MESSAGES, 3, 8))
    drive.line(mold("S1", 9, []))
    drive.line(part(MESSAGES, 12, 13))
    drive.told()
    drive.line(part(MESSAGES, 13, 14))
    assert drive.told() == [("OVERFLOW", 13, 14, 8)]
    drive.line(part(MESSAGES, 14, 15))
    drive.line(part(MESSAGES, 1, 3, "S2"))
    assert [kind for kind, *_ in drive.told() + drive.told_later()][-1] == "SESSION"


def test_a_link_that_was_full_hears_how_things_stand_when_it_has_room():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    fill_link(drive, 0)
    drive.line(part(MESSAGES, 5, 6))
    drive.line(part(MESSAGES, 8, 9))
    drive.line(part(MESSAGES, 3, 4))
    assert drive.counters()["told_late"] == 1
    empty_link(drive)
    assert drive.told_later() == [("PROGRESS", 4, 5, 4), ("HOLE", 4, 5, 4), ("HOLE", 6, 8, 4)]
    drive.line(part(MESSAGES, 4, 8))
    assert drive.told() == [("PROGRESS", 9, 9, 9)]
    assert drive.told_later() == []


def test_a_session_and_its_end_are_told_late_too():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3))
    fill_link(drive, 0)
    drive.line(part(MESSAGES, 1, 3, "S2"))
    drive.line(mold("S2", 3, [], 0xFFFF))
    empty_link(drive)
    assert drive.told_later() == [("SESSION", 3, 3, 3), ("PROGRESS", 3, 3, 3), ("ENDED", 3, 3, 3)]


def test_more_holes_than_the_link_has_room_for_are_told_as_one_to_the_last_number_known():
    drive = Recovered(hold=600)
    drive.line(part(MESSAGES, 1, 2))
    fill_link(drive, 0)
    for number in range(3, 1_000, 2):
        drive.line(part(MESSAGES, number, number + 1))
    fill_link(drive, decoder.TRUTH_MAX + 4)
    link = drive.pipeline.decoder.missing
    before = int(link.cursor[HEAD])
    pipeline.drain(drive.pipeline, pipeline.BOOKS)
    link.cursor[TAIL] = before
    told = drive.told()
    assert len(told) <= decoder.TRUTH_MAX + 4
    assert told[0] == ("PROGRESS", 2, 3, 2)
    holes = [(first, end) for _, first, end, _ in told[1:]]
    assert holes[0] == (2, 3) and holes[-1][1] == 1_000
    missing = set(range(2, 1_000, 2))
    assert missing <= {number for first, end in holes for number in range(first, end)}


def test_a_link_too_small_for_the_truth_is_refused():
    drive = Drive(SMALL)
    made = drive.pipeline.decoder
    small = made.missing._replace(slots=made.missing.slots[:4])
    links = (made.packets, made.events, made.states, made.intents, small, made.recovered)
    with pytest.raises(ValueError, match="more than 4 records"):
        decoder.build(zeroed, *links, made.frames, SMALL)
