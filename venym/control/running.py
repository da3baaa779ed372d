"""What every run of all stages has on the control plane: it keeps the journal, and settles strategies that raise."""

from collections.abc import Iterator

import numpy as np

from .. import pipeline
from ..hot.link import HEAD, TAIL, Link
from ..stages import strategy
from ..stages.desk import RAISED
from .run_directory import RunDirectory
from .settings import Settings


class Running:
    """A pipeline and the directory of its run. `raised`: a sentence for each strategy that did."""

    def __init__(self, made: pipeline.Pipeline, settings: Settings, directory: RunDirectory) -> None:
        self.made = made
        self.raised: list[str] = []
        self._names = [held.name for held in settings.strategies]
        self._directory = directory

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


def unread(link: Link) -> Iterator[np.ndarray]:
    """The records published so far, in one stretch or two; each is given back when the next is asked for."""
    head = int(link.cursor[HEAD])
    while (tail := int(link.cursor[TAIL])) < head:
        first = tail & (len(link.slots) - 1)
        count = min(head - tail, len(link.slots) - first)
        yield link.slots[first : first + count]
        link.cursor[TAIL] = tail + count
