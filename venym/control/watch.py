"""What a person is told of a live feed while it runs: a line now and then, and at once what is out of the ordinary.

10:02:41  12,345,678 messages (98,210/s)  A 3,102,111 packets (0 lost)  B 3,101,998 (0 lost)  gaps 2, open 0
"""

import time
from collections.abc import Callable

import numpy as np

from .. import metrics
from ..stages.decoder import Context
from .ladder import format_time
from .lines import LINES_A_CHANNEL, name_of
from .receiving import Receiving
from .settings import Settings

SECOND_NS = 1_000_000_000
MS_NS = 1_000_000
TEND_NS = SECOND_NS


class Watch:
    """Looks at the decoder's counters from outside. `tell` takes sentences; `clock` gives monotonic nanoseconds."""

    def __init__(
        self,
        settings: Settings,
        decoder: Context,
        receiving: Receiving,
        tell: Callable[[str], None],
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._settings, self._decoder, self._receiving = settings, decoder, receiving
        self._tell, self._clock = tell, clock
        now_ns = clock()
        self._told_ns = self._tended_ns = now_ns
        self._messages = 0
        channels = len(settings.channels)
        self._packets = np.zeros(LINES_A_CHANNEL * channels, np.int64)
        self._moved_ns = np.full(LINES_A_CHANNEL * channels, now_ns, np.int64)
        self._silent: set[int] = set()
        self._wrong: set[str] = set()

    def look(self, clock_ns: int) -> None:
        """`clock_ns`: the exchange's time."""
        now_ns = self._clock()
        if now_ns - self._tended_ns >= TEND_NS:
            self._tended_ns = now_ns
            self._look_at_lines(now_ns)
            wrong = set(self._receiving.tend())
            for sentence in sorted(wrong - self._wrong):
                self._tell(f"warning: {sentence}")
            self._wrong = wrong
        every_ns = self._settings.run.report_seconds * SECOND_NS
        if every_ns and now_ns - self._told_ns >= every_ns:
            self._tell(self.line(clock_ns, now_ns))
            self._told_ns = now_ns

    def silent(self) -> list[str]:
        """Names of the lines that are silent now."""
        return [name_of(self._settings, number) for number in sorted(self._silent)]

    def line(self, clock_ns: int, now_ns: int) -> str:
        """What came so far."""
        counters = self._decoder.counters
        messages = int(counters[metrics.MESSAGES])
        seconds = max((now_ns - self._told_ns) / SECOND_NS, 1e-9)
        speed = (messages - self._messages) / seconds
        self._messages = messages
        lines = "  ".join(
            f"{name_of(self._settings, number)} {int(self._decoder.lines[number].packets):,}"
            for number in self._there()
        )
        lost = self._receiving.lost()
        return (
            f"{format_time(clock_ns)}  {messages:,} messages ({speed:,.0f}/s)  packets: {lines}  lost {lost:,}  "
            f"gaps {int(counters[metrics.GAPS]):,}"
        )

    def _there(self) -> list[int]:
        """Numbers of the lines that there are."""
        found = []
        for k, channel in enumerate(self._settings.channels):
            found += [LINES_A_CHANNEL * k] + ([LINES_A_CHANNEL * k + 1] if channel.line_b else [])
        return found

    def _look_at_lines(self, now_ns: int) -> None:
        silence_ns = self._settings.run.silence_ms * MS_NS
        for number in self._there():
            packets = int(self._decoder.lines[number].packets)
            if packets != self._packets[number]:
                self._packets[number], self._moved_ns[number] = packets, now_ns
                if number in self._silent:
                    self._silent.discard(number)
                    self._tell(f"line {name_of(self._settings, number)}: packets come again")
            elif number not in self._silent and now_ns - self._moved_ns[number] >= silence_ns:
                self._silent.add(number)
                seconds = (now_ns - int(self._moved_ns[number])) / SECOND_NS
                self._tell(f"ALARM: line {name_of(self._settings, number)}: nothing came for {seconds:.0f} s")
