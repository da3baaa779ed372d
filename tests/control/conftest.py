"""Configuration files for a test."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def toml(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a configuration file; returns its path."""

    def write(text: str) -> Path:
        path = tmp_path / "venym.toml"
        path.write_text(text, "utf-8")
        return path

    return write
