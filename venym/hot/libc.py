"""System calls from compiled code: no Python, no copy, no lock.

Each returns what the call returned, or, where that failed, the negative error number, as the kernel itself does::

    got = recv(fd, address(frames, at), octets, MSG_DONTWAIT)
    if got == -EAGAIN: ...                                    # nothing there

Memory is passed by its address, which the compiler does not keep alive: hold the array. Lengths are the caller's to
check. Under NUMBA_DISABLE_JIT=1 the same functions go through ctypes. A C library that lacks one of them is an
ImportError here: compiled code would jump to address 0.

`sendmmsg` and `recvmmsg` take several messages in one call, each a MESSAGE that points to its VECTOR::

    messages[k] | name | vectors ─┐ | control | came_flags | length |
                               └─▶ vectors[k] | at ─▶ octets | octets |
"""

# mypy: disable-error-code="misc, assignment"
import ctypes
import errno as error_numbers
from typing import Any

import numpy as np
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .jit import PLAIN, small
from .layout import aligned, record

EAGAIN, EINTR = error_numbers.EAGAIN, error_numbers.EINTR
MSG_CTRUNC, MSG_TRUNC, MSG_DONTWAIT, MSG_NOSIGNAL = 0x8, 0x20, 0x40, 0x4000

# struct mmsghdr and struct iovec. The kernel writes 32 bits of name_octets, came_flags and length; on a little-endian
# machine they are the low halves of words whose high halves stay 0.
MESSAGE = record(
    "MESSAGE",
    [
        ("name", "i8"),  # address of a socket address, or 0
        ("name_octets", "i8"),
        ("vectors", "i8"),  # address of the first VECTOR
        ("vector_count", "i8"),
        ("control", "i8"),  # address of control messages, or 0
        ("control_octets", "i8"),  # room for them; when it returns, what they take
        ("came_flags", "i8"),
        ("length", "i8"),  # octets sent or received, by the calls that take several messages
    ],
    64,
)
VECTOR = record("VECTOR", [("at", "i8"), ("octets", "i8")], 16)

_int, _uint, _word = types.int32, types.uint32, types.intp
CALLS: dict[str, tuple[Any, ...]] = {
    "recv": (_word, _int, _word, _word, _int),
    "recvfrom": (_word, _int, _word, _word, _int, _word, _word),
    "recvmsg": (_word, _int, _word, _int),
    "recvmmsg": (_int, _int, _word, _uint, _int, _word),
    "send": (_word, _int, _word, _word, _int),
    "sendto": (_word, _int, _word, _word, _int, _word, _uint),
    "sendmsg": (_word, _int, _word, _int),
    "sendmmsg": (_int, _int, _word, _uint, _int),
    "clock_gettime": (_int, _int, _word),
    "__errno_location": (_word,),
}  # name: what it returns, what it takes


def _present(name: str) -> Any:
    """The function for ctypes, typed. Raises ImportError if the C library has none of that name."""
    try:
        found = getattr(ctypes.CDLL(None, use_errno=True), name)
    except AttributeError as error:
        raise ImportError(f"the C library of this machine has no {name}(), which venym needs") from error
    kinds = {_int: ctypes.c_int, _uint: ctypes.c_uint, _word: ctypes.c_ssize_t}
    found.restype, found.argtypes = kinds[CALLS[name][0]], [kinds[kind] for kind in CALLS[name][1:]]
    return found


_FOUND = {name: _present(name) for name in CALLS}


def _external(name: str) -> Any:
    return types.ExternalFunction(name, CALLS[name][0](*CALLS[name][1:]))


_recv, _recvfrom, _recvmsg, _recvmmsg = (_external(name) for name in ("recv", "recvfrom", "recvmsg", "recvmmsg"))
_send, _sendto, _sendmsg, _sendmmsg = (_external(name) for name in ("send", "sendto", "sendmsg", "sendmmsg"))
_clock_gettime, _errno_location = _external("clock_gettime"), _external("__errno_location")


@intrinsic
def address(typingctx: Any, array: Any, index: Any) -> Any:
    """The address of array[index] (int64); index may be the length."""
    if not isinstance(array, types.Array) or array.ndim != 1 or array.layout != "C":
        raise TypingError(f"the address of a contiguous array of one dimension, not of {array}")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        proxy = context.make_array(sig.args[0])(context, builder, args[0])
        pointer = cgutils.get_item_pointer(context, builder, sig.args[0], proxy, [args[1]], wraparound=False)
        return builder.ptrtoint(pointer, cgutils.intp_t)

    return types.int64(array, types.intp), codegen


@intrinsic
def _load_error(typingctx: Any, at: Any) -> Any:
    """The C int at an address, negative."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        value = builder.load(builder.inttoptr(args[0], cgutils.int32_t.as_pointer()))
        return builder.neg(builder.sext(value, cgutils.intp_t))

    return types.int64(types.intp), codegen


@small
def _told(got):
    """What the call returned, or the negative error number."""
    return np.int64(got) if got >= 0 else _load_error(_errno_location())


@small
def recv(fd, at, octets, flags):
    """recv(2): a datagram to `at`, at most `octets` of it. With MSG_TRUNC in flags its whole length is told."""
    return _told(_recv(fd, at, octets, flags))


@small
def recvfrom(fd, at, octets, flags, source, source_octets):
    """recvfrom(2): as `recv`, and where it came from; `source_octets` is the address of a C int, or 0."""
    return _told(_recvfrom(fd, at, octets, flags, source, source_octets))


@small
def recvmsg(fd, message, flags):
    """recvmsg(2): a datagram as the MESSAGE at the address `message` says."""
    return _told(_recvmsg(fd, message, flags))


@small
def recvmmsg(fd, messages, count, flags):
    """recvmmsg(2) without a timeout: at most `count` datagrams. Returns how many."""
    return _told(_recvmmsg(fd, messages, count, flags, 0))


@small
def send(fd, at, octets, flags):
    """send(2) on a connected socket."""
    return _told(_send(fd, at, octets, flags))


@small
def sendto(fd, at, octets, flags, target, target_octets):
    """sendto(2): to the socket address that lies at `target`; with `at` and `octets` 0 it wakes an AF_XDP socket."""
    return _told(_sendto(fd, at, octets, flags, target, target_octets))


@small
def sendmsg(fd, message, flags):
    """sendmsg(2): the MESSAGE at the address `message`."""
    return _told(_sendmsg(fd, message, flags))


@small
def sendmmsg(fd, messages, count, flags):
    """sendmmsg(2): the `count` MESSAGEs from the address `messages` on. Returns how many were sent; an error is only
    told when it was the first that failed."""
    return _told(_sendmmsg(fd, messages, count, flags))


@small
def clock_ns(clock, moment):
    """clock_gettime(2) in nanoseconds, or the negative error number; `moment`: two int64 to write to."""
    got = _told(_clock_gettime(clock, address(moment, 0)))
    return moment[0] * 1_000_000_000 + moment[1] if got == 0 else got


def make_messages(count: int) -> tuple[np.ndarray, np.ndarray]:
    """`count` MESSAGEs, and `count` VECTORs that they point to, one each. Both must be held while in use."""
    messages, vectors = aligned(count, MESSAGE), aligned(count, VECTOR)
    messages["vectors"] = vectors.ctypes.data + VECTOR.itemsize * np.arange(count)
    messages["vector_count"] = 1
    return messages, vectors


if PLAIN:

    def address(array, index):
        return array.ctypes.data + int(index) * array.itemsize

    def _plain(name: str) -> Any:
        call = _FOUND[name]

        def called(*arguments):
            got = call(*(int(argument) for argument in arguments))
            return got if got >= 0 else -ctypes.get_errno()

        return called

    def _told(got):
        return np.int64(got)

    _recv, _recvfrom, _recvmsg, _recvmmsg = (_plain(name) for name in ("recv", "recvfrom", "recvmsg", "recvmmsg"))
    _send, _sendto, _sendmsg, _sendmmsg = (_plain(name) for name in ("send", "sendto", "sendmsg", "sendmmsg"))
    _clock_gettime = _plain("clock_gettime")
