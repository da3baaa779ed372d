"""A second start compiles nothing, and a changed strategy compiles itself only."""

import shutil
from pathlib import Path

import pytest

import venym.strategies
from tests.hot import child
from venym.hot.jit import PLAIN

pytestmark = pytest.mark.skipif(PLAIN, reason="needs the compiler")

START = """
import re, sys
from pathlib import Path
from venym.hot.jit import Compiles
compiles = Compiles()
from tests.stages.strategy_drive import Drive
from venym.stages.strategy import Assignment
from venym.strategies.load import load
made = [load(path) for path in sys.argv[1:]]
drive = Drive([Assignment(one, one.values(), (0,)) for one in made])
drive.signal(5, 1.0)
sent = drive.run()
names = [re.sub(r".*function ([\\w.<>]+) at.*", r"\\1", name) for name in compiles.names]
print(len(sent), *names, sep="|")
"""


def test_a_second_start_compiles_nothing_and_a_changed_strategy_itself_only(tmp_path: Path) -> None:
    examples = Path(venym.strategies.__file__).parent
    files = []
    for name in ("taker", "quoter"):
        (tmp_path / name).mkdir()
        files.append(Path(shutil.copy(examples / f"{name}.py", tmp_path / name)))
    (tmp_path / "quoter" / "beside.py").write_text("UNUSED = 1\n")
    files[1].write_text("from beside import UNUSED\n" + files[1].read_text())
    env = child.environment(NUMBA_CACHE_DIR=str(tmp_path / "cache"))

    def start(*paths: Path) -> tuple[int, list[str]]:
        count, *functions = child.run(START, *paths, env=env)[0].strip().split("|")
        return int(count), functions

    count, functions = start(*files)
    assert count == 3 and "step" in functions and functions.count("decide") == 2
    assert start(*files) == (3, [])
    assert start(files[0]) == (1, []), "fewer strategies, or in another order, are no other stage"
    assert start(*files[::-1]) == (3, [])

    files[0].write_text(files[0].read_text().replace('"shares": 100', '"shares": 200').replace("0:", "0 and True:"))
    count, functions = start(*files)
    assert count == 3 and functions.count("decide") == 1
    assert set(functions) <= {"decide", "whole", "code", "_ask"}, "and nothing of the stage or of other strategies"
    assert start(*files) == (3, [])
