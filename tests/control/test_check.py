"""The table of settings: what each is and where it came from."""

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from venym.control import check
from venym.control.resolve import Resolved, resolve


def printed(resolved: Resolved, capsys: pytest.CaptureFixture[str], as_json: bool = False) -> str:
    assert check.run(argparse.Namespace(table=resolved.table, json=as_json), resolved.settings) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return out


@pytest.fixture
def resolved(toml: Any) -> Resolved:
    path = toml(
        f"[session]\ntags = {{ 15 = 'USD' }}\n[[strategies]]\nname = 'a'\nfile = '{__file__}'\n"
        "instruments = ['AAPL', 'MSFT']\nparams = { threshold = 0.5, shares = 100 }\n"
    )
    return resolve(path, ["strategies.a.params.threshold=0.25"], {"VENYM_RISK__STALE_MS": "5"})


def test_every_setting_has_a_row_lists_entry_by_entry(
    resolved: Resolved, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rows = [line.split("  ", 1) for line in printed(resolved, capsys).splitlines()]
    shown = {name: " ".join(rest.split()) for name, rest in rows}
    file = f"file {tmp_path}/venym.toml"
    assert shown["setting"] == "value source"
    assert shown["book.orders_max"] == "4194304 default"
    assert shown["risk.stale_ms"] == "5 environment VENYM_RISK__STALE_MS"
    assert shown["session.tags.15"] == f'"USD" {file}'
    assert shown["session.market_tags"] == "{} default"
    assert shown["instruments[1].symbol"] == f'"MSFT" {file}'
    assert shown["instruments[1].tick_e4"] == "100 default"
    assert shown["strategies[0].name"] == f'"a" {file}'
    assert shown["strategies[0].file"] == f'"{__file__}" {file}'
    assert shown["strategies[0].instruments"] == f'["AAPL", "MSFT"] {file}'
    assert shown["strategies[0].params.threshold"] == "0.25 --set strategies.a.params.threshold=0.25"
    assert shown["strategies[0].params.shares"] == f"100 {file}"
    assert len(shown) == len(resolved.table) + 1


def test_sources_stand_under_each_other_but_for_long_values(
    resolved: Resolved, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(resolved, capsys).splitlines()
    column = lines[0].index("source")
    assert column < 70
    aside = [line.split()[0] for line in lines[1:] if line[column - 1] != " " or line[column] == " "]
    assert aside == ["strategies[0].file"]


def test_json_has_the_same_names_values_and_sources(resolved: Resolved, capsys: pytest.CaptureFixture[str]) -> None:
    held = json.loads(printed(resolved, capsys, as_json=True))
    assert list(held) == [row.name for row in resolved.table]
    assert held["strategies[0].instruments"]["value"] == ["AAPL", "MSFT"]
    assert held["strategies[0].params.threshold"] == {
        "value": 0.25,
        "source": "--set",
        "where": "--set strategies.a.params.threshold=0.25",
    }
    assert held["session.market_tags"] == {"value": {}, "source": "default", "where": None}
    assert held["runtime.cache_dir"]["value"] is None
    assert held["replay.runs_dir"]["value"] == "runs"


def test_empty_lists_are_shown_to_be_there(capsys: pytest.CaptureFixture[str]) -> None:
    last = printed(resolve(None, [], {}), capsys).splitlines()[-3:]
    lists = ("channels", "instruments", "strategies")
    assert [line.split() for line in last] == [[name, "[]", "default"] for name in lists]
