"""One value as somebody wrote it: the place it is for, where it stands, and whether it will do.

place                               written
book.orders_max                     orders_max under [book], VENYM_BOOK__ORDERS_MAX, --set book.orders_max=…
session.tags.15                     15 in the table tags under [session], --set session.tags.15=…
strategies[0].params.threshold      in the first [[strategies]], --set strategies.NAME.params.threshold=…
"""

import difflib
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple, get_origin

from pydantic import ValidationError

from .settings import LISTS, Section, sections
from .values import EXAMPLE, path_of

DEFAULT, FILE, ENVIRONMENT, OPTION = "default", "file", "environment", "--set"

WHOLE_NUMBER = re.compile(r"-?[0-9]+(_[0-9]+)*")
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
DIGITS_MAX = 40  # Python refuses to read a number of thousands of digits; any this long is over every limit
ALIKE = 0.7  # likeness (difflib) from which another name is suggested
TRUTHS = {"true": True, "false": False}  # as TOML writes them


class Place(NamedTuple):
    """Where a value belongs: a key of a section or of a list's entry, or an item of a key that is itself a table."""

    table: str  # the section or list
    entry: int | None  # of a list
    key: str
    item: str | None = None

    @property
    def owner(self) -> str:
        return self.table if self.entry is None else f"{self.table}[{self.entry}]"

    @property
    def fields(self) -> type[Section]:
        return fields_of(self.table)

    @property
    def kind(self) -> Any:
        return kind_of(self.fields, self.key)

    def __str__(self) -> str:
        return f"{self.owner}.{self.key}" + ("" if self.item is None else f".{self.item}")


class Given(NamedTuple):
    """One value as somebody wrote it."""

    place: Place
    value: Any
    kind: str  # FILE, ENVIRONMENT or OPTION
    where: str  # the file, the variable or the option's text

    def __str__(self) -> str:
        """The value as it was written, and where."""
        if self.kind == FILE:
            return f"{self.place} = {self.value!r} in {self.where}"
        return f"{self.where}={self.value!r} in the environment" if self.kind == ENVIRONMENT else self.where


class Layers:
    """All that was given, layer upon layer: of two values for a place the last one counts."""

    def __init__(self) -> None:
        self.given: dict[Place, Given] = {}  # those that will do
        self.refused: set[Place] = set()
        self.wrong: list[str] = []  # sentences
        self.labels: dict[str, list[str]] = {name: [] for name in LISTS}  # of each entry; "" if it has none

    def add(self, given: Given) -> None:
        """Take a value, or note what is wrong with it."""
        reason = objection(given)
        if reason is None:
            self.given[given.place] = given
        else:
            self.refused.add(given.place)
            self.wrong.append(f"{given}: {reason}")


def fields_of(table: str) -> type[Section]:
    """The class of a section, or of a list's entries."""
    return LISTS[table] if table in LISTS else sections()[table]


def kind_of(fields: type[Section], key: str) -> Any:
    """What a setting holds: int, bool, str, tuple (a list of texts) or dict (a table)."""
    annotation = fields.model_fields[key].annotation
    if get_origin(annotation) in (tuple, dict):
        return get_origin(annotation)
    return annotation if annotation in (int, bool) else str


def from_text(place: Place, text: str) -> Any:
    """A value from an environment variable or option: a number, a list, or true or false, where one belongs and the
    text is one, else the text itself, for pydantic to judge."""
    if place.kind is tuple:
        return [part.strip() for part in text.split(",")]
    if place.kind is bool:
        return TRUTHS.get(text, text)
    is_param = place.key == "params"
    if (place.kind is int or is_param) and len(text) <= DIGITS_MAX and WHOLE_NUMBER.fullmatch(text):
        return int(text)
    return float(text) if is_param and NUMBER.fullmatch(text) else text


def objection(given: Given) -> str | None:
    """Why a value will not do; None if it will."""
    place = given.place
    if place.kind is dict and place.item is None and given.value != {}:
        return "must be a table"
    written = given.value if place.item is None else {place.item: given.value}
    try:
        place.fields.model_validate({place.key: written})
    except ValidationError as error:
        reasons = [_reason(problem) for problem in error.errors() if problem["loc"][:1] == (place.key,)]
        return "; ".join(reasons) or None  # another key that an entry must have is not looked at here
    return None


def _reason(problem: Any) -> str:
    said: str = problem["msg"]
    ours = problem["type"] == "value_error"
    return said.removeprefix("Value error, ") if ours else f"{said[0].lower()}{said[1:]}"


def located(given: Given) -> str:
    """A strategy's or model's file as an absolute path; what is no path as it is. A path in the file is relative to the
    file's folder, one in an option to the folder that venym is started in."""
    text: str = given.value
    if text == "" or EXAMPLE.fullmatch(text):
        return text
    folder = Path(given.where).parent if given.kind == FILE else Path()
    path = (folder / Path(text).expanduser()).absolute()
    return os.path.join(os.path.realpath(path.parent), path.name)  # a link to a file stays what it is called


def unreadable(file: str) -> str | None:
    """Why a strategy's or model's file cannot be read; None if it can."""
    path = path_of(file)
    try:
        if path.exists() and not path.is_file():
            return f"{path}: not a file"
        path.open("rb").close()
    except OSError as error:
        return f"{path}: {error.strerror or error}"
    return None


def suggest(name: str, names: Iterable[str], before: str = "") -> str:
    """``; did you mean …?`` if one of the names is like this one, with what stands `before` it."""
    close = difflib.get_close_matches(name, list(names), 1, ALIKE)
    return f"; did you mean {before}{close[0]}?" if close else ""
