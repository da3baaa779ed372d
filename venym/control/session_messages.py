"""FIX messages as their fields, and back. For the session's own messages and what is rare: nothing here is quick.

    octets that `wire.fix.frame` found whole ──read_message──▶ Message      Outgoing ──write_message──▶ octets

Text is Latin-1 throughout, so that every octet is a character and comes back as it was.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import NamedTuple

from ..wire.fix import LENGTH_THEN_DATA, TRAILER_OCTETS

SECOND_NS = 1_000_000_000
_SOH = b"\x01"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"(\d{8}-\d\d:\d\d:)(\d\d)(?:\.(\d{1,9}))?")
_WHOLE = re.compile(r"\d{1,18}")
_DATA_TAG = {str(length): str(data) for length, data in LENGTH_THEN_DATA.items()}

Fields = tuple[tuple[int, str], ...]


class Outgoing(NamedTuple):
    """What is said, before it has a number and a time. body: in the order to be sent; header: beyond 8 9 34 35 49 52 56
    and what marks a message as sent again; more: what else the body has, by its fields from MsgType on as they are
    written, which is asked once and kept nowhere."""

    msg_type: str
    body: Fields = ()
    header: Fields = ()
    more: Callable[[Mapping[int, str]], Fields] | None = None


@dataclass(frozen=True)
class Message:
    """A message that came. fields: (tag, value) from MsgType to the last one before CheckSum, as they came; a tag is
    text, for it may be no number, and the value of a field without = is None."""

    version: str
    fields: tuple[tuple[str, str | None], ...]

    @cached_property
    def _first(self) -> dict[str, str]:
        found: dict[str, str] = {}
        for tag, value in self.fields:
            found.setdefault(tag, value or "")
        return found

    def get(self, tag: int) -> str | None:
        """The first value of a tag; "" for an empty one."""
        return self._first.get(str(tag))

    def whole(self, tag: int) -> int | None:
        """The first value of a tag, if it is a whole number from 0 on."""
        value = self._first.get(str(tag), "")
        return int(value) if _WHOLE.fullmatch(value) else None

    @property
    def msg_type(self) -> str:
        return self._first["35"]

    @property
    def number(self) -> int | None:
        """MsgSeqNum."""
        return self.whole(34)

    @property
    def is_again(self) -> bool:
        """PossDupFlag: it may have come before."""
        return self.get(43) == "Y"

    @property
    def is_gap_fill(self) -> bool:
        return self.msg_type == "4" and self.get(123) == "Y"

    @property
    def is_reset(self) -> bool:
        """SequenceReset in reset mode: its own number does not matter."""
        return self.msg_type == "4" and self.get(123) != "Y"


def read_message(octets: bytes) -> Message:
    """The fields of a message that was framed. A data field ends where its length says, if an SOH is there."""
    fields: list[tuple[str, str | None]] = []
    at, data_tag, data_length = 0, "", 0
    octets = octets[:-TRAILER_OCTETS]
    while at < len(octets):
        end = octets.find(_SOH, at)
        tag, equals, _ = octets[at:end].partition(b"=")
        name, value_start = tag.decode("latin-1"), at + len(tag) + 1
        if equals and name == data_tag and octets[value_start + data_length : value_start + data_length + 1] == _SOH:
            end = value_start + data_length
        value = octets[value_start:end].decode("latin-1") if equals else None
        fields.append((name, value))
        data_tag = _DATA_TAG.get(name, "") if value and _WHOLE.fullmatch(value) else ""
        data_length = int(value) if data_tag and value else 0
        at = end + 1
    return Message(fields[0][1] or "", tuple(fields[2:]))


def write_message(
    version: str,
    sender: str,
    target: str,
    number: int,
    now_ns: int,
    message: Outgoing,
    original_ns: int | None = None,
) -> bytes:
    """The octets of `message` under `number`, sent at `now_ns` (since 1970, UTC); again, if it was at `original_ns`."""
    header: list[tuple[int, str]] = [(34, str(number)), (49, sender), (52, utc_text(now_ns)), (56, target)]
    if original_ns is not None:
        header += [(43, "Y"), (122, utc_text(original_ns))]
    header = sorted([*header, *message.header])
    fields = [(35, message.msg_type), *header, *message.body]
    if message.more is not None:
        fields += message.more(dict(fields))
    body = _joined(fields)
    head = _joined([(8, version), (9, str(len(body)))]) + body
    return head + b"10=%03d\x01" % (sum(head) % 256)


def _joined(fields: Iterable[tuple[int, str]]) -> bytes:
    return "".join(f"{tag}={value}\x01" for tag, value in fields).encode("latin-1")


def utc_text(time_ns: int) -> str:
    """UTCTimestamp in milliseconds."""
    second, fraction = divmod(time_ns, SECOND_NS)
    return f"{_EPOCH + timedelta(seconds=second):%Y%m%d-%H:%M:%S}.{fraction // 1_000_000:03d}"


def utc_ns(text: str | None) -> int | None:
    """Nanoseconds since 1970 of a UTCTimestamp with up to nine decimals; None if it is none. Second 60 is the next."""
    match = _TIME.fullmatch(text or "")
    if match is None or match[2] > "60":
        return None
    try:
        minute = datetime.strptime(match[1] + "00", "%Y%m%d-%H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return ((minute - _EPOCH) // timedelta(seconds=1) + int(match[2])) * SECOND_NS + int((match[3] or "").ljust(9, "0"))
