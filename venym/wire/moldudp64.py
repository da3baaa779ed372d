"""MoldUDP64 1.0: numbered messages in a datagram, and the request for lost ones.

    | session 10 | sequence 8 | count 2 | then count times: length 2, message |      big-endian

`sequence` is that of the first message. A count of 0 is a heartbeat and END_OF_SESSION ends the session; both carry
the next sequence expected and no blocks. A request has the same 20 octets: the first sequence wanted, how many.
A sequence is the 64-bit pattern as int64: no session comes near the sign.
"""

from ..hot.intrinsics import be16, be64, copy_octets, put_be16, put_be64
from ..hot.jit import hot, small

SESSION, SEQUENCE, COUNT = 0, 10, 18  # offsets
SESSION_BYTES = 10
HEADER_BYTES = 20
REQUEST_BYTES = HEADER_BYTES
LENGTH_BYTES = 2  # before each message
HEARTBEAT = 0
END_OF_SESSION = 0xFFFF
COUNT_MAX = END_OF_SESSION - 1
SEQUENCE_MAX = 2**63 - 1 - (1 << 17)  # beyond it, the number after a packet would not be an int64


@small
def session_high(octets, offset):
    """The first eight octets of the session; the caller has seen to it that HEADER_BYTES are there, as below."""
    return be64(octets, offset + SESSION)


@small
def session_low(octets, offset):
    """The last two octets of the session."""
    return be16(octets, offset + SESSION + 8)


@small
def sequence_of(octets, offset):
    """The number of the first message; of the next one in a heartbeat or end of session."""
    return be64(octets, offset + SEQUENCE)


@small
def count_of(octets, offset):
    """Messages in the packet, HEARTBEAT or END_OF_SESSION; in a request, messages wanted."""
    return be16(octets, offset + COUNT)


@hot
def put_header(octets, offset, session, sequence, count):
    """Write HEADER_BYTES at `offset`. session: (10,) uint8, of ASCII padded with spaces. Also a request packet."""
    copy_octets(octets, offset + SESSION, session, 0, SESSION_BYTES)
    put_be64(octets, offset + SEQUENCE, sequence)
    put_be16(octets, offset + COUNT, count)
