"""Fixtures for the tests that start processes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hot import child
from tests.hot.starts import Starts
from tests.hot.toy_program import FACTOR, TOY


@pytest.fixture(scope="module")
def starts() -> Iterator[Starts]:
    made = Starts()
    yield made
    made.close()


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that others can read, with a program in toy/ and nothing in cache/ yet."""
    with child.public_folder() as folder:
        (folder / "toy").mkdir()
        (folder / "toy/toy.py").write_text(TOY)
        (folder / "toy/factor.py").write_text(FACTOR)
        yield folder
