"""Settings are settled from four layers, and whatever was mistyped is refused by its name."""

import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venym.control.errors import ConfigurationError
from venym.control.resolve import Resolved, resolve, variable
from venym.control.settings import Settings, sections

CONFIG = Path(__file__).resolve().parents[2] / "config" / "venym.toml"
NAMES = [f"{section}.{key}" for section, held in sections().items() for key in held.model_fields]
LIMITS = ["orders_max", "levels_max", "instruments_max", "trades_max", "channels_max"]


@pytest.fixture
def toml(tmp_path: Path) -> Any:
    def write(text: str) -> Path:
        path = tmp_path / "venym.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def refusal(
    config: Path | None = None, options: tuple[str, ...] = (), environment: dict[str, str] | None = None
) -> list[str]:
    with pytest.raises(ConfigurationError) as caught:
        resolve(config, options, environment or {})
    return str(caught.value).splitlines()


def source(resolved: Resolved, name: str) -> tuple[str, str]:
    return next((row.kind, row.where) for row in resolved.table if row.name == name)


def test_nothing_given_is_every_default() -> None:
    resolved = resolve(None, [], {})
    assert resolved.settings == Settings()
    assert [row.name for row in resolved.table] == NAMES
    assert {(row.kind, row.where) for row in resolved.table} == {("default", "")}


def test_an_option_beats_a_variable_beats_the_file_beats_the_default(toml: Any) -> None:
    path = toml("[book]\norders_max = 2\nlevels_max = 2\ninstruments_max = 2\n")
    environment = {"VENYM_BOOK__ORDERS_MAX": "3", "VENYM_BOOK__LEVELS_MAX": "3"}
    resolved = resolve(path, ["book.orders_max=4"], environment)
    book = resolved.settings.book
    assert (book.orders_max, book.levels_max, book.instruments_max, book.channels_max) == (4, 3, 2, 8)
    assert source(resolved, "book.orders_max") == ("--set", "--set book.orders_max=4")
    assert source(resolved, "book.levels_max") == ("environment", "VENYM_BOOK__LEVELS_MAX")
    assert source(resolved, "book.instruments_max") == ("file", str(path))
    assert source(resolved, "book.channels_max") == ("default", "")


def test_the_last_of_two_options_counts() -> None:
    assert resolve(None, ["book.orders_max=4", "book.orders_max=5"], {}).settings.book.orders_max == 5


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_is_a_key_a_variable_and_an_option(name: str, toml: Any) -> None:
    section, key = name.split(".")
    default = getattr(getattr(Settings(), section), key)
    text, written, value = {
        int: (f"{default}0", f"{default}0", f"{default}0"),
        bool: ("false", "false", "False"),
        str: ("never", '"never"', "never"),
        type(None): ("/somewhere", '"/somewhere"', "/somewhere"),
    }[type(default)]
    for resolved in (
        resolve(toml(f"[{section}]\n{key} = {written}\n"), [], {}),
        resolve(None, [], {variable(section, key): text}),
        resolve(None, [f"{name}={text}"], {}),
    ):
        assert str(getattr(getattr(resolved.settings, section), key)) == value


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize(
    "text", ["1e3", "", "NaN", "-1", "true", "0", "inf", "1.0", " 1", "0x10", "\uff11", "2147483648", "9" * 5000]
)
def test_a_limit_that_is_no_positive_whole_number_is_refused_by_name(limit: str, text: str) -> None:
    name = f"VENYM_BOOK__{limit.upper()}"
    (line,) = refusal(environment={name: text})
    assert line.startswith(f"{name}=")
    assert repr(text) in line or text in line
    assert "in the environment: input should be " in line
    (line,) = refusal(options=(f"book.{limit}={text}",))
    assert line.startswith(f"--set book.{limit}={text}: input should be ")


@pytest.mark.parametrize("written", ["1e3", '""', "nan", "-1", "true", '"5"', "[5]", "{max = 5}", "1979-05-27"])
def test_a_limit_of_another_kind_in_the_file_is_refused_by_name(written: str, toml: Any) -> None:
    path = toml(f"[book]\norders_max = {written}\n")
    (line,) = refusal(path)
    assert line.startswith("book.orders_max = ")
    assert f" in {path}: input should be " in line


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("VENYM_BOOK_ORDERS_MAX", "VENYM_BOOK__ORDERS_MAX"),  # one underscore
        ("VENYM_BOOK__ORDER_MAX", "VENYM_BOOK__ORDERS_MAX"),
        ("VENYM_BOK__ORDERS_MAX", "VENYM_BOOK__ORDERS_MAX"),
        ("VENYM_ORDERS_MAX", "VENYM_BOOK__ORDERS_MAX"),
        ("VENYM__BOOK__ORDERS_MAX", "VENYM_BOOK__ORDERS_MAX"),
        ("venym_book__orders_max", "VENYM_BOOK__ORDERS_MAX"),
        ("Venym_Memory__Lock", "VENYM_MEMORY__LOCK"),
        ("VENIM_BOOK__ORDERS_MAX", "VENYM_BOOK__ORDERS_MAX"),  # another prefix
        ("BOOK__ORDERS_MAX", "VENYM_BOOK__ORDERS_MAX"),  # none
    ],
)
def test_a_mistyped_variable_is_refused_by_name(name: str, meant: str) -> None:
    assert refusal(environment={name: "1"}) == [f"{name} in the environment: no such setting; did you mean {meant}?"]


@pytest.mark.parametrize("name", ["VENYM_", "VENYM_RUN", "VENYM_RISK_MAX_ORDER_QTY", "VENYM_RISK__MAX_ORDER_QTY"])
def test_any_other_variable_with_the_prefix_is_refused_by_name(name: str) -> None:
    assert refusal(environment={name: '{"orders_max": 1}'}) == [f"{name} in the environment: no such setting"]


@pytest.mark.parametrize("name", ["PATH", "VENYM", "OTHER_BOOK__PAGES_MAX", "MYAPP_MEMORY__LOCK", "VENYM_SHARED"])
def test_a_variable_of_somebody_else_is_left_alone(name: str) -> None:
    assert resolve(None, [], {name: "x"}).settings == Settings()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[book]\norder_max = 1", "book.order_max in {path}: no such setting; did you mean book.orders_max?"),
        ("[bok]\norders_max = 1", "[bok] in {path}: no such section; did you mean [book]?"),
        ("[risk]\nlimit = 1", "[risk] in {path}: no such section; there are [book], [memory], [runtime]"),
        ("orders_max = 1", "orders_max in {path}: no such section; did you mean book.orders_max?"),
        ("book = 1", "book in {path}: a section, so it is written [book]"),
        ("[[book]]\norders_max = 1", "book in {path}: a section, so it is written [book]"),
        ("[book", "{path}: not TOML: Expected ']' at the end of a table declaration (at end of document)"),
        ("[book]\norders_max = 1\norders_max = 2", "{path}: not TOML: Cannot overwrite a value (at end of document)"),
    ],
)
def test_a_mistyped_file_is_refused_by_name(text: str, expected: str, toml: Any) -> None:
    path = toml(text)
    assert refusal(path) == [expected.format(path=path)]


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "gone.toml") == [f"{tmp_path / 'gone.toml'}: No such file or directory"]
    assert refusal(tmp_path) == [f"{tmp_path}: Is a directory"]
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'[runtime]\ncache_dir = "/caf\xe9"\n')
    (line,) = refusal(latin)
    assert line.startswith(f"{latin}: not TOML: ")


@pytest.mark.parametrize(
    ("option", "expected"),
    [
        ("book.order_max=1", "--set book.order_max=1: no such setting; did you mean book.orders_max?"),
        ("orders_max=1", "--set orders_max=1: no such setting; did you mean book.orders_max?"),
        ("book.orders_max", "--set book.orders_max: must be section.key=value"),
        ("book=1", "--set book=1: no such setting"),
        ("=", "--set =: no such setting"),
        ("book.queues=1", "--set book.queues=1: input should be a valid boolean"),
        ("book.queues=True", "--set book.queues=True: input should be a valid boolean"),
        ("memory.lock=yes", "--set memory.lock=yes: input should be 'auto', 'never' or 'always'"),
        (
            "runtime.cache_dir=~nobody-here/x",
            "--set runtime.cache_dir=~nobody-here/x: could not determine home directory.",
        ),
    ],
)
def test_a_mistyped_option_is_refused_by_name(option: str, expected: str) -> None:
    assert refusal(options=(option,)) == [expected]


def test_all_that_is_wrong_is_told_at_once(toml: Any) -> None:
    path = toml("[bok]\n[book]\norders_max = true\n")
    lines = refusal(path, ("memory.lok=auto",), {"VENYM_BOOK_LEVELS_MAX": "1", "VENYM_BOOK__LEVELS_MAX": "many"})
    assert len(lines) == 5


def test_a_wrong_value_is_refused_even_where_another_layer_overrides_it() -> None:
    (line,) = refusal(options=("book.orders_max=5",), environment={"VENYM_BOOK__ORDERS_MAX": "NaN"})
    assert line.startswith("VENYM_BOOK__ORDERS_MAX='NaN' in the environment: ")


def test_an_env_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text("VENYM_BOOK__ORDERS_MAX=5\nORDERS_MAX=6\n")
    monkeypatch.chdir(tmp_path)
    assert resolve(None, [], os.environ).settings.book.orders_max == 4_194_304


def test_the_settings_class_alone_reads_no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOK", '{"orders_max": 5}')
    monkeypatch.setenv("VENYM_BOOK__ORDERS_MAX", "5")
    assert Settings().book.orders_max == 4_194_304


def test_truth_is_written_as_in_toml(toml: Any) -> None:
    assert resolve(None, ["book.queues=false"], {}).settings.book.queues is False
    assert resolve(toml("[book]\nqueues = false\n"), ["book.queues=true"], {}).settings.book.queues is True
    (line,) = refusal(toml("[book]\nqueues = 1\n"))
    assert line.endswith(": input should be a valid boolean")


def test_an_empty_folder_is_none_and_a_tilde_is_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    assert resolve(None, ["runtime.cache_dir="], {}).settings.runtime.cache_dir is None
    assert resolve(None, ["runtime.cache_dir=~/x"], {}).settings.runtime.cache_dir == Path("/home/somebody/x")


def test_settings_cannot_be_changed() -> None:
    settings = resolve(None, [], {}).settings
    with pytest.raises(ValueError, match="frozen"):
        settings.book.orders_max = 5


@given(st.text(max_size=20))
def test_a_number_is_read_as_written_or_refused(text: str) -> None:
    try:
        value = resolve(None, [f"book.orders_max={text}"], {}).settings.book.orders_max
    except ConfigurationError:
        return
    assert text.replace("_", "").isascii()
    assert str(value) == text.replace("_", "").lstrip("0")


def test_the_example_lists_every_setting_at_its_default_with_its_meaning() -> None:
    document = tomllib.loads(CONFIG.read_text("utf-8"))
    assert [f"{section}.{key}" for section, body in document.items() for key in body] == NAMES
    resolved = resolve(CONFIG, [], {})
    assert resolved.settings == Settings()
    assert {(row.kind, row.where) for row in resolved.table} == {("file", str(CONFIG))}
    for section, held in sections().items():
        for key, field in held.model_fields.items():
            (line,) = [line for line in CONFIG.read_text("utf-8").splitlines() if line.startswith(f"{key} = ")]
            assert f"# {field.description}" in line, section
