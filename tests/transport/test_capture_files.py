"""Several files as one stream, their order, progress, memory, and the session's date."""

import gzip
import os
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from tests.naive import captures as naive
from tests.transport.reading import PACKETS, read
from tests.transport.samples import DAY, HEX, MESSAGES, PAYLOADS, PCAP, PCAPNG, put
from tests.wire import build
from venym.hot.layout import aligned
from venym.transport.capture import (
    FRAMES_BYTES_MIN,
    Capture,
    CaptureRefused,
    CaptureTruncated,
    CaptureUnreadable,
    Line,
    session_date_of,
)

pytestmark = pytest.mark.plain


# Several files


def test_files_are_one_stream_with_one_count_and_one_list_of_lines(folder: Path) -> None:
    paths = [
        put(folder, PCAP, "a"),
        put(folder, DAY, "b"),
        put(folder, gzip.compress(PCAPNG), "c"),
        put(folder, HEX, "d"),
    ]
    result = read(*paths)  # read() checks that causes run on
    found = naive.read_pcap(PCAP).found + naive.read_pcapng(PCAPNG).found
    assert result.found == [*found, *(naive.Found(0, "d", 0, p, False) for p in (*PAYLOADS[:2], PAYLOADS[3]))]
    assert result.messages == {"b": MESSAGES}
    assert result.lines == [Line("239.1.1.1", 26_400), Line("239.1.1.2", 26_400), Line("b", 0), Line("d", 0)]


def test_progress_ends_at_the_size_on_disk(folder: Path) -> None:
    paths = [put(folder, gzip.compress(PCAP), "a"), put(folder, DAY, "b"), put(folder, PCAP[:-1], "c")]
    capture = Capture(paths, aligned(FRAMES_BYTES_MIN, "u1"), PACKETS, read_bytes=64)
    assert capture.octets_total == sum(path.stat().st_size for path in paths)
    seen = [capture.octets_done]
    with pytest.raises(CaptureTruncated):
        while True:
            capture.fill()
            seen.append(capture.octets_done)
    assert seen == sorted(seen)
    assert seen[0] == 0
    assert capture.octets_done == capture.octets_total
    assert capture.fill() == 0


def test_a_pipe_is_not_looked_at_before_and_has_no_total() -> None:
    reading, writing = os.pipe()
    os.write(writing, PCAP)
    os.close(writing)
    path = Path(f"/proc/self/fd/{reading}")
    capture = Capture([path], aligned(FRAMES_BYTES_MIN, "u1"), PACKETS)
    assert capture.octets_total is None
    assert capture.fill() == 3
    capture.close()
    os.close(reading)


def test_every_file_is_looked_at_before_the_first_is_read(folder: Path) -> None:
    good = put(folder, PCAP, "good")
    with pytest.raises(CaptureRefused, match="bad: byte 0: looks like a zip archive"):
        read(good, put(folder, b"PK\x03\x04", "bad"))
    with pytest.raises(CaptureUnreadable, match="missing: byte 0: No such file"):
        read(good, folder / "missing")
    with pytest.raises(CaptureUnreadable, match="Is a directory"):
        read(good, folder)


def test_no_file_stays_open(folder: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    read(put(folder, PCAP, "a"), put(folder, PCAP[:-1], "b"), put(folder, DAY + b"\0\0", "c"))
    capture = Capture([put(folder, PCAP), put(folder, DAY, "d")], aligned(FRAMES_BYTES_MIN, "u1"), PACKETS[:1])
    assert capture.fill() == 1
    capture.close()
    assert capture.fill() == 0
    with pytest.raises(CaptureRefused):
        read(put(folder, b"PK\x03\x04"))
    assert len(os.listdir("/proc/self/fd")) == before


def test_memory_of_the_wrong_kind_is_refused(folder: Path) -> None:
    path = put(folder, PCAP)
    frames = aligned(FRAMES_BYTES_MIN, "u1")
    for bad in (frames[:-1], frames.view(np.int8), aligned(2 * FRAMES_BYTES_MIN, "u1")[::2], frames.reshape(2, -1)):
        with pytest.raises(ValueError, match="frames"):
            Capture([path], bad, PACKETS)
    with pytest.raises(ValueError, match="PACKET"):
        Capture([path], frames, PACKETS[:0])
    with pytest.raises(ValueError, match="read_bytes"):
        Capture([path], frames, PACKETS, read_bytes=0)


# Session dates


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("01302019.NASDAQ_ITCH50.gz", date(2019, 1, 30)),
        ("12302019.filtered_500", date(2019, 12, 30)),
        ("20190530.BX_ITCH_50", date(2019, 5, 30)),
        ("20190530.PSX_ITCH_50.gz", date(2019, 5, 30)),
        ("S081321-v50.txt.gz", date(2021, 8, 13)),
        ("ny4-xnas-tvitch-a-20230822T133000.pcap.zst", date(2023, 8, 22)),
        ("20121220.x", date(2012, 12, 20)),
        ("13302019.NASDAQ_ITCH50", None),
        ("12345678.pcap", None),
        ("201905301.pcap", None),
        ("day.pcap", None),
    ],
)
def test_the_session_date_is_read_from_the_name(name: str, day: date | None) -> None:
    assert session_date_of(name) == day


def session_date(path: Path) -> tuple[date | None, date | None]:
    """(before the first packet, after it)"""
    capture = Capture([path], aligned(FRAMES_BYTES_MIN, "u1"), PACKETS)
    before = capture.session_date
    capture.fill()
    capture.close()
    return before, capture.session_date


def test_without_a_name_the_date_is_that_of_the_first_packet_with_a_time(folder: Path) -> None:
    named = put(folder, PCAP, "01302019.pcap")
    assert session_date(named) == (date(2019, 1, 30), date(2019, 1, 30))
    assert session_date(put(folder, PCAP)) == (None, date(2019, 1, 3))
    assert session_date(put(folder, DAY)) == (None, None)
    timeless = build.section() + build.interface() + build.simple(build.frame())
    assert session_date(put(folder, timeless)) == (None, None)
    assert session_date(put(folder, timeless + build.enhanced(build.frame()))) == (None, date(2019, 1, 3))


def test_the_date_is_that_of_the_exchange(folder: Path) -> None:
    """20:05 in New York is the next day in Greenwich, in winter and in summer."""
    for evening in (1_546_563_900, 1_563_062_700):  # 2019-01-04 01:05 and 2019-07-14 00:05, Greenwich
        file = build.pcap_header() + build.record(build.frame(), evening * 10**9)
        expected = date(2019, 1, 3) if evening < 1_560_000_000 else date(2019, 7, 13)
        assert session_date(put(folder, file))[1] == expected


# Damage of every kind
