"""The compile cache: nothing compiled twice, nothing stale, and a start whatever the folder is like."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from tests.hot import child
from tests.hot.starts import Report, Starts, start
from tests.hot.toy_program import ALL, FACTOR, RIGHT, TOY, assert_cold, assert_warm, entries, needs_root
from venym.hot import cache

# ---- warm starts


def test_second_start_compiles_nothing(starts: Starts, place: Path) -> None:
    assert_cold(starts(place / "toy", place / "cache"))
    assert_warm(starts(place / "toy", place / "cache"))
    assert_warm(start(place / "toy", child.environment(NUMBA_CACHE_DIR=str(place / "cache"))))
    assert_warm(start(place / "toy", child.environment(NUMBA_CACHE_DIR="../cache"), cwd=place / "toy"))
    assert len(entries(place / "cache")) == 2


def test_default_place_is_the_users_cache_folder(place: Path) -> None:
    assert_cold(start(place / "toy", child.environment(HOME=str(place), XDG_CACHE_HOME=None)))
    assert len(entries(place / ".cache/venym")) == 2
    assert_cold(start(place / "toy", child.environment(HOME=str(place), XDG_CACHE_HOME=str(place / "xdg"))))
    assert len(entries(place / "xdg/venym")) == 2


def test_another_signature_is_another_entry(starts: Starts, place: Path) -> None:
    root = place / "cache"
    starts(place / "toy", root)
    toy = place / "two"
    shutil.copytree(place / "toy", toy)
    both = "    return [*map(float, (total(np.arange(5)), total(np.arange(5.0)), largest(np.arange(5))))]\n"
    (toy / "toy.py").write_text(TOY[: TOY.index("    return [int")] + both)
    cold, warm = starts(toy, root), starts(toy, root)
    assert (cold.result, cold.compiled) == ([30.0, 30.0, 4.0], ["largest", "total", "total"])
    assert (warm.result, warm.compiled) == ([30.0, 30.0, 4.0], [])
    assert_warm(starts(place / "toy", root))


def test_types_of_one_name_are_not_mixed_up(starts: Starts, place: Path) -> None:
    """Two classes called Pair with the same field types, the fields the other way round."""
    for module, fields in (("one", "a: int; b: int"), ("two", "b: int; a: int")):
        (place / f"toy/{module}.py").write_text(f"from typing import NamedTuple\nclass Pair(NamedTuple): {fields}\n")
    for module in ("one", "two", "one"):
        (place / "toy/toy.py").write_text(
            "import os, one, two\nfrom venym.hot.jit import hot\n@hot\ndef first(pair): return pair.a\n"
            "def run(): return [first(one.Pair(a=1, b=2)), first(two.Pair(a=1, b=2))]\n"
        )
        assert starts(place / "toy", place / "cache").result == [1, 1], module


@pytest.mark.parametrize(
    "umask, file_mode, folder_mode", [(0, 0o644, 0o755), (0o002, 0o644, 0o755), (0o077, 0o600, 0o700)]
)
def test_only_the_owner_can_write(starts: Starts, place: Path, umask: int, file_mode: int, folder_mode: int) -> None:
    root = place / "cache"
    assert_cold(starts(place / "toy", root, umask=umask))
    for path in (root, *root.rglob("*")):
        assert stat.S_IMODE(path.stat().st_mode) == (folder_mode if path.is_dir() else file_mode), path
    assert all(path.is_dir() or path.suffix == ".code" for path in root.rglob("*")), "nothing half written is left"
    assert_warm(starts(place / "toy", root, umask=umask))


def test_typed_at_a_prompt_is_not_kept(place: Path) -> None:
    """No file tells two such functions apart: their bytecode is the same, their constant is not."""
    env = child.environment(NUMBA_CACHE_DIR=str(place / "cache"))
    for value in ("5", "7"):
        code = f"from venym.hot.jit import hot\ndef f(): return {value}\nprint(hot(f)())"
        assert child.run(code, env=env)[0] == f"{value}\n"
    assert entries(place / "cache") == []


# ---- nothing stale


def test_changed_script_without_an_ending(place: Path) -> None:
    script = place / "toy/script"
    env = child.environment(NUMBA_CACHE_DIR=str(place / "cache"))
    for value in ("5", "7"):
        script.write_text(f"from venym.hot.jit import hot\n@hot\ndef f(): return {value}\nprint(f())\n")
        assert child.run("import runpy, sys; runpy.run_path(sys.argv[1])", script, env=env)[0] == f"{value}\n"
    assert len(entries(place / "cache")) == 2


def edit(path: Path, before: str, after: str) -> None:
    """Replace text by text of the same length, leaving the file's times as they were."""
    times, text = path.stat(), path.read_text()
    assert text.count(before) == 1 and len(before) == len(after)
    path.write_text(text.replace(before, after))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def test_changed_constant_beside_the_function_is_in_force(starts: Starts, place: Path) -> None:
    starts(place / "toy", place / "cache")
    edit(place / "toy/factor.py", "3", "4")
    changed = starts(place / "toy", place / "cache")
    assert (changed.result, changed.compiled) == ([40, 4], ALL)
    edit(place / "toy/factor.py", "4", "3")
    assert_warm(starts(place / "toy", place / "cache"))


def test_changed_constant_in_the_package_is_in_force(place: Path) -> None:
    """In a copy of the package, a function in one folder uses a constant in another."""
    shutil.copytree(cache.PACKAGE, place / "venym", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(child.ROOT / "tests/hot", place / "tests/hot", ignore=shutil.ignore_patterns("__pycache__"))
    (place / "venym/wire/toy.py").write_text(TOY.replace("from factor", "from ..transport.factor"))
    (place / "venym/transport/factor.py").write_text(FACTOR)
    (place / "toy/toy.py").write_text("from venym.wire.toy import run\n")
    env = child.environment(NUMBA_CACHE_DIR=str(place / "cache"), PYTHONPATH=str(place))

    def once() -> Report:
        return start(place / "toy", env, cwd=place)

    assert_cold(once())
    edit(place / "venym/transport/factor.py", "3", "5")
    changed = once()
    assert (changed.result, changed.compiled) == ([50, 4], ALL)
    (place / "venym/control/new.py").write_text("# the control plane has no compiled code\n")
    assert (once().result, once().compiled) == ([50, 4], [])


PLUG_INS = """
from numba import types
from venym.hot.jit import plug_in

@plug_in(types.int64(types.int64))
def decide(value):
    return value + 10
"""
LOOP = """
import numpy as np
import sys
from venym.hot.jit import hot
sys.path.insert(0, __file__.replace("toy/toy.py", "user"))
from mine import decide

@hot
def loop(decide, count):
    held = 0
    for i in range(count):
        held = decide(held)
    return held

def run():
    return [loop(decide, 4)]
"""


def test_editing_a_plug_in_compiles_it_and_nothing_else(starts: Starts, place: Path) -> None:
    (place / "user").mkdir()
    (place / "user/mine.py").write_text(PLUG_INS)
    (place / "toy/toy.py").write_text(LOOP)
    cold = starts(place / "toy", place / "cache")
    assert (cold.result, cold.compiled) == ([40], ["decide", "loop"])
    edit(place / "user/mine.py", "+ 10", "+ 20")
    edited = starts(place / "toy", place / "cache")
    assert (edited.result, edited.compiled) == ([80], ["decide"])
    assert starts(place / "toy", place / "cache").compiled == []


def test_unreadable_neighbours_do_no_harm(starts: Starts, place: Path) -> None:
    (place / "toy/.#toy.py").symlink_to("an editor's lock")
    (place / "toy/folder.py").mkdir()
    assert_cold(starts(place / "toy", place / "cache"))
    assert_warm(starts(place / "toy", place / "cache"))


def test_settings_of_numba_have_code_of_their_own(place: Path) -> None:
    changed: list[dict[str, str | None]] = [{}, {"NUMBA_OPT": "0"}, {"NUMBA_BOUNDSCHECK": "1"}]
    for changes in changed:
        env = child.environment(NUMBA_CACHE_DIR=str(place / "cache"), **changes)
        assert_cold(start(place / "toy", env))
    env = child.environment(NUMBA_CACHE_DIR=str(place / "cache"), NUMBA_NUM_THREADS="1")
    assert_warm(start(place / "toy", env))


# ---- folders that cannot be used


def uncached(place: Path, *, said: str, user: int | None = None, **changes: str | None) -> None:
    """A start that works, keeps nothing, and says so once."""
    changes = {"HOME": None, "XDG_CACHE_HOME": None, "NUMBA_CACHE_DIR": None, **changes}
    before = sorted(cache.PACKAGE.rglob("*"))
    prefix = () if user is None else child.as_user(user)
    report = start(place / "toy", child.environment(**changes), prefix=prefix)
    assert_cold(report, warnings=1)
    assert said in report.warnings[0] and "everything is compiled at every start" in report.warnings[0]
    assert sorted(cache.PACKAGE.rglob("*")) == before and not (child.ROOT / "~").exists()


def test_root_is_a_file(place: Path) -> None:
    (place / "file").touch()
    uncached(place, NUMBA_CACHE_DIR=str(place / "file"), said="File exists")
    uncached(place, NUMBA_CACHE_DIR=str(place / "file/cache"), said="Not a directory")


def test_root_cannot_be_made(place: Path) -> None:
    uncached(place, NUMBA_CACHE_DIR="/proc/venym", said="No such file or directory")


@needs_root
def test_service_without_home_nor_anything_writable(place: Path) -> None:
    """What ProtectSystem=strict, ProtectHome=yes and DynamicUser=yes leave; the package is root's."""
    uncached(place, user=child.NOBODY, HOME="/nonexistent", said="/nonexistent/.cache/venym")
    (place / "closed").mkdir(mode=0o700)
    uncached(place, user=child.NOBODY, HOME=str(place / "closed"), said="Permission denied")
    uncached(place, user=54321, said="has no place")


def test_root_chosen_by_a_setting_is_announced_too(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    root = cache.Root()
    with pytest.warns(cache.CacheWarning, match="file cannot be used") as caught:
        root.choose(tmp_path / "file")
    assert (root.path, root.writable, len(caught)) == (None, False, 1)
    root.choose(tmp_path / "folder")
    assert (root.path, root.writable) == (tmp_path / "folder", True)
    root.choose(None)
    assert (root.path, root.folder(__file__)) == (None, None)


@needs_root
def test_read_only_cache_is_read(starts: Starts, place: Path) -> None:
    root = place / "cache"
    starts(place / "toy", root)
    before = entries(root)
    env, nobody = child.environment(NUMBA_CACHE_DIR=str(root)), child.as_user(child.NOBODY)
    warm = start(place / "toy", env, prefix=nobody)
    assert_warm(warm, warnings=1)
    assert f"{root} is read only: what it lacks is compiled at every start" in warm.warnings[0]
    before[0].unlink()
    lacking = start(place / "toy", env, prefix=nobody)
    assert (lacking.result, lacking.compiled, len(lacking.warnings)) == (RIGHT, ["largest"], 1)
    assert entries(root) == before[1:]


@needs_root
def test_read_only_file_system(place: Path) -> None:
    """There even removing what does not exist fails."""
    (place / "cache").mkdir()
    mount = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    prefix = ["unshare", "-m", "sh", "-c", mount, str(place / "cache")]
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        pytest.skip("needs mount namespaces")
    report = start(place / "toy", child.environment(NUMBA_CACHE_DIR=str(place / "cache")), prefix=prefix)
    assert_cold(report, warnings=1)
    assert "is read only" in report.warnings[0] and "Read-only file system" in report.warnings[0]


def test_entries_that_cannot_be_written_are_announced_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """And leave nothing behind. Here their names are taken by folders."""
    monkeypatch.setattr(cache, "ROOT", cache.Root())
    cache.ROOT.choose(tmp_path)
    held = cache._Entries(edit)
    for key in ("first", "second"):
        path = held._path(key)
        assert path is not None
        path.mkdir(parents=True)
    with pytest.warns(cache.CacheWarning, match="cannot be written: it is compiled again at the next start") as caught:
        held.save("first", b"code")
        held.save("second", b"code")
    assert len(caught) == 1
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    held.save("third", b"code")
    assert held.load("third") == b"code"
