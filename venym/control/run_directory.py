"""A run's directory: what was run, what was sent, and how it ended, even if it did not end well.

    runs/20190130T143000Z-replay/
        outcome.json    running, finished, killed, failed or interrupted, and why; written first and last
        settings.toml   every setting, and where it came from; --config takes it again
        versions.json   of venym and what it runs on; hashes of its code, of strategies and of the model
        orders.fix      every message sent, one a line, SOH as it is
        messages.fix    every message, both ways: "out" or "in", exchange time, the message; one a line
        result.json     see `summary`
        histograms/     latencies in ns, each as HdrHistogram's base64 (V2, compressed)

Messages go to their files as they come, unbuffered, so a run that dies leaves what it sent. The other files are written
aside and renamed: there whole, or not at all. A line feed or carriage return within a message (only another's text can
have one) is written as ``\\n`` or ``\\r`` in messages.fix.
"""

import hashlib
import json
import os
import platform
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from .. import __version__
from ..hot import histogram as hg
from ..hot.cache import package_key
from ..records import OUTBOUND
from .errors import ConfigurationError
from .ladder import format_time
from .resolve import Setting
from .toml import document

RUNNING, FINISHED, KILLED, FAILED, INTERRUPTED = "running", "finished", "killed", "failed", "interrupted"
SAME_SECOND_MAX = 1_000  # runs that begin in one second


class RunDirectory:
    """Of one run; a context manager, so that the outcome is written whatever happens.

    `orders`: how many messages were sent; `orders_sha256`: of what stands in orders.fix.
    """

    def __init__(self, path: Path, command: Iterable[str] = ()) -> None:
        """`path` is an empty directory."""
        self.path = path
        self.orders = 0
        self.state = RUNNING
        self._command = list(command)
        self._began = _now()
        self._digest = hashlib.sha256()
        self._write_outcome("")
        (path / "histograms").mkdir()
        self._orders = (path / "orders.fix").open("xb", buffering=0)
        self._messages = (path / "messages.fix").open("xb", buffering=0)

    @property
    def orders_sha256(self) -> str:
        return self._digest.hexdigest()

    def write_settings(self, table: Iterable[Setting]) -> None:
        """Every settled setting."""
        _put(self.path / "settings.toml", document(table))

    def write_versions(self, files: Mapping[str, Path]) -> None:
        """Of everything that the run depends on; `files` by the name of their setting."""
        _put_json(self.path / "versions.json", versions() | {"files": {name: _sha256(files[name]) for name in files}})

    def append(self, records: np.ndarray) -> None:
        """Take messages (WIRE_MESSAGE records, in order) into orders.fix and messages.fix."""
        sent, all_of_them, orders = bytearray(), bytearray(), 0
        for record in records:
            octets = record["octets"][: record["length"]].tobytes()
            outbound = int(record["direction"]) == OUTBOUND
            if outbound:
                orders += 1
                sent += octets + b"\n"
            line = octets.replace(b"\n", b"\\n").replace(b"\r", b"\\r")
            time = format_time(int(record["clock_ns"])).encode()
            all_of_them += b"%s %s %s\n" % (b"out" if outbound else b"in", time, line)
        for written in _write(self._orders.fileno(), sent):
            self._digest.update(written)
        self.orders += orders
        for _ in _write(self._messages.fileno(), all_of_them):
            pass

    def write_histogram(self, name: str, histogram: np.ndarray) -> None:
        """A histogram of nanoseconds, as histograms/NAME.hdr."""
        _put(self.path / "histograms" / f"{name}.hdr", hg.to_hdr(histogram) + "\n")

    def write_result(self, result: Mapping[str, Any]) -> None:
        """What `summary.to_document` made."""
        _put_json(self.path / "result.json", result)

    def finish(self, state: str, reason: str = "") -> None:
        """How the run ended: FINISHED, KILLED, FAILED or INTERRUPTED; the first time counts."""
        if self.state == RUNNING:
            self._end(state, reason)

    def __enter__(self) -> "RunDirectory":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self.finish(FINISHED)
        elif self.state == RUNNING:
            interrupted = isinstance(error, KeyboardInterrupt)
            reason = "Ctrl-C" if interrupted else f"{type(error).__name__}: {error}"
            said = [] if interrupted else traceback.format_exception(error)
            try:
                self._end(INTERRUPTED if interrupted else FAILED, reason, said)
            except OSError as second:  # a full disk: what stopped the run is what must be told
                error.add_note(f"{self.path}: could not be finished: {second}")

    def _end(self, state: str, reason: str, trace: list[str] | None = None) -> None:
        self.state = state
        try:
            with self._orders, self._messages:
                os.fsync(self._messages.fileno())
                os.fsync(self._orders.fileno())
        finally:
            self._write_outcome(reason, trace)

    def _write_outcome(self, reason: str, trace: list[str] | None = None) -> None:
        outcome = {
            "state": self.state,
            "reason": reason,
            "began": self._began.isoformat(),
            "ended": None if self.state == RUNNING else _now().isoformat(),
            "orders": self.orders,
            "orders_sha256": self.orders_sha256,
            "pid": os.getpid(),
            "command": self._command,
        }
        if trace:
            outcome["traceback"] = "".join(trace).splitlines()
        _put_json(self.path / "outcome.json", outcome)


def make_run_directory(chosen: Path | None, runs_dir: Path, what: str) -> RunDirectory:
    """Make the directory of a run: `chosen`, or one in `runs_dir` named after the time and `what` is run.

    Raises ConfigurationError if the directory cannot be made, or is not empty.
    """
    try:
        path = _made(runs_dir, what) if chosen is None else _taken(chosen)
        return RunDirectory(path, sys.argv)
    except OSError as error:
        where = "replay.runs_dir" if chosen is None else "--run-dir"
        raise ConfigurationError(f"{where}: {error.filename or chosen or runs_dir}: {error.strerror}") from error


def _taken(chosen: Path) -> Path:
    chosen.mkdir(parents=True, exist_ok=True)
    if any(chosen.iterdir()):
        raise ConfigurationError(f"--run-dir: {chosen}: is not empty")
    return chosen


def _made(runs_dir: Path, what: str) -> Path:
    """A directory that was not there: two runs may begin in the same second."""
    runs_dir.mkdir(parents=True, exist_ok=True)
    name = f"{_now():%Y%m%dT%H%M%SZ}-{what}"
    for number in range(1, SAME_SECOND_MAX + 1):
        path = runs_dir / (name if number == 1 else f"{name}-{number}")
        try:
            path.mkdir()
        except FileExistsError:
            continue
        return path
    raise ConfigurationError(f"{runs_dir}: there are {SAME_SECOND_MAX} directories {name} already")


def versions() -> dict[str, Any]:
    """What the results may depend on besides the settings."""
    return {
        "venym": __version__,
        "compiled_code": package_key(),  # of the sources, the versions and numba's settings
        "python": sys.version,
        **{name: version(name) for name in ("numba", "llvmlite", "numpy")},
        "platform": platform.platform(),
        "cpu": _cpu(),
        "cpus": len(os.sched_getaffinity(0)),
    }


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    found = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return found[0] if found else platform.processor()


def _sha256(path: Path) -> dict[str, str]:
    return {"path": str(path), "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def _now() -> datetime:
    return datetime.now(UTC)


def _put_json(path: Path, held: Mapping[str, Any]) -> None:
    _put(path, json.dumps(held, indent=2) + "\n")


def _put(path: Path, text: str) -> None:
    partial = path.with_name(f".{path.name}.partial")
    with partial.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def _write(descriptor: int, octets: bytes | bytearray) -> Iterator[memoryview]:
    """Write all of it, and give what was written, piece by piece: a disk that fills up takes the first of them."""
    left = memoryview(octets)
    while left:
        count = os.write(descriptor, left)
        yield left[:count]
        left = left[count:]
