"""`venym generate`: what it writes, prints and refuses."""

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from tests.naive.binaryfile import messages_of
from tests.naive.packets import read_packets
from venym.cli import main
from venym.control.errors import GOOD, USAGE, ConfigurationError
from venym.control.generate import run
from venym.control.settings import Settings


def generate(file: Path, **changes: Any) -> int:
    given = {
        "messages": 1_500,
        "symbols": 12,
        "seed": 1,
        "live_orders": None,
        "date": date(2019, 1, 30),
        "json": False,
    }
    return run(argparse.Namespace(file=file, **given | changes), Settings())


def test_the_table_counts_what_was_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(tmp_path / "day") == GOOD
    shown = capsys.readouterr()
    head, *rows = shown.out.splitlines()
    octets = (tmp_path / "day").read_bytes()
    assert head.startswith(f"1,500 messages, {len(octets):,} octets, at most ")
    kinds = [chr(message[0]) for message in messages_of(octets)]
    counted = {row.split()[0]: int(row.split()[1].replace(",", "")) for row in rows}
    assert counted == {kind: kinds.count(kind) for kind in set(kinds)}
    assert list(counted.values()) == sorted(counted.values(), reverse=True)
    assert f"{tmp_path / 'day'}: written in " in shown.err


def test_json_holds_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert generate(tmp_path / "day.gz", json=True) == GOOD
    held = json.loads(capsys.readouterr().out)
    assert held["messages"] == 1_500 == sum(held["by_type"].values())
    assert set(held) == {"messages", "octets", "by_type", "live_orders_max"}


def test_a_capture_is_of_the_date_that_was_given(tmp_path: Path) -> None:
    assert generate(tmp_path / "day.pcap", date=date(2024, 1, 2)) == GOOD
    first = next(read_packets((tmp_path / "day.pcap").read_bytes()))
    assert first.session == "2024010201" and first.received_ns // 1_000_000_000 == 1_704_171_600 + 11_072


def test_a_day_that_cannot_be_is_a_matter_of_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="10 messages are too few for 12 symbols"):
        generate(tmp_path / "day", messages=10)
    assert not list(tmp_path.iterdir())


def test_the_command_line_passes_everything_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--messages", "1500", "--symbols", "12", "--seed", "1", "--live-orders", "40", "--json"]
    assert main(["generate", str(tmp_path / "day.pcap"), *options, "--date", "2024-01-02"]) == GOOD
    assert json.loads(capsys.readouterr().out)["live_orders_max"] < 60
    assert next(read_packets((tmp_path / "day.pcap").read_bytes())).session == "2024010201"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--messages", "10", "--symbols", "12"], "10 messages are too few for 12 symbols"),
        (["--messages", "1000000", "--symbols", "65536"], "65536 symbols: a stock locate has 16 bits"),
        (["--messages", "1500", "--symbols", "12", "--live-orders", "1000"], "too few for 1000 live orders"),
    ],
)
def test_the_command_line_says_what_would_do(
    options: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["generate", str(tmp_path / "day"), "--seed", "1", *options]) == USAGE
    assert words in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_named_as_it_was_given(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "nowhere" / "day"
    assert main(["generate", str(file), "--messages", "1500", "--symbols", "12", "--seed", "1"]) == USAGE
    assert f"{file}: No such file or directory" in capsys.readouterr().err
