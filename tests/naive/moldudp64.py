"""The MoldUDP64 header once more, by struct."""

import struct
from typing import NamedTuple

HEADER = ">10sqH"


class Header(NamedTuple):
    session: bytes
    sequence: int
    message_count: int


def unpack(octets: bytes) -> Header:
    return Header(*struct.unpack_from(HEADER, octets))


def pack(header: Header) -> bytes:
    return struct.pack(HEADER, *header)
