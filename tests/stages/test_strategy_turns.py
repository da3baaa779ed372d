"""Strategy stage: which input is next, when it waits, what it promises, and what happens when there is no room."""

import pytest

from tests.stages.strategy_drive import Drive, picked, scripted
from tests.strategies.users import scripted as does
from venym.hot.link import DONE, HEAD, MARK, TAIL
from venym.records import ACCEPTED, BUY, KILL, NEW
from venym.stages import strategy

pytestmark = pytest.mark.plain


def test_at_equal_clocks_order_events_come_first_then_timers_then_signals() -> None:
    drive = Drive([scripted(10, execution_kind=ACCEPTED, execution_does=does.LIMITS, timer_does=does.LIMITS)])
    drive.signal(5, does.LIMITS, 1, BUY, 9, 9_900)
    drive.signal(10, does.LIMITS, 50, BUY, 9, 9_900)
    drive.event(10, ACCEPTED, 1, action=NEW, side=BUY, shares=9, leaves_shares=9, price_e4=9_900)
    drive.mark(11, 11)
    assert picked(drive.run(), "token", "clock_ns", "ordinal") == [(1, 5, 0), (2, 10, 0), (1_001, 10, 0), (50, 10, 1)]


def test_under_hold_a_signal_waits_until_no_order_event_can_come_before_it() -> None:
    drive = Drive([scripted()])
    drive.signal(5, does.LIMITS, 1, BUY, 9, 9_900)
    drive.signal(10, does.LIMITS, 2, BUY, 9, 9_900)
    assert len(drive.run()) == 1, "nothing works yet, so the first waits for nothing"
    drive.mark(events_ns=10)
    assert drive.run() == [], "an event at 10 would come first"
    drive.mark(events_ns=11)
    assert len(drive.run()) == 1


def test_after_a_kill_a_signal_still_waits_for_nothing_where_nothing_works() -> None:
    drive = Drive([scripted(me=1), scripted(me=2)])
    drive.signal(5, does.KILLS, 0, 0, 0, 0, 0, 1)
    drive.signal(8)
    drive.run()
    assert drive.whole(1)[does.DECIDED] == 2


def test_under_hold_an_order_event_waits_for_earlier_signals() -> None:
    drive = Drive([scripted()])
    drive.signal(5, does.LIMITS, 1, BUY, 9, 9_900)
    drive.run()
    drive.event(8, ACCEPTED, 1, action=NEW, side=BUY, shares=9, leaves_shares=9)
    drive.mark(signals_ns=7)
    drive.run()
    assert drive.whole()[does.EXECUTED] == 0
    drive.mark(signals_ns=8)
    drive.run()
    assert drive.whole()[does.EXECUTED] == 1


def test_under_hold_a_timer_waits_for_both() -> None:
    drive = Drive([scripted(10)])
    drive.signal(5, does.LIMITS, 1, BUY, 9, 9_900)
    drive.run()
    for signals_ns, events_ns, fired in [(9, 11, 0), (10, 10, 0), (10, 11, 1)]:
        drive.mark(signals_ns, events_ns)
        drive.run()
        assert drive.whole()[does.TIMED] == fired


def test_without_hold_nothing_waits() -> None:
    drive = Drive([scripted(10)], hold=False)
    drive.signal(5, does.LIMITS, 1, BUY, 9, 9_900)
    drive.signal(12, does.LIMITS, 2, BUY, 9, 9_900)
    drive.signal(13, does.LIMITS, 3, BUY, 9, 9_900)
    drive.event(11, ACCEPTED, 1, action=NEW, side=BUY, shares=9, leaves_shares=9)
    assert picked(drive.run(), "token", "clock_ns") == [(1, 11), (2, 12), (3, 13)], "no clock falls"
    assert drive.whole()[does.EXECUTED] == 1 and drive.whole()[does.TIMED] == 0
    drive.mark(signals_ns=20)
    drive.run()
    assert drive.whole()[does.TIMED] == 1 and drive.whole()[does.LAST_CLOCK] == 20


def test_timers_begin_with_the_first_signal_and_are_for_instruments_seen() -> None:
    drive = Drive([scripted(10), scripted(25)])
    drive.mark(1_000)
    drive.run()
    assert drive.counters() == {}
    drive.signal(1_003, instrument=1)
    drive.mark(1_050)
    drive.run()
    assert [drive.whole(k, 0)[does.TIMED] for k in (0, 1)] == [0, 0]
    assert [drive.whole(k, 1)[does.TIMED] for k in (0, 1)] == [5, 2]
    assert drive.whole(0, 1)[does.LAST_CLOCK] == 1_050
    assert drive.counters()["timers_taken"] == 7


def test_marks_promise_what_comes_and_tell_what_is_done() -> None:
    drive = Drive([scripted(100)])
    assert (drive.intents.cursor[MARK], drive.intents.cursor[DONE]) == (0, -1)
    drive.mark(4)
    drive.run()
    assert (drive.intents.cursor[MARK], drive.intents.cursor[DONE]) == (4, -1)
    drive.signal(5, does.LIMITS, 1, BUY, 9, 9_900)
    drive.signal(8)
    drive.run()
    assert (drive.intents.cursor[MARK], drive.intents.cursor[DONE]) == (5, 0), "nothing before what was decided upon"
    drive.mark(events_ns=7)
    drive.run()
    assert (drive.intents.cursor[MARK], drive.intents.cursor[DONE]) == (7, 0)
    drive.mark(900, 300)
    drive.run()
    assert (drive.intents.cursor[MARK], drive.intents.cursor[DONE]) == (300, 1)
    assert drive.whole()[does.TIMED] == 2


def test_the_mark_is_never_higher_than_the_next_timer() -> None:
    drive = Drive([scripted(100)], intents=16)
    drive.signal(5)
    drive.mark(250)
    drive.step()
    assert drive.intents.cursor[MARK] == 250
    drive = Drive([scripted(100)], burst=2)
    drive.signal(5)
    drive.mark(250)
    drive.step()
    assert drive.intents.cursor[MARK] == 100


# When full


def test_no_call_is_made_whose_intents_may_not_fit_and_none_is_made_twice() -> None:
    drive = Drive([scripted(me=k + 1) for k in range(3)], intents=32)
    drive.signal(5, does.FLOODS, 1, BUY, 9, 9_900, 10)
    drive.step()
    assert int(drive.intents.cursor[HEAD]) == 20, "of three calls two had room"
    assert [drive.whole(k)[does.DECIDED] for k in range(3)] == [1, 1, 0]
    assert (int(drive.signals.cursor[TAIL]), int(drive.intents.cursor[DONE])) == (0, -1)
    assert drive.step() == 0
    assert picked(drive.take(4), "strategy") == [(0,)] * 4
    drive.step()
    assert [drive.whole(k)[does.DECIDED] for k in range(3)] == [1, 1, 1]
    assert [intent["strategy"] for intent in drive.take()] == [0] * 6 + [1] * 10 + [2] * 10
    assert (int(drive.signals.cursor[TAIL]), int(drive.intents.cursor[DONE])) == (1, 0)


def test_a_kill_waits_for_room_and_keeps_its_time() -> None:
    drive = Drive([scripted(10, me=1), scripted(me=2)], intents=16)
    drive.signal(5, does.FLOODS, 1, BUY, 9, 9_900, 16, 1)
    drive.signal(6, does.RAISES, 0, 0, 0, 0, 0, 1)
    drive.mark(7, 7)
    drive.step()
    first = drive.take(15)
    assert drive.step() == 0, "room for one, sixteen may come"
    first += drive.take()
    drive.step()
    assert [call.ordinal for call in drive.raised] == [1]
    assert len(first) == 16
    assert picked(drive.run(), "strategy", "action", "clock_ns", "ordinal") == [(0, KILL, 6, 1)]


def test_no_mark_overtakes_a_kill_that_waits_for_room() -> None:
    drive = Drive([scripted(10, timer_does=does.RAISES)], intents=16)
    drive.signal(5)
    drive.mark(100, 100)
    with pytest.raises(ValueError, match="as told"):
        strategy.step(drive.context)
    strategy.disable(drive.context, 0, strategy.RAISED)
    drive.intents.cursor[HEAD] = 16  # full, since the call
    drive.step()
    assert drive.intents.cursor[MARK] == 10
    drive.intents.cursor[TAIL] = 16
    drive.step()
    assert picked(drive.take(), "action", "clock_ns") == [(KILL, 10)]


def test_a_step_makes_about_as_many_calls_as_its_burst() -> None:
    drive = Drive([scripted()], burst=4)
    for clock_ns in range(8):
        drive.signal(clock_ns)
    drive.step()
    assert drive.whole()[does.DECIDED] == 2, "each signal is a call and a release"
