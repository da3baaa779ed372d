"""QuickFIX's acceptance scripts, all of FIX 4.2 and 4.4, against our session as their acceptor."""

import importlib.util
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from tests.skips import ROOT

VERSIONS = {"FIX.4.2": ("fix42", 58), "FIX.4.4": ("fix44", 59)}
SLOW = {"6_SendTestRequest.def": 1, "4a_NoDataSentDuringHeartBtInt.def": 2}  # they wait for heartbeats: side by side
SESSIONS = 3


def _runner(shared: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fix_acceptance", shared / "tools" / "fix_acceptance.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def ports(tmp_path: Path, shared: Path) -> Iterator[dict[str, list[int]]]:
    """By version, those of running acceptors."""
    processes = []
    try:
        for version in VERSIONS:
            command = [sys.executable, "-m", "tests.fix_acceptor", "--port", "0", "--version", version]
            more = ["--sessions", str(SESSIONS), "--ready", str(tmp_path / version)]
            processes.append(subprocess.Popen([*command, *more], cwd=ROOT))
        until = time.monotonic() + 120
        while not all((tmp_path / version).exists() for version in VERSIONS):
            assert all(process.poll() is None for process in processes) and time.monotonic() < until
            time.sleep(0.05)
        yield {version: [int(port) for port in (tmp_path / version).read_text().split()] for version in VERSIONS}
    finally:
        for process in processes:
            process.kill()
            process.wait()


def test_all_scripts_pass(ports: dict[str, list[int]], shared: Path) -> None:
    runner = _runner(shared)

    def failures(port: int, scripts: list[Path]) -> list[tuple[str, object]]:
        found = []
        for script in scripts:
            outcome = runner.run(port, script)
            if outcome is not None:
                found.append((f"{script.parent.name}/{script.name}", outcome))
            time.sleep(0.1)
        return found

    runs = []
    for version, (folder, count) in VERSIONS.items():
        scripts = sorted((shared / "data" / "quickfix_at" / folder).glob("*.def"))
        assert len(scripts) == count
        for place, port in enumerate(ports[version]):
            runs.append((port, [script for script in scripts if SLOW.get(script.name, 0) == place]))
    with warnings.catch_warnings(), ThreadPoolExecutor(len(runs)) as pool:
        warnings.simplefilter("ignore")  # the runner leaves files open, and uses what is deprecated
        assert [one for found in pool.map(failures, *zip(*runs, strict=True)) for one in found] == []
