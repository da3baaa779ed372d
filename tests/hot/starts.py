"""Starts of a program that compiles: each in a process of its own, which reports what it compiled and was warned of.

`start` is a whole new interpreter. `Starts` forks one that has imported numba and compiled nothing, which is the same
to the compile cache and much faster.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

from tests.hot import child


class Report(NamedTuple):
    """What `toy.run()` returned, the functions compiled for it, the cache warnings it caused."""

    result: Any
    compiled: list[str]
    warnings: list[str]


def report(folder: str) -> dict[str, Any]:
    """In the new process: import the module `toy` from `folder`, run it, tell."""
    import re
    import warnings

    from venym.hot.cache import CacheWarning
    from venym.hot.jit import Compiles

    sys.path.insert(0, folder)
    compiles = Compiles()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        import toy  # type: ignore[import-not-found]

        result = toy.run()
    names = [re.sub(r".*function (\w+) at.*", r"\1", name) for name in compiles.names]
    return dict(
        result=result,
        compiled=sorted(names),
        warnings=[str(w.message) for w in caught if issubclass(w.category, CacheWarning)],
    )


REPORT = "import json, sys; from tests.hot.starts import report; print(json.dumps(report(sys.argv[1])))"


def start(folder: Path, env: dict[str, str], **options: Any) -> Report:
    """A new interpreter."""
    return Report(**json.loads(child.run(REPORT, folder, env=env, **options)[0]))


def serve() -> None:
    """In the child: fork for every set of orders on stdin, all of a set at once."""
    import numba
    import numpy as np

    import venym.hot.duty_cycle  # noqa: F401  (imports all that compiles)

    numba.njit(lambda values: values[0] * 2)(np.arange(2))  # numba has read its own tables; ours has done nothing

    for line in sys.stdin:
        pipes = []
        for order in json.loads(line):
            source, sink = os.pipe()
            if os.fork() == 0:
                os._exit(_forked(sink, **order))
            os.close(sink)
            pipes.append(source)
        answers = []
        for source in pipes:
            with open(source, encoding="utf-8") as told:
                answers.append(told.read())
            os.wait()
        print(json.dumps(answers), flush=True)


def _forked(sink: int, folder: str, root: str, umask: int) -> int:
    from venym.hot.cache import ROOT

    os.umask(umask)
    os.environ["NUMBA_CACHE_DIR"] = root
    assert not ROOT._chosen
    with open(sink, "w", encoding="utf-8") as told:
        json.dump(report(folder), told)
    return 0


class Starts:
    """Starts by forking, from one server process."""

    def __init__(self) -> None:
        self._server = subprocess.Popen(
            [sys.executable, "-c", "from tests.hot.starts import serve; serve()"],
            env=child.environment(),
            cwd=child.ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, folder: Path, root: Path, umask: int = 0o022) -> Report:
        return self.together(1, folder, root, umask)[0]

    def together(self, count: int, folder: Path, root: Path, umask: int = 0o022) -> list[Report]:
        """`count` starts at the same time."""
        assert self._server.stdin and self._server.stdout
        order = dict(folder=str(folder), root=str(root), umask=umask)
        print(json.dumps([order] * count), file=self._server.stdin, flush=True)
        answers = json.loads(self._server.stdout.readline())
        assert all(answers), "a started process died; its reason is on stderr"
        return [Report(**json.loads(answer)) for answer in answers]

    def close(self) -> None:
        self._server.communicate(timeout=10)
