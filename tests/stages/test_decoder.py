"""Packets to messages to events: sequence, sessions, lines, truncation, and what an event says."""

import pytest

from tests.stages import itch_messages as itch
from tests.stages.drive import SMALL, Drive, block, mold
from venym import records
from venym.stages import decoder
from venym.stages.book import TableFull

DIRECTORY = itch.directory()


def adds(first: int, last: int) -> list[bytes]:
    return [itch.add(k, "B", 1, 100_000) for k in range(first, last + 1)]


def test_messages_in_sequence_are_applied_once():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 3)), mold("S1", 4, adds(4, 5))])
    assert drive.ladder(7, "B") == [(100_000, 5, 5)]
    assert drive.counters() == {"messages": 5, "packets": 2, "sessions": 1}


def test_the_other_lines_copy_and_a_repeated_packet_are_dropped():
    drive = Drive()
    first, second = mold("S1", 1, adds(1, 3)), mold("S1", 4, adds(4, 5))
    drive.payloads([first, first, second, first, second], lines=[0, 1, 1, 0, 0])
    assert drive.ladder(7, "B") == [(100_000, 5, 5)]
    assert drive.counters() == {"messages": 5, "packets": 5, "sessions": 1, "old_messages": 8}


def test_of_an_overlapping_packet_only_the_new_messages_are_applied():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 3)), mold("S1", 2, adds(2, 5))])
    assert drive.ladder(7, "B") == [(100_000, 5, 5)]
    assert drive.counters()["old_messages"] == 2


def test_a_gap_is_counted_and_leaves_every_book_of_its_channel_suspect():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 2)), mold("S2", 1, [itch.add(1, "B", 1, 100, 9)])], lines=[0, 1])
    drive.payloads([mold("S1", 6, adds(6, 8))])
    assert drive.counters()["gaps"] == 1
    assert drive.counters()["missed_messages"] == 3
    assert drive.suspect(7, channel=0)
    assert not drive.suspect(9, channel=1)


def test_a_heartbeat_reveals_a_gap():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 2)), mold("S1", 3, []), mold("S1", 5, [])])
    assert drive.counters() == {
        "messages": 2, "packets": 3, "sessions": 1, "heartbeats": 2, "gaps": 1, "missed_messages": 2,
    }  # fmt: skip


def test_a_capture_may_begin_in_the_middle_of_the_day():
    drive = Drive()
    drive.payloads([mold("S1", 14_764_496, adds(1, 2))])
    assert drive.counters() == {"messages": 2, "packets": 1, "sessions": 1}


def test_the_end_of_a_session_is_not_65535_messages():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 3)), mold("S1", 4, [], count=0xFFFF), mold("S1", 4, adds(4, 5)),
                    mold("S1", 6, [], count=0xFFFF)])  # fmt: skip
    channel = drive.pipeline.decoder.market.channels[0]
    assert (drive.counters()["messages"], int(channel.expected), int(channel.stream)) == (5, 6, 2)
    assert "gaps" not in drive.counters()


def test_a_stray_packet_of_another_session_never_enters_the_books():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 3)), mold("S2", 4, adds(90, 91)), mold("S1", 4, adds(4, 4))])
    assert drive.ladder(7, "B") == [(100_000, 4, 4)]
    assert drive.counters()["foreign_sessions"] == 1


def test_a_session_that_begins_at_1_begins_with_empty_books():
    drive = Drive(instruments=("TEST",))
    drive.payloads([mold("S1", 1, [DIRECTORY, itch.trading_action("T"), *adds(3, 5), itch.execute(3, 1, match=8)])])
    drive.payloads([mold("S3", 1, adds(1, 2)), mold("S3", 3, [*adds(3, 3), itch.broken(8)])])
    assert drive.ladder(7, "B") == [(100_000, 3, 3)]
    assert drive.volume(7) == 0
    assert drive.state(7) is None
    assert drive.counters()["sessions"] == 2
    assert drive.counters()["unknown_matches"] == 1
    assert "gaps" not in drive.counters() and "old_messages" not in drive.counters()


def test_after_the_end_of_a_session_the_next_may_begin_anywhere():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 2)), mold("S1", 3, [], count=0xFFFF), mold("S2", 5, adds(8, 9))])
    assert drive.ladder(7, "B") == [(100_000, 2, 2)]
    assert (drive.counters()["sessions"], drive.counters()["missed_messages"]) == (2, 4)


def test_two_channels_may_use_the_same_references_and_locates():
    drive = Drive()
    drive.payloads([mold("NQ", 1, adds(1, 3)), mold("BX", 1, [itch.add(1, "S", 9, 200_000)])], lines=[0, 1])
    assert drive.ladder(7, "B", channel=0) == [(100_000, 3, 3)]
    assert drive.ladder(7, "S", channel=1) == [(200_000, 9, 1)]
    assert "duplicate_references" not in drive.counters()


def test_wiped_headers_are_taken_as_they_come():
    drive = Drive()
    drive.payloads([mold("\0" * 10, 0, adds(1, 1)), mold("\0" * 10, 0, adds(2, 2))])
    assert drive.counters() == {"messages": 2, "packets": 2, "sessions": 1}


@pytest.mark.parametrize("cut", range(1, 38))
def test_a_packet_that_ends_inside_a_message_gives_the_whole_ones(cut):
    drive = Drive()
    datagram = mold("S1", 1, adds(1, 3))
    drive.payloads([datagram[:-cut], mold("S1", 4, adds(4, 4))])
    assert drive.ladder(7, "B") == [(100_000, 3, 3)]
    counters = drive.counters()
    assert (counters["truncated"], counters["gaps"], counters["missed_messages"]) == (1, 1, 1)


def test_octets_after_the_last_announced_message_are_ignored():
    drive = Drive()
    drive.payloads([mold("S1", 1, adds(1, 2)) + b"\xff\xff\xff", mold("S1", 3, adds(3, 3))])
    assert drive.counters() == {"messages": 3, "packets": 2, "sessions": 1}


@pytest.mark.parametrize("datagram", [b"", b"S1", mold("S1", 1, [])[:19], mold("S1", 2**63, adds(1, 1))])
def test_a_datagram_without_a_whole_or_possible_header_is_counted(datagram):
    drive = Drive()
    drive.payloads([datagram, mold("S1", 1, adds(1, 1))])
    assert drive.counters() == {"messages": 1, "packets": 2, "sessions": 1, "malformed_packets": 1}


def test_one_channel_more_than_configured_is_refused_by_name():
    drive = Drive(SMALL._replace(channels_max=2))
    with pytest.raises(TableFull, match=r"book\.channels_max"):
        drive.payloads([mold(f"S{k}", 1, adds(1, 1)) for k in range(3)], lines=[0, 1, 2])


def test_a_packet_outside_the_frame_memory_is_refused():
    drive = Drive()
    drive.pipeline.feed.found[0].offset = drive.pipeline.feed.frames.shape[0] - 10
    drive.pipeline.feed.found[0].length = 11
    drive.pipeline.feed.cursor[8] = 1
    with pytest.raises(IndexError, match="frame memory"):
        drive.drain()


def test_only_configured_instruments_become_events_by_their_configured_index():
    drive = Drive(instruments=("OTHER", "TEST"))
    told = [itch.directory("TEST", 7), itch.directory("MORE", 8)]
    drive.payloads([mold("S1", 1, [*told, itch.add(1, "B", 5, 100_000, 7), itch.add(2, "B", 5, 100_000, 8, "MORE")])])
    assert [(chr(e["kind"]), int(e["instrument"]), int(e["sequence"])) for e in drive.events] == [
        ("R", 1, 1),
        ("A", 1, 3),
    ]


def test_an_event_tells_what_happened_and_the_book_after_it():
    drive = Drive(instruments=("TEST",))
    drive.payloads([mold("S1", 1, [DIRECTORY, itch.trading_action("T")])])
    drive.payloads([mold("S1", 3, [itch.add(k, "B", 10 * k, 100_000 - 100 * k) for k in range(1, 8)])])
    drive.payloads([mold("S1", 10, [itch.add(9, "S", 70, 100_100, time_ns=34_200_000_000_123),
                                    itch.execute_at(9, 30, 100_050, match=5)])])  # fmt: skip
    event = drive.events[-1]
    assert (chr(event["kind"]), chr(event["side"]), chr(event["state"])) == ("C", "S", "T")
    assert (event["price_e4"], event["shares"], event["reference"], event["volume_shares"]) == (100_050, 30, 9, 30)
    assert (event["cause"], event["sequence"], drive.events[-2]["time_ns"]) == (2, 11, 34_200_000_000_123)
    assert event["bid_price_e4"].tolist() == [99_900, 99_800, 99_700, 99_600, 99_500]
    assert event["bid_shares"].tolist() == [10, 20, 30, 40, 50]
    assert event["ask_price_e4"].tolist() == [100_100, 0, 0, 0, 0]
    assert event["ask_shares"].tolist() == [40, 0, 0, 0, 0]
    assert event["marks"] == records.TRADABLE | records.PRINTABLE


def test_crosses_imbalances_and_prints_are_events():
    drive = Drive(instruments=("TEST",))
    noii = itch.message("I", paired_shares=900, imbalance_shares=77, imbalance_direction="S", stock="TEST",
                        far_price=1, near_price=2, current_reference_price=3, cross_type="O")  # fmt: skip
    drive.payloads([mold("S1", 1, [DIRECTORY, noii, itch.cross(5_000_000_000, 100_000, 4), itch.trade(500, 100_100, 5),
                                   itch.broken(5)])])  # fmt: skip
    told = [(chr(e["kind"]), int(e["shares"]), int(e["price_e4"]), int(e["volume_shares"])) for e in drive.events]
    assert told == [("R", 0, 0, 0), ("I", 77, 3, 0), ("Q", 5_000_000_000, 100_000, 5_000_000_000),
                    ("P", 500, 100_100, 5_000_000_500), ("B", 0, 0, 5_000_000_000)]  # fmt: skip
    noii = drive.events[1]
    assert (noii["paired_shares"], noii["far_price_e4"], noii["near_price_e4"], chr(noii["side"])) == (900, 1, 2, "S")


def test_prints_are_marked():
    drive = Drive(instruments=("TEST",))
    drive.messages([DIRECTORY, itch.add(1, "B", 90, 100_000), itch.execute(1, 1)])
    drive.messages([itch.execute_at(1, 1, 9, "N"), itch.execute_at(1, 1, 9, "Y")])
    drive.messages([itch.trade(1, 9, 2), itch.cross(1, 9, 3), itch.cancel(1, 1)])
    marked = [chr(e["kind"]) for e in drive.events if e["marks"] & records.PRINTABLE]
    assert marked == ["E", "C", "P", "Q"] and drive.volume(7) == 4


def test_a_crossed_and_a_suspect_book_are_marked():
    drive = Drive(instruments=("TEST",))
    drive.messages([DIRECTORY, itch.trading_action("T"), itch.add(1, "B", 1, 100_500), itch.add(2, "S", 1, 100_000),
                    itch.delete(1), itch.cancel(2, 5), itch.trading_action("H")])  # fmt: skip
    good, crossed, suspect = records.TRADABLE, records.CROSSED, records.SUSPECT
    assert [int(e["marks"]) for e in drive.events] == [0, good, good, good | crossed, good, good | suspect, suspect]


def test_the_decoder_stops_before_the_first_message_later_than_told():
    drive = Drive()
    decoder.stop_after(drive.pipeline.decoder, 1_500)
    drive.payloads([mold("S1", 1, [itch.add(k, "B", 1, 100_000, time_ns=1_000 * k) for k in range(1, 4)])])
    assert drive.ladder(7, "B") == [(100_000, 1, 1)] and decoder.stopped(drive.pipeline.decoder)
    decoder.stop_after(drive.pipeline.decoder, 3_000)
    drive.drain()
    assert drive.ladder(7, "B") == [(100_000, 3, 3)] and not decoder.stopped(drive.pipeline.decoder)


def test_a_full_events_link_stops_the_decoder_inside_the_packet_and_nothing_is_lost():
    drive = Drive(instruments=("TEST",), frames_octets=1 << 20)
    messages = [DIRECTORY] + [itch.add(k, "B", 1, 100_000) if k % 2 else itch.delete(k - 1) for k in range(1, 6_000)]
    drive.payloads([b"".join(map(block, messages))], framing=records.BLOCKS)
    assert len(drive.events) == len(messages) == 6_000
    assert [int(e["sequence"]) for e in drive.events] == list(range(1, 6_001))
