"""A line: where packets of one stream are sent, and how we come by them.

    channel 0   line A  0   233.54.12.111:26477 on eth1
                line B  1   233.86.230.111:26477 on eth2, from 192.0.2.7 only
    channel 1   line A  2   …
                line B  3   none

A stream is sent twice, over two lines; PACKET.line is 2 * channel, and 1 more for line B. A transport is given all
lines in this order, None for those that there are not.
"""

from collections.abc import Sequence
from ipaddress import AddressValueError, IPv4Address
from typing import NamedTuple

__all__ = ["Line", "LineError", "check_lines"]

PORT_MAX = 65_535


class LineError(Exception):
    """A line that cannot be received; the message names it and says what to do."""


class Line(NamedTuple):
    """A group, or an address of this machine's own, and a port; the network interface's name, "" for the one that the
    system's routes give; the only sender whose packets are taken, None for any."""

    group: str
    port: int
    interface: str = ""
    source: str | None = None

    def __str__(self) -> str:
        on = f" on {self.interface}" if self.interface else ""
        return f"{self.group}:{self.port}{on}" + (f" from {self.source}" if self.source else "")

    @property
    def is_multicast(self) -> bool:
        return IPv4Address(self.group).is_multicast


def check_lines(lines: Sequence[Line | None]) -> None:
    """Raises LineError for a line that is none, that stands there twice, or when there are none at all."""
    seen: dict[tuple[str, int, str], int] = {}
    for number, line in enumerate(lines):
        if line is None:
            continue
        _check(line)
        first = seen.setdefault((line.group, line.port, line.interface), number)
        if first != number:
            raise LineError(f"line {line}: it stands there twice, as number {first} and {number}")
    if not seen:
        raise LineError("there is no line to receive")


def _check(line: Line) -> None:
    for address in (line.group, line.source):
        try:
            IPv4Address(address or "0.0.0.0")
        except AddressValueError as error:
            raise LineError(f"line {line}: {address!r} is no IPv4 address") from error
    if not 1 <= line.port <= PORT_MAX:
        raise LineError(f"line {line}: a port is a number from 1 to {PORT_MAX}")
    if IPv4Address(line.group).is_unspecified:
        raise LineError(f"line {line}: packets of every group would be taken; name one group or address")
    if line.source is not None and not line.is_multicast:
        raise LineError(f"line {line}: a sender can be chosen for a multicast group only")
