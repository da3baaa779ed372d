"""Small files of every format, and reading them back."""

from pathlib import Path

from tests.transport.reading import Read, read
from tests.wire import build

MESSAGES = [build.system(), build.directory(), build.add(1)]
FRAMES = [build.frame(1), build.ethernet(b"", kind=0x0806, pad=60), build.frame(2, to="239.1.1.2"), build.frame(3)]
PAYLOADS = [build.mold(n, [build.add(n)]) for n in (1, 2, 3)] + [build.mold(4, count=0xFFFF)]
BLOCKS = [
    build.section(),
    build.interface(),
    build.interface(build.SLL, resolution=9),
    build.enhanced(build.frame(1)),
    build.block(5, bytes(12)),
    build.enhanced(build.frame(2, build.SLL), build.TIME_NS, 1),
    build.section(">"),
    build.interface(resolution=0x94, order=">"),
    build.obsolete(build.frame(3), 1_546_524_001 << 20, order=">"),
    build.simple(build.frame(4), ">"),
]
PCAP, PCAPNG, DAY = build.pcap(FRAMES), b"".join(BLOCKS), build.blocks(MESSAGES)
HEX = b"\n".join([*(payload.hex().encode() for payload in PAYLOADS[:2]), b"", PAYLOADS[3].hex().encode(), b""])


def put(folder: Path, octets: bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(octets)
    return path


def read_octets(folder: Path, octets: bytes, **options: int) -> Read:
    return read(put(folder, octets), **options)
