"""Cycles become nanoseconds, and no latency is told as less than it was."""

import math
from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.histogram import Histogram
from venym.control.latency import in_ns, summarise
from venym.hot import histogram as hg
from venym.hot.jit import hot

CYCLES = st.lists(st.integers(0, 42).flatmap(lambda bits: st.integers(0, (1 << bits) - 1)), max_size=50)
RATIO = st.floats(0.1, 1.0)


@hot
def record_all(histogram, values):
    for i in range(values.shape[0]):
        hg.record(histogram, values[i])


def counted(values: list[int]) -> np.ndarray:
    made = hg.make_histogram()
    record_all(made, np.array(values, np.int64))
    return made


@given(CYCLES.filter(bool), RATIO, st.sampled_from([0.0, 0.5, 0.9, 0.99, 0.999, 1.0]))
@settings(deadline=None)
def test_a_percentile_is_the_true_one_or_up_to_1_in_64_above(values: list[int], ratio: float, quantile: float) -> None:
    twin = Histogram()
    for value in values:
        twin.record(value)
    true = math.ceil(twin.percentile(quantile) * Fraction(ratio))
    told = hg.percentile(in_ns(counted(values), ratio), quantile)
    assert told is not None and true <= told <= true + true // 64 + 2


@given(CYCLES.filter(bool), RATIO)
@settings(deadline=None)
def test_count_extremes_and_mean_are_kept(values: list[int], ratio: float) -> None:
    made = in_ns(counted(values), ratio)
    exact = Fraction(ratio)
    assert hg.count(made) == len(values)
    assert hg.maximum(made) == math.ceil(max(values) * exact)
    assert hg.minimum(made) == math.floor(min(values) * exact)
    mean = hg.mean(made)
    assert mean is not None
    assert abs(Fraction(mean) * len(values) - sum(values) * exact) <= 1 + Fraction(sum(values), 2**50)


@given(CYCLES)
def test_a_cycle_of_a_nanosecond_changes_nothing(values: list[int]) -> None:
    assert in_ns(counted(values), 1.0).tolist() == counted(values).tolist()


def test_values_out_of_range_stay_told() -> None:
    made = in_ns(counted([-5, 3, 1 << 50]), 0.5)
    assert (int(made[hg.BELOW]), int(made[hg.ABOVE]), hg.count(made)) == (1, 1, 3)
    assert (hg.minimum(made), hg.maximum(made)) == (-3, 1 << 49)
    made = in_ns(counted([hg.HIGHEST]), 4.0)  # in range as cycles, not as nanoseconds
    assert (int(made[hg.ABOVE]), hg.maximum(made)) == (1, hg.HIGHEST * 4)


def test_negative_values_alone_count_as_nothing() -> None:
    made = in_ns(counted([-5, -7]), 0.5)
    assert hg.count(made) == 2
    assert summarise(made)[1:] == (-2, -2, -2, -2, -2)


def test_a_summary_has_the_usual_percentiles() -> None:
    summary = summarise(counted(list(range(1, 101))))
    assert summary == (100, 50, 90, 99, 100, 100)
    assert summarise(hg.make_histogram()) == (0, None, None, None, None, None)
