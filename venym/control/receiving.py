"""The lines of the settings, opened: by UDP sockets or AF_XDP, whichever the settings say."""

from types import TracebackType
from typing import Self

import numpy as np

from .. import metrics
from ..hot.layout import aligned
from ..stages import feed
from ..transport import udp, xdp, xdp_receive
from ..transport.lines import Line
from ..transport.xdp_errors import XdpError
from .lines import name_of
from .log import say
from .settings import Settings

XDP_MODES = {"native": ("native",), "generic": ("generic",), "auto": ("native", "generic")}


class Receiving:
    """Open lines. `wire` is what the feed receives from; `source` "udp" or "xdp"; `notes` tell what is not as asked
    for. Raises UdpError, XdpError, ArenaError."""

    def __init__(self, settings: Settings, lines: list[Line | None]) -> None:
        self._settings, self._lines = settings, lines
        self._udp: udp.Udp | None = None
        self._xdp: xdp.Xdp | None = None
        self._errors_told = 0
        if settings.feed.source == "xdp":
            try:
                self._xdp = xdp.open_xdp(_take, lines, _xdp_options(settings))
            except XdpError as error:
                if not settings.feed.fall_back:
                    raise
                say(f"warning: feed.source: xdp was refused, so udp is used (feed.fall_back): {error}")
        if self._xdp is not None:
            self.source, self.notes = "xdp", self._xdp.notes
            self.wire = feed.Wire(feed.XDP, udp.closed(), self._xdp.context)
        else:
            held = settings.feed
            options = udp.Options(held.stamps, held.busy_poll_us, held.receive_buffer_octets)
            self._udp = udp.open_udp(_take, lines, held.slots, held.slot_octets, options)
            self.source, self.notes = "udp", self._udp.notes
            self.wire = feed.Wire(feed.UDP, self._udp.context, xdp_receive.closed())

    def counts(self) -> dict[str, dict[str, int]]:
        """What was counted: of each line by its name with udp, of all together with xdp."""
        if self._xdp is not None:
            return {"xdp": self._xdp.counts() | self._xdp.kernel_counts()}
        assert self._udp is not None
        found, dropped = {}, self._udp.dropped()
        numbers = [number for number, line in enumerate(self._lines) if line is not None]
        for place, number in enumerate(numbers):
            counts = metrics.named(metrics.UDP, self._udp.context.counts[place * udp.LINE_WORDS :])
            counts["dropped"] = max(counts["dropped"], dropped[place])  # the last ones are told when asked
            found[name_of(self._settings, number)] = counts
        return found

    def lost(self) -> int:
        """Datagrams that came to this machine and were not handed on."""
        names = ("dropped", "too_long", "ring_full")
        return sum(counts.get(name, 0) for counts in self.counts().values() for name in names)

    def tend(self) -> list[str]:
        """What is to be done now and then; sentences on what has gone wrong outside."""
        if self._xdp is not None:
            self._xdp.refresh_clock()
            return self._xdp.check()
        assert self._udp is not None
        errors = int(self._udp.context.counts.reshape(-1, udp.LINE_WORDS)[:, metrics.UDP_ERRORS].sum())
        told, self._errors_told = self._errors_told, errors
        return [f"a socket was refused {errors - told} times: {self._udp.error()}"] if errors > told else []

    def close(self) -> None:
        """Leave the groups; no core may be receiving any more."""
        for held in (self._udp, self._xdp):
            if held is not None:
                held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _take(name: str, count: int, dtype: np.dtype) -> np.ndarray:
    return aligned(count, dtype)


def _xdp_options(settings: Settings) -> xdp.Options:
    held = settings.feed
    return xdp.Options(
        modes=XDP_MODES[held.xdp_mode],
        zero_copy=held.zero_copy,
        frames_each=held.slots,
        huge_pages=settings.memory.huge_pages,
        helper=None if held.xdp_helper is None else str(held.xdp_helper),
    )
