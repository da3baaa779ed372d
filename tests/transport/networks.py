"""Two machines with two cables between them, as network namespaces; and threads that may do less.

near   e1 10.77.1.1 ──── f1 10.77.1.2   far
       e2 10.77.2.1 ──── f2 10.77.2.2
"""

import ctypes
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple, TypeVar

_CLONE_NEWNET = 0x40000000
_SYS_CAPSET = 126  # x86-64
_CAPABILITY_VERSION_3 = 0x20080522
_libc = ctypes.CDLL(None, use_errno=True)

T = TypeVar("T")


class Network(NamedTuple):
    near: str
    far: str


@contextmanager
def network() -> Iterator[Network]:
    """Two namespaces, connected; gone when left."""
    made = Network(f"venym-near-{os.getpid()}", f"venym-far-{os.getpid()}")
    try:
        for name in made:
            _ip("netns", "add", name)
        for cable in (1, 2):
            _ip(f"link add e{cable} netns {made.near} type veth peer name f{cable} netns {made.far}")
            for name, end, host in ((made.near, f"e{cable}", 1), (made.far, f"f{cable}", 2)):
                _ip(f"-n {name} addr add 10.77.{cable}.{host}/24 dev {end}")
                _ip(f"-n {name} link set {end} up")
        for name in made:
            _ip(f"-n {name} link set lo up")
        yield made
    finally:
        for name in made:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def _ip(*words: str) -> None:
    split = [word for part in words for word in part.split()]
    subprocess.run(["ip", *split], check=True, capture_output=True)


def inside(name: str, work: Callable[[], T]) -> T:
    """What `work` gives in a namespace: a thread of its own enters it, and sockets stay there."""

    def enter() -> T:
        fd = os.open(f"/run/netns/{name}", os.O_RDONLY)
        try:
            _check(_libc.setns(fd, _CLONE_NEWNET), "setns")
        finally:
            os.close(fd)
        return work()

    return _in_a_thread(enter)


def powerless(work: Callable[[], T]) -> T:
    """What `work` gives to somebody without capabilities."""

    def renounce() -> T:
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        nothing = (ctypes.c_uint32 * 6)()
        _check(_libc.syscall(_SYS_CAPSET, header, nothing), "capset")  # the C library's own would be every thread's
        return work()

    return _in_a_thread(renounce)


def _check(result: int, name: str) -> None:
    if result != 0:
        raise OSError(ctypes.get_errno(), name)


def _in_a_thread(work: Callable[[], T]) -> T:
    held: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            held.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if raised:
        raise raised[0]
    return held[0]
