"""Read captures to their end and hold on to everything, in the words of the plain twins."""

from dataclasses import dataclass, field
from pathlib import Path

from tests.naive import captures as naive
from venym.hot.layout import aligned
from venym.records import BLOCKS, MOLDUDP64, PACKET, SNAPPED
from venym.transport.capture import FRAMES_BYTES_MIN, Capture, CaptureError, Counters, Line

FRAMES = aligned(FRAMES_BYTES_MIN, "u1")
PACKETS = aligned(4096, PACKET)


@dataclass
class Read:
    """found: datagrams; messages: records of BinaryFILE days, by file; errors in the order they came."""

    found: list[naive.Found] = field(default_factory=list)
    messages: dict[str, list[bytes]] = field(default_factory=dict)
    errors: list[CaptureError] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)

    @property
    def end(self) -> str:
        """How the only file ended, in the twin's word."""
        assert len(self.errors) <= 1
        return type(self.errors[0]).__name__.removeprefix("Capture").lower() if self.errors else "whole"


def read(*paths: Path, room: int = 4096, read_bytes: int | None = None, frames_bytes: int = FRAMES_BYTES_MIN) -> Read:
    """Read the files in order. A refusal at the start raises; errors on the way are kept."""
    frames = FRAMES if frames_bytes == FRAMES_BYTES_MIN else aligned(frames_bytes, "u1")
    packets = PACKETS[:room]
    capture = Capture(paths, frames, packets, read_bytes)
    result, cause = Read(lines=capture.lines), 0
    while True:
        try:
            made = capture.fill()
        except CaptureError as error:
            result.errors.append(error)
            continue
        if made == 0:
            break
        for packet in packets[:made]:
            assert packet.cause == cause
            cause += 1
            _keep(result, packet, frames, capture.lines[packet.line])
    result.counters = capture.counters
    assert capture.fill() == 0
    return result


def _keep(result: Read, packet, frames, line: Line) -> None:  # type: ignore[no-untyped-def]
    payload = frames[packet.offset : packet.offset + packet.length].tobytes()
    if packet.framing == BLOCKS:
        records = naive.read_binaryfile(payload)
        assert records.end == "whole"
        messages = result.messages.setdefault(line.address, [])
        assert packet.sequence == len(messages) + 1
        messages += records.messages
    else:
        assert packet.framing == MOLDUDP64
        snapped = bool(packet.marks & SNAPPED)
        result.found.append(naive.Found(int(packet.received_ns), *line, payload, snapped))
