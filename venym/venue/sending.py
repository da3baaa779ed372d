"""The socket that a line is sent on."""

import errno
import os
import socket
import struct
from ipaddress import AddressValueError, IPv4Address
from typing import NamedTuple

SEND_BUFFER_OCTETS = 4_194_304
TTL = 1  # as far as the next network


class SendError(Exception):
    """The system refuses a line or a server; the message names it and says why."""


class Target(NamedTuple):
    """A group, or somebody's address, and a port; the network interface that packets of a group leave by, "" for the
    one that the system's routes give; routers they may pass, plus one."""

    group: str
    port: int
    interface: str = ""
    ttl: int = TTL

    def __str__(self) -> str:
        return f"{self.group}:{self.port}" + (f" by {self.interface}" if self.interface else "")


def open_target(target: Target) -> socket.socket:
    """A connected socket, whose packets come back to this machine too. Raises SendError."""
    try:
        is_multicast = IPv4Address(target.group).is_multicast
    except AddressValueError as error:
        raise SendError(f"line {target}: {target.group!r} is no IPv4 address") from error
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_OCTETS)
        if is_multicast:
            if target.interface:
                member = bytes(8) + struct.pack("=I", socket.if_nametoindex(target.interface))  # struct ip_mreqn
                made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, member)
            made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, target.ttl)
            made.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 1)
        made.connect((target.group, target.port))
    except OSError as error:
        made.close()
        said = os.strerror(error.errno) if error.errno else str(error)
        if error.errno in (errno.ENETUNREACH, errno.ENODEV, errno.ENXIO):
            said = f"{said}; no route or interface leads there: name an interface, or add a route"
        raise SendError(f"line {target}: {said}") from error
    return made


def address_of(endpoint: str) -> tuple[str, int]:
    """Host and port of host:port."""
    host, _, port = endpoint.rpartition(":")
    return host, int(port)
