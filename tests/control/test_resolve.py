"""Settings are settled from four layers, and whatever was mistyped is refused by its name."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.control.resolving import refusal, source
from venym.control.errors import ConfigurationError
from venym.control.resolve import resolve, variable
from venym.control.settings import LISTS, Settings, sections

CONFIG = Path(__file__).resolve().parents[2] / "config" / "venym.toml"
NAMES = [f"{section}.{key}" for section, held in sections().items() for key in held.model_fields]
TABLES = [
    name for name in NAMES if isinstance(getattr(getattr(Settings(), name.split(".")[0]), name.split(".")[1]), dict)
]
VARIABLES = [name for name in NAMES if name not in TABLES]
LIMITS = ["orders_max", "levels_max", "instruments_max", "trades_max", "channels_max"]


def test_nothing_given_is_every_default() -> None:
    resolved = resolve(None, [], {})
    assert resolved.settings == Settings()
    filled = {"session.post_only_tags": "session.post_only_tags.18"}  # a table shows its items
    assert [row.name for row in resolved.table] == [filled.get(name, name) for name in NAMES] + [
        "channels",
        "instruments",
        "strategies",
    ]
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


OTHER_VALUES = {
    "feed.source": "xdp",
    "feed.interface": "eth1",
    "feed.stamps": "none",
    "feed.busy_poll_us": 50,
    "feed.slots": 4096,
    "feed.slot_octets": 4096,
    "feed.xdp_mode": "generic",
    "feed.xdp_helper": Path("/run/helper"),
    "recovery.start": "snapshot",
    "run.plan": "split2",
    "run.cpus": "2,3",
    "session.version": "FIX.4.4",
    "session.time_decimals": 9,
    "risk.open_orders_max": 3,
    "replay.plan": "split2",
    "replay.speed": "0.5",
    "runtime.cache_dir": Path("/somewhere"),
    "replay.runs_dir": Path("elsewhere"),
}


@pytest.mark.parametrize("name", VARIABLES)
def test_every_setting_is_a_key_a_variable_and_an_option(name: str, toml: Any) -> None:
    section, key = name.split(".")
    default = getattr(getattr(Settings(), section), key)
    value = OTHER_VALUES.get(name)
    if value is None:
        value = {bool: lambda: not default, int: lambda: default * 10, str: lambda: "never"}[type(default)]()
    text = str(value).lower() if isinstance(value, bool) else str(value)
    written = text if isinstance(value, int) else f'"{text}"'
    for resolved in (
        resolve(toml(f"[{section}]\n{key} = {written}\n"), [], {}),
        resolve(None, [], {variable(section, key): text}),
        resolve(None, [f"{name}={text}"], {}),
    ):
        assert getattr(getattr(resolved.settings, section), key) == value


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


@pytest.mark.parametrize("name", ["VENYM_", "VENYM_QUIZ", "VENYM_QUIZ_QTY", "VENYM_QUIZ__QTY"])
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
        (
            "[pages]\nline = 1",
            "[pages] in {path}: no such section; there are [book], [memory], [runtime], [feed], [recovery], [run], "
            "[session], [risk], [fees], [gateway], [venue], [replay], [[channels]], [[instruments]], [[strategies]]",
        ),
        ("[[risks]]\na = 1", "[[risks]] in {path}: no such section; did you mean [risk]?"),
        ("[strategy]\na = 1", "[strategy] in {path}: no such section; did you mean [[strategies]]?"),
        ("[strategies]\na = 1", "strategies in {path}: a list, so each of its entries is written [[strategies]]"),
        ("[session]\ntags = 15", "session.tags = 15 in {path}: must be a table"),
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
        ("book.orders_max.x=1", "--set book.orders_max.x=1: no such setting; did you mean book.orders_max?"),
        ("session.tags=1", "--set session.tags=1: a table: its values are set one by one, session.tags.KEY=value"),
        ("session.tags.=1", "--set session.tags.=1: a tag is a whole number from 1 up"),
        ("session.time_decimals=4", "--set session.time_decimals=4: input should be 0, 3, 6 or 9"),
        ("session.sender=", "--set session.sender=: FIX text is one or more printable ASCII characters"),
        ("book.queues=1", "--set book.queues=1: input should be a valid boolean"),
        ("book.queues=True", "--set book.queues=True: input should be a valid boolean"),
        ("memory.lock=yes", "--set memory.lock=yes: input should be 'auto', 'never' or 'always'"),
        (
            "runtime.cache_dir=~nobody-here/x",
            "--set runtime.cache_dir=~nobody-here/x: could not determine home directory",
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


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_given_in_the_file_and_changed_by_options(name: str, toml: Any) -> None:
    section, key = name.split(".")
    path = toml(f"[{section}]\n{key} = {{ 1 = 'one', 15 = 'USD' }}\n")
    resolved = resolve(path, [f"{name}.15=EUR", f"{name}.21=3"], {})
    assert getattr(getattr(resolved.settings, section), key) == {1: "one", 15: "EUR", 21: "3"}
    assert source(resolved, f"{name}.1") == ("file", str(path))
    assert source(resolved, f"{name}.15") == ("--set", f"--set {name}.15=EUR")
    assert refusal(environment={variable(section, key): "{}"}) == [
        f"{variable(section, key)} in the environment: a table, and no variable: it is given in the file, or by --set "
        f"{name}.KEY=value"
    ]


def test_a_table_in_the_file_takes_the_place_of_the_default(toml: Any) -> None:
    assert Settings().session.post_only_tags == {18: "6"}
    assert resolve(toml("[session]\npost_only_tags = {}\n"), [], {}).settings.session.post_only_tags == {}
    tags = resolve(toml("[session]\npost_only_tags = { 9140 = 'P' }\n"), [], {}).settings.session.post_only_tags
    assert tags == {9140: "P"}
    tags = resolve(None, ["session.post_only_tags.9140=P"], {}).settings.session.post_only_tags
    assert tags == {18: "6", 9140: "P"}


def test_a_tag_that_venym_writes_itself_is_refused(toml: Any) -> None:
    path = toml("[session]\ntags = { 38 = '1', 0 = '1', x = 'y', 15 = 5, 58 = '\u00e9' }\n")
    named = f" in {path}: "
    assert refusal(path) == [
        f"session.tags.38 = '1'{named}tag 38 is written by venym itself",
        f"session.tags.0 = '1'{named}a tag is a whole number from 1 up",
        f"session.tags.x = 'y'{named}a tag is a whole number from 1 up",
        f"session.tags.15 = 5{named}input should be a valid string",
        f"session.tags.58 = '\u00e9'{named}FIX text is one or more printable ASCII characters",
    ]


def test_the_example_lists_every_setting_at_its_default_with_its_meaning() -> None:
    document = tomllib.loads(CONFIG.read_text("utf-8"))
    assert [f"{section}.{key}" for section, body in document.items() for key in body] == NAMES
    resolved = resolve(CONFIG, [], {})
    assert resolved.settings == Settings()
    given = {(row.kind, row.where) for row in resolved.table if row.name not in LISTS}
    assert given == {("file", str(CONFIG))}
    section = ""
    described = []
    for line in CONFIG.read_text("utf-8").splitlines():
        opened = re.fullmatch(r"(?:# )?\[+(\w+)\]+(?: +#.*)?", line)
        section = opened[1] if opened else section
        written = re.fullmatch(r"(?:# )?(\w+) = .*?# (.*)", line)
        if written:
            fields = LISTS.get(section) or sections()[section]
            assert fields.model_fields[written[1]].description in written[2], line
            described.append(f"{section}.{written[1]}")
    assert described == NAMES + [f"{table}.{key}" for table, held in LISTS.items() for key in held.model_fields]


def test_the_entries_in_the_examples_comments_are_entries(tmp_path: Path) -> None:
    text = CONFIG.read_text("utf-8")
    entries = text[text.index("# [[channels]]") :].replace("\n# ", "\n").removeprefix("# ").replace("\n#\n", "\n")
    (tmp_path / "taker.py").touch()
    path = tmp_path / "entries.toml"
    path.write_text(entries)
    settings = resolve(path, [], {}).settings
    assert [instrument.symbol for instrument in settings.instruments] == ["BRK.A", "AAPL"]
    (strategy,) = settings.strategies
    (channel,) = settings.channels
    listed = {"channels": channel, "instruments": settings.instruments[0], "strategies": strategy}
    assert {table: entry.model_fields_set for table, entry in listed.items()} == {
        table: set(fields.model_fields) for table, fields in LISTS.items()
    }
