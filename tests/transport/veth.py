"""Two network namespaces with a veth pair between them, for tests: `outside` sends, `inside` receives."""

import ctypes
import itertools
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

PREFIX = "venym-xdp"
OUTSIDE_ADDRESS, INSIDE_ADDRESS = "10.77.0.1", "10.77.0.2"
_NUMBERS = itertools.count()
_CLONE_NEWNET = 0x4000_0000
_libc = ctypes.CDLL(None, use_errno=True)


class Pair(NamedTuple):
    """The names of the namespaces; in them lie the interfaces `out0` and `in0`."""

    outside: str
    inside: str


def ip(*words: object) -> str:
    return subprocess.run(["ip", *map(str, words)], check=True, capture_output=True, text=True, timeout=20).stdout


@contextmanager
def veth(mtu: int = 1500, queues: int = 1) -> Iterator[Pair]:
    """Both namespaces are gone afterwards, and so are those that killed runs left behind."""
    _sweep()
    number = next(_NUMBERS)
    pair = Pair(f"{PREFIX}-out{number}-{os.getpid()}", f"{PREFIX}-in{number}-{os.getpid()}")
    many = ("numrxqueues", queues, "numtxqueues", queues)
    try:
        for name in pair:
            ip("netns", "add", name)
            _sysctl(name, "net/ipv6/conf/all/disable_ipv6", "1")
            ip("-n", name, "link", "set", "lo", "up")
        ends = ("out0", "netns", pair.outside, "mtu", mtu, *many, "type", "veth")
        ip("link", "add", *ends, "peer", "name", "in0", "netns", pair.inside, "mtu", mtu, *many)
        for name, device, address in ((pair.outside, "out0", OUTSIDE_ADDRESS), (pair.inside, "in0", INSIDE_ADDRESS)):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", device)
            ip("-n", name, "link", "set", device, "up")
            ip("-n", name, "route", "add", "239.0.0.0/8", "dev", device)
        yield pair
    finally:
        for name in pair:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=20, check=False)


@contextmanager
def within(name: str) -> Iterator[None]:
    """This thread in another network namespace; what is opened there stays there."""
    with open("/proc/thread-self/ns/net", "rb") as back, open(f"/run/netns/{name}", "rb") as there:
        _enter(there.fileno())
        try:
            yield
        finally:
            _enter(back.fileno())


def _enter(fd: int) -> None:
    if _libc.setns(fd, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "setns")


def _sysctl(name: str, path: str, value: str) -> None:
    with within(name):
        Path("/proc/sys", path).write_text(value, "ascii")


def _sweep() -> None:
    for line in ip("netns", "list").splitlines():
        name = line.split()[0]
        if name.startswith(PREFIX) and not Path("/proc", name.rpartition("-")[2]).exists():
            subprocess.run(["ip", "netns", "del", name], capture_output=True, timeout=20, check=False)


def sender(pair: Pair, group: str = "239.1.1.1", port: int = 26_400) -> socket.socket:
    """A connected UDP socket outside."""
    with within(pair.outside):
        opened = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    opened.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 4)
    opened.connect((group, port))
    return opened


def raw_sender(pair: Pair, device: str = "out0") -> socket.socket:
    """Whole Ethernet frames, as they are, outside."""
    with within(pair.outside):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        opened.bind((device, 0))
    return opened
