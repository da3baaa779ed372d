"""GLIMPSE 5.0: tells whoever logs in what is displayed, at one sequence number, over SoupBinTCP.

    publication ──▶ live orders, as far as published ──login──▶ A  S R..R H..H Y..Y h..h A F A A ..  G | sequence 20 |

A spin is made at the login, whole, of what is published by then; G says which message of the lines to go on with.
Orders come in the order of their queues, with the shares that are left and the reference they have now; an order's time
is that of its arrival. A login must ask for message 1 of the present session, by name or not.
"""

import selectors
import socket
import threading
import time
from typing import Any, NamedTuple

import numpy as np

from ..hot.layout import aligned
from ..wire import soupbintcp as soup
from ..wire.glimpse import END_OF_SNAPSHOT
from ..wire.moldudp64 import SESSION_BYTES
from ..wire.soup_session import ENDED, OPEN, REJECTED, Server, Silent
from ..wire.soup_session import LOGIN as LOGGING_IN
from .live_orders import ROW_AT, SEQUENCE, apply_rows, grown, make_live_orders, put_spin, spin_octets
from .message_store import Store
from .publication import published
from .sending import SendError, address_of

_ROWS_A_TURN = 65_536
_POLL_SECONDS, _SENDING_SECONDS = 0.02, 0.002
_STUCK_NS_MAX = 15_000_000_000  # a client that takes nothing of its spin for so long is dropped
_SEND_OCTETS = 262_144


class GlimpseOptions(NamedTuple):
    """username and password: that a login must have, compared without case; "" for any. octets_a_second: of a client,
    None for as fast as it reads. octets_max: after which a connection is cut, None for never. is_dead: connections are
    accepted and nothing is ever said."""

    username: str = ""
    password: str = ""
    octets_a_second: int | None = None
    octets_max: int | None = None
    is_dead: bool = False


AS_GLIMPSE = GlimpseOptions()  # nothing out of order


class Snapshot(NamedTuple):
    """A spin as it is sent, from the first S to G."""

    session: str
    sequence: int  # of the first message to go on with
    packets: bytes


class Counts(NamedTuple):
    """connections; logins that were let in, and not; spins that were sent whole; connections that broke the protocol
    or were silent."""

    connections: int = 0
    logins: int = 0
    rejected: int = 0
    spins: int = 0
    dropped: int = 0


class _Client:
    """A connection, and what of its spin is sent."""

    def __init__(self, connection: socket.socket, now_ns: int) -> None:
        self.connection = connection
        self.side = Server(now_ns)
        self.spin = memoryview(b"")
        self.spin_at = 0
        self.began_ns = self.moved_ns = now_ns

    @property
    def left(self) -> int:
        """Octets of the spin still to be sent."""
        return len(self.spin) - self.spin_at


class GlimpseServer:
    """Serves what of `store` the publication has published, on a thread, from `start` to `close`. `address` is the
    host:port that it has.

    `options` may be replaced while it serves. Raises SendError when the address cannot be had.
    """

    def __init__(
        self, endpoint: str, store: Store, publication_words: np.ndarray, options: GlimpseOptions = AS_GLIMPSE
    ) -> None:
        self.options = options
        self.counts = Counts()
        self._store, self._publication_words = store, publication_words
        self._live = make_live_orders()
        self._clients: dict[socket.socket, _Client] = {}
        self._selector = selectors.DefaultSelector()
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        try:
            self._socket = socket.create_server(address_of(endpoint))
        except OSError as error:
            self._selector.close()
            raise SendError(f"snapshot server {endpoint}: {error.strerror or error}") from error
        self._socket.setblocking(False)
        self._selector.register(self._socket, selectors.EVENT_READ)
        host, port = self._socket.getsockname()
        self.address = f"{host}:{port}"
        self._thread = threading.Thread(target=self._run, name="glimpse", daemon=True)

    def start(self) -> None:
        self.take_snapshot()  # compiled, or loaded, before anybody waits
        self._thread.start()

    def close(self) -> None:
        """End, and every connection with it. Raises what ended the thread before."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()
        for client in list(self._clients.values()):
            self._drop(client)
        self._selector.close()
        self._socket.close()
        if self._failure is not None:
            raise self._failure

    def take_snapshot(self) -> Snapshot:
        """What is displayed after all that was published by now. Only before `start`, or on the server's thread."""
        while self._go_on():
            pass
        blocks = aligned(int(spin_octets(self._live)), np.uint8, touch=False)
        end = int(put_spin(self._live, blocks))
        packets = aligned(end + end // soup.HEADER_BYTES + soup.HEADER_BYTES, np.uint8, touch=False)
        at, used, _ = soup.spread(blocks, 0, end, packets, 0)
        assert at == end
        row = int(self._live.words[ROW_AT])
        next_row = self._store.rows[min(row, len(self._store.rows) - 1)]
        sequence = int(self._live.words[SEQUENCE]) or int(next_row.sequence)
        last = soup.pack(soup.MESSAGE, bytes([END_OF_SNAPSHOT]) + b"%20d" % sequence)
        start = int(self._store.rows[max(row - 1, 0)].offset)
        session = self._store.octets[start : start + SESSION_BYTES].tobytes().decode("latin-1")
        return Snapshot(session, sequence, packets[:used].tobytes() + last)

    def _go_on(self) -> bool:
        """Apply some of what is published; False when there is no more."""
        end = published(self._publication_words)
        while not apply_rows(self._live, self._store, end, _ROWS_A_TURN):
            self._live = grown(self._live)
        return bool(self._live.words[ROW_AT] < end)

    def _run(self) -> None:
        try:
            behind = False
            while not self._stopped.is_set():
                for key, events in self._selector.select(0 if behind else self._wait_seconds()):
                    if key.fileobj is self._socket:
                        self._accept()
                    elif events & selectors.EVENT_READ:
                        self._guarded(key.data, self._read)
                for client in list(self._clients.values()):
                    self._guarded(client, self._write)
                behind = self._go_on()
        except BaseException as error:
            self._failure = error

    def _wait_seconds(self) -> float:
        return _SENDING_SECONDS if any(client.left for client in self._clients.values()) else _POLL_SECONDS

    def _guarded(self, client: _Client, act: Any) -> None:
        """Whatever a client does wrong ends its connection only."""
        if client.connection not in self._clients:
            return
        try:
            act(client, time.monotonic_ns())
        except (soup.SoupError, OSError):
            self._count(dropped=1)
            self._drop(client)

    def _count(self, **more: int) -> None:
        self.counts = self.counts._replace(**{name: getattr(self.counts, name) + by for name, by in more.items()})

    def _accept(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        connection.setblocking(False)
        client = _Client(connection, time.monotonic_ns())
        self._clients[connection] = client
        self._selector.register(connection, selectors.EVENT_READ, client)
        self._count(connections=1)

    def _drop(self, client: _Client) -> None:
        self._selector.unregister(client.connection)
        self._clients.pop(client.connection)
        client.connection.close()

    def _read(self, client: _Client, now_ns: int) -> None:
        try:
            count = client.connection.recv_into(client.side.space())
        except BlockingIOError:
            return
        if count == 0:
            self._drop(client)
            return
        client.side.received(count, now_ns)
        if self.options.is_dead:
            client.side.space()
            while client.side.next_packet() is not None:
                pass
        elif client.side.state == LOGGING_IN:
            if (login := client.side.read_login()) is not None:
                self._answer(client, login, now_ns)
        elif client.side.state == OPEN:
            client.side.read()

    def _answer(self, client: _Client, login: soup.Login, now_ns: int) -> None:
        options, side = self.options, client.side
        given = (login.username.casefold(), login.password.casefold())
        wanted = (options.username.casefold(), options.password.casefold())
        if any(want not in ("", got) for got, want in zip(given, wanted, strict=True)):
            self._count(rejected=1)
            side.reject(soup.NOT_AUTHORIZED, now_ns)
            return
        snapshot = self.take_snapshot()
        if login.sequence != 1 or login.session not in ("", snapshot.session.strip()):
            self._count(rejected=1)
            side.reject(soup.NOT_AVAILABLE, now_ns)
            return
        self._count(logins=1)
        side.accept(snapshot.session, 1, now_ns)
        client.spin, client.began_ns, client.moved_ns = memoryview(snapshot.packets), now_ns, now_ns

    def _write(self, client: _Client, now_ns: int) -> None:
        side = client.side
        if self.options.is_dead:
            return
        if side.outgoing and client.spin_at in (0, len(client.spin)):
            self._send(client, memoryview(bytes(side.outgoing)), side.sent)
        while client.left and not side.outgoing and side.state == OPEN and (allowed := self._allowed(client, now_ns)):
            before = client.spin_at
            self._send(client, client.spin[before : before + allowed], lambda count: self._went(client, count, now_ns))
            if client.spin_at == before:
                break
        is_cut = self.options.octets_max is not None and client.spin_at >= self.options.octets_max
        if is_cut or (side.state in (ENDED, REJECTED) and not side.outgoing):
            self._drop(client)
        elif client.left == 0:
            side.update(now_ns)
        elif now_ns - client.moved_ns > _STUCK_NS_MAX:
            raise Silent("the spin is not read")

    def _allowed(self, client: _Client, now_ns: int) -> int:
        """Octets of the spin that may be sent now."""
        allowed, options = _SEND_OCTETS, self.options
        if options.octets_a_second is not None:
            allowed = min(allowed, (now_ns - client.began_ns) * options.octets_a_second // 10**9 - client.spin_at)
        if options.octets_max is not None:
            allowed = min(allowed, options.octets_max - client.spin_at)
        return max(allowed, 0)

    def _went(self, client: _Client, count: int, now_ns: int) -> None:
        client.spin_at, client.moved_ns = client.spin_at + count, now_ns
        if client.left == 0:
            self._count(spins=1)
            client.side.received(0, now_ns)  # it may have been busy reading

    def _send(self, client: _Client, octets: memoryview, sent: Any) -> None:
        try:
            sent(client.connection.send(octets))
        except BlockingIOError:
            return
