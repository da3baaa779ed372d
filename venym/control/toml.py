"""Settings as TOML: values as it writes them, and a whole file that gives the same settings again.

[book]
orders_max = 5                       # --set book.orders_max=5
…
[[strategies]]
name = "taker"                       # file config/replay.toml
params.threshold = 0.3               # file config/replay.toml
"""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .settings import LISTS

COLUMN = 36  # of the comments, where the values leave room

HEADING = "# The settings of one run, whole: give this file to --config. Behind each value stands where it came from.\n"


def toml_value(value: Any) -> str:
    """A setting's value as TOML writes it; None is an empty text."""
    if value is None:
        return '""'
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {toml_value(held)}' for key, held in value.items())} }}" if value else "{}"
    if isinstance(value, str | Path):
        return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON leaves DEL as it is
    raise TypeError(f"{type(value).__name__} is no value of a setting")


def source(kind: str, where: str) -> str:
    """Where a value came from, on one line: ``--set book.orders_max=5`` already says --set."""
    text = f"{kind} {where.removeprefix(f'{kind} ')}".rstrip()
    return "".join(character if character.isprintable() else "?" for character in text)


def document(table: Iterable[Any]) -> str:
    """The file of settled settings (`resolve.Setting`): `resolve` makes the same settings of it, wherever it lies."""
    lines = [HEADING]
    empty = []
    owner = ""
    for row in table:
        if row.place is None:
            empty.append(_line(row.name, row))
            continue
        if row.place.owner != owner:
            owner = row.place.owner
            listed = row.place.table in LISTS
            lines.append(f"\n[[{row.place.table}]]" if listed else f"\n[{owner}]")
        lines.append(_line(row.name.removeprefix(f"{owner}."), row))
    return "\n".join([lines[0], *empty, *lines[1:]]) + "\n"


def _line(key: str, row: Any) -> str:
    return f"{f'{key} = {toml_value(row.value)}':<{COLUMN}} # {source(row.kind, row.where)}"
