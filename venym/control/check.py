"""``venym check``: every setting, the value it settled on and where that came from."""

import argparse
import json

from .errors import GOOD
from .resolve import Setting
from .settings import Settings
from .toml import source, toml_value

VALUE_COLUMNS_MAX = 24  # a longer value pushes its own row's source aside, not everybody's


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
    rows += [(row.name, toml_value(row.value), source(row.kind, row.where)) for row in table]
    name_columns = max(len(name) for name, _, _ in rows)
    fitting = [len(value) for _, value, _ in rows if len(value) <= VALUE_COLUMNS_MAX]
    return "\n".join(f"{name:<{name_columns}}  {value:<{max(fitting)}}  {where}" for name, value, where in rows)
