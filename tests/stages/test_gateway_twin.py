"""The gateway does what its twin of dicts and sums does, whatever strategies ask and the venue says."""

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.gateway import NaiveGateway
from tests.stages.gateway_drive import FEES, INSTRUMENTS, MIDNIGHT_NS, NAME, Drive, intent_row, put, state_row
from tests.stages.gateway_world import CALM, CANCELING, LIMITS, TIGHT, USUAL, World
from venym import records as r
from venym.stages import gateway_view as view
from venym.stages.orders import REQUESTS_USED
from venym.stages.risk import RiskLimits

pytestmark = pytest.mark.plain

SEEDS = st.integers(0, 1 << 16)
ANYTHING = st.lists(st.tuples(st.sampled_from(USUAL), SEEDS), min_size=40, max_size=150)
SENSIBLE = st.lists(st.tuples(st.sampled_from(CALM), SEEDS), min_size=60, max_size=200)


def give(drive: Drive, kind: str, what: Any, clock_ns: int) -> None:
    drive.clock_ns = clock_ns
    if kind == "market":
        put(drive.states, [state_row(what)])
        drive.run()
    elif kind == "intent":
        put(drive.intents, [intent_row(what)])
        drive.run()
    else:
        drive.hear(what)


def give_twin(twin: NaiveGateway, kind: str, what: Any, clock_ns: int) -> None:
    if kind == "market":
        twin.market(what)
    elif kind == "intent":
        twin.intent(what)
    else:
        twin.octets(clock_ns, what)


def as_order(order: Any) -> view.Order:
    """A twin's order, as the view shows it."""
    numbers = [request.number if request else 0 for request in (order.request, order.cancel, order.replace)]
    return view.Order(
        order.row, order.strategy, order.instrument, INSTRUMENTS[order.instrument].fix_symbol, order.token, order.side,
        order.short, order.shares, order.price_e4, order.filled, NaiveGateway.open_shares(order),
        order.pending[0] if order.pending else 0, order.status, (numbers[0], numbers[1], numbers[2]),
    )  # fmt: skip


def assert_same(drive: Drive, twin: NaiveGateway) -> None:
    ctx = drive.context
    assert drive.messages == twin.messages
    assert drive.events == twin.events
    assert view.refusals(ctx) == {NAME[code]: n for code, n in twin.refusals.items()}
    left_out = {"requests_full", "garbled", "money_clamped"}
    found = {name: n for name, n in drive.counters().items() if name not in left_out}
    assert found == {name: n for name, n in twin.counters.items() if n}
    for instrument in range(2):
        for strategy in (None, 0, 1):
            assert view.holding(ctx, instrument, strategy)._asdict() == twin.holding(instrument, strategy)
    assert view.orders(ctx) == [as_order(order) for order in twin.orders]
    assert [o.row for o in view.open_orders(ctx)] == [
        o.row for s in (0, 1) for i in (0, 1) for o in twin.open_orders(s, i)
    ]
    assert bool(view.killed(ctx)) == bool(twin.killed)
    if isinstance(twin.killed, str):
        assert drive.killed() == twin.killed
    assert view.sequences(ctx) == (twin.out_sequence, twin.in_sequence)


def assert_invariants(drive: Drive, limits: RiskLimits, sent: int, was_killed: bool, kind: str) -> None:
    """What holds whatever anybody does. `sent`: messages before the last input."""
    ctx, orders = drive.context, view.orders(drive.context)
    working = [order for order in orders if order.status != "final"]
    filled = [event for event in drive.events if event["kind"] == r.FILLED]
    for instrument in range(2):
        total = view.holding(ctx, instrument)
        ours = [order for order in working if order.instrument == instrument]
        assert total.open_buy_shares == sum(order.open_shares for order in ours if order.side == r.BUY)
        assert total.open_sell_shares == sum(order.open_shares for order in ours if order.side == r.SELL)
        signs = {r.BUY: 1, r.SELL: -1}
        booked = [signs[e["side"]] * e["last_shares"] for e in filled if e["instrument"] == instrument]
        assert total.shares == sum(booked)
        for strategy, side in itertools.product(range(2), (r.BUY, r.SELL)):
            own = view.holding(ctx, instrument, strategy)
            worst = own.shares + own.open_buy_shares if side == r.BUY else own.open_sell_shares - own.shares
            if kind == "intent":  # over the limit only where the venue brought it
                assert worst <= max(limits.position_shares_max, drive.worst.get((instrument, strategy, side), 0))
            drive.worst[instrument, strategy, side] = worst
    if not working:
        assert ctx.positions.values[0] == 0
    if was_killed:
        assert all(message[35] == "F" for message in drive.messages[sent:])
    if view.killed(ctx) and len(orders) and ctx.orders.words[REQUESTS_USED] < len(ctx.orders.requests):
        assert all(order.numbers[1] for order in working)  # each has a cancel on its way


def play(inputs: Any, limits: RiskLimits = LIMITS) -> tuple[Drive, NaiveGateway]:
    twin = NaiveGateway(INSTRUMENTS, limits, FEES, TIGHT, MIDNIGHT_NS)
    drive = Drive(limits, tables=TIGHT, market=False)
    world = World(twin)
    for kind, seed in inputs:
        for what, value in world.make(kind, seed):
            sent, was_killed = len(twin.messages), bool(twin.killed)
            give_twin(twin, what, value, world.clock_ns)
            give(drive, what, value, world.clock_ns)
            assert_same(drive, twin)
            assert_invariants(drive, limits, sent, was_killed, what)
    return drive, twin


@given(ANYTHING)
@settings(max_examples=60)
def test_messages_events_positions_and_refusals_are_the_twins(inputs: Any) -> None:
    play([("open_market", 0), *inputs])


@given(SENSIBLE, st.sampled_from([0, 1]))
@settings(max_examples=60)
def test_the_same_over_long_days_on_which_little_goes_wrong(inputs: Any, short_sales: int) -> None:
    play([("open_market", 0), *inputs], limits=LIMITS._replace(short_sales=short_sales))


@given(SENSIBLE.map(lambda inputs: [*inputs[:30], ("market", 1), *inputs[30:], ("market", 2)]))
@settings(max_examples=60)
def test_the_same_where_orders_are_canceled_when_the_market_stops(inputs: Any) -> None:
    play([("open_market", 0), *inputs], limits=CANCELING)
