"""Files and functions stay short enough to read, modules say what they are, and nothing is called by a word that says
nothing."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES_MAX = 400
FUNCTION_LINES_MAX = 70
EMPTY_WORDS = re.compile(r"manager|handler|(^|_)utils?(_|$)|util(s)?$", re.IGNORECASE)

MODULES = sorted(
    path.relative_to(ROOT).as_posix() for folder in ("venym", "tests") for path in (ROOT / folder).rglob("*.py")
)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_short_described_and_well_named(module: str) -> None:
    text = (ROOT / module).read_text("utf-8")
    tree = ast.parse(text)
    assert text.count("\n") <= FILE_LINES_MAX
    assert not text or ast.get_docstring(tree), "no docstring"
    names = [Path(module).stem]
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.append(node.name)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or 0) - node.lineno + 1
            assert lines <= FUNCTION_LINES_MAX, f"{node.name} has {lines} lines"
    assert [name for name in names if EMPTY_WORDS.search(name)] == []
