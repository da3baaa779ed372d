"""Where compiled code is kept: one file an overload, each proving itself.

    ROOT/KEY/MODULE.FUNCTION-DIGEST.code      sha256 of what follows (32 bytes) | pickle of (signature, machine code)

numba's own cache watches only the file that defines a function, leaves the compile flags out of its key, spreads
an entry over an index and a data file that two processes can mix up, ends the process when LLVM meets a damaged
one, and falls back in silence to another folder. Here:

- KEY hashes every source that compiled code can come from, the versions of numba, llvmlite, numpy and Python, and
  every setting of numba. A function outside the package (a user's strategy, a test's toy) gets a KEY of its own:
  the package's plus every ``.py`` beside it, so editing a strategy compiles the strategy and nothing else. A function
  without a source file (typed at a prompt) is not kept.
- An entry is written aside and renamed, so readers and writers of any number of processes never see half of one.
- An entry whose checksum does not match is compiled again and overwritten.
- An entry is code, and loading it runs it: only a regular file that root or this user owns and nobody else can write
  is loaded, and only from folders of the same owners that not everybody can write.
- A folder that cannot be written is still read; one that cannot be used at all is announced once
  (:class:`CacheWarning`) and nothing is kept.

The folder is looked up when the first function is compiled, not when it is decorated.
"""

import hashlib
import os
import pickle
import stat
import sys
import uuid
import warnings
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numba.core import config
from numba.core.caching import Cache, CompileResultCacheImpl
from numba.core.serialize import dumps

PACKAGE = Path(__file__).resolve().parent.parent
CONTROL_PLANE = ("control", "cli.py", "__main__.py")  # plain Python: no compiled code can come from it
MACHINE_SETTINGS = ("CACHE_DIR", "NUMBA_NUM_THREADS", "NUMBA_DEFAULT_NUM_THREADS")  # change no machine code
DIGEST_BYTES = 32


class CacheWarning(UserWarning):
    """Compiled code cannot be kept, or an entry had to be thrown away."""


def _warn(said: str) -> None:
    warnings.warn(f"compile cache {said}", CacheWarning, stacklevel=3)


def _distrusted(held: os.stat_result) -> str | None:
    """Why a file or folder may hold somebody else's code, or None."""
    if held.st_uid not in (0, os.geteuid()):
        return f"belongs to user {held.st_uid}"
    if stat.S_ISDIR(held.st_mode):
        open_to_all = held.st_mode & stat.S_IWOTH and not held.st_mode & stat.S_ISVTX
        return "can be written by everybody" if open_to_all else None
    if not stat.S_ISREG(held.st_mode):
        return "is no regular file"
    return "can be written by others" if held.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None


class Root:
    """The folder under which everything is kept, chosen once; what cannot be done with it is announced once."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self._chosen = False
        self._writable = False
        self._announced: set[Path] = set()

    def choose(self, path: Path | None) -> None:
        """Use this folder from now on (a setting, a test), whatever the environment says; None: keep nothing."""
        self._chosen = True
        self._announced.clear()
        self._path, self._writable = (None, False) if path is None else _opened(path.absolute())

    @property
    def path(self) -> Path | None:
        """The folder, or None when nothing is kept."""
        if not self._chosen:
            self.choose(_default_root())
        return self._path

    @property
    def writable(self) -> bool:
        """False when nothing is added: what is there is still read."""
        return self.path is not None and self._writable

    def folder(self, source: str) -> Path | None:
        """Where entries of functions defined in the file `source` lie, if anywhere."""
        if self.path is None or not Path(source).is_file():
            return None
        folder = self.path / key_of(source)
        try:
            reason = _distrusted(folder.stat())
        except OSError:
            return folder  # not there yet; what else is wrong shows when an entry is opened
        if reason is not None:
            self.announce(folder, f"{folder} is not used, for it {reason}")
            return None
        return folder

    def announce(self, folder: Path, said: str) -> None:
        """Warn, once a folder."""
        if folder not in self._announced:
            self._announced.add(folder)
            _warn(said)


ROOT = Root()


def _default_root() -> Path | None:
    """NUMBA_CACHE_DIR (what a unit file sets), else the user's cache folder."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    caches = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))
    if not caches.is_absolute():  # a user without a home
        _warn("has no place: everything is compiled at every start (set NUMBA_CACHE_DIR)")
        return None
    return caches / "venym"


def _opened(root: Path) -> tuple[Path | None, bool]:
    """The folder if it may and can be read, and whether it can be written."""
    try:
        root.mkdir(mode=0o755, parents=True, exist_ok=True)
        reason = _distrusted(root.stat())
        next(root.iterdir(), None)  # fails when it cannot be read
    except OSError as error:
        reason = str(error)
    if reason is not None:
        _warn(f"{root} cannot be used: everything is compiled at every start ({reason})")
        return None, False
    probe = root / f".probe.{uuid.uuid4().hex}"
    try:
        probe.write_bytes(b"")  # os.access tells root that everything can be written
        probe.unlink()
    except OSError as error:
        _warn(f"{root} is read only: what it lacks is compiled at every start ({error})")
        return root, False
    return root, True


def _hash_sources(folder: Path, paths: list[Path], salt: str) -> str:
    digest = hashlib.sha256(salt.encode())
    for path in sorted(paths):
        with suppress(OSError):  # what cannot be read cannot be imported
            digest.update(str(path.relative_to(folder)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:24]


@cache
def package_key() -> str:
    """Hash of all that compiled code of the package depends on, as 24 hexadecimal digits."""
    facts = [sys.version] + [f"{name} {version(name)}" for name in ("numba", "llvmlite", "numpy")]
    facts += [f"{k}={v!r}" for k, v in sorted(vars(config).items()) if k.isupper() and k not in MACHINE_SETTINGS]
    sources = [p for p in PACKAGE.rglob("*.py") if p.relative_to(PACKAGE).parts[0] not in CONTROL_PLANE]
    return _hash_sources(PACKAGE, sources, "\0".join(facts))


@cache
def key_of(source: str) -> str:
    """The key for functions defined in the file `source`: the package's, or one of the file's folder."""
    path = Path(source).resolve()
    if path.is_relative_to(PACKAGE):
        return package_key()
    beside = {path, *path.parent.glob("*.py")}  # a script may have another ending
    return _hash_sources(path.parent, list(beside), package_key() + str(path.parent))


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

    def _path(self, key: Any) -> Path | None:
        folder = ROOT.folder(self._source)
        return folder and folder / f"{self._name}-{hashlib.sha256(repr(key).encode()).hexdigest()[:24]}.code"

    def load(self, key: Any) -> Any:
        """What was saved under `key` (signature, target, bytecode), or None."""
        path = self._path(key)
        if path is None:
            return None
        try:
            with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                reason = _distrusted(os.fstat(file.fileno()))
                held = file.read() if reason is None else b""
        except FileNotFoundError:
            return None
        except OSError as error:
            ROOT.announce(path.parent, f"entries in {path.parent} cannot be read and are compiled again ({error})")
            return None
        if reason is None:
            digest, body = held[:DIGEST_BYTES], held[DIGEST_BYTES:]
            if hashlib.sha256(body).digest() == digest:
                saved_key, data = pickle.loads(body)
                return data if saved_key == key else None  # types whose names are alike differ here
            reason = "is damaged"
        _warn(f"entry {path} {reason}: it is compiled again")
        return None

    def save(self, key: Any, data: Any) -> None:
        path = self._path(key)
        if path is None or not ROOT.writable:
            return
        body = dumps((key, data))
        partial = path.with_name(f".{uuid.uuid4().hex}.partial")
        try:
            path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            with open(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644), "wb") as file:
                file.write(hashlib.sha256(body).digest() + body)
            partial.replace(path)
        except OSError as error:
            with suppress(OSError):
                partial.unlink()
            ROOT.announce(
                path.parent, f"{path.parent} cannot be written: it is compiled again at the next start ({error})"
            )

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
