"""BinaryFILE: a day of messages, each behind its length.

    | length 2 | message | length 2 | message | ... | 0 2 |       big-endian

A record of length 0 ends the session; most files simply end. The ordinal of a record, from 1, is the sequence number
its message had that day.
"""

from ..hot.intrinsics import be16
from ..hot.jit import hot
from .scan import END_OF_SESSION, MORE

PREFIX_BYTES = 2


@hot
def walk(octets, start, end):
    """Pass over the whole records of octets[start:end].

    Returns (position, records, status, detail), see scan.py: MORE or END_OF_SESSION, which has `position` at the
    record of length 0.
    """
    at, records = start, 0
    while True:
        if at + PREFIX_BYTES > end:
            return at, records, MORE, PREFIX_BYTES
        length = be16(octets, at)
        if length == 0:
            return at, records, END_OF_SESSION, 0
        if at + PREFIX_BYTES + length > end:
            return at, records, MORE, PREFIX_BYTES + length
        at += PREFIX_BYTES + length
        records += 1
