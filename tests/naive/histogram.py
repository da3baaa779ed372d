"""A histogram that keeps every value, sorted: exact percentiles to hold the bucketed ones against."""

import bisect
import math
from fractions import Fraction


class Histogram:
    def __init__(self) -> None:
        self.values: list[int] = []

    def record(self, value: int) -> None:
        bisect.insort(self.values, value)

    def percentile(self, quantile: float) -> int:
        """The smallest recorded value that at least `quantile` of them do not exceed."""
        rank = math.ceil(Fraction(str(quantile)) * len(self.values))
        return self.values[max(rank, 1) - 1]

    def clamped(self, highest: int) -> list[int]:
        return [min(max(value, 0), highest) for value in self.values]
