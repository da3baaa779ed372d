"""A run leaves what it did, however it ends."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram

from venym.control import run_directory
from venym.control.errors import ConfigurationError
from venym.control.resolve import resolve
from venym.control.run_directory import FINISHED, KILLED, make_run_directory
from venym.hot import histogram as hg
from venym.records import INBOUND, OUTBOUND, WIRE_MESSAGE

ROOT = Path(__file__).resolve().parents[2]
ORDER = b"8=FIX.4.2\x019=5\x0135=D\x0110=000\x01"
REPORT = b"8=FIX.4.2\x019=5\x0135=8\x0158=a\nb\rc\x0110=000\x01"
MORNING_NS = 34_200_000_000_123


def messages(*held: tuple[int, bytes]) -> np.ndarray:
    records = np.zeros(len(held), WIRE_MESSAGE)
    for k, (direction, octets) in enumerate(held):
        records[k]["direction"], records[k]["length"] = direction, len(octets)
        records[k]["clock_ns"] = MORNING_NS + k
        records[k]["octets"][: len(octets)] = np.frombuffer(octets, np.uint8)
        records[k]["octets"][len(octets) :] = ord("~")  # what another message left
    return records


def outcome(path: Path) -> Any:
    return json.loads((path / "outcome.json").read_text())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run"


def test_every_message_is_kept_and_what_was_sent_by_itself(path: Path) -> None:
    with make_run_directory(path, Path(), "replay") as run:
        run.append(messages((OUTBOUND, ORDER), (INBOUND, REPORT)))
        run.append(messages())
        run.append(messages((OUTBOUND, ORDER)))
        assert run.orders == 2
    sent = ORDER + b"\n" + ORDER + b"\n"
    assert (path / "orders.fix").read_bytes() == sent
    assert run.orders_sha256 == hashlib.sha256(sent).hexdigest() == outcome(path)["orders_sha256"]
    assert (path / "messages.fix").read_bytes() == (
        b"out 09:30:00.000000123 %s\nin 09:30:00.000000124 %s\nout 09:30:00.000000123 %s\n"
        % (ORDER, REPORT.replace(b"\n", b"\\n").replace(b"\r", b"\\r"), ORDER)
    )


def test_messages_are_there_before_the_run_ends(path: Path) -> None:
    run = make_run_directory(path, Path(), "replay")
    run.append(messages((OUTBOUND, ORDER)))
    assert (path / "orders.fix").read_bytes() == ORDER + b"\n"
    assert outcome(path)["state"] == "running"
    assert (outcome(path)["pid"], outcome(path)["ended"]) == (os.getpid(), None)
    run.finish(FINISHED)


def test_a_process_that_is_killed_leaves_what_it_sent(path: Path) -> None:
    code = (
        "import os, sys; from pathlib import Path\n"
        "from tests.control.test_run_directory import ORDER, OUTBOUND, messages, make_run_directory\n"
        "run = make_run_directory(Path(sys.argv[1]), Path(), 'replay').__enter__()\n"
        "run.append(messages(*[(OUTBOUND, ORDER)] * 500))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
    assert done.returncode == -signal.SIGKILL
    assert (path / "orders.fix").read_bytes() == (ORDER + b"\n") * 500
    assert outcome(path)["state"] == "running"


def test_how_a_run_ended_is_told(path: Path) -> None:
    with make_run_directory(path, Path(), "replay") as run:
        run.finish(KILLED, "sequence_gap: a message of the venue is missing")
        run.finish(FINISHED)  # too late
    told = outcome(path)
    assert (told["state"], told["reason"]) == ("killed", "sequence_gap: a message of the venue is missing")
    assert told["command"] == sys.argv
    assert datetime.fromisoformat(told["began"]) <= datetime.fromisoformat(told["ended"]) <= datetime.now(UTC)


def test_a_run_that_fails_half_way_tells_why_and_keeps_what_was_there(path: Path) -> None:
    with pytest.raises(ZeroDivisionError), make_run_directory(path, Path(), "replay") as run:
        run.append(messages((OUTBOUND, ORDER)))
        _ = 1 // 0
    told = outcome(path)
    assert (told["state"], told["reason"]) == (
        "failed",
        "ZeroDivisionError: integer division or modulo by zero",
    )
    assert told["traceback"][-1] == told["reason"]
    assert (told["orders"], (path / "orders.fix").read_bytes()) == (1, ORDER + b"\n")


def test_control_c_is_no_failure(path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), make_run_directory(path, Path(), "replay"):
        raise KeyboardInterrupt
    told = outcome(path)
    assert (told["state"], told["reason"], "traceback" in told) == ("interrupted", "Ctrl-C", False)


def test_what_goes_wrong_after_the_end_changes_no_outcome(path: Path) -> None:
    with pytest.raises(BrokenPipeError), make_run_directory(path, Path(), "replay") as run:
        run.finish(FINISHED)
        raise BrokenPipeError
    assert outcome(path)["state"] == "finished"


def test_a_full_disk_does_not_hide_why_the_run_failed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(ZeroDivisionError) as caught, make_run_directory(path, Path(), "replay"):
        monkeypatch.setattr(run_directory, "_put", full)
        _ = 1 // 0
    (note,) = caught.value.__notes__
    assert note.endswith("could not be finished: [Errno 28] No space left on device")


def test_a_disk_that_fills_up_under_the_orders_is_told(path: Path) -> None:
    with pytest.raises(OSError, match="No space left") as caught, make_run_directory(path, Path(), "replay") as run:
        run.append(messages((OUTBOUND, ORDER)))
        with open("/dev/full", "wb") as full:
            os.dup2(full.fileno(), run._orders.fileno())
        run.append(messages((OUTBOUND, ORDER)))
    assert (outcome(path)["state"], outcome(path)["orders"]) == ("failed", 1)
    assert outcome(path)["orders_sha256"] == hashlib.sha256((path / "orders.fix").read_bytes()).hexdigest()
    assert "could not be finished" in caught.value.__notes__[0]  # the device cannot be synchronised either


def test_a_directory_of_choice_is_made_or_must_be_empty(tmp_path: Path) -> None:
    with make_run_directory(tmp_path / "a" / "b", Path(), "replay") as run:
        assert run.path == tmp_path / "a" / "b"
    (tmp_path / "empty").mkdir()
    make_run_directory(tmp_path / "empty", Path(), "replay").finish(FINISHED)
    for taken in (tmp_path / "empty", tmp_path / "a"):
        with pytest.raises(ConfigurationError, match=f"^--run-dir: {taken}: is not empty$"):
            make_run_directory(taken, Path(), "replay")


def test_a_directory_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for chosen, runs_dir, said in (
        (tmp_path / "file", Path(), "--run-dir"),
        (tmp_path / "file" / "x", Path(), "--run-dir"),
        (None, tmp_path / "file", "replay.runs_dir"),
    ):
        with pytest.raises(ConfigurationError, match=f"^{said}: {tmp_path}/file.*: (Not a directory|File exists)$"):
            make_run_directory(chosen, runs_dir, "replay")


def test_runs_are_named_after_their_time_and_never_share_a_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_directory, "_now", lambda: datetime(2026, 1, 5, 14, 30, 0, 999, UTC))
    names = []
    for _ in range(3):
        with make_run_directory(None, tmp_path / "runs", "replay") as run:
            names.append(run.path.relative_to(tmp_path).as_posix())
    first = "runs/20260105T143000Z-replay"
    assert names == [first, f"{first}-2", f"{first}-3"]


def test_settings_are_kept_so_that_they_can_be_used_again(path: Path) -> None:
    resolved = resolve(None, ["book.orders_max=5"], {})
    with make_run_directory(path, Path(), "replay") as run:
        run.write_settings(resolved.table)
    assert resolve(path / "settings.toml", [], {}).settings == resolved.settings
    assert "# --set book.orders_max=5" in (path / "settings.toml").read_text()


def test_versions_tell_what_the_results_depend_on(path: Path) -> None:
    with make_run_directory(path, Path(), "replay") as run:
        run.write_versions({"strategies[0].file": Path(__file__)})
    held = json.loads((path / "versions.json").read_text())
    for name in ("venym", "compiled_code", "python", "numba", "llvmlite", "numpy", "platform", "cpu", "cpus"):
        assert held[name]
    assert held["numba"] == version("numba")
    sha256 = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()
    assert held["files"] == {"strategies[0].file": {"path": __file__, "sha256": sha256}}


def test_histograms_are_read_by_the_tools_for_them(path: Path) -> None:
    histogram = hg.make_histogram()
    for value in (3, 3, 1_000, 70_000):
        hg.record(histogram, value)
    with make_run_directory(path, Path(), "replay") as run:
        run.write_histogram("tick_to_order", histogram)
    decoded = HdrHistogram.decode((path / "histograms" / "tick_to_order.hdr").read_text().strip())
    assert decoded.get_total_count() == 4
    assert decoded.get_value_at_percentile(50) == 3


def test_files_are_whole_or_not_there(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with make_run_directory(path, Path(), "replay") as run:
        run.write_result({"a": 1})
        monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            run.write_result({"a": 2})
        monkeypatch.undo()
    assert json.loads((path / "result.json").read_text()) == {"a": 1}
    made = {"outcome.json", "result.json", "orders.fix", "messages.fix", "histograms", ".result.json.partial"}
    assert {file.name for file in path.iterdir()} == made
