"""Imports go one way.

    hot <- records, metrics <- wire <- transport <- models <- strategies <- stages <- pipeline <- control <- cli
           venue: hot, records, metrics and wire only; it is the other side and speaks in bytes; pipeline runs it

Only `control` and what lies right of it may use structlog, zmq, pydantic, logging or asyncio. Read from the sources, so
that an import inside a function counts too.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

ORDER = [
    "hot",
    "records",
    "metrics",
    "wire",
    "transport",
    "models",
    "strategies",
    "stages",
    "pipeline",
    "control",
    "cli",
]
ALLOWED = {name: set(ORDER[: place + 1]) for place, name in enumerate(ORDER)}
ALLOWED["records"] -= {"metrics"}
ALLOWED["metrics"] -= {"records"}
ALLOWED["strategies"] -= {"models"}
ALLOWED["venue"] = {"venue", "hot", "records", "metrics", "wire"}
ALLOWED["pipeline"] |= {"venue"}
ALLOWED["control"] |= {"venue"}
ALLOWED["cli"] |= {"venue"}
ALLOWED["__main__"] = {"cli"}
ALLOWED["__init__"] = set()

CONTROL_PLANE = {"control", "cli", "__main__"}
CONTROL_PLANE_ONLY = {"structlog", "zmq", "pydantic", "pydantic_settings", "logging", "asyncio"}


def imported(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """(line, dotted name) of every import, relative ones resolved; of ``from a import b`` both ``a`` and ``a.b``."""
    here = list(path.relative_to(package.parent).with_suffix("").parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = here[: -node.level] if node.level else []
            module = ".".join(base + ([node.module] if node.module else []))
            yield from ((node.lineno, f"{module}.{alias.name}") for alias in node.names)


def violations(package: Path) -> list[str]:
    """``file:line: what it imports`` for each import against the rule."""
    found = []
    for path in sorted(package.rglob("*.py")):
        part = path.relative_to(package).parts[0].removesuffix(".py")
        for line, name in imported(path, package):
            top, _, rest = name.partition(".")
            inner = rest.partition(".")[0]
            is_part = (package / inner).is_dir() or (package / f"{inner}.py").is_file()
            wrong_way = top == package.name and is_part and inner not in ALLOWED.get(part, set())
            if wrong_way or (top in CONTROL_PLANE_ONLY and part not in CONTROL_PLANE):
                found.append(f"{path.relative_to(package.parent)}:{line}: {name}")
    return found


def test_every_import_of_the_package_goes_the_right_way() -> None:
    assert violations(ROOT / "venym") == []


def test_every_part_of_the_package_has_a_place_in_the_order() -> None:
    parts = {path.relative_to(ROOT / "venym").parts[0].removesuffix(".py") for path in (ROOT / "venym").rglob("*.py")}
    assert parts <= set(ALLOWED)


@pytest.mark.parametrize(
    ("path", "text", "wrong"),
    [
        ("hot/a.py", "import venym.wire.b", True),
        ("hot/a.py", "from venym import records", True),
        ("hot/a.py", "from .. import records", True),
        ("hot/a.py", "from ..records import PACKET", True),
        ("hot/a.py", "from .b import c", False),
        ("records.py", "from .hot.layout import record", False),
        ("records.py", "from .wire import b", True),
        ("wire/a.py", "def f():\n    from ..transport import c", True),
        ("transport/a.py", "from ..wire import b", False),
        ("stages/a.py", "from ..control.settings import Settings", True),
        ("stages/a.py", "import asyncio", True),
        ("wire/a.py", "from pydantic import BaseModel", True),
        ("wire/a.py", "import logging.handlers", True),
        ("venue/a.py", "from ..stages import book", True),
        ("venue/a.py", "from ..wire import b", False),
        ("control/a.py", "from ..venue import publisher", False),
        ("control/a.py", "import structlog", False),
        ("control/a.py", "from ..cli import main", True),
        ("control/a.py", "from .. import __version__", False),
        ("cli.py", "from .control.errors import USAGE", False),
        ("wire/a.py", "import logginglike, numpy", False),
    ],
)
def test_the_rule_itself(path: str, text: str, wrong: bool, tmp_path: Path) -> None:
    package = tmp_path / "venym"
    for part in [*ORDER, "venue"]:
        (package / part).mkdir(parents=True)
    (package / path).parent.mkdir(exist_ok=True)
    if path.count("/") == 0:
        (package / path.removesuffix(".py")).rmdir()
    (package / path).write_text(text)
    assert bool(violations(package)) is wrong
