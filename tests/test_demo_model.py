"""The model in replay_data/: made for the present features, LightGBM's own answers, from the capture to its signals."""

import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest

from tests.stages.drive import zeroed
from venym import pipeline
from venym.hot.link import HEAD, TAIL
from venym.models.artifact import load
from venym.models.model import Model, ModelMismatch, predict_row
from venym.records import FEATURE_ROW
from venym.stages import feature_table, feed
from venym.transport.capture import FRAMES_BYTES_MIN, Capture

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "train_demo_model"
ARTIFACT = ROOT / "replay_data" / "aapl-demo.model.json"
TREES = ROOT / "replay_data" / "aapl-demo.txt"
MADE_WITH = "4.7.0"  # of lightgbm; another version may grow other trees
READY = 6_834
HORIZON_NS, SPLIT_NS = 500_000_000, 34_220_000_000_000


@pytest.fixture(scope="module")
def script() -> dict[str, Any]:
    return runpy.run_path(str(SCRIPT))


@pytest.fixture(scope="module")
def rows(script: dict[str, Any]) -> np.ndarray:
    return script["read_rows"](script["CAPTURE"])


@pytest.fixture(scope="module")
def model() -> Model:
    return load(ARTIFACT, feature_table.names(), feature_table.schema_hash())


@pytest.fixture(scope="module")
def expected(script: dict[str, Any], rows: np.ndarray) -> np.ndarray:
    """What the library says of every row."""
    return np.asarray(lightgbm.Booster(model_file=TREES).predict(script["features_of"](rows), num_threads=1))


# What ships


def test_it_is_made_for_the_present_features_and_uses_only_those_it_was_meant_to(
    script: dict[str, Any], model: Model
) -> None:
    assert (model.kind, model.features) == ("lightgbm", feature_table.names())
    assert model.outputs == ("mid_move_500ms_e4",)  # what, over which time, in which unit
    assert model.used and set(model.used) <= set(script["USED"]) < set(feature_table.names())


def test_it_is_refused_by_name_when_the_features_are_others(monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = feature_table.schema_hash()
    monkeypatch.setattr(feature_table, "VERSION", feature_table.VERSION + 1)  # other meanings under the same names
    assert feature_table.schema_hash() != shipped
    with pytest.raises(ModelMismatch, match=rf"aapl-demo\.model\.json: schema_hash '{shipped[:16]}"):
        load(ARTIFACT, feature_table.names(), feature_table.schema_hash())


def test_it_predicts_what_the_library_predicts_bit_for_bit(
    script: dict[str, Any], rows: np.ndarray, model: Model, expected: np.ndarray
) -> None:
    predicted = np.array([predict_row(model, x)[0] for x in script["features_of"](rows)])
    assert predicted.tobytes() == expected.tobytes()


def test_its_predictions_are_finite_on_the_whole_capture_and_tell_its_moments_apart(
    rows: np.ndarray, expected: np.ndarray
) -> None:
    assert np.isfinite(expected).all()
    ready = expected[rows["ready"] == 1]
    assert len(np.unique(ready)) > 100
    for part in np.array_split(ready, 10):
        assert np.ptp(part) > 100  # a cent, in 1e-4 dollars
    assert min((ready > 150).sum(), (ready < -150).sum()) > 100  # something to do for a taker, on both sides


def test_the_pipeline_turns_the_capture_into_its_signals(
    script: dict[str, Any], model: Model, rows: np.ndarray, expected: np.ndarray
) -> None:
    made = pipeline.build_market(zeroed, script["LIMITS"], FRAMES_BYTES_MIN, 1_024, ("AAPL",), model=model)
    link = made.inference.signals
    signals: list[np.void] = []

    def taken() -> int:
        head, tail = int(link.cursor[HEAD]), int(link.cursor[TAIL])
        signals.extend(link.slots[k & (len(link.slots) - 1)].copy() for k in range(tail, head))
        link.cursor[TAIL] = head
        return head - tail

    with Capture([script["CAPTURE"]], made.feed.frames, made.feed.found) as capture:
        while count := capture.fill():
            feed.offer(made.feed, count)
            while pipeline.drain(made, pipeline.BOOKS | pipeline.FEATURES | pipeline.INFERENCE) or taken():
                pass
    assert np.array([signal["y"][0] for signal in signals]).tobytes() == expected.astype(np.float32).tobytes()
    assert [int(signal["ready"]) for signal in signals] == rows["ready"].tolist()
    assert sum(int(signal["ready"]) for signal in signals) == READY


def test_the_files_are_small() -> None:
    assert ARTIFACT.stat().st_size + TREES.stat().st_size < 200_000


# How it was made


def run(folder: Path) -> tuple[str, dict[str, bytes]]:
    ran = subprocess.run(
        [sys.executable, str(SCRIPT), "--out", str(folder)], capture_output=True, text=True, timeout=300, check=True
    )
    assert ran.stderr == ""
    return ran.stdout, {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_script_makes_the_same_bytes_again(tmp_path: Path) -> None:
    told, made = run(tmp_path / "first")
    if lightgbm.__version__ == MADE_WITH:
        assert made == {path.name: path.read_bytes() for path in (ARTIFACT, TREES)}
    else:
        assert made == run(tmp_path / "second")[1]
    assert "always 0" in told and "a demonstration" in told and "no evidence" in told


def test_a_label_is_the_move_of_the_mid_to_the_last_event_within_the_horizon(
    script: dict[str, Any], rows: np.ndarray
) -> None:
    labels = script["labels_e4"](rows, HORIZON_NS)
    market = rows["market"]
    quotes = [
        (int(event["time_ns"]), int(event["bid_price_e4"][0]), int(event["ask_price_e4"][0]))
        for event in market
        if event["bid_shares"][0] and event["ask_shares"][0]
    ]
    assert len(quotes) > 10_000
    known = 0
    for k in range(0, len(rows), 97):
        event = market[k]
        until = int(event["time_ns"]) + HORIZON_NS
        if not (event["bid_shares"][0] and event["ask_shares"][0]) or until > quotes[-1][0]:
            assert np.isnan(labels[k])
            continue
        _, bid, ask = [quote for quote in quotes if quote[0] <= until][-1]
        assert labels[k] == (bid + ask - int(event["bid_price_e4"][0]) - int(event["ask_price_e4"][0])) / 2
        known += 1
    assert known > 80


def test_an_event_a_horizon_later_to_the_nanosecond_counts_and_one_without_two_sides_does_not(
    script: dict[str, Any],
) -> None:
    events = [
        (0, 100, 102),
        (3, 100, 110),
        (10, 100, 104),
        (10, 100, 106),
        (11, 100, 0),
        (14, 100, 120),
    ]  # ns, bid, ask
    rows = np.zeros(len(events), FEATURE_ROW)
    for event, (time_ns, bid_e4, ask_e4) in zip(rows["market"], events, strict=True):
        event["time_ns"], event["bid_price_e4"][0], event["ask_price_e4"][0] = time_ns, bid_e4, ask_e4
        event["bid_shares"][0], event["ask_shares"][0] = 1, int(ask_e4 > 0)
    found = script["labels_e4"](rows, 10)
    np.testing.assert_array_equal(found, [2.0, -2.0, np.nan, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(script["labels_e4"](rows, 1), [0.0, 0.0, 1.0, 0.0, np.nan, np.nan])


def test_no_row_trained_on_knows_of_the_time_tested_on(script: dict[str, Any], rows: np.ndarray) -> None:
    labels = script["labels_e4"](rows, HORIZON_NS)
    trained, tested = script["split_rows"](rows, labels, script["SPLIT_S"], script["HORIZON_MS"])
    times = rows["market"]["time_ns"]
    assert times[trained].max() + HORIZON_NS < SPLIT_NS <= times[tested].min()
    assert min(len(trained), len(tested)) > 1_000
    for part in (trained, tested):
        assert (rows["ready"][part] == 1).all() and np.isfinite(labels[part]).all()


def test_what_is_learned_has_no_direction(script: dict[str, Any]) -> None:
    """Of rows that only ever rise, as much fall is learned for the opposite features."""
    chance = np.random.default_rng(1)
    x = chance.normal(size=(2_000, len(feature_table.FEATURES))).astype(np.float32)
    column = feature_table.position("queue_imbalance_1")
    x[:, column] = np.abs(x[:, column])
    booster = script["train"](x, 50 + 50 * x[:, column].astype(np.float64))
    up, down = booster.predict(x), booster.predict(-x)
    assert up.min() > 40 and abs(up.mean() + down.mean()) < 1


def test_the_figures_of_a_model_are_what_they_are_named(script: dict[str, Any]) -> None:
    y = np.array([2.0, -4.0, 0.0, 6.0])
    exact, zero, opposite = (script["score"](y, part * y + 1e-9 * np.arange(4)) for part in (1.0, 0.0, -1.0))
    assert (exact.r2, exact.hits, exact.correlation) == pytest.approx((1, 1, 1))
    assert zero.r2 == pytest.approx(0, abs=1e-6)
    assert (opposite.r2, opposite.hits, opposite.correlation) == pytest.approx((-3, 0, -1))
    assert exact.drift == pytest.approx(2 / 3)
