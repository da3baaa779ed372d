"""When a FIX session is there: from one moment of the day or week to another, each in its own time zone.

    "23:30 UTC" .. "17:30 America/New_York"                          every day, over midnight, shifting with the clocks
    "Sun 17:05 America/New_York" .. "Fri 16:55 America/New_York"     once a week

A session runs from each `start` to the first `end` behind it. In breaks nobody is connected, but the session is the
same one and its numbers go on. A time of day that a change of clocks leaves out is taken as if it had not changed yet;
one that comes twice is the first.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from .session_messages import SECOND_NS

_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MOMENT = re.compile(rf"(?:({'|'.join(_DAYS)}) )?(\d\d:\d\d(?::\d\d)?) (\S+)")
_EVERY_DAY = frozenset(range(7))


class ScheduleError(ValueError):
    """A moment that is none."""


class Moment(NamedTuple):
    """A time of day, of one weekday (0 is Monday) or of every day."""

    of_day: time
    zone: ZoneInfo
    weekday: int | None = None

    def on(self, day: date) -> int:
        """The moment of a day, in nanoseconds since 1970."""
        there = datetime.combine(day, self.of_day, self.zone)
        return (there.astimezone(UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(seconds=1) * SECOND_NS

    def day_at(self, now_ns: int) -> date:
        """The date where the moment is told."""
        return datetime.fromtimestamp(now_ns // SECOND_NS, self.zone).date()


def moment(text: str) -> Moment:
    """A moment by its text: "Sun 17:05 America/New_York", "23:30 UTC" or "23:30:15 UTC"; raises ScheduleError."""
    match = _MOMENT.fullmatch(text)
    try:
        if match is None:
            raise ValueError("is not of this form")
        weekday = _DAYS.index(match[1]) if match[1] else None
        return Moment(time.fromisoformat(match[2]), ZoneInfo(match[3]), weekday)
    except (ValueError, ZoneInfoNotFoundError) as error:
        raise ScheduleError(f"{text!r}: [{'|'.join(_DAYS)}] HH:MM[:SS] zone: {error}") from error


class Window(NamedTuple):
    """A session or a break: [begin_ns, end_ns)."""

    begin_ns: int
    end_ns: int


def _window(start: Moment, end: Moment, days: frozenset[int], now_ns: int) -> Window | None:
    """The window that holds a time."""
    today = start.day_at(now_ns)
    for back in range(8):
        day = today - timedelta(days=back)
        begin_ns = start.on(day)
        if begin_ns > now_ns or day.weekday() not in (days if start.weekday is None else {start.weekday}):
            continue
        first = end.day_at(begin_ns)
        ends = (first + timedelta(days=ahead) for ahead in range(9))
        stops = (end.on(last) for last in ends if end.weekday in (None, last.weekday()))
        end_ns = next(stop for stop in stops if stop > begin_ns)
        return Window(begin_ns, end_ns) if now_ns < end_ns else None
    return None


@dataclass(frozen=True)
class Schedule:
    """days: weekdays on which a daily session starts, where `start` is told; breaks: pairs of start and end; reset:
    each session's numbers begin at 1."""

    start: Moment
    end: Moment
    days: frozenset[int] = _EVERY_DAY
    breaks: tuple[tuple[Moment, Moment], ...] = ()
    reset: bool = True

    def session(self, now_ns: int) -> Window | None:
        """The session that a time is in, breaks included."""
        return _window(self.start, self.end, self.days, now_ns)

    def is_open(self, now_ns: int) -> bool:
        """Should there be a connection?"""
        broken = any(_window(start, end, _EVERY_DAY, now_ns) for start, end in self.breaks)
        return self.session(now_ns) is not None and not broken

    def is_over(self, then_ns: int, now_ns: int) -> bool:
        """Should a connection that was in use at `then_ns` have ended since?"""
        return not self.is_open(now_ns) or self.session(then_ns) != self.session(now_ns)

    def is_new(self, used_ns: int, now_ns: int) -> bool:
        """Do the numbers begin again at 1, when they were used last at `used_ns`?"""
        session = self.session(now_ns)
        return self.reset and session is not None and used_ns < session.begin_ns
