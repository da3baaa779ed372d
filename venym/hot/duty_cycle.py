"""What a core does between laps: look at the stop flag, count, and rest as its idle policy says.

    control  | STOP ...... | POLICY .... | LAPS  IDLE_LAPS  WORK  STAGE |      int64, a cache line each
               anyone         at start      the core only

The loop itself stands where the stages are known::

    while running(control):
        work = stage.step(...) + ...
        rest(control, work)
"""

import numpy as np

from .intrinsics import load_acquire, pause, store_release, yield_core
from .jit import hot, small
from .layout import aligned

STOP, POLICY, LAPS, IDLE_LAPS, WORK = 0, 8, 16, 17, 18
STAGE = 19  # which the core is in, by a number of the loop's
CONTROL_WORDS = 32

SPIN, PAUSE, YIELD = 0, 1, 2
POLICIES = {"spin": SPIN, "pause": PAUSE, "yield": YIELD}


def make_control(policy: str = "pause") -> np.ndarray:
    """A (32,) int64 control block. Raises ValueError for an idle policy that is not in POLICIES."""
    if policy not in POLICIES:
        raise ValueError(f"idle policy {policy!r} is none of {', '.join(POLICIES)}")
    control = aligned(CONTROL_WORDS, np.int64)
    control[POLICY] = POLICIES[policy]
    return control


@small
def running(control):
    """False once somebody stopped this core. An atomic load: a plain one would be hoisted out of the loop."""
    return load_acquire(control, STOP) == 0


@hot
def stop(control):
    """Ask the core to end after its present lap; from any thread."""
    store_release(control, STOP, 1)


@small
def rest(control, work):
    """Count a lap that did `work` records' worth, and rest if it did nothing."""
    control[LAPS] += 1
    control[WORK] += work
    if work == 0:
        control[IDLE_LAPS] += 1
        if control[POLICY] == PAUSE:
            pause()
        elif control[POLICY] == YIELD:
            yield_core()
