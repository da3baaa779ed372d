"""The other ends of recovery, on the loopback: servers of messages, and the decoder on its two links."""

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any

from venym.hot.link import HEAD, commit, make_link, peek, ready, release, room
from venym.records import GIVEN_UP, MISSING, RECOVERED, REREQUESTED, SNAPSHOT_BEGIN, SNAPSHOT_BLOCKS, SNAPSHOT_END
from venym.wire import soupbintcp as soup
from venym.wire.soup_session import Server

SESSION = b"SESSION001"
HIGH, LOW = struct.unpack(">qH", SESSION)
NAMES = {
    REREQUESTED: "REREQUESTED",
    SNAPSHOT_BEGIN: "BEGIN",
    SNAPSHOT_BLOCKS: "BLOCKS",
    SNAPSHOT_END: "END",
    GIVEN_UP: "GIVEN_UP",
}


def message(number: int) -> bytes:
    return b"M%d" % number


def packet(first: int, messages: list[bytes], session: bytes = SESSION) -> bytes:
    blocks = b"".join(len(text).to_bytes(2, "big") + text for text in messages)
    return struct.pack(">10sqH", session, first, len(messages)) + blocks


def until(condition: Callable[[], Any], seconds: float = 10.0) -> Any:
    """What `condition` gives once it is true."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.001)
    return found


class Decoder:
    """Tells what is missing and takes what came."""

    def __init__(self, missing_capacity: int = 1024, recovered_capacity: int = 256) -> None:
        self.missing = make_link(MISSING, missing_capacity)
        self.recovered = make_link(RECOVERED, recovered_capacity)
        self.got: list[tuple[str, int, bytes]] = []

    def tell(
        self, kind: int, first: int = 0, end: int = 0, expected: int = 0, low: int = LOW, channel: int = 0
    ) -> None:
        assert room(self.missing, 1)
        record = self.missing.slots[int(self.missing.cursor[HEAD]) % len(self.missing.slots)]
        record.session_high, record.session_low, record.channel, record.kind = HIGH, low, channel, kind
        record.first, record.end, record.expected = first, end, expected
        commit(self.missing, 1)

    def take(self) -> list[tuple[str, int, bytes]]:
        """All that came by now, what `got` holds of before too."""
        while ready(self.recovered, 1):
            record = peek(self.recovered, 0)
            assert record.session_high == HIGH
            octets = record.octets[: record.length].tobytes()
            self.got.append((NAMES[int(record.kind)], int(record.sequence), octets))
            release(self.recovered, 1)
        return self.got

    def messages(self) -> dict[int, bytes]:
        """Of the answers, by number."""
        found = {}
        for kind, first, octets in self.take():
            if kind == "REREQUESTED":
                _, sequence, count = struct.unpack_from(">10sqH", octets)
                assert sequence == first
                at = 20
                for number in range(first, first + count):
                    size = int.from_bytes(octets[at : at + 2], "big")
                    found[number] = octets[at + 2 : at + 2 + size]
                    at += 2 + size
                assert at == len(octets)
        return found

    def blocks(self) -> bytes:
        """Of the last snapshot."""
        kinds = [kind for kind, _, _ in self.take()]
        began = len(kinds) - 1 - kinds[::-1].index("BEGIN")
        return b"".join(octets for kind, _, octets in self.got[began:] if kind == "BLOCKS")


class Threaded:
    """A server on a thread: `serve_once` is called until the block ends, and what it raises fails the test."""

    def __enter__(self) -> Any:
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self._stop.set()
        self._thread.join(10)
        self.close()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                self.serve_once()
        except Exception as error:
            self._error = error

    def serve_once(self) -> None:
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class RerequestServer(Threaded):
    """Answers requests of SESSION by as many messages as fit into `octets_max`; `answer` may be replaced."""

    def __init__(self, octets_max: int = 1400) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.socket.settimeout(0.02)
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.octets_max = octets_max
        self.requests: list[tuple[int, int]] = []
        self.answer: Callable[[int, int], list[bytes]] = self.whole

    def whole(self, first: int, count: int) -> list[bytes]:
        messages, octets = [], 20
        for number in range(first, first + count):
            octets += 2 + len(message(number))
            if octets > self.octets_max:
                break
            messages.append(message(number))
        return [packet(first, messages)]

    def serve_once(self) -> None:
        try:
            request, client = self.socket.recvfrom(100)
        except TimeoutError:
            return
        session, first, count = struct.unpack(">10sqH", request)
        assert session == SESSION
        self.requests.append((first, count))
        for octets in self.answer(first, count):
            self.socket.sendto(octets, client)

    def close(self) -> None:
        self.socket.close()


class GlimpseServer(Threaded):
    """Sends `stream` to whoever logs in; `cut`: closes after so many octets of it; `reject`: lets nobody in."""

    def __init__(self, stream: bytes, cut: int | None = None, reject: bool = False) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.socket.setblocking(False)
        self.address = f"127.0.0.1:{self.socket.getsockname()[1]}"
        self.stream = stream
        self.cut = cut
        self.reject = reject
        self.logins: list[soup.Login] = []
        self.logouts = 0
        self._selector = selectors.DefaultSelector()
        self._selector.register(self.socket, selectors.EVENT_READ, None)
        self._sides: dict[socket.socket, Server] = {}

    @property
    def connections(self) -> int:
        return len(self._sides)

    def serve_once(self) -> None:
        for key, _ in self._selector.select(0.005):
            if key.data is None:
                connection, _ = self.socket.accept()
                connection.setblocking(False)
                self._sides[connection] = Server(time.monotonic_ns())
                self._selector.register(connection, selectors.EVENT_READ, self._sides[connection])
                continue
            self._read(key.fileobj, key.data)
        for connection, side in list(self._sides.items()):
            if side.outgoing:
                with contextlib.suppress(BlockingIOError):
                    side.sent(connection.send(memoryview(side.outgoing)[: 1 << 20].tobytes()))
            elif (self.cut is not None and side.state == "OPEN") or side.state in ("ENDED", "REJECTED"):
                self._drop(connection)

    def _read(self, connection: Any, side: Server) -> None:
        try:
            count = connection.recv_into(side.space())
        except ConnectionResetError:
            count = 0
        if count == 0:
            self._drop(connection)
            return
        now_ns = time.monotonic_ns()
        side.received(count, now_ns)
        if side.state == "LOGIN" and (login := side.read_login()) is not None:
            self.logins.append(login)
            if self.reject:
                side.reject(soup.NOT_AUTHORIZED, now_ns)
            else:
                side.accept("S1", 1, now_ns)
                side.outgoing += self.stream if self.cut is None else self.stream[: self.cut]
        elif side.state == "OPEN":
            side.read()
            self.logouts += side.state == "ENDED"

    def _drop(self, connection: socket.socket) -> None:
        self._selector.unregister(connection)
        self._sides.pop(connection)
        connection.close()

    def close(self) -> None:
        for connection in list(self._sides):
            self._drop(connection)
        self._selector.close()
        self.socket.close()


def spin(messages: list[bytes], sequence: int) -> bytes:
    """A snapshot's packets, G included."""
    octets = [soup.pack(soup.MESSAGE, text) for text in messages]
    return b"".join(octets) + soup.pack(soup.MESSAGE, b"G" + b"%20d" % sequence)
