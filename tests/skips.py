"""What may be skipped, and when: a pytest plug-in.

    pytest --skips tests/skips.txt        # test<TAB>need, one a line; a test is a node id, or a file or class of them

A check that needs something a machine, or a run, may lack skips with the need as its reason; ``need: why`` will do.
With ``--skips`` the run fails unless the tests that skipped are exactly those listed for what is missing here:

    need is     listed test skipped    listed test ran    other test skipped for it
    there       fail                   good               fail
    missing     good                   fail               fail
    unclear     good                   good               fail

A skip for any other reason fails, and so does a line that fits no test.
"""

import functools
import os
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from venym.transport import bpf

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("VENYM_SHARED", ROOT.parent / "shared"))


def _may_mount() -> bool:
    unshare = shutil.which("unshare")
    return unshare is not None and subprocess.call([unshare, "-m", "true"], stderr=subprocess.DEVNULL) == 0


def _may_have_networks() -> bool:
    unshare = shutil.which("unshare")
    may = unshare is not None and subprocess.call([unshare, "-n", "-m", "true"], stderr=subprocess.DEVNULL) == 0
    return may and os.geteuid() == 0 and shutil.which("ip") is not None


@functools.cache
def _has_xdp() -> bool:
    """May namespaces with interfaces be made, and AF_XDP sockets and programs for them?"""
    tools = shutil.which("ip"), shutil.which("unshare")
    if os.geteuid() != 0 or None in tools:
        return False
    try:
        socket.socket(44, socket.SOCK_RAW, 0).close()
        os.close(bpf.create_socket_map(1, "probe"))
    except OSError:
        return False
    pair = "unshare -n ip link add out0 type veth peer name in0"
    return subprocess.call(pair.split(), stderr=subprocess.DEVNULL) == 0


# Whether each is there; None: only trying tells, and it may change while the tests run.
NEEDS: dict[str, Callable[[], bool | None]] = {
    "needs ../shared": SHARED.is_dir,
    "needs 2 MiB pages to reserve": lambda: None,
    "needs AF_XDP": _has_xdp,
    "needs bounds checks": lambda: "1" in (os.environ.get("NUMBA_BOUNDSCHECK"), os.environ.get("NUMBA_DISABLE_JIT")),
    "needs mount namespaces": _may_mount,
    "needs network namespaces": _may_have_networks,
    "needs root": lambda: os.geteuid() == 0,
    "needs systemd-analyze": lambda: shutil.which("systemd-analyze") is not None,
    "needs the compiler": lambda: os.environ.get("NUMBA_DISABLE_JIT") != "1",
    "needs tshark": lambda: shutil.which("tshark") is not None,
    "needs two cores": lambda: len(os.sched_getaffinity(0)) >= 2,
}


def require(need: str) -> None:
    """Skip the running test if `need`, a row of NEEDS, is missing."""
    if NEEDS[need]() is False:
        pytest.skip(need)


class Line(NamedTuple):
    """A line of the list."""

    test: str
    need: str

    def fits(self, node: str) -> bool:
        return node == self.test or node.startswith((f"{self.test}::", f"{self.test}[", f"{self.test.rstrip('/')}/"))

    def __str__(self) -> str:
        return f"{self.test}\t{self.need}"


def read_list(path: Path) -> list[Line]:
    """Raises pytest.UsageError for a line that is no ``test<TAB>need`` with a need of NEEDS."""
    lines = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), 1):
        if text.strip() and not text.startswith("#"):
            test, tab, need = text.partition("\t")
            if not tab or need not in NEEDS:
                raise pytest.UsageError(
                    f"{path}:{number}: not test<TAB>need with a need of {', '.join(NEEDS)}: {text!r}"
                )
            lines.append(Line(test, need))
    return lines


class Outcome(NamedTuple):
    node: str
    reason: str | None  # why it was skipped; None if it ran


def judge(lines: Iterable[Line], found: Iterable[str], outcomes: Iterable[Outcome]) -> list[str]:
    """What is wrong, one sentence each. `found` holds every collected test, `outcomes` those that ran or skipped."""
    lines, found, outcomes = list(lines), list(found), list(outcomes)
    present = {need: there() for need, there in NEEDS.items()}
    ran = {_function(outcome.node) for outcome in outcomes if outcome.reason is None}
    wrong: dict[str, None] = {}  # in order, each once
    for node, reason in outcomes:
        needs = [line.need for line in lines if line.fits(node)]
        if reason is None:
            for need in needs:
                if present[need] is False:
                    wrong[f"{node}: ran, though listed as {need}, which is missing"] = None
        elif (need := reason.partition(": ")[0]) not in NEEDS:
            wrong[f"{node}: skipped for an unlisted reason: {reason}"] = None
        elif present[need]:
            wrong[f"{node}: skipped as {need}, which is there"] = None
        elif need not in needs:
            test = node if _function(node) in ran else _function(node)
            wrong[f"skipped, but not listed: {Line(test, need)}"] = None
    known = found + [outcome.node for outcome in outcomes]
    for line in lines:
        if not any(map(line.fits, known)):
            wrong[f"listed, but there is no such test: {line}"] = None
    return list(wrong)


def _function(node: str) -> str:
    """The test without its parameters."""
    return node.partition("[")[0]


class Watch:
    """Gathers the outcomes of a run and judges them at its end."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lines = read_list(path)
        self._found: list[str] = []
        self._outcomes: dict[str, Outcome] = {}
        self._wrong: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self._found = [item.nodeid for item in items]  # before -m and -k take any away

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._outcomes[report.nodeid] = Outcome(report.nodeid, _reason(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.skipped and not hasattr(report, "wasxfail"):
            self._outcomes[report.nodeid] = Outcome(report.nodeid, _reason(report))
        elif report.when == "call":
            self._outcomes[report.nodeid] = Outcome(report.nodeid, None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if session.config.option.collectonly or session.shouldstop or session.shouldfail:
            return
        self._wrong = judge(self._lines, self._found, self._outcomes.values())
        if self._wrong and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._wrong:
            terminalreporter.section(f"skips differ from {self._path}", red=True, bold=True)
            for sentence in self._wrong:
                terminalreporter.write_line(sentence)


def _reason(report: pytest.CollectReport | pytest.TestReport) -> str:
    place = report.longrepr
    text = place[2] if isinstance(place, tuple) else str(place)
    return text.removeprefix("Skipped: ")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--skips", metavar="FILE", type=Path, help="fail unless exactly the tests this lists are skipped")


def pytest_configure(config: pytest.Config) -> None:
    if config.option.skips is not None:
        config.pluginmanager.register(Watch(config.option.skips), "skips-watch")
