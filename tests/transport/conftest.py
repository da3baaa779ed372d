"""What the tests of captures share."""

from pathlib import Path

import pytest


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An empty folder."""
    return tmp_path
