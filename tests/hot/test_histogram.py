"""Histograms: within 1/128 of the truth, nothing dropped, the same numbers for HdrHistogram's own tools."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.histogram import Histogram
from venym.hot import histogram as hg
from venym.hot.arena import Arena
from venym.hot.jit import hot

INT64 = st.integers(-(2**63), 2**63 - 1)
BY_MAGNITUDE = st.integers(0, 42).flatmap(lambda bits: st.integers(0, (1 << bits) - 1))
IN_RANGE = st.lists(BY_MAGNITUDE, min_size=1, max_size=60)
QUANTILE = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 0.07, 0.5, 0.99, 0.999, 1.0]))


@hot
def record_all(histogram, values):
    for i in range(values.shape[0]):
        hg.record(histogram, values[i])


def filled(values: list[int]) -> np.ndarray:
    made = hg.make_histogram()
    record_all(made, np.array(values, np.int64))
    return made


def naive(values: list[int]) -> Histogram:
    twin = Histogram()
    for value in values:
        twin.record(value)
    return twin


@given(IN_RANGE, QUANTILE)
@settings(deadline=None)
def test_percentiles_are_true_or_up_to_1_in_128_above(values: list[int], quantile: float) -> None:
    true = naive(values).percentile(quantile)
    told = hg.percentile(filled(values), quantile)
    assert told is not None and true <= told <= true + true // 128


@given(IN_RANGE)
@settings(deadline=None)
def test_count_mean_and_extremes_are_exact(values: list[int]) -> None:
    made = filled(values)
    assert hg.count(made) == len(values)
    assert (hg.minimum(made), hg.maximum(made)) == (min(values), max(values))
    assert hg.mean(made) == sum(values) / len(values)


@given(st.lists(INT64, min_size=1, max_size=40), QUANTILE)
@settings(deadline=None)
def test_any_int64_is_counted(values: list[int], quantile: float) -> None:
    made, twin = filled(values), naive(values)
    assert hg.count(made) == len(values)
    assert made[hg.BELOW] == sum(value < 0 for value in values)
    assert made[hg.ABOVE] == sum(value > hg.HIGHEST for value in values)
    assert (hg.minimum(made), hg.maximum(made)) == (twin.values[0], twin.values[-1])
    assert hg.mean(made) == sum(twin.clamped(hg.HIGHEST)) / len(values)
    told = hg.percentile(made, quantile)
    assert told is not None and told >= twin.percentile(quantile), "never better than the truth"


@pytest.mark.parametrize(
    "value, bucket",
    [(0, 0), (1, 1), (255, 255), (256, 256), (257, 256), (258, 257), (511, 383), (512, 384), (515, 384), (516, 385)]
    + [(1 << 41, hg.BUCKETS - 128), (hg.HIGHEST, hg.BUCKETS - 1), (hg.HIGHEST + 1, hg.BUCKETS - 1)]
    + [(1 << 62, hg.BUCKETS - 1), (2**63 - 1, hg.BUCKETS - 1), (-1, 0), (-(2**63), 0)],
)
def test_bucket_of_a_value(value: int, bucket: int) -> None:
    made = filled([value])
    assert np.flatnonzero(made[hg.COUNTS :]).tolist() == [bucket]
    clamped = min(max(value, 0), hg.HIGHEST)
    assert hg.lowest(bucket) <= clamped <= hg.highest(bucket)


def test_buckets_join_without_hole_and_none_is_wider_than_1_in_128() -> None:
    assert hg.lowest(0) == 0 and hg.highest(hg.BUCKETS - 1) == hg.HIGHEST
    for bucket in range(1, hg.BUCKETS):
        assert hg.lowest(bucket) == hg.highest(bucket - 1) + 1
        assert (hg.highest(bucket) - hg.lowest(bucket)) * 128 <= hg.lowest(bucket)


def test_sum_carries_beyond_one_word() -> None:
    made = filled([hg.HIGHEST])
    for _ in range(22):  # 2^22 values of 2^42
        hg.merge(made, made.copy())
    assert hg.count(made) == 1 << 22
    assert made[hg.SUM_HIGH] == 3
    record_all(made, np.full(1000, hg.HIGHEST, np.int64))
    assert hg.mean(made) == hg.HIGHEST


@given(*[st.lists(INT64, max_size=20)] * 3)
@settings(deadline=None, max_examples=50)
def test_merging_is_recording_together_in_any_grouping(a: list[int], b: list[int], c: list[int]) -> None:
    together = filled(a + b + c)
    left = filled(a)
    hg.merge(left, filled(b))
    hg.merge(left, filled(c))
    right, last = filled(a), filled(b)
    hg.merge(last, filled(c))
    hg.merge(right, last)
    swapped = filled(c)
    hg.merge(swapped, filled(b))
    hg.merge(swapped, filled(a))
    for merged in (left, right, swapped):
        np.testing.assert_array_equal(merged, together)


def test_empty() -> None:
    made = hg.make_histogram()
    assert hg.count(made) == 0
    assert hg.percentile(made, 0.5) is hg.mean(made) is hg.minimum(made) is hg.maximum(made) is None
    assert hg.text(made) == "count 0"
    assert HdrHistogram.decode(hg.to_hdr(made)).get_total_count() == 0
    record_all(made, np.array([5, 6]))
    hg.clear(made)
    np.testing.assert_array_equal(made, hg.make_histogram())


@pytest.mark.parametrize("quantile", [-0.1, 1.1, math.nan, 99])
def test_a_quantile_is_no_percentage(quantile: float) -> None:
    with pytest.raises(ValueError, match=r"lies in 0\.\.1"):
        hg.percentile(filled([1]), quantile)


def test_lies_in_the_arena() -> None:
    arena = Arena(1 << 20, huge_pages="never", lock="never")
    made = hg.make_histogram(arena.take("latency", hg.WORDS, np.int64))
    record_all(made, np.arange(10))
    assert hg.count(arena.view("latency", np.int64)) == 10
    del made
    arena.close()


@pytest.mark.parametrize("words", [np.zeros(hg.WORDS - 1, np.int64), np.zeros(hg.WORDS), np.zeros((hg.WORDS, 1), "i8")])
def test_memory_of_the_wrong_shape(words: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"a histogram is \(4624,\) int64"):
        hg.make_histogram(words)


@given(IN_RANGE)
@settings(deadline=None, max_examples=60)
def test_hdrhistogram_reads_what_we_export(values: list[int]) -> None:
    made = filled(values)
    theirs = HdrHistogram.decode(hg.to_hdr(made))
    assert theirs.get_total_count() == len(values)
    for bucket in np.flatnonzero(made[hg.COUNTS :]).tolist():
        assert theirs.get_count_at_value(hg.lowest(bucket)) == made[hg.COUNTS + bucket]
    recorded = HdrHistogram(1, hg.HIGHEST, 2)
    for value in values:
        recorded.record_value(value)
    assert theirs.equals(recorded), "as if recorded by their own code"
    for percent in (0, 25, 50, 90, 99, 99.9, 100):
        ours = hg.percentile(made, percent / 100)
        if Fraction(str(percent)) * len(values) % 100 == 0:  # a whole rank: they round, we go up
            assert recorded.get_lowest_equivalent_value(ours) == theirs.get_lowest_equivalent_value(
                theirs.get_value_at_percentile(percent)
            )


def test_export_of_large_counts() -> None:
    made = hg.make_histogram()
    counts = {3: 1, 4: 63, 5: 64, 6: 8191, 7: 8192, 900: 1 << 40, 4000: 1 << 55, 4607: (1 << 61) + 12345}
    for bucket, counted in counts.items():
        made[hg.COUNTS + bucket] = counted
    theirs: Any = HdrHistogram.decode(hg.to_hdr(made))
    for bucket in range(hg.BUCKETS):
        assert theirs.get_count_at_index(bucket) == counts.get(bucket, 0)


def test_text_tells_what_was_clamped() -> None:
    assert hg.text(filled([*range(1, 101)])) == (
        "count 100  mean 50.5 ns  min 1  p50 50  p90 90  p99 99  p99.9 100  p99.99 100  p99.999 100  max 100"
    )
    assert hg.text(filled([-5, 7, 1 << 50]), "us", [0.5]) == (
        f"count 3  mean {(7 + hg.HIGHEST) / 3:.1f} us  min -5  p50 7  max {1 << 50}  1 below 0  1 above {hg.HIGHEST}"
    )
