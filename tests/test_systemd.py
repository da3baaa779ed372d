"""The unit files are sound, safe, and start what exists."""

import shlex
import subprocess
from pathlib import Path

import pytest

from venym.cli import COMMANDS, parser_of

ROOT = Path(__file__).resolve().parent.parent
UNITS = sorted(path.name for path in (ROOT / "systemd").glob("*.service"))
PROGRAM = "/opt/venym/bin/venym"


@pytest.fixture
def instance(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """An instance of the unit, with a program that exists in place of the installed one."""
    text = (ROOT / "systemd" / request.param).read_text("utf-8")
    assert PROGRAM in text
    path = tmp_path / request.param.replace("@.", "@01302020.NASDAQ_ITCH50.gz.")
    path.write_text(text.replace(f"={PROGRAM} ", "=/bin/true "))
    return path


@pytest.mark.parametrize("instance", UNITS, indirect=True)
def test_systemd_finds_nothing_wrong(instance: Path, systemd_analyze: str) -> None:
    command = [systemd_analyze, "verify", "--recursive-errors=no", str(instance)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.parametrize("instance", UNITS, indirect=True)
def test_the_sandbox_is_tight(instance: Path, systemd_analyze: str) -> None:
    command = [systemd_analyze, "security", "--offline=true", "--threshold=30", str(instance)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("unit", UNITS)
def test_it_starts_a_command_that_exists_with_options_that_exist(unit: str) -> None:
    (start,) = [
        line for line in (ROOT / "systemd" / unit).read_text("utf-8").splitlines() if line.startswith("ExecStart=")
    ]
    program, name, *rest = shlex.split(start.removeprefix("ExecStart="))
    assert program == PROGRAM
    (command,) = [command for command in COMMANDS if command.name == name]
    args = parser_of(command).parse_intermixed_args(rest)
    assert args.config == Path("/etc/venym/venym.toml")


def test_there_are_units() -> None:
    assert UNITS
