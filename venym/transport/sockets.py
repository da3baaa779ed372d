"""A socket for each line, set up so that it takes this line's packets and no others.

    bind            to the group itself: a socket bound to 0.0.0.0 takes every group that anybody here joined
    IP_MULTICAST_ALL 0   and of this group only what came where this socket joined
    join            on the line's interface, by its number; of one sender only, where one is named
    buffer          as large as asked for, or a note how large
    stamps          of the kernel, or of the card too, which is set to stamp what it receives
    dropped         counted by the kernel, told with the packets (SO_RXQ_OVFL) and on request (SO_MEMINFO)

What the system refuses is a UdpError that names the line and says what to do.
"""

import ctypes
import errno
import fcntl
import socket
import struct
from ipaddress import IPv4Address
from pathlib import Path
from typing import NamedTuple

from .lines import Line, LineError

__all__ = ["STAMPS", "Options", "UdpError", "dropped", "open_line"]

STAMPS = ("software", "hardware", "none")
UINT32 = struct.Struct("=I")

# Numbers of Linux that the socket module does not have.
_SO_RCVBUFFORCE, _SO_TIMESTAMPNS, _SO_TIMESTAMPING, _SO_RXQ_OVFL, _SO_BUSY_POLL, _SO_MEMINFO = 33, 35, 37, 40, 46, 55
_RX_HARDWARE, _RX_SOFTWARE, _SOFTWARE, _RAW_HARDWARE = 4, 8, 16, 64  # flags of SO_TIMESTAMPING
_IP_MULTICAST_ALL, _MCAST_JOIN_SOURCE_GROUP = 49, 46
_MEMINFO_WORDS, _MEMINFO_DROPS = 9, 8
_SIOCGIFFLAGS, _SIOCSHWTSTAMP, _SIOCGHWTSTAMP = 0x8913, 0x89B0, 0x89B1
_IFF_UP = 1
_FILTER_ALL = 1  # HWTSTAMP_FILTER_ALL
_STRICT = 1  # rp_filter


class UdpError(LineError):
    """The system refuses a line. The message names the line, the reason, and what to do."""


class Options(NamedTuple):
    """stamps: software, hardware or none; busy_poll_us: SO_BUSY_POLL, 0 leaves it; receive_buffer_octets: what the
    kernel is to hold for a line."""

    stamps: str = "software"
    busy_poll_us: int = 0
    receive_buffer_octets: int = 33_554_432


def open_line(line: Line, options: Options, notes: list[str]) -> socket.socket:
    """The line's socket, joined; `notes` gets a sentence for what is not as asked for, or may keep packets away.

    Raises UdpError.
    """
    index = _index_of(line, notes)
    try:
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    except OSError as error:
        raise _refused(line, "no socket can be had", error) from error
    try:
        made.setblocking(False)
        _set_buffer(made, line, options.receive_buffer_octets, notes)
        _set(made, line, socket.SOL_SOCKET, _SO_RXQ_OVFL, 1, "the kernel does not count what it drops (SO_RXQ_OVFL)")
        if options.busy_poll_us:
            said = "busy polling cannot be set; older kernels want CAP_NET_ADMIN for it; or set busy_poll_us to 0"
            _set(made, line, socket.SOL_SOCKET, _SO_BUSY_POLL, options.busy_poll_us, said)
        _set_stamps(made, line, options.stamps)
        if line.is_multicast:
            _set(made, line, socket.SOL_SOCKET, socket.SO_REUSEADDR, 1, "the port cannot be shared")
            said = "other sockets' groups cannot be kept away (IP_MULTICAST_ALL)"
            _set(made, line, socket.IPPROTO_IP, _IP_MULTICAST_ALL, 0, said)
        elif line.interface:
            said = f"packets cannot be taken from {line.interface} alone; name no interface, or give CAP_NET_RAW"
            _set(made, line, socket.SOL_SOCKET, socket.SO_BINDTODEVICE, line.interface.encode(), said)
        _bind(made, line)
        if line.is_multicast:
            _join(made, line, index)
    except BaseException:
        made.close()
        raise
    return made


def dropped(made: socket.socket) -> int:
    """Datagrams that the kernel had no room for in this socket, so far (modulo 2**32). Raises OSError."""
    held = made.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO_WORDS * UINT32.size)
    return int(UINT32.unpack_from(held, _MEMINFO_DROPS * UINT32.size)[0])


def _refused(line: Line, said: str, error: OSError) -> UdpError:
    return UdpError(f"line {line}: {said} ({error.strerror or error})")


def _set(made: socket.socket, line: Line, level: int, option: int, value: int | bytes, said: str) -> None:
    try:
        made.setsockopt(level, option, value)
    except OSError as error:
        raise _refused(line, said, error) from error


def _index_of(line: Line, notes: list[str]) -> int:
    """The number of the line's interface; 0 if none is named."""
    if not line.interface:
        return 0
    try:
        index = socket.if_nametoindex(line.interface)
    except OSError as error:
        there = ", ".join(name for _, name in socket.if_nameindex())
        raise UdpError(f"line {line}: there is no network interface {line.interface}; there are {there}") from error
    request = bytearray(struct.pack("=16s24x", line.interface.encode()))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        fcntl.ioctl(asked, _SIOCGIFFLAGS, request)
    if not struct.unpack_from("=H", request, 16)[0] & _IFF_UP:
        notes.append(f"line {line}: {line.interface} is down; nothing comes until it is up")
    if max(_rp_filter("all"), _rp_filter(line.interface)) == _STRICT:
        said = f"packets of a sender that is not routed over {line.interface} are dropped before they come here"
        names = f"net.ipv4.conf.all.rp_filter and net.ipv4.conf.{line.interface}.rp_filter"
        notes.append(f"line {line}: rp_filter is strict: {said}; the greater of {names} must not be 1")
    return index


def _rp_filter(name: str) -> int:
    try:
        return int(Path(f"/proc/sys/net/ipv4/conf/{name}/rp_filter").read_text("ascii"))
    except (OSError, ValueError):  # nobody says, so nothing is said
        return 0


def _set_buffer(made: socket.socket, line: Line, octets: int, notes: list[str]) -> None:
    """Beyond net.core.rmem_max only with CAP_NET_ADMIN; without, the kernel takes less in silence. What it tells is
    twice what it was asked for."""
    try:
        made.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, octets)
    except PermissionError:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, octets)
    except OSError as error:
        raise _refused(line, f"a receive buffer of {octets} octets cannot be had", error) from error
    got = made.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2
    if got < octets:
        said = "set net.core.rmem_max to that, or give CAP_NET_ADMIN"
        notes.append(f"line {line}: the receive buffer is {got} octets, {octets} were asked for; {said}")


def _set_stamps(made: socket.socket, line: Line, stamps: str) -> None:
    if stamps == "software":
        _set(made, line, socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1, "the kernel does not stamp arrivals (SO_TIMESTAMPNS)")
    elif stamps == "hardware":
        _stamp_in_hardware(made, line)
        flags = _RX_HARDWARE | _RAW_HARDWARE | _RX_SOFTWARE | _SOFTWARE
        said = "the kernel does not hand on the card's stamps (SO_TIMESTAMPING); set stamps to software"
        _set(made, line, socket.SOL_SOCKET, _SO_TIMESTAMPING, flags, said)
    elif stamps != "none":
        raise ValueError(f"stamps {stamps!r} is none of {', '.join(STAMPS)}")


def _stamp_in_hardware(made: socket.socket, line: Line) -> None:
    """Set the card to stamp all it receives, unless it does so. What it stamps when sending is left as it is: a clock
    daemon may need that."""
    if not line.interface:
        raise UdpError(f"line {line}: the card that is to stamp is not known; name the interface")
    # struct hwtstamp_config: flags, what is stamped when sending, what when receiving
    config = (ctypes.c_int * 3)()
    request = struct.pack("=16sQ16x", line.interface.encode(), ctypes.addressof(config))
    try:
        fcntl.ioctl(made, _SIOCGHWTSTAMP, request)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL, errno.ENOTTY):  # older drivers can set, not tell
            raise _refused(line, f"{line.interface} does not say what it stamps", error) from error
    if config[2] == _FILTER_ALL:
        return
    config[2] = _FILTER_ALL
    try:
        fcntl.ioctl(made, _SIOCSHWTSTAMP, request)
    except PermissionError as error:
        said = f"{line.interface} cannot be set to stamp without CAP_NET_ADMIN; give it, or set stamps to software"
        raise _refused(line, said, error) from error
    except OSError as error:
        said = f"{line.interface} cannot stamp every packet it receives; set stamps to software"
        raise _refused(line, said, error) from error
    if config[2] != _FILTER_ALL:
        raise UdpError(f"line {line}: {line.interface} stamps some packets only; set stamps to software")


def _bind(made: socket.socket, line: Line) -> None:
    try:
        made.bind((line.group, line.port))
    except OSError as error:
        said = {
            errno.EADDRINUSE: "another socket has this address and port and does not share them; end its process",
            errno.EADDRNOTAVAIL: "this is no address of this machine; `ip address` shows those there are",
            errno.EACCES: f"port {line.port} takes CAP_NET_BIND_SERVICE",
        }.get(error.errno or 0, "the address cannot be bound")
        raise _refused(line, said, error) from error


def _join(made: socket.socket, line: Line, index: int) -> None:
    """Membership lasts until the socket is closed."""
    group = socket.inet_aton(line.group)
    if line.source is None:
        option, request = socket.IP_ADD_MEMBERSHIP, group + bytes(4) + struct.pack("=I", index)  # struct ip_mreqn
    else:
        # struct group_source_req, which takes the interface's number: IP_ADD_SOURCE_MEMBERSHIP knows it by an address
        # only, which it may share with others or not have.
        option = _MCAST_JOIN_SOURCE_GROUP
        addresses = (struct.pack("=HH4s120x", socket.AF_INET, 0, held) for held in (group, _packed(line.source)))
        request = struct.pack("=I4x", index) + b"".join(addresses)
    try:
        made.setsockopt(socket.IPPROTO_IP, option, request)
    except OSError as error:
        said = {
            errno.ENODEV: "no route tells on which interface to join; name the interface",
            errno.ENOBUFS: "there are too many memberships; see net.ipv4.igmp_max_memberships and igmp_max_msf",
        }.get(error.errno or 0, "the group cannot be joined")
        raise _refused(line, said, error) from error


def _packed(address: str) -> bytes:
    return IPv4Address(address).packed
