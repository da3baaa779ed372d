"""Give a reader octets piece by piece, in memory that ends at a page nobody may touch, as one who reads a file does."""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tests.guarded import Guarded
from tests.transport.samples import PCAP
from venym.hot.layout import aligned
from venym.records import PACKET
from venym.transport.readers import BinaryFileReader, HexReader, PcapngReader, PcapReader, Reader
from venym.wire import scan
from venym.wire.pcap import HEADER_BYTES

ROOM = 64
LEAD = 5  # octets in front of what a reader is to read
SPARE = 400  # behind it, where memory is to be larger than what is there
MEMORY = Guarded(1 << 18)
SINK = scan.make_sink(aligned(ROOM, PACKET))

PCAP_BODY = PCAP[HEADER_BYTES:]


class Told(NamedTuple):
    """A PACKET and its octets."""

    payload: bytes
    received_ns: int
    cause: int
    line: int
    framing: int
    sequence: int


class Driven(NamedTuple):
    """told: every PACKET; status, detail: how it ended; at: there, counted from the first octet; error: if any."""

    told: list[Told]
    status: int
    at: int
    detail: int = 0
    error: Exception | None = None

    @property
    def payloads(self) -> list[bytes]:
        return [packet.payload for packet in self.told]


def fresh_sink(room: int = ROOM) -> scan.Sink:
    """The one sink of these tests, emptied."""
    SINK.counts[:] = 0
    SINK.line_slots[:] = 0
    return SINK._replace(packets=SINK.packets[:room])


def pcap(sink: scan.Sink) -> Reader:
    return PcapReader(sink, PCAP[:HEADER_BYTES])


def pcapng(sink: scan.Sink) -> Reader:
    return PcapngReader(sink)


def day(sink: scan.Sink) -> Reader:
    return BinaryFileReader(sink, 0)


def hexadecimal(sink: scan.Sink) -> Reader:
    return HexReader(sink, 0)


def drive(
    make: Callable[[scan.Sink], Reader], octets: bytes, sizes: Iterable[int] = (1 << 18,), room: int = ROOM
) -> Driven:
    """Give a new reader `octets` in pieces of these sizes (the last again and again), as one who reads a file does."""
    sink = fresh_sink(room)
    driven = _drive(make(sink), sink, octets, sizes, room)
    counters = scan.Counters(*sink.counts.tolist())
    assert (counters.packets, counters.octets) == (len(driven.told), sum(map(len, driven.payloads)))
    if make is not day:
        assert counters.frames == counters.packets + counters.not_ipv4
    return driven


def _drive(reader: Reader, sink: scan.Sink, octets: bytes, sizes: Iterable[int], room: int) -> Driven:
    told: list[Told] = []
    pieces: Iterator[int] = iter(sizes)
    size = done = given_out = 0  # octets consumed; octets handed to the reader so far
    while True:
        final = given_out == len(octets)
        held = MEMORY.put(bytes(LEAD) + octets[done:given_out])
        start, end = LEAD, len(held)
        while True:
            before = start
            try:
                step = reader.scan(held, start, end, final)
            except (scan.Refused, scan.Malformed) as error:
                return Driven(told, scan.MORE, done + reader.at - LEAD, error=error)
            assert before <= step.position <= end
            assert step.made <= room
            for packet in sink.packets[: step.made]:
                assert packet.offset >= LEAD and packet.offset + packet.length <= step.position
                told.append(tell(packet, held[packet.offset : packet.offset + packet.length].tobytes()))
            start = step.position
            if not step.made:
                break
        done += start - LEAD
        if step.status == scan.SKIP:  # of no interest, and larger than what there is now
            if done + step.detail > len(octets):
                return Driven(told, step.status, done, step.detail)
            done += step.detail
            given_out = max(given_out, done)
        elif step.status != scan.MORE or final:
            return Driven(told, step.status, done, step.detail)
        else:
            assert step.detail > end - start, "more is asked for than is there"
            size = next(pieces, size)
            given_out = min(len(octets), given_out + size)


def tell(packet, payload: bytes) -> Told:  # type: ignore[no-untyped-def]
    return Told(payload, *(int(packet[name]) for name in Told._fields[1:]))
