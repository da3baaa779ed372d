"""One snapshot of a channel, from a GLIMPSE server to the decoder, over a socket that never blocks.

    CONNECTING ──▶ LOGIN ──accepted: SNAPSHOT_BEGIN──▶ SPIN ──SNAPSHOT_BLOCKS ...──▶ G: SNAPSHOT_END ──▶ done

What finds no room on the link waits, unread, in the connection, which so slows the server down. Whatever goes wrong is
raised by `step` as SnapshotFailed; whoever wants another snapshot makes a new one, whose SNAPSHOT_BEGIN voids this.
"""

import errno
import os
import socket
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..hot.layout import aligned
from ..records import RECOVERED_OCTETS_MAX, SNAPSHOT_BEGIN, SNAPSHOT_BLOCKS, SNAPSHOT_END
from ..wire.glimpse import Spin
from ..wire.soup_session import OPEN, SILENCE_NS_MAX, SoupError

Push = Callable[[int, int, np.ndarray, int], bool]  # kind, sequence, octets, length: was there room?

CONNECT_NS_MAX = 5_000_000_000
_BLOCKS_A_STEP = 4_096
_CONNECTING = (errno.EINPROGRESS, errno.EALREADY)


class SnapshotFailed(Exception):
    """The message says why."""


class Address(NamedTuple):
    """`family` and `name` as socket.getaddrinfo gives them; `text` for a person."""

    family: int
    name: Any
    text: str


class Snapshot:
    """Begins to connect. `step` often, until `sequence` is there. Raises SnapshotFailed."""

    def __init__(
        self,
        server: Address,
        username: str,
        password: str,
        push: Push,
        now_ns: int,
        silence_ns_max: int = SILENCE_NS_MAX,
        connect_ns_max: int = CONNECT_NS_MAX,
    ) -> None:
        self.sequence: int | None = None  # of the first message to apply after it, once it was handed on
        self.octets = 0  # handed on
        self.begun = False
        self._server = server
        self._login = username, password
        self._push = push
        self._silence_ns_max = silence_ns_max
        self._give_up_ns = now_ns + connect_ns_max
        self._spin: Spin | None = None
        self._blocks = aligned(RECOVERED_OCTETS_MAX, np.uint8)
        self._held = 0  # octets of blocks that found no room
        self._socket = socket.socket(server.family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        self.step(now_ns)

    @property
    def messages(self) -> int:
        """Read so far."""
        return 0 if self._spin is None else self._spin.messages

    def fileno(self) -> int:
        return self._socket.fileno()

    def step(self, now_ns: int) -> bool:
        """Go on as far as octets and room allow; was anything done? Raises SnapshotFailed; it is closed then."""
        try:
            if self._spin is None:
                return self._connect(now_ns)
            return self._read(self._spin, now_ns)
        except (SoupError, OSError) as error:
            self.close()
            raise SnapshotFailed(f"snapshot server {self._server.text}: {error}") from error

    def close(self) -> None:
        self._socket.close()

    def _connect(self, now_ns: int) -> bool:
        code = self._socket.connect_ex(self._server.name)
        if code in _CONNECTING:
            if now_ns >= self._give_up_ns:
                raise TimeoutError("no connection")
            return False
        if code not in (0, errno.EISCONN):
            raise OSError(code, os.strerror(code))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._spin = Spin(*self._login, now_ns, self._silence_ns_max)
        return True

    def _read(self, spin: Spin, now_ns: int) -> bool:
        client = spin.client
        self._send(spin)
        room, done = self._hand_on(spin, now_ns)
        if self.sequence is not None:
            self._send(spin)  # the logout
            self.close()
            return True
        if not room:
            client.received(0, now_ns)  # it is we who do not listen
            client.update(now_ns)
            return done
        try:
            count = self._socket.recv_into(client.space())
        except BlockingIOError:
            client.update(now_ns)
            return done
        if count == 0:
            raise ConnectionResetError(f"closed by the server after {spin.messages} messages")
        client.received(count, now_ns)
        client.update(now_ns)
        return True

    def _hand_on(self, spin: Spin, now_ns: int) -> tuple[bool, bool]:
        """Blocks, as many as are there: (is there room for more, was there any?)."""
        done = False
        for _ in range(_BLOCKS_A_STEP):
            if self._held == 0 and spin.sequence is None:
                self._held, _ = spin.read(self._blocks, 0, RECOVERED_OCTETS_MAX, now_ns)
            if not self.begun and self._is_in(spin):
                if not self._push(SNAPSHOT_BEGIN, 0, self._blocks, 0):
                    return False, done
                self.begun = True
            if self._held:
                if not self._push(SNAPSHOT_BLOCKS, 0, self._blocks, self._held):
                    return False, done
                self.octets += self._held
                self._held, done = 0, True
            elif spin.sequence is not None:
                if not self._push(SNAPSHOT_END, spin.sequence, self._blocks, 0):
                    return False, done
                self.sequence = spin.sequence
                return True, True
            else:
                return True, done
        return False, done

    def _is_in(self, spin: Spin) -> bool:
        return spin.client.state == OPEN or spin.sequence is not None

    def _send(self, spin: Spin) -> None:
        if spin.client.outgoing:
            try:
                spin.client.sent(self._socket.send(spin.client.outgoing))
            except BlockingIOError:
                return
            except OSError:
                if spin.sequence is None:
                    raise
                spin.client.outgoing.clear()  # all is read, and the server did not wait for the logout
