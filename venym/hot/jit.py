"""The only place that decorates.

    hot       a loop, or a function called from Python
    small     a helper that must vanish into its caller
    step      a stage's step: one call site, inlined by LLVM
    plug_in   a function chosen at start, typed by its signature

Flags are spelled out: numba leaves them out of its own cache key, and a callee compiled inside a caller inherits the
caller's, so an unspelled flag would make compiled code depend on call order. `_nrt=False` emits no reference counts,
and what would allocate does not compile.
"""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit, types
from numba.core import config, event
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.core.registry import CPUDispatcher

from .cache import StoreCache

BOUNDSCHECK = bool(config.BOUNDSCHECK)  # type: ignore[attr-defined]
PLAIN = bool(config.DISABLE_JIT)  # type: ignore[attr-defined]

OPTIONS: dict[str, Any] = dict(
    nogil=True,
    _nrt=False,
    error_model="numpy",  # x / 0 is inf, not a branch that raises
    boundscheck=BOUNDSCHECK,
    fastmath=False,  # the same numbers under every plan, and in plain Python
)

# Contexts hold tuples of plug-ins; numba calls functions as values experimental, once a process. Tests hold it to it.
warnings.filterwarnings("ignore", "First-class function type", NumbaExperimentalFeatureWarning)

F = TypeVar("F", bound=Callable[..., Any])


def _compiled(function: F, **options: Any) -> F:
    made = njit(**OPTIONS, **options)(function)
    if not PLAIN:
        made._cache = StoreCache(function)
    return cast(F, made)


def hot(function: F) -> F:
    """Compile a loop, or what Python calls."""
    return _compiled(function)


def small(function: F) -> F:
    """Compile a helper into its caller. Inlined by numba, not LLVM: typed once a caller instead of compiled once a
    type, which halves a cold start; the machine code is as fast."""
    return _compiled(function, inline="always")


def step(function: F) -> F:
    """Compile a stage's step, or a larger helper with few call sites, into its caller by LLVM; a call would pass every
    array as seven words."""
    return _compiled(function, forceinline=True)


class PlugIn(CPUDispatcher):
    """A function chosen at start. numba types it by its signature, not by its identity, so every context that holds
    one has the same type and the loop that calls it is compiled once. Called through a pointer; an exception inside
    reaches the caller."""

    @property
    def _numba_type_(self) -> Any:
        return types.FunctionType(self.nopython_signatures[0])


def plug_in(signature: Any) -> Callable[[F], F]:
    """Compile for this signature, now and only now: a wrong argument is an error, never a silent recompile."""

    def decorate(function: F) -> F:
        if PLAIN:
            return function
        made: Any = PlugIn(py_func=function, targetoptions=dict(OPTIONS, nopython=True))
        made._cache = StoreCache(function)
        made.compile(signature)
        made.disable_compile()
        return cast(F, made)

    return decorate


class Compiles(event.Listener):
    """Counts what numba compiles from its construction on: after a warm start there must be nothing.

    `names` lists the functions, in order.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        event.register("numba:compile", self)

    def on_start(self, event: Any) -> None:
        self.names.append(str(event.data["dispatcher"]))

    def on_end(self, event: Any) -> None:
        pass

    def close(self) -> None:
        event.unregister("numba:compile", self)


class FirstCompile(event.Listener):
    """Calls `tell` once, when numba begins to compile something: on a warm start never."""

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell: Callable[[], None] | None = tell
        event.register("numba:compile", self)

    def on_start(self, event: Any) -> None:
        if self._tell is not None:
            self._tell()
            self._tell = None

    def on_end(self, event: Any) -> None:
        pass
