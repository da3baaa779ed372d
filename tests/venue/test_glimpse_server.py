"""The snapshot server, over real connections: a spin and what follows it make the books of the whole day."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import pytest

from tests.naive.itch50 import blocks
from tests.naive.soupbintcp import frame, packets
from tests.stages import itch_messages as itch
from tests.stages.drive import Drive
from tests.venue.itch_flow import LOCATES, flow
from tests.venue.publisher_toys import Given, built, mold, store_of
from venym.hot.layout import aligned
from venym.stages.decoder import Limits
from venym.venue import publication as loop
from venym.venue.glimpse_server import AS_GLIMPSE, GlimpseOptions, GlimpseServer
from venym.venue.message_store import Store
from venym.venue.sending import SendError
from venym.wire.glimpse import Spin
from venym.wire.soup_session import Rejected
from venym.wire.soupbintcp import Login, pack_login

LIMITS = Limits(channels_max=1, instruments_max=64, orders_max=4_096, levels_max=4_096, trades_max=8_192)


class Told(NamedTuple):
    session: str
    sequence: int
    messages: list[bytes]


@contextmanager
def serving(
    store: Store, options: GlimpseOptions = AS_GLIMPSE, published: int | None = None
) -> Iterator[tuple[GlimpseServer, np.ndarray]]:
    words = aligned(loop.WORDS, np.int64)
    words[loop.PUBLISHED] = len(store.rows) if published is None else published
    server = GlimpseServer("127.0.0.1:0", store, words, options)
    try:
        server.start()
        yield server, words
    finally:
        server.close()


def connected(server: GlimpseServer) -> socket.socket:
    host, _, port = server.address.rpartition(":")
    made = socket.create_connection((host, int(port)), timeout=10)
    return made


def spin(server: GlimpseServer, username: str = "", password: str = "", a_read: int = 1 << 16) -> Told:
    """By the client of the other side. Raises SoupError, ConnectionResetError."""
    with connected(server) as connection:
        reading = Spin(username, password, time.monotonic_ns())
        octets, taken = aligned(1 << 16, np.uint8), b""
        while reading.sequence is None:
            if reading.client.outgoing:
                reading.client.sent(connection.send(reading.client.outgoing))
            count = connection.recv_into(reading.client.space(), a_read)
            if count == 0:
                raise ConnectionResetError
            reading.client.received(count, time.monotonic_ns())
            more = True
            while more:
                end, more = reading.read(octets, 0, len(octets), time.monotonic_ns())
                taken += octets[:end].tobytes()
        connection.sendall(reading.client.outgoing)
        assert connection.recv(1) == b""  # who logs out is let go
    messages, rest = blocks(taken)
    assert rest == b""
    return Told(reading.client.session, reading.sequence, messages)


def whole(connection: socket.socket) -> bytes:
    """All that comes until the server closes."""
    taken = b""
    while octets := connection.recv(1 << 16):
        taken += octets
    return taken


def until(condition: object, seconds: float = 5.0) -> None:
    end = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)


def books(messages: list[bytes]) -> list[object]:
    """What the decoder shows of every book after these messages."""
    drive = Drive(LIMITS, frames_octets=1 << 20)
    for start in range(0, len(messages), 500):
        drive.messages(messages[start : start + 500])
        drive.events.clear()
    shown: list[object] = []
    for locate in LOCATES:
        for side in "BS":
            ladder = drive.ladder(locate, side)
            shown.append([(row, drive.queue(locate, side, row[0])) for row in ladder])
        shown.append(drive.state(locate))
    return shown


@pytest.fixture(scope="module")
def messages() -> list[bytes]:
    return flow(21, 4_000)


@pytest.fixture(scope="module")
def store(messages: list[bytes]) -> Store:
    return store_of(messages, a_packet=5)


@pytest.mark.parametrize("published", [1, 100, 555, 800])
def test_a_spin_and_the_rest_are_the_decoders_books_of_the_whole(
    messages: list[bytes], store: Store, published: int
) -> None:
    with serving(store, published=published) as (server, _):
        told = spin(server)
    assert told.sequence == 5 * published + 1
    assert told.session == "SESSION001"
    assert books(told.messages) == books(messages[: told.sequence - 1])
    assert books(told.messages + messages[told.sequence - 1 :]) == books(messages)


def test_a_spin_is_of_one_number_while_publishing_goes_on(messages: list[bytes], store: Store) -> None:
    with serving(store, published=0) as (server, words):

        def publish() -> None:
            for number in range(1, len(store.rows)):
                words[loop.PUBLISHED] = number
                time.sleep(0.0002)

        publishing = threading.Thread(target=publish)
        publishing.start()
        told = [spin(server) for _ in range(8)]
        publishing.join()
    assert len({spun.sequence for spun in told}) > 3
    for spun in told:
        assert books(spun.messages) == books(messages[: spun.sequence - 1])


def test_before_anything_is_published_the_spin_is_empty(store: Store) -> None:
    with serving(store, published=0) as (server, _):
        assert spin(server) == Told("SESSION001", 1, [])
    later, _ = built([Given(mold(50, [b"x"]))])
    with serving(later, published=0) as (server, _):
        assert spin(server).sequence == 50
    empty, _ = built([Given(mold(7, []))])
    with serving(empty) as (server, _):
        assert spin(server) == Told("SESSION001", 7, [])


def test_a_spin_is_of_the_present_session() -> None:
    first, second = itch.add(1, "B", 10, 100), itch.add(2, "S", 10, 100)
    held, _ = built([Given(mold(1, [first])), Given(mold(1, [second], "SESSION002"))])
    with serving(held, published=1) as (server, words):
        assert spin(server) == Told("SESSION001", 2, [first])
        words[loop.PUBLISHED] = 2
        assert spin(server) == Told("SESSION001", 2, [first])
        words[loop.PUBLISHED] = 3
        assert spin(server) == Told("SESSION002", 2, [second])


def test_clients_read_at_their_own_pace(store: Store) -> None:
    with serving(store) as (server, _):
        told = spin(server)
        found: list[Told] = []
        threads = [
            threading.Thread(target=lambda octets=octets: found.append(spin(server, a_read=octets)))
            for octets in (100, 1_000, 65_536)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert found == [told] * 3
        until(lambda: server.counts.spins == 4)
        assert server.counts.logins == server.counts.connections == 4


@pytest.mark.parametrize(
    ("login", "reason"),
    [
        (Login("user", "wrong", "", 1), b"A"),
        (Login("", "", "", 1), b"A"),
        (Login("USER", "SECRET", "", 0), b"S"),
        (Login("user", "secret", "", 2), b"S"),
        (Login("user", "secret", "OTHERS0001", 1), b"S"),
    ],
)
def test_a_login_that_may_not_be_is_rejected(store: Store, login: Login, reason: bytes) -> None:
    with serving(store, GlimpseOptions("User", "Secret")) as (server, _), connected(server) as connection:
        connection.sendall(pack_login(login))
        assert whole(connection) == frame(b"J", reason)
        assert server.counts.rejected == 1 and server.counts.logins == 0


def test_a_login_may_name_the_session_and_write_its_name_in_any_case(store: Store) -> None:
    with serving(store, GlimpseOptions("User", "Secret")) as (server, _):
        assert spin(server, "USER", "secret").sequence == 4_001
        with pytest.raises(Rejected, match="not authorised"):
            spin(server, "user", "wrong")
        with connected(server) as connection:
            connection.sendall(pack_login(Login("user", "secret", "SESSION001", 1)))
            assert connection.recv(100)[2:3] == b"A"


@pytest.mark.parametrize(
    "octets",
    [b"\0\0", frame(b"Z"), frame(b"O"), frame(b"L", b"short"), b"GET / HTTP/1.1\r\n\r\n" + bytes(70_000)],
    ids=["typeless", "of a server", "logout first", "short login", "another protocol"],
)
def test_who_breaks_the_protocol_is_dropped_and_others_are_served(store: Store, octets: bytes) -> None:
    with serving(store) as (server, _):
        with connected(server) as connection:
            connection.sendall(octets)
            with contextlib.suppress(ConnectionResetError):  # where octets were still unread
                assert whole(connection) == b""
        assert server.counts.dropped == 1
        assert spin(server).sequence == 4_001


def test_who_leaves_early_does_no_harm(store: Store) -> None:
    with serving(store) as (server, _):
        connected(server).close()
        with connected(server) as connection:
            connection.sendall(pack_login(Login("", "", "", 1)))
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        assert spin(server).sequence == 4_001


def test_a_silent_line_has_heartbeats_after_the_spin(store: Store) -> None:
    with serving(store) as (server, _), connected(server) as connection:
        connection.sendall(pack_login(Login("", "", "", 1)))
        taken = b""
        while not taken.endswith(frame(b"H")):
            taken += connection.recv(1 << 16)
        kinds = [kind for kind, _ in packets(taken)[0]]
        assert kinds[0] == b"A" and set(kinds[1:-1]) == {b"S"} and kinds[-1] == b"H"


def test_a_dead_server_accepts_and_says_nothing(store: Store) -> None:
    with serving(store, GlimpseOptions(is_dead=True)) as (server, _), connected(server) as connection:
        connection.sendall(pack_login(Login("", "", "", 1)))
        connection.settimeout(0.2)
        with pytest.raises(TimeoutError):
            connection.recv(1)
        server.options = AS_GLIMPSE
        assert spin(server).sequence == 4_001


def test_a_connection_is_cut_where_it_is_to_be(store: Store) -> None:
    with serving(store, GlimpseOptions(octets_max=5_000)) as (server, _), connected(server) as connection:
        connection.sendall(pack_login(Login("", "", "", 1)))
        assert len(whole(connection)) == 33 + 5_000
        assert server.counts.spins == 0


def test_a_slow_server_takes_its_time(store: Store) -> None:
    with serving(store) as (server, _):
        told = spin(server)
        octets = sum(3 + len(message) for message in told.messages)
        server.options = GlimpseOptions(octets_a_second=2 * octets)
        began = time.monotonic()
        assert spin(server) == told
        assert 0.4 < time.monotonic() - began < 3


def test_an_address_that_cannot_be_had_is_named(store: Store) -> None:
    with serving(store) as (server, words), pytest.raises(SendError, match=r"snapshot server .*in use"):
        GlimpseServer(server.address, store, words)
