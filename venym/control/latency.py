"""Latency for people: histograms of cycles as histograms of nanoseconds, and a few percentiles of each.

A value told is the true one or up to 1/64 above it: 1/128 of the bucket it was counted in, and 1/128 of the bucket it
is put in here. The greatest is exact.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..hot import histogram as hg

QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999}


class Latency(NamedTuple):
    """How often, and in nanoseconds; None where nothing was recorded."""

    recorded: int
    p50_ns: int | None
    p90_ns: int | None
    p99_ns: int | None
    p999_ns: int | None
    max_ns: int | None


def in_ns(cycles: np.ndarray, ns_per_cycle: float) -> np.ndarray:
    """A new histogram of the same values in nanoseconds, none of them told as less than it was.

    Values that were clamped stay where they were; how many there were stays told.
    """
    ratio = Fraction(ns_per_cycle)
    made = hg.make_histogram()
    if not hg.count(cycles):
        return made
    made[hg.BELOW], made[hg.ABOVE] = cycles[hg.BELOW], cycles[hg.ABOVE]
    longest_ns = math.ceil(int(cycles[hg.MAX]) * ratio)
    made[hg.MIN], made[hg.MAX] = math.floor(int(cycles[hg.MIN]) * ratio), longest_ns
    for bucket in map(int, np.flatnonzero(cycles[hg.COUNTS :])):
        counted = int(cycles[hg.COUNTS + bucket])
        value_ns = min(math.ceil(hg.highest(bucket) * ratio), max(longest_ns, 0))
        if value_ns > hg.HIGHEST:
            made[hg.ABOVE] += counted
            value_ns = hg.HIGHEST
        made[hg.COUNTS + _bucket(value_ns)] += counted
    total = (int(cycles[hg.SUM_HIGH]) << hg.SUM_BITS) + int(cycles[hg.SUM_LOW])
    total_ns = round(total * ratio)
    made[hg.SUM_LOW], made[hg.SUM_HIGH] = total_ns & hg.SUM_MASK, total_ns >> hg.SUM_BITS
    return made


def _bucket(value: int) -> int:
    octave = max(value.bit_length() - hg.EXACT_BITS, 0)
    return (octave << hg.HALF_BITS) + (value >> octave)


def summarise(histogram_ns: np.ndarray) -> Latency:
    """The percentiles of a histogram of nanoseconds."""
    p50, p90, p99, p999 = (hg.percentile(histogram_ns, quantile) for quantile in QUANTILES.values())
    return Latency(hg.count(histogram_ns), p50, p90, p99, p999, hg.maximum(histogram_ns))
