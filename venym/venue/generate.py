"""Made-up trading days, written to a file: as BinaryFILE or, by the file's name, as a capture; compressed by its name.

    NAME           length-prefixed messages        NAME.gz        the same, compressed
    NAME.pcap      MoldUDP64 packets               NAME.pcap.gz

The same arguments give the same octets on any machine, as long as the version is the same (compressed, the same octets
inside: compressors differ). Memory holds the state of the day and two buffers, however long the day.
"""

import gzip
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from ..hot.layout import aligned
from ..wire.pcap_write import FILE_HEADER
from .day_plan import Wanted, make_plan
from .day_state import Day, begin_day
from .day_write import write_day
from .packets import SPAN_NS, make_packer, new_york_midnight_ns, pack, pack_end

BUFFER_OCTETS = 1 << 20  # stays in the processor's cache
DATE = date(2019, 1, 30)  # the day whose shape all have
COMPRESSION = 6

Report = Callable[[int, int], None]  # octets and messages so far


class Written(NamedTuple):
    """What a day came to."""

    messages: int
    octets: int  # before compression
    by_type: dict[str, int]
    live_orders_max: int


def write_file(
    wanted: Wanted, path: Path, day_date: date = DATE, report: Report = lambda octets, messages: None
) -> Written:
    """Write a day to `path`; the date is the session's, seen only in captures. `report` is called now and then.

    Raises PlanError when such a day cannot be made (nothing is written then), OSError when the file cannot. A regular
    file appears under its name only when it is whole.
    """
    day = begin_day(make_plan(wanted), wanted.seed)
    inner = path.with_suffix("") if path.suffix == ".gz" else path
    parts = packets(day, day_date) if inner.suffix == ".pcap" else blocks(day)
    octets = 0
    with _sink(path) as sink:
        for part in parts:
            sink.write(part)
            octets += len(part)
            report(octets, int(day.today[0].emitted))
    by_type = {chr(code): int(day.written[code]) for code in np.flatnonzero(day.written)}
    return Written(wanted.messages, octets, by_type, int(day.books.counts[0].live_max))


def blocks(day: Day) -> Iterator[memoryview]:
    """The rest of the day as length-prefixed messages. Each part is good until the next."""
    octets = aligned(BUFFER_OCTETS, np.uint8)
    while length := write_day(day, octets):
        yield octets[:length].data


def packets(day: Day, day_date: date) -> Iterator[memoryview]:
    """The whole day as a pcap, with the packet that ends the session. Each part is good until the next."""
    state, template = make_packer(f"{day_date:%Y%m%d}01", new_york_midnight_ns(day_date))
    packer = state[0]
    held, octets = aligned(BUFFER_OCTETS, np.uint8), aligned(BUFFER_OCTETS, np.uint8)
    yield memoryview(FILE_HEADER)
    kept, is_last = 0, False
    while not is_last:
        length, start = kept + write_day(day, held[kept:]), 0
        is_last = bool(day.today[0].emitted == day.today[0].messages)
        while True:
            pack(state, template, held[start:length], is_last, SPAN_NS, octets)
            if packer.consumed == 0:
                break
            yield octets[: packer.written].data
            start += packer.consumed
        kept = length - start  # the beginning of a packet that may hold more
        held[:kept] = held[start:length].copy()
    pack_end(state, template, octets)
    yield octets[: packer.written].data


@contextmanager
def _sink(path: Path) -> Iterator[BinaryIO]:
    """Where a file's octets go; compressed if its name says so. What is no regular file (a pipe, /dev/null) is written
    to directly, a regular one aside and renamed at the end."""
    is_special = path.exists() and not stat.S_ISREG(path.stat().st_mode)
    real = path.resolve()  # where a link leads
    target = real if is_special else real.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(target, "wb", buffering=0) as raw:
            sink = _Whole(raw)
            if path.suffix == ".gz":
                with gzip.GzipFile("", "wb", COMPRESSION, cast(BinaryIO, sink), mtime=0) as compressed:
                    yield cast(BinaryIO, compressed)
            else:
                yield cast(BinaryIO, sink)
        if not is_special:
            target.replace(real)
    except BaseException as error:
        if not is_special:
            target.unlink(missing_ok=True)
        if isinstance(error, OSError):
            error.filename = str(path)  # not what it is called meanwhile; a full disk names none at all
        raise


class _Whole:
    """A raw file whose `write` writes all of it."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.flush = raw.flush

    def write(self, octets: bytes | memoryview) -> int:
        left = memoryview(octets)
        while left:
            left = left[self._raw.write(left) :]
        return len(octets)
