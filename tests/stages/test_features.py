"""The features stage: every feature by hand, when rows are ready, and the same rows as the naive twin."""

import gzip
import math
import random
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive import captures as naive
from tests.skips import require
from tests.stages import itch_messages as itch
from tests.stages.drive import SMALL, Drive, block, cores, told
from tests.stages.feature_events import COUNT, Stage, assert_rows_of_the_twin, book_event, taken
from tests.stages.test_book import random_day
from venym import pipeline, records
from venym.records import CROSSED, PRINTABLE, RESTARTED, SUSPECT, TRADABLE
from venym.stages import feed
from venym.stages.decoder import Limits
from venym.stages.features import HORIZONS, SAMPLES

ROWS = pipeline.BOOKS | pipeline.FEATURES  # these tests take the rows themselves
DATA = Path(__file__).resolve().parent.parent.parent / "replay_data"
PRINTED = TRADABLE | PRINTABLE
WIDE = {"bids": ((99_000, 300),), "asks": ((101_000, 100),)}  # mid 10.00, microprice 10.05


class Featured(Drive):
    """The whole pipeline; keeps the rows."""

    def __init__(self, instruments: tuple[str, ...], limits: Limits = SMALL, frames_octets: int = 1 << 18) -> None:
        super().__init__(limits, instruments, frames_octets=frames_octets)
        self.rows: list[np.void] = []

    def drain(self) -> None:
        while pipeline.drain(self.pipeline, ROWS) or self.take_rows():
            pass

    def take_rows(self) -> int:
        made = taken(self.pipeline.features.rows)
        self.rows += made
        return len(made)


def timed_day(seed: int, count: int, step_ns_max: int) -> list[bytes]:
    """A random day with times that increase, and prints and auctions in it."""
    rng, now = random.Random(seed), itch.START_NS
    messages = [itch.directory("A", 1), itch.directory("B", 2), itch.directory("TEST", 7)]
    for k, message in enumerate(random_day(rng, count, 0.02)):
        messages.append(message)
        if k % 50 == 0:
            messages.append(itch.trade(rng.randint(0, 100), 100_000, 10**6 + k))
        if k % 70 == 0:
            messages.append(itch.message("I", paired_shares=rng.randint(0, 9), imbalance_shares=rng.randint(0, 9),
                                         imbalance_direction=rng.choice("BSNO"), stock="TEST"))  # fmt: skip
        if k % 400 == 0:
            messages.append(itch.cross(500, 100_000, 2 * 10**6 + k))
            messages.append(itch.trading_action(rng.choice("HTT")))
    made = []
    for message in messages:
        now += rng.choice([0, 1, step_ns_max // 100, step_ns_max])
        made.append(message[:5] + now.to_bytes(6, "big") + message[11:])
    return made


@pytest.mark.plain
def test_spread_and_microprice_offset():
    got = Stage().last(book_event(0, **WIDE))
    assert got["spread_bps"] == 200.0  # 20 cents of 10 dollars
    assert got["microprice_offset_bps"] == 50.0  # (9.90 * 100 + 10.10 * 300) / 400 = 10.05


@pytest.mark.plain
def test_returns_are_since_the_last_event_not_later_than_the_horizon():
    prices = [(0, 100_000), (0.89, 102_000), (0.95, 104_000), (1.0, 110_000)]
    events = [book_event(at, ((mid - 100, 100),), ((mid + 100, 100),)) for at, mid in prices]
    got = Stage().last(*events)
    assert got["mid_return_100ms_bps"] == pytest.approx(1e4 * (110_000 / 102_000 - 1))
    assert got["mid_return_1s_bps"] == pytest.approx(1e3)
    assert got["mid_return_10s_bps"] == 0.0  # not that old yet
    events += [book_event(at, ((mid - 100, 100),), ((mid + 100, 100),)) for at, mid in [(8, 120_000), (9, 110_000)]]
    events.append(book_event(9.900000001, ((1, 1),), ((1_000_000, 1),)))  # a nanosecond less than 100 ms ago
    later = Stage().last(*events, book_event(10, ((54_900, 300),), ((55_100, 100),)))
    assert later["mid_return_100ms_bps"] == later["mid_return_1s_bps"] == pytest.approx(-5e3)
    assert later["mid_return_10s_bps"] == pytest.approx(-4.5e3)
    assert later["microprice_return_100ms_bps"] == pytest.approx(1e4 * (55_050 / 110_000 - 1))
    assert later["microprice_return_1s_bps"] == pytest.approx(1e4 * (55_050 / 110_000 - 1))
    assert later["microprice_return_10s_bps"] == pytest.approx(1e4 * (55_050 / 100_000 - 1))


@pytest.mark.plain
def test_queue_imbalance():
    bids = tuple((100_000 - 100 * k, shares) for k, shares in enumerate((300, 10, 10, 10, 70)))
    got = Stage().last(book_event(0, bids, ((100_200, 100), (100_300, 500))))
    assert got["queue_imbalance_1"] == 0.5
    assert got["queue_imbalance_5"] == pytest.approx(-0.2)
    assert Stage().last(book_event(0, ((100_000, 5),), ()))["queue_imbalance_1"] == 1.0
    assert Stage().last(book_event(0, (), ()))["queue_imbalance_5"] == 0.0


@pytest.mark.plain
@pytest.mark.parametrize(
    ("bids", "asks", "first", "all_five"),
    [
        (((100_000, 150), (99_900, 40)), ((100_200, 100),), 50, 50),  # 50 more at the bid
        (((100_100, 30), (100_000, 100)), ((100_200, 100),), 30, 130),  # a better bid: all of it at both levels
        (((99_900, 40),), ((100_200, 100),), -100, -140),  # the bid is gone, and so is the level behind it
        (((100_000, 100), (99_900, 40)), ((100_200, 60),), 40, 40),  # 40 fewer at the ask
        (((100_000, 100), (99_900, 40)), ((100_100, 20), (100_200, 100)), -20, -120),  # a better ask
        (((100_000, 100), (99_900, 40)), (), 100, 100),  # no ask: it went to infinity
        ((), ((100_200, 100),), -100, -140),  # no bid
    ],
)
def test_order_flow_imbalance(bids, asks, first, all_five):
    start = book_event(0, ((100_000, 100), (99_900, 40)), ((100_200, 100),))
    got = Stage().last(start, book_event(1, bids, asks))
    assert got["order_flow_imbalance_1_1s_shares"] == got["order_flow_imbalance_1_10s_shares"] == first
    assert got["order_flow_imbalance_5_1s_shares"] == got["order_flow_imbalance_5_10s_shares"] == all_five
    after = Stage().last(start, book_event(1, bids, asks), book_event(3, bids, asks))
    assert after["order_flow_imbalance_1_1s_shares"] == pytest.approx(first * math.exp(-2))
    assert after["order_flow_imbalance_5_10s_shares"] == pytest.approx(all_five * math.exp(-0.2))


@pytest.mark.plain
@pytest.mark.parametrize(
    ("kind", "side", "marks", "flow"),
    [
        ("E", "S", PRINTED, 200),  # a resting sell order was bought from
        ("E", "B", PRINTED, -200),
        ("C", "B", PRINTED, -200),
        ("C", "B", TRADABLE, 0),  # not printable
        ("P", "B", PRINTED, 0),
        ("Q", "\0", PRINTED, 0),
        ("X", "B", TRADABLE, 0),
    ],
)
def test_trade_flow_is_signed_by_the_aggressor(kind, side, marks, flow):
    trade = book_event(0, kind=kind, side=side, shares=200, marks=marks)
    got = Stage().last(trade, book_event(0.5))
    assert got["trade_flow_1s_shares"] == pytest.approx(flow * math.exp(-0.5))
    assert got["trade_flow_10s_shares"] == pytest.approx(flow * math.exp(-0.05))


@pytest.mark.plain
@pytest.mark.parametrize("kind", "AFECXDUPQHIB")
def test_intensities_count_by_kind(kind):
    got = Stage().last(book_event(0, kind=kind), book_event(2, kind=kind))
    for name, kinds in (("adds", "AFU"), ("cancels", "XDU"), ("executions", "ECP")):
        counts = kind in kinds
        assert got[f"{name}_1s_per_s"] == pytest.approx(counts * (1 + math.exp(-2)))
        assert got[f"{name}_10s_per_s"] == pytest.approx(counts * (1 + math.exp(-0.2)) / 10)


@pytest.mark.plain
def test_realised_volatility():
    mids = [(0, 100_000), (1, 101_000), (2, 99_990)]  # +100 bps, -100 bps
    events = [book_event(at, ((mid - 10, 100),), ((mid + 10, 100),)) for at, mid in mids]
    got = Stage().last(*events)
    assert got["realised_volatility_1s_bps"] == pytest.approx(100 * math.sqrt(1 + math.exp(-1)))
    assert got["realised_volatility_10s_bps"] == pytest.approx(100 * math.sqrt(1 + math.exp(-0.1)))
    events.insert(2, book_event(1.5, (), ((500_000, 1),)))  # one side has no mid
    assert Stage().last(*events)["realised_volatility_1s_bps"] == got["realised_volatility_1s_bps"]


@pytest.mark.plain
def test_ages_of_event_and_trade():
    stage = Stage()
    got = stage.last(book_event(0), book_event(1.5))
    assert (got["event_age_s"], got["trade_age_s"]) == (1.5, 1.5)
    for kind in "ECPQ":
        assert stage.last(book_event(2, kind=kind, shares=1, marks=PRINTED))["trade_age_s"] == 0.0
    assert stage.last(book_event(3, kind="Q", marks=PRINTED))["trade_age_s"] == 1.0  # an auction of nothing
    assert stage.last(book_event(4, kind="C", shares=1))["trade_age_s"] == 2.0


@pytest.mark.plain
def test_auction_imbalance_and_trading_state():
    stage = Stage()
    assert stage.last(book_event(0))["auction_imbalance"] == 0.0
    for side, value in (("B", 0.25), ("S", -0.25), ("N", 0.0), ("O", 0.0)):
        notice = book_event(1, kind="I", side=side, shares=100, paired_shares=300, marks=0)
        got = stage.last(notice)
        assert (got["auction_imbalance"], got["tradable"]) == (value, 0.0)
    stage.last(book_event(2, kind="I", side="S", shares=100))
    got = stage.last(book_event(3))
    assert (got["auction_imbalance"], got["tradable"]) == (-1.0, 1.0)
    assert stage.last(book_event(4, kind="Q", shares=50, marks=PRINTED))["auction_imbalance"] == 0.0


@pytest.mark.plain
def test_a_row_is_ready_with_two_sides_and_a_horizon_of_history():
    stage = Stage()
    ready = [
        (0, {"bids": ()}, 0), (1, {}, 0), (10.999999999, {}, 0), (11, {}, 1), (12, {"asks": ()}, 0), (13, {}, 1),
        (14, {"marks": SUSPECT}, 0), (23.99, {"marks": SUSPECT}, 0), (24, {"marks": SUSPECT | CROSSED}, 1),
        (25, {}, 0), (35, {}, 1), (34, {}, 1), (24.9, {}, 0), (34.9, {}, 1), (31, {"bids": ((0, 5),)}, 0),
    ]  # fmt: skip
    for at_s, fields, expected in ready:
        assert stage.last(book_event(at_s, **fields))["ready"] == expected, at_s


@pytest.mark.plain
def test_the_first_event_may_come_at_midnight():
    got = Stage().last(book_event(0, time_ns=0), book_event(0, **WIDE, time_ns=10 * 10**9))
    assert (got["ready"], got["mid_return_10s_bps"]) == (1, pytest.approx(1e4 * (100_000 / 100_100 - 1)))


@pytest.mark.plain
def test_a_small_step_back_stops_the_clock_and_a_long_one_starts_anew():
    stage = Stage()
    stage.last(book_event(0), book_event(20))
    got = stage.last(book_event(15))
    assert (got["event_age_s"], got["trade_age_s"], got["ready"]) == (0.0, 20.0, 1)
    assert stage.last(book_event(20.5))["event_age_s"] == 0.5
    got = stage.last(book_event(5))
    assert (got["event_age_s"], got["trade_age_s"], got["adds_1s_per_s"], got["ready"]) == (0.0, 0.0, 1.0, 0)


@pytest.mark.plain
@pytest.mark.parametrize("again", [{"marks": SUSPECT}, {"time_ns": 0}])
def test_nothing_of_before_is_left_when_the_state_starts_anew(again):
    stage, fresh = Stage(), Stage()
    history = [book_event(k, kind="E", shares=5, marks=PRINTED, **WIDE) for k in range(40)]
    stage.last(*history, book_event(40, kind="I", side="B", shares=5))
    events = [book_event(41 + k, asks=((100_200 + k, 7),)) for k in range(12)]
    for k, event in enumerate(events):
        event["marks"] = again.get("marks", TRADABLE)
        event["time_ns"] = k * 10**9 if "time_ns" in again else event["time_ns"]
    assert [told(row) for row in stage.rows(events)] == [told(row) for row in fresh.rows(events)]


@pytest.mark.plain
def test_a_book_of_one_side_has_no_prices_also_where_a_row_was_before():
    stage = Stage()
    stage.rows([book_event(k / 10, **WIDE) for k in range(len(stage.pipeline.features.rows.slots))])
    got = stage.last(book_event(30, bids=()))
    assert [value for name, value in got.items() if "spread" in name or "microprice" in name or "return" in name] == [
        0.0
    ] * 8


@pytest.mark.plain
def test_instruments_do_not_mix_and_an_unknown_one_is_an_error():
    stage = Stage(("A", "B"))
    stage.last(book_event(0, **WIDE), book_event(11, **WIDE))
    other = stage.last(book_event(11, instrument=1))
    assert (other["ready"], other["trade_age_s"], other["spread_bps"]) == (0, 0.0, pytest.approx(19.98, rel=1e-4))
    assert stage.last(book_event(12, **WIDE))["ready"] == 1
    for instrument in (2, -1, 2**31 - 1):
        stage.put(book_event(0, instrument=instrument))
        with pytest.raises(IndexError, match="instrument"):
            stage.step()
        stage.pipeline.features.events.cursor[0] -= 1


@pytest.mark.plain
def test_a_full_link_takes_no_event_and_loses_none():
    stage = Stage()
    rows, capacity = stage.pipeline.features.rows, pipeline.LINKS["features_inference"].capacity
    for k in range(capacity + 5):
        stage.put(book_event(k / 100, sequence=k))
    while stage.step():
        pass
    assert rows.cursor[0] == capacity
    state = stage.pipeline.features.states.tobytes()
    assert stage.step() == 0
    assert stage.pipeline.features.states.tobytes() == state
    first = taken(rows)
    assert stage.step() == 5
    made = first + taken(rows)
    assert [int(row["market"]["sequence"]) for row in made] == list(range(capacity + 5))
    assert_rows_of_the_twin(made)


def test_more_events_in_a_horizon_than_samples_lose_nothing_but_their_bucket():
    """20,000 events in 10 s, mids that tell them apart: each return is of the bucket a horizon ago."""
    stage, number = Stage(), np.arange(40_000)
    events = np.repeat(book_event(0), len(number))
    events["time_ns"] += number * 500_000
    events["bid_price_e4"][:, 0], events["ask_price_e4"][:, 0] = 100_000 + number, 100_002 + number
    made = stage.pour(events)
    ctx = stage.pipeline.features
    span = [int(ctx.states[0].heads[k] - ctx.states[0].tails[k]) for k in range(HORIZONS)]
    assert 150 < span[0] < span[1] < SAMPLES and 1024 < span[2] < SAMPLES
    for k in range(20_100, 40_000, 371):
        for n, (horizon, bits) in enumerate(((200, 16), (2_000, 19), (20_000, 23))):
            mid = 100_001 + k
            then = mid / (1 + float(made[k]["x"][2 + n]) / 1e4)
            late = (mid - then) - horizon  # in events of half a millisecond
            assert -1 < late <= 2**bits / 500_000 + 1


@pytest.mark.parametrize(("seed", "step_ns_max"), [(1, 60_000_000), (2, 3_000_000_000), (3, 100_000)])
def test_a_random_day_gives_the_rows_of_the_twin(seed, step_ns_max):
    drive = Featured(("TEST", "A"))
    messages = timed_day(seed, 2_000, step_ns_max)
    for k in range(0, len(messages), 500):
        drive.messages(messages[k : k + 500])
    assert {int(row["market"]["instrument"]) for row in drive.rows} == {0, 1}
    ready = assert_rows_of_the_twin(drive.rows)
    assert ready > 500 if step_ns_max > 100_000 else ready == 0


def test_a_real_capture_gives_the_rows_of_the_twin():
    octets = gzip.decompress((DATA / "aapl-2019-01-30.pcap.gz").read_bytes())
    payloads = [found.payload for found in naive.read_pcap(octets).found]
    drive = Featured(("AAPL",), Limits(1, 4, 16_384, 4096, 4096), 1 << 20)
    for k in range(0, len(payloads), 500):
        drive.payloads(payloads[k : k + 500])
    assert len(drive.rows) > 10_000
    assert assert_rows_of_the_twin(drive.rows, every=23) > 5_000
    x = np.array([row["x"][:COUNT] for row in drive.rows if row["ready"]])
    constant = {k for k in range(COUNT) if np.ptp(x[:, k]) == 0}
    assert constant == {COUNT - 2, COUNT - 1}  # it has no I, and trades all the time


SHARES = st.sampled_from([0, 1, 100, 2**32, 2**62, 2**63 - 1, -1, -(2**63)])
PRICES = st.sampled_from([0, 1, 100_000, 100_100, 2**32 - 1])
TIMES = st.sampled_from([0, 1, 10**9, 11 * 10**9, 34_200 * 10**9, 2**48 - 1, 2**63 - 1, -1, -(2**63)])


@st.composite
def hostile(draw):
    five = [draw(st.lists(st.tuples(PRICES, SHARES), min_size=5, max_size=5)) for _ in range(2)]
    return book_event(0, *five, kind=draw(st.sampled_from("AFECXDUPQI~\0")), time_ns=draw(TIMES), shares=draw(SHARES),
                      paired_shares=draw(SHARES), side=draw(st.sampled_from("BSN\0")),
                      marks=draw(st.sampled_from([0, 255, PRINTED, SUSPECT, RESTARTED])))  # fmt: skip


@pytest.mark.plain
@settings(max_examples=100, deadline=None)
@given(st.lists(hostile(), max_size=12))
def test_hostile_events_give_finite_rows(events):
    for row in Stage().rows(events):
        assert np.isfinite(row["x"]).all()
        assert row["ready"] in (0, 1)


@pytest.mark.plain
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3 * 10**9), hostile()), max_size=25))
def test_any_events_in_time_give_the_rows_of_the_twin(steps):
    now, events = 0, []
    for step_ns, event in steps:
        now += step_ns
        event["time_ns"] = now
        for name in ("shares", "paired_shares", "bid_shares", "ask_shares"):
            event[name] = np.clip(event[name], -5, 10**6)
        events.append(event)
    assert_rows_of_the_twin(Stage().rows(events))


def split_rows(messages: list[bytes], masks: list[int]) -> list[np.void]:
    """The rows when each mask runs on a thread of its own; this one takes them."""
    drive = Featured(("TEST", "A"))
    octets = np.frombuffer(b"".join(map(block, messages)), np.uint8)
    drive.pipeline.feed.frames[: octets.size] = octets
    found = drive.pipeline.feed.found[0]
    found.length, found.framing, found.sequence = octets.size, records.BLOCKS, 1
    feed.offer(drive.pipeline.feed, 1)
    with cores(drive.pipeline, masks):
        idle, deadline = 0, time.monotonic() + 60
        while idle < 100 and time.monotonic() < deadline:
            done = drive.counters().get("messages", 0) == len(messages) and not drive.take_rows()
            idle = idle + 1 if done else 0
            drive.take_rows()
            time.sleep(0.001)
    drive.take_rows()
    return drive.rows


def test_which_cores_run_the_stages_changes_no_row():
    require("needs the compiler")
    messages = timed_day(4, 3_000, 60_000_000)
    plans = [
        [ROWS],
        [pipeline.BOOKS, pipeline.FEATURES],
        [pipeline.FEED, pipeline.DECODER, pipeline.FEATURES],
    ]
    one, *others = [b"".join(told(row) for row in split_rows(messages, masks)) for masks in plans]
    assert len(one) > 1_000 * records.FEATURE_ROW.itemsize
    assert [other == one for other in others] == [True, True]
