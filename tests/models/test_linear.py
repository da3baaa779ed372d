"""Linear models: the formula, in double, in the order of the features."""

import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.build import bits, names
from tests.naive import linear as naive
from tests.naive.trees import sigmoid
from venym.hot.jit import PLAIN
from venym.models.artifact import load
from venym.models.model import Model, predict_row

pytestmark = pytest.mark.plain


def made(folder: Path, weights: list[list[float]], intercept: list[float], link: str = "identity") -> Model:
    held: dict[str, Any] = dict(kind="linear", schema_hash="hash", features=names(len(weights[0])), link=link)
    held.update(outputs=[f"y{k}" for k in range(len(weights))], weights=weights, intercept=intercept)
    path = folder / "it.model.json"
    path.write_text(json.dumps(held))
    return load(path, held["features"], "hash")


NUMBERS = st.floats(-1e6, 1e6) | st.just(0.0)
X = st.floats(width=32) | st.just(0.0)


@settings(max_examples=20 if PLAIN else 100)
@given(data=st.data(), features=st.integers(1, 64), outputs=st.integers(1, 8))
def test_any_weights_give_what_the_formula_gives(data: Any, features: int, outputs: int) -> None:
    row = st.lists(NUMBERS, min_size=features, max_size=features)
    weights = data.draw(st.lists(row, min_size=outputs, max_size=outputs))
    intercept = data.draw(st.lists(NUMBERS, min_size=outputs, max_size=outputs))
    x = data.draw(st.lists(X, min_size=features, max_size=features))
    with tempfile.TemporaryDirectory() as folder:
        model = made(Path(folder), weights, intercept)
    found, expected = predict_row(model, x), naive.scores(weights, intercept, x)
    assert [math.isnan(v) for v in found] == [math.isnan(v) for v in expected]
    numbers = [k for k, v in enumerate(expected) if not math.isnan(v)]
    assert bits(found[numbers]) == bits([expected[k] for k in numbers])


def test_a_feature_without_weight_is_not_looked_at(tmp_path: Path) -> None:
    model = made(tmp_path, [[1.0, 0.0, 2.0], [0.5, 0.0, 0.0]], [1.0, -1.0])
    assert model.used == ("f0", "f2")
    assert predict_row(model, [1.0, math.nan, 3.0]).tolist() == [8.0, -0.5]


@pytest.mark.parametrize("x", [0.0, 1.0, -1.0, 700.0, -700.0, 3e38, -3e38])
def test_a_sigmoid_makes_a_probability(x: float, tmp_path: Path) -> None:
    assert predict_row(made(tmp_path, [[2.0]], [0.5], "sigmoid"), [x])[0] == sigmoid(
        2.0 * float(np.float32(x)) + 0.5, 1.0
    )
