"""Cycles are told in nanoseconds by the system's own clock."""

import time

import pytest

from venym.hot import cycle_clock
from venym.hot.cycle_clock import CycleClock, read_cycles

pytestmark = pytest.mark.plain


def test_a_known_time_is_measured_in_cycles() -> None:
    clock = CycleClock()
    began_ns, began = time.perf_counter_ns(), int(read_cycles())
    time.sleep(0.05)
    passed_ns, passed = time.perf_counter_ns() - began_ns, int(read_cycles()) - began
    assert passed * clock.ns_per_cycle() == pytest.approx(passed_ns, rel=0.02)


def test_two_clocks_agree() -> None:
    first = CycleClock()
    time.sleep(0.02)
    second = CycleClock()
    time.sleep(0.05)
    assert first.ns_per_cycle() == pytest.approx(second.ns_per_cycle(), rel=0.01)


def test_a_counter_that_stands_still_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cycle_clock, "read_cycles", lambda: 5)
    with pytest.raises(ValueError, match="went by 0 cycles"):
        CycleClock().ns_per_cycle()
