"""Trees: every missing type, any shape, any row gives what plain recursion gives, bit for bit."""

import math
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.models.build import MISSING, bits, delicate_values, model_of, model_text
from tests.naive import trees as naive
from tests.naive.trees import Split, Tree
from venym.hot.jit import PLAIN
from venym.models.model import predict_row
from venym.models.trees import Tree as Flat
from venym.models.trees import TreeError, check_tree

pytestmark = pytest.mark.plain

THRESHOLDS = [
    -1.0,
    -1e-34,
    -1.0000000180025095e-35,
    -1e-40,
    0.0,
    1e-40,
    1.0000000180025095e-35,
    0.1,
    1.0,
    1e300,
    -1e300,
    math.inf,
    -math.inf,
]
VALUES = delicate_values(THRESHOLDS).tolist()
FEATURES = 4
NAN = math.nan


@pytest.mark.parametrize(
    ("missing", "x", "leaf"),
    [
        ("none", NAN, 2.0),  # as 0
        ("none", -1.0, 1.0),
        ("none", -0.5, 2.0),
        ("zero", 0.0, 1.0),
        ("zero", -0.0, 1.0),
        ("zero", 1e-36, 1.0),
        ("zero", NAN, 1.0),
        ("zero", 1e-34, 2.0),
        ("nan", NAN, 1.0),
        ("nan", 0.0, 2.0),
        ("nan", -math.inf, 1.0),
        ("nan", math.inf, 2.0),
    ],
)
def test_missing_values_of_a_split_at_minus_1_that_sends_them_left(
    missing: str, x: float, leaf: float, tmp_path: Path
) -> None:
    model = model_of(tmp_path, model_text([Split(0, -1.0, missing, True, 1.0, 2.0)], 1), 1)
    assert predict_row(model, [x])[0] == leaf


def test_infinity_is_above_every_threshold(tmp_path: Path) -> None:
    model = model_of(tmp_path, model_text([Split(0, 1e300, "nan", True, 1.0, 2.0)], 1), 1)
    assert predict_row(model, [math.inf])[0] == 2.0
    assert predict_row(model, [3e38])[0] == 1.0


def test_a_tree_may_be_one_leaf_and_a_feature_unused(tmp_path: Path) -> None:
    model = model_of(tmp_path, model_text([0.25, Split(2, 0.5, "nan", False, 1.0, 2.0)], 4), 4)
    assert predict_row(model, [NAN, NAN, 0.0, NAN]).tolist() == [1.25]
    assert model.used == ("f2",)


LEAVES = st.floats(-1e6, 1e6)
NODES = st.recursive(
    LEAVES,
    lambda below: st.builds(
        Split,
        st.integers(0, FEATURES - 1),
        st.sampled_from(THRESHOLDS),
        st.sampled_from(MISSING),
        st.booleans(),
        below,
        below,
    ),
    max_leaves=40,
)
ROWS = st.lists(st.lists(st.sampled_from(VALUES), min_size=FEATURES, max_size=FEATURES), min_size=1, max_size=20)


@settings(max_examples=20 if PLAIN else 200)
@given(forest=st.lists(NODES, min_size=1, max_size=20), outputs=st.integers(1, 3), rows=ROWS)
def test_any_trees_give_what_recursion_gives(forest: list[Tree], outputs: int, rows: list[list[float]]) -> None:
    forest = forest[: len(forest) // outputs * outputs] or forest[:1] * outputs
    objective = "regression" if outputs == 1 else f"multiclass num_class:{outputs}"
    with tempfile.TemporaryDirectory() as folder:
        model = model_of(Path(folder), model_text(forest, FEATURES, outputs, objective), FEATURES, outputs)
    for row in rows:
        assert bits(predict_row(model, row)) == bits(naive.scores(forest, outputs, row))
    used = set[int]().union(*map(naive.features_of, forest))
    assert model.used == tuple(f"f{k}" for k in sorted(used))


@settings(max_examples=10 if PLAIN else 60)
@given(forest=st.lists(NODES, min_size=1, max_size=12), row=st.lists(st.sampled_from(VALUES), min_size=4, max_size=4))
def test_nothing_beyond_the_arrays_is_touched(forest: list[Tree], row: list[float]) -> None:
    """Each array ends at a page that may not be touched."""
    with tempfile.TemporaryDirectory() as folder:
        model = model_of(Path(folder), model_text(forest, FEATURES), FEATURES)
    x = np.array(row, np.float32)
    plain = [model.words, model.values, x, np.zeros(model.scratch), np.zeros(1)]
    pages = [Guarded(array.nbytes) for array in plain]
    held = [page.put(array.tobytes()).view(array.dtype) for page, array in zip(pages, plain, strict=True)]
    model.predict(*held)
    assert bits(held[4]) == bits(naive.scores(forest, 1, row))


def chain(nodes: int) -> Tree:
    tree: Tree = 0.0
    for k in range(nodes):
        tree = Split(0, float(nodes - k), "nan", False, float(nodes - k), tree)
    return tree


def test_a_tree_may_be_a_chain(tmp_path: Path) -> None:
    model = model_of(tmp_path, model_text([chain(200), 1.0], 1), 1)
    assert [predict_row(model, [x])[0] for x in (0.5, 1.5, 150.0, 150.5, 200.0, 201.0)] == [2, 3, 151, 152, 201, 1]


@pytest.mark.parametrize(
    ("left", "right", "leaves", "what"),
    [
        ([0], [-1], 2, "reached twice"),
        ([1, 0], [-1, -2], 3, "reached twice"),
        ([-1, 1], [-2, -3], 3, "not reached"),
        ([-1], [-1], 2, "reached twice"),
        ([2], [-1], 2, "neither"),
        ([-1], [-9], 2, "neither"),
        ([-1], [-2], 3, "1 splits and 3 leaves"),
        ([1, 1], [-1, -2], 3, "reached twice"),
    ],
)
def test_children_that_make_no_tree_are_refused(left: list[int], right: list[int], leaves: int, what: str) -> None:
    nodes = len(left)
    with pytest.raises(TreeError, match=what):
        check_tree(Flat([0] * nodes, [0.0] * nodes, [0] * nodes, left, right, [0.0] * leaves))


def test_a_threshold_that_is_nan_is_refused() -> None:
    with pytest.raises(TreeError, match="threshold 0"):
        check_tree(Flat([0], [NAN], [0], [-1], [-2], [0.0, 0.0]))


@pytest.mark.parametrize("number", [NAN, math.inf, -math.inf])
def test_a_leaf_that_is_not_finite_is_refused(number: float) -> None:
    with pytest.raises(TreeError, match="leaf_value 1"):
        check_tree(Flat([0], [0.0], [0], [-1], [-2], [0.0, number]))
