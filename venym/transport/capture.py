"""Captures and day files, one after another, as one stream of PACKET records in bounded memory.

    files ── gzip undone ──▶ frames  |#### partial|        |          fill() ──▶ packets[0:n]
                                      ^start      ^end                           each .offset lies in frames

    the part of a record at the end of what was read moves to the front before the next read

What a file is, its octets say, not its name:

    pcap        both byte orders, microseconds or nanoseconds
    pcapng      any number of sections and interfaces, any resolution
                of both: Ethernet with stacked tags, Linux cooked 1 and 2, BSD loopback, raw IP; IPv4, UDP
    BinaryFILE  length-prefixed ITCH; one PACKET covers all the whole records of a chunk
    .hex        a MoldUDP64 packet a line, in hexadecimal digits
    gzip        of any of them, any number of members

Packets pass as they were captured: checksums are not verified, lost packets not looked for, fragments of IP datagrams
not put together. All that is passed over is counted.
"""

import re
import stat
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import NamedTuple, Self

import numpy as np

from ..wire import pcap
from ..wire.scan import (
    BLOCKS_SKIPPED,
    END_OF_SESSION,
    LINES,
    OVERSIZE,
    SKIP,
    Counters,
    Malformed,
    Refused,
    make_sink,
)
from .readers import BinaryFileReader, HexReader, PcapngReader, PcapReader, Reader, Step
from .recognise import PROBE_BYTES, Format, recognise
from .source import (
    CaptureCorrupt,
    CaptureError,
    CaptureRefused,
    CaptureTruncated,
    CaptureUnreadable,
    Source,
)

__all__ = [
    "FRAMES_BYTES_MIN",
    "Capture",
    "CaptureCorrupt",
    "CaptureError",
    "CaptureRefused",
    "CaptureTruncated",
    "CaptureUnreadable",
    "Counters",
    "Line",
    "session_date_of",
]

FRAMES_BYTES_MIN = 1 << 20
END_RECORD_BYTES = 2
DECIDING_BYTES = 64  # of a damaged file that has fewer, the damage is reported and not what it looks like
_EASTERN_STANDARD = timedelta(hours=-5)  # right for the date from 01:00 on in summer too, without a time zone database


class Line(NamedTuple):
    """A destination packets were sent to; for a file without destinations its name and port 0."""

    address: str
    port: int


class Capture:
    """One or more files read in order as one stream, in bounded memory.

    lines: every Line in order of appearance; PACKET.line indexes it.
    octets_total: size of all files as they lie on disk; None when one is not a regular file.
    """

    def __init__(
        self, paths: Sequence[Path], frames: np.ndarray, packets: np.ndarray, read_bytes: int | None = None
    ) -> None:
        """Look at every file's first octets; read nothing yet.

        frames: (n,) uint8, n >= FRAMES_BYTES_MIN; packets: (m,) recarray of PACKET, m >= 1; read_bytes: the most
        that is read at once, all that fits into frames by default.

        Raises CaptureRefused or CaptureUnreadable for the first file that cannot be read here, ValueError for memory
        of the wrong kind.
        """
        usable = frames.dtype == np.uint8 and frames.ndim == 1 and frames.flags.c_contiguous and frames.flags.writeable
        if not usable or len(frames) < FRAMES_BYTES_MIN:
            raise ValueError(f"frames is not a writable array of at least {FRAMES_BYTES_MIN} uint8")
        self._frames, self._view = frames, frames.data
        self._read_bytes = len(frames) if read_bytes is None else read_bytes
        if self._read_bytes < 1:
            raise ValueError(f"read_bytes is {read_bytes}")
        self._sink = make_sink(packets)
        self._paths = [Path(path) for path in paths]
        self.lines: list[Line] = []
        self.octets_total: int | None = 0
        self._octets_before = 0
        for path in self._paths:
            size = _look_at(path)
            self.octets_total = None if size is None or self.octets_total is None else self.octets_total + size
        named = (session_date_of(path.name) for path in self._paths)
        self._session_date = next((day for day in named if day is not None), None)
        self._next = 0
        self._source: Source | None = None
        self._reader: Reader
        self._start = self._end = 0
        self._ended = False

    @property
    def counters(self) -> Counters:
        """What was read and passed over so far."""
        return Counters(*self._sink.counts.tolist())

    @property
    def octets_done(self) -> int:
        """Octets read so far, as they lie on disk."""
        return self._octets_before + (self._source.octets_done if self._source else 0)

    @property
    def session_date(self) -> date | None:
        """The first date a file's name holds, else that of the first packet with a time, in US Eastern Standard Time;
        None while neither is known."""
        return self._session_date

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the present file and forget the ones not read."""
        self._close()
        self._next = len(self._paths)

    def fill(self) -> int:
        """Overwrite frames and packets with what comes next; the number of PACKETs written, 0 at the end.

        An error ends its file, after everything before it was handed on; the next call goes on with the next file.
        Raises CaptureTruncated, CaptureCorrupt, CaptureRefused or CaptureUnreadable.
        """
        try:
            while self._source is not None or self._open():
                made = self._advance()
                if made:
                    return made
        except CaptureError:
            self._close()
            raise
        return 0

    def _open(self) -> bool:
        """The next file; False when there is none."""
        if self._next == len(self._paths):
            return False
        index, path = self._next, self._paths[self._next]
        self._next += 1
        self._source = Source(path)
        self._start = self._end = 0
        self._ended = False
        kind = _format_of(self._source)
        try:
            if kind is Format.PCAP:
                self._reader = PcapReader(self._sink, self._source.peek(pcap.HEADER_BYTES))
                self._drop(pcap.HEADER_BYTES)
            elif kind is Format.PCAPNG:
                self._reader = PcapngReader(self._sink)
            elif kind is Format.BINARYFILE:
                self._reader = BinaryFileReader(self._sink, index)
            else:
                self._reader = HexReader(self._sink, index)
        except Refused as refusal:
            raise CaptureRefused(path, 0, str(refusal)) from refusal
        self._name_lines()
        return True

    def _close(self) -> None:
        if self._source is not None:
            self._octets_before += self._source.octets_done
            self._source.close()
            self._source = None

    def _advance(self) -> int:
        """Scan what is there, or get more of it; the number of PACKETs written."""
        assert self._source is not None
        try:
            step = self._reader.scan(self._frames, self._start, self._end, self._ended)
        except Malformed as fault:
            raise CaptureCorrupt(self._source.path, self._offset_of(self._reader.at), str(fault)) from fault
        except Refused as refusal:
            raise CaptureRefused(self._source.path, self._offset_of(self._reader.at), str(refusal)) from refusal
        self._start = step.position
        if step.made:
            self._name_lines()
            self._find_date(step.made)
            return step.made
        if step.status == SKIP:
            self._drop(step.detail)
            self._sink.counts[BLOCKS_SKIPPED] += 1
        elif step.status == END_OF_SESSION:
            self._end_session()
        elif step.status == OVERSIZE or step.detail > len(self._frames):
            self._refuse_large(step)
        elif not self._read():
            self._end_file(step)
        return 0

    def _read(self) -> bool:
        """Move what is left to the front and read behind it; False at the end of the file, the first time True for a
        last scan that knows it."""
        assert self._source is not None
        if self._ended:
            return False
        held = self._end - self._start
        if self._start:
            self._frames[:held] = self._frames[self._start : self._end]
            self._start, self._end = 0, held
        got = self._source.readinto(self._view[held : min(held + self._read_bytes, len(self._frames))])
        self._end += got
        self._ended = got == 0
        return True

    def _drop(self, count: int) -> None:
        """Pass over the next `count` octets; they need not fit into the memory. Raises CaptureTruncated."""
        assert self._source is not None
        begin, wanted = self._offset_of(self._start), count
        while count > self._end - self._start:
            count -= self._end - self._start
            self._start = self._end = 0
            self._end = self._source.readinto(self._view[: min(self._read_bytes, len(self._view))])
            if self._end == 0:
                reason = f"the file ends inside a record of {wanted} bytes, of which {wanted - count} are there"
                raise CaptureTruncated(self._source.path, begin, reason)
        self._start += count

    def _refuse_large(self, step: Step) -> None:
        """A length nothing real has: of a record that was cut, if the file ends inside it, or nonsense."""
        assert self._source is not None
        begin = self._offset_of(self._start)
        self._drop(step.detail)
        reason = f"a record of {step.detail} bytes, larger than any packet or than the {len(self._frames)} bytes for it"
        raise CaptureCorrupt(self._source.path, begin, reason)

    def _end_session(self) -> None:
        """Behind the record of length 0 there must be nothing."""
        assert self._source is not None
        self._drop(END_RECORD_BYTES)
        if self._start < self._end or self._source.readinto(self._view[:1]):
            offset = self._offset_of(self._start) - (self._start == self._end)
            raise CaptureCorrupt(self._source.path, offset, "octets behind the record that ends the session")
        self._close()

    def _end_file(self, step: Step) -> None:
        assert self._source is not None
        held = self._end - self._start
        if held:
            reason = f"the file ends inside a record, of which {held} bytes are there and {step.detail} are needed"
            raise CaptureTruncated(self._source.path, self._offset_of(self._start), reason)
        self._close()

    def _offset_of(self, position: int) -> int:
        """Where in the file, inflated, frames[position] came from."""
        assert self._source is not None
        return self._source.offset - (self._end - position)

    def _name_lines(self) -> None:
        for line in range(len(self.lines), int(self._sink.counts[LINES])):
            key = int(self._sink.line_keys[line])
            if key < 0:
                self.lines.append(Line(self._paths[~key].name, 0))
            else:
                self.lines.append(Line(".".join(str(octet) for octet in (key >> 16).to_bytes(4, "big")), key & 0xFFFF))

    def _find_date(self, made: int) -> None:
        if self._session_date is None:
            times = self._sink.packets["received_ns"][:made]
            if np.any(times):
                seconds = int(times[np.argmax(times != 0)]) // 1_000_000_000
                self._session_date = (
                    datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds) + _EASTERN_STANDARD
                ).date()


def _look_at(path: Path) -> int | None:
    """The size of a file whose format is read; None, and nothing looked at, when it is not a regular file."""
    try:
        regular = stat.S_ISREG(path.stat().st_mode) or path.is_dir()
    except OSError as error:
        raise CaptureUnreadable(path, 0, error.strerror or str(error)) from error
    if not regular:
        return None
    source = Source(path)
    try:
        if _format_of(source) is Format.PCAP:
            pcap.read_header(source.peek(pcap.HEADER_BYTES))
    except (CaptureTruncated, CaptureCorrupt):
        pass  # fill() says so when its turn has come
    except Refused as refusal:
        raise CaptureRefused(path, 0, str(refusal)) from refusal
    finally:
        source.close()
    return source.octets_total


def _format_of(source: Source) -> Format:
    """What the file is. Raises CaptureRefused, or why there is too little of it to tell."""
    head = source.peek(PROBE_BYTES)
    try:
        return recognise(source.path, head)
    except CaptureRefused:
        if source.error is not None and len(head) < DECIDING_BYTES:
            raise source.error from None
        raise


def session_date_of(name: str) -> date | None:
    """The date in a file's name: MMDDYYYY.NASDAQ_ITCH50, YYYYMMDD.BX_ITCH_50, SMMDDYY-v50.txt, or eight digits of
    either order standing alone elsewhere in the name."""
    for digits in re.findall(r"(?<!\d)\d{8}(?!\d)", name):
        for order in ("%Y%m%d", "%m%d%Y"):
            day = _date(digits, order)
            if day is not None and 1990 <= day.year < 2100:
                return day
    short = re.match(r"S(\d{6})-v\d", name)
    return _date(short[1], "%m%d%y") if short else None


def _date(digits: str, order: str) -> date | None:
    try:
        return datetime.strptime(digits, order).date()
    except ValueError:
        return None
