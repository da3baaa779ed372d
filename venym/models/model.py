"""A model in memory: two flat arrays and a plug-in that predicts one row from them.

    words   int64    | header | used features ... | what its kind keeps there
    values  float64  | link scale, divisor | what its kind keeps there

    predict(words, values, x, scratch, y)

    x        (>= features,) float32, the row's features in the order of the feature table
    scratch  (>= model.scratch,) float64, the kind's own; nothing in it outlives a call
    y        (>= outputs,) float64, every output is written

Every kind has this one signature and these two arrays, so the stage that holds a model is compiled once for all kinds,
and another kind compiles its own predict only. `predict` checks nothing: a reader builds only arrays from which every
index it can reach lies inside and every loop ends.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ..hot.jit import hot, plug_in
from ..hot.layout import aligned
from ..records import FEATURES_MAX, SIGNALS_MAX

# Words of the header.
FEATURES = 0  # the row has
OUTPUTS = 1  # 0: there is no model
LINK = 2
USED = 3  # features the prediction depends on; their indices stand from HEADER_WORDS on
BODY = 4  # first of the words the kind keeps
HEADER_WORDS = 16

# Values of the header.
LINK_SCALE = 0  # k of a sigmoid
DIVISOR = 1  # of the sums, before the link
HEADER_VALUES = 8

# Link: from the sum to the output.
IDENTITY = 0
SIGMOID = 1  # 1 / (1 + exp(-k s))
SOFTMAX = 2  # over all outputs
EXPONENTIAL = 3

PREDICT = types.void(
    types.int64[::1], types.float64[::1], types.float32[::1], types.float64[::1], types.float64[::1]
)  # fmt: skip


class ModelError(Exception):
    """A model cannot be used; the message says file, line or key, and what."""


class ModelGarbled(ModelError):
    """A file is cut, damaged, or does not hold together."""


class ModelUnsupported(ModelError):
    """A file holds a construct that is not predicted here."""


class ModelMismatch(ModelError):
    """A model was made for other features than these."""


class Model(NamedTuple):
    """A model ready to predict. words: int64, values: float64 (see above); scratch: float64s that predict needs."""

    kind: str
    features: tuple[str, ...]
    outputs: tuple[str, ...]
    words: np.ndarray
    values: np.ndarray
    scratch: int
    predict: Callable[..., None]

    @property
    def used(self) -> tuple[str, ...]:
        """The features that the prediction depends on."""
        first = HEADER_WORDS
        return tuple(self.features[k] for k in self.words[first : first + int(self.words[USED])])


class Link(NamedTuple):
    """How a sum becomes an output: a word, and the scale of a sigmoid."""

    word: int = IDENTITY
    scale: float = 1.0


def lay_header(
    features: int, outputs: int, used: list[int], link: Link, words: int, values: int, divisor: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """The two arrays with their headers filled, and room for this many words and values of the kind's own.

    Raises ModelUnsupported when the model is wider than a row or a signal.
    """
    if features > FEATURES_MAX or outputs > SIGNALS_MAX:
        raise ModelUnsupported(
            f"{features} features, {outputs} outputs; a row holds {FEATURES_MAX}, a signal {SIGNALS_MAX}"
        )
    body = HEADER_WORDS + len(used)
    made = aligned(body + words, np.int64), aligned(HEADER_VALUES + values, np.float64)
    head = {FEATURES: features, OUTPUTS: outputs, LINK: link.word, USED: len(used), BODY: body}
    for word, value in head.items():
        made[0][word] = value
    made[0][HEADER_WORDS:body] = used
    made[1][LINK_SCALE], made[1][DIVISOR] = link.scale, divisor
    return made


@hot
def apply_link(words, values, y):
    """Turn the sums in `y` into outputs, in the library's order of operations."""
    link, outputs = words[LINK], words[OUTPUTS]
    if values[DIVISOR] != 1.0:
        for k in range(outputs):
            y[k] /= values[DIVISOR]
    if link == SIGMOID:
        for k in range(outputs):
            y[k] = 1.0 / (1.0 + exponential(-values[LINK_SCALE] * y[k]))
    elif link == EXPONENTIAL:
        for k in range(outputs):
            y[k] = exponential(y[k])
    elif link == SOFTMAX:
        highest = y[0]
        for k in range(1, outputs):
            highest = max(highest, y[k])
        total = 0.0
        for k in range(outputs):
            y[k] = exponential(y[k] - highest)
            total += y[k]
        for k in range(outputs):
            y[k] /= total


@hot
def exponential(value):
    """e to the value; inf beyond the range of a double (math.exp raises there without the compiler)."""
    if value > 709.782712893384:
        return math.inf
    return math.exp(value)


@plug_in(PREDICT)
def predict_nothing(words, values, x, scratch, y):
    pass


def no_model() -> Model:
    """What stands where no model is configured: no outputs, so that no signal is ever ready."""
    words, values = lay_header(0, 0, [], Link(), 0, 0)
    return Model("none", (), (), words, values, 0, predict_nothing)


def predict_row(model: Model, x: Any) -> np.ndarray:
    """The outputs, (outputs,) float64, for one row of features; outside the pipeline.

    Raises ModelMismatch unless the row has as many features as the model.
    """
    row = np.ascontiguousarray(x, np.float32)
    if row.shape != (len(model.features),):
        raise ModelMismatch(f"the model takes {len(model.features)} features, the row's shape is {row.shape}")
    y = np.zeros(len(model.outputs))
    with np.errstate(all="ignore"):  # compiled or not, what is out of range is inf or NaN
        model.predict(model.words, model.values, row, np.zeros(model.scratch), y)
    return y
