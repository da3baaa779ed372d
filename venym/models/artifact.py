"""Artifacts: NAME.model.json says what a model was made for, and holds it or names the file that does.

    every kind  kind         "linear" or "lightgbm"
                schema_hash  of the feature table the model was trained on
                features     names, in the order of the table
                outputs      names, 1 to 8, in the order of SIGNAL.y
    linear      weights      for each output, for each feature
                intercept    for each output
                link         "identity" or "sigmoid"
    lightgbm    file         name of the text file beside this one; its feature_names are `features`
                sha256       of that file, in hexadecimal
                iterations   how many are used, from the first
                link         "identity": raw scores, of a random forest their average; "objective": the response,
                             such as a probability

Every key must be there, and no other. Numbers are finite.
"""

import hashlib
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..records import FEATURES_MAX, SIGNALS_MAX
from .lightgbm import Booster, read_text
from .linear import build_linear
from .model import IDENTITY, SIGMOID, Link, Model, ModelError, ModelGarbled, ModelMismatch, ModelUnsupported
from .trees import build_trees

COMMON_KEYS = {"kind", "schema_hash", "features", "outputs", "link"}
KIND_KEYS = {"linear": {"weights", "intercept"}, "lightgbm": {"file", "sha256", "iterations"}}
LINKS = {"linear": ("identity", "sigmoid"), "lightgbm": ("identity", "objective")}


def load(path: Path | str, feature_names: Sequence[str], schema_hash: str) -> Model:
    """The model of an artifact, for a feature table of these names and this hash.

    Raises ModelMismatch when it was made for another table, ModelGarbled and ModelUnsupported (see `model`), and
    ModelError when a file cannot be read.
    """
    path = Path(path)
    artifact = _Artifact(path, _read(path))
    artifact.require_table(tuple(feature_names), schema_hash)
    return artifact.linear() if artifact.kind == "linear" else artifact.lightgbm()


def wrap_lightgbm(
    text_path: Path | str,
    schema_hash: str,
    outputs: Sequence[str],
    link: str = "identity",
    iterations: int | None = None,
) -> Path:
    """Write the artifact of a LightGBM text file, beside it and named after it; returns its path.

    The features are those the file names; `iterations` None means all of them: give the best iteration after early
    stopping. Raises ModelError as `load` does, before anything is written.
    """
    text_path = Path(text_path)
    octets = _read(text_path)
    booster = read_text(_decode(octets, text_path), text_path)
    held = dict(
        kind="lightgbm",
        file=text_path.name,
        sha256=hashlib.sha256(octets).hexdigest(),
        schema_hash=schema_hash,
        features=list(booster.features),
        outputs=list(outputs),
        link=link,
        iterations=booster.iterations if iterations is None else iterations,
    )
    path = text_path.with_name(text_path.stem + ".model.json")
    text = json.dumps(held, indent=1) + "\n"
    _Artifact(path, text.encode()).lightgbm()
    path.write_text(text, "utf-8")
    return path


class _Artifact:
    """The JSON of an artifact, checked as far as every kind has it."""

    def __init__(self, path: Path, octets: bytes) -> None:
        self.path = path
        self.held = self.parse(_decode(octets, path))
        kind = self.held.get("kind")
        if kind is None:
            self.garbled("kind", "is missing")
        if not isinstance(kind, str) or kind not in KIND_KEYS:
            raise ModelUnsupported(f"{path}: kind {_short(kind)}; {' and '.join(sorted(KIND_KEYS))} are read")
        self.kind = kind
        known = COMMON_KEYS | KIND_KEYS[kind]
        for key in sorted(known - set(self.held)):
            self.garbled(key, "is missing")
        for key in sorted(set(self.held) - known):
            raise ModelUnsupported(f"{path}: key {_short(key)} in a {kind} model")
        self.features = self.names("features", FEATURES_MAX)
        self.outputs = self.names("outputs", SIGNALS_MAX)
        self.link = self.text("link")
        if self.link not in LINKS[kind]:
            raise ModelUnsupported(f"{path}: link {_short(self.link)}; a {kind} model has {' or '.join(LINKS[kind])}")

    def parse(self, text: str) -> dict[str, Any]:
        def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            held = dict(pairs)
            if len(held) < len(pairs):
                raise ValueError("a key stands twice")
            return held

        def refuse(word: str) -> NoReturn:
            raise ValueError(f"{word} is not a finite number")

        try:
            held = json.loads(text, object_pairs_hook=once, parse_constant=refuse)
        except json.JSONDecodeError as error:
            raise ModelGarbled(f"{self.path}:{error.lineno}: {error.msg}") from error
        except (ValueError, RecursionError) as error:
            raise ModelGarbled(f"{self.path}: {error}") from error
        if not isinstance(held, dict):
            raise ModelGarbled(f"{self.path}: not a JSON object")
        return held

    def require_table(self, names: tuple[str, ...], schema_hash: str) -> None:
        """Raise ModelMismatch unless the model was made for this feature table."""
        if len(names) != len(self.features):
            raise ModelMismatch(f"{self.path}: made for {len(self.features)} features, the table has {len(names)}")
        for k, (own, other) in enumerate(zip(self.features, names, strict=True)):
            if own != other:
                what = "in another order" if set(self.features) == set(names) else "of other names"
                raise ModelMismatch(f"{self.path}: made for features {what}: {k} is {own!r}, in the table {other!r}")
        if self.text("schema_hash") != schema_hash:
            found = self.text("schema_hash")
            raise ModelMismatch(f"{self.path}: schema_hash {_short(found)}, the table's is {schema_hash!r}")

    def linear(self) -> Model:
        rows = self.held["weights"]
        if not isinstance(rows, list) or len(rows) != len(self.outputs):
            self.garbled("weights", f"is not a list of {len(self.outputs)} lists")
        weights = [self.numbers("weights", row, len(self.features)) for row in rows]
        intercept = self.numbers("intercept", self.held["intercept"], len(self.outputs))
        link = Link(SIGMOID if self.link == "sigmoid" else IDENTITY)
        return build_linear(self.features, self.outputs, weights, intercept, link)

    def lightgbm(self) -> Model:
        name = self.text("file")
        if Path(name).name != name or "\0" in name:
            self.garbled("file", f"is {_short(name)}, not a file beside this one")
        path = self.path.with_name(name)
        octets = _read(path)
        if hashlib.sha256(octets).hexdigest() != self.text("sha256"):
            raise ModelMismatch(f"{self.path}: sha256 is not that of {name}")
        booster = read_text(_decode(octets, path), path)
        if booster.features != self.features:
            raise ModelMismatch(f"{self.path}: features are not the feature_names of {name}")
        if booster.outputs != len(self.outputs):
            raise ModelMismatch(f"{self.path}: {len(self.outputs)} outputs, {name} has {booster.outputs}")
        return self.boosted(booster)

    def boosted(self, booster: Booster) -> Model:
        iterations = self.held["iterations"]
        if type(iterations) is not int or not 1 <= iterations <= booster.iterations:
            self.garbled("iterations", f"is {_short(iterations)}, not 1 to {booster.iterations}")
        link = booster.response if self.link == "objective" else Link(IDENTITY)
        divisor = float(iterations) if booster.average else 1.0
        trees = booster.trees[: iterations * booster.outputs]
        return build_trees("lightgbm", self.features, self.outputs, trees, link, divisor)

    def names(self, key: str, most: int) -> tuple[str, ...]:
        held = self.held[key]
        if not isinstance(held, list) or not all(isinstance(name, str) and name for name in held):
            self.garbled(key, "is not a list of names")
        if not 1 <= len(held) <= most:
            raise ModelUnsupported(f"{self.path}: {len(held)} {key}; there may be 1 to {most}")
        if len(set(held)) < len(held):
            self.garbled(key, "has a name twice")
        return tuple(held)

    def numbers(self, key: str, held: Any, count: int) -> list[float]:
        if not isinstance(held, list) or len(held) != count:
            self.garbled(key, f"has not the length {count}")
        made = []
        for number in held:
            if type(number) not in (int, float) or not -1e300 <= number <= 1e300 or not math.isfinite(number):
                self.garbled(key, f"holds {_short(number)}, which is no number up to 1e300")
            made.append(float(number))
        return made

    def text(self, key: str) -> str:
        held = self.held[key]
        if not isinstance(held, str) or not held:
            self.garbled(key, "is not a text")
        return held

    def garbled(self, key: str, what: str) -> NoReturn:
        raise ModelGarbled(f"{self.path}: {key} {what}")


def _short(value: Any) -> str:
    """A value for a message."""
    try:
        return repr(value)[:60]
    except ValueError:  # an integer of thousands of digits
        return "a huge integer"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: cannot be read: {error}") from error


def _decode(octets: bytes, path: Path) -> str:
    try:
        return octets.decode("utf-8")
    except UnicodeDecodeError as error:
        line = octets.count(b"\n", 0, error.start) + 1
        raise ModelGarbled(f"{path}:{line}: octet {error.start} is not UTF-8") from error
