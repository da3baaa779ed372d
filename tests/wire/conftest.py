"""What the tests of the wire may ask for."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of test data beside the project; tests that want it are skipped where it is not."""
    folder = Path(os.environ.get("VENYM_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("needs ../shared")
    return folder
