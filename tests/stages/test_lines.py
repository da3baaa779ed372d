"""What each line brought: first copies, duplicates, how late beside the other line."""

import pytest

from tests.stages.drive import mold
from tests.stages.recovery_drive import Recovered, part, prints

pytestmark = pytest.mark.plain

MESSAGES = prints(60)


def line(drive: Recovered, index: int) -> dict[str, int]:
    held = drive.pipeline.decoder.lines[index]
    return {name: int(held[name]) for name in held.dtype.names if held[name]}


def test_first_copies_duplicates_and_how_late_they_are():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3), 0, received_ns=1_000)
    drive.line(part(MESSAGES, 1, 3), 1, received_ns=1_030)
    drive.line(part(MESSAGES, 3, 5), 1, received_ns=2_000)
    drive.line(part(MESSAGES, 3, 5), 0, received_ns=2_007)
    drive.line(part(MESSAGES, 5, 6), 0, received_ns=3_000)
    drive.line(part(MESSAGES, 5, 6), 1, received_ns=3_090)
    drive.line(part(MESSAGES, 5, 6), 1, received_ns=3_100)
    assert line(drive, 0) == {"packets": 3, "first_copies": 2, "duplicates": 1, "received_ns": 3_000, "sequence": 6,
                              "late": 1, "late_ns_sum": 7, "late_ns_max": 7}  # fmt: skip
    assert line(drive, 1) == {"packets": 4, "first_copies": 1, "duplicates": 3, "received_ns": 3_100, "sequence": 6,
                              "late": 3, "late_ns_sum": 220, "late_ns_max": 100}  # fmt: skip


def test_a_packet_that_is_held_back_is_a_first_copy_once():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3), 0, received_ns=1)
    drive.line(part(MESSAGES, 5, 7), 0, received_ns=5)
    drive.line(part(MESSAGES, 5, 7), 1, received_ns=9)
    drive.line(part(MESSAGES, 3, 5), 1, received_ns=11)
    assert (line(drive, 0)["first_copies"], line(drive, 1)["first_copies"]) == (2, 1)
    assert (line(drive, 1)["duplicates"], line(drive, 1)["late_ns_max"]) == (1, 4)
    assert drive.counters()["old_messages"] == 2


def test_a_line_repeating_itself_is_not_late():
    drive = Recovered()
    for received_ns in (1, 9):
        drive.line(part(MESSAGES, 1, 3), 0, received_ns=received_ns)
    assert line(drive, 0) == {"packets": 2, "first_copies": 1, "duplicates": 1, "received_ns": 9, "sequence": 3}


def test_heartbeats_show_that_a_line_lives_and_foreign_packets_do_not():
    drive = Recovered()
    drive.line(part(MESSAGES, 1, 3), 0, received_ns=1)
    drive.line(mold("S1", 3, []), 0, received_ns=2)
    drive.line(part(MESSAGES, 3, 4, "S2"), 0, received_ns=3)
    drive.line(mold("S1", 3, [], 0xFFFF), 0, received_ns=4)
    drive.rerequested(part(MESSAGES, 1, 3))
    assert line(drive, 0) == {"packets": 3, "first_copies": 1, "received_ns": 4, "sequence": 3}
    assert not line(drive, 1)
