"""FIX once more, by bytes.split, datetime and Decimal."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal

SOH = b"\x01"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LENGTH_TAGS = {90, 93, 95, 212, 348, 350, 352, 354, 356, 358, 360, 362, 364, 445, 618, 621}
BODY_LENGTH_MAX = 8_192
MESSAGE = re.compile(rb"8=FIX[^\x01]{0,11}\x019=(\d{1,9})\x01(?=35=)")

Field = tuple[int, bytes]


def check_sum(octets: bytes) -> bytes:
    return b"10=%03d\x01" % (sum(octets) % 256)


def joined(fields: Iterable[Field]) -> bytes:
    return b"".join(b"%d=%s\x01" % field for field in fields)


def message(body: bytes | Iterable[Field], version: str = "FIX.4.2") -> bytes:
    """A whole message around `body`, which begins with 35."""
    octets = body if isinstance(body, bytes) else joined(body)
    head = b"8=%s\x019=%d\x01" % (version.encode(), len(octets)) + octets
    return head + check_sum(head)


def time(time_ns: int, decimals: int = 3) -> bytes:
    second, fraction = divmod(time_ns, 10**9)
    text = (EPOCH + timedelta(seconds=second)).strftime("%Y%m%d-%H:%M:%S")
    return (text + (f".{fraction:09d}"[: decimals + 1] if decimals else "")).encode()


def time_ns(text: bytes) -> int:
    whole, _, fraction = text.decode().partition(".")
    seconds = (datetime.strptime(whole, "%Y%m%d-%H:%M:%S").replace(tzinfo=UTC) - EPOCH) // timedelta(seconds=1)
    return seconds * 10**9 + int((fraction or "0").ljust(9, "0"))


def price(price_e4: int) -> bytes:
    return f"{Decimal(price_e4).scaleb(-4):.4f}".encode()


def order(
    version: str, kind: str, sender: str, target: str, sequence: int, sent: bytes, values: Mapping[int, bytes]
) -> bytes:
    """A message of `kind` with `values` by tag number."""
    head = [(35, kind.encode()), (34, b"%d" % sequence), (49, sender.encode()), (52, sent), (56, target.encode())]
    return message([*head, *sorted(values.items())], version)


def fields(octets: bytes) -> list[Field]:
    """All fields of a message that has nothing wrong in it."""
    found: list[Field] = []
    while octets:
        tag, rest = octets.split(b"=", 1)
        if found and found[-1][0] in LENGTH_TAGS:
            size = int(found[-1][1])
            value, octets = rest[:size], rest[size + 1 :]
        else:
            value, octets = rest.split(SOH, 1)
        found.append((int(tag), value))
    return found


def whole_at(stream: bytes, at: int) -> bytes | None:
    """The message that begins at `at`, if there is one with nothing wrong in its frame."""
    match = MESSAGE.match(stream, at)
    if match is None or int(match[1]) > BODY_LENGTH_MAX:
        return None
    trailer = match.end() + int(match[1])
    octets = stream[at:trailer]
    right = octets.endswith(SOH) and stream[trailer : trailer + 7] == check_sum(octets)
    return octets + stream[trailer : trailer + 7] if right else None


def claimed_by(stream: bytes, at: int) -> int:
    """Where the body of the garbled message at `at` should end, or the octet behind `at` if it says nothing of use."""
    match = MESSAGE.match(stream, at)
    if match is None or not 5 <= int(match[1]) <= BODY_LENGTH_MAX:
        return at + 1
    return match.end() + int(match[1])


def framed(stream: bytes) -> list[bytes]:
    """All messages of a stream that is there from its beginning to its end."""
    found, at = [], 0
    while 0 <= at < len(stream):
        whole = whole_at(stream, at)
        if whole is not None:
            found.append(whole)
            at += len(whole)
        elif stream.startswith(b"8=FIX", at):
            at = stream.find(b"\x018=FIX", claimed_by(stream, at) - 1) + 1 or len(stream)
        else:
            at = stream.find(b"8=FIX", at + 1)
    return found
