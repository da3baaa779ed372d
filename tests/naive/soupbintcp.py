"""SoupBinTCP framing once more, one Python object a packet."""

import struct

TYPELESS = "a packet without a type"


def packets(octets: bytes) -> tuple[list[tuple[bytes, bytes]], bytes]:
    """Type and payload of the whole packets, and what is left. Raises ValueError for a packet of length 0."""
    found = []
    while len(octets) >= 2:
        (length,) = struct.unpack_from(">H", octets)
        if length == 0:
            raise ValueError(TYPELESS)
        if len(octets) < 2 + length:
            break
        found.append((octets[2:3], octets[3 : 2 + length]))
        octets = octets[2 + length :]
    return found, octets


def frame(kind: bytes, payload: bytes = b"") -> bytes:
    return struct.pack(">H", 1 + len(payload)) + kind + payload


def blocks(messages: list[bytes]) -> bytes:
    return b"".join(struct.pack(">H", len(message)) + message for message in messages if message)


def gather(octets: bytes, room: int, last: int) -> tuple[int, bytes, int, str]:
    """(position, blocks, messages, why it stopped), as venym.wire.soupbintcp.gather."""
    at, made, messages = 0, b"", 0
    while True:
        if octets[at : at + 2] == b"\0\0":
            return at, made, messages, "TYPELESS"
        found, _ = packets(octets[at : at + 2 + int.from_bytes(octets[at : at + 2], "big")])
        if not found:
            return at, made, messages, "MORE"
        kind, message = found[0]
        if kind != b"S":
            return at, made, messages, "OTHER"
        if message and message[0] == last:
            return at, made, messages, "LAST"
        block = blocks([message])
        if len(made) + len(block) > room:
            return at, made, messages, "FULL"
        at += 3 + len(message)
        made += block
        messages += 1
