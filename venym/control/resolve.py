"""Settle every setting once, and remember where each value came from.

    --set section.key=value  >  VENYM_SECTION__KEY  >  section.key in the --config file  >  default

pydantic-settings' own sources drop an environment variable that they do not recognise, take a whole section as JSON and
read variables in any case, so that a mistyped limit becomes the default limit in silence. Here every name of every
layer is looked up and every value is checked in the layer it stands in, even if another layer overrides it; all that
is wrong is refused at once, each by its own name. ``.env`` files are not read.
"""

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import ValidationError

from .errors import ConfigurationError
from .settings import Settings, sections

PREFIX = "VENYM_"
NOT_SETTINGS = {"VENYM_SHARED": "where the tests look for the shared folder"}
WHOLE_NUMBER = re.compile(r"-?[0-9]+(_[0-9]+)*")
DIGITS_MAX = 40  # Python refuses to read a number of thousands of digits; any this long is over every limit
ALIKE = 0.7  # likeness (difflib) from which another name is suggested
CLOSE = 0.9  # likeness from which a variable with another prefix counts as ours

TRUTHS = {"true": True, "false": False}  # as TOML writes them

DEFAULT, FILE, ENVIRONMENT, OPTION = "default", "file", "environment", "--set"


class Given(NamedTuple):
    """One value as somebody wrote it."""

    section: str
    key: str
    value: Any
    kind: str  # FILE, ENVIRONMENT or OPTION
    where: str  # the file, the variable or the option's text

    @property
    def name(self) -> str:
        return f"{self.section}.{self.key}"

    def __str__(self) -> str:
        """The value as it was written, and where."""
        if self.kind == FILE:
            return f"{self.name} = {self.value!r} in {self.where}"
        return f"{self.where}={self.value!r} in the environment" if self.kind == ENVIRONMENT else self.where


class Setting(NamedTuple):
    """One settled setting, for people."""

    name: str
    value: Any
    kind: str  # DEFAULT, FILE, ENVIRONMENT or OPTION
    where: str  # empty for a default


class Resolved(NamedTuple):
    settings: Settings
    table: tuple[Setting, ...]  # every setting, in the order of the sections


def resolve(config: Path | None, options: Iterable[str], environment: Mapping[str, str]) -> Resolved:
    """Settings from a TOML file, the environment and the ``--set`` options (each ``section.key=value``).

    Raises ConfigurationError naming everything that is wrong, one a line.
    """
    wrong: list[str] = []
    layers = [
        _from_file(config, wrong) if config else [],
        _from_environment(environment, wrong),
        _from_options(options, wrong),
    ]
    last: dict[str, Given] = {}
    for given in [given for layer in layers for given in layer]:
        _check_value(given, wrong)
        last[given.name] = given
    if wrong:
        raise ConfigurationError("\n".join(wrong))
    values: dict[str, dict[str, Any]] = {}
    for given in last.values():
        values.setdefault(given.section, {})[given.key] = given.value
    settings = Settings(**values)  # type: ignore[arg-type]
    return Resolved(settings, tuple(_settled(settings, section, key, last) for section, key in _keys()))


def _settled(settings: Settings, section: str, key: str, last: Mapping[str, Given]) -> Setting:
    name = f"{section}.{key}"
    value = getattr(getattr(settings, section), key)
    given = last.get(name)
    return Setting(name, value, given.kind, given.where) if given else Setting(name, value, DEFAULT, "")


def _keys() -> list[tuple[str, str]]:
    return [(section, key) for section, held in sections().items() for key in held.model_fields]


def variable(section: str, key: str) -> str:
    """The environment variable of a setting."""
    return f"{PREFIX}{section}__{key}".upper()


def _from_file(path: Path, wrong: list[str]) -> list[Given]:
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        wrong.append(f"{path}: {error.strerror or error}")
        return []
    except ValueError as error:  # TOML's own, text that is not UTF-8, a number of thousands of digits
        wrong.append(f"{path}: not TOML: {error}")
        return []
    given: list[Given] = []
    for section, body in document.items():
        if section not in sections():
            wrong.append(f"{_written(section, body)} in {path}: no such section{_suggest_section(section)}")
        elif not isinstance(body, dict):
            wrong.append(f"{section} in {path}: a section, so it is written [{section}]")
        else:
            for key, value in body.items():
                if _known(f"{section}.{key}", f"{section}.{key} in {path}", wrong):
                    given.append(Given(section, key, value, FILE, str(path)))
    return given


def _written(name: str, body: Any) -> str:
    return f"[{name}]" if isinstance(body, dict) else name


def _suggest_section(name: str) -> str:
    """The setting of that name, where its section was left out; else the closest section; else all of them."""
    owners = [f"{section}.{key}" for section, key in _keys() if key == name]
    close = owners or [f"[{held}]" for held in difflib.get_close_matches(name, list(sections()), 1)]
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(f'[{held}]' for held in sections())}"


def _from_environment(environment: Mapping[str, str], wrong: list[str]) -> list[Given]:
    names = {variable(section, key): (section, key) for section, key in _keys()}
    given: list[Given] = []
    for name, text in sorted(environment.items()):
        if name in names:
            section, key = names[name]
            given.append(Given(section, key, _from_text(section, key, text), ENVIRONMENT, name))
        elif name not in NOT_SETTINGS and _meant_for_us(name, names):
            wrong.append(f"{name} in the environment: no such setting{_suggest(name.upper(), names)}")
    return given


def _meant_for_us(name: str, names: Iterable[str]) -> bool:
    """A variable with the prefix, in any case; with a mistyped prefix; or without one."""
    upper = name.upper()
    if upper.startswith(PREFIX):
        return True
    if "__" not in upper:
        return False
    return PREFIX + upper in names or bool(difflib.get_close_matches(upper, names, 1, CLOSE))


def _from_options(options: Iterable[str], wrong: list[str]) -> list[Given]:
    given: list[Given] = []
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            wrong.append(f"--set {option}: must be section.key=value")
        elif _known(name, f"--set {option}", wrong):
            section, _, key = name.partition(".")
            given.append(Given(section, key, _from_text(section, key, text), OPTION, f"--set {option}"))
    return given


def _known(name: str, described: str, wrong: list[str]) -> bool:
    names = [f"{section}.{key}" for section, key in _keys()]
    if name not in names:
        wrong.append(f"{described}: no such setting{_suggest(name, names)}")
    return name in names


def _suggest(name: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(name, list(names), 1, ALIKE)
    return f"; did you mean {close[0]}?" if close else ""


def _from_text(section: str, key: str, text: str) -> Any:
    """A value from an environment variable or option: a whole number, or true or false, where one belongs and the text
    is one, else the text itself, for pydantic to judge."""
    kind = sections()[section].model_fields[key].annotation
    if kind is int and len(text) <= DIGITS_MAX and WHOLE_NUMBER.fullmatch(text):
        return int(text)
    return TRUTHS.get(text, text) if kind is bool else text


def _check_value(given: Given, wrong: list[str]) -> None:
    try:
        sections()[given.section].model_validate({given.key: given.value})
    except ValidationError as error:
        reasons = "; ".join(problem["msg"].removeprefix("Value error, ") for problem in error.errors())
        wrong.append(f"{given}: {reasons[0].lower()}{reasons[1:]}")
