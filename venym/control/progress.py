"""A progress bar on stderr, for a person who watches.

    day.gz  37% [########              ]  4.1 M messages/s  162 MB/s  0:42 left

Drawn only where stderr is a terminal, at most ten times a second, and wiped at the end: it never reaches a file, a pipe
or a journal.
"""

import os
import sys
import time
from collections.abc import Callable
from typing import TextIO

from .log import CLEAR_LINE

REDRAW_NS_MIN = 100_000_000
BAR_COLUMNS = 24
COLUMNS = 80  # of a terminal that does not say


class Progress:
    """Counts octets and messages done out of `total_octets`; a context manager that closes itself.

    `clock` gives monotonic nanoseconds.
    """

    def __init__(
        self,
        total_octets: int,
        label: str,
        stream: TextIO | None = None,
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._total_octets = total_octets
        self._label = "".join(character if character.isprintable() else "?" for character in label)
        self._stream = stream or sys.stderr
        self._clock = clock
        self._shown = self._stream.isatty() and os.environ.get("TERM") != "dumb"
        self._started_ns = self._drawn_ns = clock()
        self._is_drawn = False

    def update(self, octets_done: int, messages_done: int) -> None:
        """Redraw if the last time is long enough ago. Cheap: to be called once a batch, not once a message."""
        if not self._shown:
            return
        now_ns = self._clock()
        if now_ns - self._drawn_ns < REDRAW_NS_MIN:
            return
        self._drawn_ns = now_ns
        text = self.line(octets_done, messages_done, now_ns - self._started_ns)
        self._stream.write(CLEAR_LINE + text[: self._columns() - 1])  # a full line would wrap and scroll
        self._stream.flush()
        self._is_drawn = True

    def line(self, octets_done: int, messages_done: int, elapsed_ns: int) -> str:
        """The bar's text after `elapsed_ns`; without percent and time left when the total is not known (0)."""
        seconds = max(elapsed_ns, 1) / 1e9
        rates = f"{_scaled(messages_done / seconds)} messages/s  {octets_done / seconds / 1e6:.0f} MB/s"
        if self._total_octets <= 0:
            return f"{self._label}  {rates}"
        share = min(octets_done / self._total_octets, 1.0)
        bar = "#" * int(share * BAR_COLUMNS)
        left = f"  {_clock_time(seconds * (1 - share) / share)} left" if share > 0 else ""
        return f"{self._label}  {int(share * 100):2d}% [{bar:<{BAR_COLUMNS}}]  {rates}{left}"

    def close(self) -> None:
        """Wipe the bar; nothing is drawn after that."""
        if self._is_drawn:
            self._stream.write(CLEAR_LINE)
            self._stream.flush()
        self._shown = self._is_drawn = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    def _columns(self) -> int:
        """Asked at every drawing: a window may change."""
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or COLUMNS
        except OSError:
            return COLUMNS


def _scaled(rate: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if rate >= size:
            return f"{rate / size:.1f} {unit}"
    return f"{rate:.0f}"


def _clock_time(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
