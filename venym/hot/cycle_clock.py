"""How long a cycle of the time stamp counter is, by the system's own clock.

    perf_counter_ns  ──┬───────────────────────────┬──▶
    cycles           ──┴── began                   └── now        ns_per_cycle = the one distance over the other

The longer between the two, the better: over 0.1 s it is good to some parts in a million.
"""

import time

from .intrinsics import cycles
from .jit import hot

TRIES = 8  # the quickest pair of readings counts: no interrupt came between


@hot
def read_cycles():
    """The time stamp counter, for Python."""
    return cycles()


class CycleClock:
    """Begins when it is made."""

    def __init__(self) -> None:
        self._began_ns, self._began_cycles = _moment()

    def ns_per_cycle(self) -> float:
        """Nanoseconds a cycle, over the time since the beginning. Raises ValueError if no cycle went by."""
        now_ns, now_cycles = _moment()
        passed = now_cycles - self._began_cycles
        if passed <= 0:
            raise ValueError(f"the time stamp counter went by {passed} cycles")
        return (now_ns - self._began_ns) / passed


def _moment() -> tuple[int, int]:
    """The same moment on both clocks."""
    readings = []
    for _ in range(TRIES):
        before_ns = time.perf_counter_ns()
        counted = int(read_cycles())
        after_ns = time.perf_counter_ns()
        readings.append((after_ns - before_ns, (before_ns + after_ns) // 2, counted))
    return min(readings)[1:]
