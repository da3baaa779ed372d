"""A FIX acceptor that echoes orders, for acceptance scripts: sockets around `venym.control.session`, nothing else.

    python -m tests.fix_acceptor --port 9876 --version FIX.4.2

It is ISLD to TW42 or TW44, begins with number 1 at each Logon, and takes one connection at a time: another one is
closed as soon as it says anything. An order that says it may be a repetition (97=Y) of one seen before is not echoed.
"""

import argparse
import contextlib
import select
import socket
import time
from pathlib import Path

from tests.fix_line import MemoryLine
from venym.control.session import Session
from venym.control.session_actions import Profile
from venym.control.session_messages import Message, Outgoing
from venym.control.session_rules import HEADER
from venym.control.session_table import State

LOOK_S = 0.02


class Echo:
    """The application."""

    def __init__(self, session: Session, line: MemoryLine) -> None:
        self._session = session
        self._seen: set[str] = set()
        line.on_deliver = self.echo

    def echo(self, message: Message, now_ns: int) -> None:
        order, again = message.get(11), message.get(97) == "Y"
        if message.msg_type not in ("D", "d") or (again and order in self._seen):
            return
        self._seen.add(order or "")
        fields = sorted((int(tag), value or "") for tag, value in message.fields)
        body = tuple(field for field in fields if field[0] not in HEADER)
        self._session.send(Outgoing(message.msg_type, body, ((97, "Y"),) if again else ()), now_ns)


class Acceptor:
    """Sockets of one session."""

    def __init__(self, version: str, listener: socket.socket) -> None:
        target = {"FIX.4.2": "TW42", "FIX.4.4": "TW44"}[version]
        accepted = frozenset("Dd3")
        profile = Profile(version, "ISLD", target, accepted, reset_on_logon=True, strict=True, stale_after_s=3_600)
        self._line = MemoryLine(profile)
        self._session = Session(profile, self._line)
        self._listener = listener
        self._listener.setblocking(False)
        self._peer: socket.socket | None = None
        self._others: list[socket.socket] = []

    def sockets(self) -> list[socket.socket]:
        return [self._listener, *self._others, *([self._peer] if self._peer is not None else [])]

    def look(self) -> None:
        """Take what has come, say what is to be said."""
        now_ns = time.time_ns()
        self._read(now_ns)
        self._session.tick(now_ns)
        self._write()
        self._turn_away()
        self._take(now_ns)

    def _take(self, now_ns: int) -> None:
        try:
            taken, _ = self._listener.accept()
        except BlockingIOError:
            return
        taken.setblocking(False)
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if self._peer is not None:
            self._others.append(taken)
            return
        self._peer = taken
        self._line.open()
        Echo(self._session, self._line)
        self._session.accepted(now_ns)

    def _read(self, now_ns: int) -> None:
        if self._peer is None:
            return
        try:
            octets = self._peer.recv(65_536)
        except BlockingIOError:
            return
        except ConnectionError:
            octets = b""
        if octets:
            self._session.receive(octets, now_ns)
        else:
            self._session.lost(now_ns)

    def _write(self) -> None:
        if self._peer is None:
            return
        octets = self._line.take()
        if octets:
            self._peer.setblocking(True)
            with contextlib.suppress(ConnectionError):  # the next read finds out
                self._peer.sendall(octets)
            self._peer.setblocking(False)
        if self._session.state is State.OFF:
            self._peer.close()
            self._peer = None

    def _turn_away(self) -> None:
        for other in list(self._others):
            try:
                other.recv(65_536)
            except BlockingIOError:
                continue
            except ConnectionError:
                pass
            other.close()
            self._others.remove(other)


def serve(version: str, port: int, sessions: int, ready: Path | None) -> None:
    with contextlib.ExitStack() as stack:
        ports = [port + k if port else 0 for k in range(sessions)]
        listeners = [stack.enter_context(socket.create_server(("127.0.0.1", one))) for one in ports]
        acceptors = [Acceptor(version, listener) for listener in listeners]
        if ready is not None:
            partial = ready.with_name(f"{ready.name}.part")  # no suffix: that of FIX.4.2 is .2
            partial.write_text(" ".join(str(listener.getsockname()[1]) for listener in listeners))
            partial.rename(ready)
        while True:
            for acceptor in acceptors:
                acceptor.look()
            # At once, for scripts send times that are wrong by less than a second.
            select.select([one for acceptor in acceptors for one in acceptor.sockets()], [], [], LOOK_S)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True, help="0: any; see --ready")
    parser.add_argument("--version", choices=["FIX.4.2", "FIX.4.4"], required=True)
    parser.add_argument("--sessions", type=int, default=1, help="independent ones, each on a port of its own")
    parser.add_argument("--ready", type=Path, help="file to write the ports to")
    given = parser.parse_args()
    serve(given.version, given.port, given.sessions, given.ready)
