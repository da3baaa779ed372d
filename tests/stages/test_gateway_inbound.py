"""What the venue sends: octets in pieces of any size, garbled ones, and the numbers of its messages."""

from typing import Any

import pytest

from tests.naive import fix
from tests.stages.gateway_drive import Drive, put, wire_row
from venym import records
from venym.stages import gateway_view, inbound
from venym.stages import gateway_words as w
from venym.wire.fix import MESSAGE_OCTETS_MAX

pytestmark = pytest.mark.plain


def heartbeat(drive: Drive, **lies: Any) -> bytes:
    return drive.message("0", {}, **lies)


# ---- octets


@pytest.mark.parametrize("size", [1, 2, 7, 13, 100, 2_000])
def test_reports_come_in_pieces_of_any_size(size: int) -> None:
    drive = Drive()
    number = drive.new(shares=1_000)
    stream = b"".join(
        [drive.made_report(number, "0", "0")]
        + [drive.made_report(number, "1", "1", last=(10, 100_000), cum=10 * k) for k in range(1, 8)]
    )
    for at in range(0, len(stream), size):
        drive.hear(stream[at : at + size])
    assert gateway_view.holding(drive.context, 0).shares == 70
    assert gateway_view.sequences(drive.context) == (2, 9)
    assert drive.alarms() == {}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda m: m.replace(b"\x0110=", b"\x0110=9"), lambda m: m[:-4] + b"999\x01", lambda m: b"junk\x01" + m[9:],
        lambda m: m.replace(b"9=", b"9=x", 1)[:40] + b"\x01", lambda m: b"\x00\xff" * 50 + b"\x01",
    ],
)  # fmt: skip
def test_what_is_garbled_costs_itself_only(spoil: Any) -> None:
    drive = Drive()
    number = drive.new()
    good = drive.made_report(number, "0", "0")
    drive.hear(spoil(good))
    assert drive.fresh() == []
    drive.hear(good)
    assert len(drive.fresh()) == 1
    assert drive.alarms()["garbled"] >= 1
    assert drive.killed() == ""


def test_octets_that_never_become_a_message_do_not_fill_the_buffer() -> None:
    drive = Drive()
    for _ in range(3 * MESSAGE_OCTETS_MAX // 1_000):
        drive.hear(b"8=FIX.4.2\x019=8000\x0135=0\x01" + b"1" * 977)
    drive.hear(b"\x01" + b"".join(heartbeat(drive) for _ in range(200)))
    assert gateway_view.sequences(drive.context)[1] == 201
    assert drive.context.words[w.END] <= len(drive.context.buffer) == inbound.BUFFER_OCTETS


@pytest.mark.parametrize("length", [-1, -(2**31), 2**31 - 1, records.WIRE_OCTETS_MAX + 1])
def test_a_length_that_cannot_be_reads_nothing_beyond(length: int) -> None:
    drive = Drive()
    put(drive.reports, [wire_row(0, heartbeat(drive)) | {"length": length}])
    drive.run()
    assert drive.context.words[w.END] <= records.WIRE_OCTETS_MAX
    (copy, *_) = [drive.journal.slots[0]]
    assert 0 <= copy.length <= records.WIRE_OCTETS_MAX


# ---- session


def test_messages_are_numbered_one_after_another() -> None:
    drive = Drive()
    for kind in "01A24":
        drive.hear(drive.message(kind, {112: "x"}))
    assert gateway_view.sequences(drive.context) == (1, 6)
    assert drive.alarms() == {"other_types": 5}


def test_a_missing_message_stops_trading_and_what_came_is_applied() -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "2", "2", last=(100, 100_000), sequence=3)
    assert drive.killed() == "sequence_gap"
    assert gateway_view.holding(drive.context, 0).shares == 100
    assert gateway_view.sequences(drive.context)[1] == 4
    assert drive.alarms() == {"sequence_gaps": 1, "kills": 1}


def test_a_number_that_was_there_stops_trading_and_is_not_applied() -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "0", "0")
    assert drive.report(number, "2", "2", last=(100, 100_000), sequence=1) == []
    assert drive.killed() == "sequence_low"
    assert gateway_view.holding(drive.context, 0).shares == 0


@pytest.mark.parametrize("party", [{"sender": "INETX"}, {"sender": "VENYM"}, {"target": "OTHER"}])
def test_a_message_of_others_is_counted_and_its_number_is_not(party: Any) -> None:
    drive = Drive()
    number = drive.new()
    assert drive.report(number, "2", "2", last=(100, 100_000), sequence=1, **party) == []
    assert gateway_view.sequences(drive.context)[1] == 1
    assert drive.alarms() == {"foreign_parties": 1}


@pytest.mark.parametrize(("kind", "why"), [("3", "session_reject"), ("j", "session_reject"), ("5", "logout")])
def test_the_venue_ends_it(kind: str, why: str) -> None:
    drive = Drive()
    drive.hear(drive.message(kind, {45: 1, 58: "no"}))
    assert drive.killed() == why


@pytest.mark.parametrize(
    "fields", [{14: None}, {150: None}, {17: None}, {151: "x"}, {6: ""}, {39: "22"}, {34: 7}, {32: "1e2"}, {31: "-1"}]
)
def test_a_report_that_cannot_be_read_stops_trading(fields: Any) -> None:
    drive = Drive()
    number = drive.new()
    assert drive.report(number, "1", "1", last=(10, 100_000), fields=fields) == []
    assert drive.killed() == "not_readable"
    assert gateway_view.holding(drive.context, 0).shares == 0


@pytest.mark.parametrize("sequence", ["", "x", "0", "1" * 19])
def test_a_message_without_a_number_stops_trading(sequence: str) -> None:
    drive = Drive()
    body = [(35, b"0"), (34, sequence.encode()), (49, b"INET"), (56, b"VENYM"), (52, b"20260105-14:30:00")]
    fields = body if sequence else [field for field in body if field[0] != 34]
    drive.hear(fix.message(fields))
    assert drive.killed() == "not_readable"


@pytest.mark.parametrize("prefix", ["", "A", "20260105-"])
def test_numbers_stand_behind_any_prefix(prefix: str) -> None:
    drive = Drive(prefix=prefix)
    assert drive.ask() == ""
    assert drive.messages[-1][11] == f"{prefix}1"
    (event,) = drive.report(1, "0", "0", fields={11: f"{prefix}1"})
    assert event["final"] == 0
