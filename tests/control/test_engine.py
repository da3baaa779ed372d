"""The engine: states in order, every way a stage can end, plans that fit the machine."""

import os

import pytest

from venym import pipeline
from venym.control import engine
from venym.control.engine import Engine, StageFailed, choose_plan
from venym.control.errors import ConfigurationError
from venym.hot.duty_cycle import STAGE, STOP


@pytest.mark.parametrize(
    ("cpus", "plan"), [(1, "fused"), (2, "fused"), (3, "split2"), (7, "split2"), (8, "dedicated"), (64, "dedicated")]
)
def test_auto_takes_the_widest_plan_that_leaves_a_core_for_control(cpus, plan):
    assert choose_plan("auto", cpus) == plan


@pytest.mark.parametrize("plan", pipeline.PLANS)
def test_a_plan_that_is_named_is_taken_and_runs_every_stage_once(plan):
    assert choose_plan(plan, 1) == plan
    masks = pipeline.PLANS[plan]
    assert sum(masks) == pipeline.MARKET_SIDE | pipeline.ORDER_SIDE
    assert [name for mask in masks for name in pipeline.names(mask)] == list(pipeline.STAGES.values())


def looping(monkeypatch, body):
    """Instead of the compiled loop, whose errors come from stages: a loop that calls `body(control)` until stopped."""

    def duty_cycle(made, mask, control):
        while control[STOP] == 0:
            body(control)

    monkeypatch.setattr(engine.pipeline, "duty_cycle", duty_cycle)


def test_it_goes_from_boot_over_warm_and_run_to_halt(monkeypatch):
    seen = []
    looping(monkeypatch, seen.append)
    made = Engine(None, (1, 2))
    assert made.state == "BOOT"
    made.warm()
    assert made.state == "WARM" and not seen  # the dry run had its stop flag set
    made.start()
    assert made.state == "RUN"
    made.check()
    made.halt()
    assert made.state == "HALT" and made.compiled_late == []


def test_a_stage_that_raises_stops_all_cores_and_is_named(monkeypatch):
    def fail(control):
        control[STAGE] = pipeline.FEATURES
        raise IndexError("out of bounds")

    looping(monkeypatch, fail)
    made = Engine(None, (1, 2))
    made.warm()
    made.start()
    for thread in made._threads:
        thread.join(10)
    with pytest.raises(StageFailed, match=r"^features: IndexError: out of bounds$") as caught:
        made.check()
    assert isinstance(caught.value.__cause__, IndexError) and made.state == "FAIL"


def test_what_is_settled_lets_the_loop_go_on(monkeypatch):
    calls, settled = [], []

    def fail_once(control):
        calls.append(1)
        if len(calls) == 1:
            raise ValueError("a strategy's")

    def settle(error):
        settled.append(str(error))
        return True

    looping(monkeypatch, fail_once)
    made = Engine(None, (1,), settle=settle)
    made.warm()
    made.start()
    while len(calls) < 3:
        pass
    made.halt()
    assert settled == ["a strategy's"] and made.state == "HALT"


def test_a_settling_that_fails_is_told_with_what_it_was_to_settle(monkeypatch):
    def fail(control):
        raise ValueError("first")

    def settle(error):
        raise KeyError("second")

    looping(monkeypatch, fail)
    made = Engine(None, (1,), settle=settle)
    made.warm()
    made.start()
    made._threads[0].join(10)
    with pytest.raises(StageFailed, match="engine: KeyError") as caught:
        made.check()
    assert str(caught.value.__cause__.__context__) == "first"


@pytest.mark.parametrize("cpus", [[0, 0], [0], [0, 4_095]])
def test_processors_that_cannot_be_had_are_refused(cpus):
    with pytest.raises(ConfigurationError, match="processors"):
        Engine(None, (1, 2), cpus=cpus)


def test_a_core_is_pinned_to_its_processor(monkeypatch):
    cpu, seen = max(os.sched_getaffinity(0)), []
    looping(monkeypatch, lambda control: seen.append(os.sched_getaffinity(0)))
    made = Engine(None, (1,), cpus=[cpu])
    made.warm()
    made.start()
    while not seen:
        pass
    made.halt()
    assert seen[0] == {cpu}
