"""``venym check``: every setting, the value it settled on and where that came from."""

import argparse
import json
from typing import Any

from .errors import GOOD
from .resolve import Setting
from .settings import Settings


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print the table, values as TOML writes them; or one JSON object with ``--json``."""
    table: tuple[Setting, ...] = args.table
    print(_as_json(table) if args.json else _as_text(table))
    return GOOD


def _as_json(table: tuple[Setting, ...]) -> str:
    held = {row.name: {"value": row.value, "source": row.kind, "where": row.where or None} for row in table}
    return json.dumps(held, indent=2, default=str)  # a path is its text


def _as_text(table: tuple[Setting, ...]) -> str:
    rows = [("setting", "value", "source")]
    rows += [(row.name, _as_toml(row.value), f"{row.kind} {_place(row)}".rstrip()) for row in table]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:<{widths[0]}}  {value:<{widths[1]}}  {source}" for name, value, source in rows)


def _place(row: Setting) -> str:
    return row.where.removeprefix(f"{row.kind} ")  # "--set book.orders_max=5" already says --set


def _as_toml(value: Any) -> str:
    if value is None:
        return '""'
    return json.dumps(value if isinstance(value, int) else str(value))  # int or bool; the rest is text
