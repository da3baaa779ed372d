"""Run a piece of Python in a process of its own, with the repository importable and nothing inherited by chance."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
NOBODY = 65534


def as_user(user: int) -> list[str]:
    """The command that starts another as this user: it can read all (Python may lie in a closed home), write nothing
    of others. For root only."""
    caps = "-all,+dac_read_search"
    kept = [f"--inh-caps={caps}", f"--ambient-caps={caps}", f"--bounding-set={caps}"]
    return ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *kept]


def environment(**changes: str | None) -> dict[str, str]:
    """This process's environment without any numba setting, changed; None takes a name away."""
    held = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    held.update(PYTHONPATH=str(ROOT), PYTHONDONTWRITEBYTECODE="1")
    for name, value in changes.items():
        if value is None:
            held.pop(name, None)
        else:
            held[name] = value
    return held


def start(
    code: str, *arguments: object, env: dict[str, str] | None = None, prefix: Sequence[str] = (), **options: Any
) -> subprocess.Popen[str]:
    """The running process, its output piped; `prefix` is a command that starts it."""
    options.setdefault("cwd", ROOT)
    return subprocess.Popen(
        [*prefix, sys.executable, "-c", code, *map(str, arguments)],
        env=environment() if env is None else env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def finish(process: subprocess.Popen[str], timeout_s: float = 100) -> tuple[str, str]:
    """What the process wrote on stdout and stderr; fails unless it ended well."""
    try:
        out, err = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {timeout_s} s\n{out}\n{err}") from None
    assert process.returncode == 0, f"exit {process.returncode}\n{out}\n{err}"
    return out, err


def run(code: str, *arguments: object, env: dict[str, str] | None = None, **options: Any) -> tuple[str, str]:
    return finish(start(code, *arguments, env=env, **options))


@contextmanager
def public_folder() -> Iterator[Path]:
    """A folder that another user can reach (pytest's own are closed to others)."""
    with tempfile.TemporaryDirectory(prefix="venym-test-") as name:
        os.chmod(name, 0o755)
        yield Path(name)
