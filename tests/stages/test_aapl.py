"""Real order events of one instrument, AAPL on 2019-01-30 from 9:30, against the ten best levels of each side that
another book showed after each of them (replay_data/README.md).

All 10,000 rows are the same at all ten levels. Three of them had to be asked first, for they alone tell of orders that
came before 9:30 and that nothing happens to; the capture adds those before the open.

    event 25163  row 0      eight ask levels have shares that no event accounts for
    event 28246  row 3,083  an execution empties the best bid, and 162.49 comes up as the tenth, with 200 shares
    event 33573  row 8,410  likewise 162.40, with 214 shares, of which the events account for 203

A book that learns of such orders when they are first shown is wrong at the last two of these rows, so 9,997 of the
9,999 after the first are the same; one that never does is wrong at 1,740 rows.
"""

import gzip
from pathlib import Path

import numpy as np
import pytest

from tests.naive import captures as naive
from tests.stages.drive import Drive
from venym.hot.link import make_link
from venym.records import BOOK_EVENT, SUSPECT, TOP_LEVELS, TRADABLE
from venym.stages import view
from venym.stages.decoder import Limits

pytestmark = pytest.mark.plain

DATA = Path(__file__).resolve().parent.parent.parent / "replay_data"
LOCATE, DEPTH = 14, 10
LIMITS = Limits(channels_max=1, instruments_max=4, orders_max=16_384, levels_max=4096, trades_max=4096)
BATCH = 500  # packets handed on at a time
SHOWN = [f"{side}_{field}" for side in ("bid", "ask") for field in ("price_e4", "shares")]


class Observed(Drive):
    """Keeps the ten best levels after each event: its link holds one, so that the decoder stops until it is taken."""

    def __init__(self) -> None:
        super().__init__(LIMITS, instruments=("AAPL",), frames_octets=1 << 20)
        decoder = self.pipeline.decoder._replace(events=make_link(BOOK_EVENT, 1))
        self.pipeline = self.pipeline._replace(decoder=decoder)
        self.ladders: list[tuple[np.ndarray, ...]] = []

    def take_events(self) -> int:
        taken = super().take_events()
        if taken:
            self.ladders.append(self.best(view.BUY) + self.best(view.SELL))
        return taken

    def best(self, side: int) -> tuple[np.ndarray, np.ndarray]:
        """Prices and shares of the ten best levels, 0 where there is none."""
        rows = np.zeros((2, DEPTH), np.int32)
        found = view.levels(self.pipeline.decoder.orders, self.book(LOCATE), side, DEPTH)
        rows[:, : len(found)] = np.array([row[:2] for row in found], np.int32).reshape(-1, 2).T
        return rows[0], rows[1]


@pytest.fixture(scope="module")
def oracle() -> dict[str, np.ndarray]:
    with np.load(DATA / "aapl-2019-01-30.levels.npz") as held:
        return dict(held)


@pytest.fixture(scope="module")
def played() -> Observed:
    """The whole capture, gone through the pipeline."""
    octets = gzip.decompress((DATA / "aapl-2019-01-30.pcap.gz").read_bytes())
    payloads = [found.payload for found in naive.read_pcap(octets).found]
    drive = Observed()
    for k in range(0, len(payloads), BATCH):
        drive.payloads(payloads[k : k + BATCH])
    return drive


@pytest.fixture(scope="module")
def ladders(played: Observed, oracle: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Ours after each message that the oracle has a row for, in its layout."""
    row_of = {int(event["sequence"]): k for k, event in enumerate(played.events)}
    rows = [row_of[sequence] for sequence in oracle["sequence"].tolist()]
    return {name: np.array([played.ladders[k][at] for k in rows]) for at, name in enumerate(SHOWN)}


def differing(ladders: dict[str, np.ndarray], oracle: dict[str, np.ndarray], depth: int) -> list[int]:
    """The rows of the oracle that are not the same at the `depth` best levels."""
    wrong = [(ladders[name][:, :depth] != oracle[name][:, :depth]).any(axis=1) for name in SHOWN]
    return np.flatnonzero(np.any(wrong, axis=0)).tolist()


def test_the_oracle_has_ten_levels_of_each_side_for_every_event(oracle):
    assert set(oracle) == {"sequence", *SHOWN}
    for name in SHOWN:
        assert oracle[name].shape == (10_000, DEPTH)
        assert oracle[name].dtype == np.int32
        assert (oracle[name] > 0).all()


@pytest.mark.parametrize("depth", [1, TOP_LEVELS, DEPTH])
def test_the_best_levels_are_those_of_the_other_book_after_every_event(ladders, oracle, depth):
    assert differing(ladders, oracle, depth) == []


def test_events_carry_the_same_levels(played, ladders, oracle):
    first = int(oracle["sequence"][0])
    events = [event for event in played.events if event["sequence"] >= first]
    carried = {name: np.array([event[name] for event in events]) for name in SHOWN}
    assert len(events) == 10_000
    assert differing(carried, oracle, TOP_LEVELS) == []


@pytest.mark.parametrize(
    ("row", "price_e4", "shares", "untouched"), [(3083, 1624900, 200, 200), (8410, 1624000, 214, 11)]
)
def test_two_rows_show_an_order_that_nothing_happens_to(played, oracle, row, price_e4, shares, untouched):
    assert price_e4 not in oracle["bid_price_e4"][:row]
    assert (oracle["bid_price_e4"][row, -1], oracle["bid_shares"][row, -1]) == (price_e4, shares)
    assert played.queue(LOCATE, "B", price_e4)[0][1] == untouched  # still there at the end


def test_nothing_was_passed_over_nor_did_not_fit(played):
    assert played.counters() == {"messages": 10_062, "packets": 4210, "sessions": 1, "heartbeats": 1}
    marks = {int(event["marks"]) & (SUSPECT | TRADABLE) for event in played.events if event["kind"] != ord("R")}
    assert marks == {TRADABLE}
    assert not played.suspect(LOCATE)
