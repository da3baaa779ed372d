"""What the kernel says of a network interface, asked over netlink: in the namespace of the calling thread, without
/sys, which may show another one's.

    RTM_GETLINK ▶ | length 4 | type 2 | flags 2 | sequence 4 | port 4 | ifinfomsg 16 | length 2 | type 2 | value | …
"""

import ctypes
import fcntl
import socket
import struct
from typing import NamedTuple

_RTM_GETLINK, _NLM_F_REQUEST, _NLMSG_ERROR = 18, 1, 2
_IFLA_MTU, _IFLA_LINK, _IFLA_LINKINFO, _IFLA_RX_QUEUES, _IFLA_XDP = 4, 5, 18, 32, 43
_IFLA_INFO_KIND = 1
_IFF_UP = 1
_XDP_PROGRAM, _XDP_NATIVE_PROGRAM, _XDP_GENERIC_PROGRAM = 4, 5, 6
_NESTED = 0x3FFF  # the type without the flag that says that attributes lie inside
_SIOCETHTOOL, _ETHTOOL_GCHANNELS = 0x8946, 0x3C


class Interface(NamedTuple):
    """`up`: may frames come? `rx_queues`: how many are in use. `lower`: for a VLAN interface the name of the one below,
    else None. `programs`: identifiers of the XDP programs on it."""

    name: str
    ifindex: int
    up: bool
    mtu_octets: int
    rx_queues: int
    lower: str | None
    programs: tuple[int, ...]


def look_up(name: str) -> Interface:
    """Raises OSError when there is no interface of that name."""
    index = socket.if_nametoindex(name)
    answer = _ask(index)
    found = _attributes(answer, 32)
    info = _attributes(found.get(_IFLA_LINKINFO, b""), 0)
    xdp = _attributes(found.get(_IFLA_XDP, b""), 0)
    lower = None
    if info.get(_IFLA_INFO_KIND, b"").rstrip(b"\0") == b"vlan" and _IFLA_LINK in found:
        lower = socket.if_indextoname(_word(found[_IFLA_LINK]))
    identifiers = (xdp.get(kind) for kind in (_XDP_PROGRAM, _XDP_NATIVE_PROGRAM, _XDP_GENERIC_PROGRAM))
    programs = tuple(dict.fromkeys(_word(held) for held in identifiers if held))
    return Interface(
        name=name,
        ifindex=index,
        up=bool(struct.unpack_from("=I", answer, 24)[0] & _IFF_UP),
        mtu_octets=_word(found[_IFLA_MTU]),
        rx_queues=_channels(name) or _word(found.get(_IFLA_RX_QUEUES, struct.pack("=I", 1))),
        lower=lower,
        programs=tuple(program for program in programs if program),
    )


def _ask(index: int) -> bytes:
    """The kernel's answer about one interface. Raises OSError."""
    request = struct.pack("=IHHIIBxHiII", 32, _RTM_GETLINK, _NLM_F_REQUEST, 1, 0, socket.AF_UNSPEC, 0, index, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as link:
        link.send(request)
        answer = link.recv(1 << 17)
    if struct.unpack_from("=H", answer, 4)[0] == _NLMSG_ERROR:
        number = -struct.unpack_from("=i", answer, 16)[0]
        raise OSError(number, f"the kernel tells nothing of interface number {index}")
    return answer


def _attributes(octets: bytes, at: int) -> dict[int, bytes]:
    found = {}
    while at + 4 <= len(octets):
        length, kind = struct.unpack_from("=HH", octets, at)
        if length < 4:
            break
        found[kind & _NESTED] = octets[at + 4 : at + length]
        at += -(-length // 4) * 4
    return found


def _word(octets: bytes) -> int:
    return int(struct.unpack("=I", octets[:4])[0])


def _channels(name: str) -> int:
    """Receive queues in use by the driver's account: its receive channels and its combined ones; 0: it gives none."""
    # struct ethtool_channels: command; the most of receive, transmit, other, combined; then what there are of each
    channels = ctypes.create_string_buffer(struct.pack("=9I", _ETHTOOL_GCHANNELS, *(0,) * 8), 36)
    request = struct.pack("=16sQ16x", name.encode(), ctypes.addressof(channels))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        try:
            fcntl.ioctl(any_socket, _SIOCETHTOOL, request)
        except OSError:
            return 0
    counts = struct.unpack("=9I", channels.raw)
    return int(counts[5] + counts[8])
