"""scripts/bench_recovery runs and counts what it did."""

import json
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent.parent / "scripts" / "bench_recovery"


def test_all_that_was_missing_comes_back():
    command = [sys.executable, str(SCRIPT), "--holes", "300", "--orders", "5000", "--json"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (ran.stderr, ran.returncode) == ("", 0)
    results = json.loads(ran.stdout)
    assert results["holes"]["holes"] == 300 and results["holes"]["requests"] >= 300
    assert results["one hole"]["messages"] == 5000 and results["one hole"]["requests"] >= 5000 / 35
    assert results["snapshot"]["orders"] == 5000 and results["snapshot"]["seconds"] > 0
