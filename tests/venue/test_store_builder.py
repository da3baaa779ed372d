"""A store holds what a capture or day file has, in packets, each message once."""

from contextlib import closing
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.guarded import Guarded
from tests.venue.publisher_toys import (
    OVER,
    SESSION,
    Given,
    block,
    built,
    is_over,
    messages_of,
    mold,
    over,
    packets_of,
)
from venym.hot.layout import aligned
from venym.records import BLOCKS, MOLDUDP64, PACKET
from venym.transport.capture import Capture
from venym.venue import store_builder
from venym.venue.day_plan import Wanted
from venym.venue.generate import write_file
from venym.venue.message_store import Store, StoreError, find_row
from venym.venue.store_builder import Builder, Left, Packing

NOTHING = Left(0, 0, 0, 0, 0)


def timed(time_ns: int, octets: int = 12) -> bytes:
    return b"S" + bytes(4) + time_ns.to_bytes(6, "big") + bytes(octets - 11)


def stored(store: Store) -> dict[int, bytes]:
    """Every message by its number, of one session. Fails if one is there twice."""
    found: dict[int, bytes] = {}
    for packet in packets_of(store):
        assert not set(found) & set(messages_of(packet))
        found |= messages_of(packet)
    return found


def loaded(path: Path, session: str, packing: Packing = store_builder.BY_TIME) -> Store:
    frames, packets = aligned(1 << 20, np.uint8), aligned(4_096, PACKET)
    builder = Builder(session, packing)
    with Capture([path], frames, packets) as capture:
        while count := capture.fill():
            builder.add(frames, packets, count)
    store, left = builder.finish()
    assert left == NOTHING
    return store


def test_a_day_file_is_packed_as_its_capture_is(tmp_path: Path) -> None:
    wanted, day = Wanted(30_000, 20, 7, None), date(2019, 1, 30)
    write_file(wanted, tmp_path / "day", day)
    write_file(wanted, tmp_path / "day.pcap", day)
    packed, captured = loaded(tmp_path / "day", "2019013001"), loaded(tmp_path / "day.pcap", SESSION)
    assert packets_of(packed) == packets_of(captured)
    assert packed.messages == captured.messages == 30_000
    assert packed.names() == captured.names() == ["2019013001"]
    since = packed.rows["time_ns"] - packed.rows["time_ns"][0]
    assert np.array_equal(since[:-1], (captured.rows["time_ns"] - captured.rows["time_ns"][0])[:-1])


def test_a_store_larger_than_its_buffers_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_file(Wanted(30_000, 20, 7, None), tmp_path / "day")
    whole = packets_of(loaded(tmp_path / "day", SESSION))
    monkeypatch.setattr(store_builder, "OCTETS_A_WRITE", 70_000)
    monkeypatch.setattr(store_builder, "ROWS_A_WRITE", 8)
    assert packets_of(loaded(tmp_path / "day", SESSION)) == whole


def test_so_many_messages_a_packet() -> None:
    messages = [timed(number * 10**9) for number in range(1, 8)]
    store, left = built([Given(b"".join(map(block, messages)), framing=BLOCKS)], Packing(3, None))
    assert [len(messages_of(packet)) for packet in packets_of(store)] == [3, 3, 1, 0]
    assert stored(store) == dict(enumerate(messages, 1))
    assert packets_of(store)[-1] == over(8)
    assert left == NOTHING


def test_a_packet_goes_on_with_the_next_lot_and_file() -> None:
    messages = [timed(1) for _ in range(10)]
    lots = [Given(block(message), line=number % 2, framing=BLOCKS) for number, message in enumerate(messages)]
    for lot in (1, 100):
        assert [len(messages_of(packet)) for packet in packets_of(built(lots, Packing(4, None), lot=lot)[0])] == [
            4,
            4,
            2,
            0,
        ]


def test_a_packet_holds_what_fits_and_no_message_much_later() -> None:
    wide = [timed(5, 1_000), timed(5, 400), timed(5, 100), timed(20_005, 12), timed(20_006, 12), timed(9, 12)]
    store, _ = built([Given(b"".join(map(block, wide)), framing=BLOCKS)])
    assert [len(messages_of(packet)) for packet in packets_of(store)] == [2, 2, 2, 0]
    assert max(int(row.length) for row in store.rows) <= 1_472
    assert list(store.rows["time_ns"]) == [5, 20_005, 20_006, 20_006]


def test_packets_keep_their_boundaries_and_the_second_line_is_left_out() -> None:
    packets = [mold(1, [b"one", b"two"]), mold(3, [b"three"]), mold(4, []), mold(4, [b"", b"five"]), over(6)]
    store, left = built([Given(packet, line, 7) for packet in packets for line in (0, 1)])
    assert packets_of(store) == [packets[0], packets[1], packets[3], packets[4]]
    assert left == Left(heartbeats=2, duplicates=4, foreign=0, malformed=0, missing=0)
    assert list(store.rows["time_ns"]) == [7, 7, 7, 7]


def test_what_a_line_lost_comes_from_the_other_in_order() -> None:
    given_ = [mold(1, [b"1"]), mold(3, [b"3"]), mold(2, [b"2"]), mold(3, [b"3"]), mold(4, [b"4"]), mold(2, [b"2"])]
    store, left = built([Given(packet, received_ns=number) for number, packet in enumerate(given_, 1)])
    assert packets_of(store) == [mold(1, [b"1"]), mold(2, [b"2"]), mold(3, [b"3"]), mold(4, [b"4"]), over(5)]
    assert left.duplicates == 2 and left.missing == 0
    assert list(np.diff(store.rows["time_ns"]) >= 0) == [True] * 4


def test_what_nobody_has_is_counted() -> None:
    store, left = built([Given(mold(5, [b"5"])), Given(mold(9, [b"9"])), Given(over(12))])
    assert left.missing == 3 + 2
    assert stored(store) == {5: b"5", 9: b"9"}


@pytest.mark.parametrize("ended", [True, False])
def test_sessions_follow_each_other(ended: bool) -> None:
    first = [Given(mold(1, [b"a"])), *([Given(over(2))] if ended else [])]
    second = [Given(mold(1, [b"b"], "SESSION002")), Given(mold(2, [b"c"], "SESSION002"))]
    late = [Given(mold(2, [b"late"])), Given(mold(1, [b"a"]), line=1), Given(mold(1, [b"a"]))]
    store, left = built(first + second + late)
    assert store.names() == [SESSION, "SESSION002"]
    assert packets_of(store) == [mold(1, [b"a"]), over(2), second[0].octets, second[1].octets, over(3, "SESSION002")]
    assert [(int(row.first), int(row.end)) for row in store.sessions] == [(0, 2), (2, 5)]
    assert left.foreign == 3


def test_a_session_in_its_middle_begins_only_after_the_end_of_another() -> None:
    other = Given(mold(50, [b"x"], "SESSION002"))
    assert built([Given(mold(1, [b"a"])), other])[1].foreign == 1
    assert built([Given(over(1)), other])[0].names() == [SESSION, "SESSION002"]


def test_a_line_that_carries_another_stream_is_left_out() -> None:
    ours = [Given(mold(number, [b"a"]), line=0) for number in range(1, 4)]
    others = [Given(mold(number, [b"z"], "OTHERS0001"), line=1) for number in range(1, 4)]
    store, left = built([packet for pair in zip(ours, others, strict=True) for packet in pair])
    assert store.names() == [SESSION] and store.messages == 3 and left.foreign == 3


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        mold(1, [])[:19],
        mold(1, [b"whole", b"cut"])[:-1],
        mold(1, [b"one"], count=2),
        mold(1, [b"one"], count=OVER - 1),
        mold(1 << 63, [b"one"]),
    ],
)
def test_a_packet_that_does_not_hold_together_is_counted(wrong: bytes) -> None:
    store, left = built([Given(mold(1, [b"good"])), Given(wrong), Given(mold(2, [b"good"]))])
    assert left == Left(0, 0, 0, malformed=1, missing=0)
    assert stored(store) == {1: b"good", 2: b"good"}


def test_octets_behind_the_last_message_are_left_out() -> None:
    store, _ = built([Given(mold(1, [b"one"]) + b"more")])
    assert packets_of(store) == [mold(1, [b"one"]), over(2)]


def test_packets_whose_headers_were_wiped_are_numbered_as_they_come() -> None:
    store, _ = built([Given(mold(0, [b"a", b"b"])), Given(mold(0, [b"c"]))])
    assert stored(store) == {1: b"a", 2: b"b", 3: b"c"}


def test_a_session_may_be_renamed_but_not_two() -> None:
    packets = [Given(mold(7, [b"a"])), Given(mold(8, [b"b"]))]
    assert built(packets, session="NEW0000001", rename=True)[0].names() == ["NEW0000001"]
    with pytest.raises(StoreError, match="several sessions"):
        built([*packets, Given(mold(1, [b"c"], "SESSION002"))], session="NEW0000001", rename=True)


def test_nothing_cannot_be_published() -> None:
    with pytest.raises(StoreError, match="no message"):
        built([])


def test_too_many_sessions_are_refused() -> None:
    with pytest.raises(StoreError, match="more than 1024 sessions"):
        built([Given(mold(1, [b"x"], f"S{number:09}")) for number in range(1_026)])


@pytest.mark.parametrize("wrong", ["", "short", "elevenchars", "ninechars\u00e9"])
def test_a_session_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="no MoldUDP64 session"):
        Builder(wrong)


@pytest.mark.parametrize("wrong", [Packing(0), Packing(65_535), Packing(1, None, 20), Packing(1, None, 65_508)])
def test_a_packing_that_cannot_be_is_refused(wrong: Packing) -> None:
    with pytest.raises(ValueError, match="no packets"):
        Builder(SESSION, wrong)


@given(some.lists(some.tuples(some.integers(1, 30), some.integers(0, 4)), min_size=1, max_size=40), some.data())
def test_any_disorder_comes_to_each_message_once_in_order(cut: list[tuple[int, int]], data: some.DataObject) -> None:
    packets = [Given(mold(1, [b"1"]))]
    packets += [Given(mold(first, [b"%d" % number for number in range(first, first + count)])) for first, count in cut]
    store, left = built(packets, lot=data.draw(some.integers(1, 10)))
    had = {1} | {number for first, count in cut for number in range(first, first + count)}
    rows = [messages_of(packet) for packet in packets_of(store)]
    assert {number for row in rows for number in row} == had
    assert all(text == b"%d" % number for row in rows for number, text in row.items())
    firsts = [int(row.sequence) for row in store.rows]
    assert firsts == sorted(firsts) and is_over(packets_of(store)[-1])
    assert left.missing == max(had) - len(had)
    kept = sum(len(row) > 0 for row in rows)
    assert kept + left.duplicates + left.heartbeats == len(packets)


def test_a_row_is_found_by_a_number() -> None:
    store, _ = built([Given(mold(5, [b"5", b"6"])), Given(mold(7, [b"7"])), Given(mold(10, [b"a"]))])
    found = {number: find_row(store.rows, 0, len(store.rows), number) for number in (0, 4, 5, 6, 7, 9, 10, 11, 99)}
    assert found == {0: -1, 4: -1, 5: 0, 6: 0, 7: 1, 9: 1, 10: 2, 11: 3, 99: 3}


FEW = some.lists(some.binary(max_size=4), max_size=4)
ODD = some.builds(mold, some.integers(0, 5), FEW, count=some.none() | some.integers(0, 9))


@given(some.lists(some.binary(max_size=60) | ODD, max_size=6), some.sampled_from([BLOCKS, MOLDUDP64]))
def test_nothing_is_read_beyond_a_packets_end(packets: list[bytes], framing: int) -> None:
    guarded = Guarded(512)
    with closing(Builder(SESSION)) as builder:
        for packet in packets:
            records = aligned(1, PACKET)
            records[0].length, records[0].framing = len(packet), framing
            builder.add(guarded.put(packet), records, 1)
        if builder.messages:
            store, _ = builder.finish()
            assert sum(len(messages_of(packet)) for packet in packets_of(store)) == store.messages <= builder.messages
