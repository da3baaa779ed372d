"""When to connect: as long as the schedule has a session open, at once after a good one, and later and later after
failures.

    due ──dial──▶ wait 1 s, 2 s, 4 s ... 60 s ──▶ due        a session that said Logon: back to 1 s
"""

from .session_messages import SECOND_NS
from .session_schedule import Schedule
from .session_table import State

WAIT_NS_MIN = 1 * SECOND_NS
WAIT_NS_MAX = 60 * SECOND_NS


class Dialling:
    """wait_ns: how long after this attempt the next one may be."""

    def __init__(self, schedule: Schedule | None = None) -> None:
        self._schedule = schedule
        self._due_ns = 0
        self.wait_ns = WAIT_NS_MIN

    def is_due(self, state: State, now_ns: int) -> bool:
        """Connect now? A yes is an attempt, and puts off the next one. state: the session's, looked at every time, for
        a session that was on is what makes the wait short again."""
        if state is State.ON:
            self.wait_ns = WAIT_NS_MIN
            self._due_ns = now_ns + WAIT_NS_MIN
        if state is not State.OFF or now_ns < self._due_ns:
            return False
        if self._schedule is not None and not self._schedule.is_open(now_ns):
            return False
        self._due_ns = now_ns + self.wait_ns
        self.wait_ns = min(2 * self.wait_ns, WAIT_NS_MAX)
        return True
