"""What is told of a run: the same numbers to people and to programs."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venym.control import summary
from venym.control.latency import Latency
from venym.control.summary import Position, Result, dollars, to_document, to_text

TAKER = Position("taker", "AAPL", 100, 1200, 1100, -16_250_123_456, 3_600_000, 162_535_000)
QUOTER = Position("quoter", "AAPL", -300, 11_000, 11_300, 48_761_000_000, -44_600_000, 162_535_000)
IDLE = Position("quoter", "MSFT")
RESULT = Result(
    inputs=("day.pcap.gz",),
    date="2019-01-30",
    plan="fused",
    run_directory="runs/1",
    first_ns=34_199_900_000_000,
    last_ns=34_227_932_186_292,
    seconds=0.5,
    packets=4_210,
    messages=10_062,
    messages_by_type={"R": 1, "A": 7_521, "S": 3, "D": 2_200, "U": 300, "E": 31, "P": 5, "F": 1},
    new_orders=612,
    replaces=1_204,
    cancels=88,
    orders_sha256="ab" * 32,
    executions=120,
    executed_shares=12_000,
    refusals={"position": 40, "rate": 5, "collar": 0},
    rejected_orders=0,
    rejected_cancels=3,
    positions=(TAKER, QUOTER, IDLE),
    latencies={
        "decoder": Latency(10_062, 412, 890, 2_303, 10_431, 181_234),
        "gateway": Latency(0, *[None] * 5),
        "hold": Latency(7, 10, 20, 30, 40, 50),
    },
    counters={"decoder": {"gaps": 2}},
    notes=("gaps: 2 (ranges of sequence numbers that did not come)",),
)

TEXT = """\
Replay finished
  input       day.pcap.gz
  session     2019-01-30  09:29:59.900000000 to 09:30:27.932186292
  messages    10,062 in 4,210 packets
              A 7,521   D 2,200   U 300   E 31   P 5   S 3   F 1
              R 1
  took        0.500 s, 20,124 messages a second, fused

Orders
  sent        1,904: 612 new, 1,204 replace, 88 cancel
  filled      12,000 shares in 120 executions
  refused     45: 40 position, 5 rate
  rejected    3: 3 cancels

Position, dollars        shares  bought    sold        cash    fees      mark  profit
  taker            AAPL     100   1,200   1,100  -16,250.12    3.60  162.5350   -0.22
  quoter           AAPL    -300  11,000  11,300   48,761.00  -44.60  162.5350   45.10
  total                                           32,510.88  -41.00             44.88
  (1 of 3 without a fill)

Latency, ns   count  p50  p90    p99   p99.9      max
  decoder    10,062  412  890  2,303  10,431  181,234
  gateway         0    -    -      -       -        -
  hold            7   10   20     30      40       50
  (hold: what a replay waits until nothing older can come; no latency, and not in tick to order)

To be noted
  gaps: 2 (ranges of sequence numbers that did not come)

All of it is in runs/1
  orders.fix  sha256 abababababababababababababababababababababababababababababababab"""


def test_the_summary_reads_like_this() -> None:
    assert to_text(RESULT) == TEXT


def test_a_run_in_which_nothing_happened_is_short() -> None:
    assert to_text(Result()) == (
        "Replay finished\n  messages    0 in 0 packets\n\n"
        "Orders\n  sent        0\n  filled      0 shares in 0 executions\n  refused     0\n  rejected    0"
    )


def test_why_a_run_was_stopped_stands_first() -> None:
    for state in ("killed", "failed", "interrupted"):
        first = to_text(RESULT._replace(state=state, reason="sequence gap: a message is missing")).splitlines()[0]
        assert first == f"Replay {state.upper()}: sequence gap: a message is missing"


def test_a_position_without_a_mark_has_no_profit() -> None:
    open_position = TAKER._replace(mark_e6=None)
    assert open_position.profit_e6 is None
    assert RESULT._replace(positions=(open_position, QUOTER)).profit_e6 is None
    closed = Position("taker", "AAPL", 0, 100, 100, 5_000_000, 600_000)
    assert closed.profit_e6 == 4_400_000
    shown = to_text(RESULT._replace(positions=(open_position, closed))).splitlines()
    rows = [line.split() for line in shown if re.match(r"  (taker|total) ", line)]
    assert [row[-2:] for row in rows] == [["-", "-"], ["-", "4.40"], ["4.20", "-"]]


def test_profit_is_what_would_be_left() -> None:
    assert TAKER.profit_e6 == -16_250_123_456 - 3_600_000 + 100 * 162_535_000
    assert RESULT.profit_e6 == (TAKER.profit_e6 or 0) + (QUOTER.profit_e6 or 0)


@given(st.integers(-(10**15), 10**15), st.sampled_from([2, 4]))
def test_money_is_rounded_to_the_nearest(amount_e6: int, decimals: int) -> None:
    text = dollars(amount_e6, decimals)
    assert re.fullmatch(rf"-?\d{{1,3}}(,\d{{3}})*\.\d{{{decimals}}}", text)
    digits = int(text.replace(",", "").replace(".", ""))
    assert abs(digits * 10 ** (6 - decimals) - amount_e6) * 2 <= 10 ** (6 - decimals)
    assert not re.fullmatch(r"-[0.]+", text)


@pytest.mark.parametrize(
    ("amount_e6", "text"), [(5_000, "0.00"), (15_000, "0.02"), (-15_000, "-0.02"), (-4_999, "0.00"), (995_000, "1.00")]
)
def test_half_a_cent_goes_to_the_even_one(amount_e6: int, text: str) -> None:
    assert dollars(amount_e6) == text


def keys_of(held: Any) -> Any:
    return {key: keys_of(value) for key, value in held.items()} if isinstance(held, dict) else None


def test_the_document_has_these_keys_and_no_others() -> None:
    held = json.loads(json.dumps(to_document(RESULT), allow_nan=False))
    latency = dict.fromkeys(["count", "p50", "p90", "p99", "p99.9", "max"])
    assert keys_of(held) == {
        **dict.fromkeys(["what", "state", "reason", "inputs", "date", "plan", "run_directory", "first_ns", "last_ns"]),
        **dict.fromkeys(["seconds", "packets", "messages", "messages_per_second", "positions", "profit_e6", "notes"]),
        "messages_by_type": dict.fromkeys("RADUEPSF"),
        "orders": dict.fromkeys(["new", "replace", "cancel", "total", "sha256"]),
        "fills": {"executions": None, "shares": None},
        "refusals": {"position": None, "rate": None},
        "rejects": {"orders": None, "cancels": None},
        "latency_ns": {"decoder": latency, "gateway": latency, "hold": latency},
        "counters": {"decoder": {"gaps": None}},
    }
    assert set(held["positions"][0]) == {*Position._fields, "profit_e6"}
    assert held["orders"] == {"new": 612, "replace": 1204, "cancel": 88, "total": 1904, "sha256": "ab" * 32}
    assert held["latency_ns"]["decoder"]["p99.9"] == 10_431
    assert held["positions"][0]["profit_e6"] == TAKER.profit_e6


def test_every_key_is_told_of_in_the_modules_page() -> None:
    held = to_document(RESULT)
    for key in [*held, *held["orders"], *held["fills"], *held["rejects"], *held["positions"][0]]:
        assert re.search(rf"\b{key}\b", summary.__doc__ or ""), key
