"""Map and program from a process that may make them, for one that may not.

    python -m venym.transport.xdp_helper --socket /run/venym/xdp --user venym --line 239.1.1.1:26400@eth1 …

    daemon ── {"interface", "queues", "targets"} ──▶ helper     one request a connection, on a SOCK_SEQPACKET
           ◀── {"refused": why} or {} + two descriptors ──      SCM_RIGHTS: map, program

The helper needs CAP_BPF and CAP_NET_ADMIN, the daemon then only CAP_NET_RAW and CAP_IPC_LOCK: who holds a program may
attach it. A program takes datagrams away from the kernel, so the helper makes one only for the lines it was started
with, and only for one user. Every request gets a map and a program of its own, and the helper keeps neither; what the
daemon attaches goes when the daemon goes.
"""

import argparse
import errno
import json
import os
import pwd
import socket
import stat
import struct
import sys
from collections.abc import Sequence

from .bpf_program import Target
from .xdp_attach import load_steering
from .xdp_errors import XdpError, XdpHelperError

_REQUEST_OCTETS_MAX = 1 << 16
_QUEUES_MAX = 4096
_WAIT_S = 5.0


def ask_helper(path: str, interface: str, queues: int, targets: Sequence[Target]) -> tuple[int, int]:
    """Descriptors of map and program, from the helper at `path`. Raises XdpHelperError."""
    request = json.dumps({"interface": interface, "queues": queues, "targets": [list(target) for target in targets]})
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as link:
            link.settimeout(_WAIT_S)
            link.connect(path)
            link.send(request.encode())
            octets, descriptors, _, _ = socket.recv_fds(link, _REQUEST_OCTETS_MAX, 2)
    except OSError as error:
        raise XdpHelperError(f"the XDP helper at {path} cannot be reached ({error})") from error
    try:
        answer = json.loads(octets) if octets else {"refused": "it hung up"}
    except ValueError:
        answer = {"refused": "its answer is none"}
    if answer.get("refused") is None and len(descriptors) == 2:
        return descriptors[0], descriptors[1]
    for descriptor in descriptors:
        os.close(descriptor)
    raise XdpHelperError(
        f"the XDP helper at {path} refused {interface}: {answer.get('refused', 'no descriptors came')}"
    )


def listen(path: str, user: int) -> socket.socket:
    """The helper's socket, which only `user` (and root) may connect to. An old one of that name is replaced.

    Raises OSError; FileExistsError when something of that name is no socket.
    """
    if os.path.lexists(path):
        if not stat.S_ISSOCK(os.lstat(path).st_mode):
            raise FileExistsError(errno.EEXIST, f"{path} is there, and no socket")
        os.unlink(path)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    before = os.umask(0o177)
    try:
        listener.bind(path)
        if os.geteuid() != user:
            os.chown(path, user, -1)
        listener.listen(8)
    except OSError:
        listener.close()
        raise
    finally:
        os.umask(before)
    return listener


def answer_one(listener: socket.socket, user: int, allowed: dict[str, set[Target]]) -> str:
    """Wait for one request and answer it; a sentence that says what was done. `allowed`: targets by interface."""
    link, _ = listener.accept()
    with link:
        link.settimeout(_WAIT_S)
        _, uid, _ = struct.unpack("=3i", link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        try:
            octets = link.recv(_REQUEST_OCTETS_MAX)  # before any answer: who writes to a closed end never reads it
            if uid not in (user, 0):
                return _refuse(link, f"user {uid} is not served")
            interface, queues, targets = _read_request(octets)
        except (OSError, ValueError, KeyError, TypeError) as error:
            return _refuse(link, f"not a request: {error!r}")
        strange = [target for target in targets if target not in allowed.get(interface, set())]
        if strange or not targets:
            which = ", ".join(f"{target.address}:{target.port}" for target in strange) or "no line at all"
            return _refuse(link, f"{which} on {interface} is none of the lines the helper was started with")
        try:
            descriptors = load_steering(targets, queues)
        except XdpError as error:
            return _refuse(link, str(error))
        try:
            socket.send_fds(link, [b"{}"], list(descriptors))
        except OSError as error:
            return f"{interface}: the one who asked has gone ({error})"
        finally:
            for descriptor in descriptors:
                os.close(descriptor)
        return f"{interface}: program for {len(targets)} lines handed to user {uid}"


def _read_request(octets: bytes) -> tuple[str, int, list[Target]]:
    asked = json.loads(octets)
    queues = int(asked["queues"])
    if not 1 <= queues <= _QUEUES_MAX:
        raise ValueError(f"{queues} receive queues")
    targets = [
        Target(str(address), int(port), None if source is None else str(source))
        for address, port, source in asked["targets"]
    ]
    return str(asked["interface"]), queues, targets


def _refuse(link: socket.socket, why: str) -> str:
    try:
        link.send(json.dumps({"refused": why}).encode())
    except OSError:
        return f"refused, and the one who asked has gone: {why}"
    return f"refused: {why}"


def _line(text: str) -> tuple[str, Target]:
    """GROUP:PORT[/SOURCE]@INTERFACE"""
    where, at, interface = text.partition("@")
    to, _, source = where.partition("/")
    group, _, port = to.partition(":")
    if not at or not interface or not port.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is no GROUP:PORT[/SOURCE]@INTERFACE")
    try:
        for address in (group, *([source] if source else [])):
            socket.inet_pton(socket.AF_INET, address)
    except OSError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: no IPv4 address in it") from error
    return interface, Target(group, int(port), source or None)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m venym.transport.xdp_helper", description=__doc__.splitlines()[0])
    parser.add_argument("--socket", required=True, metavar="PATH")
    parser.add_argument("--user", default=str(os.geteuid()), help="name or number of the user that is served")
    parser.add_argument("--line", required=True, action="append", type=_line, metavar="GROUP:PORT[/SOURCE]@INTERFACE")
    chosen = parser.parse_args(arguments)
    try:
        user = int(chosen.user) if chosen.user.isdigit() else pwd.getpwnam(chosen.user).pw_uid
    except KeyError:
        parser.error(f"there is no user {chosen.user!r}")
    allowed: dict[str, set[Target]] = {}
    for interface, target in chosen.line:
        allowed.setdefault(interface, set()).add(target)
    with listen(chosen.socket, user) as listener:
        print(f"ready at {chosen.socket}", flush=True)
        while True:
            print(answer_one(listener, user, allowed), flush=True)


if __name__ == "__main__":
    sys.exit(main())
