"""A program where an interface sends, to do to frames what cards and VLAN interfaces do."""

import ctypes
import struct

from venym.transport.bpf import _bpf

_PROGRAM_LOAD, _LINK_CREATE, _SCHED_CLS, _TCX_EGRESS = 5, 28, 3, 47


def load_egress(code: bytes) -> int:
    licence, instructions = ctypes.create_string_buffer(b"GPL"), ctypes.create_string_buffer(code, len(code))
    addresses = ctypes.addressof(instructions), ctypes.addressof(licence)
    return _bpf(_PROGRAM_LOAD, struct.pack("=IIQQ", _SCHED_CLS, len(code) // 8, *addresses))[0]


def attach_egress(program: int, ifindex: int) -> int:
    """The link, which holds it there."""
    return _bpf(_LINK_CREATE, struct.pack("=III", program, ifindex, _TCX_EGRESS))[0]
