"""scripts/bench_decode runs, with the peers that are installed, on whatever file it is given."""

import subprocess
import sys
from pathlib import Path

from tests.wire.itch50_samples import SAMPLES, framed

SCRIPT = Path(__file__).resolve().parent.parent.parent / "scripts" / "bench_decode"


def bench(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_both_decoders_are_timed_on_all_messages_of_the_file(tmp_path):
    path = tmp_path / "day"
    path.write_bytes(framed(*(octets for octets, _ in SAMPLES)) * 20)
    ran = bench(path, "--rounds", 1)
    assert (ran.stderr, ran.returncode) == ("", 0)
    for name in ("venym rows", "venym json"):
        line = next(line for line in ran.stdout.splitlines() if line.startswith(name))
        assert line.split()[7] == "460"


def test_a_file_without_messages_is_refused(tmp_path):
    path = tmp_path / "empty"
    path.write_bytes(framed(b"~" + bytes(16)))
    ran = bench(path)
    assert "no ITCH 5.0 message found" in ran.stderr
    assert ran.returncode == 1
