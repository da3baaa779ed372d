"""Each of the three runs of the tests is what it says: as shipped, with bounds checks, not compiled."""

import os

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

from tests.conftest import PLAIN as PLAIN_TOO
from tests.skips import ROOT
from venym.hot.jit import hot

BOUNDSCHECK = os.environ.get("NUMBA_BOUNDSCHECK") == "1"
PLAIN = os.environ.get("NUMBA_DISABLE_JIT") == "1"


@hot
def item(octets, index):
    return octets[index]


@pytest.mark.plain
def test_only_the_plain_run_does_not_compile() -> None:
    assert isinstance(item, Dispatcher) is not PLAIN


@pytest.mark.plain
def test_only_a_checked_or_plain_run_sees_an_index_past_the_end() -> None:
    octets = np.arange(8, dtype=np.uint8)[:4]  # one past the view is inside the memory
    if BOUNDSCHECK or PLAIN:
        with pytest.raises(IndexError):
            item(octets, 4)
    else:
        assert item(octets, 4) == 4


def test_what_is_to_run_uncompiled_exists() -> None:
    assert [path for path in PLAIN_TOO if not (ROOT / path).exists()] == []
