"""SoupBinTCP 3.0: numbered messages over TCP, by a login.

    | length 2 | type 1 | payload length - 1 |      big-endian

    server   + debug   A login accepted   J login rejected   S message   H heartbeat   Z end of session
    client   + debug   L login request    U unnumbered data  R heartbeat   O logout

    login request   | username 6 | password 10 | session 10 | sequence 20 |     blank session: the present one
    login accepted  | session 10 | sequence 20 |                                sequence of the first message to come
    login rejected  | A not authorised, S session not available |

An S bears no number: both sides count from the login's. `gather` makes length-prefixed blocks of many at once, `spread`
the reverse; the rest of a conversation is a few packets a second. `soup_session` has both sides' conduct.
"""

from typing import NamedTuple

from ..hot.intrinsics import be16, copy_octets, put_be16
from ..hot.jit import hot

LENGTH_BYTES = 2
HEADER_BYTES = 3
PACKET_MAX = LENGTH_BYTES + 0xFFFF
MESSAGE_MAX = 0xFFFF - 1  # octets of one S

DEBUG, ACCEPTED, REJECTED, MESSAGE, SERVER_HEARTBEAT, END_OF_SESSION = b"+AJSHZ"
LOGIN, UNNUMBERED, CLIENT_HEARTBEAT, LOGOUT = b"LURO"

NOT_AUTHORIZED, NOT_AVAILABLE = b"A", b"S"
NEWEST = 0  # as the sequence of a login request: begin with the message sent last

_USERNAME, _PASSWORD, _SESSION, _SEQUENCE = 6, 10, 10, 20

# Why `gather` stopped.
MORE = 0  # the packet at the position is not all here
FULL = 1  # no room for its message
LAST = 2  # its message, an S, begins with the octet asked for
OTHER = 3  # it is whole, and no S
TYPELESS = 4  # it has length 0 and so no type


class SoupError(ValueError):
    """What came is not SoupBinTCP, or not what may come now."""


class Login(NamedTuple):
    username: str
    password: str
    session: str  # "": the present one
    sequence: int  # next one wanted; NEWEST


class Accepted(NamedTuple):
    session: str
    sequence: int  # of the first message that follows


def pack(kind: int, payload: bytes = b"") -> bytes:
    """A packet. Raises ValueError if no length field holds it."""
    if len(payload) > MESSAGE_MAX:
        raise ValueError(f"a SoupBinTCP payload of {len(payload)} octets is over {MESSAGE_MAX}")
    return (1 + len(payload)).to_bytes(2, "big") + bytes([kind]) + payload


def pack_login(login: Login) -> bytes:
    """A login request. Raises ValueError for what does not fit its field."""
    return pack(
        LOGIN,
        _text("username", login.username, _USERNAME).encode("ascii")
        + _text("password", login.password, _PASSWORD).encode("ascii")
        + _text("session", login.session, _SESSION).rjust(_SESSION).encode("ascii")
        + _digits(login.sequence),
    )


def pack_accepted(accepted: Accepted) -> bytes:
    """A login accepted. Raises ValueError for what does not fit its field."""
    session = _text("session", accepted.session, _SESSION).strip().rjust(_SESSION)
    return pack(ACCEPTED, session.encode("ascii") + _digits(accepted.sequence))


def read_login(payload: bytes) -> Login:
    """Of an L. Raises SoupError. Octets after the fields (4.x has some) are not looked at."""
    if len(payload) < _USERNAME + _PASSWORD + _SESSION + _SEQUENCE:
        raise SoupError(f"a login request of {len(payload)} octets, not 46")
    at = _USERNAME + _PASSWORD
    return Login(
        _plain("username", payload[:_USERNAME]),
        _plain("password", payload[_USERNAME:at]),
        _plain("session", payload[at : at + _SESSION]),
        read_digits("sequence number", payload[at + _SESSION : at + _SESSION + _SEQUENCE]),
    )


def read_accepted(payload: bytes) -> Accepted:
    """Of an A. Raises SoupError."""
    if len(payload) != _SESSION + _SEQUENCE:
        raise SoupError(f"a login accepted of {len(payload)} octets, not 30")
    return Accepted(_plain("session", payload[:_SESSION]), read_digits("sequence number", payload[_SESSION:]))


def read_digits(name: str, octets: bytes) -> int:
    """A number in ASCII, padded with spaces on either side. Raises SoupError, also for one beyond an int64."""
    text = octets.strip(b" ")
    if not text.isdigit() or int(text) >= 1 << 63:
        raise SoupError(f"{name} {octets!r} is no number")
    return int(text)


def _digits(number: int) -> bytes:
    if not 0 <= number < 1 << 63:
        raise ValueError(f"sequence number {number} is out of range")
    return str(number).rjust(_SEQUENCE).encode("ascii")


def _text(name: str, text: str, size: int) -> str:
    if len(text) > size or not text.isascii() or not text.isprintable():
        raise ValueError(f"{name} is not at most {size} printable ASCII characters")  # it may be secret: not shown
    return text.ljust(size)


def _plain(name: str, octets: bytes) -> str:
    if not octets.isascii():
        raise SoupError(f"{name} is not ASCII")
    return octets.decode("ascii").strip(" ")


@hot
def gather(octets, start, end, into, at, into_end, last):
    """Write the messages of the S packets in octets[start:end] into into[at:into_end], as | length 2 | message |.

    Stops before the first packet that is no S, that is not all there, whose block has no room, or whose message begins
    with the octet `last` (-1: none). A message without octets is counted, not written. Returns (position, written up
    to, messages, status): both arrays uint8, the rest int64.
    """
    messages = 0
    while True:
        room = end - start
        if room < LENGTH_BYTES:
            return start, at, messages, MORE
        length = be16(octets, start)
        if length == 0:
            return start, at, messages, TYPELESS
        if room < LENGTH_BYTES + length:
            return start, at, messages, MORE
        if octets[start + LENGTH_BYTES] != MESSAGE:
            return start, at, messages, OTHER
        size = length - 1
        if size > 0:
            if octets[start + HEADER_BYTES] == last:
                return start, at, messages, LAST
            if at + LENGTH_BYTES + size > into_end:
                return start, at, messages, FULL
            put_be16(into, at, size)
            copy_octets(into, at + LENGTH_BYTES, octets, start + HEADER_BYTES, size)
            at += LENGTH_BYTES + size
        start += LENGTH_BYTES + length
        messages += 1


@hot
def spread(blocks, start, end, into, at):
    """Write the blocks | length 2 | message | of blocks[start:end] as S packets into `into` from `at` on, as many as
    are whole and find room. Returns (position, written up to, messages)."""
    messages = 0
    while start + LENGTH_BYTES <= end:
        size = be16(blocks, start)
        if size > MESSAGE_MAX or start + LENGTH_BYTES + size > end or at + HEADER_BYTES + size > into.shape[0]:
            break
        put_be16(into, at, size + 1)
        into[at + LENGTH_BYTES] = MESSAGE
        copy_octets(into, at + HEADER_BYTES, blocks, start + LENGTH_BYTES, size)
        start += LENGTH_BYTES + size
        at += HEADER_BYTES + size
        messages += 1
    return start, at, messages
