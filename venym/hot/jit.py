"""The only place that decorates.

    hot       a loop, or a function called from Python
    small     a helper that must vanish into its caller
    step      a stage's step, or a helper that Python calls too: few call sites, inlined by LLVM
    inner     a larger helper with few call sites, inlined by LLVM, that only compiled code calls
    apart     a helper that is long and seldom needed, inlined if LLVM wants
    plug_in   a function chosen at start, typed by its signature

Flags are spelled out: numba leaves them out of its own cache key, and a callee compiled inside a caller inherits the
caller's, so an unspelled flag would make compiled code depend on call order. `_nrt=False` emits no reference counts,
and what would allocate does not compile.
"""

import warnings
from collections.abc import Callable
from typing import Any, TypeVar, cast

from llvmlite.binding import Linkage
from numba import types
from numba.core import config, event
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
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


class Compiled(CPUDispatcher):
    """Compiled once for each tuple of types. numba would compile a function anew for each constant it is called with,
    a hundred times for a hundred FIX tags."""

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return super().get_call_template(
            tuple(types.unliteral(kind) for kind in args), {name: types.unliteral(kind) for name, kind in kws.items()}
        )


class Inlined(Compiled):
    """What only compiled code may call: there is no way in for Python, which would jump to address 0."""

    def add_overload(self, cres: Any) -> None:
        self.overloads[tuple(cres.signature.args)] = cres

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        raise TypeError(f"{self.py_func.__qualname__} is called by compiled code only")


def _compiled(function: F, **options: Any) -> F:
    if PLAIN:
        return function
    made: Any = Compiled(py_func=function, targetoptions=dict(OPTIONS, nopython=True, **options))
    made._cache = StoreCache(function)
    return cast(F, made)


def _inlined(function: F, **options: Any) -> F:
    """It is kept with its callers, not by itself."""
    if PLAIN:
        return function
    no_way_in = dict(no_cpython_wrapper=True, no_cfunc_wrapper=True)
    made: Any = Inlined(py_func=function, targetoptions=dict(OPTIONS, nopython=True, **no_way_in, **options))
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


def inner(function: F) -> F:
    """As `step`, but Python cannot call it. The way in for Python, which takes apart every array of a context, takes
    longer to compile than the function."""
    return _inlined(function, forceinline=True)


def apart(function: F) -> F:
    """As `inner`, but whether it is inlined is left to LLVM: for what is long and seldom needed."""
    return _inlined(function)


class InlinedLibrary(JITCodeLibrary):
    """The code of one function and of all it calls. numba optimises it and makes machine code of it at every level of
    calls; for what is inlined into its caller anyhow, and cannot be called otherwise, that is work thrown away: a
    pipeline of several hundred steps would compile for minutes."""

    def _finalize_final_module(self) -> None:
        if self._is_step():
            self._finalized = True
        else:
            super()._finalize_final_module()

    def _optimize_final_module(self) -> None:
        if not self._is_step():
            super()._optimize_final_module()

    def _is_step(self) -> bool:
        """Is there no way into this library but from compiled code that it is linked with? One that is loaded, whose
        code is there already, has a way in."""
        return self._shared_module is None and not any(
            f.linkage == Linkage.external and f.name.startswith(("cpython.", "cfunc."))
            for f in self._final_module.functions
        )


def _set_env(codegen: Any, name: str, env: Any, set_env: Any = JITCPUCodegen.set_env) -> None:
    """Python's side of a function, which one that has no machine code lacks."""
    if codegen._engine.is_symbol_defined(name):
        set_env(codegen, name, env)


JITCPUCodegen._library_class = InlinedLibrary
setattr(JITCPUCodegen, "set_env", _set_env)  # noqa: B010  # a method, as mypy sees it


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
