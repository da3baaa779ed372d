"""ITCH 5.0 the slow way: bytes in, dicts out, field by field from the table."""

import json
from collections.abc import Iterator
from typing import Any

from venym.records import MOLDUDP64
from venym.wire.itch50 import ALPHA, HEADER, MESSAGES

Fields = dict[str, Any]


def decode(message: bytes) -> Fields | None:
    """Every field of a message, by name, in order; None for an unknown type or a message shorter than its type."""
    kind = message[:1].decode("latin-1")
    if kind not in MESSAGES or len(message) < MESSAGES[kind].length:
        return None
    found: Fields = {}
    for field in HEADER + MESSAGES[kind].fields:
        octets = message[field.offset : field.offset + field.width]
        if field.kind == ALPHA:
            found[field.name] = octets.decode("latin-1").rstrip(" ")
        else:
            found[field.name] = int.from_bytes(octets, "big")
    return found


def as_line(fields: Fields) -> bytes:
    """The line of JSON; only the short escapes that json.dumps prefers are spelled out."""
    line = json.dumps(fields, separators=(",", ":"))
    for short, long in (("\\b", "0008"), ("\\t", "0009"), ("\\n", "000a"), ("\\f", "000c"), ("\\r", "000d")):
        line = "\\\\".join(part.replace(short, "\\u" + long) for part in line.split("\\\\"))
    return line.encode() + b"\n"


def blocks(octets: bytes, most: int | None = None) -> tuple[list[bytes], bytes]:
    """The messages of length-prefixed blocks, at most so many, and what is left behind the last whole one."""
    messages: list[bytes] = []
    while octets and most != 0:
        length = int.from_bytes(octets[:2], "big")
        if len(octets) < 2 + length:
            break
        messages.append(octets[2 : 2 + length])
        octets = octets[2 + length :]
        most = None if most is None else most - 1
    return messages, octets


class Walked:
    """What lies in a lot of packets, given as (framing, payload)."""

    def __init__(self, packets: list[tuple[int, bytes]]) -> None:
        self.messages: list[bytes] = []
        self.truncated = 0
        self.headerless = 0
        for framing, payload in packets:
            if framing == MOLDUDP64:
                self._mold(payload)
            else:
                found, rest = blocks(payload)
                self.messages += found
                self.truncated += len(rest) > 0
        self.messages = [message for message in self.messages if message]

    def _mold(self, payload: bytes) -> None:
        if len(payload) < 20:
            self.headerless += 1
            return
        count = int.from_bytes(payload[18:20], "big")
        if count != 0xFFFF:
            found, _ = blocks(payload[20:], count)
            self.messages += found
            self.truncated += len(found) < count

    def decoded(self) -> Iterator[Fields]:
        for message in self.messages:
            fields = decode(message)
            if fields is not None:
                yield fields

    def skipped(self) -> dict[int, int]:
        """Messages not decoded, by the byte of their type."""
        found: dict[int, int] = {}
        for message in self.messages:
            if decode(message) is None:
                found[message[0]] = found.get(message[0], 0) + 1
        return found
