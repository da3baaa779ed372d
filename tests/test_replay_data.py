"""replay_data/ is what its README says, and what scripts/build_replay_data makes of the events sample."""

import csv
import gzip
import runpy
import struct
import subprocess
import sys
from collections import Counter
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from tests.naive.itch50 import Fields, blocks, decode
from tests.naive.moldudp64 import unpack
from tests.transport.reading import FRAMES, PACKETS, read
from venym.transport.capture import Capture, Counters, Line

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "build_replay_data"
CAPTURE = ROOT / "replay_data" / "aapl-2019-01-30.pcap.gz"
LEVELS = ROOT / "replay_data" / "aapl-2019-01-30.levels.npz"

MIDNIGHT_NS = 1_548_824_400 * 10**9
OPEN_NS = 34_200 * 10**9
BEFORE, EVENTS, RESTING, TOUCHED = 62, 10_000, 56, 46


class Packet(NamedTuple):
    received_ns: int
    sequence: int
    message_count: int
    payload: bytes
    messages: list[Fields]


@pytest.fixture(scope="module")
def packets() -> list[Packet]:
    """All that the capture reader hands on; it passes over nothing."""
    found = read(CAPTURE)
    assert (found.errors, found.lines) == ([], [Line("233.54.12.111", 26477)])
    octets = sum(len(packet.payload) for packet in found.found)
    assert found.counters == Counters(packets=4210, frames=4210, octets=octets, lines=1)
    made = []
    for packet in found.found:
        header = unpack(packet.payload)
        assert header.session == b"AAPL190130"
        messages, rest = blocks(packet.payload[20:])
        fields = [decode(message) for message in messages]
        assert rest == b""
        assert None not in fields
        made.append(Packet(packet.time_ns, header.sequence, header.message_count, packet.payload, fields))  # type: ignore[arg-type]
    return made


@pytest.fixture(scope="module")
def messages(packets: list[Packet]) -> list[Fields]:
    return [message for packet in packets for message in packet.messages]


def kinds(messages: list[Fields]) -> dict[str, int]:
    return dict(Counter(message["message_type"] for message in messages))


def test_one_session_without_a_gap_and_then_its_end(packets):
    expected = 1
    for packet in packets[:-1]:
        assert (packet.sequence, packet.message_count) == (expected, len(packet.messages))
        assert packet.message_count >= 1
        assert len(packet.payload) <= 1472
        expected += packet.message_count
    assert packets[-1][1:] == (BEFORE + EVENTS + 1, 0xFFFF, packets[-1].payload, [])
    assert max(packet.message_count for packet in packets[:-1]) > 20  # several a packet, where they came together


def test_a_packet_is_received_20_us_after_its_last_message(packets):
    for packet in packets[:-1]:
        times = [message["timestamp"] for message in packet.messages]
        assert times == sorted(times)
        assert times[-1] - times[0] <= 5_000
        assert packet.received_ns == MIDNIGHT_NS + times[-1] + 20_000
    received = [packet.received_ns for packet in packets]
    assert received == sorted(received)
    assert received[-1] == received[-2] + 1_000_000


def test_the_session_date_is_in_the_name_and_in_the_times(tmp_path):
    nameless = tmp_path / "capture"
    nameless.write_bytes(CAPTURE.read_bytes())
    for path in (CAPTURE, nameless):
        with Capture([path], FRAMES, PACKETS) as capture:
            capture.fill()
            assert capture.session_date == date(2019, 1, 30)


def test_what_comes_before_the_events(messages):
    before = messages[:BEFORE]
    assert "".join(message["message_type"] for message in before) == "SSRHY" + RESTING * "A" + "S"
    assert [message["event_code"] for message in before if message["message_type"] == "S"] == ["O", "S", "Q"]
    assert (before[2]["stock"], before[3]["trading_state"]) == ("AAPL", "T")
    assert before[-1]["timestamp"] == OPEN_NS
    adds = [message["order_reference_number"] for message in before[5:-1]]
    assert adds[TOUCHED:] == list(range(1, RESTING - TOUCHED + 1))
    assert adds[:TOUCHED] == sorted(set(adds[:TOUCHED]))


def test_the_events(messages):
    events = messages[BEFORE:]
    assert kinds(events) == {"A": 7465, "D": 1237, "E": 729, "U": 437, "F": 109, "C": 17, "X": 6}
    assert {message["stock_locate"] for message in events} == {14}
    assert (events[0]["timestamp"], events[-1]["timestamp"]) == (34_200_000_245_396, 34_227_932_186_292)


def test_the_checksums_are_right():
    for frame in frames(gzip.decompress(CAPTURE.read_bytes())):
        header, datagram = frame[14:34], frame[34:]
        assert folded(header) == 0xFFFF
        assert folded(header[12:] + struct.pack(">HH", 17, len(datagram)) + datagram) == 0xFFFF


def frames(octets):
    at = 24
    while at < len(octets):
        (length,) = struct.unpack_from("<I", octets, at + 8)
        yield octets[at + 16 : at + 16 + length]
        at += 16 + length


def folded(octets):
    """The one's complement sum of 16-bit words; all ones where a right checksum is among them (RFC 1071)."""
    return (int.from_bytes(octets + bytes(len(octets) % 2), "big") - 1) % 0xFFFF + 1


def test_the_levels_belong_to_the_events():
    with np.load(LEVELS) as levels:
        assert levels["sequence"].tolist() == list(range(BEFORE + 1, BEFORE + EVENTS + 1))


def test_the_files_are_small():
    assert CAPTURE.stat().st_size < 2_000_000
    assert LEVELS.stat().st_size < 1_000_000


# From the events sample


@pytest.fixture(scope="module")
def sample(shared: Path) -> Path:
    return shared / "data/itch_events/phase_e_itch_AAPL_events_sample.csv"


def test_both_files_are_built_from_the_sample(sample, tmp_path):
    """What is in them is compared: how it is packed depends on the zlib at hand."""
    subprocess.run([sys.executable, str(SCRIPT), str(sample), "--out", str(tmp_path)], check=True, timeout=120)
    built = (tmp_path / CAPTURE.name).read_bytes()
    assert gzip.decompress(built) == gzip.decompress(CAPTURE.read_bytes())
    assert built[:10] == CAPTURE.read_bytes()[:10]  # no time, no name
    with np.load(LEVELS) as shipped, np.load(tmp_path / LEVELS.name) as levels:
        assert set(shipped) == set(levels)
        for name in shipped:
            assert shipped[name].dtype == levels[name].dtype
            np.testing.assert_array_equal(shipped[name], levels[name])


REFERENCES = {"order_reference_number": "order_id"}
FIELDS = {
    "A": {**REFERENCES, "shares": "size", "price": "price"},
    "F": {**REFERENCES, "shares": "size", "price": "price"},
    "E": {**REFERENCES, "executed_shares": "size"},
    "C": {**REFERENCES, "executed_shares": "size", "execution_price": "execution_price"},
    "X": {**REFERENCES, "cancelled_shares": "size"},
    "D": REFERENCES,
    "U": {
        "original_order_reference_number": "old_order_id",
        "new_order_reference_number": "order_id",
        "shares": "size",
        "price": "price",
    },
}


def test_every_event_says_what_its_row_says(sample, messages):
    with sample.open() as file:
        rows = list(csv.DictReader(file))
    for row, message in zip(rows, messages[BEFORE:], strict=True):
        assert (row["message_type"], int(row["timestamp_ns"])) == (message["message_type"], message["timestamp"])
        if row["message_type"] in "AF":
            assert message["buy_sell_indicator"] == {"1": "B", "-1": "S"}[row["direction"]]
        for field, column in FIELDS[row["message_type"]].items():
            assert message[field] == round(float(row[column]) * (10_000 if "price" in field else 1))


# Rows that cannot be


def row(kind: str, reference: int, size: int, bid_size_1: int, **others: object) -> dict[str, object]:
    """A bid for 1.00; the other nine bids and the asks are always the same."""
    made: dict[str, object] = dict(
        message_type=kind, timestamp_ns=OPEN_NS, order_id=reference, old_order_id="", size=size, old_size="",
        price="1.0", old_price="", execution_price="", direction=1, stock_locate=14, stock="AAPL",
    )  # fmt: skip
    for depth in range(1, 11):
        made |= {f"bid_price_{depth}": 1.01 - depth / 100, f"bid_size_{depth}": 5}
        made |= {f"ask_price_{depth}": 1.01 + depth / 100, f"ask_size_{depth}": 5}
    return {key: str(value) for key, value in (made | {"bid_size_1": bid_size_1} | others).items()}


@pytest.fixture(scope="module")
def script() -> dict[str, object]:
    return runpy.run_path(str(SCRIPT))


def resting(script, folder, rows):
    path = folder / "events.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    return script["resting_orders"](script["read"](path))


def test_orders_from_before_the_first_row_are_found(script, tmp_path):
    """99 executed of 100, and 7 shares at the same price that nothing happens to."""
    rows = [row("E", 77, 30, 77), row("A", 80, 3, 80), row("E", 77, 69, 11), row("D", 77, 1, 10)]
    found = [order for order in resting(script, tmp_path, rows) if order.price_e4 == 10_000]
    assert [tuple(order) for order in found] == [(77, "B", 100, 10_000), (10, "B", 7, 10_000)]


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row("A", 80, 3, 80), row("A", 81, 3, 84)], "row 1: B 10000 shows other shares than the events make"),
        ([row("A", 80, 3, 2)], "row 0: B 10000 shows other shares than the events make"),
        ([row("A", 80, 3, 3), row("A", 80, 3, 6)], "order 80 is added twice"),
        ([row("A", 80, 3, 3), row("E", 80, 4, 0)], "E takes 4 of the 3 shares of order 80"),
        ([row("A", 80, 3, 3), row("D", 80, 2, 1)], "D takes 2 of the 3 shares of order 80"),
        ([row("A", 80, 3, 8), row("D", 80, 3, 5), row("D", 80, 3, 5)], "D of order 80, which is gone"),
        ([row("E", 80, 3, 8), row("E", 80, 3, 5, price="0.99")], "order 80 changes side or price"),
        ([row("A", 5, 3, 80)], "a real order has a reference that is to be ours"),
        ([row("P", 80, 3, 80)], "line 2: .*not a book event of AAPL"),
        ([row("A", 80, 3, 80, price="1.00001")], "line 2: .*1.00001 is not a multiple of 1/10000"),
        ([row("A", 80, 3, 80, direction="0")], "line 2: KeyError"),
    ],
)
def test_rows_that_contradict_each_other_are_refused(script, tmp_path, rows, reason):
    with pytest.raises(ValueError, match=reason):
        resting(script, tmp_path, rows)
