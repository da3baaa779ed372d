"""Where compiled code is kept: one file an overload, each proving itself.

    ROOT/KEY/MODULE.FUNCTION-DIGEST.code      sha256 of what follows (32 bytes) | pickle of (signature, machine code)

numba's own cache watches only the file that defines a function, leaves the compile flags out of its key, spreads
an entry over an index and a data file that two processes can mix up, ends the process when LLVM meets a damaged
one, and falls back in silence to another folder. Here:

- KEY hashes every source that compiled code can come from, the versions of numba, llvmlite, numpy and Python, and
  every ``NUMBA_*`` setting. A function outside the package (a user's strategy, a test's toy) gets a KEY of its own:
  the package's plus every ``.py`` beside it, so editing a strategy compiles the strategy and nothing else.
- An entry is written aside and renamed, so readers and writers of any number of processes never see half of one.
- An entry whose checksum does not match is compiled again and overwritten.
- A folder that cannot be written is still read; a root that cannot be used at all is announced once
  (:class:`CacheWarning`) and nothing is kept.

The folder is looked up when the first function is compiled, not when it is decorated.
"""

import hashlib
import os
import pickle
import sys
import uuid
import warnings
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba.core.caching import Cache, CompileResultCacheImpl
from numba.core.serialize import dumps

PACKAGE = Path(__file__).resolve().parent.parent
CONTROL_PLANE = ("control", "cli.py", "__main__.py")  # plain Python: no compiled code can come from it
DIGEST_BYTES = 32


class CacheWarning(UserWarning):
    """Compiled code cannot be kept, or an entry had to be thrown away."""


class Root:
    """The folder under which everything is kept, chosen once; `None` as the path means: keep nothing."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._chosen = False

    def choose(self, path: Path | None) -> None:
        """Use this folder from now on (a setting, a test), whatever the environment says."""
        self._path, self._chosen = path, True

    @property
    def path(self) -> Path | None:
        if not self._chosen:
            self.choose(_usable(_default_root()))
        return self._path


ROOT = Root()


def _default_root() -> Path:
    """NUMBA_CACHE_DIR (what a unit file sets), else the user's cache folder."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "venym"


def _usable(root: Path) -> Path | None:
    """The folder if it can be written or at least read; announces what it cannot do."""
    probe = root / f".probe.{uuid.uuid4().hex}"
    try:
        root.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"")  # os.access tells root that everything can be written
        probe.unlink()
        return root
    except OSError as error:
        if root.is_dir() and any(root.iterdir()):
            warnings.warn(
                f"compile cache {root} is read only: what it lacks is compiled at every start ({error})",
                CacheWarning,
                stacklevel=2,
            )
            return root
        warnings.warn(
            f"compile cache {root} cannot be used: everything is compiled at every start ({error})",
            CacheWarning,
            stacklevel=2,
        )
        return None


def _hash_sources(folder: Path, paths: list[Path], salt: str) -> str:
    digest = hashlib.sha256(salt.encode())
    for path in sorted(paths):
        digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:24]


@cache
def package_key() -> str:
    """Hash of all that compiled code of the package depends on, as 24 hexadecimal digits."""
    facts = [sys.version] + [f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy")]
    facts += [f"{k}={v}" for k, v in sorted(os.environ.items()) if k.startswith("NUMBA_") and k != "NUMBA_CACHE_DIR"]
    sources = [p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in CONTROL_PLANE]
    return _hash_sources(PACKAGE, sources, "\0".join(facts))


@cache
def key_of(source: str) -> str:
    """The key for functions defined in the file `source`: the package's, or one of the file's folder."""
    path = Path(source).resolve()
    if path.is_relative_to(PACKAGE):
        return package_key()
    return _hash_sources(path.parent, list(path.parent.glob("*.py")), package_key() + str(path.parent))


class _Reducer(CompileResultCacheImpl):
    """numba's own way to take a compile result apart and build it again, without its search for a folder."""

    def __init__(self, py_func: Any) -> None:
        self._lineno = py_func.__code__.co_firstlineno
        self._locator = self
        self._py_file = py_func.__code__.co_filename

    def ensure_cache_path(self) -> None:
        """numba asks before it saves; the folder is made when an entry is written."""


class _Entries:
    """The entries of one function: what numba calls a cache file."""

    def __init__(self, py_func: Any) -> None:
        self._source = py_func.__code__.co_filename
        self._name = f"{py_func.__module__}.{py_func.__qualname__}".replace("<", "").replace(">", "")

    def _path(self, root: Path, key: Any) -> Path:
        return root / key_of(self._source) / f"{self._name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.code"

    def load(self, key: Any) -> Any:
        """What was saved under `key` (signature, target, bytecode), or None."""
        if ROOT.path is None:
            return None
        path = self._path(ROOT.path, key)
        try:
            held = path.read_bytes()
        except OSError:
            return None
        digest, body = held[:DIGEST_BYTES], held[DIGEST_BYTES:]
        if hashlib.sha256(body).digest() != digest:
            warnings.warn(f"compile cache: {path} is damaged and is compiled again", CacheWarning, stacklevel=2)
            return None
        saved_key, data = pickle.loads(body)
        return data if saved_key == key else None  # types whose names are alike differ here

    def save(self, key: Any, data: Any) -> None:
        if ROOT.path is None:
            return
        path = self._path(ROOT.path, key)
        body = dumps((key, data))
        partial = path.with_name(f".{uuid.uuid4().hex}.partial")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(hashlib.sha256(body).digest() + body)
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            warnings.warn(f"compile cache: {path} cannot be written ({error})", CacheWarning, stacklevel=2)

    def flush(self) -> None:
        """numba's recompile() asks for it; an entry is overwritten when it is saved again."""


class StoreCache(Cache):
    """Takes the place of numba's FunctionCache on a dispatcher."""

    def __init__(self, py_func: Any) -> None:
        self._name = repr(py_func)
        self._py_func = py_func
        self._impl = _Reducer(py_func)
        self._cache_path = ""
        self._cache_file = _Entries(py_func)
        self.enable()
