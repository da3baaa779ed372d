"""LightGBM text: the library's own answers, bit for bit; damage and unknown constructs refused with their line."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.build import MISSING, bits, delicate_rows, model_of, model_text, names
from tests.naive.trees import Split, Tree
from venym.models.lightgbm import read_text
from venym.models.model import ModelError, ModelGarbled, ModelUnsupported, predict_row
from venym.models.trees import build_trees

FEATURES = 8
ROWS = 20_000


def train(target: str = "real", rounds: int = 20, holes: bool = True, **params: Any) -> lightgbm.Booster:
    chance = np.random.default_rng(7)
    x = chance.normal(size=(3000, FEATURES)).astype(np.float32)
    if holes:
        x[chance.random(x.shape) < 0.1] = np.nan
        x[chance.random(x.shape) < 0.1] = 0
    known = np.nan_to_num(x)
    y = known[:, 0] * known[:, 1] + np.sin(3 * known[:, 2]) + 0.3 * chance.normal(size=3000)
    targets = {"real": y, "positive": np.abs(y), "sign": y > 0, "class": np.digitize(y, [-0.5, 0.5])}
    options = dict(num_leaves=15, num_threads=1, verbose=-1, min_data_in_leaf=5, **params)
    group = [100] * 30 if params.get("objective") == "lambdarank" else None
    data = lightgbm.Dataset(x, targets[target].astype(np.float64), feature_name=names(FEATURES), group=group)
    return lightgbm.train(options, data, rounds)


def rows_for(booster: lightgbm.Booster, text: str) -> np.ndarray:
    thresholds: dict[int, list[float]] = {}
    features, limits = (re.findall(rf"^{key}=(.*)$", text, re.M) for key in ("split_feature", "threshold"))
    for feature, limit in zip(" ".join(features).split(), " ".join(limits).split(), strict=True):
        thresholds.setdefault(int(feature), []).append(float(limit))
    return delicate_rows(thresholds, booster.num_feature(), ROWS)


def predictions(model: Any, rows: np.ndarray) -> np.ndarray:
    return np.array([predict_row(model, row) for row in rows])


RF: dict[str, Any] = dict(boosting="rf", bagging_freq=1, bagging_fraction=0.6)
TRAINED: dict[str, tuple[dict[str, Any], str]] = {
    "l2": (dict(objective="regression"), "real"),
    "l1": (dict(objective="regression_l1"), "real"),
    "huber": (dict(objective="huber"), "real"),
    "fair": (dict(objective="fair"), "real"),
    "quantile": (dict(objective="quantile", alpha=0.7), "real"),
    "mape": (dict(objective="mape"), "real"),
    "ranking": (dict(objective="lambdarank"), "sign"),
    "poisson": (dict(objective="poisson"), "positive"),
    "gamma": (dict(objective="gamma"), "positive"),
    "tweedie": (dict(objective="tweedie"), "positive"),
    "binary": (dict(objective="binary"), "sign"),
    "binary, steeper": (dict(objective="binary", sigmoid=2.5), "sign"),
    "cross entropy": (dict(objective="cross_entropy"), "sign"),
    "three classes": (dict(objective="multiclass", num_class=3), "class"),
    "one against all": (dict(objective="multiclassova", num_class=3, sigmoid=0.7), "class"),
    "dart": (dict(objective="regression", boosting="dart"), "real"),
    "random forest": (dict(objective="regression", **RF), "real"),
    "random forest, binary": (dict(objective="binary", **RF), "sign"),
    "zero is missing": (dict(objective="regression", zero_as_missing=True), "real"),
    "nothing is missing": (dict(objective="regression", use_missing=False), "real"),
}


@pytest.mark.parametrize("name", TRAINED)
def test_a_trained_model_predicts_as_the_library_bit_for_bit(name: str, tmp_path: Path) -> None:
    params, target = TRAINED[name]
    booster = train(target, **params)
    text = booster.model_to_string()
    rows = rows_for(booster, text)
    outputs = booster.num_model_per_iteration()
    model = model_of(tmp_path, text, FEATURES, outputs, link="objective")
    expected = np.reshape(booster.predict(rows, num_threads=1), (ROWS, outputs))
    assert bits(predictions(model, rows)) == bits(expected)
    assert len(np.unique(expected)) > 100


@pytest.mark.parametrize("name", ["binary, steeper", "three classes", "poisson"])
def test_raw_scores_are_the_librarys_too(name: str, tmp_path: Path) -> None:
    params, target = TRAINED[name]
    booster = train(target, **params)
    text = booster.model_to_string()
    rows = rows_for(booster, text)[:2000]
    outputs = booster.num_model_per_iteration()
    model = model_of(tmp_path, text, FEATURES, outputs, link="identity")
    expected = np.reshape(booster.predict(rows, raw_score=True, num_threads=1), (-1, outputs))
    assert bits(predictions(model, rows)) == bits(expected)


@pytest.mark.parametrize("name", ["l2", "three classes", "random forest"])
def test_as_many_iterations_as_said_are_used(name: str, tmp_path: Path) -> None:
    params, target = TRAINED[name]
    booster = train(target, **params)
    text = booster.model_to_string()
    rows = rows_for(booster, text)[:2000]
    outputs = booster.num_model_per_iteration()
    for iterations in (1, 7, 20):
        model = model_of(tmp_path, text, FEATURES, outputs, link="objective", iterations=iterations)
        expected = np.reshape(booster.predict(rows, num_iteration=iterations, num_threads=1), (-1, outputs))
        assert bits(predictions(model, rows)) == bits(expected)


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("default_left", [False, True])
def test_thresholds_that_training_would_not_choose(missing: str, default_left: bool, tmp_path: Path) -> None:
    limits = [-np.inf, -1e300, -1.0, -1e-30, -1.0000000180025095e-35, -1e-36, -1e-320, 0.0, 1e-320, 1e-40, 1e-36,
              1.0000000180025095e-35, 1.0000000180025097e-35, 0.1, 16777217.0, 1e300, np.inf]  # fmt: skip
    forest: list[Tree] = [Split(0, limit, missing, default_left, 2.0**k, 0.0) for k, limit in enumerate(limits)]
    text = model_text(forest, 2)
    booster = lightgbm.Booster(model_str=text)
    rows = delicate_rows({0: limits}, 2, ROWS)
    model = model_of(tmp_path, text, 2)
    assert bits(predictions(model, rows)) == bits(np.reshape(booster.predict(rows, num_threads=1), (-1, 1)))


def test_the_library_reads_numbers_of_17_digits_as_we_do(tmp_path: Path) -> None:
    chance = np.random.default_rng(3)
    leaves = (chance.normal(size=60) * 10.0 ** chance.integers(-300, 300, 60)).tolist()
    forest: list[Tree] = list(leaves)
    text = model_text(forest, 1)
    booster = lightgbm.Booster(model_str=text)
    for first in range(60):
        expected = booster.predict(np.zeros((1, 1)), start_iteration=first, num_iteration=1)
        assert expected[0] == leaves[first]
    assert [tree.leaf[0] for tree in read_text(text, "it").trees] == leaves


GOOD = model_text([Split(0, -1.0, "nan", True, 1.0, Split(1, 0.5, "zero", False, 2.0, 3.0)), 0.5], 2)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "error", "what"),
    [
        ("tree\nversion", "version", ModelGarbled, "does not begin"),
        ("version=v4", "version=v2", ModelUnsupported, "version 'v2'"),
        ("num_cat=0", "num_cat=1", ModelUnsupported, "categorical splits"),
        ("num_cat=0", "num_cat=1\ncat_boundaries=0 1\ncat_threshold=1", ModelUnsupported, "categorical splits"),
        ("decision_type=10 4", "decision_type=10 1", ModelUnsupported, "categorical splits"),
        ("decision_type=10 4", "decision_type=10 12", ModelGarbled, "decision_type 12"),
        ("decision_type=10 4", "decision_type=10 -4", ModelGarbled, "decision_type -4"),
        ("is_linear=0", "is_linear=1", ModelUnsupported, "linear tree"),
        ("is_linear=0", "leaf_const=1 2", ModelUnsupported, "leaf_const"),
        ("label_index=0", "shape=0", ModelUnsupported, "shape"),
        ("objective=regression", "objective=regression sqrt", ModelUnsupported, "sqrt"),
        ("objective=regression", "objective=cross_entropy_lambda", ModelUnsupported, "cross_entropy_lambda"),
        ("objective=regression", "objective=binary sigmoid:0", ModelGarbled, "sigmoid:0"),
        ("objective=regression", "objective=binary sigmoid:nan", ModelGarbled, "nan"),
        ("objective=regression", "objective=binary sigmoid:1e999", ModelGarbled, "1e999"),
        ("objective=regression", "objective=multiclass num_class:3", ModelGarbled, "num_class '3'"),
        ("max_feature_idx=1", "max_feature_idx=2", ModelGarbled, "2 feature names"),
        ("num_tree_per_iteration=1", "num_tree_per_iteration=0", ModelGarbled, "not positive"),
        ("Tree=1", "Tree=2", ModelGarbled, "where Tree=1"),
        ("num_leaves=3", "num_leaves=999999999", ModelGarbled, "3 numbers where 999999999"),
        ("num_leaves=3", "num_leaves=9999999999", ModelGarbled, "'9999999999' is not a number"),
        ("num_leaves=3", "num_leaves=3\nnum_leaves=3", ModelGarbled, "second num_leaves"),
        ("split_feature=0 1", "split_feature=0 2", ModelGarbled, "feature 2 of 2"),
        ("split_feature=0 1", "split_feature=0 -1", ModelGarbled, "feature -1 of 2"),
        ("threshold=-1.0 0.5", "threshold=-1.0 nan", ModelGarbled, "'nan'"),
        ("threshold=-1.0 0.5", "threshold=-1.0 1_0", ModelGarbled, "'1_0'"),
        ("leaf_value=0.5", "leaf_value=1e999", ModelGarbled, "leaf_value 0 is inf"),
        ("leaf_value=0.5", "leaf_value=inf", ModelGarbled, "'inf'"),
        ("threshold=-1.0 0.5", "threshold=-1.0", ModelGarbled, "1 numbers where 2"),
        ("left_child=-1 -2", "left_child=0 -2", ModelGarbled, "reached twice"),
        ("right_child=1 -3", "right_child=7 -3", ModelGarbled, "child 7"),
        ("right_child=1 -3", "garbage", ModelGarbled, "'garbage' is not name=value"),
        ("leaf_value=0.5", "leaf_weight=0.5", ModelGarbled, "no leaf_value"),
        ("tree_sizes=", "tree_sizes=7 ", ModelGarbled, "3 tree_sizes, 2 trees"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused_by_name_and_line(old: str, new: str, error: type[ModelError], what: str) -> None:
    assert old in GOOD
    with pytest.raises(error, match=re.escape(what)) as caught:
        read_text(GOOD.replace(old, new, 1), "it.txt")
    named = re.match(r"it\.txt:(\d+): ", str(caught.value))
    assert named
    if old.startswith(("version", "num_cat", "decision", "split", "threshold=-1.0", "label", "objective", "Tree")):
        assert abs(int(named[1]) - line_of(GOOD, old)) <= 4  # children are told by the line the tree begins in


def test_a_cut_file_is_refused_wherever_it_is_cut() -> None:
    end = GOOD.index("end of trees") + len("end of trees")
    for cut in range(end):
        with pytest.raises(ModelError, match=r"it:\d+: "):
            read_text(GOOD[:cut], "it")
    assert len(read_text(GOOD[:end], "it").trees) == 2


def predicts(text: str, act: Callable[[Any], None]) -> None:
    try:
        booster = read_text(text, "it")
    except ModelError as error:
        assert re.match(r"it:\d+: ", str(error))
        return
    features = booster.features
    if len(features) <= 64 and booster.outputs <= 8:
        outputs = tuple("abcdefgh"[: booster.outputs])
        act(build_trees("lightgbm", features, outputs, booster.trees, booster.response))


@settings(max_examples=300)
@given(data=st.data())
def test_any_damage_is_refused_or_harmless(data: Any) -> None:
    text = list(GOOD[: GOOD.index("end of trees") + 13])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text) - 1))
        text[at] = data.draw(st.sampled_from([*"0123456789-+.e= \n\0x", "", "\n\n", "9999999999", "\u0663"]))
    rows = [[0.0] * 64, [np.nan] * 64, [1e30] * 64]

    def act(model: Any) -> None:
        for row in rows:
            assert len(predict_row(model, row[: len(model.features)])) == len(model.outputs)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        predicts("".join(text), act)
