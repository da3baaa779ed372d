"""Held, the gateway takes its inputs by their time: what it writes does not depend on how they arrive."""

import random
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.gateway import NaiveGateway
from tests.stages.gateway_drive import (
    FEES,
    INSTRUMENTS,
    MIDNIGHT_NS,
    Drive,
    a_state,
    an_intent,
    checked,
    intent_row,
    put,
    state_row,
    taken,
    told,
    wire_row,
)
from tests.stages.gateway_world import CALM, CANCELING, LIMITS, TIGHT, USUAL, World
from venym import records as r
from venym.hot.link import HEAD, MARK, TAIL, Link
from venym.records import NEVER_NS
from venym.stages import gateway
from venym.stages import gateway_view as view
from venym.stages.intents import DELAYED_MAX
from venym.stages.risk import RiskLimits

pytestmark = pytest.mark.plain

REFUSAL_NS = 50_000
SEEDS = st.integers(0, 1 << 16)
DAYS = st.lists(st.tuples(st.sampled_from(USUAL + 2 * CALM), SEEDS), min_size=30, max_size=120)


class Day(NamedTuple):
    """What arrives at each link, in order."""

    states: list[Any]
    intents: list[Any]
    chunks: list[tuple[int, bytes]]


class Written(NamedTuple):
    octets: list[tuple[int, bytes]]
    events: list[dict[str, int]]
    orders: list[view.Order]
    refusals: dict[str, int]
    killed: view.Killed | None


def a_day(inputs: Any, limits: RiskLimits) -> Day:
    """Inputs as a world makes them that has its answers at once."""
    twin = NaiveGateway(INSTRUMENTS, limits, FEES, TIGHT, MIDNIGHT_NS)
    world, day = World(twin), Day([], [], [])
    for kind, seed in [("open_market", 0), *inputs]:
        for what, value in world.make(kind, seed):
            if what == "market":
                day.states.append(value)
                twin.market(value)
            elif what == "intent":
                day.intents.append(value)
                twin.intent(value)
            else:
                day.chunks.append((world.clock_ns, value))
                twin.octets(world.clock_ns, value)
    return day


def room(link: Link) -> int:
    return len(link.slots) - int(link.cursor[HEAD] - link.cursor[TAIL])


class Arrival:
    """Gives a day to a gateway in pieces of any size, tells the marks late, and takes what is written late."""

    def __init__(self, day: Day, limits: RiskLimits, seed: int | None, **how: Any) -> None:
        self.day, self.dice = day, random.Random(seed)
        self.haste = seed is None
        self.drive = Drive(
            limits, tables=TIGHT, hold=True, refusal_ns=REFUSAL_NS, market=False, burst=self.pick(1, 64), **how
        )
        self.at = [0, 0, 0]
        self.written: tuple[list[Any], list[Any]] = [], []
        self.cut: list[tuple[int, bytes]] = []
        for clock_ns, octets in day.chunks:  # a message may come in pieces of one time
            while octets:
                size = self.pick(1, 200) if not self.haste else 2_000
                self.cut.append((clock_ns, octets[:size]))
                octets = octets[size:]

    def pick(self, least: int, most: int) -> int:
        return most if self.haste else self.dice.randint(least, most)

    def give(self, k: int, link: Link, rows: list[Any], make: Any) -> None:
        count = min(self.pick(0, 4 if k else 20), room(link), len(rows) - self.at[k])
        put(link, [make(row) for row in rows[self.at[k] : self.at[k] + count]])
        self.at[k] += count

    def round(self) -> None:
        drive, day = self.drive, self.day
        self.give(0, drive.states, day.states, state_row)
        there = self.at[0] == len(day.states)  # an intent's market state is there before it
        upto = NEVER_NS if there else day.states[self.at[0]].ordinal
        ready = [intent for intent in day.intents if intent.ordinal < upto]
        self.give(1, drive.intents, ready, intent_row)
        self.give(2, drive.reports, self.cut, lambda row: wire_row(*row))
        rest = day.intents[self.at[1] :]
        unseen_ns = NEVER_NS if there else day.states[self.at[0]].clock_ns
        self.mark(drive.intents, MARK, min(rest[0].clock_ns if rest else NEVER_NS, unseen_ns))
        self.mark(drive.reports, MARK, self.cut[self.at[2]][0] if self.at[2] < len(self.cut) else NEVER_NS)
        before = [int(link.cursor[MARK]) for link in (drive.wire, drive.order_events)]
        heads = [int(link.cursor[HEAD]) for link in (drive.wire, drive.order_events)]
        for _ in range(self.pick(1, 3)):
            gateway.step(drive.context)
        # What the gateway cancels by itself, upon a report that kills, the venue takes at its own clock.
        killed = view.killed(drive.context) is not None
        for link, mark, head in zip((drive.wire, drive.order_events), before, heads, strict=True):
            fresh = [link.slots[k % len(link.slots)].clock_ns for k in range(head, int(link.cursor[HEAD]))]
            if link is not drive.wire or not killed:
                assert all(clock_ns >= mark for clock_ns in fresh), "older than the mark said"
            assert link.cursor[MARK] >= mark
        for rows, link in zip(self.written, (drive.wire, drive.order_events), strict=True):
            rows += taken(link, self.pick(0, 5) if not self.haste else 1 << 30)
        taken(drive.journal, self.pick(0, 9))

    def mark(self, link: Link, word: int, most: int) -> None:
        """Tell as much as is true, or less, but never less than before."""
        if self.pick(0, 2):
            link.cursor[word] = max(int(link.cursor[word]), most - (0 if self.haste else self.pick(0, 1)))

    def finish(self) -> Written:
        idle = 0
        while idle < 40:
            before = (list(self.at), [len(rows) for rows in self.written])
            self.round()
            idle = idle + 1 if before == (list(self.at), [len(rows) for rows in self.written]) else 0
        assert self.at == [len(self.day.states), len(self.day.intents), len(self.cut)]
        drive = self.drive
        for link in (drive.states, drive.intents, drive.reports):
            assert link.cursor[HEAD] == link.cursor[TAIL]
        octets = [(int(m.clock_ns), m.octets[: m.length].tobytes()) for m in self.written[0]]
        assert [clock_ns for clock_ns, _ in octets] == sorted(clock_ns for clock_ns, _ in octets)
        events = [told(event) for event in self.written[1]]
        assert [event["clock_ns"] for event in events] == sorted(event["clock_ns"] for event in events)
        ctx = drive.context
        return Written(octets, events, view.orders(ctx), view.refusals(ctx), view.killed(ctx))


@given(DAYS, st.sampled_from([LIMITS, CANCELING]), st.integers(0, 1 << 30))
@settings(max_examples=60)
def test_the_same_leaves_however_it_arrives(inputs: Any, limits: RiskLimits, seed: int) -> None:
    day = a_day(inputs, limits)
    late = Arrival(day, limits, seed, room=4, wire_room=2, journal_room=2)
    assert late.finish() == Arrival(day, limits, None).finish()


@given(DAYS, st.sampled_from([LIMITS, CANCELING]))
@settings(max_examples=60)
def test_reports_come_before_intents_and_refusals_are_told_later(inputs: Any, limits: RiskLimits) -> None:
    day = a_day(inputs, limits)
    written = Arrival(day, limits, 1).finish()
    twin = NaiveGateway(INSTRUMENTS, limits, FEES, TIGHT, MIDNIGHT_NS)
    both = [(clock_ns, 0, octets) for clock_ns, octets in day.chunks] + [(t.clock_ns, 1, t) for t in day.intents]
    states = iter([*day.states, None])
    state = next(states)
    for clock_ns, is_intent, what in sorted(both, key=lambda one: one[:2]):
        while state is not None and (state.clock_ns < clock_ns or (is_intent and state.ordinal <= what.ordinal)):
            twin.market(state)
            state = next(states)
        if is_intent:
            twin.intent(what)
        else:
            twin.octets(clock_ns, what)
    while state is not None:
        twin.market(state)
        state = next(states)
    assert [checked(octets) for _, octets in written.octets] == twin.messages
    late = [e | {"clock_ns": e["clock_ns"] + REFUSAL_NS} if e["kind"] == r.REFUSED else e for e in twin.events]
    assert written.events == sorted(late, key=lambda e: (e["clock_ns"], e["kind"] == r.REFUSED))


def held() -> Drive:
    return Drive(hold=True, refusal_ns=200, market=False)


def test_an_intent_waits_until_no_older_report_can_come() -> None:
    drive = held()
    put(drive.states, [state_row(s) for s in states(1)])
    put(drive.intents, [intent_row(an_intent(clock_ns=1_000, ordinal=0))])
    drive.reports.cursor[MARK] = 1_000  # one of the same time may
    drive.run()
    assert drive.messages == []
    drive.reports.cursor[MARK] = 1_001
    drive.run()
    assert [message[35] for message in drive.messages] == ["D"]


def test_a_report_waits_until_no_older_intent_can_come() -> None:
    drive = held()
    put(drive.reports, [wire_row(1_000, drive.message("0", {}))])
    drive.intents.cursor[MARK] = 999
    drive.run()
    assert view.sequences(drive.context) == (1, 1)
    drive.intents.cursor[MARK] = 1_000  # of the same time, the report is first
    drive.run()
    assert view.sequences(drive.context) == (1, 2)


def test_a_refusal_is_told_when_the_venue_could_have() -> None:
    drive = held()
    put(drive.intents, [intent_row(an_intent(clock_ns=1_000))])
    drive.intents.cursor[MARK], drive.reports.cursor[MARK] = 5_000, 1_200
    drive.run()
    assert view.refusals(drive.context) == {"no_market": 1}
    assert drive.events == [] and drive.order_events.cursor[MARK] == 1_200
    drive.reports.cursor[MARK] = 1_201
    drive.run()
    assert [(e["clock_ns"], e["kind"]) for e in drive.events] == [(1_200, r.REFUSED)]


def states(count: int, **fields: Any) -> list[Any]:
    return [a_state(ordinal=k, clock_ns=k, **fields) for k in range(count)]


def test_an_intent_is_judged_by_the_market_it_was_decided_upon_and_no_later_one() -> None:
    drive = held()
    market = states(3)
    market[1].marks, market[2].marks = 0, r.TRADABLE
    for state in market:
        state.clock_ns = 5
    put(drive.states, [state_row(state) for state in market])
    drive.reports.cursor[MARK] = NEVER_NS
    put(drive.intents, [intent_row(an_intent(clock_ns=5, ordinal=k, token=k)) for k in range(3)])
    drive.run()
    assert [message[11] for message in drive.messages] == ["V1", "V2"]
    assert view.refusals(drive.context) == {"not_tradable": 1}


def test_market_states_are_applied_once_nothing_older_can_come() -> None:
    drive = held()
    market = states(5)
    for k, state in enumerate(market):
        state.clock_ns = 100 * k
    put(drive.states, [state_row(state) for state in market])
    drive.run()
    assert drive.states.cursor[TAIL] == 0
    drive.intents.cursor[MARK], drive.reports.cursor[MARK] = NEVER_NS, 201
    drive.run()
    assert (drive.states.cursor[TAIL], drive.wire.cursor[MARK]) == (3, 300)
    drive.intents.cursor[MARK], drive.reports.cursor[MARK] = 400, NEVER_NS
    drive.run()
    assert drive.states.cursor[TAIL] == 4  # at equal times a report is first, and an intent has its own


def test_marks_say_what_may_still_come() -> None:
    drive = held()
    drive.intents.cursor[MARK], drive.reports.cursor[MARK] = 700, 600
    drive.run()
    assert (drive.order_events.cursor[MARK], drive.wire.cursor[MARK]) == (600, 700)
    drive.reports.cursor[MARK] = 2_000
    drive.run()
    assert (drive.order_events.cursor[MARK], drive.wire.cursor[MARK]) == (900, 700)  # a refusal takes 200
    drive.intents.cursor[MARK] = drive.reports.cursor[MARK] = NEVER_NS
    drive.run()
    assert (drive.order_events.cursor[MARK], drive.wire.cursor[MARK]) == (NEVER_NS, NEVER_NS)


def test_more_refusals_than_can_wait_are_a_kill() -> None:
    drive = held()
    drive.reports.cursor[MARK] = 1_001
    for _ in range(DELAYED_MAX // 512):
        put(drive.intents, [intent_row(an_intent(clock_ns=1_000))] * 512)
        drive.run()
    assert drive.killed() == ""
    put(drive.intents, [intent_row(an_intent(clock_ns=1_000))])
    drive.run()
    assert drive.killed() == "refusals_full"
    assert drive.counters()["refusals_untold"] == 1


def test_refusals_that_cannot_be_told_hold_reports_back_but_no_intents() -> None:
    drive = Drive(hold=True, refusal_ns=200, market=False, room=2)
    drive.reports.cursor[MARK] = NEVER_NS
    put(drive.intents, [intent_row(an_intent(clock_ns=1_000))] * 9)
    drive.intents.cursor[MARK] = 5_000
    put(drive.reports, [wire_row(2_000, drive.message("0", {}))])
    while gateway.step(drive.context):
        pass
    assert drive.intents.cursor[HEAD] == drive.intents.cursor[TAIL]
    assert room(drive.order_events) == 0
    assert view.sequences(drive.context)[1] == 1
    drive.run()
    assert len(drive.events) == 9
    assert view.sequences(drive.context)[1] == 2


@pytest.mark.parametrize(("most", "least"), [(1, 1), (64, 1)])
def test_a_step_does_no_more_than_its_burst(most: int, least: int) -> None:
    drive = held()
    drive.context.words[gateway.w.BURST] = most
    drive.reports.cursor[MARK] = NEVER_NS
    put(drive.intents, [intent_row(an_intent())] * 100)
    assert least <= gateway.step(drive.context) <= most
