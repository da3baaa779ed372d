"""The decorators: nothing allocates, numbers are numpy's, a plug-in takes its signature and no other."""

import math
from typing import Any

import numpy as np
import pytest
from numba import njit, typeof, types
from numba.core.errors import NumbaError

from venym.hot import jit
from venym.hot.cache import ROOT, CacheWarning
from venym.hot.jit import PLAIN, Compiles, FirstCompile, hot, inner, plug_in, small, step

pytestmark = pytest.mark.skipif(PLAIN, reason="needs the compiler")


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test compiles anew."""
    monkeypatch.setattr(ROOT, "_path", None)
    monkeypatch.setattr(ROOT, "_chosen", True)


def makes_an_array(count):
    return np.zeros(count).sum()


def makes_a_list(count):
    held = [count]
    held.append(count)
    return len(held)


def makes_a_temporary(array):
    array[:] = array + 1


def raises_a_value(value):
    raise ValueError("value", value, str(value))


ALLOCATING = [(makes_an_array, 4), (makes_a_list, 4), (makes_a_temporary, np.zeros(4)), (raises_a_value, 4)]


@pytest.mark.parametrize("decorate", [hot, small, step])
@pytest.mark.parametrize("function, argument", ALLOCATING)
def test_what_allocates_does_not_compile(decorate: Any, function: Any, argument: Any) -> None:
    with pytest.raises((NumbaError, RuntimeError)):
        decorate(function)(argument)


@pytest.mark.parametrize("function, argument", [ALLOCATING[0], ALLOCATING[1], ALLOCATING[3]])  # the third takes long
def test_it_would_compile_with_reference_counts(function: Any, argument: Any) -> None:
    """So it is that which the test above sees refused."""
    njit(**{**jit.OPTIONS, "_nrt": True})(function).compile((typeof(argument),))


def test_an_inner_function_is_called_by_compiled_code_only() -> None:
    @inner
    def one_more(a):
        return a + 1

    @hot
    def twice_one_more(a):
        return 2 * one_more(a)

    assert twice_one_more(3) == 8
    with pytest.raises(TypeError, match="one_more is called by compiled code only"):
        one_more(3)  # there is a machine code for it by now


def test_numbers_are_numpys() -> None:
    @hot
    def quotient(a, b):
        return a / b

    @hot
    def is_nan(a):
        return math.isnan(a)

    assert quotient(1.0, 0.0) == math.inf and math.isnan(quotient(0.0, 0.0))
    assert is_nan(math.nan) and not is_nan(1.0), "a guard against NaN is not optimised away"


def test_every_flag_is_spelled_out() -> None:
    """A callee compiled inside a caller inherits what is not spelled."""
    assert set(jit.OPTIONS) == {"nogil", "_nrt", "error_model", "boundscheck", "fastmath"}
    for decorate in (hot, small, step, inner):
        made: Any = decorate(makes_a_list)
        assert jit.OPTIONS.items() <= made.targetoptions.items()


def test_views_slices_and_records_are_allowed() -> None:
    @hot
    def clear(block, first, last):
        block[first:last] = 0
        part = block[first:]
        return part[0]

    block = np.arange(10)
    assert clear(block, 2, 5) == 0
    assert block.tolist() == [0, 1, 0, 0, 0, 5, 6, 7, 8, 9]


def test_a_plug_in_is_compiled_for_its_signature_at_once_and_for_no_other() -> None:
    compiles = Compiles()

    @plug_in(types.int64(types.int64))
    def decide(value):
        return value + 1

    assert len(compiles.names) == 1 and "decide" in compiles.names[0]
    assert decide(4) == 5
    with pytest.raises(TypeError):
        decide("four")
    with pytest.raises(TypeError):
        decide(np.zeros(3))
    assert len(compiles.names) == 1
    compiles.close()


def test_a_plug_in_that_does_not_fit_its_signature_fails_where_it_is_defined() -> None:
    with pytest.raises(NumbaError):

        @plug_in(types.int64(types.int64))
        def decide(value):
            return value.shares


def test_compiles_counts_until_it_is_closed() -> None:
    compiles = Compiles()

    @hot
    def one(value):
        return value

    one(1), one(2)
    assert len(compiles.names) == 1
    one(1.0)
    assert len(compiles.names) == 2
    compiles.close()
    one(1j)
    assert len(compiles.names) == 2


def test_keeping_nothing_warns_of_nothing(recwarn: pytest.WarningsRecorder) -> None:
    @hot
    def one(value):
        return value

    one(1)
    assert not [w for w in recwarn if issubclass(w.category, CacheWarning)]


def test_the_first_compile_is_told_once():
    told = []
    listener = FirstCompile(lambda: told.append(1))
    for signature in ("int64(int64)", "float64(float64)"):
        hot(lambda value: value + 1).compile(signature)
    assert told == [1] and listener._tell is None
