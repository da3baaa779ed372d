"""Sessions of the day and of the week, in two time zones, through changes of clocks and breaks."""

from datetime import UTC, datetime

import pytest

from tests.control.session_peers import Bench
from venym.control.session_dialling import Dialling
from venym.control.session_messages import SECOND_NS
from venym.control.session_schedule import Schedule, ScheduleError, Window, moment
from venym.control.session_table import State

DAILY = Schedule(moment("23:30 UTC"), moment("17:30 America/New_York"))
WEEKLY = Schedule(moment("Sun 17:05 America/New_York"), moment("Fri 16:55 America/New_York"))
BREAK = (moment("07:00 America/New_York"), moment("07:03 America/New_York"))
BROKEN = Schedule(WEEKLY.start, WEEKLY.end, breaks=(BREAK,), reset=False)


def at(text: str) -> int:
    """Nanoseconds since 1970 of a UTC time."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * SECOND_NS


def hours(schedule: Schedule, text: str) -> tuple[str, ...] | None:
    window = schedule.session(at(text))
    return window and tuple(f"{datetime.fromtimestamp(ns / SECOND_NS, UTC):%m-%d %H:%M}" for ns in window)


@pytest.mark.parametrize(
    ("now", "session"),
    [
        ("2026-03-05 23:29:59", None),
        ("2026-03-05 23:30", ("03-05 23:30", "03-06 22:30")),
        ("2026-03-06 00:00", ("03-05 23:30", "03-06 22:30")),
        ("2026-03-06 22:29:59", ("03-05 23:30", "03-06 22:30")),
        ("2026-03-06 22:30", None),
        ("2026-03-08 00:00", ("03-07 23:30", "03-08 21:30")),  # New York's clocks go forward at 07:00 UTC
        ("2026-03-08 21:30", None),
        ("2026-03-09 12:00", ("03-08 23:30", "03-09 21:30")),
        ("2026-10-31 12:00", ("10-30 23:30", "10-31 21:30")),
        ("2026-11-01 21:45", ("10-31 23:30", "11-01 22:30")),  # and back at 06:00 UTC
    ],
)
def test_a_session_over_midnight_between_two_time_zones(now, session):
    assert hours(DAILY, now) == session


@pytest.mark.parametrize(
    ("now", "session"),
    [
        ("2026-03-01 22:04", None),
        ("2026-03-01 22:05", ("03-01 22:05", "03-06 21:55")),
        ("2026-03-04 00:00", ("03-01 22:05", "03-06 21:55")),
        ("2026-03-06 21:55", None),
        ("2026-03-07 12:00", None),  # Saturday
        ("2026-03-08 21:04", None),
        ("2026-03-08 21:05", ("03-08 21:05", "03-13 20:55")),
        ("2026-11-01 22:05", ("11-01 22:05", "11-06 21:55")),
        ("2026-12-31 23:59", ("12-27 22:05", "01-01 21:55")),
    ],
)
def test_a_session_of_the_week(now, session):
    assert hours(WEEKLY, now) == session


def test_a_session_of_a_whole_week():
    schedule = Schedule(moment("Sun 17:05 UTC"), moment("Sun 17:00 UTC"))
    assert hours(schedule, "2026-01-11 12:00") == ("01-04 17:05", "01-11 17:00")
    assert hours(schedule, "2026-01-11 17:02") is None


def test_numbers_are_used_in_a_session_from_its_first_moment_on():
    assert DAILY.is_new(at("2026-03-05 23:29:59"), at("2026-03-05 23:40"))
    assert not DAILY.is_new(at("2026-03-05 23:30"), at("2026-03-05 23:40"))
    assert not DAILY.is_new(0, at("2026-03-05 23:00"))


def test_sessions_of_working_days():
    schedule = Schedule(moment("09:00 UTC"), moment("17:00 UTC"), days=frozenset(range(5)))
    assert schedule.is_open(at("2026-01-09 12:00"))
    assert not schedule.is_open(at("2026-01-10 12:00"))
    assert schedule.is_open(at("2026-01-12 12:00"))


def test_a_session_around_the_clock_changes_at_its_start():
    schedule = Schedule(moment("17:00 UTC"), moment("17:00 UTC"))
    assert schedule.session(at("2026-01-09 17:00")) == Window(at("2026-01-09 17:00"), at("2026-01-10 17:00"))
    assert not schedule.is_over(at("2026-01-09 17:00"), at("2026-01-10 16:59:59"))
    assert schedule.is_over(at("2026-01-10 16:59:59"), at("2026-01-10 17:00"))


@pytest.mark.parametrize(
    ("zone", "day", "of_day", "utc"),
    [
        ("America/New_York", "2026-03-08", "02:30", "2026-03-08 07:30"),  # left out
        ("America/New_York", "2026-11-01", "01:30", "2026-11-01 05:30"),  # twice
    ],
)
def test_times_of_day_that_a_change_of_clocks_leaves_out_or_repeats(zone, day, of_day, utc):
    assert moment(f"{of_day} {zone}").on(datetime.fromisoformat(day).date()) == at(utc)


@pytest.mark.parametrize(
    "text", ["", "9:00", "09:00", "25:00 UTC", "09:00 Nowhere/Such", "Day 09:00 UTC", "09:00  UTC"]
)
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(ScheduleError, match="HH:MM"):
        moment(text)


# The session by its schedule


def logged_on(schedule: Schedule, now: str, bench: Bench | None = None) -> Bench:
    bench = bench or Bench(schedule)
    bench.now_ns = at(now)
    return bench.log_on()


def stay(bench: Bench, until: str) -> None:
    """Heartbeats both ways until then, every twenty seconds."""
    while bench.now_ns + 20 * SECOND_NS <= at(until) and not bench.session.is_off:
        bench.now_ns += 20 * SECOND_NS
        bench.session.tick(bench.now_ns)
        if bench.session.state is State.ON:
            bench.hear("0", bench.line.next_in)


def test_midnight_ends_nothing():
    bench = logged_on(DAILY, "2026-03-07 23:50")
    stay(bench, "2026-03-08 00:10")
    assert bench.session.state is State.ON
    assert bench.session.counts["finish"] == 0


def test_the_end_of_the_session_logs_out():
    bench = logged_on(DAILY, "2026-03-08 21:20")
    stay(bench, "2026-03-08 21:29:40")
    assert bench.session.state is State.ON
    stay(bench, "2026-03-08 21:30")
    assert (bench.session.state, bench.session.reason) == (State.ENDING, "finish")
    assert bench.said()[-1].startswith("35=5 ")


def test_numbers_begin_again_with_the_session_but_not_with_a_connection():
    bench = logged_on(DAILY, "2026-03-06 20:00")
    bench.cut()
    logged_on(DAILY, "2026-03-06 22:00", bench)
    assert (bench.line.next_in, bench.line.next_out) == (3, 3)
    bench.cut()
    logged_on(DAILY, "2026-03-06 23:40", bench)
    assert (bench.line.next_in, bench.line.next_out) == (2, 2)


def test_numbers_go_on_over_a_break():
    bench = logged_on(BROKEN, "2026-03-04 11:50")
    bench.line.next_out = 123
    stay(bench, "2026-03-04 11:59:40")
    assert bench.session.state is State.ON
    assert bench.order() is not None
    stay(bench, "2026-03-04 12:00")
    assert bench.session.state is State.ENDING
    bench.hear("5", bench.line.next_in)
    last = bench.line.next_out - 1
    assert not BROKEN.is_open(at("2026-03-04 12:02:59"))
    bench.now_ns = at("2026-03-04 12:03")
    assert bench.connect() == [f"35=A 34={last + 1} 98=0 108=30"]


def test_a_logon_between_sessions_is_not_taken():
    bench = Bench(WEEKLY)
    bench.now_ns = at("2026-03-07 12:00")
    bench.line.open()
    bench.session.accepted(bench.now_ns)
    assert bench.hear("A", 1, {98: "0", 108: "30"}) == []
    assert bench.session.is_off


def test_a_peer_that_logs_on_to_a_new_session_begins_at_one():
    bench = Bench(DAILY)
    for now in ("2026-03-05 23:40", "2026-03-06 23:40"):
        bench.now_ns = at(now)
        bench.line.open()
        bench.session.accepted(bench.now_ns)
        assert bench.hear("A", 1, {98: "0", 108: "30"}) == ["35=A 34=1 98=0 108=30"]
        bench.cut()


# Connecting


def attempts(dialling: Dialling, seconds: int, start_ns: int = 0) -> list[int]:
    return [s for s in range(seconds) if dialling.is_due(State.OFF, start_ns + s * SECOND_NS)]


def test_failures_put_off_the_next_attempt_longer_and_longer():
    assert attempts(Dialling(), 250) == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243]


def test_a_session_that_was_on_makes_the_wait_short_again():
    dialling = Dialling()
    attempts(dialling, 100)
    assert not dialling.is_due(State.ON, 100 * SECOND_NS)
    assert attempts(dialling, 5, 100 * SECOND_NS) == [1, 2, 4]


@pytest.mark.parametrize("state", [State.ASKED, State.AWAITED, State.ON, State.ENDING])
def test_nobody_connects_twice(state):
    assert not Dialling().is_due(state, 10**18)


def test_nobody_connects_between_sessions():
    dialling = Dialling(WEEKLY)
    assert not dialling.is_due(State.OFF, at("2026-03-07 12:00"))
    assert not dialling.is_due(State.OFF, at("2026-03-08 21:04:59"))
    assert dialling.is_due(State.OFF, at("2026-03-08 21:05"))
