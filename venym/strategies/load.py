"""Loader: a user's file -> the three calls of a strategy, compiled, and what it may be set to.

    FILE.py ──read, run──▶ PARAMS, TIMER_NS, decide ... ──check──▶ compile for the one signature each ──▶ Loaded

The compiled calls are kept beside those of the package, under a key of the file's own folder: a second start compiles
nothing, and a changed strategy itself only. Files beside it can be imported from it.
"""

import ast
import hashlib
import importlib.util
import inspect
import linecache
import math
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, NamedTuple

from numba import from_dtype

from ..hot.jit import plug_in
from ..records import BOOK_EVENT, INTENT, ORDER_EVENT, SIGNAL
from .interface import DECIDE, ON_EXECUTION, ON_TIMER, PARAMS_MAX, POSITION, WORKING_ORDER

TIMER_NS_MIN = 1_000
ARGUMENTS = {
    "decide": ("params", "state", "market", "signal", "orders", "position", "intents"),
    "on_execution": ("params", "state", "execution", "market", "orders", "position", "intents"),
    "on_timer": ("params", "state", "clock_ns", "market", "orders", "position", "intents"),
}
OWN = ("state", "intents")  # of these, what a strategy may write to
SIGNATURES = {"decide": DECIDE, "on_execution": ON_EXECUTION, "on_timer": ON_TIMER}


class StrategyError(Exception):
    """A strategy cannot be used; the message says file, line if there is one, and what."""


class StrategyMissing(StrategyError):
    """There is no such file, or it cannot be read."""


class StrategySyntax(StrategyError):
    """The file is no Python."""


class StrategyBroken(StrategyError):
    """The file raises while it is run to find its functions."""


class StrategyIncomplete(StrategyError):
    """A call is missing, or a name that belongs to one."""


class StrategyArguments(StrategyError):
    """A call does not take what it is given."""


class StrategyWrites(StrategyError):
    """A call writes to what it is shown."""


class StrategyParams(StrategyError):
    """PARAMS is no table of names and numbers, or a name or value set is none of it."""


class StrategyUncompilable(StrategyError):
    """The compiler refuses a call."""


class Loaded(NamedTuple):
    """A strategy ready to run. params: name -> default, in order; timer_ns: 0 without a timer."""

    name: str
    path: str
    params: dict[str, float]
    timer_ns: int
    decide: Callable[..., None]
    on_execution: Callable[..., None]
    on_timer: Callable[..., None]

    def values(self, changed: Mapping[str, float] | None = None) -> tuple[float, ...]:
        """Every param's value, in order: as changed, or the default. Raises StrategyParams for a name that is none of
        them and for a value that is no finite number."""
        changed = changed or {}
        for name, value in changed.items():
            if name not in self.params:
                close = get_close_matches(name, self.params, 1)
                known = ", ".join(self.params) or "none"
                guess = f"; did you mean {close[0]!r}?" if close else ""
                raise StrategyParams(f"{self.path}: no param is called {name!r} (there are: {known}){guess}")
            if not _is_number(value):
                raise StrategyParams(f"{self.path}: param {name} is {value!r}, not a finite number")
        return tuple(float(changed.get(name, default)) for name, default in self.params.items())


@plug_in(DECIDE)
def decide_nothing(params, state, market, signal, orders, position, intents):
    pass


@plug_in(ON_EXECUTION)
def ignore_execution(params, state, execution, market, orders, position, intents):
    pass


@plug_in(ON_TIMER)
def ignore_timer(params, state, clock_ns, market, orders, position, intents):
    pass


IGNORED = {"decide": decide_nothing, "on_execution": ignore_execution, "on_timer": ignore_timer}


def load(path: str | Path) -> Loaded:
    """The strategy in this file. Raises a StrategyError of the kind that names what is wrong."""
    path = Path(path).absolute()
    code, tree = _parse(path)
    module = _run(path, code)
    params = _params_of(path, module)
    functions = {name: _function_of(path, module, name) for name in ARGUMENTS}
    if functions["decide"] is None:
        raise StrategyIncomplete(f"{path}: there is no function decide({', '.join(ARGUMENTS['decide'])})")
    timer_ns = _timer_of(path, module, functions["on_timer"] is not None)
    for name, function in functions.items():
        if function is not None:
            _check_call(path, tree, name, function)
    made = {
        name: IGNORED[name] if function is None else _compile(path, tree, name, function)
        for name, function in functions.items()
    }
    return Loaded(path.stem, str(path), params, timer_ns, made["decide"], made["on_execution"], made["on_timer"])


def _parse(path: Path) -> tuple[CodeType, ast.Module]:
    try:
        source = path.read_bytes()
    except OSError as error:
        raise StrategyMissing(f"{path}: {error.strerror or error}") from error
    try:
        tree = ast.parse(source, str(path))
        return compile(source, str(path), "exec", dont_inherit=True), tree
    except SyntaxError as error:
        raise StrategySyntax(_located(path, error.lineno or 1, f"{error.msg}")) from error
    except ValueError as error:  # a null character
        raise StrategySyntax(f"{path}: {error}") from error


def _run(path: Path, code: CodeType) -> ModuleType:
    """The file's module. Its name is the same at every start: compiled code is kept under it."""
    name = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec) if spec else ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module
    linecache.checkcache(str(path))
    try:
        with _importable(path.parent):
            exec(code, module.__dict__)
    except Exception as error:  # whatever a user's file may raise
        del sys.modules[name]
        line = next((line for file, line in _frames(error) if file == str(path)), 1)
        raise StrategyBroken(_located(path, line, f"{type(error).__name__}: {error}")) from error
    return module


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    """Files of the folder can be imported, unless something installed has their name; each strategy has its own."""
    before = set(sys.modules)
    sys.path.append(str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))
        for name in set(sys.modules) - before:
            if Path(getattr(sys.modules[name], "__file__", None) or "").is_relative_to(folder):
                del sys.modules[name]


def _frames(error: Exception) -> list[tuple[str, int]]:
    """Files and lines of the traceback, innermost first."""
    found, trace = [], error.__traceback__
    while trace is not None:
        found.append((trace.tb_frame.f_code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    return found[::-1]


def _params_of(path: Path, module: ModuleType) -> dict[str, float]:
    params = getattr(module, "PARAMS", {})
    if not isinstance(params, dict):
        raise StrategyParams(f"{path}: PARAMS is {type(params).__name__}, not a dict of names and defaults")
    if len(params) > PARAMS_MAX:
        raise StrategyParams(f"{path}: PARAMS has {len(params)} names, {PARAMS_MAX} are possible")
    for name, value in params.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise StrategyParams(f"{path}: PARAMS: {name!r} is no name")
        if not _is_number(value):
            raise StrategyParams(f"{path}: PARAMS: {name} is {value!r}, not a finite number")
    return {name: float(value) for name, value in params.items()}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _function_of(path: Path, module: ModuleType, name: str) -> Callable[..., None] | None:
    held = getattr(module, name, None)
    function = getattr(held, "py_func", held)  # decorated by himself: no matter
    if function is not None and not inspect.isfunction(function):
        raise StrategyIncomplete(f"{path}: {name} is {type(held).__name__}, not a function")
    return function


def _timer_of(path: Path, module: ModuleType, has_call: bool) -> int:
    timer_ns = getattr(module, "TIMER_NS", None)
    if timer_ns is None and not has_call:
        return 0
    if timer_ns is None or not has_call:
        there, lacking = ("on_timer", "TIMER_NS") if has_call else ("TIMER_NS", "on_timer")
        raise StrategyIncomplete(f"{path}: there is {there}, but no {lacking}")
    if not isinstance(timer_ns, int) or isinstance(timer_ns, bool) or timer_ns < TIMER_NS_MIN:
        raise StrategyIncomplete(f"{path}: TIMER_NS is {timer_ns!r}, not a whole number of at least {TIMER_NS_MIN}")
    return timer_ns


def _check_call(path: Path, tree: ast.Module, name: str, function: Any) -> None:
    """Raise unless the function takes the call's arguments, by place, and writes to none that is not its own."""
    code, line = function.__code__, function.__code__.co_firstlineno
    wanted = ARGUMENTS[name]
    found = code.co_varnames[: code.co_argcount]
    if (
        len(found) != len(wanted)
        or code.co_kwonlyargcount
        or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    ):
        said = f"{name} takes ({', '.join(wanted)}), not {inspect.signature(function)}"
        raise StrategyArguments(_located(path, line, said))
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        raise StrategyArguments(_located(path, line, f"{name} yields or awaits; a call returns at once"))
    shown = {mine: theirs for mine, theirs in zip(found, wanted, strict=True) if theirs not in OWN}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == name:
            for line, target in _written(node):
                if target in shown:
                    said = f"{name} writes to {target}, which it is only shown"
                    raise StrategyWrites(_located(path, line, said))


def _written(function: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Line and variable of every store into a part of something: ``a.b = ``, ``a[0].c += ``."""
    for node in ast.walk(function):
        if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
            inner: ast.expr = node
            while isinstance(inner, ast.Attribute | ast.Subscript):
                inner = inner.value
            if isinstance(inner, ast.Name):
                yield node.lineno, inner.id


def _compile(path: Path, tree: ast.Module, name: str, function: Any) -> Callable[..., None]:
    try:
        return plug_in(SIGNATURES[name])(function)
    except Exception as error:  # numba refuses in many ways, some of them its own accidents
        line, said = explain(path, tree, function, error)
        raise StrategyUncompilable(_located(path, line, f"{name} does not compile: {said}")) from error


_KINDS = [("SIGNAL", SIGNAL), ("BOOK_EVENT", BOOK_EVENT), ("ORDER_EVENT", ORDER_EVENT), ("INTENT", INTENT),
          ("WORKING_ORDER", WORKING_ORDER), ("POSITION", POSITION)]  # fmt: skip
_TYPE_NAMES = [(str(from_dtype(kind)), name) for name, kind in _KINDS]  # SIGNAL holds a BOOK_EVENT: it comes first
_ALLOCATES = ("NRT required but not enabled", "Only accept returning of array passed into the function")
_NOT_ESSENCE = ("Failed in nopython mode pipeline", "During:", "File ", "- Resolution failure", "raised from")


def explain(path: Path, tree: ast.Module, function: Any, error: Exception) -> tuple[int, str]:
    """The line of the user's file that the compiler stumbled over, and its essence in one sentence."""
    text = str(error)
    if isinstance(error, KeyError) and error.args:  # a record's field: the compiler has lost the place
        name = str(error.args[0])
        lines = [n.lineno for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == name]
        return min(lines, default=function.__code__.co_firstlineno), f"a record has no field {name!r}"
    for long, short in _TYPE_NAMES:
        text = text.replace(long, short)
    return _line_of(path, function, text, error), _essence(text)


def _line_of(path: Path, function: Any, text: str, error: Exception) -> int:
    place = getattr(error, "loc", None)
    if place is not None and place.filename == str(path) and place.line:
        return int(place.line)
    for pattern in (rf"at {re.escape(str(path))} \((\d+)\)", rf"\b{re.escape(path.name)}:(\d+)\)"):
        if found := re.findall(pattern, text):
            return int(found[-1])
    return function.__code__.co_firstlineno


def _essence(text: str) -> str:
    if any(sign in text for sign in _ALLOCATES):
        return "it allocates memory (an array, list, text, or an exception that carries a value)"
    if plain := re.search(r"Untyped global name '(\w+)'.*class 'function'", text):
        return f"{plain[1]} is plain Python; decorate it with small, outside of the call"
    if unfit := re.search(r"^Cannot bind .* to signature '(\([^']*\))' due to \"TypeError: (.*)\"", text, re.MULTILINE):
        return f"a helper takes {unfit[1]}: {unfit[2]}"
    if re.search(r"^No conversion from .* to none for '\$\w+return_value", text, re.MULTILINE):
        return "it returns a value; what it wants it asks for through intents"
    lines = [line.strip() for line in text.splitlines()]
    told = [line for line in lines if line and not line.startswith(_NOT_ESSENCE)] or ["no reason is given"]
    said = told[0]
    if said.endswith("found for signature:") and len(told) > 1:
        said = f"{said.removesuffix(' found for signature:')} for {told[1].removeprefix('>>> ')}"
    return re.sub(r"Function\(<built-in function (\w+)>\)", r"\1", said)


def _located(path: Path, line: int, said: str) -> str:
    """file:line: what, and the line itself."""
    code = linecache.getline(str(path), line).strip()
    return f"{path}:{line}: {said}" + (f"\n    {code}" if code else "")
