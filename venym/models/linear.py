"""Linear models: each output is a weighted sum of the features and an intercept, then the link.

    used features (header)  ascending; each is a term
    body values             | output 0: intercept, weight of each term ... | output 1: ... |

The sum is taken in double, from the intercept, in the order of the features; a feature whose weights are all 0 is not
used, and may be NaN.
"""

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import plug_in
from .model import HEADER_VALUES, HEADER_WORDS, OUTPUTS, PREDICT, USED, Link, Model, apply_link, lay_header


def build_linear(
    features: tuple[str, ...],
    outputs: tuple[str, ...],
    weights: list[list[float]],
    intercept: list[float],
    link: Link,
) -> Model:
    """A model of weights[output][feature], all finite, and intercept[output]."""
    used = [k for k in range(len(features)) if any(row[k] != 0 for row in weights)]
    words, values = lay_header(len(features), len(outputs), used, link, 0, len(outputs) * (1 + len(used)))
    body = [number for base, row in zip(intercept, weights, strict=True) for number in (base, *(row[k] for k in used))]
    values[HEADER_VALUES:] = body
    return Model("linear", features, outputs, words, values, 0, predict_linear)


@plug_in(PREDICT)
def predict_linear(words, values, x, scratch, y):
    terms = words[USED]
    at = np.int64(HEADER_VALUES)
    for output in range(words[OUTPUTS]):
        total = slot_at(values, at)
        for k in range(terms):
            total += slot_at(values, at + 1 + k) * np.float64(slot_at(x, slot_at(words, HEADER_WORDS + k)))
        y[output] = total
        at += 1 + terms
    apply_link(words, values, y)
