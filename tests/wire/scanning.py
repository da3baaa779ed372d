"""Run a jitted scan over octets that end at a page nobody may touch, and put what it found in the twin's words."""

from collections.abc import Callable

import numpy as np

from tests.guarded import Guarded
from tests.naive.captures import Found
from venym.hot.layout import aligned
from venym.records import PACKET, SNAPPED
from venym.wire import scan

_GUARDED = Guarded(1 << 16)
_SINK = scan.make_sink(aligned(64, PACKET))
_PLAIN_COUNTERS = ("packets", "frames", "octets", "records", "lines")

Scan = Callable[[np.ndarray, int, int, scan.Sink], tuple[int, int, int, int]]


def fresh_sink(room: int = 64) -> scan.Sink:
    """The one sink of these tests, emptied; `room` for PACKETs."""
    _SINK.counts[:] = 0
    _SINK.line_slots[:] = 0
    return _SINK._replace(packets=_SINK.packets[:room])


def found_in(sink: scan.Sink, octets: np.ndarray, made: int) -> list[Found]:
    """The PACKETs as the twin would report them; checks what is the same in all."""
    result = []
    for number, packet in enumerate(sink.packets[:made]):
        assert packet.cause == sink.counts[scan.PACKETS] - made + number
        assert packet.sequence == packet.framing == 0
        key = int(sink.line_keys[packet.line])
        address = ".".join(str(key >> shift & 0xFF) for shift in (40, 32, 24, 16))
        payload = octets[packet.offset : packet.offset + packet.length].tobytes()
        result.append(Found(int(packet.received_ns), address, key & 0xFFFF, payload, bool(packet.marks & SNAPPED)))
    return result


def passed_over(sink: scan.Sink) -> dict[str, int]:
    """The counters of what was passed over or marked, without zeros."""
    counters = scan.Counters(*sink.counts.tolist())
    dropped = counters.not_ipv4 + counters.not_udp + counters.fragments + counters.short
    dropped += counters.bad_ip_header + counters.bad_udp_length
    assert counters.frames == counters.packets + dropped
    return {name: count for name, count in vars(counters).items() if count and name not in _PLAIN_COUNTERS}


def walk(octets: bytes, run: Scan, room: int = 64) -> tuple[list[Found], dict[str, int], int, int, int]:
    """All of `octets` in as many scans as `room` asks for: (found, passed over, position, status, detail)."""
    held, sink = _GUARDED.put(octets), fresh_sink(room)
    found: list[Found] = []
    position, status, detail = 0, scan.FULL, 0
    while status == scan.FULL:
        position, made, status, detail = run(held, position, len(octets), sink)
        found += found_in(sink, held, made)
    return found, passed_over(sink), int(position), int(status), int(detail)
