"""Settle every setting once, and remember where each value came from.

    --set section.key=value  >  VENYM_SECTION__KEY  >  section.key in the --config file  >  default

pydantic-settings' own sources drop an environment variable that they do not recognise, take a whole section as JSON and
read variables in any case, so that a mistyped limit becomes the default limit in silence. Here every name of every
layer is looked up and every value is checked in the layer it stands in, even if another layer overrides it; all that
is wrong is refused at once, each by its own name. ``.env`` files are not read. A table or an entry of a list is not a
variable: what those hold is given in the file or by ``--set``.
"""

import difflib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from .entries import (
    check_entries,
    find_entry,
    imply_instruments,
    known_key,
    put,
    read_entries,
    read_value,
    settled_entries,
)
from .errors import ConfigurationError
from .given import DEFAULT, ENVIRONMENT, FILE, OPTION, Given, Layers, Place, from_text, kind_of, suggest
from .settings import LISTS, Settings, sections

PREFIX = "VENYM_"
NOT_SETTINGS = {"VENYM_SHARED": "where the tests look for the shared folder"}
CLOSE = 0.9  # likeness from which a variable with another prefix counts as ours


class Setting(NamedTuple):
    """One settled setting, for people: a key, or an item of a table."""

    name: str
    value: Any
    kind: str  # DEFAULT, FILE, ENVIRONMENT or OPTION
    where: str  # empty for a default
    place: Place | None = None  # None: a list without entries


class Resolved(NamedTuple):
    settings: Settings
    table: tuple[Setting, ...]  # every setting, in the order of the sections, then the lists'


def resolve(config: Path | None, options: Iterable[str], environment: Mapping[str, str]) -> Resolved:
    """Settings from a TOML file, the environment and the ``--set`` options (each ``section.key=value``).

    Raises ConfigurationError naming everything that is wrong, one a line.
    """
    layers = Layers()
    empty = _read_file(layers, config) if config else {}
    _read_environment(layers, environment)
    options = list(options)
    _read_options(layers, [option for option in options if not option.startswith("instruments")])
    imply_instruments(layers)  # --set may change an instrument that is listed by this alone
    _read_options(layers, [option for option in options if option.startswith("instruments")])
    check_entries(layers)
    if layers.wrong:
        raise ConfigurationError("\n".join(layers.wrong))
    values: dict[str, Any] = settled_entries(layers)
    for given in layers.given.values():
        if given.place.entry is None:
            put(values.setdefault(given.place.table, {}), given)
    settings = Settings(**values)
    return Resolved(settings, tuple(_rows(settings, layers, empty)))


def _rows(settings: Settings, layers: Layers, empty: Mapping[str, str]) -> Iterator[Setting]:
    for section, key in _keys():
        yield from _settled(Place(section, None, key), getattr(settings, section), layers)
    for table, fields in LISTS.items():
        entries = getattr(settings, table)
        if not entries:
            yield Setting(table, (), FILE if table in empty else DEFAULT, empty.get(table, ""))
        for index, entry in enumerate(entries):
            for key in fields.model_fields:
                yield from _settled(Place(table, index, key), entry, layers)


def _settled(place: Place, holder: Any, layers: Layers) -> Iterator[Setting]:
    value = getattr(holder, place.key)
    if place.kind is dict and value:
        places = [(place._replace(item=str(item)), held) for item, held in value.items()]
    else:
        places = [(place, value)]
    for at, held in places:
        given = layers.given.get(at)
        kind, where = (given.kind, given.where) if given else (DEFAULT, "")
        yield Setting(str(at), held, kind, where, at)


def _keys() -> list[tuple[str, str]]:
    return [(section, key) for section, held in sections().items() for key in held.model_fields]


def variable(section: str, key: str) -> str:
    """The environment variable of a setting."""
    return f"{PREFIX}{section}__{key}".upper()


def _read_file(layers: Layers, path: Path) -> dict[str, str]:
    """Take the file's values; returns the lists it has without entries, and where."""
    wrong = layers.wrong
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        wrong.append(f"{path}: {error.strerror or error}")
        return {}
    except ValueError as error:  # TOML's own, text that is not UTF-8, a number of thousands of digits
        wrong.append(f"{path}: not TOML: {error}")
        return {}
    for section, body in document.items():
        if section in LISTS:
            read_entries(layers, section, body, path)
        elif section not in sections():
            wrong.append(f"{_written(section, body)} in {path}: no such section{_suggest_section(section)}")
        elif not isinstance(body, dict):
            wrong.append(f"{section} in {path}: a section, so it is written [{section}]")
        else:
            for key, value in body.items():
                if _known(layers, f"{section}.{key}", f"{section}.{key} in {path}"):
                    read_value(layers, Place(section, None, key), value, path)
    return {table: str(path) for table in LISTS if document.get(table) == []}


def _written(name: str, body: Any) -> str:
    if isinstance(body, list) and body and isinstance(body[0], dict):
        return f"[[{name}]]"
    return f"[{name}]" if isinstance(body, dict) else name


def _suggest_section(name: str) -> str:
    """The setting of that name, where its section was left out; else the closest section; else all of them."""
    written = {section: f"[{section}]" for section in sections()} | {table: f"[[{table}]]" for table in LISTS}
    owners = [f"{section}.{key}" for section, key in _keys() if key == name]
    close = owners or [written[held] for held in difflib.get_close_matches(name, list(written), 1)]
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(written.values())}"


def _read_environment(layers: Layers, environment: Mapping[str, str]) -> None:
    names = {variable(section, key): Place(section, None, key) for section, key in _keys()}
    for name, text in sorted(environment.items()):
        if name in names:
            place = names[name]
            if place.kind is dict:
                said = f"a table, and no variable: it is given in the file, or by --set {place}.KEY=value"
                layers.wrong.append(f"{name} in the environment: {said}")
            else:
                layers.add(Given(place, from_text(place, text), ENVIRONMENT, name))
        elif name not in NOT_SETTINGS and _meant_for_us(name, names):
            layers.wrong.append(f"{name} in the environment: no such setting{_instead(name, names)}")


def _instead(name: str, names: Iterable[str]) -> str:
    for table in LISTS:
        if name.upper().startswith(f"{PREFIX}{table}".upper()):
            return f"; [[{table}]] stand in the file, and --set {table}.NAME.key=value changes them"
    return suggest(name.upper(), names)


def _meant_for_us(name: str, names: Iterable[str]) -> bool:
    """A variable with the prefix, in any case; with a mistyped prefix; or without one."""
    upper = name.upper()
    if upper.startswith(PREFIX):
        return True
    if "__" not in upper:
        return False
    return PREFIX + upper in names or bool(difflib.get_close_matches(upper, names, 1, CLOSE))


def _read_options(layers: Layers, options: Iterable[str]) -> None:
    for option in options:
        name, equals, text = option.partition("=")
        if not equals:
            layers.wrong.append(f"--set {option}: must be section.key=value")
            continue
        place = _place(layers, name, f"--set {option}")
        if place is not None:
            layers.add(Given(place, from_text(place, text), OPTION, f"--set {option}"))


def _place(layers: Layers, name: str, described: str) -> Place | None:
    """The place that an option names; what is wrong with the name is noted."""
    for table in LISTS:
        if name.startswith((f"{table}.", f"{table}[")):
            found = find_entry(layers, table, name[len(table) :], described)
            if found is None:
                return None
            key, dot, item = found[1].partition(".")
            place = Place(table, found[0], key)
            return _with_item(layers, place, dot, item, described) if known_key(layers, place, described) else None
    section, _, rest = name.partition(".")
    key, dot, item = rest.partition(".")
    if dot and (section, key) in _keys() and kind_of(sections()[section], key) is dict:
        return Place(section, None, key, item)
    if not _known(layers, name, described):
        return None
    return _with_item(layers, Place(section, None, key), "", "", described)


def _with_item(layers: Layers, place: Place, dot: str, item: str, described: str) -> Place | None:
    if place.kind is dict and not item:
        layers.wrong.append(f"{described}: a table: its values are set one by one, {place}.KEY=value")
        return None
    if place.kind is not dict and dot:
        layers.wrong.append(f"{described}: no such setting; did you mean {place}?")
        return None
    return place._replace(item=item) if dot else place


def _known(layers: Layers, name: str, described: str) -> bool:
    names = [f"{section}.{key}" for section, key in _keys()]
    if name not in names:
        layers.wrong.append(f"{described}: no such setting{suggest(name, names)}")
    return name in names
