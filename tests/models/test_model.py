"""A model in memory: one signature for every kind, nothing compiled when started again, no model at all."""

import re
from pathlib import Path

import numpy as np
import pytest

from tests.hot import child
from tests.models.build import model_of, model_text, names
from tests.naive.trees import Split, softmax
from venym.hot.jit import PLAIN
from venym.models.linear import build_linear
from venym.models.model import (
    EXPONENTIAL,
    SIGMOID,
    SOFTMAX,
    Link,
    ModelMismatch,
    ModelUnsupported,
    no_model,
    predict_row,
)

pytestmark = pytest.mark.plain


def test_without_a_model_there_are_no_outputs() -> None:
    model = no_model()
    assert predict_row(model, []).tolist() == []
    assert (model.kind, model.outputs, model.used) == ("none", (), ())


def test_a_row_of_another_width_is_refused(tmp_path: Path) -> None:
    model = model_of(tmp_path, model_text([Split(0, 0.0, "nan", True, 1.0, 2.0)], 2), 2)
    for x in ([1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]):
        with pytest.raises(ModelMismatch, match="takes 2 features"):
            predict_row(model, x)


@pytest.mark.parametrize(("features", "outputs"), [(65, 1), (1, 9)])
def test_a_model_wider_than_its_records_is_not_built(features: int, outputs: int) -> None:
    with pytest.raises(ModelUnsupported, match="a row holds 64, a signal 8"):
        weights = [[1.0] * features] * outputs
        build_linear(tuple(names(features)), tuple(names(outputs)), weights, [0.0] * outputs, Link())


def test_a_softmax_is_over_all_outputs() -> None:
    model = build_linear(("f0",), tuple(names(3)), [[1.0], [2.0], [-1.0]], [0.0, 0.5, 0.0], Link(SOFTMAX))
    for x in (0.0, 1.0, -3.0, 500.0, -1e6):
        assert predict_row(model, [x]).tolist() == softmax([x, 2 * x + 0.5, -x])


@pytest.mark.parametrize(("word", "highest"), [(EXPONENTIAL, np.inf), (SIGMOID, 1.0)])
def test_a_link_beyond_the_range_of_a_double_raises_nothing(word: int, highest: float) -> None:
    model = build_linear(("f0",), ("y",), [[1.0]], [0.0], Link(word))
    assert [predict_row(model, [x])[0] for x in (1e4, -1e4)] == [highest, 0.0]
    assert predict_row(model, [0.0])[0] == {EXPONENTIAL: 1.0, SIGMOID: 0.5}[word]


START = """
import sys
from pathlib import Path
from venym.hot.jit import Compiles
compiles = Compiles()
from tests.stages.test_inference import Drive
from tests.models.build import model_of, model_text
from tests.naive.trees import Split
from venym.models.linear import build_linear
from venym.models.model import Link, no_model
folder = Path(sys.argv[1])
models = {
    "none": no_model(),
    "linear": build_linear(("f0", "f1"), ("y",), [[1.0, 2.0]], [0.5], Link()),
    "trees": model_of(folder, model_text([Split(1, 0.5, "nan", True, 1.0, 2.0)], 2), 2),
}
drive = Drive(models[sys.argv[2]])
drive.give([[1.0, 2.0]])
drive.step()
print(drive.take()[0].y[0], len(compiles.names), *compiles.names, sep="|")
"""


@pytest.mark.skipif(PLAIN, reason="needs the compiler")
def test_a_second_start_compiles_nothing_whatever_the_model(tmp_path: Path) -> None:
    env = child.environment(NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    def start(kind: str) -> list[str]:
        return child.run(START, tmp_path, kind, env=env)[0].strip().split("|")

    y, compiled, *functions = start("linear")
    assert float(y) == 5.5 and int(compiled) > 0
    assert {"predict_linear", "predict_trees", "step"} <= {
        re.sub(r".*function (\w+) at.*", r"\1", f) for f in functions
    }
    for kind, expected in (("linear", 5.5), ("trees", 2.0), ("none", 0.0)):
        y, compiled, *functions = start(kind)
        assert (float(y), int(compiled)) == (expected, 0), functions
