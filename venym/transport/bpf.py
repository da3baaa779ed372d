"""bpf(2), as far as AF_XDP needs it: maps of sockets, an XDP program, a link that attaches it.

    create_map ──▶ map ◀── put(queue, socket)
                    │
    load_program ──▶ program ──▶ attach ──▶ link          all three are file descriptors

The link detaches the program when its last descriptor is closed, so however the process ends. Errors are OSError, with
the kernel's number; a program that the verifier refuses brings its words along.
"""

import ctypes
import errno
import os
import platform
import struct
from typing import NamedTuple

_MACHINES = {"x86_64": 321, "aarch64": 280}
_MAP_CREATE, _MAP_UPDATE, _MAP_DELETE = 0, 2, 3
_PROGRAM_LOAD, _PROGRAM_RUN, _PROGRAM_BY_ID, _INFO_BY_FD, _LINK_CREATE = 5, 10, 13, 15, 28
_XSKMAP, _XDP_PROGRAM, _XDP_ATTACH = 17, 6, 37
_ATTRIBUTE_OCTETS = 128
_VERIFIER_OCTETS = 1 << 16

GENERIC, NATIVE = 2, 4  # XDP_FLAGS_SKB_MODE, XDP_FLAGS_DRV_MODE
ABORTED, DROP, PASS, TX, REDIRECT = range(5)  # what an XDP program returns

_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


class Run(NamedTuple):
    """What a program made of a frame: its verdict, and the frame behind it."""

    verdict: int
    frame: bytes


def _bpf(command: int, attribute: bytes) -> tuple[int, bytes]:
    """The call's result, and the attribute as it left it. Raises OSError."""
    number = _MACHINES.get(platform.machine())
    if number is None:
        raise OSError(errno.ENOSYS, f"the number of bpf() on {platform.machine()} is not known")
    held = ctypes.create_string_buffer(attribute.ljust(_ATTRIBUTE_OCTETS, b"\0"), _ATTRIBUTE_OCTETS)
    got = _libc.syscall(ctypes.c_long(number), ctypes.c_int(command), held, ctypes.c_uint(_ATTRIBUTE_OCTETS))
    if got < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return got, held.raw


def create_socket_map(entries: int, name: str) -> int:
    """A map of AF_XDP sockets by the number of the receive queue; its descriptor."""
    attribute = struct.pack("=7I16s", _XSKMAP, 4, 4, entries, 0, 0, 0, name.encode()[:15])
    return _bpf(_MAP_CREATE, attribute)[0]


def put_socket(map_fd: int, queue: int, socket_fd: int) -> None:
    """Send what arrives on the queue to this socket."""
    key, value = ctypes.c_uint32(queue), ctypes.c_uint32(socket_fd)
    _bpf(_MAP_UPDATE, struct.pack("=IIQQQ", map_fd, 0, ctypes.addressof(key), ctypes.addressof(value), 0))


def remove_socket(map_fd: int, queue: int) -> None:
    """Let pass again what arrives on the queue."""
    key = ctypes.c_uint32(queue)
    _bpf(_MAP_DELETE, struct.pack("=IIQ", map_fd, 0, ctypes.addressof(key)))


def load_program(code: bytes, name: str) -> int:
    """An XDP program of these instructions; its descriptor. An OSError of EINVAL or EACCES ends with the verifier's
    words."""
    licence, said = ctypes.create_string_buffer(b"GPL"), ctypes.create_string_buffer(_VERIFIER_OCTETS)
    instructions = ctypes.create_string_buffer(code, len(code))

    def attribute(level: int) -> bytes:
        return struct.pack(
            "=IIQQIIQII16sII",
            *(_XDP_PROGRAM, len(code) // 8, ctypes.addressof(instructions), ctypes.addressof(licence)),
            *(level, _VERIFIER_OCTETS * level, ctypes.addressof(said) * level, 0, 0),
            *(name.encode()[:15], 0, _XDP_ATTACH),
        )

    try:
        return _bpf(_PROGRAM_LOAD, attribute(0))[0]
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EACCES):
            raise
    try:
        return _bpf(_PROGRAM_LOAD, attribute(1))[0]
    except OSError as error:
        words = said.value.decode(errors="replace").strip().splitlines()[-3:]
        raise OSError(error.errno, f"{os.strerror(error.errno or 0)}: {'; '.join(words)}") from None


def run_program(program_fd: int, frame: bytes) -> Run:
    """The program's verdict on one frame, nothing attached; for tests and self-checks. At least 14 octets."""
    data, out = ctypes.create_string_buffer(frame, len(frame)), ctypes.create_string_buffer(len(frame) + 512)
    attribute = struct.pack(
        "=IIIIQQII", program_fd, 0, len(frame), len(out), ctypes.addressof(data), ctypes.addressof(out), 1, 0
    )
    _, after = _bpf(_PROGRAM_RUN, attribute)
    verdict, _, octets = struct.unpack_from("=III", after, 4)
    return Run(verdict, out.raw[:octets])


def attach(program_fd: int, interface_index: int, mode: int) -> int:
    """Put the program on the interface, in NATIVE or GENERIC mode; the link's descriptor, which holds it there."""
    return _bpf(_LINK_CREATE, struct.pack("=IIII", program_fd, interface_index, _XDP_ATTACH, mode))[0]


def program_name(identifier: int) -> str | None:
    """The name of a loaded program; None when it is gone, or this process may not know (CAP_SYS_ADMIN)."""
    try:
        fd = _bpf(_PROGRAM_BY_ID, struct.pack("=I", identifier))[0]
    except OSError:
        return None
    try:
        info = ctypes.create_string_buffer(232)
        _bpf(_INFO_BY_FD, struct.pack("=IIQ", fd, len(info), ctypes.addressof(info)))
    except OSError:
        return None
    finally:
        os.close(fd)
    # struct bpf_prog_info: type, id, tag[8], 2 lengths, 2 addresses, load time, uid, map count, map ids, name[16]
    return info.raw[64:80].split(b"\0")[0].decode(errors="replace")
