"""A forked child for what must happen in a process of its own: it is killed, or gives up its rights."""

import ctypes
import json
import os
import resource
import select
import signal
import struct
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

NET_ADMIN, NET_RAW, IPC_LOCK, BPF = 12, 13, 14, 39
_LINUX_CAPABILITY_VERSION_3 = 0x20080522
_PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS, _SECCOMP_MODE_FILTER = 22, 38, 2
_SOCKET_CALL = {"x86_64": 41, "aarch64": 198}
_libc = ctypes.CDLL(None, use_errno=True)


class Child:
    def __init__(self, pid: int, pipe: int) -> None:
        self.pid, self._pipe, self._held = pid, pipe, b""

    def answer(self, wait_s: float = 60.0) -> Any:
        """What the child's work returned, or [class, words] of its exception."""
        while not self._held.endswith(b"\n"):
            assert select.select([self._pipe], [], [], wait_s)[0], "the child says nothing"
            piece = os.read(self._pipe, 1 << 16)
            assert piece, "the child died"
            self._held += piece
        return json.loads(self._held)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone. A second time does nothing."""
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0


@contextmanager
def child(work: Callable[[], Any]) -> Iterator[Child]:
    """A process that does `work`, and then stays as it is until it is killed; at the latest here."""
    reader, writer = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads; none of ours are left
        pid = os.fork()
    if pid == 0:
        try:
            try:
                told = work()
            except Exception as error:
                told = [type(error).__name__, str(error) or traceback.format_exc()]
            os.write(writer, json.dumps(told).encode() + b"\n")
            while True:
                signal.pause()
        finally:
            os._exit(1)
    os.close(writer)
    made = Child(pid, reader)
    try:
        yield made
    finally:
        made.kill()
        os.close(reader)


def answer_of(work: Callable[[], Any]) -> Any:
    """What `work` returns, or [class, words], when done in a child."""
    with child(work) as made:
        return made.answer()


def keep_capabilities(*kept: int) -> None:
    """Give up every capability but these."""
    mask = sum(1 << capability for capability in kept)
    low, high = mask & 0xFFFFFFFF, mask >> 32
    head = struct.pack("=Ii", _LINUX_CAPABILITY_VERSION_3, 0)
    if _libc.capset(head, struct.pack("=6I", low, low, 0, high, high, 0)):
        raise OSError(ctypes.get_errno(), "capset")


def limit_locked_memory(octets: int) -> None:
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (octets, octets))


def forbid_sockets_of(family: int, error: int) -> None:
    """Let socket() of this address family fail with this error, as in a kernel that was built without it."""
    number = _SOCKET_CALL[os.uname().machine]
    load, equal, leave = 0x20, 0x15, 0x06
    code = [
        (load, 0, 0, 0),  # the number of the call
        (equal, 0, 3, number),
        (load, 0, 0, 16),  # its first argument
        (equal, 0, 1, family),
        (leave, 0, 0, 0x00050000 | error),
        (leave, 0, 0, 0x7FFF0000),
    ]
    octets = b"".join(struct.pack("=HBBI", *instruction) for instruction in code)
    held = ctypes.create_string_buffer(octets, len(octets))
    program = ctypes.create_string_buffer(struct.pack("=H6xQ", len(code), ctypes.addressof(held)))
    for arguments in ((_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, program, 0, 0)):
        if _libc.prctl(*arguments):
            raise OSError(ctypes.get_errno(), "prctl")
