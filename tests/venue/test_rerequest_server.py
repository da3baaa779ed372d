"""The re-request server, over real sockets: what is lost comes again; what cannot be answered is counted."""

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.guarded import Guarded
from tests.venue.publisher_toys import SESSION, Given, built, messages_of, mold, store_of
from venym.hot.layout import aligned
from venym.venue import publication as loop
from venym.venue.message_store import Store
from venym.venue.rerequest_server import PROMPT, WORDS, RerequestOptions, RerequestServer, answer
from venym.venue.sending import SendError

pytestmark = pytest.mark.plain

MESSAGES = [b"message %04d" % number for number in range(1, 301)]


class Asking:
    """A client of a server."""

    def __init__(self, server: RerequestServer) -> None:
        self.server = server
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        host, _, port = server.address.rpartition(":")
        self.socket.connect((host, int(port)))
        self.socket.settimeout(5)

    def send(self, first: int, count: int, session: str = SESSION) -> None:
        self.socket.send(struct.pack(">10sQH", session.encode(), first, count))

    def ask(self, first: int, count: int, session: str = SESSION) -> dict[int, bytes]:
        """The messages of the answer, by number."""
        self.send(first, count, session)
        octets = self.socket.recv(65_536)
        assert octets[:10] == session.encode()
        return messages_of(octets)

    def is_silent(self, octets: bytes, kind: str) -> bool:
        """Is a request not answered, but counted as of this kind, and as nothing else? A good one after it is."""
        before = self.server.counts
        self.socket.send(octets)
        assert self.ask(1, 1) == {1: MESSAGES[0]}
        more = {name: count - before[name] for name, count in self.server.counts.items() if count != before[name]}
        return more == {kind: 1, "answered": 1, "messages": 1}


@contextmanager
def serving(
    store: Store, options: RerequestOptions = PROMPT, published: int | None = None
) -> Iterator[tuple[Asking, np.ndarray]]:
    words = aligned(loop.WORDS, np.int64)
    words[loop.PUBLISHED] = len(store.rows) if published is None else published
    server = RerequestServer("127.0.0.1:0", store, words, options)
    try:
        server.start()
        asking = Asking(server)
        try:
            yield asking, words
        finally:
            asking.socket.close()
    finally:
        server.close()


@pytest.fixture(scope="module")
def store() -> Store:
    return store_of(MESSAGES, a_packet=4)


@pytest.fixture
def asking(store: Store) -> Iterator[Asking]:
    with serving(store) as (made, _):
        yield made


def expected(first: int, count: int) -> dict[int, bytes]:
    return {number: MESSAGES[number - 1] for number in range(first, first + count)}


@pytest.mark.parametrize(("first", "count"), [(1, 1), (1, 4), (2, 3), (3, 7), (4, 1), (5, 20), (300, 1), (299, 2)])
def test_what_is_asked_for_is_answered_wherever_packets_began(asking: Asking, first: int, count: int) -> None:
    assert asking.ask(first, count) == expected(first, count)


@pytest.mark.parametrize("count", [300, 5_000, 65_534, 65_535])
def test_as_many_as_fit_are_answered_and_the_rest_is_asked_for_again(asking: Asking, count: int) -> None:
    fit = (1_472 - 20) // (2 + len(MESSAGES[0]))
    assert asking.ask(10, count) == expected(10, fit)
    got: dict[int, bytes] = {}
    first = 1
    while first <= 300:
        part = asking.ask(first, 300)
        got |= part
        first += len(part)
    assert got == expected(1, 300)


def test_at_the_end_fewer_are_answered(asking: Asking) -> None:
    assert asking.ask(295, 50) == expected(295, 6)


def test_answers_are_kept_to_their_octets_and_count(store: Store) -> None:
    with serving(store, RerequestOptions(octets_max=128)) as (asking, _):
        assert asking.ask(1, 100) == expected(1, (128 - 20) // 14)
    with serving(store, RerequestOptions(count_max=3)) as (asking, _):
        assert asking.ask(1, 100) == expected(1, 3)


@pytest.mark.parametrize(
    ("octets", "kind"),
    [
        (b"", "malformed"),
        (b"x", "malformed"),
        (mold(1, [], count=1)[:19], "malformed"),
        (mold(1, [], count=1) + b"x", "malformed"),
        (bytes(2_048), "malformed"),
        (bytes(20), "foreign"),
        (mold(1, [], "SESSION002", count=1), "foreign"),
        (mold(1, [], SESSION.lower(), count=1), "foreign"),
        (mold(1, [], count=0), "empty"),
        (mold(0, [], count=1), "unnumbered"),
        (mold(0, [], count=65_535), "unnumbered"),
        (mold(1 << 63, [], count=1), "unnumbered"),
        (mold((1 << 64) - 1, [], count=65_535), "unnumbered"),
        (mold(301, [], count=1), "unpublished"),
        (mold((1 << 63) - 1, [], count=65_535), "unpublished"),
    ],
)
def test_what_cannot_be_answered_is_counted(asking: Asking, octets: bytes, kind: str) -> None:
    assert asking.is_silent(octets, kind)


def test_only_what_is_published_is_answered(store: Store) -> None:
    with serving(store, published=2) as (asking, words):
        assert asking.is_silent(mold(9, [], count=1), "unpublished")
        assert asking.ask(7, 100) == expected(7, 2)
        words[loop.PUBLISHED] = 3
        assert asking.ask(7, 100) == expected(7, 6)


def test_sessions_are_served_by_their_names_also_when_they_are_over() -> None:
    first, second = [Given(mold(1, [b"a", b"b"]))], [Given(mold(1, [b"c"], "SESSION002"))]
    held, _ = built(first + second)
    with serving(held, published=2) as (asking, words):
        assert asking.ask(1, 9) == {1: b"a", 2: b"b"}
        asking.send(1, 1, "SESSION002")
        assert asking.ask(2, 1) == {2: b"b"}
        assert asking.server.counts["unpublished"] == 1
        words[loop.PUBLISHED] = len(held.rows)
        assert asking.ask(1, 9, "SESSION002") == {1: b"c"}
        assert asking.ask(1, 9) == {1: b"a", 2: b"b"}


def test_what_a_capture_lacks_is_not_answered() -> None:
    held, _ = built([Given(mold(5, [b"5", b"6"])), Given(mold(9, [b"9"]))])
    with serving(held) as (asking, _):
        for number in (1, 4, 7, 8):
            asking.send(number, 1)
        assert asking.ask(5, 10) == {5: b"5", 6: b"6"}
        assert asking.ask(9, 10) == {9: b"9"}
        assert asking.server.counts["missing"] == 4


def test_a_message_that_fits_no_answer_is_counted() -> None:
    held, _ = built([Given(mold(1, [b"a", bytes(2_000)]))])
    with serving(held) as (asking, _):
        asking.send(2, 1)
        assert asking.ask(1, 2) == {1: b"a"}
        assert asking.server.counts["too_long"] == 1


def test_a_dead_server_says_nothing_until_it_lives_again(store: Store) -> None:
    with serving(store, RerequestOptions(is_dead=True)) as (asking, _):
        asking.send(1, 1)
        asking.socket.settimeout(0.15)
        with pytest.raises(TimeoutError):
            asking.socket.recv(100)
        assert asking.server.counts["ignored"] == 1
        asking.server.options = PROMPT
        asking.socket.settimeout(5)
        assert asking.ask(2, 1) == expected(2, 1)


def test_a_slow_server_delays_each_answer_not_their_sum(store: Store) -> None:
    with serving(store, RerequestOptions(delay_ns=200_000_000)) as (asking, _):
        began = time.monotonic()
        for number in range(1, 21):
            asking.send(number, 1)
        got = [messages_of(asking.socket.recv(2_000)) for _ in range(20)]
        assert 0.2 <= time.monotonic() - began < 1.5
        assert got == [expected(number, 1) for number in range(1, 21)]


def test_requests_over_the_rate_are_not_answered(store: Store) -> None:
    with serving(store, RerequestOptions(rate_max=20)) as (asking, _):
        for number in range(1, 101):
            asking.send(number, 1)
        asking.socket.settimeout(0.2)
        got = 0
        with pytest.raises(TimeoutError):
            while asking.socket.recv(2_000):
                got += 1
        assert got == asking.server.counts["answered"] <= 10
        assert asking.server.counts["over_rate"] == 100 - got
        time.sleep(0.2)
        asking.socket.settimeout(5)
        assert asking.ask(1, 1) == expected(1, 1)


def test_clients_that_are_gone_do_no_harm(store: Store) -> None:
    with serving(store, RerequestOptions(delay_ns=50_000_000)) as (asking, _):
        for _ in range(3):
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as gone:
                gone.sendto(mold(1, [], count=1), asking.socket.getpeername())
        assert asking.ask(5, 1) == expected(5, 1)


def test_an_address_that_cannot_be_had_is_named(store: Store) -> None:
    with serving(store) as (asking, words), pytest.raises(SendError, match=r"re-request server .*in use"):
        RerequestServer(asking.server.address, store, words)
    with pytest.raises(SendError, match=r"re-request server 192.0.2.1:5"):
        RerequestServer("192.0.2.1:5", store, words)


@pytest.mark.parametrize(
    "wrong", [RerequestOptions(octets_max=100), RerequestOptions(octets_max=2_000), RerequestOptions(count_max=0)]
)
def test_options_that_cannot_be_are_refused(store: Store, wrong: RerequestOptions) -> None:
    with pytest.raises(ValueError, match="no answers"):
        RerequestServer("127.0.0.1:0", store, aligned(loop.WORDS, np.int64), wrong)


@given(
    some.binary(max_size=40) | some.builds(mold, some.integers(0, 400), some.just([]), count=some.integers(0, 65_535))
)
def test_nothing_that_comes_is_read_beyond_its_end(octets: bytes) -> None:
    held = store_of(MESSAGES[:50], a_packet=3)
    reply, words = Guarded(1_472).put(bytes(1_472)), aligned(WORDS, np.int64)
    length = answer(held, len(held.rows), Guarded(64).put(octets), len(octets), 1_472, 65_535, reply, words)
    assert sum(words.tolist()) - int(words[1]) == 1
    if length:
        _, first, count = struct.unpack(">10sQH", octets)
        assert messages_of(reply[:length].tobytes()) == expected(first, min(count, 51 - first, 1_452 // 14))
