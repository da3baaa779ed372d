"""``venym decode``: every message of captures and day files as a line of JSON.

    {"message_type":"D","stock_locate":7,"tracking_number":2,"timestamp":34200003264552,"order_reference_number":1551965}

Messages are shown as they lie in the files, packet by packet: nothing is reordered, and where a capture holds both
lines of a feed, what came on both is shown twice (`venym book` is what puts lines together). Fields have the
specification's names and order; integers are as on the wire, so prices count 1e-4 dollars (those of V 1e-8) and times
nanoseconds since midnight; characters are without their padding.

Nothing is left out in silence: messages of unknown types, packets that end inside a message and frames that are no
market data are counted on stderr at the end.
"""

import argparse
import os
import sys
from contextlib import closing

import numpy as np

from ..hot.layout import aligned
from ..records import PACKET
from ..transport.capture import Capture, Counters
from ..wire.blocks import HEADERLESS, TRUNCATED, make_walk, start_walk
from ..wire.itch50 import LENGTHS
from ..wire.itch50_json import write_packets
from .batches import Batches
from .errors import BAD_DATA, GOOD
from .log import say
from .progress import Progress
from .settings import Settings

OUTPUT_OCTETS = 1 << 20
OCTETS_A_PACKET = 256  # of frame memory, for each packet that may lie in it
NO_LIMIT = (1 << 63) - 1

# What a capture passes over, in words; the fields of Counters.
PASSED_OVER = {
    "not_ipv4": "not IPv4",
    "not_udp": "not UDP",
    "fragments": "fragments of datagrams",
    "short": "shorter than their headers",
    "bad_ip_header": "with a bad IP header",
    "bad_udp_length": "with a bad UDP length",
}


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Print ``args.files`` (paths), at most ``args.limit`` messages of them all (None: every one).

    A file that is cut or corrupt is shown as far as it goes, named on stderr, and makes the result 1, and so does data
    of which nothing could be shown. Raises CaptureRefused or CaptureUnreadable before anything is printed for a file
    that is no capture, OSError when stdout cannot be written, as BrokenPipeError when nobody reads it any more.
    """
    frames = aligned(settings.runtime.frames_octets, np.uint8)
    packets = aligned(max(1, frames.size // OCTETS_A_PACKET), PACKET)
    sys.stdout.flush()
    printer = Printer(sys.stdout.fileno(), NO_LIMIT if args.limit is None else args.limit)
    with closing(Capture(args.files, frames, packets)) as capture:
        code = _print_all(capture, frames, packets, printer, ", ".join(path.name for path in args.files))
    odd = printer.odd() + passed_over(capture.counters)
    for sentence in odd:
        say(sentence)
    if odd and printer.lines == 0:
        say("no ITCH 5.0 message found")
        code = BAD_DATA
    return code


def _print_all(capture: Capture, frames: np.ndarray, packets: np.ndarray, printer: "Printer", label: str) -> int:
    """Print the capture up to the limit; the exit code so far."""
    batches = Batches(capture, lambda: printer.is_full)
    is_terminal = sys.stdout.isatty()  # where lines roll by, a bar would only be in their way
    with Progress(capture.octets_total or 0, label) as progress:
        for count in batches:
            printer.print(frames, packets, count)
            if not is_terminal:
                progress.update(capture.octets_done, printer.lines)
    return BAD_DATA if batches.damaged else GOOD


class Printer:
    """Writes the messages of lots of packets to a file descriptor, and counts what it cannot."""

    def __init__(self, descriptor: int, limit: int) -> None:
        self._descriptor = descriptor
        self._limit = limit
        self._output = aligned(OUTPUT_OCTETS, np.uint8)
        self._walk = make_walk()
        self._skipped = np.zeros(256, np.int64)  # by type
        self.lines = 0

    @property
    def is_full(self) -> bool:
        """Whether the limit is reached."""
        return self.lines >= self._limit

    def print(self, frames: np.ndarray, packets: np.ndarray, count: int) -> None:
        """Print ``packets[:count]`` (records.PACKET), whose octets lie in `frames`, up to the limit."""
        start_walk(self._walk)
        ended = False
        while not (ended or self.is_full):
            used, lines, ended = write_packets(
                frames, packets, count, self._walk, self._skipped, self._output, self._limit - self.lines
            )
            _write(self._descriptor, self._output.data[:used])
            self.lines += lines

    def odd(self) -> list[str]:
        """What was not printed, one sentence a kind."""
        found = []
        for code in np.flatnonzero(self._skipped).tolist():
            messages = _counted(int(self._skipped[code]), "message")
            kind = ascii(chr(code))
            if LENGTHS[code] == 0:
                found.append(f"skipped {messages} of unknown type {kind}")
            else:
                found.append(f"skipped {messages} of type {kind} shorter than its {LENGTHS[code]} octets")
        if self._walk[TRUNCATED]:
            found.append(f"{_counted(int(self._walk[TRUNCATED]), 'packet')} ended inside a message, which is not shown")
        if self._walk[HEADERLESS]:
            found.append(f"skipped {_counted(int(self._walk[HEADERLESS]), 'packet')} too short for a MoldUDP64 header")
        return found


def passed_over(counters: Counters) -> list[str]:
    """What a capture held besides packets of messages, in at most one sentence."""
    kinds = [(getattr(counters, name), words) for name, words in PASSED_OVER.items()]
    total = sum(count for count, _ in kinds)
    if total == 0:
        return []
    return [f"skipped {_counted(total, 'frame')}: " + ", ".join(f"{count} {words}" for count, words in kinds if count)]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _write(descriptor: int, octets: memoryview) -> None:
    while octets:
        octets = octets[os.write(descriptor, octets) :]
