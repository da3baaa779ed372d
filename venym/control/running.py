"""What every run of all stages has on the control plane: an engine, a journal to keep, strategies that raise to settle;
and what it came to, left in its directory and told."""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .. import pipeline
from ..hot.link import HEAD, TAIL, Link
from ..stages import strategy
from ..stages.desk import RAISED
from .engine import Engine
from .errors import GOOD, RISK
from .log import say
from .resolve import Setting
from .run_directory import FINISHED, KILLED, RunDirectory
from .settings import Settings
from .summary import Result, to_document, to_text


class Running:
    """A pipeline, the engine that runs it, and the directory of its run. `raised`: a sentence for each strategy that
    did. `masks`, `idle` and `cpus` are the engine's. Raises ConfigurationError if these processors cannot be had."""

    def __init__(
        self,
        made: pipeline.Pipeline,
        settings: Settings,
        directory: RunDirectory,
        masks: Sequence[int],
        idle: str,
        cpus: Sequence[int] | None = None,
    ) -> None:
        self.made = made
        self.raised: list[str] = []
        self._names = [held.name for held in settings.strategies]
        self._directory = directory
        self._engine = Engine(made, masks, idle, cpus, self.settle)

    def empty_journal(self) -> bool:
        """Take what the gateway sent and was sent into the run directory; was there anything?"""
        some = False
        for records in unread(self.made.orders.gateway.journal):
            self._directory.append(records)
            some = True
        return some

    def settle(self, error: Exception) -> bool:
        """A strategy that raised is switched off, and trading is killed; any other error is not for us to settle."""
        stage = self.made.orders.strategy
        call = strategy.in_call(stage)
        if call is None:
            return False
        strategy.disable(stage, call.strategy, RAISED)
        self.raised.append(f"strategy {self._names[call.strategy]} raised {type(error).__name__}: {error}")
        return True

    def late(self) -> list[str]:
        """A sentence, if anything was compiled while the cores ran. Once they are halted."""
        names = self._engine.compiled_late
        return [f"compiled while running, which must not be: {', '.join(names)}"] if names else []


def begin(directory: RunDirectory, table: Iterable[Setting], settings: Settings) -> None:
    """Write what runs: the settings, and which files and versions these are."""
    files = {f"strategies.{held.name}.file": held.path for held in settings.strategies}
    if settings.model is not None:
        files["model"] = settings.model
    directory.write_settings(table)
    directory.write_versions(files)


def conclude(
    directory: RunDirectory, result: Result, latencies: Mapping[str, np.ndarray], **more: Any
) -> dict[str, Any]:
    """Write what the run came to; returns result.json, with `more` behind what every run has."""
    document = to_document(result) | more
    for name, held in latencies.items():
        directory.write_histogram(name, held)
    directory.write_result(document)
    directory.finish(KILLED if result.state == KILLED else FINISHED, result.reason)
    return document


def tell(result: Result, document: Mapping[str, Any], as_json: bool) -> int:
    """Print the summary, or result.json; RISK if trading was killed, which is said, else GOOD."""
    if as_json:
        json.dump(document, sys.stdout)
        sys.stdout.write("\n")
    else:
        print(to_text(result))
    if result.state != KILLED:
        return GOOD
    say(f"trading was killed: {result.reason}")
    return RISK


def unread(link: Link) -> Iterator[np.ndarray]:
    """The records published so far, in one stretch or two; each is given back when the next is asked for."""
    head = int(link.cursor[HEAD])
    while (tail := int(link.cursor[TAIL])) < head:
        first = tail & (len(link.slots) - 1)
        count = min(head - tail, len(link.slots) - first)
        yield link.slots[first : first + count]
        link.cursor[TAIL] = tail + count
