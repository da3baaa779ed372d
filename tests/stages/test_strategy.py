"""Strategy stage: what is sent for what is asked, by whom, when; and what becomes of a strategy that misbehaves."""

import math
from typing import Any

import numpy as np
import pytest

from tests.skips import require
from tests.stages.strategy_drive import Drive, laps, picked, scripted
from tests.strategies.users import scripted as does
from venym import metrics
from venym.hot.link import MARK, TAIL, make_link
from venym.records import (
    ACCEPTED,
    BUY,
    CANCEL,
    DAY,
    FILLED,
    INTENT,
    IOC,
    KILL,
    LIMIT,
    MARKET,
    NEVER_NS,
    NEW,
    ORDER_EVENT,
    REFUSED,
    REPLACE,
    SELL,
    SIGNAL,
)
from venym.stages import strategy
from venym.strategies.interface import INTENTS_MAX, NO_CODE, NOT_WHOLE

pytestmark = pytest.mark.plain


def sent(*y: float, **market: Any) -> dict[str, int]:
    """The one intent that a signal with this command makes."""
    drive = Drive([scripted()])
    drive.signal(5, *y, **market)
    (intent,) = drive.run()
    return intent


def test_an_intent_says_who_asks_when_and_upon_what() -> None:
    drive = Drive([scripted(me=1), scripted(me=2)])
    drive.signal(100, does.NOTHING)
    drive.signal(107, does.LIMITS, 4, BUY, 100, 10_000, 0, 2, instrument=1)
    assert drive.run() == [
        dict(
            clock_ns=107, cause=1_001, ordinal=1, token=4, shares=100, price_e4=10_000, strategy=1, instrument=1,
            action=NEW, side=BUY, ord_type=LIMIT, tif=DAY, post_only=0, reason=0,
        )
    ]  # fmt: skip
    assert drive.whole(1, 1)[does.DECIDED] == 1 and drive.whole(1, 0)[does.DECIDED] == 1
    assert drive.counters() == {"signals_taken": 2, "strategy_calls": 4, "intents_sent": 1}


def test_stamps_of_latency_go_with_what_a_signal_caused() -> None:
    drive = Drive([scripted()])
    drive.signal(5, does.LIMITS, 1, BUY, 100, 10_000)
    drive.step()
    intent = drive.intents.slots[0]
    assert [intent.taken_cycles, intent.decoded_cycles, intent.featured_cycles, intent.inferred_cycles] == [
        11, 12, 13, 14,
    ]  # fmt: skip
    assert 0 < intent.begun_cycles <= intent.decided_cycles


def test_what_an_order_event_caused_has_stamps_from_here_on_only() -> None:
    drive = Drive([scripted(execution_kind=ACCEPTED, execution_does=does.LIMITS)], hold=False)
    drive.signal(5, does.LIMITS, 1, BUY, 100, 10_000)
    drive.step()
    drive.event(9, ACCEPTED, 1, action=NEW, side=BUY, shares=100, leaves_shares=100)
    drive.step()
    intent = drive.intents.slots[1]
    assert [intent.taken_cycles, intent.decoded_cycles, intent.featured_cycles, intent.inferred_cycles] == [0] * 4
    assert 0 < intent.begun_cycles <= intent.decided_cycles
    assert (int(intent.clock_ns), int(intent.ordinal), int(intent.cause)) == (9, 0, 1_000)


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        ((does.LIMITS, 1, SELL, 5, 9_900), (NEW, 1, SELL, 5, 9_900, LIMIT, DAY, 0)),
        ((does.IOCS, 2, BUY, 5, 9_900), (NEW, 2, BUY, 5, 9_900, LIMIT, IOC, 0)),
        ((does.POSTS, 3, BUY, 5, 9_900), (NEW, 3, BUY, 5, 9_900, LIMIT, DAY, 1)),
        ((does.AT_MARKET, 4, SELL, 5, 9_900), (NEW, 4, SELL, 5, 0, MARKET, IOC, 0)),
        ((does.CANCELS, 5), (CANCEL, 5, 0, 0, 0, 0, 0, 0)),
        ((does.REPLACES, 6, 0, 7, 9_800), (REPLACE, 6, 0, 7, 9_800, 0, 0, 0)),
        ((does.ASKS_ANY, 7, BUY, 8, 9_900, 1), (NEW, 7, BUY, 8, 9_900, MARKET, IOC, 1)),
        ((does.KILLS,), (KILL, 0, 0, 0, 0, 0, 0, 0)),
    ],
)
def test_every_way_to_ask(y: tuple[float, ...], expected: tuple[int, ...]) -> None:
    intent = sent(*y)
    assert picked([intent], "action", "token", "side", "shares", "price_e4", "ord_type", "tif", "post_only") == [
        expected
    ]


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 0.5, 2.0**60, -(2.0**60)])
def test_a_number_that_is_not_whole_is_sent_as_one_that_the_gate_refuses(odd: float) -> None:
    assert picked([sent(does.LIMITS, 1, BUY, odd, 9_900)], "shares", "price_e4") == [(NOT_WHOLE, 9_900)]
    assert picked([sent(does.LIMITS, 1, BUY, 100, odd)], "shares", "price_e4") == [(100, NOT_WHOLE)]
    assert picked([sent(does.LIMITS, odd, BUY, 100, 9_900)], "token") == [(NOT_WHOLE,)]
    assert picked([sent(does.LIMITS, 1, odd, 100, 9_900)], "side") == [(NO_CODE,)]


@pytest.mark.parametrize("side", [257, 256, -1, 258])
def test_a_side_that_no_octet_holds_never_becomes_another(side: int) -> None:
    assert sent(does.LIMITS, 1, side, 100, 9_900)["side"] == NO_CODE


def test_negative_shares_stay_what_they_are() -> None:
    assert picked([sent(does.LIMITS, 1, BUY, -100, -9_900)], "shares", "price_e4") == [(-100, -9_900)]


def test_what_is_the_stages_to_say_cannot_be_said_by_the_strategy() -> None:
    drive = Drive([scripted(me=1), scripted(me=2)])
    drive.signal(5, does.JUNK, 9, 0, 0, 0, 55, 2)
    (intent,) = drive.run()
    assert picked([intent], "strategy", "clock_ns", "cause", "ordinal", "reason", "instrument") == [
        (1, 5, 1_000, 0, 0, 0)
    ]
    assert picked([intent], "action", "token", "side", "shares", "price_e4") == [(55, 9, 77, -3, 1 << 40)]
    slot = drive.intents.slots[0]
    assert (int(slot.taken_cycles), slot.begun_cycles > 94, slot.decided_cycles > 93) == (11, True, True)


@pytest.mark.parametrize("instrument", [99, -2, 2])
def test_an_unknown_instrument_can_be_asked_for_and_its_refusal_comes_back(instrument: int) -> None:
    drive = Drive([scripted()], hold=False)
    drive.signal(5, does.ELSEWHERE, 3, BUY, 100, 9_900, instrument)
    drive.signal(6, does.LIMITS, 4, BUY, 100, 9_900)
    assert picked(drive.run(), "instrument", "token") == [(instrument, 3), (0, 4)]
    nowhere = 2
    assert [row["token"] for row in drive.orders(0, nowhere)] == [3]
    drive.event(7, REFUSED, 3, instrument=instrument, reason=3, action=NEW, final=1)
    drive.run()
    assert drive.orders(0, nowhere) == []
    assert drive.whole(0, nowhere)[does.EXECUTED] == 1 and drive.whole(0, nowhere)[does.LAST_REASON] == 3
    assert [row["token"] for row in drive.orders(0, 0)] == [4]


def test_another_configured_instrument_can_be_asked_for() -> None:
    drive = Drive([scripted()], hold=False)
    drive.signal(5, does.ELSEWHERE, 3, BUY, 100, 9_900, 1)
    drive.run()
    assert [row["token"] for row in drive.orders(0, 1)] == [3] and drive.orders(0, 0) == []
    drive.event(6, ACCEPTED, 3, instrument=1, action=NEW, side=BUY, shares=100, leaves_shares=100, price_e4=9_900)
    drive.run()
    assert drive.whole(0, 1)[does.EXECUTED] == 1 and drive.orders(0, 1)[0]["acknowledged"] == 1


def test_a_strategy_is_called_for_its_instruments_only() -> None:
    one = scripted()._replace(instruments=(1,))
    drive = Drive([one, scripted()], instruments=2)
    drive.signal(5)
    drive.signal(6, instrument=1)
    drive.run()
    assert [drive.whole(0, k)[does.DECIDED] for k in (0, 1)] == [0, 1]
    assert [drive.whole(1, k)[does.DECIDED] for k in (0, 1)] == [1, 1]


@pytest.mark.parametrize("instrument", [-1, 2, 99])
def test_a_signal_of_no_configured_instrument_is_taken_and_nobody_called(instrument: int) -> None:
    drive = Drive([scripted()])
    drive.signal(5, does.LIMITS, 1, BUY, 1, 1, instrument=instrument)
    assert drive.run() == []
    assert drive.counters() == {"signals_taken": 1}


# Misbehaviour


def test_a_strategy_that_raises_is_switched_off_and_the_others_are_called_once() -> None:
    drive = Drive([scripted(me=1), scripted(me=2), scripted(me=3)])
    drive.mark(events_ns=100)
    drive.signal(5, does.RAISES, 0, 0, 0, 0, 0, 2)
    drive.signal(6, does.LIMITS, 1, BUY, 100, 9_900)
    assert picked(drive.run(), "strategy", "action", "reason", "clock_ns", "ordinal", "cause") == [
        (1, KILL, strategy.RAISED, 5, 0, 1_000),
        (0, NEW, 0, 6, 1, 1_001),
        (2, NEW, 0, 6, 1, 1_001),
    ]
    assert drive.raised == [strategy.InCall(1, 0)]
    assert [drive.whole(k)[does.DECIDED] for k in range(3)] == [2, 1, 2]
    assert drive.desk.members["enabled"][:3].tolist() == [1, 0, 1]
    assert drive.counters() == {
        "signals_taken": 2, "strategy_calls": 5, "intents_sent": 3, "strategies_disabled": 1,
    }  # fmt: skip


def test_what_was_asked_for_before_the_exception_is_dropped_and_leaves_no_trace() -> None:
    drive = Drive([scripted(me=1), scripted(me=2)])
    drive.mark(events_ns=100)
    drive.signal(5, does.RAISES_AFTER_ASKING, 1, BUY, 100, 9_900, 0, 1)
    drive.signal(6, does.LIMITS, 2, BUY, 100, 9_900, 0)
    assert picked(drive.run(), "strategy", "action", "token", "instrument") == [(0, KILL, 0, -1), (1, NEW, 2, 0)]
    assert drive.orders(0) == []
    assert drive.counters()["intents_dropped"] == 1


def test_the_intents_of_those_called_before_are_sent_before_the_kill() -> None:
    drive = Drive([scripted(10, me=1, timer_does=does.LIMITS), scripted(10, me=2, timer_does=does.RAISES),
                   scripted(10, me=3, timer_does=does.LIMITS)])  # fmt: skip
    drive.signal(5)
    drive.mark(10, 11)
    assert picked(drive.run(), "strategy", "action") == [(0, NEW), (1, KILL), (2, NEW)]


def test_all_may_raise_on_one_signal() -> None:
    drive = Drive([scripted() for _ in range(8)])
    drive.mark(events_ns=100)
    drive.signal(5, does.RAISES)
    drive.signal(6, does.LIMITS, 1, BUY, 1, 1)
    assert picked(drive.run(), "strategy", "action", "reason") == [(k, KILL, strategy.RAISED) for k in range(8)]
    assert int(drive.signals.cursor[TAIL]) == 2 and len(drive.raised) == 8


def test_an_exception_upon_an_order_event_leaves_the_event_applied_once() -> None:
    drive = Drive([scripted(me=1, execution_kind=FILLED, execution_does=does.RAISES), scripted(me=2)], hold=False)
    drive.signal(5, does.LIMITS, 1, BUY, 100, 9_900, 0, 1)
    drive.run()
    drive.event(6, FILLED, 1, action=NEW, side=BUY, shares=100, leaves_shares=60, filled_shares=40,
                last_shares=40, last_price_e4=9_900)  # fmt: skip
    drive.event(7, FILLED, 1, side=BUY, shares=100, leaves_shares=0, filled_shares=100, last_shares=60,
                last_price_e4=9_900, final=1)  # fmt: skip
    assert picked(drive.run(), "strategy", "action", "reason", "clock_ns") == [(0, KILL, strategy.RAISED, 6)]
    assert drive.position()["shares"] == 100 and drive.orders() == []
    assert drive.whole()[does.EXECUTED] == 1
    assert drive.counters()["order_events_taken"] == 2


def test_an_exception_upon_a_timer_leaves_the_other_timers() -> None:
    drive = Drive([scripted(10, me=1, timer_does=does.RAISES), scripted(10, me=2)])
    drive.signal(5)
    drive.mark(25, 25)
    assert picked(drive.run(), "strategy", "action", "clock_ns") == [(0, KILL, 10)]
    assert drive.whole(0)[does.TIMED] == 1 and drive.whole(1)[does.TIMED] == 2


def test_asking_for_a_thousand_in_one_call_sends_none_and_kills() -> None:
    drive = Drive([scripted(me=1), scripted(me=2)])
    drive.mark(events_ns=100)
    drive.signal(5, does.FLOODS, 1, BUY, 100, 9_900, 1_000, 1)
    drive.signal(6, does.LIMITS, 1, BUY, 100, 9_900)
    assert picked(drive.run(), "strategy", "action", "reason", "clock_ns") == [
        (0, KILL, strategy.INTENTS_OVER, 5), (1, NEW, 0, 6),
    ]  # fmt: skip
    assert drive.orders(0) == [] and drive.raised == []
    assert drive.counters()["intents_dropped"] == 1_000


@pytest.mark.parametrize("asked", [INTENTS_MAX, INTENTS_MAX + 1])
def test_as_many_as_fit_in_one_call_are_sent_and_one_more_is_too_many(asked: int) -> None:
    drive = Drive([scripted()])
    drive.signal(5, does.FLOODS, 1, BUY, 100, 9_900, asked)
    tokens = [intent["token"] for intent in drive.run()]
    assert tokens == (list(range(1, INTENTS_MAX + 1)) if asked == INTENTS_MAX else [0])


def test_a_count_below_zero_kills() -> None:
    assert picked([sent(does.UNCOUNTS)], "action", "reason") == [(KILL, strategy.INTENTS_OVER)]


def test_a_strategy_may_kill_and_is_called_no_more() -> None:
    drive = Drive([scripted(10)])
    drive.signal(5, does.KILLS)
    drive.signal(16, does.LIMITS, 1, BUY, 1, 1)
    drive.mark(100, 100)
    assert picked(drive.run(), "action", "reason") == [(KILL, strategy.ASKED)]
    assert drive.whole()[does.DECIDED] == 1 and drive.whole()[does.TIMED] == 0


def test_a_strategy_can_be_switched_off_between_calls_once() -> None:
    drive = Drive([scripted(), scripted()])
    drive.signal(5, does.NOTHING)
    drive.run()
    for _ in range(2):
        strategy.disable(drive.context, 1, 200)
    assert strategy.in_call(drive.context) is None
    assert picked(drive.run(), "strategy", "action", "reason", "ordinal") == [(1, KILL, 200, 0)]


@pytest.mark.parametrize(("index", "reason"), [(-1, 1), (2, 1), (0, 0), (0, 256)])
def test_only_what_is_there_can_be_switched_off(index: int, reason: int) -> None:
    with pytest.raises(ValueError, match="strategy"):
        strategy.disable(Drive([scripted(), scripted()]).context, index, reason)


@pytest.mark.parametrize("number", [-1, 1, 8])
def test_an_order_event_of_no_strategy_is_counted_and_nothing_else(number: int) -> None:
    drive = Drive([scripted()], hold=False)
    drive.event(5, FILLED, 1, strategy=number, side=BUY, last_shares=5)
    drive.run()
    assert drive.counters() == {"order_events_taken": 1, "events_misdirected": 1}
    assert drive.position()["shares"] == 0


# Building


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (dict(strategies=9), "9 strategies"),
        (dict(intents=8), "16 of one call"),
        (dict(params=(1.0,)), "4 params, 1 values"),
        (dict(instruments=(0, 2)), r"\[2\] are none of the 2"),
    ],
)
def test_what_cannot_be_built(change: dict[str, Any], said: str) -> None:
    one = scripted()
    one = one._replace(params=change.get("params", one.params), instruments=change.get("instruments", (0,)))
    with pytest.raises(ValueError, match=said):
        Drive([one] * change.get("strategies", 1), intents=change.get("intents", 64))


def test_no_strategy_at_all_takes_what_comes() -> None:
    drive = Drive([])
    drive.signal(5)
    drive.mark(9)
    assert drive.run() == []
    assert (drive.counters(), int(drive.intents.cursor[MARK])) == ({"signals_taken": 1}, 9)


def test_the_clock_may_reach_never() -> None:
    drive = Drive([scripted()])
    drive.signal(5)
    drive.mark(NEVER_NS, NEVER_NS)
    drive.run()
    assert drive.intents.cursor[MARK] == NEVER_NS


def test_the_memory_comes_from_take() -> None:
    names: list[str] = []

    def take(name: str, count: int, dtype: np.dtype) -> np.ndarray:
        names.append(name)
        return np.zeros(count, dtype).view(np.recarray) if dtype.names else np.zeros(count, dtype)

    signals, events, intents = (make_link(dtype, 16) for dtype in (SIGNAL, ORDER_EVENT, INTENT))
    strategy.build(take, signals, events, intents, [scripted()], 2, True)
    assert len(set(names)) == len(names) > 10


def test_the_stage_is_compiled_once_for_any_strategies() -> None:
    require("needs the compiler")
    for strategies, instruments, hold in ([], 1, True), ([scripted()] * 8, 5, False), ([scripted(10)], 2, True):
        Drive(strategies, instruments, hold).step()
    assert len(laps.signatures) == 1  # type: ignore[attr-defined]


def test_every_counter_and_reason_has_a_word_and_a_name_of_its_own() -> None:
    assert [counter.word for counter in metrics.STRATEGY] == list(range(metrics.STRATEGY_COUNTERS))
    for counter in metrics.STRATEGY:
        assert getattr(metrics, counter.name.upper()) == counter.word
        assert counter.meaning and not counter.meaning.endswith(".")
    assert len({reason.word for reason in strategy.REASONS}) == len(strategy.REASONS)
    for reason in strategy.REASONS:
        assert getattr(strategy, reason.name.upper()) == reason.word
