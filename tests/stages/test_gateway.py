"""The gateway between its links: messages out, kills, and what it does where there is no room."""

import itertools
import struct
import subprocess
from typing import Any

import pytest

from tests.stages.gateway_drive import (
    FEES,
    INSTRUMENTS,
    LIMITS,
    MIDNIGHT_NS,
    TABLES,
    Drive,
    an_intent,
    checked,
    intent_row,
    put,
    session,
    taken,
    wire_row,
    zeroed,
)
from tests.wire import build
from venym import metrics, records
from venym.hot import histogram
from venym.hot.link import HEAD, MARK, TAIL, make_link
from venym.records import BUY, CANCEL, INBOUND, IOC, KILL, MARKET, OUTBOUND, REPLACE, SELL
from venym.stages import gateway, gateway_view
from venym.stages import gateway_words as w
from venym.stages.gateway import Fees, Instrument
from venym.stages.intents import LATENCY_NAMES

pytestmark = pytest.mark.plain


def step(drive: Drive) -> int:
    return int(gateway.step(drive.context))


# ---- messages


def test_a_new_order_octet_by_octet() -> None:
    drive = Drive()
    drive.clock_ns = 52_200_123_456_789
    drive.ask(shares=250, price_e4=99_900)
    (message,) = drive.octets
    assert message[0] == 52_200_123_456_789
    assert message[1].replace(b"\x01", b"|") == (
        b"8=FIX.4.2|9=128|35=D|34=1|49=VENYM|52=20260105-14:30:00.123|56=INET|11=V1|21=1|38=250|40=2|44=9.9900|54=1"
        b"|55=TEST|59=0|60=20260105-14:30:00.123|10=015|"
    )


@pytest.mark.parametrize("version", ["FIX.4.2", "FIX.4.4"])
def test_what_an_order_is_stands_in_its_message(version: str) -> None:
    drive = Drive(version=version)
    drive.ask(token=1, side=SELL, tif=IOC)
    drive.ask(token=2, ord_type=MARKET, price_e4=5)
    drive.ask(token=3, post_only=1)
    found = [[message.get(tag) for tag in (40, 44, 54, 59, 18)] for message in drive.messages]
    assert found == [
        ["2", "10.0000", "5", "3", None], ["1", None, "1", "0", None], ["2", "10.0000", "1", "0", "6"],
    ]  # fmt: skip
    assert [message[34] for message in drive.messages] == ["1", "2", "3"]


def test_messages_carry_the_cause_of_their_intent() -> None:
    drive = Drive()
    put(drive.intents, [intent_row(an_intent(cause=12_345))])
    step(drive)
    (message,) = taken(drive.wire)
    assert (int(message.cause), int(message.direction)) == (12_345, OUTBOUND)


def test_both_ways_go_to_the_journal_as_they_are() -> None:
    drive = Drive()
    put(drive.intents, [intent_row(an_intent())])
    step(drive)
    (sent,) = taken(drive.wire)
    octets = drive.made_report(1, "0", "0")
    put(drive.reports, [wire_row(55, octets)])
    step(drive)
    journaled = [(int(m.direction), int(m.clock_ns), m.octets[: m.length].tobytes()) for m in taken(drive.journal)]
    assert journaled == [(OUTBOUND, 0, sent.octets[: sent.length].tobytes()), (INBOUND, 55, octets)]


def test_latencies_are_counted_from_the_records_stamps() -> None:
    drive = Drive()
    stamps = dict(taken=1_000, decoded=1_010, featured=1_030, inferred=1_060, begun=1_500, decided=1_540)
    fields = {f"{name}_cycles": cycles for name, cycles in stamps.items()}
    put(drive.intents, [intent_row(an_intent()) | fields])
    put(drive.intents, [intent_row(an_intent(token=2)) | fields | {"taken_cycles": 0}])  # no signal began it
    put(drive.intents, [intent_row(an_intent(shares=-1)) | fields])  # refused
    drive.run()
    found = gateway_view.latencies(drive.context)
    assert list(found) == list(LATENCY_NAMES)
    told = {name: (histogram.count(held), histogram.minimum(held)) for name, held in found.items()}
    assert [told[name] for name in LATENCY_NAMES[:5]] == [(1, 10), (1, 20), (1, 30), (1, 440), (2, 40)]
    assert told["gateway"][0] == 2
    assert told["tick_to_order"][0] == 1
    whole, share = histogram.minimum(found["tick_to_order"]), histogram.maximum(found["gateway"])
    assert whole is not None and share is not None and 0 < whole - 100 <= share  # all but the hold


def test_tshark_finds_every_field_and_the_right_sums(tshark: str, tmp_path: Any) -> None:
    sent: list[tuple[bytes, dict[int, str]]] = []
    for version in ("FIX.4.2", "FIX.4.4"):
        drive = Drive(version=version)
        drive.market(instrument=1)
        drive.clock_ns = 52_200_000_000_000
        for token, (side, ord_type) in enumerate(itertools.product((BUY, SELL), (1, 2))):
            drive.new(token=token, side=side, ord_type=ord_type, instrument=token % 2, shares=100 * (token + 1))
            drive.report(token + 1, "0", "0")
        for token in (1, 3):
            drive.ask(action=REPLACE, token=token, instrument=1, shares=900, price_e4=100_200)
        drive.ask(action=KILL)
        sent += [(octets, message) for (_, octets), message in zip(drive.octets, drive.messages, strict=True)]
    assert [message[35] for _, message in sent] == ["D"] * 4 + ["G"] * 2 + ["F"] * 4 + ["D"] * 4 + ["G"] * 2 + ["F"] * 4
    path, at, frames = tmp_path / "fix.pcap", 1, []
    for octets, _ in sent:
        tcp = struct.pack(">HHIIBBHHH", 40_000, 9_878, at, 1, 0x50, 0x18, 65_535, 0, 0) + octets
        frames.append(build.ethernet(build.ipv4(tcp, to="10.0.0.2", protocol=6)))
        at += len(octets)
    path.write_bytes(build.pcap(frames))
    names = {
        "MsgSeqNum": 34, "SendingTime": 52, "ClOrdID": 11, "OrigClOrdID": 41, "Symbol": 55, "Side": 54, "OrderQty": 38,
        "Price": 44,
    }  # fmt: skip
    wanted = [argument for name in [*names, "checksum_good", "checksum_bad"] for argument in ("-e", f"fix.{name}")]
    command = [tshark, "-r", str(path), "-d", "tcp.port==9878,fix", "-T", "fields", *wanted, "-e", "_ws.malformed"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    for line, (_, message) in zip(lines, sent, strict=True):
        assert line.split("\t") == [*(message.get(tag, "") for tag in names.values()), "1", "0", ""]


# ---- kills


def test_a_strategy_asks_for_a_kill() -> None:
    drive = Drive()
    drive.new(token=1)
    drive.new(token=1, strategy=1)
    drive.clock_ns = 77
    drive.ask(action=KILL, strategy=1, reason=9)
    assert gateway_view.killed(drive.context) == ("reason 9", 9, 1, 77)
    assert [(message[35], message[41]) for message in drive.messages[2:]] == [("F", "V1"), ("F", "V2")]
    assert [drive.ask(token=3), drive.ask(action=REPLACE), drive.ask(action=CANCEL)] == ["killed", "killed", "pending"]
    assert drive.counters()["own_cancels"] == 2


def test_the_operator_stops_it_between_two_inputs() -> None:
    drive = Drive()
    drive.new()
    gateway_view.stop(drive.context)
    assert drive.ask(token=2) == "killed"
    assert drive.killed() == "asked"
    assert [message[35] for message in drive.messages] == ["D", "F"]
    drive.context.commands[w.STOP] = 0  # nothing takes it back
    assert drive.ask(token=2) == "killed"


def test_only_the_first_reason_is_kept() -> None:
    drive = Drive()
    drive.ask(action=KILL, reason=3)
    drive.hear(drive.message("5", {}))
    assert (drive.killed(), drive.counters()["kills"]) == ("reason 3", 2)


def test_a_kill_cancels_at_one_moment_however_little_room_there_is() -> None:
    drive = Drive(wire_room=2, hold=True, refusal_ns=100)
    drive.intents.cursor[MARK], drive.reports.cursor[MARK] = 10, 30
    for token in range(5):
        put(drive.intents, [intent_row(an_intent(token=token, clock_ns=10, ordinal=0))])
        drive.run()
    put(drive.intents, [intent_row(an_intent(action=KILL, clock_ns=20))])
    drive.intents.cursor[MARK] = 25
    step(drive)
    assert [o.numbers[1] for o in gateway_view.open_orders(drive.context)] == [6, 7, 8, 9, 10]
    assert drive.wire.cursor[HEAD] - drive.wire.cursor[TAIL] == 2
    assert drive.wire.cursor[MARK] == 20  # more of that time is to come
    drive.collect()
    put(drive.reports, [wire_row(30, drive.made_report(5, "4", "4"))])  # meanwhile one is canceled unasked
    drive.intents.cursor[MARK] = drive.reports.cursor[MARK] = records.NEVER_NS
    drive.run()
    assert [(m[35], m[41]) for m in drive.messages[5:]] == [("F", f"V{k}") for k in range(1, 6)]
    assert {clock_ns for clock_ns, _ in drive.octets[5:]} == {20}
    assert drive.wire.cursor[MARK] == records.NEVER_NS


# ---- rooms


def test_no_intent_is_taken_without_room_for_its_message() -> None:
    drive = Drive(wire_room=2)
    put(drive.intents, [intent_row(an_intent(token=token)) for token in range(4)])
    while step(drive):
        pass
    assert drive.intents.cursor[HEAD] - drive.intents.cursor[TAIL] == 2
    drive.run()
    assert [message[34] for message in drive.messages] == ["1", "2", "3", "4"]


def test_held_no_report_is_taken_without_room_for_its_events_and_its_copy() -> None:
    drive = Drive(room=2, journal_room=1, hold=True, refusal_ns=100)
    drive.intents.cursor[MARK] = records.NEVER_NS
    drive.reports.cursor[MARK] = 1
    put(drive.intents, [intent_row(an_intent(shares=300, ordinal=0))])
    drive.run()
    put(drive.reports, [wire_row(1, drive.made_report(1, "0", "0"))])
    put(drive.reports, [wire_row(1, drive.made_report(1, "1", "1", last=(9, 100_000)))])
    drive.journal.cursor[HEAD] += 1
    assert step(drive) == 0
    taken(drive.journal)
    while step(drive):
        pass
    assert gateway_view.holding(drive.context, 0).shares == 0  # one place is not enough for what it may cause
    drive.collect()
    drive.run()
    assert gateway_view.holding(drive.context, 0).shares == 9


def test_live_a_full_journal_refuses_orders_and_passes_cancels() -> None:
    drive = Drive(journal_room=1)
    drive.report(drive.new(), "0", "0")
    drive.journal.cursor[HEAD] += 1
    assert drive.ask(token=2) == "journal_full"
    drive.journal.cursor[HEAD] += 1
    assert drive.ask(action=REPLACE, shares=300) == "journal_full"
    drive.journal.cursor[HEAD] += 1
    assert drive.ask(action=CANCEL) == ""
    assert drive.messages[-1][35] == "F"
    assert drive.counters()["journal_missed"] == 1


def test_live_order_events_that_are_not_taken_stop_trading_but_are_booked() -> None:
    drive = Drive(room=2)
    number = drive.new(shares=300)
    for k in range(4):
        put(drive.reports, [wire_row(0, drive.made_report(number, "1", "1", last=(10, 100_000), cum=10 * k + 10))])
    while step(drive):
        pass
    assert gateway_view.holding(drive.context, 0).shares == 40
    assert drive.killed() == "events_full"
    assert drive.counters()["events_untold"] == 2


def test_live_a_refusal_without_room_stops_trading() -> None:
    drive = Drive(room=2)
    put(drive.intents, [intent_row(an_intent(shares=0))] * 3)
    while step(drive):
        pass
    assert drive.killed() == "events_full"
    assert gateway_view.refusals(drive.context) == {"bad_shares": 3}


# ---- build


def built(**changes: Any) -> Any:
    links = [
        make_link(record, 2)
        for record in (records.INTENT, records.MARKET_STATE, records.WIRE_MESSAGE, records.ORDER_EVENT)
    ] + [make_link(records.WIRE_MESSAGE, 2) for _ in range(2)]
    names = ("intents", "market", "reports", "order_events", "wire", "journal")
    right: dict[str, Any] = dict(
        zip(names, links, strict=True), session=session(), instruments=INSTRUMENTS, limits=LIMITS, fees=FEES,
        midnight_ns=MIDNIGHT_NS, hold=False, refusal_ns=0, strategies=1, tables=TABLES,
    )  # fmt: skip
    return gateway.build(zeroed, **(right | changes))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"hold": True}, "refusal_ns"), ({"fees": Fees(2_000_000, 0)}, "make_e6"),
        ({"order_events": make_link(records.ORDER_EVENT, 1)}, "order events"),
        ({"limits": LIMITS._replace(collar_bps=-1)}, "collar_bps"),
        ({"tables": TABLES._replace(executions_max=0)}, "executions_max"),
        *(({"instruments": [Instrument("X", bad, 1, 1)]}, "symbol") for bad in ("", "A B", "TOOLONGSY", "A\n")),
        ({"instruments": [Instrument("X", "X", 0, 1)]}, "tick_e4"),
        ({"instruments": [Instrument("X", "X", 1, 0)]}, "lot_shares"),
    ],
)  # fmt: skip
def test_what_cannot_be_built_is_refused_by_name(changes: Any, says: str) -> None:
    built()
    with pytest.raises(ValueError, match=says):
        built(**changes)


def test_a_market_state_of_no_instrument_is_an_error_of_ours() -> None:
    with pytest.raises(IndexError, match="market state"):
        Drive().market(instrument=2)


def test_every_counter_and_every_reason_has_a_name() -> None:
    ctx = built()
    assert list(gateway_view.counters(ctx)) == [counter.name for counter in metrics.GATEWAY]
    assert [reason.word for reason in w.KILL_REASONS] == list(range(1, len(w.KILL_REASONS) + 1))
    assert gateway_view.killed(ctx) is None


def test_what_leaves_is_checked_here() -> None:
    """The check that every other test relies on refuses what is wrong."""
    drive = Drive()
    drive.new()
    octets = drive.octets[0][1]
    for wrong in (octets.replace(b"38=100", b"38=101"), octets[:-1], octets.replace(b"9=1", b"9=2", 1), octets * 2):
        with pytest.raises(AssertionError):
            checked(wrong)
