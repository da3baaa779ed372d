"""Messages of real and made captures with the fields that other decoders found in them."""

import json
import struct
from decimal import Decimal
from pathlib import Path
from typing import Any

from tests.naive.itch50 import Fields
from venym.wire.itch50 import HEADER, MESSAGES, PRICE4, PRICE8

SCALE = {PRICE4: 10**4, PRICE8: 10**8}


def payloads(path: Path) -> list[bytes]:
    """The UDP payloads of a little-endian pcap file of Ethernet frames, with or without VLAN tags."""
    octets, at, found = path.read_bytes(), 24, []
    while at < len(octets):
        size = struct.unpack_from("<I", octets, at + 8)[0]
        frame, at = octets[at + 16 : at + 16 + size], at + 16 + size
        ip = 14
        while frame[ip - 2 : ip] in (b"\x81\x00", b"\x88\xa8"):
            ip += 4
        udp = ip + 4 * (frame[ip] & 15)
        found.append(frame[udp + 8 : udp + int.from_bytes(frame[udp + 4 : udp + 6], "big")])
    return found


def real_captures(shared: Path) -> list[tuple[list[bytes], list[Fields]]]:
    """Of each capture with TotalView messages: its payloads, and the fields an independent decoder found."""
    expected: dict[str, list[Fields]] = {}
    for line in (shared / "oracle" / "omi_nasdaq_itch_own.ndjson").read_text().splitlines():
        said = json.loads(line)
        fields = {"message_type": said["type"], **said}
        for other in ("file", "frame_ts_ns", "session", "seq", "type"):
            del fields[other]
        expected.setdefault(said["file"], []).append(fields)
    folder = shared / "data" / "omi" / "Nasdaq"
    return [(payloads(folder / name), fields) for name, fields in expected.items()]


def by_lua(path: Path) -> list[Fields]:
    """What tshark found with Open Markets Initiative's dissector: other names, the same order, prices as decimals."""
    return [_from_lua(json.loads(line)) for line in path.read_text().splitlines()]


def _from_lua(said: dict[str, str]) -> Fields:
    said.pop("file", None)
    kind = said["type"]
    values: list[Any] = list(said.values())
    fields = HEADER + MESSAGES[kind].fields
    assert len(values) == len(fields)
    found: Fields = {}
    for field, value in zip(fields, values, strict=True):
        if field.kind in SCALE:
            found[field.name] = int(Decimal(value) * SCALE[field.kind])
        else:
            found[field.name] = value.rstrip(" ") if field.kind == 0 else int(value)
    return found
