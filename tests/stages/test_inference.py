"""Inference: each row becomes one signal, in order; ready means that everything it rests on is finite."""

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.build import delicate_values, model_of, model_text
from tests.naive import linear as naive_linear
from tests.naive import trees as naive_trees
from tests.naive.trees import Split, Tree
from tests.stages.drive import zeroed
from venym import metrics
from venym.hot.jit import PLAIN
from venym.hot.link import HEAD, TAIL, make_link
from venym.models.linear import build_linear
from venym.models.model import EXPONENTIAL, IDENTITY, Link, Model, no_model
from venym.records import BOOK_EVENT, FEATURE_ROW, SIGNAL
from venym.stages import inference

pytestmark = pytest.mark.plain

NAN = math.nan


class Drive:
    """The stage between two links, fed and emptied by hand."""

    def __init__(self, model: Model, rows: int = 16, signals: int = 16, burst: int = 256) -> None:
        self.rows, self.signals = make_link(FEATURE_ROW, rows), make_link(SIGNAL, signals)
        self.context = inference.build(zeroed, self.rows, self.signals, model, burst)
        self.signals.slots["y"] = 77  # what an earlier lap left there
        self.signals.slots["ready"] = 77

    def give(self, xs: list[list[float]], ready: int = 1, market: np.ndarray | None = None) -> None:
        for k, x in enumerate(xs):
            slot = self.rows.slots[(int(self.rows.cursor[HEAD]) + k) % len(self.rows.slots)]
            slot.x, slot.ready = 0, ready
            slot.x[: len(x)] = x
            if market is not None:
                slot.market = market[k]
        self.rows.cursor[HEAD] += len(xs)

    def step(self) -> int:
        with np.errstate(all="ignore"):  # uncompiled, numpy would warn of what becomes inf or NaN
            return int(inference.step(self.context))

    def take(self, most: int = 1 << 30) -> list[Any]:
        tail = int(self.signals.cursor[TAIL])
        count = min(int(self.signals.cursor[HEAD]) - tail, most)
        found = [self.signals.slots[(tail + k) % len(self.signals.slots)].copy() for k in range(count)]
        self.signals.cursor[TAIL] += count
        return found

    def counters(self) -> dict[str, int]:
        held = self.context.counters
        return {c.name: int(held[c.word]) for c in metrics.INFERENCE if held[c.word]}


def sum_of_two() -> Model:
    return build_linear(("a", "b", "c"), ("y",), [[1.0, 0.0, 2.0]], [0.0], Link(IDENTITY))


def test_the_outputs_of_the_model_come_first_and_zeros_after_them() -> None:
    model = build_linear(("a", "b"), ("up", "down"), [[1.0, 0.0], [0.0, -1.0]], [0.5, 0.0], Link(IDENTITY))
    drive = Drive(model)
    drive.give([[1.0, 2.0], [3.0, 4.0]])
    assert drive.step() == 2
    found = drive.take()
    assert [signal.y.tolist() for signal in found] == [[1.5, -2.0] + [0.0] * 6, [3.5, -4.0] + [0.0] * 6]
    assert [int(signal.ready) for signal in found] == [1, 1]
    assert drive.counters() == {"signals": 2}


def test_the_market_fields_are_passed_on_as_they_are() -> None:
    octets = np.random.default_rng(1).integers(0, 256, (5, BOOK_EVENT.itemsize), np.uint8)
    market = octets.view(BOOK_EVENT)[:, 0]
    drive = Drive(sum_of_two())
    drive.give([[0.0]] * 5, market=market)
    drive.step()
    assert [signal.market.tobytes() for signal in drive.take()] == [row.tobytes() for row in octets]


def test_without_a_model_the_market_passes_and_nothing_is_ready() -> None:
    drive = Drive(no_model())
    market = np.zeros(1, BOOK_EVENT)
    market["price_e4"] = 12_345
    drive.give([[1.0, 2.0]], market=market)
    assert drive.step() == 1
    (signal,) = drive.take()
    assert (int(signal.ready), signal.y.tolist(), int(signal.market.price_e4)) == (0, [0.0] * 8, 12_345)
    assert drive.counters() == {"signals": 1, "rows_without_model": 1}


@pytest.mark.parametrize("odd", [NAN, math.inf, -math.inf])
def test_a_used_feature_that_is_not_finite_is_never_ready(odd: float) -> None:
    drive = Drive(sum_of_two())
    drive.give([[odd, 1.0, 1.0], [1.0, odd, 1.0], [1.0, 1.0, odd], [1.0, 1.0, 1.0]])
    drive.step()
    assert [int(signal.ready) for signal in drive.take()] == [0, 1, 0, 1]
    assert drive.counters() == {"signals": 4, "features_not_finite": 2}


def test_trees_answer_for_missing_features_too_but_are_not_ready(tmp_path: Path) -> None:
    drive = Drive(model_of(tmp_path, model_text([Split(0, 0.0, "nan", True, 1.0, 2.0)], 2), 2))
    drive.give([[NAN, 0.0], [1.0, NAN]])
    drive.step()
    assert [(int(signal.ready), float(signal.y[0])) for signal in drive.take()] == [(0, 1.0), (1, 2.0)]


@pytest.mark.parametrize("ready", [0, 2, -1])
def test_a_row_that_is_not_ready_makes_no_signal_that_is(ready: int) -> None:
    drive = Drive(sum_of_two())
    drive.give([[1.0, 1.0, 1.0]], ready=ready)
    drive.step()
    (signal,) = drive.take()
    assert (int(signal.ready), float(signal.y[0])) == (0, 3.0)
    assert drive.counters() == {"signals": 1, "rows_not_ready": 1}


def test_an_output_that_no_float32_holds_is_nan_and_not_ready() -> None:
    drive = Drive(build_linear(("a",), ("y",), [[1.0]], [0.0], Link(EXPONENTIAL)))
    drive.give([[88.0], [89.0], [1e4], [-1e4]])
    drive.step()
    found = drive.take()
    assert [int(signal.ready) for signal in found] == [1, 0, 0, 1]
    assert [math.isnan(signal.y[0]) for signal in found] == [False, True, True, False]
    assert drive.counters() == {"signals": 4, "outputs_not_finite": 2}


def test_when_the_signals_are_full_rows_wait_and_none_is_lost() -> None:
    drive = Drive(sum_of_two(), rows=16, signals=4)
    drive.give([[float(k), 0.0, 0.0] for k in range(10)])
    assert [drive.step(), drive.step()] == [4, 0]
    assert int(drive.rows.cursor[TAIL]) == 4
    found = drive.take(3)
    assert drive.step() == 3
    found += drive.take()
    while drive.step():
        found += drive.take()
    assert [float(signal.y[0]) for signal in found] == [float(k) for k in range(10)]
    assert drive.counters() == {"signals": 10}


def test_a_step_takes_no_more_than_its_burst() -> None:
    drive = Drive(sum_of_two(), burst=3)
    drive.give([[0.0]] * 8)
    assert [drive.step() for _ in range(4)] == [3, 3, 2, 0]


FOREST: list[Tree] = [
    Split(0, 0.5, "nan", True, Split(1, -1.0, "zero", False, 0.1, 0.2), 0.3),
    Split(2, 1e-40, "none", True, 1.0, Split(0, -0.5, "nan", False, 2.0, 4.0)),
    Split(2, 1.0, "nan", False, 10.0, 20.0),
]
WEIGHTS, INTERCEPT = [[1.0, 0.0, 0.5, 0.0], [-1.0, 0.0, 1e-3, 0.0]], [0.25, 3e38]


def naive_signal(kind: str, ready: int, x: list[float]) -> tuple[int, list[float]]:
    """(ready, y) as plain Python has it."""
    sums = naive_trees.scores(FOREST, 1, x) if kind == "trees" else naive_linear.scores(WEIGHTS, INTERCEPT, x)
    used = [0, 1, 2] if kind == "trees" else [0, 2]
    y = [value if abs(value) <= float(np.finfo(np.float32).max) else NAN for value in sums]
    whole = all(math.isfinite(x[k]) for k in used) and not any(math.isnan(value) for value in y)
    narrow = [float(np.float32(value)) for value in y]
    return int(whole and ready == 1), narrow + [0.0] * (8 - len(y))


@pytest.fixture(scope="module")
def kinds(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Model]:
    return {
        "trees": model_of(tmp_path_factory.mktemp("it"), model_text(FOREST, 4), 4),
        "linear": build_linear(("a", "b", "c", "d"), ("y", "z"), WEIGHTS, INTERCEPT, Link(IDENTITY)),
    }


VALUES = delicate_values([0.5, -1.0, 1e-40, -0.5]).tolist()


@settings(max_examples=15 if PLAIN else 100)
@given(
    kind=st.sampled_from(["trees", "linear"]),
    xs=st.lists(st.lists(st.sampled_from(VALUES), min_size=4, max_size=4), max_size=30),
    readies=st.lists(st.integers(0, 1), min_size=1, max_size=5),
    taken=st.lists(st.integers(0, 5), min_size=1, max_size=10),
)
def test_any_rows_in_any_interleaving_give_what_the_twin_gives(
    kind: str, xs: list[list[float]], readies: list[int], taken: list[int], kinds: dict[str, Model]
) -> None:
    drive = Drive(kinds[kind], rows=4, signals=2)
    found: list[Any] = []
    expected: list[tuple[int, list[float]]] = []
    waiting = list(zip(xs, itertools.cycle(readies), strict=False))
    takes = itertools.cycle([*taken, 1])
    while len(found) < len(xs):
        free = 4 - int(drive.rows.cursor[HEAD] - drive.rows.cursor[TAIL])
        for x, ready in waiting[:free]:
            drive.give([x], ready=ready)
            expected.append(naive_signal(kind, ready, x))
        waiting = waiting[free:]
        drive.step()
        found += drive.take(next(takes))
    assert [int(signal.ready) for signal in found] == [ready for ready, _ in expected]
    np.testing.assert_array_equal([signal.y for signal in found], [y for _, y in expected])


@pytest.mark.skipif(PLAIN, reason="needs the compiler")
def test_the_stage_is_compiled_once_for_every_kind_of_model(kinds: dict[str, Model]) -> None:
    for model in (*kinds.values(), no_model()):
        Drive(model).step()
    assert len(inference.step.signatures) == 1  # type: ignore[attr-defined]


def test_every_inference_counter_has_a_word_and_a_name_of_its_own() -> None:
    assert [counter.word for counter in metrics.INFERENCE] == list(range(metrics.INFERENCE_COUNTERS))
    for counter in metrics.INFERENCE:
        assert getattr(metrics, counter.name.upper()) == counter.word
        assert counter.meaning and not counter.meaning.endswith(".")
