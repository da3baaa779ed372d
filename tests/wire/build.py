"""Octets for tests, from the inside out: messages, MoldUDP64, UDP, IP, frames, capture files.

    pcap([record(1, ethernet(ipv4(udp(mold(1, [add(1)])))))])

Every builder takes what a hostile writer would want to lie about.
"""

import struct
from collections.abc import Callable, Iterable, Sequence

from venym.wire.itch50 import MESSAGES

SESSION = b"0000000001"
TIME_NS = 1_546_524_000_150_304_789
US, NS = 0xA1B2C3D4, 0xA1B23C4D
ETHERNET, RAW, SLL, SLL2, LOOPBACK = 1, 101, 113, 276, 0


# Messages


def message(kind: str, locate: int = 7, time_ns: int = 34_200_000_000_000, length: int | None = None) -> bytes:
    """A message of the type with zeros in its own fields, of its own length or another."""
    head = kind.encode("latin-1") + struct.pack(">HH", locate, 0) + time_ns.to_bytes(6, "big")
    size = length if length is not None else MESSAGES[kind].length
    return head.ljust(size, b"\0")[:size]


def system(event: str = "O") -> bytes:
    return message("S", 0)[:11] + event.encode()


def directory(locate: int = 7, stock: str = "TEST") -> bytes:
    return message("R", locate)[:11] + stock.encode().ljust(8) + b"QN\0\0\0\x64NCZ PNN1N\0\0\0\0N"


def add(reference: int, side: str = "B", shares: int = 100, price_e4: int = 100_000) -> bytes:
    body = struct.pack(">QcI8sI", reference, side.encode(), shares, b"TEST    ", price_e4)
    return message("A")[:11] + body


def blocks(messages: Iterable[bytes], end: bool = False) -> bytes:
    """Each message behind its length: the body of a BinaryFILE day; `end` adds the record that ends a session."""
    return b"".join(struct.pack(">H", len(m)) + m for m in messages) + (b"\0\0" if end else b"")


def mold(sequence: int, messages: Sequence[bytes] = (), session: bytes = SESSION, count: int | None = None) -> bytes:
    return session + struct.pack(">QH", sequence, len(messages) if count is None else count) + blocks(messages)


# Datagrams and frames


def udp(payload: bytes, port: int = 26_400, length: int | None = None, source: int = 40_000) -> bytes:
    return struct.pack(">HHHH", source, port, 8 + len(payload) if length is None else length, 0) + payload


def ipv4(
    body: bytes,
    to: str = "239.1.1.1",
    options: bytes = b"",
    protocol: int = 17,
    fragment: int = 0,
    total: int | None = None,
    version: int = 4,
    words: int | None = None,
) -> bytes:
    """`options` in whole words; `fragment`: flags and offset; `words`: of header, true by default."""
    header = 20 + len(options)
    return (
        struct.pack(
            ">BBHHHBBH4s4s",
            version << 4 | (header // 4 if words is None else words),
            0,
            header + len(body) if total is None else total,
            1,
            fragment,
            16,
            protocol,
            0,
            bytes([10, 0, 0, 1]),
            bytes(map(int, to.split("."))),
        )
        + options
        + body
    )


def ethernet(body: bytes, tags: Sequence[int] = (), kind: int = 0x0800, pad: int = 0) -> bytes:
    """`tags`: tag types from the outside; the frame is padded to `pad` octets."""
    types = [*tags, kind]
    head = bytes.fromhex("01005e010101 020000000001") + struct.pack(">H", types[0])
    return (head + b"".join(struct.pack(">HH", 100, inner) for inner in types[1:]) + body).ljust(pad, b"\xee")


def sll(body: bytes, kind: int = 0x0800) -> bytes:
    return struct.pack(">HHH8sH", 2, 1, 6, b"\2\0\0\0\0\1\0\0", kind) + body


def sll2(body: bytes, kind: int = 0x0800) -> bytes:
    return struct.pack(">HHIHBB8s", kind, 0, 3, 1, 2, 6, b"\2\0\0\0\0\1\0\0") + body


def loopback(body: bytes, family: int = 2, order: str = "<") -> bytes:
    return struct.pack(order + "I", family) + body


FRAMES: dict[int, Callable[[bytes], bytes]] = {ETHERNET: ethernet, RAW: bytes, SLL: sll, SLL2: sll2, LOOPBACK: loopback}


def frame(sequence: int = 1, link_type: int = ETHERNET, to: str = "239.1.1.1", port: int = 26_400) -> bytes:
    """A frame of 100 octets on Ethernet: one add."""
    return FRAMES[link_type](ipv4(udp(mold(sequence, [add(sequence)]), port), to))


# pcap


def pcap_header(
    order: str = "<", magic: int = US, link_type: int = ETHERNET, version: tuple[int, int] = (2, 4)
) -> bytes:
    return struct.pack(order + "IHHiIII", magic, *version, 0, 0, 262_144, link_type)


def record(
    octets: bytes,
    time_ns: int = TIME_NS,
    order: str = "<",
    magic: int = US,
    captured: int | None = None,
    original: int | None = None,
) -> bytes:
    """A packet of a pcap file. `captured` and `original`: what its header claims."""
    seconds, fraction = divmod(time_ns, 1_000_000_000)
    size = len(octets) if captured is None else captured
    unit = 1 if magic == NS else 1000
    return struct.pack(order + "IIII", seconds, fraction // unit, size, size if original is None else original) + octets


def pcap(frames: Iterable[bytes], order: str = "<", magic: int = US, link_type: int = ETHERNET) -> bytes:
    """A file of these frames, a microsecond apart."""
    return pcap_header(order, magic, link_type) + b"".join(
        record(octets, TIME_NS + 1000 * number, order, magic) for number, octets in enumerate(frames)
    )


# pcapng


def _padded(octets: bytes) -> bytes:
    return octets + bytes(-len(octets) % 4)


def block(kind: int, body: bytes, order: str = "<", length: int | None = None, trailer: int | None = None) -> bytes:
    """Any block. `length` and `trailer`: what it claims at its start and its end."""
    size = 12 + len(_padded(body)) if length is None else length
    return (
        struct.pack(order + "II", kind, size)
        + _padded(body)
        + struct.pack(order + "I", size if trailer is None else trailer)
    )


def option(code: int, value: bytes, order: str = "<") -> bytes:
    return struct.pack(order + "HH", code, len(value)) + _padded(value)


def section(order: str = "<", version: tuple[int, int] = (1, 0), options: bytes = b"") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, *version, -1) + options, order)


def interface(
    link_type: int = ETHERNET,
    resolution: int | None = None,
    offset_s: int | None = None,
    snap_length: int = 0,
    order: str = "<",
) -> bytes:
    """resolution: if_tsresol; offset_s: if_tsoffset; both left out by default."""
    options = option(2, b"eth0", order)
    options += b"" if resolution is None else option(9, bytes([resolution]), order)
    options += b"" if offset_s is None else option(14, struct.pack(order + "q", offset_s), order)
    return block(1, struct.pack(order + "HHI", link_type, 0, snap_length) + options + option(0, b"", order), order)


def enhanced(
    octets: bytes,
    stamp: int = TIME_NS // 1000,
    number: int = 0,
    order: str = "<",
    captured: int | None = None,
    original: int | None = None,
    options: bytes = b"",
) -> bytes:
    size = len(octets) if captured is None else captured
    fields = (number, stamp >> 32, stamp & 0xFFFFFFFF, size, size if original is None else original)
    return block(6, struct.pack(order + "IIIII", *fields) + _padded(octets) + options, order)


def simple(octets: bytes, order: str = "<", original: int | None = None) -> bytes:
    return block(3, struct.pack(order + "I", len(octets) if original is None else original) + octets, order)


def obsolete(octets: bytes, stamp: int = TIME_NS // 1000, number: int = 0, order: str = "<") -> bytes:
    fields = (number, 0xFFFF, stamp >> 32, stamp & 0xFFFFFFFF, len(octets), len(octets))
    return block(2, struct.pack(order + "HHIIII", *fields) + octets, order)
