"""Log-linear histograms in fixed memory: every value to within 1/128, one array of int64.

    word    0      1       2        3    4    5      16 ...................................... 4623
          | BELOW  ABOVE   SUM_LOW  SUM  MIN  MAX .. | 0 | 1 | .. | 255 | 256-7 | .. | .. 2^42 - 1 |
                           carry               rest    one value a bucket, then 128 buckets an octave

These are HdrHistogram's buckets for two significant digits, so the counts are exported as they stand. `record` is the
hot side: one writer, a few ns, no allocation. Everything else is plain Python for whoever reads; a reader beside a
running writer works on a copy of the array.

Values below 0 count as 0, values above HIGHEST as HIGHEST, and BELOW and ABOVE tell how many; MIN and MAX keep the true
extremes.
"""

import base64
import math
import struct
import zlib
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from .intrinsics import bit_length
from .jit import small
from .layout import aligned

BELOW, ABOVE, SUM_LOW, SUM_HIGH, MIN, MAX = 0, 1, 2, 3, 4, 5
COUNTS = 16  # the first bucket's word

EXACT_BITS = 8  # values below 2^8 have a bucket each
HALF_BITS = EXACT_BITS - 1  # 2^7 buckets an octave above
VALUE_BITS = 42
HIGHEST = (1 << VALUE_BITS) - 1  # 73 minutes in ns
BUCKETS = (VALUE_BITS - EXACT_BITS + 2) << HALF_BITS
WORDS = COUNTS + BUCKETS

SUM_BITS = 62
SUM_MASK = (1 << SUM_BITS) - 1
LARGEST, SMALLEST = (1 << 63) - 1, -(1 << 63)

QUANTILES = (0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


def make_histogram(words: np.ndarray | None = None) -> np.ndarray:
    """An empty histogram: `words`, or an array of its own. Raises ValueError unless they are (WORDS,) int64."""
    if words is None:
        words = aligned(WORDS, np.int64)
    if words.shape != (WORDS,) or words.dtype != np.int64:
        raise ValueError(f"a histogram is ({WORDS},) int64, not {words.shape} {words.dtype}")
    clear(words)
    return words


def clear(histogram: np.ndarray) -> None:
    """Forget everything; by the writer only."""
    histogram[:] = 0
    histogram[MIN], histogram[MAX] = LARGEST, SMALLEST


@small
def record(histogram, value):
    """Count one int64."""
    histogram[MIN] = min(histogram[MIN], value)
    histogram[MAX] = max(histogram[MAX], value)
    held = value
    if value < 0:
        histogram[BELOW] += 1
        held = 0
    elif value > HIGHEST:
        histogram[ABOVE] += 1
        held = HIGHEST
    total = histogram[SUM_LOW] + held
    histogram[SUM_LOW] = total & SUM_MASK
    histogram[SUM_HIGH] += total >> SUM_BITS
    octave = bit_length(held | (1 << EXACT_BITS) - 1) - EXACT_BITS
    histogram[COUNTS + (octave << HALF_BITS) + (held >> octave)] += 1


def lowest(bucket: int) -> int:
    """The smallest value that counts in this bucket."""
    octave = max((bucket >> HALF_BITS) - 1, 0)
    return (bucket - (octave << HALF_BITS)) << octave


def highest(bucket: int) -> int:
    """The largest value that counts in this bucket."""
    return lowest(bucket + 1) - 1


def count(histogram: np.ndarray) -> int:
    """How many values were recorded."""
    return int(histogram[COUNTS:].sum())


def minimum(histogram: np.ndarray) -> int | None:
    """The smallest value recorded, exactly; None when there is none."""
    return int(histogram[MIN]) if count(histogram) else None


def maximum(histogram: np.ndarray) -> int | None:
    """The largest value recorded, exactly; None when there is none."""
    return int(histogram[MAX]) if count(histogram) else None


def mean(histogram: np.ndarray) -> float | None:
    """The mean of the values as counted (clamped ones as 0 and HIGHEST), exactly; None when there is none."""
    counted = count(histogram)
    total = (int(histogram[SUM_HIGH]) << SUM_BITS) + int(histogram[SUM_LOW])
    return total / counted if counted else None


def percentile(histogram: np.ndarray, quantile: float) -> int | None:
    """A value that `quantile` (0 to 1) of those recorded do not exceed: the true one or up to 1/128 above it.

    It is the largest value of the true one's bucket, but never above MAX; MAX itself where values above HIGHEST are.
    None when nothing was recorded. Raises ValueError for a quantile outside 0..1.
    """
    if not 0 <= quantile <= 1:
        raise ValueError(f"a quantile lies in 0..1, not {quantile}")
    cumulated = np.cumsum(histogram[COUNTS:])
    counted = int(cumulated[-1])
    if not counted:
        return None
    rank = max(math.ceil(Fraction(str(float(quantile))) * counted), 1)  # 0.07 of 100 is 7, in floats a little more
    bucket = int(np.searchsorted(cumulated, rank))
    if bucket == BUCKETS - 1:
        return int(histogram[MAX])
    return min(highest(bucket), int(histogram[MAX]))


def merge(into: np.ndarray, histogram: np.ndarray) -> None:
    """Add what was recorded in `histogram`; by the writer of `into` only."""
    for word in (BELOW, ABOVE):
        into[word] += histogram[word]
    into[COUNTS:] += histogram[COUNTS:]
    total = int(into[SUM_LOW]) + int(histogram[SUM_LOW])
    into[SUM_LOW] = total & SUM_MASK
    into[SUM_HIGH] += histogram[SUM_HIGH] + (total >> SUM_BITS)
    into[MIN], into[MAX] = min(into[MIN], histogram[MIN]), max(into[MAX], histogram[MAX])


def text(histogram: np.ndarray, unit: str = "ns", quantiles: Iterable[float] = QUANTILES) -> str:
    """One line: count, mean, least, percentiles, greatest, and how many values were clamped, if any."""
    counted = count(histogram)
    if not counted:
        return "count 0"
    parts = [f"count {counted}", f"mean {mean(histogram):.1f} {unit}", f"min {minimum(histogram)}"]
    parts += [f"p{100 * quantile:.10g} {percentile(histogram, quantile)}" for quantile in quantiles]
    parts.append(f"max {maximum(histogram)}")
    parts += [
        f"{int(histogram[word])} {said}"
        for word, said in ((BELOW, "below 0"), (ABOVE, f"above {HIGHEST}"))
        if histogram[word]
    ]
    return "  ".join(parts)


# ---- HdrHistogram, V2: https://github.com/HdrHistogram/HdrHistogram (AbstractHistogram.encodeIntoByteBuffer)

_V2_COOKIE, _V2_COMPRESSED_COOKIE = 0x1C849313, 0x1C849314
_SIGNIFICANT_DIGITS = 2


def to_hdr(histogram: np.ndarray) -> str:
    """The histogram in HdrHistogram's V2 compressed encoding, base64: what its tools and logs read."""
    counts = histogram[COUNTS:].copy()
    body = bytearray()
    at = 0
    for bucket in map(int, np.flatnonzero(counts)):
        if bucket > at:
            body += _zigzag(at - bucket)  # a negative number: so many empty buckets
        body += _zigzag(int(counts[bucket]))
        at = bucket + 1
    header = struct.pack(">IIIIQQd", _V2_COOKIE, len(body), 0, _SIGNIFICANT_DIGITS, 1, HIGHEST, 1.0)
    packed = zlib.compress(header + body)
    return base64.b64encode(struct.pack(">II", _V2_COMPRESSED_COOKIE, len(packed)) + packed).decode()


def _zigzag(value: int) -> bytes:
    """A signed number, small ones short: zig-zag, then seven bits an octet, the ninth octet with eight."""
    rest = (value << 1) ^ (value >> 63)
    held = bytearray()
    while rest > 0x7F and len(held) < 8:
        held.append(rest & 0x7F | 0x80)
        rest >>= 7
    held.append(rest)
    return bytes(held)
