"""The command line as a user meets it: real processes, their exit codes and what they print where."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from venym import __version__
from venym.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent

# The shipped main with one more row, whose body a test writes.
TOY = """
import sys, types
from venym import cli
body = types.ModuleType("venym.control.toy")
exec(sys.argv[1], body.__dict__)
sys.modules["venym.control.toy"] = body
cli.COMMANDS += (cli.Command("toy", "a test's own", "toy", True, cli._decode_arguments),)
sys.exit(cli.main(sys.argv[2:]))
"""


def start(*argv: str, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("VENYM_")}
    return subprocess.Popen(
        [sys.executable, *argv],
        cwd=ROOT,
        env=clean | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_control_c,  # noqa: PLW1509  # no threads here
    )


def heed_control_c() -> None:
    """In the child: what a terminal gives, even where these tests run in the background and ignore it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*argv: str, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    """Exit code, stdout and stderr."""
    with start(*argv, environment=environment) as process:
        out, err = process.communicate(timeout=120)
        return process.returncode, out, err


def venym(*argv: str, **environment: str) -> tuple[int, str, str]:
    return run("-m", "venym", *argv, environment=environment)


def toy(body: str, *argv: str, environment: dict[str, str] | None = None) -> tuple[int, str, str]:
    return run("-c", TOY, f"def run(args, settings):\n    {body}", "toy", *argv, environment=environment)


def test_version() -> None:
    assert venym("--version") == (0, f"venym {__version__}\n", "")


def test_help_lists_every_command() -> None:
    code, out, err = venym("--help")
    assert (code, err) == (0, "")
    for command in COMMANDS:
        assert f"  {command.name:<8}  {command.summary}\n" in out


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_every_command_has_help_with_the_common_options(name: str) -> None:
    code, out, err = venym(name, "--help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: venym {name} ")
    assert "--config FILE" in out
    assert "--set section.key=value" in out


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["check"], ["check", "--json"], ["decode", "--help"]])
def test_what_needs_no_compiler_does_not_load_it(argv: list[str]) -> None:
    code, _, err = run("-X", "importtime", "-m", "venym", *argv)
    assert code == 0
    loaded = {line.rpartition("|")[2].strip() for line in err.splitlines() if line.startswith("import time:")}
    assert "venym.cli" in loaded
    assert not {"numba", "numpy", "structlog"} & loaded


def test_no_command_shows_help_and_is_a_usage_error() -> None:
    code, out, err = venym()
    assert (code, out) == (2, "")
    assert "commands:" in err


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["chek"], "invalid choice: 'chek'"),
        (["--jsn"], "unrecognized arguments: --jsn"),
        (["check", "--jsn"], "unrecognized arguments: --jsn"),
        (["check", "--js"], "unrecognized arguments: --js"),  # no abbreviations: they change meaning as options come
        (["check", "extra"], "unrecognized arguments: extra"),
        (["decode"], "required: FILE"),
        (["decode", "F", "--limit", "0"], "'0' is not a whole number from 1 up"),
        (["decode", "F", "--limit", "1e3"], "'1e3' is not a whole number from 1 up"),
        (["decode", "F", "--limit", "-1"], "--limit"),
        (["book", "F", "--levels", "9" * 19], "is not a whole number from 1 up"),
        (["generate", "F"], "required: --messages, --symbols, --seed"),
        (["generate", "F", "--messages", "5", "--symbols", "1", "--seed", "x"], "'x' is not a whole number from 0 up"),
    ],
)
def test_a_usage_error_is_told_on_stderr(argv: list[str], said: str) -> None:
    code, out, err = venym(*argv)
    assert (code, out) == (2, "")
    assert said in err
    assert "Traceback" not in err


def test_check_prints_every_value_and_its_source(tmp_path: Path) -> None:
    config = tmp_path / "venym.toml"
    config.write_text("[book]\nlevels_max = 7\n")
    code, out, err = venym(
        "check", "--set", "memory.lock=never", "--config", str(config), VENYM_BOOK__ORDERS_MAX="1_000"
    )
    assert (code, err) == (0, "")
    rows = [line.split(None, 2) for line in out.splitlines()]
    assert rows[0] == ["setting", "value", "source"]
    assert ["book.orders_max", "1000", "environment VENYM_BOOK__ORDERS_MAX"] in rows
    assert ["book.levels_max", "7", f"file {config}"] in rows
    assert ["memory.lock", '"never"', "--set memory.lock=never"] in rows
    assert ["runtime.cache_dir", '""', "default"] in rows


def test_check_as_json() -> None:
    code, out, _ = venym("check", "--json", "--set", "runtime.cache_dir=/tmp/x", "--set=book.orders_max=5")
    assert code == 0
    held = json.loads(out)
    assert held["book.orders_max"] == {"value": 5, "source": "--set", "where": "--set book.orders_max=5"}
    assert held["runtime.cache_dir"]["value"] == "/tmp/x"
    assert held["memory.lock"] == {"value": "auto", "source": "default", "where": None}


def test_what_check_prints_is_toml_for_the_same_settings(tmp_path: Path) -> None:
    options = ("--set", "book.orders_max=5", "--set", 'runtime.cache_dir=/tmp/a "b"')
    _, out, _ = venym("check", *options)
    config = tmp_path / "venym.toml"
    rows = [line.removesuffix(line.rpartition("  ")[2]) for line in out.splitlines()[1:]]
    config.write_text("\n".join(f"{name} = {value}" for name, value in (row.split(None, 1) for row in rows)))
    assert venym("check", "--config", str(config), "--json")[1].count('"source": "file"') == len(rows)


@pytest.mark.parametrize("command", [["check"], ["decode", "F"], ["book", "F"]])
def test_every_command_refuses_a_mistyped_setting_before_anything_starts(command: list[str]) -> None:
    code, out, err = venym(*command, VENYM_BOOK_ORDERS_MAX="5")
    assert (code, out) == (2, "")
    assert err == (
        "venym: refused to start:\n"
        "  VENYM_BOOK_ORDERS_MAX in the environment: no such setting; did you mean VENYM_BOOK__ORDERS_MAX?\n"
    )


def test_options_stand_anywhere_after_the_command() -> None:
    body = "print(*args.files, args.limit, settings.book.orders_max)"
    expected = (0, "a b c 3 5\n", "")
    body = f"{body}; return 0"
    assert toy(body, "a", "--limit", "3", "b", "--set", "book.orders_max=5", "c") == expected
    assert toy(body, "--set", "book.orders_max=5", "a", "b", "c", "--limit=3") == expected
    assert toy(body, "--limit=3", "--set=book.orders_max=5", "a", "--", "b", "c") == expected


def test_after_two_dashes_everything_is_a_file() -> None:
    assert toy("print(*args.files); return 0", "a", "--", "--limit", "-b") == (0, "a --limit -b\n", "")


@pytest.mark.parametrize("code", [0, 1, 2, 3])
def test_the_body_gives_the_exit_code(code: int) -> None:
    assert toy(f"return {code}", "F") == (code, "", "")


def test_a_file_that_is_not_there_is_a_usage_error() -> None:
    assert toy("open(args.files[0])", "gone.pcap") == (2, "", "venym: gone.pcap: No such file or directory\n")


def test_too_little_memory_is_told_without_a_traceback() -> None:
    code, out, err = toy("import numpy; numpy.empty(1 << 60, 'u1')", "F")
    assert (code, out) == (2, "")
    assert err.startswith("venym: out of memory: Unable to allocate 1.00 EiB")
    assert err.count("\n") == 1


def test_data_that_cannot_be_read_is_told_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("no capture\n" * 100)
    for command in ("decode", "book"):
        code, out, err = venym(command, str(path))
        assert (code, out) == (1, "")
        assert err.startswith(f"venym: {path}: ")
        assert err.count("\n") == 1


def test_memory_that_cannot_be_had_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "day").write_bytes(b"\0\x0cS" + bytes(11))
    code, out, err = venym("book", str(tmp_path / "day"), "--set", "book.orders_max=2_000_000_000")
    assert (code, out) == (2, "")
    assert err.startswith("venym: ")
    assert err.count("\n") == 1


def test_a_fault_of_ours_shows_where_and_is_not_called_bad_data() -> None:
    code, _, err = toy("return 1 // 0", "F")
    assert code == 70
    traceback, said = err.splitlines()[-2:]
    assert traceback.startswith("ZeroDivisionError: ")
    assert said == "venym: this is a fault in venym, not in what it was given"


def test_control_c_ends_it_with_one_line() -> None:
    body = "import time; print('begun', flush=True); time.sleep(60)"
    with start("-c", TOY, f"def run(args, settings): {body}", "toy", "F") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=60) == ("", "venym: interrupted\n")
        assert process.returncode == 130


@pytest.mark.parametrize("lines", [1, 1_000_000])
def test_a_reader_that_has_seen_enough_ends_it_quietly(lines: int) -> None:
    body = f"import time; time.sleep(0.2)\n    for line in range({lines}): print(line)\n    return 0"
    with start("-c", TOY, f"def run(args, settings):\n    {body}", "toy", "F") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait(60) == 141


def test_a_full_disk_is_told() -> None:
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "venym", "check"]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (2, b"venym: No space left on device\n")


def test_a_closed_stdout_is_told() -> None:
    command = f"{sys.executable} -m venym check >&-"
    done = subprocess.run(["sh", "-c", command], cwd=ROOT, stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (2, b"venym: standard output is closed\n")


COMPILE = "from venym.hot.duty_cycle import make_control, stop; stop(make_control()); return 0"


def test_compiled_code_is_kept_where_the_setting_says(tmp_path: Path) -> None:
    chosen, other = tmp_path / "new" / "chosen", tmp_path / "other"
    environment = {"NUMBA_CACHE_DIR": str(other)}
    assert toy(COMPILE, "F", "--set", f"runtime.cache_dir={chosen}", environment=environment) == (0, "", "")
    assert [path.name.partition("-")[0] for path in chosen.rglob("*.code")] == ["venym.hot.duty_cycle.stop"]
    assert not other.exists()


def test_a_warning_about_compiled_code_is_one_line(tmp_path: Path) -> None:
    environment = {"NUMBA_CACHE_DIR": str(tmp_path)}
    assert toy(COMPILE, "F", environment=environment) == (0, "", "")
    (entry,) = tmp_path.rglob("*.code")
    entry.write_bytes(entry.read_bytes()[:-1])
    code, out, err = toy(COMPILE, "F", environment=environment)
    assert (code, out) == (0, "")
    assert re.fullmatch(rf"venym: warning: .*{re.escape(str(entry))}.*\n", err)
    assert toy(COMPILE, "F", environment=environment) == (0, "", "")


def test_a_folder_for_compiled_code_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    folder = tmp_path / "file" / "cache"
    code, _, err = toy(COMPILE, "F", "--set", f"runtime.cache_dir={folder}")
    assert (code, err) == (2, f"venym: refused to start:\n  runtime.cache_dir: {folder}: Not a directory\n")
