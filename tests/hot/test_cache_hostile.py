"""A compile cache in bad company: damage, several processes at once, entries and folders of other people."""

import hashlib
import json
import os
import pickle
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hot import child
from tests.hot.starts import REPORT, Report, Starts, start
from tests.hot.toy_program import ALL, RIGHT, assert_cold, assert_warm, entries, needs_root
from venym.hot import cache

# ---- damage


def cut_to_nothing(octets: bytes) -> bytes:
    return b""


def cut_to_half(octets: bytes) -> bytes:
    return octets[: len(octets) // 2]


def flip_in_the_checksum(octets: bytes) -> bytes:
    return bytes([octets[0] ^ 1]) + octets[1:]


def flip_in_the_code(octets: bytes) -> bytes:
    at = len(octets) * 2 // 3
    return octets[:at] + bytes([octets[at] ^ 0x10]) + octets[at + 1 :]


@pytest.mark.parametrize("damage", [cut_to_nothing, cut_to_half, flip_in_the_checksum, flip_in_the_code])
def test_damaged_entries_are_compiled_again_and_healed(
    starts: Starts, place: Path, damage: Callable[[bytes], bytes]
) -> None:
    root = place / "cache"
    starts(place / "toy", root)
    for path in entries(root):
        path.write_bytes(damage(path.read_bytes()))
    healing = starts(place / "toy", root)
    assert_cold(healing, warnings=2)
    assert all(re.search(r"entry .*\.code is damaged: it is compiled again", said) for said in healing.warnings)
    assert_warm(starts(place / "toy", root))


@given(at=st.floats(0, 1, exclude_max=True), change=st.integers(1, 255), cut=st.booleans())
@settings(max_examples=300, deadline=None)
def test_no_damaged_octet_passes(at: float, change: int, cut: bool) -> None:
    held = cache._Entries(entries)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "ROOT", cache.Root())
        cache.ROOT.choose(Path(folder))
        held.save("key", {"code": bytes(range(256)) * 4})
        assert held.load("key") == {"code": bytes(range(256)) * 4}
        path = entries(Path(folder))[0]
        octets = bytearray(path.read_bytes())
        place = int(at * len(octets))
        octets[place] ^= change
        path.write_bytes(octets[:place] if cut else octets)
        with pytest.warns(cache.CacheWarning, match="is damaged"):
            assert held.load("key") is None


# ---- several processes


def test_two_first_starts_at_once(starts: Starts, place: Path) -> None:
    for turn in range(20):
        root = place / f"cache{turn}"
        for report in starts.together(2, place / "toy", root):
            assert (report.result, report.warnings) == (RIGHT, [])
            assert set(report.compiled) <= set(ALL)
        assert_warm(starts(place / "toy", root))
        assert len(list(root.rglob("*"))) == 3, "the folder of one key, two entries"


def test_two_first_starts_of_whole_interpreters(place: Path) -> None:
    env = child.environment(NUMBA_CACHE_DIR=str(place / "cache"))
    processes = [child.start(REPORT, place / "toy", env=env) for _ in range(2)]
    for process in processes:
        report = Report(**json.loads(child.finish(process)[0]))
        assert (report.result, report.warnings) == (RIGHT, [])
    assert_warm(start(place / "toy", env))


# ---- code planted by others


class Planted:
    """Makes the folder `told` when it is unpickled."""

    def __init__(self, told: Path) -> None:
        self.told = str(told)

    def __reduce__(self) -> tuple:
        return os.mkdir, (self.told,)


def plant(place: Path, starts: Starts) -> Path:
    """The entry of `total`, with a right checksum and somebody else's code."""
    starts(place / "toy", place / "cache")
    path = next(path for path in entries(place / "cache") if ".total-" in path.name)
    body = pickle.dumps((Planted(place / "told"), None))
    path.write_bytes(hashlib.sha256(body).digest() + body)
    return path


def chown_entry(entry: Path) -> None:
    os.chown(entry, 1234, -1)


def open_entry(entry: Path) -> None:
    entry.chmod(0o666)


def open_entry_to_the_group(entry: Path) -> None:
    entry.chmod(0o664)


def link_entry(entry: Path) -> None:
    entry.symlink_to(entry.rename(entry.with_name("elsewhere")))


def pipe_entry(entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry)


def chown_folder(entry: Path) -> None:
    os.chown(entry.parent, 1234, -1)


def open_folder(entry: Path) -> None:
    entry.parent.chmod(0o777)


def chown_root(entry: Path) -> None:
    os.chown(entry.parent.parent, 1234, -1)


def open_root(entry: Path) -> None:
    entry.parent.parent.chmod(0o777)


def test_planted_code_would_run_were_it_ours(starts: Starts, place: Path) -> None:
    """What the tests below rest on."""
    plant(place, starts)
    starts(place / "toy", place / "cache")
    assert (place / "told").is_dir()


@pytest.mark.parametrize(
    "make_foreign, said",
    [
        pytest.param(chown_entry, "belongs to user 1234", marks=needs_root),
        (open_entry, "can be written by others"),
        (open_entry_to_the_group, "can be written by others"),
        (link_entry, "symbolic links"),
        (pipe_entry, "is no regular file"),
    ],
)
def test_an_entry_of_others_is_not_loaded(
    starts: Starts, place: Path, make_foreign: Callable[[Path], None], said: str
) -> None:
    make_foreign(plant(place, starts))
    report = starts(place / "toy", place / "cache")
    assert (report.result, report.compiled, len(report.warnings)) == (RIGHT, ["total"], 1)
    assert said in report.warnings[0]
    assert not (place / "told").exists()
    assert_warm(starts(place / "toy", place / "cache"))


@pytest.mark.parametrize(
    "make_foreign, said",
    [
        pytest.param(chown_folder, r"is not used, for it belongs to user 1234", marks=needs_root),
        (open_folder, r"is not used, for it can be written by everybody"),
        pytest.param(chown_root, r"cannot be used: .* \(belongs to user 1234\)", marks=needs_root),
        (open_root, r"cannot be used: .* \(can be written by everybody\)"),
    ],
)
def test_a_folder_of_others_is_neither_read_nor_written(
    starts: Starts, place: Path, make_foreign: Callable[[Path], None], said: str
) -> None:
    entry = plant(place, starts)
    held = entry.read_bytes()
    make_foreign(entry)
    for _ in range(2):
        report = starts(place / "toy", place / "cache")
        assert_cold(report, warnings=1)
        assert re.search(said, report.warnings[0])
    assert not (place / "told").exists() and entry.read_bytes() == held


def test_a_shared_sticky_folder_is_good_enough(starts: Starts, place: Path) -> None:
    (place / "cache").mkdir()
    (place / "cache").chmod(0o1777)
    assert_cold(starts(place / "toy", place / "cache"))
    assert_warm(starts(place / "toy", place / "cache"))
