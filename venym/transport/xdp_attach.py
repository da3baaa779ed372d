"""The program on the interface: made, attached, pointed at our sockets; what is there already is left alone."""

import errno
import os
import time
from collections.abc import Sequence

from . import bpf
from .bpf_program import NAME, Target, steer
from .interface import Interface, look_up
from .xdp_errors import XdpError, XdpForeignProgram, XdpMode, XdpPermission, XdpProgramRefused, XdpUnsupported

MODES = {"native": bpf.NATIVE, "generic": bpf.GENERIC}
ATTACH_WAIT_S, ATTACH_PAUSE_S = 2.0, 0.01  # for a process of ours that is just dying
_DENIED = (errno.EPERM, errno.EACCES)


def load_steering(targets: Sequence[Target], queues: int) -> tuple[int, int]:
    """Descriptors of a map for the sockets of `queues` receive queues, and of the program that steers to them.

    Raises XdpPermission, XdpProgramRefused, XdpUnsupported.
    """
    try:
        map_fd = bpf.create_socket_map(queues, NAME)
    except OSError as error:
        raise _bpf_error(error, "a map of sockets cannot be made") from error
    try:
        return map_fd, bpf.load_program(steer(map_fd, targets), NAME)
    except OSError as error:
        os.close(map_fd)
        if error.errno in (errno.EINVAL, errno.EACCES):
            raise XdpProgramRefused(f"the kernel refuses the XDP program: {error}") from error
        raise _bpf_error(error, "the XDP program cannot be loaded") from error


def _bpf_error(error: OSError, what: str) -> XdpError:
    if error.errno in _DENIED:
        return XdpPermission(
            f"{what} ({error.strerror}): it needs the capabilities CAP_BPF and CAP_NET_ADMIN, or a helper that has them"
        )
    return XdpUnsupported(f"{what} ({error.strerror})")


def attach_program(program_fd: int, interface: Interface, modes: Sequence[str]) -> tuple[int, int, list[str]]:
    """Attach in the first of the modes that the driver takes: the link, the mode, and notes on the modes it did not.

    Raises XdpForeignProgram when another program is there: at once, or, if it is one of ours or its name may not
    be read, when it stays for ATTACH_WAIT_S; XdpMode, XdpPermission.
    """
    notes: list[str] = []
    for mode in modes:
        try:
            link = _attach(program_fd, interface, MODES[mode])
        except OSError as error:
            if error.errno in _DENIED:
                raise XdpPermission(f"{interface.name}: the program may not be attached ({error.strerror})") from error
            if error.errno == errno.ENODEV:
                raise XdpError(f"{interface.name}: the interface has gone while it was opened") from error
            notes.append(f"{interface.name}: no {mode} mode ({error.strerror})")
            continue
        if notes:
            notes.append(f"{interface.name}: in {mode} mode")
        return link, MODES[mode], notes
    raise XdpMode(
        "; ".join(notes) + ("; modes = native, generic would take any driver" if list(modes) == ["native"] else "")
    )


def _attach(program_fd: int, interface: Interface, mode: int) -> int:
    give_up = time.monotonic() + ATTACH_WAIT_S
    while True:
        try:
            return bpf.attach(program_fd, interface.ifindex, mode)
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.EEXIST):
                raise
        there = look_up(interface.name).programs
        names = {program: bpf.program_name(program) for program in there}
        foreign = [program for program in there if names[program] not in (NAME, None)]
        if foreign or time.monotonic() > give_up:
            name = interface.name
            said = ", ".join(
                f"{names[program] or 'one whose name may not be read'} (id {program})" for program in there
            )
            raise XdpForeignProgram(
                f"{name}: there is an XDP program on it already: {said}. It is left alone; `bpftool net` shows "
                f"whose it is, `ip link set dev {name} xdp off` takes off one that nobody holds"
            )
        time.sleep(ATTACH_PAUSE_S)


def serve_queue(map_fd: int, queue: int, socket_fd: int) -> None:
    """Send what arrives on the queue to this socket. Raises XdpError."""
    try:
        bpf.put_socket(map_fd, queue, socket_fd)
    except OSError as error:
        raise XdpError(f"the socket of queue {queue} cannot be put in the program's map ({error.strerror})") from error
