"""Lists among the settings: entries are given in the file, found by name, and whatever is wrong is named."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.control.resolving import refusal, source
from venym.control.resolve import resolve
from venym.control.settings import STRATEGIES_MAX, Instrument

HERE = Path(__file__).resolve()
TAKER = f'[[strategies]]\nname = "taker"\nfile = "{HERE}"\ninstruments = ["AAPL"]\n'
QUOTER = TAKER.replace("taker", "quoter")


def test_entries_are_settled_in_their_order(toml: Any) -> None:
    path = toml(f"{TAKER}timer_ms = 5\nparams = {{ threshold = 0.5, shares = 100 }}\n{QUOTER}")
    resolved = resolve(path, [], {})
    taker, quoter = resolved.settings.strategies
    assert (taker.name, taker.path, taker.instruments, taker.timer_ms) == ("taker", HERE, ("AAPL",), 5)
    assert taker.params == {"threshold": 0.5, "shares": 100}
    assert (quoter.name, quoter.params, quoter.model, quoter.timer_ms) == ("quoter", {}, "", 0)
    rows = [row.name for row in resolved.table if row.name.startswith("strategies[0]")]
    keys = ("name", "file", "instruments", "model", "params.threshold", "params.shares", "timer_ms")
    assert rows == [f"strategies[0].{key}" for key in keys]
    assert source(resolved, "strategies[0].params.threshold") == ("file", str(path))
    assert source(resolved, "strategies[1].params") == ("default", "")


def test_an_instrument_that_a_strategy_names_is_listed_behind_the_others(toml: Any) -> None:
    path = toml('[[instruments]]\nsymbol = "BRK.A"\ntick_e4 = 1\n' + TAKER.replace('"AAPL"', '"X", "BRK.A", "AAPL"'))
    resolved = resolve(path, [], {})
    assert resolved.settings.instruments == (
        Instrument(symbol="BRK.A", tick_e4=1),
        Instrument(symbol="X"),
        Instrument(symbol="AAPL"),
    )
    assert source(resolved, "instruments[1].symbol") == ("file", str(path))
    assert source(resolved, "instruments[1].tick_e4") == ("default", "")


@pytest.mark.parametrize(
    ("option", "name", "value"),
    [
        ("strategies.taker.params.threshold=0.3", "strategies[0].params.threshold", 0.3),
        ("strategies[0].params.threshold=-1e-3", "strategies[0].params.threshold", -0.001),
        ("strategies.taker.params.shares=1_000", "strategies[0].params.shares", 1000),
        ("strategies.quoter.timer_ms=7", "strategies[1].timer_ms", 7),
        ("strategies.taker.name=other", "strategies[0].name", "other"),
        ("strategies[1].instruments=MSFT, X", "strategies[1].instruments", ("MSFT", "X")),
        ("instruments.BRK.A.lot_shares=100", "instruments[0].lot_shares", 100),
        ("instruments.BRK.A.fix_symbol=BRK-A", "instruments[0].fix_symbol", "BRK-A"),
        ("instruments.AAPL.tick_e4=1", "instruments[2].tick_e4", 1),  # listed by a strategy alone
    ],
)
def test_an_option_changes_an_entry(option: str, name: str, value: object, toml: Any) -> None:
    path = toml(f'[[instruments]]\nsymbol = "BRK.A"\n[[instruments]]\nsymbol = "BRK"\n{TAKER}{QUOTER}')
    resolved = resolve(path, [option], {})
    (row,) = [row for row in resolved.table if row.name == name]
    assert (row.value, type(row.value), row.kind, row.where) == (value, type(value), "--set", f"--set {option}")


def test_an_option_may_name_an_instrument_that_another_option_brings(toml: Any) -> None:
    options = ["instruments.MSFT.tick_e4=5", "strategies.taker.instruments=MSFT"]
    assert resolve(toml(TAKER), options, {}).settings.instruments == (Instrument(symbol="MSFT", tick_e4=5),)


@pytest.mark.parametrize(
    ("option", "reason"),
    [
        ("strategies.takr.timer_ms=1", "no such entry; there are strategies.taker, strategies.quoter"),
        ("strategies[2].timer_ms=1", "no such entry; there are strategies.taker, strategies.quoter"),
        ("strategies[00].timer_ms=1", "no such entry; there are strategies.taker, strategies.quoter"),
        ("strategies.taker=1", "no such entry; there are strategies.taker, strategies.quoter"),
        ("instruments.MSFT.tick_e4=1", "no such entry; there are instruments.AAPL"),
        ("strategies=1", "no such setting"),
        ("strategies.taker.timr_ms=1", "no such setting; did you mean strategies[0].timer_ms?"),
        ("strategies.taker.timer_ms.x=1", "no such setting; did you mean strategies[0].timer_ms?"),
        ("strategies.taker.timer_ms=soon", "input should be a valid integer"),
        ("strategies.taker.params=1", "a table: its values are set one by one, strategies[0].params.KEY=value"),
        ("strategies.taker.params.threshold=high", "input should be a number"),
        ("strategies.taker.params.threshold=nan", "input should be a number"),
        ("strategies.taker.params.threshold=true", "input should be a number"),
        ("strategies.taker.params.threshold=1e999", "input should be a finite number"),
        ("strategies.taker.instruments=A,A", "A stands there twice"),
        ("strategies.taker.file=~nobody-here/x", "could not determine home directory"),
        ("strategies.taker.name=2nd", "a name is up to 32 letters, digits, _ and -, and begins with a letter or _"),
    ],
)
def test_a_mistyped_option_is_refused_by_name(option: str, reason: str, toml: Any) -> None:
    assert refusal(toml(TAKER + QUOTER), (option,)) == [f"--set {option}: {reason}"]


def test_without_entries_there_is_nothing_to_change() -> None:
    (line,) = refusal(options=("strategies.taker.timer_ms=1",))
    assert line == "--set strategies.taker.timer_ms=1: no such entry; strategies is empty"


ENTRY = "strategies[0]"
KEYS = "name, file, instruments, model, params, timer_ms"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            TAKER.replace("name", "nam"),
            [f"{ENTRY}.nam in PATH: no such setting; did you mean {ENTRY}.name?", f"{ENTRY} in PATH: name is missing"],
        ),
        (f"{TAKER}wait = 1", [f"{ENTRY}.wait in PATH: no such setting; there are {KEYS}"]),
        (
            '[[strategies]]\nname = "x"',
            [f"{ENTRY} (x) in PATH: file is missing", f"{ENTRY} (x) in PATH: instruments is missing"],
        ),
        ("[[instruments]]\ntick_e4 = 1", ["instruments[0] in PATH: symbol is missing"]),
        ("strategies = [1]", [f"{ENTRY} in PATH: must be a table, written [[strategies]]"]),
        ("strategies = 1", ["strategies in PATH: a list, so each of its entries is written [[strategies]]"]),
        (f"{TAKER}params = 5", [f"{ENTRY}.params = 5 in PATH: must be a table"]),
        (f"{TAKER}params.a = true", [f"{ENTRY}.params.a = True in PATH: input should be a number"]),
        (f"{TAKER}params.a.b = 1", [f"{ENTRY}.params.a = {{'b': 1}} in PATH: input should be a number"]),
        (TAKER + TAKER, [f"strategies[1].name = 'taker' in PATH: {ENTRY}.name is the same"]),
    ],
)
def test_a_mistyped_entry_is_refused_by_name(text: str, expected: list[str], toml: Any) -> None:
    path = toml(text)
    assert refusal(path) == [line.replace("PATH", str(path)) for line in expected]


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("'AAPL'", "input should be a list of symbols"),
        ("[]", "there must be at least one symbol"),
        ("['A', 'B', 'A']", "A stands there twice"),
        ("[5]", "input should be a valid string"),
        ("['A B']", "a symbol is 1 to 8 printable ASCII characters without a space"),
    ],
)
def test_what_a_strategy_trades_is_a_list_of_different_symbols(written: str, reason: str, toml: Any) -> None:
    path = toml(TAKER.replace('["AAPL"]', written))
    assert refusal(path) == [f"{ENTRY}.instruments = {written} in {path}: {reason}"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('symbol = "A"\n[[instruments]]\nsymbol = "A"', "instruments[1].symbol = 'A' in PATH: instruments[0].symbol"),
        (
            'symbol = "A"\nfix_symbol = "C"\n[[instruments]]\nsymbol = "B"\nfix_symbol = "C"',
            "instruments[1].fix_symbol = 'C' in PATH: instruments[0].fix_symbol",
        ),
        (
            f'symbol = "B"\nfix_symbol = "AAPL"\n{TAKER}',
            "instruments[1].symbol = 'AAPL' in PATH: instruments[0].fix_symbol",
        ),
    ],
)
def test_two_instruments_of_one_name_cannot_be_told_apart(text: str, expected: str, toml: Any) -> None:
    path = toml(f"[[instruments]]\n{text}")
    assert refusal(path) == [f"{expected.replace('PATH', str(path))} is the same"]


def test_there_are_no_more_strategies_than_the_loop_has_slots_for(toml: Any) -> None:
    text = "".join(TAKER.replace("taker", f"s{number}") for number in range(STRATEGIES_MAX))
    assert len(resolve(toml(text), [], {}).settings.strategies) == STRATEGIES_MAX
    assert refusal(toml(text + TAKER)) == ["strategies: there are 9, and at most 8 can run"]


def test_files_are_relative_to_the_file_that_names_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("config", "models", "elsewhere"):
        (tmp_path / folder).mkdir()
    (tmp_path / "config" / "taker.py").touch()
    (tmp_path / "models" / "m.json").touch()
    (tmp_path / "elsewhere" / "other.py").touch()
    config = tmp_path / "config" / "a.toml"
    config.write_text(TAKER.replace(str(HERE), "taker.py") + 'model = "../models/m.json"\n')
    monkeypatch.chdir(tmp_path / "elsewhere")
    for given in (config, Path("../config/a.toml")):
        (taker,) = resolve(given, [], {}).settings.strategies
        assert taker.path == tmp_path / "config" / "taker.py"
        assert taker.model == str(tmp_path / "models" / "m.json")
    (taker,) = resolve(config, ["strategies.taker.file=other.py"], {}).settings.strategies
    assert taker.path == tmp_path / "elsewhere" / "other.py"  # of an option: where venym is started


def test_a_file_that_cannot_be_read_is_named_by_its_path(toml: Any, tmp_path: Path) -> None:
    text = TAKER.replace(str(HERE), "gone.py") + 'model = "."\n' + QUOTER.replace(str(HERE), "venym:nothing")
    path = toml(text)
    example = HERE.parents[2] / "venym" / "strategies" / "nothing.py"
    assert refusal(path) == [
        f"strategies[0].file = 'gone.py' in {path}: {tmp_path}/gone.py: No such file or directory",
        f"strategies[1].file = 'venym:nothing' in {path}: {example}: No such file or directory",
        f"strategies[0].model = '.' in {path}: {tmp_path}: not a file",
    ]


def test_a_queue_is_not_waited_for(toml: Any, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "queue.py")
    (line,) = refusal(toml(TAKER.replace(str(HERE), "queue.py")))
    assert line.endswith(f"{tmp_path}/queue.py: not a file")


def test_links_that_go_in_circles_lead_nowhere(toml: Any, tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    for file in ("a", "a/b.py"):
        (line,) = refusal(toml(TAKER.replace(str(HERE), file)))
        assert line.endswith(f"{tmp_path}/{file}: Too many levels of symbolic links")


def test_two_models_are_one_too_many(toml: Any, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        (tmp_path / name).touch()
    path = toml(f'{TAKER}model = "a.json"\n{QUOTER}model = "./a.json"\n')
    assert resolve(path, [], {}).settings.model == tmp_path / "a.json"
    path = toml(f'{TAKER}model = "a.json"\n{QUOTER}model = "b.json"\n')
    assert refusal(path) == [
        f"strategies[1].model = 'b.json' in {path}: all strategies must have the same model for now, and "
        f"strategies[0].model is {tmp_path}/a.json"
    ]


@pytest.mark.parametrize("name", ["VENYM_STRATEGIES", "VENYM_STRATEGIES__TAKER__TIMER_MS", "venym_instruments__x"])
def test_a_variable_changes_no_entry(name: str) -> None:
    table = name.upper().split("_")[1].lower()
    assert refusal(environment={name: "1"}) == [
        f"{name} in the environment: no such setting; [[{table}]] stand in the file, and --set {table}.NAME.key=value "
        "changes them"
    ]


def test_all_that_is_wrong_is_told_at_once(toml: Any) -> None:
    path = toml(f"[bok]\nx = 1\n{TAKER}timr_ms = 1\n{QUOTER.replace(str(HERE), 'gone.py')}timer_ms = -1\n{QUOTER}")
    assert len(refusal(path, ("strategies.taker.timer_ms=x", "strategies.other.timer_ms=1"))) == 7


def test_the_example_of_a_replay_runs_two_examples_and_the_model_that_comes_with_them() -> None:
    path = HERE.parents[2] / "config" / "replay.toml"
    written = tomllib.loads(path.read_text("utf-8"))["strategies"]
    assert [entry["file"] for entry in written] == ["venym:taker", "venym:quoter"]
    options = [f"strategies.{entry['name']}.file={HERE}" for entry in written]  # what is said of them holds anyhow
    settings = resolve(path, options, {}).settings
    assert settings.model == HERE.parents[2] / "replay_data" / "aapl-demo.model.json"
    assert [instrument.symbol for instrument in settings.instruments] == ["AAPL"]


def test_channels_are_listed_in_the_file_and_changed_by_name(toml: Any) -> None:
    text = '[[channels]]\nname = "{}"\nline_a = "239.1.1.{}:26400"\n'
    path = toml(text.format("one", 1) + text.format("two", 2))
    options = ["channels.two.line_b=239.1.2.2:26400", "channels[0].rerequest=10.0.0.1:17000, 10.0.0.2:17000"]
    one, two = resolve(path, options, {}).settings.channels
    assert (one.name, one.line_a, one.line_b, one.glimpse) == ("one", "239.1.1.1:26400", "", "")
    assert one.rerequest == ("10.0.0.1:17000", "10.0.0.2:17000")
    assert (two.name, two.line_b, two.interface_b, two.source_b) == ("two", "239.1.2.2:26400", "", "")


def test_channels_of_one_name_and_without_a_line_are_refused(toml: Any) -> None:
    path = toml('[[channels]]\nname = "one"\nline_a = ""\n[[channels]]\nname = "one"\n')
    assert refusal(path) == [
        f"channels[0].line_a = '' in {path}: a line is an IPv4 address and a port, such as 233.54.12.111:26477",
        f"channels[1] (one) in {path}: line_a is missing",
        f"channels[1].name = 'one' in {path}: channels[0].name is the same",
    ]
