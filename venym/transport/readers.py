"""One reader a format: from a chunk of octets to PACKET records, over the walks in wire/.

    scan(octets, start, end, final) -> Step          octets[start:end] is what there is; `final`: nothing follows

A reader never reads from a file and keeps no octets: what it did not consume it is given again, with more behind it.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ..records import BLOCKS, MOLDUDP64
from ..wire import binaryfile, moldudp64, pcap, pcapng
from ..wire.ethernet import name_link_type
from ..wire.scan import (
    BAD_BLOCK_LENGTH,
    BAD_PACKET_BLOCK,
    BAD_TRAILER,
    BLOCK,
    FRAMES,
    FULL,
    LINES,
    LINES_FULL,
    LINES_MAX,
    MORE,
    OCTETS,
    PACKETS,
    RECORDS,
    UNKNOWN_INTERFACE,
    UNREADABLE_LINK,
    Malformed,
    Refused,
    Sink,
)

DATAGRAM_MAX = 65_535
_BLOCKS_MAX = (1 << 31) - 1  # PACKET.length is an int32


class Step(NamedTuple):
    """position: where to go on; made: PACKETs written; status and detail: see wire/scan.py."""

    position: int
    made: int
    status: int
    detail: int


class Reader(Protocol):
    """`at`: where the last scan stopped. A scan raises Refused or Malformed for what cannot be read there, when it
    has nothing to hand on before."""

    at: int

    def scan(self, octets: np.ndarray, start: int, end: int, final: bool) -> Step: ...


def refuse_full(line_count: int) -> Refused:
    return Refused(f"more than {line_count} destinations: not a capture of market data")


class PcapReader:
    """Classic pcap, from behind its header."""

    def __init__(self, sink: Sink, header: bytes) -> None:
        """Raises Refused, see pcap.read_header."""
        self._sink = sink
        self._header = pcap.read_header(header)
        self.at = 0

    def scan(self, octets: np.ndarray, start: int, end: int, final: bool) -> Step:
        step = Step(*pcap.scan(octets, start, end, self._header, self._sink))
        self.at = step.position
        if not step.made and step.status == LINES_FULL:
            raise refuse_full(LINES_MAX)
        return step


class PcapngReader:
    """pcapng from its first section block on."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._order = ">"
        self._interfaces = np.zeros((4, pcapng.INTERFACE_COLUMNS), np.int64)
        self._count = 0
        self.at = 0

    def scan(self, octets: np.ndarray, start: int, end: int, final: bool) -> Step:
        while True:
            step = Step(
                *pcapng.scan(octets, start, end, int(self._order == ">"), self._interfaces, self._count, self._sink)
            )
            self.at = step.position
            if step.made or step.status in (MORE, FULL):
                return step
            if step.status != BLOCK:
                self._refuse(step)
                return step
            start = step.position
            needed = self._read_section(octets, start, end) if step.detail == 0 else self._read_interface(octets, step)
            if start + needed > end:
                return Step(start, 0, MORE, needed)
            start += needed

    def _read_section(self, octets: np.ndarray, start: int, end: int) -> int:
        section = pcapng.read_section(octets[start : min(end, start + pcapng.SECTION_BYTES_MIN)].tobytes())
        if section is None:
            return pcapng.ORDER_BYTES
        if start + section.length <= end:
            pcapng.read_section(octets[start : start + section.length].tobytes())
            self._order, self._count = section.order, 0
        return section.length

    def _read_interface(self, octets: np.ndarray, step: Step) -> int:
        if self._count == pcapng.INTERFACES_MAX:
            raise Refused(f"more than {pcapng.INTERFACES_MAX} interfaces in a section")
        row = pcapng.read_interface(octets[step.position : step.position + step.detail].tobytes(), self._order)
        if self._count == len(self._interfaces):
            self._interfaces = np.concatenate([self._interfaces, np.zeros_like(self._interfaces)])
        self._interfaces[self._count] = row
        self._count += 1
        return step.detail

    def _refuse(self, step: Step) -> None:
        if step.status == LINES_FULL:
            raise refuse_full(LINES_MAX)
        if step.status == UNREADABLE_LINK:
            link_type = ~int(self._interfaces[step.detail, pcapng.LINK_TYPE])
            raise Refused(f"a packet of interface {step.detail}, which has {name_link_type(link_type)}")
        if step.status == UNKNOWN_INTERFACE:
            raise Malformed(f"a packet of interface {step.detail}, but the section describes {self._count}")
        if step.status == BAD_BLOCK_LENGTH:
            raise Malformed(f"a block of {step.detail} bytes")
        if step.status == BAD_TRAILER:
            raise Malformed(f"a block of {step.detail} bytes that does not end with its length")
        if step.status == BAD_PACKET_BLOCK:
            raise Malformed(f"a packet of {step.detail} bytes that does not fit into its block")


def add_file_line(sink: Sink, file_index: int) -> int:
    """A line for a file that has no destinations; its key is below 0. Raises Refused when there is no room."""
    line = int(sink.counts[LINES])
    if line == LINES_MAX:
        raise refuse_full(LINES_MAX)
    sink.line_keys[line] = ~file_index
    sink.counts[LINES] += 1
    return line


def _write(sink: Sink, made: int, offset: int, length: int, line: int, framing: int, sequence: int) -> None:
    sink.packets[made] = (sink.counts[PACKETS], 0, offset, sequence, length, line, framing, 0, 0, 0)
    sink.counts[PACKETS] += 1
    sink.counts[OCTETS] += length


class BinaryFileReader:
    """A BinaryFILE day: one PACKET for all the whole records of a chunk."""

    def __init__(self, sink: Sink, file_index: int) -> None:
        self._sink = sink
        self._line = add_file_line(sink, file_index)
        self._sequence = 1
        self.at = 0

    def scan(self, octets: np.ndarray, start: int, end: int, final: bool) -> Step:
        position, records, status, detail = binaryfile.walk(octets, start, min(end, start + _BLOCKS_MAX))
        self.at = position
        if records == 0:
            return Step(position, 0, status, detail)
        _write(self._sink, 0, start, position - start, self._line, BLOCKS, self._sequence)
        self._sequence += records
        self._sink.counts[RECORDS] += records
        return Step(position, 1, status, detail)


class HexReader:
    """Lines of hexadecimal digits, a MoldUDP64 packet each; the packet takes the place of its line in the memory."""

    def __init__(self, sink: Sink, file_index: int) -> None:
        self._sink = sink
        self._line = add_file_line(sink, file_index)
        self._number = 0  # of the last line read
        self.at = 0

    def scan(self, octets: np.ndarray, start: int, end: int, final: bool) -> Step:
        made, at, text = 0, start, octets[start:end].tobytes()
        while made < len(self._sink.packets):
            newline = text.find(b"\n", at - start)
            if newline < 0 and not (final and at < end):
                return Step(at, made, MORE, end - at + 1)
            stop = end if newline < 0 else start + newline + 1
            self.at = at
            try:
                payload = self._payload(text[at - start : stop - start], whole=newline >= 0)
            except Malformed:
                if made:
                    break  # what stands before it goes first
                raise
            if payload is None:
                return Step(at, made, MORE, stop - at + 1)
            self._number += 1
            if payload:
                octets[at : at + len(payload)] = np.frombuffer(payload, np.uint8)
                _write(self._sink, made, at, len(payload), self._line, MOLDUDP64, 0)
                self._sink.counts[FRAMES] += 1
                made += 1
            at = stop
        return Step(at, made, FULL, 0)

    def _payload(self, text: bytes, whole: bool) -> bytes | None:
        """The packet of one line, nothing for a blank one; None for a last line, without its end, that is cut."""
        digits = text.strip()
        try:
            payload = bytes.fromhex(digits.decode("ascii"))
        except ValueError as error:
            if not whole and len(digits) % 2 and _is_hex(digits):
                return None
            raise Malformed(f"line {self._number + 1} is not hexadecimal: {digits[:40]!r}") from error
        if len(payload) > DATAGRAM_MAX:
            raise Malformed(f"line {self._number + 1} has {len(payload)} bytes, more than a datagram")
        if payload and not whole and not _is_whole_packet(payload):
            return None
        return payload


def _is_hex(digits: bytes) -> bool:
    return all(digit in b"0123456789abcdefABCDEF" for digit in digits)


def _is_whole_packet(payload: bytes) -> bool:
    """Whether all blocks that the header announces are there."""
    if len(payload) < moldudp64.HEADER_BYTES:
        return False
    count = int.from_bytes(payload[moldudp64.COUNT : moldudp64.HEADER_BYTES], "big")
    at = moldudp64.HEADER_BYTES
    for _ in range(0 if count == moldudp64.END_OF_SESSION else count):
        if at + moldudp64.LENGTH_BYTES > len(payload):
            return False
        at += moldudp64.LENGTH_BYTES + int.from_bytes(payload[at : at + moldudp64.LENGTH_BYTES], "big")
    return at <= len(payload)
