"""Two toy stages, three plug-ins and the loops that run them, for the tests of loops.

    source  counts up to `last`  ──numbers──▶  sink  adds up decide(number)

Run as a program it prints what a fixed run gives, so that two ways of running can be compared.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import types

from venym.hot.duty_cycle import make_control, rest, running, stop
from venym.hot.intrinsics import yield_core
from venym.hot.jit import hot, plug_in, step
from venym.hot.layout import aligned, record
from venym.hot.link import Link, claim, commit, make_link, peek, ready, release, room

NUMBER = record("NUMBER", [("value", "i8")], 64)

NEXT, LAST, TOTAL, BURST = 0, 1, 2, 3  # of a stage's state


class Source(NamedTuple):
    numbers: Link
    state: np.ndarray


class Sink(NamedTuple):
    numbers: Link
    state: np.ndarray
    decide: Callable[[Any], Any]


@plug_in(types.int64(types.int64))
def add_one(value):
    return value + 1


@plug_in(types.int64(types.int64))
def double(value):
    return value * 2


@plug_in(types.int64(types.int64))
def broken(value):
    if value == 7:
        raise ValueError("seven is right out")
    return value


@step
def source_step(ctx):
    granted = room(ctx.numbers, min(ctx.state[BURST], ctx.state[LAST] - ctx.state[NEXT]))
    for k in range(granted):
        claim(ctx.numbers, k).value = ctx.state[NEXT] + k
    if granted > 0:
        ctx.state[NEXT] += granted
        commit(ctx.numbers, granted)
    return granted


@step
def sink_step(ctx):
    granted = ready(ctx.numbers, ctx.state[BURST])
    for k in range(granted):
        ctx.state[TOTAL] += ctx.decide(peek(ctx.numbers, k).value)
    if granted > 0:
        release(ctx.numbers, granted)
    return granted


@hot
def fused(source, sink, control):
    """Both stages on one core."""
    while running(control):
        rest(control, source_step(source) + sink_step(sink))


@hot
def laps(source, sink, control, count):
    """Some laps of the same."""
    for _ in range(count):
        rest(control, source_step(source) + sink_step(sink))


@hot
def source_loop(source, control):
    while running(control):
        rest(control, source_step(source))


@hot
def sink_loop(sink, control):
    while running(control):
        rest(control, sink_step(sink))


@hot
def ping(outward, inward, control, count):
    """`count` round trips; whoever waits rests as its policy says."""
    for _ in range(count):
        claim(outward, 0).value = 1
        commit(outward, 1)
        while running(control) and ready(inward, 1) == 0:
            rest(control, 0)
        release(inward, 1)


@hot
def pong(inward, outward, control):
    """Answer until stopped."""
    while running(control):
        work = ready(inward, 1)
        if work > 0:
            claim(outward, 0).value = 1
            release(inward, 1)
            commit(outward, 1)
        rest(control, work)


@hot
def let_others(count):
    for _ in range(count):
        yield_core()


def state(last: int = 0, burst: int = 4) -> np.ndarray:
    made = aligned(8, np.int64)
    made[LAST], made[BURST] = last, burst
    return made


def pipeline(last: int, decide: Any, capacity: int = 8) -> tuple[Source, Sink]:
    numbers = make_link(NUMBER, capacity)
    return Source(numbers, state(last)), Sink(numbers, state(), decide)


def main() -> None:
    for decide in (add_one, double):
        source, sink = pipeline(1000, decide)
        control = make_control("yield")
        laps(source, sink, control, 300)
        stop(control)
        fused(source, sink, control)
        print(*source.state, *sink.state, *control)
    source, sink = pipeline(1000, broken)
    try:
        laps(source, sink, make_control(), 300)
    except ValueError as error:
        print(error, *sink.state)


if __name__ == "__main__":
    main()
