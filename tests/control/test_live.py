"""What surrounds a live run: its cores, their processors, when it is over, what it tells of outages. The run itself is
tests/live."""

import os
from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.control.resolving import resolved_text
from venym import pipeline
from venym.control.errors import ConfigurationError
from venym.control.live import all_ended, cpus_of, live_masks, outages, run
from venym.control.recovery_schedule import Recovery
from venym.stages.market import ENDED, IN_SYNC


@pytest.mark.parametrize("plan", pipeline.PLANS)
def test_no_core_runs_the_venue_in_memory_and_every_other_stage_has_one(plan: str) -> None:
    masks = live_masks(plan)
    assert sum(masks) == sum(pipeline.STAGES) - pipeline.VENUE and all(masks)


def test_cores_are_pinned_where_the_settings_say_or_to_the_last_processors(tmp_path: Path) -> None:
    mine = sorted(os.sched_getaffinity(0))
    assert cpus_of(resolved_text(tmp_path, '[run]\ncpus = "7,3"\n'), 2) == [7, 3]
    assert cpus_of(resolved_text(tmp_path, ""), 1) == mine[-1:]


def test_more_cores_that_never_rest_than_processors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cores that never rest"):
        cpus_of(resolved_text(tmp_path, ""), len(os.sched_getaffinity(0)) + 1)


def test_a_run_of_no_instrument_is_refused(tmp_path: Path) -> None:
    settings = resolved_text(tmp_path, '[[channels]]\nname = "one"\nline_a = "239.1.1.1:1000"\n')
    with pytest.raises(ConfigurationError, match="instruments: there is none"):
        run(Namespace(date=None, run_dir=None, seconds=1, json=False, table=()), settings)


def test_it_is_over_when_every_session_has_ended() -> None:
    def held(*streams: int) -> Any:
        channels = np.zeros(len(streams), [("stream", "i4")])
        channels["stream"] = streams
        return SimpleNamespace(market=SimpleNamespace(channels=channels))

    assert all_ended(held(ENDED, ENDED)) and not all_ended(held(ENDED, IN_SYNC))


def test_outages_are_told_by_what_ended_them() -> None:
    records = [
        Recovery("one", 5, 4, 0.002, "10.0.0.1:26479"),
        Recovery("one", 90, 2, 0.0155, "10.0.0.1:26479"),
        Recovery("two", 7, 1_000, 1.5, "snapshot"),
    ]
    assert outages(records) == [
        "outages ended by 10.0.0.1:26479: 2, 6 messages, the longest 15.5 ms",
        "outages ended by snapshot: 1, 1,000 messages, the longest 1,500.0 ms",
    ]
    assert outages([]) == []
