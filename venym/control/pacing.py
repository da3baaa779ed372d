"""Pacing: how fast exchange time goes by in a replay.

    max        as fast as the stages can
    realtime   a second of exchange time a second
    N          N seconds a second; 0.1 is slow motion

The decoder is told how far it may go, and stays before the first message that is later; everything behind it follows.
Time begins with the first message.
"""

import math
import time
from collections.abc import Callable

import numpy as np

from ..records import BLOCKS, NEVER_NS
from ..stages import decoder
from ..wire.itch50 import TIMESTAMP
from ..wire.moldudp64 import HEADER_BYTES, LENGTH_BYTES

MAX, REALTIME = "max", "realtime"
_TIMED_BYTES = TIMESTAMP + 6


def parse_speed(text: str) -> float | None:
    """Seconds of exchange time a second; None: as fast as possible. Raises ValueError."""
    if text == MAX:
        return None
    if text == REALTIME:
        return 1.0
    try:
        speed = float(text)
    except ValueError:
        speed = math.nan
    if not 0 < speed < math.inf:
        raise ValueError(f"{text!r} is no speed: max, realtime, or a number above 0")
    return speed


def first_time_ns(frames: np.ndarray, packets: np.ndarray) -> int | None:
    """The exchange time of the first message in these PACKETs that bears one."""
    for packet in packets:
        at = int(packet.offset) + (0 if packet.framing == BLOCKS else HEADER_BYTES)
        end = int(packet.offset) + int(packet.length)
        while at + LENGTH_BYTES <= end:
            length = int.from_bytes(frames[at : at + LENGTH_BYTES].tobytes(), "big")
            at += LENGTH_BYTES
            if _TIMED_BYTES <= length <= end - at:
                return int.from_bytes(frames[at + TIMESTAMP : at + TIMESTAMP + 6].tobytes(), "big")
            at += length
    return None


class Pacer:
    """Lets exchange time go by; `clock` gives monotonic nanoseconds."""

    def __init__(
        self, source: decoder.Context, speed: float | None, clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._source = source
        self._speed = speed
        self._clock = clock
        self._began: tuple[int, int] | None = None
        decoder.stop_after(source, NEVER_NS if speed is None else -1)

    def begin(self, first_ns: int | None) -> None:
        """Let the time begin with that of the first message; None: it has not come yet."""
        if self._speed is not None and first_ns is not None:
            self._began = (self._clock(), first_ns)

    def update(self) -> None:
        """Called often: lets the decoder go as far as time has."""
        if self._speed is not None and self._began is not None:
            elapsed_ns = self._clock() - self._began[0]
            decoder.stop_after(self._source, min(self._began[1] + int(elapsed_ns * self._speed), NEVER_NS))
