"""Captures larger than the memory they pass through."""

import gzip
import random
import tracemalloc
from pathlib import Path

import pytest

from tests.transport.reading import PACKETS, read
from tests.wire import build
from venym.hot.layout import aligned
from venym.transport.capture import FRAMES_BYTES_MIN, Capture, CaptureRefused, Line


@pytest.fixture(scope="module")
def frames() -> list[bytes]:
    """Frames of every length from none to 1,500 octets of payload."""
    chance = random.Random(7)
    sizes = [chance.choice((0, 20, 58, chance.randrange(1500))) for _ in range(10_000)]
    return [build.ethernet(build.ipv4(build.udp(chance.randbytes(size)))) for size in sizes]


@pytest.mark.parametrize("frames_bytes", [FRAMES_BYTES_MIN, FRAMES_BYTES_MIN + 37, 3 * FRAMES_BYTES_MIN])
def test_packets_do_not_depend_on_where_chunks_end(tmp_path: Path, frames: list[bytes], frames_bytes: int) -> None:
    path = tmp_path / "file"
    pcap = build.pcap(frames)
    assert len(pcap) > 2 * FRAMES_BYTES_MIN
    pcapng = build.section() + build.interface() + b"".join(build.enhanced(frame) for frame in frames)
    for octets in (pcap, pcapng, gzip.compress(pcap, 1)):
        path.write_bytes(octets)
        result = read(path, frames_bytes=frames_bytes)
        assert not result.errors
        assert [found.payload for found in result.found] == [frame[42:] for frame in frames]


@pytest.mark.parametrize("read_bytes", [None, 65_521])
def test_records_do_not_depend_on_where_chunks_end(tmp_path: Path, read_bytes: int | None) -> None:
    chance = random.Random(7)
    messages = [
        build.system(),
        build.directory(),
        *(build.message("A", length=chance.randrange(36, 2000)) for _ in range(2000)),
    ]
    path = tmp_path / "file"
    path.write_bytes(build.blocks(messages))
    assert path.stat().st_size > 1.5 * FRAMES_BYTES_MIN
    result = read(path, read_bytes=read_bytes)
    assert result.messages == {"file": messages}
    assert result.counters.records == len(messages)


def test_the_largest_record_of_a_day_fits(tmp_path: Path) -> None:
    messages = [build.system(), build.add(1), *[build.message("A", length=65_535)] * 40]
    path = tmp_path / "file"
    path.write_bytes(build.blocks(messages))
    assert read(path).messages == {"file": messages}


def test_a_large_gzip_file_passes_in_bounded_memory(tmp_path: Path) -> None:
    """256 MiB behind a factor of several hundred."""
    path = tmp_path / "file.gz"
    piece = build.record(build.frame()) * 9040
    count = (256 << 20) // len(piece)
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(build.pcap_header())
        for _ in range(count):
            file.write(piece)
    assert path.stat().st_size < 8 << 20
    capture = Capture([path], aligned(FRAMES_BYTES_MIN, "u1"), PACKETS)
    packets = capture.fill()
    tracemalloc.start()
    while made := capture.fill():
        packets += made
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert packets == count * 9040
    assert peak < FRAMES_BYTES_MIN


@pytest.mark.parametrize("captured", [0x7FFF_FFFF, 0xFFFF_FFFF])
def test_a_huge_length_allocates_nothing(tmp_path: Path, captured: int) -> None:
    for octets in (
        build.pcap([build.frame()]) + build.record(b"x" * 28, captured=captured),
        build.section() + build.interface() + build.enhanced(build.frame()) + build.block(6, b"", length=captured & ~3),
        build.section()
        + build.interface()
        + build.enhanced(build.frame())
        + build.block(99, b"", length=captured & ~3),
    ):
        (tmp_path / "file").write_bytes(octets)
        tracemalloc.start()
        result = read(tmp_path / "file")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert (len(result.found), result.end) == (1, "truncated")
        assert peak < 4 * FRAMES_BYTES_MIN


def test_more_destinations_than_a_feed_has_are_refused_after_the_others(tmp_path: Path) -> None:
    def frames_to(count: int) -> list[bytes]:
        return [build.ethernet(build.ipv4(build.udp(b"", port=n & 0xFFFF), f"10.0.{n >> 16}.1")) for n in range(count)]

    path = tmp_path / "file"
    path.write_bytes(build.pcap(frames_to(65_537)))
    with Capture([path], aligned(FRAMES_BYTES_MIN, "u1"), PACKETS) as capture:
        made = 0
        while made < 65_536:
            made += capture.fill()
        with pytest.raises(CaptureRefused, match="more than 65536 destinations"):
            capture.fill()
    assert made == 65_536
    assert capture.lines == [Line(f"10.0.{n >> 16}.1", n & 0xFFFF) for n in range(65_536)]
