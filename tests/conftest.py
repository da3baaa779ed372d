"""What every test may ask for. Each need is a row of `tests.skips.NEEDS`; where it is missing, the test skips."""

import os
import shutil
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from tests.skips import ROOT, SHARED, pytest_addoption, pytest_configure, require

__all__ = ["pytest_addoption", "pytest_configure"]  # found here by pytest

# Before anything imports numba: tests compile into a folder of the repository's, never in silence into the user's.
os.environ.setdefault("NUMBA_CACHE_DIR", str(ROOT / ".venym_cache"))

# An example may be the first to compile something. Under CI hypothesis takes a profile of its own, without chance.
hypothesis_settings.register_profile("here", deadline=None)
if "CI" not in os.environ:
    hypothesis_settings.load_profile("here")

pytest_plugins = ["pytester"]

# Run uncompiled too, beside what is marked `plain` itself: all of these together take a minute.
PLAIN = (
    "tests/hot/test_arena.py",
    "tests/hot/test_duty_cycle.py",
    "tests/hot/test_histogram.py",
    "tests/hot/test_intrinsics.py",
    "tests/hot/test_layout.py",
    "tests/hot/test_libc.py",
    "tests/hot/test_link.py",
    "tests/hot/test_pages.py",
    "tests/stages/test_book.py",
    "tests/stages/test_decoder.py",
    "tests/stages/test_itch.py",
    "tests/transport/test_udp.py",
    "tests/wire/",
)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith(PLAIN):
            item.add_marker("plain")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded data and reference facts beside the repository, or where VENYM_SHARED says."""
    require("needs ../shared")
    return SHARED


@pytest.fixture(scope="session")
def tshark() -> str:
    """The path of tshark."""
    require("needs tshark")
    return str(shutil.which("tshark"))


@pytest.fixture(scope="session")
def systemd_analyze() -> str:
    """The path of systemd-analyze."""
    require("needs systemd-analyze")
    return str(shutil.which("systemd-analyze"))


@pytest.fixture(scope="session")
def needs_root() -> None:
    """For tests of what only root may do."""
    require("needs root")
