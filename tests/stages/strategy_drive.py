"""Drive the strategy stage by hand, between three links."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tests.stages.drive import zeroed
from venym import metrics
from venym.hot.jit import hot
from venym.hot.link import HEAD, MARK, TAIL, Link, make_link
from venym.records import INTENT, ORDER_EVENT, SIGNAL, TRADABLE
from venym.stages import strategy
from venym.strategies.interface import ORDERS_MAX, STATE_WORDS
from venym.strategies.load import Loaded, load

USERS = Path(__file__).parents[1] / "strategies" / "users"
TOLD = [name for name in INTENT.names or () if not name.endswith("_cycles") and name != "padding"]


@hot
def laps(context, steps):
    """Steps in compiled code: to call one from Python takes much longer than it does."""
    total = np.int64(0)
    for _ in range(steps):
        work = strategy.step(context)
        if work == 0:
            break
        total += work
    return total


@cache
def loaded(path: Path) -> Loaded:
    return load(path)


def scripted(timer_ns: int = 0, **params: float) -> strategy.Assignment:
    """The scripted strategy, called for instruments 0 and 1."""
    made = loaded(USERS / "scripted.py")._replace(timer_ns=timer_ns)
    return strategy.Assignment(made, made.values(params), (0, 1))


def picked(intents: list[dict[str, int]], *names: str) -> list[tuple[int, ...]]:
    """Of each intent these fields."""
    return [tuple(intent[name] for name in names) for intent in intents]


def put(link: Link, fields: dict[str, Any]) -> None:
    """Publish a record of these fields; `a.b` names a part of one, everything else is 0."""
    head = int(link.cursor[HEAD])
    assert head - int(link.cursor[TAIL]) < len(link.slots), "no room"
    slot = link.slots[head % len(link.slots)]
    for name in slot.dtype.names:
        slot[name] = np.zeros((), slot.dtype[name])
    for name, value in fields.items():
        outer, _, inner = name.partition(".")
        if inner:
            slot[outer][inner] = value
        else:
            slot[name] = value
    link.cursor[HEAD] = head + 1


class Drive:
    """The stage, its links, and what they have held."""

    def __init__(
        self,
        strategies: Sequence[strategy.Assignment],
        instruments: int = 2,
        hold: bool = True,
        burst: int = 64,
        intents: int = 64,
        records: int = 64,
    ) -> None:
        self.signals, self.events = make_link(SIGNAL, records), make_link(ORDER_EVENT, records)
        self.intents = make_link(INTENT, intents)
        self.context = strategy.build(
            zeroed, self.signals, self.events, self.intents, strategies, instruments, hold, burst
        )
        self.desk, self.places = self.context.desk, instruments + 1
        self.raised: list[strategy.InCall] = []
        self.ordinal = 0
        self.marked_ns = 0

    def signal(self, clock_ns: int, *y: float, instrument: int = 0, **market: Any) -> None:
        """A ready signal; by default of a book of 100 at 1.00 and 100 at 1.01."""
        fields = dict(
            clock_ns=clock_ns, ordinal=self.ordinal, cause=self.ordinal + 1_000, instrument=instrument, marks=TRADABLE,
            bid_price_e4=[10_000, 0, 0, 0, 0], bid_shares=[100, 0, 0, 0, 0], ask_price_e4=[10_100, 0, 0, 0, 0],
            ask_shares=[100, 0, 0, 0, 0], taken_cycles=11, decoded_cycles=12,
        )  # fmt: skip
        fields.update(market)
        ready = fields.pop("ready", 1)
        values = [*y, *[0.0] * (8 - len(y))]
        put(
            self.signals,
            {f"market.{name}": value for name, value in fields.items()}
            | dict(ready=ready, y=values, featured_cycles=13, inferred_cycles=14),
        )
        self.ordinal += 1

    def event(self, clock_ns: int, kind: int, token: int, **fields: Any) -> None:
        put(self.events, dict(clock_ns=clock_ns, kind=kind, token=token) | fields)

    def mark(self, signals_ns: int | None = None, events_ns: int | None = None) -> None:
        for link, value in ((self.signals, signals_ns), (self.events, events_ns)):
            if value is not None:
                link.cursor[MARK] = value

    def step(self, steps: int = 1) -> int:
        """So many steps, as long as they do something; the work done. A strategy that raises is disabled and the loop
        entered again, as the engine does."""
        while True:
            try:
                with np.errstate(all="ignore"):  # uncompiled, numpy would warn of NaN
                    return int(laps(self.context, steps))
            except ValueError:
                called = strategy.in_call(self.context)
                assert called is not None
                self.raised.append(called)
                strategy.disable(self.context, called.strategy, strategy.RAISED)

    def run(self) -> list[dict[str, int]]:
        """Steps until nothing is left to do; what was sent."""
        sent = self.take()
        while self.step():
            sent += self.take()
        return sent + self.take()

    def take(self, most: int = 1 << 30) -> list[dict[str, int]]:
        """What was sent, without readings of the cycle counter. No clock falls, nor lies before a mark given."""
        head, tail = int(self.intents.cursor[HEAD]), int(self.intents.cursor[TAIL])
        end = min(head, tail + most)
        found = [self.intents.slots[k % len(self.intents.slots)].copy() for k in range(tail, end)]
        self.intents.cursor[TAIL] = end
        for intent in found:
            assert intent.clock_ns >= self.marked_ns
            self.marked_ns = int(intent.clock_ns)
        if end == head:
            self.marked_ns = max(self.marked_ns, int(self.intents.cursor[MARK]))
        return [{name: int(intent[name]) for name in TOLD} for intent in found]

    def block(self, strategy: int = 0, place: int = 0) -> int:
        return strategy * self.places + place

    def orders(self, strategy: int = 0, place: int = 0) -> list[dict[str, int]]:
        block, working = self.block(strategy, place), self.desk.working
        rows = working.orders[block * ORDERS_MAX :][: int(working.counts[block])]
        return [{name: int(row[name]) for name in row.dtype.names if name != "padding"} for row in rows]

    def position(self, strategy: int = 0, place: int = 0) -> dict[str, int]:
        row = self.desk.working.positions[self.block(strategy, place)]
        return {name: int(row[name]) for name in row.dtype.names if name != "padding"}

    def whole(self, strategy: int = 0, place: int = 0) -> list[int]:
        first = self.block(strategy, place) * STATE_WORDS
        return [int(word) for word in self.context.whole[first : first + STATE_WORDS]]

    def real(self, strategy: int = 0, place: int = 0) -> list[float]:
        first = self.block(strategy, place) * STATE_WORDS
        return [float(word) for word in self.context.real[first : first + STATE_WORDS]]

    def counters(self) -> dict[str, int]:
        """Every counter that is not zero."""
        held = self.desk.counters
        return {c.name: int(held[c.word]) for c in metrics.STRATEGY if held[c.word]}
