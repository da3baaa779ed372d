"""The exchange's side as a whole: multicast on two lines, servers, threads that end."""

import json
import socket
import struct
import threading
import time
from pathlib import Path

import pytest

from tests.naive import publication as naive
from tests.venue.publisher_toys import (
    SESSION,
    Given,
    built,
    is_heartbeat,
    is_over,
    listening,
    messages_of,
    mold,
    packets_of,
    store_of,
)
from venym.venue.glimpse_server import AS_GLIMPSE, GlimpseOptions
from venym.venue.impairment import Impairment
from venym.venue.publisher import Publisher, PublisherOptions
from venym.venue.rerequest_server import PROMPT, RerequestOptions
from venym.venue.sending import SendError, Target
from venym.wire.soupbintcp import Login, pack_login

GROUP_A, GROUP_B = "239.255.73.1", "239.255.73.2"
ANY = "127.0.0.1:0"
FAST = PublisherOptions(speed=None, linger_seconds=0.0)


def threads() -> set[str]:
    return {thread.name for thread in threading.enumerate()} & {"publish", "rerequest", "glimpse"}


def ask(address: str, first: int, count: int) -> dict[int, bytes]:
    host, _, port = address.rpartition(":")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        asking.settimeout(5)
        asking.sendto(struct.pack(">10sQH", SESSION.encode(), first, count), (host, int(port)))
        return messages_of(asking.recv(2_000))


def test_both_groups_carry_the_day_and_what_both_lost_is_served() -> None:
    store = store_of([b"M%07d" % number for number in range(1, 2_001)], a_packet=2)
    impairment = Impairment((0.05, 0.05), loss_both=0.02, duplicate=(0.05, 0.05), reorder=(0.05, 0.05), seed=6)
    options = FAST._replace(impairment=impairment, rerequest=[(ANY, PROMPT), (ANY, PROMPT)], linger_seconds=None)
    with listening(GROUP_A, GROUP_B) as (a, b):
        targets = Target(GROUP_A, a.port, "lo"), Target(GROUP_B, b.port, "lo")
        with Publisher(store, targets, options) as publisher:
            assert publisher.wait_published(20)
            until = time.monotonic() + 5
            while not (any(map(is_over, a.packets)) and any(map(is_over, b.packets))):
                assert time.monotonic() < until
                time.sleep(0.01)
            got: dict[int, bytes] = {}
            for packet in a.data() + b.data():
                got |= messages_of(packet)
            missing = [number for number in range(1, 2_001) if number not in got]
            for turn, number in enumerate(missing):
                got |= ask(publisher.rerequest_servers[turn % 2].address, number, 1)
            summary = publisher.summary()
    assert got == {number: b"M%07d" % number for number in range(1, 2_001)}
    for line, listener, name in ((0, a, "a"), (1, b, "b")):
        wanted = naive.sent(1_000, line, 6, loss=0.05, loss_both=0.02, duplicate=0.05, reorder=0.05)
        assert [int.from_bytes(packet[10:18], "big") // 2 for packet in listener.data()] == wanted
        told = summary["lines"][name]
        assert told["sent"] + told["lost"] + told["lost_on_both"] == 1_000
        assert told["twice"] == len(wanted) - told["sent"] and told["errors"] == 0
    assert missing and sum(made["answered"] for made in summary["rerequest"]) == len(missing)
    assert threads() == set()


def test_the_summary_is_plain_and_tells_of_servers() -> None:
    store = store_of([b"m"] * 10)
    options = FAST._replace(rerequest=[(ANY, PROMPT)], glimpse=(ANY, AS_GLIMPSE))
    with listening("127.0.0.1") as (listener,):
        with Publisher(store, (Target("127.0.0.1", listener.port), None), options) as publisher:
            assert publisher.wait(10)
        summary = json.loads(json.dumps(publisher.summary()))
    assert summary["packets"] == 11 and summary["messages"] == 10 and summary["sessions"] == [SESSION]
    assert list(summary["lines"]) == ["a"] and summary["lines"]["a"]["sent"] == 10
    assert summary["rerequest"][0]["answered"] == 0 and summary["glimpse"]["spins"] == 0
    assert packets_of(store) == listener.packets[:11]


def test_a_publisher_that_leaves_the_core_to_others_keeps_its_schedule() -> None:
    options = PublisherOptions(rate=20_000, spin_ns=0, linger_seconds=0.0)
    with listening("127.0.0.1") as (listener,):
        with Publisher(store_of([b"m"] * 4_000), (Target("127.0.0.1", listener.port), None), options) as publisher:
            assert publisher.wait(20)
        assert 0.19 < publisher.summary()["seconds"] < 2
    assert len(listener.data()) == 4_000


def test_heartbeats_come_first_and_the_end_is_repeated() -> None:
    options = PublisherOptions(speed=None, wait_seconds=1.2, linger_seconds=1.2)
    with listening(GROUP_A) as (listener,):
        with Publisher(store_of([b"m"]), (Target(GROUP_A, listener.port, "lo"), None), options) as publisher:
            assert not publisher.wait(0.5)
            assert publisher.next_sequence == 1
            assert publisher.wait(10)
            assert publisher.next_sequence == 2
        kinds = ["H" if is_heartbeat(packet) else "Z" if is_over(packet) else "m" for packet in listener.packets]
    assert kinds == ["H", "H", "m", "Z", "Z"]


def test_servers_serve_on_until_the_publisher_is_closed() -> None:
    options = FAST._replace(linger_seconds=None, rerequest=[(ANY, PROMPT)], glimpse=(ANY, AS_GLIMPSE))
    with Publisher(store_of([b"m"] * 10), (None, Target("127.0.0.1", 9)), options) as publisher:
        assert publisher.wait_published(10)
        assert not publisher.wait(0.3)
        assert ask(publisher.rerequest_servers[0].address, 3, 2) == {3: b"m", 4: b"m"}
        assert publisher.glimpse_server is not None
        host, _, port = publisher.glimpse_server.address.rpartition(":")
        with socket.create_connection((host, int(port)), 5) as connection:
            connection.sendall(pack_login(Login("", "", "", 1)))
            assert connection.recv(1_000)[2:13] == b"ASESSION001"
    assert threads() == set()


def test_it_can_be_closed_in_the_middle() -> None:
    packets = [Given(mold(number, [b"m"]), received_ns=number * 10**12) for number in range(1, 4)]
    options = PublisherOptions(rerequest=[(ANY, PROMPT)], glimpse=(ANY, AS_GLIMPSE))
    began = time.monotonic()
    with Publisher(built(packets)[0], (Target("127.0.0.1", 9), None), options) as publisher:
        assert not publisher.wait_published(0.2)
    assert time.monotonic() - began < 10
    assert publisher.summary()["packets"] == 1
    assert threads() == set()


def test_servers_take_other_options_while_they_serve() -> None:
    options = FAST._replace(linger_seconds=None, rerequest=[(ANY, RerequestOptions(is_dead=True))])
    with Publisher(store_of([b"m"] * 10), (Target("127.0.0.1", 9), None), options) as publisher:
        assert publisher.wait_published(10)
        with pytest.raises(TimeoutError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
            asking.settimeout(0.1)
            host, _, port = publisher.rerequest_servers[0].address.rpartition(":")
            asking.sendto(mold(1, [], count=1), (host, int(port)))
            asking.recv(100)
        publisher.rerequest_servers[0].options = PROMPT
        assert ask(publisher.rerequest_servers[0].address, 1, 1) == {1: b"m"}


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (Target("239.255.73.1", 5, "nosuch0"), r"239.255.73.1:5 by nosuch0"),
        (Target("nobody", 5), r"'nobody' is no IPv4 address"),
    ],
)
def test_a_line_that_cannot_be_sent_on_is_named_and_nothing_stays_open(target: Target, said: str) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    with pytest.raises(SendError, match=said):
        Publisher(store_of([b"m"]), (Target("127.0.0.1", 9), target), FAST)
    with pytest.raises(SendError, match="snapshot server"):
        Publisher(
            store_of([b"m"]),
            (Target("127.0.0.1", 9), None),
            FAST._replace(rerequest=[(ANY, PROMPT)], glimpse=("192.0.2.1:5", GlimpseOptions())),
        )
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 2
    assert threads() == set()


@pytest.mark.parametrize("wrong", [{"rate": 0}, {"speed": 0.0}, {"speed": -1.0}, {"impairment": Impairment((2, 0))}])
def test_options_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"nothing can|no probability"):
        Publisher(store_of([b"m"]), (None, None), PublisherOptions(**wrong))  # type: ignore[arg-type]
