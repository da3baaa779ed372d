"""Inference: feature rows -> signals. Owns the model's arrays and what it scribbles on.

    features_inference ──FEATURE_ROW──▶ x ──predict──▶ y ──SIGNAL──▶ inference_strategy
                            └ market ─────────────────────▶ market, as it is

Reads     FEATURE_ROW records.
Writes    one SIGNAL for each: the market fields, and y as the model says, 0 beyond its outputs. An output that is not
          finite, or too large for a float32, is NaN.
          ready is 1 if the row is ready and every feature that the model uses, and every output, is finite; that it is
          0 is counted under the first reason found. The model predicts whether or not the row is ready: its caches
          stay warm.
          Without a model every y is 0 and nothing is ready: a strategy that looks only at the market works all the
          same.
Invariant signals are in the order of the rows, one for one.
When full it stops before the row, and goes on when the consumer has made room; nothing is dropped.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import copy_record, cycles, slot_at
from ..hot.jit import hot
from ..hot.jit import step as stage_step
from ..hot.link import Link, claim, commit, pass_mark, peek, ready, release, room
from ..models.model import FEATURES, HEADER_WORDS, OUTPUTS, USED, Model
from ..records import FEATURES_MAX, SIGNALS_MAX
from .book import Take

FLOAT32_MAX = float(np.finfo(np.float32).max)


class Context(NamedTuple):
    """words, values, predict: the model (see `models.model`); x (FEATURES_MAX,) float32, scratch and y (SIGNALS_MAX,)
    float64: what predict reads and writes; counters (metrics.INFERENCE_COUNTERS,) int64; burst (1,) int64."""

    rows: Link
    signals: Link
    words: np.ndarray
    values: np.ndarray
    predict: Callable[..., None]
    x: np.ndarray
    scratch: np.ndarray
    y: np.ndarray
    counters: np.ndarray
    burst: np.ndarray


def build(take: Take, rows: Link, signals: Link, model: Model, burst: int = 256) -> Context:
    """The stage's context; `take(name, count, dtype)` gives zeroed memory, `burst` is how many rows a step takes at
    most. Without a model: `models.model.no_model()`."""
    words = take("model_words", len(model.words), np.dtype(np.int64))
    values = take("model_values", len(model.values), np.dtype(np.float64))
    words[:], values[:] = model.words, model.values
    return Context(
        rows=rows,
        signals=signals,
        words=words,
        values=values,
        predict=model.predict,
        x=take("model_x", FEATURES_MAX, np.dtype(np.float32)),
        scratch=take("model_scratch", max(model.scratch, 1), np.dtype(np.float64)),
        y=take("model_y", SIGNALS_MAX, np.dtype(np.float64)),
        counters=take("inference_counters", metrics.INFERENCE_COUNTERS, np.dtype(np.int64)),
        burst=np.array([burst], np.int64),
    )


@stage_step
def step(ctx):
    """Turn at most `burst` rows into signals; returns how many."""
    count = room(ctx.signals, ready(ctx.rows, ctx.burst[0]))
    for k in range(count):
        signal = claim(ctx.signals, k)
        infer(ctx, peek(ctx.rows, k), signal)
        signal.inferred_cycles = cycles()
    if count > 0:
        commit(ctx.signals, count)
        release(ctx.rows, count)
    pass_mark(ctx.rows, ctx.signals)
    return count


@hot
def infer(ctx, row, signal):
    """Fill one signal."""
    words, counters = ctx.words, ctx.counters
    copy_record(signal.market, row.market)
    signal.featured_cycles = row.featured_cycles
    for k in range(words[FEATURES]):
        ctx.x[k] = row.x[k]
    ctx.predict(words, ctx.values, ctx.x, ctx.scratch, ctx.y)
    whole = fill_outputs(signal, ctx.y, words[OUTPUTS])
    signal.ready = 0
    counters[metrics.SIGNALS] += 1
    if words[OUTPUTS] == 0:
        counters[metrics.ROWS_WITHOUT_MODEL] += 1
    elif row.ready != 1:
        counters[metrics.ROWS_NOT_READY] += 1
    elif not used_are_finite(words, ctx.x):
        counters[metrics.FEATURES_NOT_FINITE] += 1
    elif not whole:
        counters[metrics.OUTPUTS_NOT_FINITE] += 1
    else:
        signal.ready = 1


@hot
def fill_outputs(signal, y, outputs):
    """Narrow the outputs into the signal; returns whether all are finite."""
    whole = True
    for k in range(SIGNALS_MAX):
        value = y[k] if k < outputs else 0.0
        if not abs(value) <= FLOAT32_MAX:
            value = math.nan
            whole = False
        signal.y[k] = value
    return whole


@hot
def used_are_finite(words, x):
    """Is every feature that the model uses a number?"""
    missing = 0
    for k in range(words[USED]):
        if not math.isfinite(slot_at(x, slot_at(words, HEADER_WORDS + k))):
            missing += 1
    return missing == 0
