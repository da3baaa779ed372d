"""`venym book`: the ladder, the summary, the JSON document, its errors."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.stages import itch_messages as itch
from tests.stages.drive import block, mold
from venym.control.errors import ConfigurationError
from venym.control.ladder import format_price, format_time, parse_time

MESSAGES = [
    itch.message("S", 0, event_code="O"), itch.directory(), itch.trading_action("T"),
    itch.add(1, "B", 50, 100_000, time_ns=34_200_000_000_001),
    itch.add(2, "B", 100, 100_000, time_ns=34_200_000_000_002),
    itch.add(3, "S", 300, 100_100, time_ns=34_200_000_000_003), itch.execute(1, 20, 9),
]  # fmt: skip


def venym(*args: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "venym", *args], capture_output=True, text=True, check=False, timeout=300
    )


def day(folder: Path, messages: list[bytes], name: str = "01302019.NASDAQ_ITCH50") -> str:
    path = folder / name
    path.write_bytes(b"".join(map(block, messages)))
    return str(path)


def test_json_holds_every_level_and_counter(tmp_path):
    ran = venym("book", day(tmp_path, MESSAGES), "--json")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert json.loads(ran.stdout) == {
        "symbols": {
            "TEST": {
                "bids": [["10.0000", 130, 2]], "asks": [["10.0100", 300, 1]], "state": "T", "volume": 20,
                "suspect": False,
            }
        },
        "counters": {
            "messages": 7, "unknown_types": 0, "unknown_references": 0, "duplicate_references": 0, "over_executions": 0,
            "over_cancels": 0, "gaps": 0, "truncated": 0,
        },
    }  # fmt: skip


def test_one_book_is_shown_as_a_ladder(tmp_path):
    ran = venym("book", day(tmp_path, MESSAGES))
    assert ran.stdout.splitlines() == [
        "TEST   trading   volume 20   09:30:00.000000000",
        "  orders        shares           bid | ask                  shares   orders",
        "       2           130       10.0000 | 10.0100                 300        1",
    ]


def test_more_levels_than_asked_for_are_counted(tmp_path):
    adds = [itch.add(k, "B", 1, 100_000 - 100 * k) for k in range(15)]
    ran = venym("book", day(tmp_path, [itch.directory(), *adds]), "--levels", "3")
    assert [line.split()[2] for line in ran.stdout.splitlines()[2:5]] == ["10.0000", "9.9900", "9.9800"]
    assert ran.stdout.splitlines()[5] == "(levels not shown: 12 more bids)"
    assert "state never announced" in ran.stdout


def test_several_books_are_a_line_each_and_one_can_be_asked_for(tmp_path):
    path = day(tmp_path, [*MESSAGES, itch.add(9, "S", 5, 200_000, locate=8, symbol="ZVZZT")])
    lines = venym("book", path).stdout.splitlines()
    assert [line.split()[0] for line in lines[1:3]] == ["TEST", "ZVZZT"]
    assert lines[3].startswith("2 books, 4 orders alive")
    assert list(json.loads(venym("book", path, "--symbol", "ZVZZT", "--json").stdout)["symbols"]) == ["ZVZZT"]
    missing = venym("book", path, "--symbol", "NONE")
    assert (missing.returncode, missing.stderr) == (1, "venym: NONE is not among the 2 symbols seen\n")


def test_the_books_can_be_seen_at_a_time(tmp_path):
    shown = venym("book", day(tmp_path, MESSAGES[:6]), "--at", "09:30:00.000000002", "--json")
    book = json.loads(shown.stdout)["symbols"]["TEST"]
    assert (book["bids"], book["asks"]) == ([["10.0000", 150, 2]], [])
    late = venym("book", day(tmp_path, MESSAGES[:6]), "--at", "25:00:00", "--json")
    assert late.returncode == 0 and "earlier than 25:00:00" in late.stderr
    wrong = venym("book", day(tmp_path, MESSAGES), "--at", "9.30")
    assert wrong.returncode == 2 and "--at '9.30' is not a time" in wrong.stderr


def test_a_cut_file_gives_its_whole_records_then_one_error(tmp_path):
    path = Path(day(tmp_path, MESSAGES))
    path.write_bytes(path.read_bytes()[:-5])
    ran = venym("book", str(path), "--json")
    document = json.loads(ran.stdout)
    assert ran.returncode == 1 and ran.stderr.count("\n") == 1 and "ends inside a record" in ran.stderr
    assert (document["counters"]["messages"], document["counters"]["truncated"]) == (6, 1)
    assert document["symbols"]["TEST"]["bids"] == [["10.0000", 150, 2]]


def test_the_same_symbol_of_two_channels_is_kept_apart(tmp_path):
    path = tmp_path / "two.mold.hex"
    first, second = mold("NQ", 1, [itch.add(1, "B", 5, 100_000)]), mold("NQ", 2, [itch.add(2, "B", 5, 100_000)])
    path.write_text(f"{first.hex()}\n{second.hex()}\n")
    other = day(tmp_path, [itch.add(1, "S", 7, 90_000)], "other")
    symbols = json.loads(venym("book", str(path), other, "--json").stdout)["symbols"]
    assert symbols["TEST"]["bids"] == [["10.0000", 10, 2]] and symbols["TEST"]["asks"] == []
    assert symbols["TEST@2"]["asks"] == [["9.0000", 7, 1]]


def test_a_table_that_is_too_small_is_named(tmp_path):
    ran = venym("book", day(tmp_path, MESSAGES), "--set", "book.orders_max=2")
    assert ran.returncode == 2 and "book.orders_max is reached" in ran.stderr


def test_what_is_no_capture_is_refused(tmp_path):
    (tmp_path / "letter").write_text("Dear Sir or Madam\n")
    ran = venym("book", str(tmp_path / "letter"), "--json")
    assert ran.returncode == 1 and ran.stdout == "" and "looks like" in ran.stderr


def test_misfits_are_told_and_mark_the_book(tmp_path):
    ran = venym("book", day(tmp_path, [*MESSAGES, itch.delete(77)]))
    assert ran.returncode == 0
    assert ran.stderr == "venym: unknown references: 1 (E C X D U that name an order that is not in the book)\n"
    assert "SUSPECT" in ran.stdout


@pytest.mark.parametrize(
    ("text", "time_ns"),
    [
        ("00:00:00", 0),
        ("09:30:00.5", 34_200_500_000_000),
        ("9:30:00", 34_200_000_000_000),
        ("26:00:00", 93_600_000_000_000),
    ],
)
def test_times_are_read(text, time_ns):
    assert parse_time(text) == time_ns


@pytest.mark.parametrize("text", ["", "09:30", "09:60:00", "09:30:00.", "09:30:00.1234567891", "-1:00:00", "noon"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(ConfigurationError, match="is not a time"):
        parse_time(text)


def test_prices_and_times_are_written_whole():
    assert [format_price(price) for price in (0, 1, 100_000, 2**32 - 1)] == [
        "0.0000",
        "0.0001",
        "10.0000",
        "429496.7295",
    ]
    assert format_time(34_200_000_000_123) == "09:30:00.000000123"
