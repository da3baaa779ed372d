"""Settings written as TOML give the same settings again."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from venym.control.resolve import resolve
from venym.control.toml import document, source, toml_value

ROOT = Path(__file__).resolve().parents[2]
TEXT = st.text(st.characters(exclude_categories=["Cs"]))
NUMBER = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, allow_infinity=False))
VALUE = st.one_of(TEXT, NUMBER)
LISTS = st.one_of(st.lists(VALUE), st.dictionaries(st.from_regex(r"[A-Za-z0-9_-]+", fullmatch=True), VALUE))


@given(st.one_of(VALUE, LISTS))
def test_a_value_is_read_back_as_it_was(value: Any) -> None:
    held = tomllib.loads(f"x = {toml_value(value)}")["x"]
    assert (held, type(held)) == (value, type(value))


def test_a_folder_is_its_text_and_none_is_an_empty_one() -> None:
    assert toml_value(Path('/a "b"')) == '"/a \\"b\\""'
    assert toml_value(None) == '""'
    with pytest.raises(TypeError, match="object is no value of a setting"):
        toml_value(object())


def test_a_file_of_settings_gives_the_same_settings_wherever_it_lies(
    toml: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "s.py").touch()
    path = toml(
        "[session]\ntags = { 15 = 'USD', 58 = 'a \"b\"' }\npost_only_tags = {}\n[[instruments]]\nsymbol = 'BRK.A'\n"
        "[[strategies]]\nname = 'a'\nfile = 's.py'\nmodel = 's.py'\ninstruments = ['BRK.A', 'X']\nparams.q = 0.1\n"
        "[[strategies]]\nname = 'b'\nfile = 's.py'\ninstruments = ['X']\n"
    )
    options = ["book.queues=false", "strategies.a.params.z=-3", "instruments.X.tick_e4=1", "runtime.cache_dir=/x\x7f"]
    resolved = resolve(path, options, {"VENYM_REPLAY__SETTLE_MS": "7"})
    (tmp_path / "run").mkdir()
    again = tmp_path / "run" / "settings.toml"
    again.write_text(document(resolved.table), "utf-8")
    monkeypatch.chdir("/")
    assert resolve(again, [], {}).settings == resolved.settings
    lines = again.read_text("utf-8").splitlines()
    for key, value, where in (
        ("queues", "false", "--set book.queues=false"),
        ("settle_ms", "7", "environment VENYM_REPLAY__SETTLE_MS"),
        ("params.q", "0.1", f"file {path}"),
        ("params.z", "-3", "--set strategies.a.params.z=-3"),
        ("lock", '"auto"', "default"),
    ):
        assert [line.split(None, 4)[2::2] for line in lines if line.startswith(f"{key} = ")] == [[value, where]]


def test_no_settings_at_all_are_the_defaults_again(tmp_path: Path) -> None:
    resolved = resolve(None, [], {})
    path = tmp_path / "settings.toml"
    path.write_text(document(resolved.table))
    again = resolve(path, [], {})
    assert again.settings == resolved.settings
    assert {row.kind for row in again.table} == {"file"}


def test_where_a_value_came_from_is_one_line() -> None:
    assert source("default", "") == "default"
    assert source("--set", "--set a.b=c\nd\x1b\udcff") == "--set a.b=c?d??"
