"""The ring benchmark runs the link that ships, and says what it could not measure."""

import json
import os
import shutil
import subprocess
import sys
from typing import Any

import pytest

from tests.hot import child

FIGURES = {"hop one way p50", "hop one way p99"}
FIGURES |= {
    f"{cores} core{s}, a record, batch {batch}" for cores, s in (("one", ""), ("two", "s")) for batch in (1, 16)
}


def bench(*arguments: str, **options: Any) -> str:
    command = [sys.executable, str(child.ROOT / "scripts/bench_ring"), "--rounds", "1", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=100, **options).stdout


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_figures_beside_cpp() -> None:
    told = json.loads(bench("--json", env=child.environment()))
    assert set(told["figures"]) == FIGURES
    codes = {"venym", "C++"} if shutil.which("g++") else {"venym"}
    for by in told["figures"].values():
        assert set(by) == codes
        assert all(0.1 < value < 1e6 for value in by.values()), "nanoseconds"


def test_one_core_and_no_compiler() -> None:
    core = min(os.sched_getaffinity(0))
    env = child.environment(PATH="/nonexistent")
    out = bench(env=env, preexec_fn=lambda: os.sched_setaffinity(0, {core}))
    assert "no g++: nothing to compare with" in out and "one core only: no figures between cores" in out
    rows = [line for line in out.splitlines() if line.startswith("one core, a record")]
    assert len(rows) == 2 and all(row.split()[-2:] == ["-", "-"] for row in rows)
    assert "two cores, a record" not in out
