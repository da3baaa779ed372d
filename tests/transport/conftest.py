"""What the tests of captures may ask for."""

import os
import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded data beside the project; tests that want it are skipped where it is not."""
    folder = Path(os.environ.get("VENYM_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip("needs ../shared")
    return folder


@pytest.fixture(scope="session")
def tshark() -> str:
    """The path of tshark."""
    path = shutil.which("tshark")
    if path is None:
        pytest.skip("needs tshark")
    return path
