"""Engine: the cores that run the stages, from start to stop.

    BOOT ──▶ WARM ──▶ RUN ──▶ HALT
      └────────┴────────┴───▶ FAIL      a stage raised: all cores stop, the stage is named

BOOT   memory is laid out, no code runs
WARM   the loop is compiled or loaded, by a dry run with the stop flag set, before any thread exists
RUN    one thread a core, each in compiled code without the interpreter's lock
HALT   all cores were asked to stop, and did

Live cores are pinned and never more than there are; a replay's may be more, and yield. An exception in a stage ends
its core's loop; whoever made the engine may settle it (a strategy of the user's is switched off, and the loop goes on
where it was), else the engine fails.
"""

import os
import threading
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .. import pipeline
from ..hot.duty_cycle import STAGE, make_control, stop
from ..hot.jit import Compiles
from .errors import ConfigurationError

BOOT, WARM, RUN, HALT, FAIL = "BOOT", "WARM", "RUN", "HALT", "FAIL"
JOIN_SECONDS_MAX = 30.0
CONTROL_CORES = 1  # left to the control plane by the plan "auto"


class StageFailed(Exception):
    """A stage raised; the message names it. `__cause__` is what it raised."""


class Failure(NamedTuple):
    stage: str
    error: Exception


class Core(NamedTuple):
    """A core's stages, its control block, and the processor it is pinned to, if any."""

    mask: int
    control: np.ndarray
    cpu: int | None


def choose_plan(name: str, cpus: int) -> str:
    """The plan of this name; for "auto" the widest whose cores fit beside the control plane, else fused."""
    if name != "auto":
        return name
    fits = [plan for plan, masks in pipeline.PLANS.items() if len(masks) <= cpus - CONTROL_CORES]
    return max(fits, key=lambda plan: len(pipeline.PLANS[plan]), default="fused")


class Engine:
    """Runs the cores of a plan. `settle(error)` is asked, on the failing core's thread, whether its loop may go on."""

    def __init__(
        self,
        made: pipeline.Pipeline,
        masks: Sequence[int],
        idle: str = "yield",
        cpus: Sequence[int] | None = None,
        settle: Callable[[Exception], bool] = lambda error: False,
    ) -> None:
        """`cpus`: a processor for each mask, none twice; None: wherever the system puts them.

        Raises ConfigurationError if these processors cannot be had.
        """
        if cpus is not None:
            _check_cpus(cpus, len(masks))
        self.state = BOOT
        self.failures: list[Failure] = []
        self.compiled_late: list[str] = []  # after WARM; there must be none
        self._made = made
        self._settle = settle
        self._cores = [
            Core(mask, make_control(idle), None if cpus is None else cpus[k]) for k, mask in enumerate(masks)
        ]
        self._threads: list[threading.Thread] = []
        self._compiles: Compiles | None = None

    def warm(self) -> None:
        """Compile or load the loop."""
        control = make_control()
        stop(control)
        pipeline.duty_cycle(self._made, 0, control)
        self.state = WARM
        self._compiles = Compiles()

    def start(self) -> None:
        """Let the cores run."""
        assert self.state == WARM
        self.state = RUN
        for core in self._cores:
            name = "+".join(pipeline.names(core.mask))
            self._threads.append(threading.Thread(target=self._run, args=(core,), name=name, daemon=True))
        for thread in self._threads:
            thread.start()

    def check(self) -> None:
        """Raise StageFailed if a stage has raised; all cores are stopped then."""
        if self.failures:
            self.halt()
            failure = self.failures[0]
            error = failure.error
            raise StageFailed(f"{failure.stage}: {type(error).__name__}: {error}") from error

    def halt(self) -> None:
        """Stop all cores and wait for them. The state is HALT, or FAIL if one failed."""
        for core in self._cores:
            stop(core.control)
        for thread in self._threads:
            thread.join(JOIN_SECONDS_MAX)
        alive = [thread.name for thread in self._threads if thread.is_alive()]
        if self._compiles is not None:
            self.compiled_late = self._compiles.names
            self._compiles.close()
            self._compiles = None
        if alive:
            self.failures.append(Failure(alive[0], TimeoutError(f"no end within {JOIN_SECONDS_MAX:.0f} s of the stop")))
        self.state = FAIL if self.failures else HALT

    def _run(self, core: Core) -> None:
        if core.cpu is not None:
            os.sched_setaffinity(0, {core.cpu})  # of this thread
        while True:
            try:
                pipeline.duty_cycle(self._made, core.mask, core.control)
                return
            except Exception as error:  # whatever a stage or a strategy raises: named, and nothing runs on blindly
                if self._settled(error):
                    continue
                self.failures.append(Failure(pipeline.STAGES.get(int(core.control[STAGE]), "engine"), error))
                for other in self._cores:
                    stop(other.control)
                return

    def _settled(self, error: Exception) -> bool:
        try:
            return self._settle(error)
        except Exception as second:  # the settling is at fault: the core must not vanish in silence
            second.__context__ = error
            self.failures.append(Failure("engine", second))
            return False


def _check_cpus(cpus: Sequence[int], cores: int) -> None:
    mine = os.sched_getaffinity(0)
    if len(cpus) != cores or len(set(cpus)) != cores:
        raise ConfigurationError(f"{cores} cores need as many processors, none twice; given: {sorted(cpus)}")
    if missing := sorted(set(cpus) - mine):
        raise ConfigurationError(f"processors {missing} are not among those this process may use: {sorted(mine)}")
