"""``venym record``: write what the lines of the channels carry to a capture, as it comes.

    sockets ─▶ a core in compiled code ─▶ link ─▶ this thread ─▶ FILE, a pcap of nanosecond resolution

It ends with Ctrl-C, or after --seconds or --packets, and tells what each line carried and what was lost on the way:
nothing is lost in silence. The frames' headers are made up of each line's group and port.
"""

import argparse
import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.duty_cycle import make_control, stop
from ..hot.layout import aligned
from ..hot.link import Link, is_empty, make_link
from ..records import PACKET
from ..transport import recorder as recording
from ..transport.lines import Line
from ..transport.udp import LINE_WORDS, TAKEN, Options, Udp, open_udp
from ..wire.pcap_write import FILE_HEADER
from .errors import BAD_DATA, GOOD, ConfigurationError
from .interrupt import interruptible
from .lines import lines_of, name_of
from .log import say
from .settings import Settings

OCTETS_A_WRITE = 4_194_304
IDLE_SECONDS = 0.001
LOST = ("too_long", "dropped", "errors")


class Recorded(NamedTuple):
    """What was written; `lines` has the counters of each line, by its name."""

    packets: int
    octets: int  # of the file
    seconds: float
    lines: dict[str, dict[str, int]]


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Record to ``args.file`` (Path), which must not be there; ``args.seconds`` and ``args.packets`` (int or None) end
    it; ``args.json`` prints one JSON object instead of a table.

    1 if anything was lost. Raises ConfigurationError and UdpError before anything is received, OSError when the file
    cannot be written.
    """
    lines = lines_of(settings)
    if settings.feed.source != "udp":
        raise ConfigurationError(f"feed.source: {settings.feed.source}: what is recorded is received by udp")
    if settings.feed.stamps == "none":
        raise ConfigurationError("feed.stamps: none: a capture needs the times of arrival; software or hardware")
    with _opened(settings, lines) as udp, _created(args.file) as file:
        for note in udp.notes:
            say(f"warning: {note}")
        recorded = _record(udp, lines, file, args, settings)
    for name, counts in recorded.lines.items():
        if counts["packets"] == 0:
            say(f"warning: line {name}: nothing came")
    print(json.dumps(recorded._asdict(), indent=2) if args.json else _as_text(recorded))
    lost = sum(counts[name] for counts in recorded.lines.values() for name in LOST)
    return BAD_DATA if lost else GOOD


def _opened(settings: Settings, lines: list[Line | None]) -> Udp:
    feed = settings.feed
    options = Options(feed.stamps, feed.busy_poll_us, feed.receive_buffer_octets)
    return open_udp(lambda name, count, dtype: aligned(count, dtype), lines, feed.slots, feed.slot_octets, options)


@contextmanager
def _created(path: Path) -> Iterator[FileIO]:
    """A new file, with a capture's header; a recording is never written over."""
    try:
        with path.open("xb", buffering=0) as file:
            _write(file, path, memoryview(FILE_HEADER))
            yield file
    except FileExistsError as error:
        raise ConfigurationError(f"{path}: it is there already, and a recording is not written over") from error


def _write(file: FileIO, path: Path, octets: memoryview) -> None:
    """All of it. Raises OSError that names the file."""
    try:
        while octets:
            octets = octets[file.write(octets) :]
    except OSError as error:
        error.filename = str(path)
        raise


def _record(udp: Udp, lines: list[Line | None], file: FileIO, args: argparse.Namespace, settings: Settings) -> Recorded:
    packets = make_link(PACKET, settings.feed.slots)
    octets = OCTETS_A_WRITE + settings.feed.slot_octets
    recorder = recording.make_recorder(packets, udp.context.frames, lines, settings.feed.slot_octets, octets)
    core = Core(udp, packets, args.packets)  # compiled, or loaded, before anything counts
    size = len(FILE_HEADER)

    def write() -> int:
        packed = int(recording.pack(recorder))
        _write(file, args.file, recorder.octets.data[:packed])
        return packed

    write()
    began = time.monotonic()
    until = math.inf if args.seconds is None else began + args.seconds
    try:
        with interruptible() as asked, core:
            say(f"{args.file}: recording {', '.join(str(line) for line in udp.lines)}")
            while core.is_alive() and not asked.is_set() and time.monotonic() < until:
                packed = write()
                size += packed
                if packed == 0:
                    asked.wait(IDLE_SECONDS)
        seconds = time.monotonic() - began
        dropped = udp.dropped()
        while not is_empty(packets):
            size += write()
    except OSError:
        say(f"{args.file}: {int(udp.context.words[TAKEN]):,} packets were received; the last of them are not written")
        raise
    counts = _counts(udp, lines, dropped, settings)
    return Recorded(int(recorder.words[recording.WRITTEN]), size, round(seconds, 3), counts)


class Core:
    """The thread that receives, while the context lasts. Leaving it raises what went wrong in there."""

    def __init__(self, udp: Udp, packets: Link, packets_max: int | None) -> None:
        self._control = make_control("pause")
        self._given = udp.context, packets, np.int64(-1 if packets_max is None else packets_max)
        self._failure: BaseException | None = None
        stopped = make_control("pause")
        stop(stopped)
        recording.take(stopped, *self._given)
        self._thread = threading.Thread(target=self._take, name="feed")

    def is_alive(self) -> bool:
        """False once all that was asked for has come, or something went wrong."""
        return self._thread.is_alive()

    def _take(self) -> None:
        try:
            recording.take(self._control, *self._given)
        except BaseException as error:
            self._failure = error

    def __enter__(self) -> "Core":
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        stop(self._control)
        self._thread.join()
        if self._failure is not None:
            raise self._failure


def _counts(udp: Udp, lines: list[Line | None], dropped: list[int], settings: Settings) -> dict[str, dict[str, int]]:
    """The counters of each line. What the kernel dropped last it tells when asked."""
    there = [number for number, line in enumerate(lines) if line is not None]
    counted = {}
    for place, number in enumerate(there):
        counts = metrics.named(metrics.UDP, udp.context.counts[place * LINE_WORDS :])
        counts["dropped"] = max(counts["dropped"], dropped[place])
        counted[name_of(settings, number)] = counts
    return counted


def _as_text(recorded: Recorded) -> str:
    lines = [f"{recorded.packets:,} packets, {recorded.octets:,} octets, {recorded.seconds:.1f} s"]
    width = max(len(name) for name in recorded.lines)
    for name, counts in recorded.lines.items():
        others = [f"{counts[key]:,} {key.replace('_', ' ')}" for key in counts if key not in ("packets", "octets")]
        said = [other for other in others if not other.startswith("0 ")]
        lines.append(f"{name:<{width}}  {counts['packets']:>12,} packets  " + ", ".join(said or ["nothing lost"]))
    return "\n".join(lines)
