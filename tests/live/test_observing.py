"""A live run beside an exchange that loses, repeats and reorders: what is recovered is as if nothing had been lost.

The short form of it; `-m soak` runs the same over ten million messages.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.observing import Observed, observe, store_of
from venym.control import ladder
from venym.control.resolve import resolve
from venym.venue.impairment import Impairment, Outage
from venym.venue.message_store import Store

LOSSY = Impairment((0.01, 0.01), 0.0, (0.005, 0.005), (0.005, 0.005), seed=7)


def cut_to(file: Path, share: float) -> None:
    """Leave out the end of a day, so that orders are alive at the end of what is left."""
    octets = file.read_bytes()
    at, end = 0, int(len(octets) * share)
    while at < end:
        at += 2 + int.from_bytes(octets[at : at + 2], "big")
    file.write_bytes(octets[:at])


class Day:
    """A made-up day, what an undisturbed run makes of it, and how runs of it are made."""

    def __init__(self, folder: Path, messages: int, symbols: int, rate: int, every: int) -> None:
        self.folder, self.rate, self.runs = folder, rate, 0
        self.file = folder / "day.itch"
        command = [sys.executable, "-m", "venym", "generate", "--messages", str(messages), "--symbols", str(symbols)]
        subprocess.run([*command, "--seed", "5", str(self.file), "--json"], check=True, stdout=subprocess.DEVNULL)
        cut_to(self.file, 2 / 3)
        self.store: Store = store_of(self.file, 4)
        settings = resolve(None, (), {}).settings
        held = ladder.read_books([self.file], settings, None).pipeline.decoder
        self.books = ladder.document(held, ladder.selected(held, None), None, 0)["symbols"]
        self.symbols = sorted(self.books, key=lambda name: -self.books[name]["volume"])[:8]
        self.every = every
        self.clean = self.observe(gate=False)

    def observe(self, impairment: Impairment = Impairment(), **how: Any) -> Observed:  # noqa: B008  # a tuple
        self.runs += 1
        how = {"more": [f"strategies.probe.params.every={self.every}"]} | how
        return observe(self.folder / f"run{self.runs}", self.store, self.symbols, self.rate, impairment, **how)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param((60_000, 100, 40_000, 20), id="short"),
        pytest.param((10_000_000, 1_000, 100_000, 2_000), id="long", marks=pytest.mark.soak),
    ],
)
def day(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Day]:
    yield Day(tmp_path_factory.mktemp("live"), *request.param)


def assert_as_if_nothing_were_lost(day: Day, run: Observed) -> None:
    assert run.counters["messages"] == day.store.messages and run.counters["missed_messages"] == 0
    assert run.books == day.books
    assert run.orders == day.clean.orders


def told(run: Observed) -> str:
    """How long outages took, for the log."""
    taken = sorted(record["seconds"] for record in run.recoveries)
    return f"{len(taken)} recoveries, at most {taken[-1] * 1e3:.1f} ms" if taken else "none"


def test_an_undisturbed_day_is_the_files(day: Day) -> None:
    assert len(day.clean.orders) > 50
    assert_as_if_nothing_were_lost(day, day.clean)


def test_lines_that_lose_repeat_and_reorder_make_one_whole(day: Day) -> None:
    run = day.observe(LOSSY, gate=False)
    assert run.exchange["lines"]["a"]["lost"] > 0
    assert_as_if_nothing_were_lost(day, run)


def test_one_line_dead_and_the_other_losing(day: Day) -> None:
    run = day.observe(LOSSY._replace(outages=[Outage(1, 0, 3_600_000_000_000)]), gate=False)
    assert run.counters["holes"] > 0 and run.recoveries
    assert_as_if_nothing_were_lost(day, run)
    print(told(run))


def test_both_lines_losing_the_same(day: Day) -> None:
    run = day.observe(Impairment(loss_both=0.002, seed=8), gate=False)
    assert sum(made["answered"] for made in run.exchange["rerequest"]) > 0 and run.recoveries
    assert_as_if_nothing_were_lost(day, run)
    print(told(run))


def test_nothing_new_leaves_while_messages_are_missing(day: Day) -> None:
    run = day.observe(Impairment(loss_both=0.01, seed=9), more=["strategies.probe.params.every=1"])
    assert run.refusals["gapped"] > 0
    assert run.counters["messages"] == day.store.messages and run.books == day.books


def test_a_snapshot_where_no_request_is_answered(day: Day) -> None:
    run = day.observe(Impairment(loss_both=0.0002, seed=10), rerequest=False)
    assert run.exchange["glimpse"]["spins"] > 0
    assert run.alive == day.clean.alive and run.alive
    assert {name: (book["bids"], book["asks"]) for name, book in run.books.items()} == {
        name: (book["bids"], book["asks"]) for name, book in day.books.items() if name in run.books
    }
    print(told(run))
