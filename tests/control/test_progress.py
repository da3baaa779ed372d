"""The bar: what it says, and that only a terminal ever sees it."""

import io
import os
import pty
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from venym.control.progress import Progress

ROOT = Path(__file__).resolve().parents[2]
SECOND_NS = 1_000_000_000

DRIVE = """
import time
from venym.control.log import say
from venym.control.progress import Progress
with Progress(1_000_000_000, "day.gz") as progress:
    for step in range(1, 51):
        time.sleep(0.01)
        progress.update(step * 20_000_000, step * 500_000)
        if step == 25:
            say("half way")
print("done")
"""


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    def __init__(self) -> None:
        self.now_ns = 0

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture(autouse=True)
def terminal_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")


def read_terminal(master: int) -> str:
    held = b""
    while True:
        try:
            octets = os.read(master, 65_536)
        except OSError:  # the other side is closed
            octets = b""
        if not octets:
            return held.decode()
        held += octets


def test_the_line_says_share_rates_and_time_left() -> None:
    progress = Progress(1_000, "day.gz")
    assert progress.line(0, 0, 0) == "day.gz   0% [                        ]  0 messages/s  0 MB/s"
    progress = Progress(4_000_000_000, "day.gz")
    assert (
        progress.line(1_000_000_000, 30_000_000, 10 * SECOND_NS)
        == "day.gz  25% [######                  ]  3.0 M messages/s  100 MB/s  0:30 left"
    )
    assert progress.line(4_000_000_000, 30_000_000, 10 * SECOND_NS).endswith("0:00 left")
    assert progress.line(1_000_000, 999, SECOND_NS).endswith("999 messages/s  1 MB/s  1:06:39 left")


def test_without_a_total_there_are_only_rates() -> None:
    assert Progress(0, "pipe").line(50_000_000, 5_000, SECOND_NS) == "pipe  5.0 k messages/s  50 MB/s"


def test_a_share_never_passes_the_whole() -> None:
    assert "100% [########################]" in Progress(10, "x").line(11, 1, SECOND_NS)


def test_it_is_drawn_ten_times_a_second_at_most_and_wiped_at_the_end() -> None:
    terminal, clock = Terminal(), Clock()
    progress = Progress(1_000, "x", terminal, clock)
    for millisecond in range(1_000):
        clock.now_ns = millisecond * 1_000_000
        progress.update(millisecond, millisecond)
    assert terminal.getvalue().count("\r") == 9  # at 100, 200, … 900 ms
    progress.close()
    assert terminal.getvalue().endswith("\r\x1b[K")
    length = len(terminal.getvalue())
    clock.now_ns += SECOND_NS
    progress.update(1, 1)
    progress.close()
    assert len(terminal.getvalue()) == length


def test_nothing_is_wiped_that_was_not_drawn() -> None:
    terminal = Terminal()
    Progress(1_000, "x", terminal).close()
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("kind", ["file", "dumb terminal"])
def test_nobody_else_ever_sees_it(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stream: io.StringIO = io.StringIO() if kind == "file" else Terminal()
    if kind == "dumb terminal":
        monkeypatch.setenv("TERM", "dumb")
    clock = Clock()
    with Progress(1_000, "x", stream, clock) as progress:
        clock.now_ns = SECOND_NS
        progress.update(500, 5)
    assert stream.getvalue() == ""


def test_a_label_cannot_steer_the_terminal() -> None:
    assert Progress(0, "a\x1b[2Jb\nc").line(0, 0, SECOND_NS).startswith("a?[2Jb?c  ")


@pytest.mark.parametrize("columns", [20, 200])
def test_on_a_real_terminal_it_stays_in_one_line_and_leaves_none(columns: int) -> None:
    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, columns))
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVE], cwd=ROOT, stdin=slave, stdout=subprocess.PIPE, stderr=slave
    )
    os.close(slave)
    shown = read_terminal(master)
    os.close(master)
    assert process.stdout is not None
    assert process.stdout.read() == b"done\n"
    process.stdout.close()
    assert process.wait() == 0
    drawn = shown.split("\r\x1b[K")
    bars = [text for text in drawn if text.startswith("day.gz")]
    assert 2 <= len(bars) <= 6  # half a second
    assert all(len(text) < columns for text in bars)
    assert "venym: half way\r\n" in drawn  # on a line of its own
    assert drawn[-1] == ""


def test_in_a_pipe_there_is_only_the_message() -> None:
    done = subprocess.run([sys.executable, "-c", DRIVE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("done\n", "venym: half way\n")
