"""Whenever signals, order events and marks arrive, and room is made: the same intents, orders and positions."""

import math
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.strategy import NaiveStrategies, filled
from tests.stages.answers import Answers
from tests.stages.strategy_drive import Drive, put, scripted
from tests.strategies.users import scripted as does
from venym.hot.jit import PLAIN
from venym.hot.link import HEAD, MARK, TAIL
from venym.records import ACCEPTED, CANCELED, FILLED, NEVER_NS, REFUSED, SIGNAL
from venym.stages.strategy import Assignment

pytestmark = pytest.mark.plain

LATENCY_NS, TIMER_NS, INSTRUMENTS, RECORDS = 10, 25, 2, 4


class Run:
    """The stage in a loop with its answers, driven in any chunks."""

    def __init__(self, assignments: list[Assignment], signals: list[dict[str, Any]], answers: Answers, end_ns: int,
                 burst: int) -> None:  # fmt: skip
        self.drive = Drive(assignments, INSTRUMENTS, burst=burst, intents=16, records=RECORDS)
        self.signals, self.answers, self.end_ns = list(signals), answers, end_ns
        self.sent: list[dict[str, int]] = []

    def give_signals(self, count: int) -> bool:
        """Publish some, and mark what is to come."""
        link = self.drive.signals
        room = RECORDS - int(link.cursor[HEAD] - link.cursor[TAIL])
        given = self.signals[: min(count, room)]
        for fields in given:
            put(link, fields)
        del self.signals[: len(given)]
        before = int(link.cursor[MARK])
        link.cursor[MARK] = self.signals[0]["market.clock_ns"] if self.signals else self.end_ns
        return bool(given) or int(link.cursor[MARK]) != before

    def step(self, count: int) -> bool:
        return self.drive.step(count) > 0

    def answer(self, count: int) -> bool:
        """Take some intents; tell some events that no intent to come can come before; mark."""
        link, intents = self.drive.events, self.drive.intents
        taken = self.drive.take(count)
        for intent in taken:
            self.answers.ask(intent)
        self.sent += taken
        left = int(intents.cursor[HEAD] - intents.cursor[TAIL])
        head = intents.slots[int(intents.cursor[TAIL]) % len(intents.slots)]
        lowest_ns = int(head.clock_ns if left else intents.cursor[MARK]) + LATENCY_NS
        told = 0
        while told < count and int(link.cursor[HEAD] - link.cursor[TAIL]) < RECORDS and self.answers.settle(lowest_ns):
            put(link, self.answers.pop())
            told += 1
        before = int(link.cursor[MARK])
        link.cursor[MARK] = max(before, int(min(self.answers.next_ns(), lowest_ns, NEVER_NS)))
        return bool(taken) or told > 0 or int(link.cursor[MARK]) != before

    def finish(self) -> None:
        while any([self.give_signals(9), self.step(99), self.answer(99)]):
            pass
        assert not self.signals and self.drive.signals.cursor[HEAD] == self.drive.signals.cursor[TAIL]


def signals_of(rows: list[Any]) -> list[dict[str, Any]]:
    made, clock_ns = [], 0
    for ordinal, (gap_ns, instrument, command, token, side, shares, price, argument, me) in enumerate(rows):
        clock_ns += gap_ns
        y = [command, token, side, shares, price, argument, me, 0.0]
        market = dict(clock_ns=clock_ns, instrument=instrument, ordinal=ordinal, cause=ordinal // 3)
        made.append({f"market.{name}": value for name, value in market.items()} | dict(ready=1, y=y))
    return made


def as_record(fields: dict[str, Any]) -> Any:
    record = filled(SIGNAL, dict(ready=1, y=fields["y"]))
    for name, value in fields.items():
        if name.startswith("market."):
            record.market[name.removeprefix("market.")] = value
    return record


CALM = [
    does.LIMITS, does.LIMITS, does.LIMITS, does.IOCS, does.CANCELS, does.CANCELS, does.REPLACES, does.REPLACES,
    does.NOTHING, does.FLOODS, does.ELSEWHERE, does.JUNK,
]  # fmt: skip
WILD = [does.RAISES, does.RAISES_AFTER_ASKING, does.KILLS, does.UNCOUNTS]
REACTION = st.tuples(
    st.sampled_from([0, ACCEPTED, FILLED, CANCELED, REFUSED]),
    st.sampled_from([does.NOTHING, does.LIMITS, does.CANCELS, does.REPLACES, does.RAISES]),
    st.sampled_from([does.NOTHING, does.LIMITS, does.CANCELS]),
)


def random_rows(chance: random.Random, count: int, wild: float) -> list[Any]:
    return [
        (
            chance.choice([0, 0, 1, 3, 10, 11, 24, 60]),
            chance.randrange(2),
            chance.choice(WILD if chance.random() < wild else CALM),
            chance.randint(1, 9),
            chance.choice([1, 2, 2, 77]),
            chance.choice([1, 5, 8, 100, math.nan]),
            chance.choice([9_900, 10_000, 0.5]),
            chance.choice([0, 1, 3, 16] if chance.random() >= wild else [17]),
            chance.choice([0, 0, 0, 1, 2, 3, 9]),
        )
        for _ in range(count)
    ]


@settings(max_examples=10 if PLAIN else 40)
@given(
    seed=st.integers(0, 1 << 32),
    count=st.integers(0, 40),
    wild=st.sampled_from([0.0, 0.0, 0.02, 0.1]),
    reactions=st.lists(REACTION, min_size=1, max_size=3),
    chunks=st.integers(0, 100),
    burst=st.sampled_from([1, 2, 3, 64]),
    open_max=st.sampled_from([2, 32, 40]),
)
def test_any_interleaving_comes_to_what_the_twin_comes_to(
    seed: int,
    count: int,
    wild: float,
    reactions: list[tuple[int, int, int]],
    chunks: int,
    burst: int,
    open_max: int,
) -> None:
    chance = random.Random(seed)
    rows, dice = random_rows(chance, count, wild), [chance.randint(0, 12) for _ in range(5)]
    assignments = [
        scripted(TIMER_NS if timer else 0, me=k + 1, execution_kind=kind, execution_does=does_it, timer_does=timer)
        for k, (kind, does_it, timer) in enumerate(reactions)
    ]
    signals = signals_of(rows)
    end_ns = (signals[-1]["market.clock_ns"] if signals else 0) + 200

    twin = NaiveStrategies(assignments, INSTRUMENTS, Answers(dice, LATENCY_NS, INSTRUMENTS, open_max))
    twin.run([as_record(fields) for fields in signals], end_ns)

    run = Run(assignments, signals, Answers(dice, LATENCY_NS, INSTRUMENTS, open_max), end_ns, burst)
    for _ in range(chunks):
        chance.choice((run.give_signals, run.step, run.answer))(chance.randint(1, 6))
    run.finish()

    assert run.sent == twin.sent
    assert [call.strategy for call in run.drive.raised] == twin.raised
    assert [bool(on) for on in run.drive.desk.members["enabled"][: len(assignments)]] == twin.enabled
    for k, books in enumerate(twin.books):
        for place, book in enumerate(books):
            assert run.drive.orders(k, place) == [dict(row) for row in book.shown_rows()]
            assert run.drive.position(k, place) == book.shown_position()
            assert run.drive.whole(k, place) == book.state.whole.tolist()
            assert run.drive.real(k, place) == book.state.real.tolist()
