"""A helper with rights hands map and program to a daemon without, and to nobody else."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.skips import ROOT, require
from tests.transport.children import IPC_LOCK, NET_RAW, answer_of, keep_capabilities
from tests.transport.veth import Pair, sender, veth, within
from tests.transport.xdp_frames import GROUP, PORT, receive_many, take
from venym.hot.layout import aligned
from venym.records import PACKET
from venym.transport.bpf_program import Target
from venym.transport.interface import look_up
from venym.transport.lines import Line
from venym.transport.xdp import Options, open_xdp
from venym.transport.xdp_errors import XdpHelperError
from venym.transport.xdp_helper import answer_one, ask_helper, listen, main

LINE = Line(GROUP, PORT, "in0")
TARGET = Target(GROUP, PORT, None)


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    require("needs AF_XDP")
    with veth() as made:
        yield made


@pytest.fixture
def helper(pair: Pair, tmp_path: Path) -> Iterator[str]:
    """The helper as it is started, for one line."""
    path = str(tmp_path / "xdp")
    command = [sys.executable, "-m", "venym.transport.xdp_helper", "--socket", path, "--line", f"{GROUP}:{PORT}@in0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline().startswith("ready")
            yield path
        finally:
            process.kill()


def test_a_daemon_without_rights_receives_with_a_helper(pair: Pair, helper: str) -> None:
    def work() -> Any:
        keep_capabilities(NET_RAW, IPC_LOCK)
        with open_xdp(take, [LINE], Options(frames_each=256, huge_pages="never", helper=helper)) as xdp:
            programs = len(look_up("in0").programs)
            out.send(b"by the helper's leave")
            time.sleep(0.05)
            packets = aligned(4, PACKET)
            count = receive_many(xdp.context, packets)
            octets = xdp.context.frames[packets[0].offset : packets[0].offset + packets[0].length].tobytes()
            return [programs, count, octets.decode()]

    with sender(pair) as out, within(pair.inside):
        assert answer_of(work) == [1, 1, "by the helper's leave"]
        assert look_up("in0").programs == ()


def test_lines_that_are_not_the_helpers_are_refused(pair: Pair, helper: str) -> None:
    for interface, target in (
        ("in0", Target(GROUP, PORT + 1, None)),
        ("in0", Target(GROUP, PORT, "10.0.0.1")),
        ("in1", TARGET),
    ):
        with pytest.raises(XdpHelperError, match="is none of the lines the helper was started with"):
            ask_helper(helper, interface, 1, [TARGET, target] if interface == "in0" else [target])
    with pytest.raises(XdpHelperError, match="no line at all"):
        ask_helper(helper, "in0", 1, [])
    with pytest.raises(XdpHelperError, match="not a request"):
        ask_helper(helper, "in0", 0, [TARGET])


def test_nonsense_does_not_stop_it(pair: Pair, helper: str) -> None:
    for octets in (
        b"nonsense",
        b"{}",
        b"[]",
        b'{"interface": "in0", "queues": 1, "targets": [1]}',
        b'{"interface": "in0", "queues": 1, "targets": [["a"]]}',
        b'{"interface": ["in0"], "queues": 1, "targets": [[["a"], 1, {}]]}',
    ):
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
            link.connect(helper)
            link.send(octets)
            assert b"refused" in link.recv(1000)
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
        link.connect(helper)
    for descriptor in ask_helper(helper, "in0", 1, [TARGET]):
        os.close(descriptor)


def test_another_user_is_refused(tmp_path: Path) -> None:
    require("needs root")
    path = str(tmp_path / "xdp")
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_mode & 0o005 != 0o005 and folder.is_relative_to("/tmp"):
            folder.chmod(folder.stat().st_mode | 0o005)

    def work() -> Any:
        os.setgroups([])
        os.setgid(1234)
        os.setuid(1234)
        return ask_helper(path, "in0", 1, [TARGET])

    with listen(path, 4321) as listener:
        assert os.stat(path).st_mode & 0o777 == 0o600 and os.stat(path).st_uid == 4321
        kind, said = answer_of(work)
        assert kind == "XdpHelperError" and "Permission denied" in said
        os.chmod(path, 0o666)
        done: list[str] = []
        thread = threading.Thread(target=lambda: done.append(answer_one(listener, 4321, {"in0": {TARGET}})))
        thread.start()
        kind, said = answer_of(work)
        thread.join()
        assert kind == "XdpHelperError" and "user 1234 is not served" in said
        assert done == ["refused: user 1234 is not served"]


def test_a_file_in_its_place_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "xdp"
    path.write_text("precious")
    with pytest.raises(FileExistsError, match="is there, and no socket"):
        listen(str(path), os.geteuid())
    assert path.read_text() == "precious"
    path.unlink()
    listen(str(path), os.geteuid()).close()
    listen(str(path), os.geteuid()).close()  # what a helper left that was killed


def test_a_helper_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(XdpHelperError, match="cannot be reached"):
        ask_helper(str(tmp_path / "none"), "in0", 1, [TARGET])


def test_a_helper_that_hangs_up_is_told(tmp_path: Path) -> None:
    path = str(tmp_path / "xdp")
    with listen(path, os.geteuid()) as listener:

        def hang_up() -> None:
            listener.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        with pytest.raises(XdpHelperError):
            ask_helper(path, "in0", 1, [TARGET])
        thread.join()


@pytest.mark.parametrize("line", ["239.1.1.1:1", "239.1.1.1@in0", "239.1.1:1@in0", "x:1@in0", "239.1.1.1:1/x@in0"])
def test_a_line_that_is_none_is_refused_at_the_start(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--socket", "/nonexistent/xdp", "--line", line])
    assert line in capsys.readouterr().err
