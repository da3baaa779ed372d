"""`venym publish` from the command line: what is on the wire, what is served, what is told."""

import argparse
import json
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.naive.packets import read_packets
from tests.transport.udp_toys import free_port
from tests.venue.publisher_toys import Listener, is_over, listening, messages_of, mold
from venym.cli import main
from venym.control.option_types import outage, probabilities, seconds, session_name
from venym.venue.day_plan import Wanted
from venym.venue.generate import write_file

GROUP_A, GROUP_B = "239.255.74.1", "239.255.74.2"
MESSAGES = 3_000


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a made-up day, as a day file and as a capture."""
    folder = tmp_path_factory.mktemp("days")
    for name in ("day", "day.pcap"):
        write_file(Wanted(MESSAGES, 5, 3, None), folder / name)
    return folder


@pytest.fixture
def lines() -> Iterator[tuple[Listener, Listener]]:
    with listening(GROUP_A, GROUP_B) as (a, b):
        yield a, b


@pytest.fixture
def server() -> str:
    return f"127.0.0.1:{free_port()}"


@pytest.fixture
def config(toml: Any, lines: tuple[Listener, Listener], server: str) -> str:
    channel = (
        f'line_a = "{GROUP_A}:{lines[0].port}"\nline_b = "{GROUP_B}:{lines[1].port}"\n'
        f'rerequest = ["{server}"]\nglimpse = "{server}"\n'
    )
    return str(toml(f'[feed]\ninterface = "lo"\n[[channels]]\nname = "one"\n{channel}'))


def came(listener: Listener, seconds_max: float = 5.0) -> list[bytes]:
    """The packets with messages, once the end of the session has come."""
    until = time.monotonic() + seconds_max
    while not any(map(is_over, listener.packets)):
        assert time.monotonic() < until
        time.sleep(0.01)
    return listener.data()


def test_a_capture_is_on_both_lines_as_it_was(
    config: str, days: Path, lines: tuple[Listener, Listener], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["publish", str(days / "day.pcap"), "--config", config, "--speed", "max", "--linger", "0", "--json"]
    assert main(argv) == 0
    recorded = [packet for packet in read_packets((days / "day.pcap").read_bytes()) if packet.messages]
    for listener in lines:
        packets = came(listener)
        assert [list(messages_of(packet).values()) for packet in packets] == [held.messages for held in recorded]
    out, err = capsys.readouterr()
    told = json.loads(out)
    assert told["messages"] == MESSAGES and told["packets"] == len(recorded) + 1
    assert told["sessions"] == [recorded[0].session]
    assert told["lines"]["a"]["sent"] == told["lines"]["b"]["sent"] == len(recorded)
    assert f"publishing 3,000 messages on {GROUP_A}:{lines[0].port} by lo, {GROUP_B}:{lines[1].port} by lo" in err


def test_a_day_file_is_packed_as_told_and_named(
    config: str, days: Path, lines: tuple[Listener, Listener], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["publish", str(days / "day"), "--config", config, "--rate", "20000", "--linger", "0"]
    began = time.monotonic()
    assert main([*argv, "--messages-per-packet", "7", "--session", "TODAY", "--no-servers"]) == 0
    assert time.monotonic() - began > MESSAGES / 20_000
    packets = came(lines[0])
    assert [len(messages_of(packet)) for packet in packets] == [7] * (MESSAGES // 7) + [MESSAGES % 7]
    assert {packet[:10] for packet in packets} == {b"TODAY     "}
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("3,000 messages in 430 packets, 0.") and out[0].endswith("ms late; session TODAY")
    assert [line.split(",")[0] for line in out[1:]] == ["line a      429 sent", "line b      429 sent"]


def test_losses_are_the_same_by_seed_and_told(
    config: str, days: Path, lines: tuple[Listener, Listener], capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["publish", str(days / "day"), "--config", config, "--linger", "0", "--json"]
    argv += ["--loss", "0.1,0.2", "--loss-both", "0.05", "--duplicate", "0.1", "--reorder", "0.1", "--seed", "9"]
    found = []
    for pace in (["--speed", "max"], ["--rate", "30000"]):
        assert main([*argv, *pace]) == 0
        found.append([came(listener) for listener in lines])
        told = json.loads(capsys.readouterr().out)["lines"]
        packets = told["a"]["sent"] + told["a"]["lost"] + told["a"]["lost_on_both"]
        assert 0.06 < told["a"]["lost"] / packets < 0.14 and 0.15 < told["b"]["lost"] / packets < 0.25
        assert 0.02 < told["a"]["lost_on_both"] / packets == told["b"]["lost_on_both"] / packets < 0.08
        for listener in lines:
            listener.packets.clear()
    assert found[0] == found[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_ended_by_a_signal(
    config: str, days: Path, lines: tuple[Listener, Listener], server: str, number: int
) -> None:
    command = [sys.executable, "-m", "venym", "publish", str(days / "day"), "--config", config]
    command += ["--speed", "max", "--linger", "60", "--loss", "1"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert came(lines[1], 60) == []
        host, _, port = server.rpartition(":")
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(5)
            session = lines[1].packets[0][:10]
            asking.sendto(struct.pack(">10sQH", session, 5, 2), (host, int(port)))
            assert list(messages_of(asking.recv(2_000))) == [5, 6]
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert f"rerequest   {server}  1 answered, 2 messages" in out
    assert "line a      " in out and " lost, 1 ends" in out


def test_damage_is_told_and_is_not_good(
    config: str, days: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = (days / "day.pcap").read_bytes()
    (tmp_path / "cut.pcap").write_bytes(whole[:-30])
    argv = ["publish", str(tmp_path / "cut.pcap"), "--config", config, "--speed", "max", "--linger", "0"]
    assert main(argv) == 1
    assert "cut.pcap" in capsys.readouterr().err


def test_what_is_not_published_is_told(config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packets = [mold(1, [b"one"]), mold(5, [b"five"]), mold(6, [b"cut"])[:-1], mold(9, [b"x"], "OTHERS0001")]
    (tmp_path / "odd.hex").write_text("".join(f"{packet.hex()}\n" for packet in packets), "ascii")
    argv = ["publish", str(tmp_path / "odd.hex"), "--config", config, "--speed", "max", "--linger", "0", "--json"]
    assert main(argv) == 0
    out, err = capsys.readouterr()
    said = "1 packets of another stream, 1 packets that are cut, 3 messages that no packet has"
    assert f"warning: not published: {said}" in err
    left = {"heartbeats": 0, "duplicates": 0, "foreign": 1, "malformed": 1, "missing": 3}
    assert json.loads(out)["left_out"] == left


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--channel", "two"], 2, "--channel: there is no channel two; there are one"),
        (["--speed", "0"], 2, "--speed: '0' is no speed"),
        (["--dead", "127.0.0.1:1"], 2, "--dead: 127.0.0.1:1 is none of the servers: 127.0.0.1:"),
        (["--messages-per-packet", "5"], 2, "--messages-per-packet: a capture's packets stay as they are"),
        (["--messages-per-packet", "70000"], 2, "--messages-per-packet: 70000: a packet counts at most 65534"),
        (["--interface", "nosuch0"], 2, "by nosuch0: "),
        (["--set", "channels.one.glimpse=192.0.2.1:7"], 2, "snapshot server 192.0.2.1:7: "),
        (["--set", "channels.one.rerequest=192.0.2.1:7"], 2, "re-request server 192.0.2.1:7: "),
    ],
)
def test_what_cannot_be_is_refused(
    config: str, days: Path, options: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["publish", str(days / "day.pcap"), "--config", config, "--linger", "0", *options]) == code
    assert said in capsys.readouterr().err


def test_without_a_channel_nothing_is_published(days: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["publish", str(days / "day")]) == 2
    assert "channels: there is none" in capsys.readouterr().err


def test_option_types() -> None:
    assert probabilities("0.5") == (0.5, 0.5) and probabilities("0,1e-3") == (0.0, 0.001)
    assert seconds("1.5") == 1.5 and session_name("A") == "A"
    assert outage("b:1.5:2") == (1, 1_500_000_000, 2_000_000_000)


@pytest.mark.parametrize(
    ("kind", "texts"),
    [
        (probabilities, ["", "x", "1.1", "-0.1", "nan", "0.1,", "0.1,0.2,0.3", ".", "1..0"]),
        (seconds, ["", "-1", "1e3", "inf", "86401", "x"]),
        (outage, ["", "a", "a:1", "c:1:1", "a:1:0", "a:-1:1", "a:1:1:1", "A:1:1"]),
        (session_name, ["", "elevenchars", "a b", "\u00e9"]),
    ],
)
def test_options_that_are_none(kind: Any, texts: list[str]) -> None:
    for text in texts:
        with pytest.raises(argparse.ArgumentTypeError):
            kind(text)
