"""Recovery against the publisher's servers: each side knows of the other only what the protocols say."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.control.recovery_peers import until
from tests.control.test_recovery import AT_START, PATIENT, QUICK, running
from tests.naive.itch50 import blocks
from tests.venue.itch_flow import flow
from tests.venue.publisher_toys import store_of
from tests.venue.test_live_orders import books
from venym.records import HOLE
from venym.venue import publication as loop
from venym.venue.glimpse_server import GlimpseOptions
from venym.venue.message_store import Store
from venym.venue.publisher import Publisher, PublisherOptions
from venym.venue.rerequest_server import PROMPT, RerequestOptions
from venym.venue.sending import Target

ANY = "127.0.0.1:0"
USER = GlimpseOptions("user", "secret")


@pytest.fixture(scope="module")
def messages() -> list[bytes]:
    return flow(31, 3_000)


@pytest.fixture(scope="module")
def store(messages: list[bytes]) -> Store:
    return store_of(messages, a_packet=5)


@contextmanager
def publishing(
    store: Store, *servers: RerequestOptions, glimpse: GlimpseOptions = USER, rate: int | None = None
) -> Iterator[Publisher]:
    """All is published at once, or at a rate."""
    options = PublisherOptions(
        rate=rate,
        speed=None,
        linger_seconds=None,
        rerequest=[(ANY, server) for server in servers],
        glimpse=(ANY, glimpse),
    )
    with Publisher(store, (Target("127.0.0.1", 9), None), options) as publisher:
        if rate is None:
            assert publisher.wait_published(20)
        yield publisher


def addresses(publisher: Publisher) -> list[str]:
    return [server.address for server in publisher.rerequest_servers]


@pytest.mark.parametrize(
    "servers",
    [
        [PROMPT],
        [PROMPT, PROMPT],
        [RerequestOptions(is_dead=True), PROMPT],
        [RerequestOptions(delay_ns=20_000_000)],
        [RerequestOptions(rate_max=200)],
        [RerequestOptions(octets_max=128)],
        [RerequestOptions(count_max=7)],
    ],
    ids=["one", "two", "a dead one first", "slow", "limited", "small answers", "few messages"],
)
def test_holes_are_filled(messages: list[bytes], store: Store, servers: list[RerequestOptions]) -> None:
    with publishing(store, *servers) as publisher, running(*addresses(publisher), rules=PATIENT) as made:
        made.decoder.tell(HOLE, 1, 2, expected=1)
        made.decoder.tell(HOLE, 500, 700, expected=1)
        made.decoder.tell(HOLE, 2_999, 3_001, expected=1)
        wanted = [1, *range(500, 700), 2_999, 3_000]
        until(lambda: len(made.decoder.messages()) == len(wanted), 30)
        assert made.decoder.messages() == {number: messages[number - 1] for number in wanted}


def test_what_is_asked_for_too_early_comes_once_it_is_published(messages: list[bytes], store: Store) -> None:
    with publishing(store, PROMPT, rate=3_000) as publisher, running(*addresses(publisher), rules=PATIENT) as made:
        made.decoder.tell(HOLE, 1, 1_001, expected=1)
        until(lambda: len(made.decoder.messages()) == 1_000, 30)
        assert made.decoder.messages() == {number: messages[number - 1] for number in range(1, 1_001)}


def test_a_channel_is_joined_by_a_snapshot(messages: list[bytes], store: Store) -> None:
    with publishing(store, PROMPT, rate=3_000) as publisher:
        until(lambda: publisher.next_sequence > 1_000)
        with running(glimpse=publisher.glimpse_server.address, rules=AT_START) as made:  # type: ignore[union-attr]
            until(lambda: [kind for kind, _, _ in made.decoder.take()][-1:] == ["END"])
            sequence = made.decoder.got[-1][1]
            assert 1_000 < sequence < 3_000
            told, rest = blocks(made.decoder.blocks())
            assert rest == b"" and books(told) == books(messages[: sequence - 1])


def test_a_snapshot_helps_where_no_server_answers(messages: list[bytes], store: Store) -> None:
    dead = RerequestOptions(is_dead=True)
    with (
        publishing(store, dead, dead) as publisher,
        running(*addresses(publisher), glimpse=publisher.glimpse_server.address, rules=QUICK) as made,  # type: ignore[union-attr]
    ):
        made.decoder.tell(HOLE, 5, 9, expected=5)
        until(lambda: [kind for kind, _, _ in made.decoder.take()][-1:] == ["END"])
        assert made.decoder.got[-1][1] == 3_001
        assert books(blocks(made.decoder.blocks())[0]) == books(messages)


@pytest.mark.parametrize(
    "glimpse",
    [GlimpseOptions("user", "other"), USER._replace(octets_max=3_000)],
    ids=["who does not let us in", "who breaks off"],
)
def test_a_gap_is_given_up_where_nobody_helps(store: Store, glimpse: GlimpseOptions) -> None:
    with (
        publishing(store, RerequestOptions(is_dead=True), glimpse=glimpse) as publisher,
        running(*addresses(publisher), glimpse=publisher.glimpse_server.address, rules=QUICK) as made,  # type: ignore[union-attr]
    ):
        made.decoder.tell(HOLE, 5, 9, expected=5)
        until(lambda: ("GIVEN_UP", 9, b"") in made.decoder.take(), 20)


def test_servers_answer_after_the_end_of_the_session(messages: list[bytes], store: Store) -> None:
    with publishing(store, PROMPT) as publisher:
        assert loop.published(publisher.context.words) == len(store.rows)
        time.sleep(0.2)
        with running(*addresses(publisher), rules=PATIENT) as made:
            made.decoder.tell(HOLE, 1, 3_001, expected=1)
            until(lambda: len(made.decoder.messages()) == 3_000)
            assert made.decoder.messages() == dict(enumerate(messages, 1))
