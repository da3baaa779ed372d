"""Artifacts: a model is opened for the table it was made for, and for no other; what is wrong is refused by name."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.models.build import model_text, names
from tests.naive.trees import Split
from venym.models.artifact import load, wrap_lightgbm
from venym.models.model import ModelError, ModelGarbled, ModelMismatch, ModelUnsupported, predict_row

pytestmark = pytest.mark.plain

TEXT = model_text([Split(0, 0.0, "nan", True, 1.0, 2.0), Split(1, 0.0, "nan", True, 10.0, 20.0)], 2)
LINEAR = dict(kind="linear", schema_hash="hash", features=["f0", "f1"], outputs=["up"], link="identity",
              weights=[[1.0, 2]], intercept=[0])  # fmt: skip


def linear(folder: Path, **changes: Any) -> Path:
    path = folder / "it.model.json"
    path.write_text(json.dumps({**LINEAR, **changes}))
    return path


def lightgbm(folder: Path, **changes: Any) -> Path:
    (folder / "it.txt").write_text(TEXT)
    path = wrap_lightgbm(folder / "it.txt", "hash", ["up"])
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


@pytest.mark.parametrize("write", [linear, lightgbm])
def test_a_model_opens_for_its_own_table(write: Any, tmp_path: Path) -> None:
    path = write(tmp_path)
    model = load(path, ["f0", "f1"], "hash")
    assert (model.kind, model.features, model.outputs) == (write.__name__, ("f0", "f1"), ("up",))
    assert predict_row(model, [1.0, 1.0])[0] == {"linear": 3.0, "lightgbm": 22.0}[model.kind]


@pytest.mark.parametrize("write", [linear, lightgbm])
@pytest.mark.parametrize(
    ("table", "schema", "what"),
    [
        (["f1", "f0"], "hash", "in another order: 0 is 'f0', in the table 'f1'"),
        (["f0", "F1"], "hash", "of other names: 1 is 'f1', in the table 'F1'"),
        (["f0"], "hash", "made for 2 features, the table has 1"),
        (["f0", "f1", "f2"], "hash", "made for 2 features, the table has 3"),
        (["f0", "f1"], "another", "schema_hash 'hash', the table's is 'another'"),
    ],
)
def test_a_model_does_not_open_for_another_table(
    write: Any, table: list[str], schema: str, what: str, tmp_path: Path
) -> None:
    with pytest.raises(ModelMismatch, match=what):
        load(write(tmp_path), table, schema)


@pytest.mark.parametrize(
    ("changes", "error", "what"),
    [
        (dict(kind="forest"), ModelUnsupported, "kind 'forest'; lightgbm and linear are read"),
        (dict(kind=7), ModelUnsupported, "kind 7"),
        (dict(note="x"), ModelUnsupported, "key 'note' in a linear model"),
        (dict(link="tanh"), ModelUnsupported, "link 'tanh'"),
        (dict(features=["f0", "f0"]), ModelGarbled, "features has a name twice"),
        (dict(features="f0"), ModelGarbled, "features is not a list of names"),
        (dict(features=["f0", 1]), ModelGarbled, "features is not a list of names"),
        (dict(features=names(65)), ModelUnsupported, "65 features"),
        (dict(outputs=[]), ModelUnsupported, "0 outputs"),
        (dict(outputs=names(9)), ModelUnsupported, "9 outputs"),
        (dict(weights=[[1.0]]), ModelGarbled, "weights has not the length 2"),
        (dict(weights=[1.0, 2.0]), ModelGarbled, "weights is not a list of 1 lists"),
        (dict(weights=[[1.0, "2"]]), ModelGarbled, "weights holds '2'"),
        (dict(weights=[[1.0, True]]), ModelGarbled, "weights holds True"),
        (dict(weights=[[1.0, 10**400]]), ModelGarbled, "weights holds 1000"),
        (dict(intercept=[]), ModelGarbled, "intercept has not the length 1"),
        (dict(intercept=0), ModelGarbled, "intercept has not the length 1"),
        (dict(intercept=[float("nan")]), ModelGarbled, "NaN is not a finite number"),
        (dict(intercept=[float("inf")]), ModelGarbled, "Infinity is not a finite number"),
        (dict(schema_hash=None), ModelGarbled, "schema_hash is not a text"),
    ],
)
def test_a_wrong_linear_model_is_refused_by_name(
    changes: Any, error: type[ModelError], what: str, tmp_path: Path
) -> None:
    path = linear(tmp_path, **changes)
    features = changes.get("features", LINEAR["features"])
    with pytest.raises(error, match=what) as caught:
        load(path, features, "hash")
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("key", LINEAR)
def test_a_missing_key_is_named(key: str, tmp_path: Path) -> None:
    path = tmp_path / "it.model.json"
    path.write_text(json.dumps({name: value for name, value in LINEAR.items() if name != key}))
    with pytest.raises(ModelGarbled, match=f"{key} is missing"):
        load(path, ["f0", "f1"], "hash")


@pytest.mark.parametrize(
    ("changes", "error", "what"),
    [
        (dict(file="../it.txt"), ModelGarbled, "not a file beside this one"),
        (dict(file="other.txt"), ModelError, "other.txt: cannot be read"),
        (dict(sha256="00"), ModelMismatch, "sha256 is not that of it.txt"),
        (dict(features=["f1", "f0"]), ModelMismatch, "features are not the feature_names of it.txt"),
        (dict(outputs=["up", "down"]), ModelMismatch, "2 outputs, it.txt has 1"),
        (dict(iterations=0), ModelGarbled, "iterations is 0, not 1 to 2"),
        (dict(iterations=3), ModelGarbled, "iterations is 3, not 1 to 2"),
        (dict(iterations=True), ModelGarbled, "iterations is True"),
        (dict(link="sigmoid"), ModelUnsupported, "link 'sigmoid'"),
    ],
)
def test_a_wrong_lightgbm_artifact_is_refused_by_name(
    changes: Any, error: type[ModelError], what: str, tmp_path: Path
) -> None:
    path = lightgbm(tmp_path, **changes)
    with pytest.raises(error, match=what):
        load(path, changes.get("features", ["f0", "f1"]), "hash")


def test_the_iterations_said_are_those_used(tmp_path: Path) -> None:
    (tmp_path / "it.txt").write_text(TEXT)
    path = wrap_lightgbm(tmp_path / "it.txt", "hash", ["up"], iterations=1)
    assert predict_row(load(path, ["f0", "f1"], "hash"), [1.0, 1.0])[0] == 2.0


def test_nothing_is_written_around_a_file_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "it.txt").write_text(TEXT.replace("is_linear=0", "is_linear=1"))
    with pytest.raises(ModelUnsupported, match=r"it\.txt:\d+: a linear tree"):
        wrap_lightgbm(tmp_path / "it.txt", "hash", ["up"])
    assert not (tmp_path / "it.model.json").exists()


@pytest.mark.parametrize(
    ("octets", "what"),
    [
        (b"", ":1: "),
        (b'{\n"kind": ', ":2: "),
        (b"[1]", "not a JSON object"),
        (b'{"kind": "linear", "kind": "linear"}', "stands twice"),
        (b"[" * 100_000, "recursion"),
        (b"\n\xff", ":2: octet 1 is not UTF-8"),
        (b'{"kind": ' + b"9" * 5000 + b"}", "digits"),
    ],
)
def test_what_is_not_an_artifact_is_refused(octets: bytes, what: str, tmp_path: Path) -> None:
    path = tmp_path / "it.model.json"
    path.write_bytes(octets)
    with pytest.raises(ModelGarbled, match=what):
        load(path, ["f0", "f1"], "hash")


@pytest.mark.parametrize("name", ["none.model.json", "."])
def test_what_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        load(tmp_path / name, ["f0", "f1"], "hash")


@settings(max_examples=100)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=3), below, max_size=3),
        max_leaves=6,
    ),
    key=st.sampled_from(sorted(LINEAR)),
)
def test_any_value_of_any_key_is_refused_or_harmless(
    value: Any, key: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = linear(tmp_path_factory.mktemp("it"), **{key: value})
    try:
        model = load(path, ["f0", "f1"], "hash")
    except ModelError as error:
        assert str(path) in str(error)
    else:
        assert len(predict_row(model, [1.0, 2.0])) == 1
