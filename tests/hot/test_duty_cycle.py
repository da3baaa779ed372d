"""The loop of a core: counts, rests, stops at once, runs any plug-in without another compile, loses no exception."""

import os
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from tests.hot import child, toys
from tests.hot.toys import BURST, NEXT, NUMBER, TOTAL
from venym.hot.duty_cycle import CONTROL_WORDS, IDLE_LAPS, LAPS, POLICIES, STOP, WORK, make_control, stop
from venym.hot.jit import PLAIN
from venym.hot.link import make_link

compiled_only = pytest.mark.skipif(PLAIN, reason="needs the compiler")


@pytest.fixture
def core() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as made:
        yield made


@pytest.mark.parametrize("policy", POLICIES)
def test_laps_idle_laps_and_work_are_counted(policy: str) -> None:
    source, sink = toys.pipeline(10, toys.double)
    control = make_control(policy)
    toys.laps(source, sink, control, 5)
    assert sink.state[TOTAL] == 2 * sum(range(10))
    assert (control[LAPS], control[IDLE_LAPS], control[WORK]) == (5, 2, 20), "4 + 4 + 2 records by both, then nothing"


def test_unknown_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="idle policy 'nap' is none of spin, pause, yield"):
        make_control("nap")


def test_what_others_write_lies_on_a_line_of_its_own() -> None:
    control = make_control()
    assert control.shape == (CONTROL_WORDS,) and control.ctypes.data % 128 == 0
    assert STOP // 8 not in {word // 8 for word in (LAPS, IDLE_LAPS, WORK)}


def test_stopped_before_it_starts_it_does_nothing() -> None:
    """What a dry run relies on."""
    source, sink = toys.pipeline(10, toys.double)
    control = make_control()
    stop(control)
    toys.fused(source, sink, control)
    assert control[LAPS] == 0 and source.state[NEXT] == 0


@pytest.mark.parametrize("policy", POLICIES)
def test_stop_from_another_thread_ends_the_loop_at_once(core: ThreadPoolExecutor, policy: str) -> None:
    source, sink = toys.pipeline(100, toys.double)
    control = make_control(policy)
    running = core.submit(toys.fused, source, sink, control)
    while control[IDLE_LAPS] == 0:
        time.sleep(0.001)
    assert not running.done()
    stop(control)
    running.result(timeout=1)
    assert sink.state[TOTAL] == 2 * sum(range(100))


@compiled_only
def test_stages_on_two_cores_give_what_one_core_gives() -> None:
    source, sink = toys.pipeline(100_000, toys.add_one)
    controls = [make_control("yield"), make_control("yield")]
    with ThreadPoolExecutor(2) as cores:
        runs = [
            cores.submit(toys.source_loop, source, controls[0]),
            cores.submit(toys.sink_loop, sink, controls[1]),
        ]
        while controls[1][WORK] < 100_000:
            time.sleep(0.001)
        for control in controls:
            stop(control)
        for run in runs:
            run.result(timeout=1)
    assert sink.state[TOTAL] == sum(range(100_000)) + 100_000


@compiled_only
def test_any_plug_in_runs_in_the_loop_compiled_once() -> None:
    for decide, right in ((toys.add_one, 45 + 10), (toys.double, 90)):
        source, sink = toys.pipeline(10, decide)
        toys.laps(source, sink, make_control(), 10)
        assert sink.state[TOTAL] == right
    dispatcher: Any = toys.laps
    assert len(dispatcher.signatures) == 1


def test_exception_in_a_plug_in_reaches_the_thread(core: ThreadPoolExecutor) -> None:
    source, sink = toys.pipeline(100, toys.broken)
    with pytest.raises(ValueError, match=r"^seven is right out$"):
        core.submit(toys.fused, source, sink, make_control()).result(timeout=10)
    assert sink.state[TOTAL] == sum(range(7)), "all before it was done"


@pytest.mark.parametrize("burst", [1, 3, 100])
def test_burst_changes_the_number_of_laps_not_the_result(burst: int) -> None:
    source, sink = toys.pipeline(50, toys.add_one)
    source.state[BURST] = sink.state[BURST] = burst
    control = make_control()
    toys.laps(source, sink, control, 60)
    assert sink.state[TOTAL] == sum(range(50)) + 50
    assert control[WORK] == 100


def round_trips_s(policy: str, count: int) -> float:
    """Seconds for round trips between two threads that share one core."""
    there, back = make_link(NUMBER, 8), make_link(NUMBER, 8)
    controls = [make_control(policy), make_control(policy)]
    core = min(os.sched_getaffinity(0))
    took: list[float] = []

    def caller() -> None:
        os.sched_setaffinity(0, {core})
        started = time.perf_counter()
        toys.ping(there, back, controls[0], count)
        took.append(time.perf_counter() - started)
        stop(controls[1])

    def answerer() -> None:
        os.sched_setaffinity(0, {core})
        toys.pong(there, back, controls[1])

    threads = [threading.Thread(target=target) for target in (caller, answerer)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    return took[0]


@compiled_only
def test_yield_lets_a_thread_on_the_same_core_run() -> None:
    """Without it, a hop lasts until the scheduler takes the core away: milliseconds, not microseconds."""
    round_trips_s("yield", 1)
    assert round_trips_s("yield", 30) < round_trips_s("pause", 30) / 4


MACHINE_CODE = """
from numba import njit
from tests.hot import toys
from venym.hot.duty_cycle import make_control
source, sink = toys.pipeline(10, toys.double)
toys.laps(source, sink, make_control(), 3)
ours = toys.laps.inspect_asm(toys.laps.signatures[0])
counted = njit(lambda source: source.numbers.slots[3:])
counted(source)
theirs = counted.inspect_asm(counted.signatures[0])
print("sched_yield" in ours, "pause" in ours, "NRT_" in ours, "NRT_" in theirs)
"""


@compiled_only
def test_no_reference_counting_in_the_machine_code(tmp_path: os.PathLike[str]) -> None:
    """From an empty cache: code that was loaded cannot be looked at."""
    out, _ = child.run(MACHINE_CODE, env=child.environment(NUMBA_CACHE_DIR=str(tmp_path)))
    assert out.split() == ["True", "True", "False", "True"]


def test_same_result_without_the_compiler_and_with_bounds_checks() -> None:
    programs = [
        child.start("from tests.hot.toys import main; main()", env=child.environment(**mode))
        for mode in ({}, {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_BOUNDSCHECK": "1"})
    ]
    compiled, plain, checked = (child.finish(program)[0] for program in programs)
    assert "seven is right out" in compiled and str(np.arange(1000).sum() + 1000) in compiled
    assert plain == checked == compiled
