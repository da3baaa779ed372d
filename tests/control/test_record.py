"""`venym record` from the command line, with real datagrams on the loopback: what came is in the file, and what did not
is told."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from tests.naive.packets import read_datagrams
from tests.transport.udp_toys import free_port, sender
from venym.cli import main

GROUP_A, GROUP_B = "239.255.72.1", "239.255.72.2"


@pytest.fixture
def port() -> int:
    return free_port()


@pytest.fixture
def config(toml: Any, port: int) -> str:
    return str(
        toml(
            '[feed]\ninterface = "lo"\nslots = 1024\nreceive_buffer_octets = 200_000\n[[channels]]\nname = "one"\n'
            f'line_a = "{GROUP_A}:{port}"\nline_b = "{GROUP_B}:{port}"\n'
        )
    )


def sending(file: Path, port: int, *payloads: bytes, groups: tuple[str, ...] = (GROUP_A, GROUP_B)) -> threading.Thread:
    """Sends each payload to each group, once the recording's file is there, and with it its sockets."""

    def send() -> None:
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.01)
        with sender() as made:
            for payload in payloads:
                for group in groups:
                    made.sendto(payload, (group, port))

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def test_what_came_is_in_the_file(config: str, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, payloads = tmp_path / "day.pcap", [b"%d" % number * (number + 1) for number in range(20)]
    before_ns = time.time_ns()
    thread = sending(file, port, *payloads)
    assert main(["record", str(file), "--packets", "40", "--config", config, "--json"]) == 0
    thread.join()
    held = list(read_datagrams(file.read_bytes()))
    for group in (GROUP_A, GROUP_B):
        assert [datagram.payload for datagram in held if datagram.destination == (group, port)] == payloads
    assert all(before_ns <= datagram.received_ns <= time.time_ns() for datagram in held)
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["packets"] == 40 and told["octets"] == file.stat().st_size
    assert list(told["lines"]) == ["one A", "one B"]
    assert told["lines"]["one A"]["packets"] == 20 and told["lines"]["one A"]["dropped"] == 0
    assert f"recording {GROUP_A}:{port} on lo, {GROUP_B}:{port} on lo" in err


def test_venym_reads_what_it_recorded(
    config: str, port: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "day.pcap"
    system = b"S" + bytes(4) + (34_200_000_000_000).to_bytes(6, "big") + b"O"
    packet = b"session001" + (1).to_bytes(8, "big") + b"\0\1" + len(system).to_bytes(2, "big") + system
    thread = sending(file, port, packet, groups=(GROUP_A,))
    assert main(["record", str(file), "--packets", "1", "--config", config]) == 0
    thread.join()
    capfd.readouterr()
    assert main(["decode", str(file)]) == 0
    assert {"S", 34_200_000_000_000} <= set(json.loads(capfd.readouterr().out).values())


def test_it_ends_after_the_time_and_tells_of_a_silent_line(
    config: str, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "day.pcap"
    thread = sending(file, port, b"x", groups=(GROUP_A,))
    assert main(["record", str(file), "--seconds", "1", "--config", config]) == 0
    thread.join()
    out, err = capsys.readouterr()
    assert out.splitlines()[0].startswith("1 packets, ")
    assert [line.split() for line in out.splitlines()[1:]] == [
        ["one", side, count, "packets", "nothing", "lost"] for side, count in (("A", "1"), ("B", "0"))
    ]
    assert "warning: line one B: nothing came" in err
    assert "one A: nothing came" not in err


def test_what_is_lost_is_told_and_is_not_good(
    config: str, port: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "day.pcap"
    thread = sending(file, port, b"x" * 2049, b"fits", b"x" * 9000, groups=(GROUP_A,))
    assert main(["record", str(file), "--packets", "1", "--seconds", "20", "--config", config, "--json"]) == 1
    thread.join()
    assert json.loads(capsys.readouterr().out)["lines"]["one A"]["too_long"] == 1
    assert [held.payload for held in read_datagrams(file.read_bytes())] == [b"fits"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_can_be_ended_by_a_signal(config: str, port: int, tmp_path: Path, number: int) -> None:
    file = tmp_path / "day.pcap"
    command = [sys.executable, "-m", "venym", "record", str(file), "--config", config]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        while "recording" not in said:
            said = process.stderr.readline()
            assert said, "it ended by itself"
        sending(file, port, b"1", b"2").join()
        while file.stat().st_size < 24 + 4 * 59:
            time.sleep(0.01)
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert out.startswith("4 packets, 260 octets")
    assert len(list(read_datagrams(file.read_bytes()))) == 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["feed.stamps=none"], "feed.stamps: none: a capture needs the times of arrival"),
        (["feed.source=xdp"], "feed.source: xdp: what is recorded is received by udp"),
        (["feed.interface=nosuch0"], "there is no network interface nosuch0; there are"),
        (["channels.one.line_b=192.0.2.250:5", "feed.interface="], "this is no address of this machine"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_a_file_is_made(
    options: list[str], said: str, config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = [word for option in options for word in ("--set", option)]
    settings += ["--set", "channels.one.interface_a=lo"] if "channels" in options[0] else []
    assert main(["record", str(tmp_path / "day.pcap"), "--config", config, *settings]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "day.pcap").exists()


def test_a_recording_is_not_written_over(config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "day.pcap"
    file.write_bytes(b"a day's work")
    assert main(["record", str(file), "--config", config]) == 2
    assert f"{file}: it is there already" in capsys.readouterr().err
    assert file.read_bytes() == b"a day's work"


def test_a_file_that_cannot_be_made_is_named(config: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["record", "/proc/nosuch/day.pcap", "--config", config]) == 2
    assert "/proc/nosuch/day.pcap: No such file or directory" in capsys.readouterr().err


def test_a_disk_that_is_full_is_told_and_what_was_received(config: str, port: int, tmp_path: Path) -> None:
    file = tmp_path / "day.pcap"
    program = (
        "import resource, sys; from venym.cli import main; resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
        f"sys.exit(main(['record', {str(file)!r}, '--config', {config!r}, '--seconds', '30']))"
    )
    thread = sending(file, port, b"1", b"2")
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    thread.join()
    assert ended.returncode == 2
    assert f"{file}: File too large" in ended.stderr
    assert "packets were received; the last of them are not written" in ended.stderr
    assert file.stat().st_size == 100
