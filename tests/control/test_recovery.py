"""The recovery thread, its real links and sockets on the loopback: what is missing comes back, or is given up."""

import socket
import struct
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.control.recovery_peers import (
    HIGH,
    LOW,
    SESSION,
    Decoder,
    GlimpseServer,
    RerequestServer,
    message,
    packet,
    spin,
    until,
)
from tests.naive import soupbintcp as naive
from venym.control.errors import ConfigurationError
from venym.control.recovery import Recovery
from venym.control.recovery_channel import Channel, Rules, resolve
from venym.control.recovery_servers import Limits
from venym.control.snapshot import Snapshot
from venym.hot.jit import Compiles
from venym.records import ENDED, HOLE, OVERFLOW, PROGRESS, SNAPSHOT_BEGIN, SNAPSHOT_BLOCKS, SNAPSHOT_END
from venym.records import SESSION as BEGAN
from venym.wire import soupbintcp as soup

QUICK = Rules(
    Limits(wait_ns=0, timeout_ns=30_000_000, give_up_ns=400_000_000),
    snapshot_attempts_max=2,
    snapshot_retry_ns=20_000_000,
)
PATIENT = QUICK._replace(limits=Limits(wait_ns=0, timeout_ns=2_000_000_000))
AT_START = QUICK._replace(start="snapshot")
ADDS = [b"A" + bytes([k % 251]) * 35 for k in range(5_000)]


class Running:
    def __init__(self, decoder: Decoder, channels: list[Channel], rules: Rules) -> None:
        self.errors: list[Exception] = []
        self.alarms: list[str] = []
        self.decoder = decoder
        self.recovery = Recovery(
            channels, decoder.missing, decoder.recovered, self.errors.append, self.alarms.append, rules
        )
        self.channel = self.recovery.channels[0]


@contextmanager
def running(
    *servers: RerequestServer | str, glimpse: str = "", rules: Rules = QUICK, room: int = 256
) -> Iterator[Running]:
    """The thread, with one channel whose session began at 1."""
    Recovery.warm()  # compiling takes longer than giving up
    addresses = tuple(server if isinstance(server, str) else server.address for server in servers)
    made = Running(Decoder(recovered_capacity=room), [Channel("one", addresses, glimpse, "user", "secret")], rules)
    made.decoder.tell(BEGAN, first=1)
    made.recovery.start()
    try:
        yield made
    finally:
        made.recovery.stop()
    assert made.errors == []


def closed_port(kind: int) -> str:
    with socket.socket(socket.AF_INET, kind) as held:
        held.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{held.getsockname()[1]}"


def test_a_hole_is_filled() -> None:
    with RerequestServer() as server, running(server) as made:
        made.decoder.tell(HOLE, 5, 9, expected=5)
        assert until(lambda: len(made.decoder.messages()) == 4)
        assert made.decoder.messages() == {number: message(number) for number in range(5, 9)}
        assert server.requests == [(5, 4)]
        (record,) = until(made.recovery.recoveries)
        assert record[:3] == ("one", 5, 4) and record.by == server.address and 0 < record.seconds < 5


def test_a_day_is_filled_from_its_beginning() -> None:
    with RerequestServer() as server, running(server, rules=PATIENT) as made:
        made.decoder.tell(HOLE, 1, 20_001, expected=1)
        until(lambda: len(made.decoder.messages()) == 20_000)
        assert made.decoder.messages() == {number: message(number) for number in range(1, 20_001)}
        assert made.channel.schedule.counters.late == 0


def test_many_holes_at_once() -> None:
    with RerequestServer() as server, running(server, rules=PATIENT) as made:
        for k in range(1_000):
            made.decoder.tell(HOLE, 10 * k + 1, 10 * k + 3, expected=1)
        until(lambda: len(made.decoder.messages()) == 2_000)
        assert len(made.recovery.recoveries()) == 1_000 and len(server.requests) == 1_000


def test_a_dead_server_is_passed_over() -> None:
    with RerequestServer() as server, running(closed_port(socket.SOCK_DGRAM), server) as made:
        for k in range(50):
            made.decoder.tell(OVERFLOW, 10 * k + 1, 10 * k + 3, expected=1)
        until(lambda: len(made.decoder.messages()) == 100)
        assert made.channel.counters.refused > 0 and made.alarms == []


def test_a_decoder_that_does_not_read_gets_everything_later() -> None:
    """More than the link holds, while nobody reads: nothing is dropped, and nothing waits but in the kernel."""
    with RerequestServer(octets_max=100) as server, running(server, room=4) as made:
        made.decoder.tell(HOLE, 1, 500, expected=1)
        until(lambda: len(server.requests) >= 8)
        time.sleep(0.1)
        until(lambda: len(made.decoder.messages()) == 499)
        assert not made.alarms


def test_what_the_other_line_brought_is_not_asked_for() -> None:
    slow = QUICK._replace(limits=QUICK.limits._replace(wait_ns=100_000_000))
    with RerequestServer() as server, running(server, rules=slow) as made:
        made.decoder.tell(HOLE, 5, 9, expected=5)
        made.decoder.tell(HOLE, 15, 19, expected=5)
        made.decoder.tell(PROGRESS, expected=15)
        until(lambda: len(made.decoder.messages()) == 4)
        made.decoder.tell(ENDED, expected=19)
        until(lambda: made.channel.ended)
        assert server.requests == [(15, 4)]


def test_what_found_no_room_comes_after_the_holes_below() -> None:
    with RerequestServer() as server, running(server) as made:
        vain: Iterator[list[bytes]] = iter([[]])
        server.answer = lambda first, count: next(vain, server.whole(first, count))
        made.decoder.tell(HOLE, 5, 9, expected=5)
        made.decoder.tell(OVERFLOW, 20, 22, expected=5)
        until(lambda: len(made.decoder.messages()) == 6)
        assert [first for first, _ in server.requests] == [5, 5, 20]


def test_answers_that_are_none() -> None:
    """Of another session, without a header, empty, of an ended session; cut; of more than a record holds."""
    large = b"x" * 1_200
    with RerequestServer() as server, running(server) as made:
        answers = iter([
            [packet(5, [b"alien"] * 4, b"SESSION002"), b"short", packet(5, []), SESSION + bytes(8) + b"\xff\xff"],
            [packet(5, [b"a", b"b", b"c"])[:-4]],
            [packet(6, [large, large, large])],
        ])  # fmt: skip
        server.answer = lambda first, count: next(answers, None) or [packet(first, [large] * count)]
        made.decoder.tell(HOLE, 5, 9, expected=5)
        until(lambda: len(made.decoder.messages()) == 4)
        assert made.decoder.messages() == {5: b"a", 6: large, 7: large, 8: large}
        assert server.requests == [(5, 4), (5, 4), (6, 1), (7, 1), (8, 1)]  # as learnt
        counters = made.channel.counters
        assert (counters.foreign, counters.short, counters.empty) == (1, 1, 2)


def test_what_is_nowhere_is_given_up() -> None:
    with RerequestServer() as server, running(server) as made:
        server.answer = lambda first, count: []
        made.decoder.tell(HOLE, 5, 9, expected=5)
        until(made.decoder.take)
        assert made.decoder.take() == [("GIVEN_UP", 9, b"")]
        assert [text for text in made.alarms if "given up" in text] == [
            "channel one: a hole given up, going on with message 9; 4 messages lost so far"
        ]


def test_a_snapshot_replaces_what_is_nowhere() -> None:
    glimpse = GlimpseServer(spin(ADDS, 200))
    with RerequestServer() as server, glimpse, running(server, glimpse=glimpse.address) as made:
        server.answer = lambda first, count: (
            server.whole(first, count) if made.channel.schedule.counters.snapshots else []
        )
        made.decoder.tell(HOLE, 5, 9, expected=5)
        made.decoder.tell(HOLE, 198, 203, expected=5)
        until(lambda: len(made.decoder.messages()) == 3)
        assert sorted(made.decoder.messages()) == [200, 201, 202]
        kinds = [kind for kind, _, _ in made.decoder.take()]
        assert kinds[0] == "BEGIN" and set(kinds[1 : kinds.index("END")]) == {"BLOCKS"}
        assert set(kinds[kinds.index("END") + 1 :]) == {"REREQUESTED"}
        assert made.decoder.blocks() == naive.blocks(ADDS)
        assert ("END", 200, b"") in made.decoder.got
        assert [tuple(login) for login in glimpse.logins] == [("user", "secret", "", 1)]
        until(lambda: glimpse.logouts == 1)
        until(lambda: len(made.recovery.recoveries()) == 3)
        assert [(r.first, r.messages, r.by) for r in made.recovery.recoveries()] == [
            (1, 5_000, "snapshot"),
            (5, 4, "snapshot"),
            (198, 5, server.address),
        ]


def test_a_channel_is_joined_by_a_snapshot_through_a_narrow_link() -> None:
    with GlimpseServer(spin(ADDS, 77)) as glimpse, running(glimpse=glimpse.address, rules=AT_START, room=2) as made:
        until(lambda: ("END", 77, b"") in made.decoder.take())
        assert made.decoder.blocks() == naive.blocks(ADDS)
        assert until(lambda: made.channel.counters.snapshot_octets) == 5_000 * (2 + 36)


def test_a_server_need_not_wait_for_the_logout() -> None:
    """It resets the connection once all is read, before the logout is sent."""
    pushed: list[int] = []

    def push(kind: int, *rest: object) -> bool:
        pushed.append(kind)
        return True

    with socket.create_server(("127.0.0.1", 0)) as server:
        address = resolve(f"127.0.0.1:{server.getsockname()[1]}", socket.SOCK_STREAM)
        taken = Snapshot(address, "user", "secret", push, 0)
        connection, _ = server.accept()
        until(lambda: taken.step(0) or True)
        until(lambda: taken.step(0) or connection.recv(100, socket.MSG_DONTWAIT | socket.MSG_PEEK))
        connection.recv(100)
        connection.sendall(soup.pack_accepted(soup.Accepted("S1", 1)) + spin(ADDS[:3], 77))
        until(lambda: taken.step(0))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.close()
        until(lambda: taken.step(0))
    assert taken.sequence == 77 and pushed == [SNAPSHOT_BEGIN, SNAPSHOT_BLOCKS, SNAPSHOT_END]


def test_a_snapshot_that_breaks_off_is_begun_anew() -> None:
    glimpse = GlimpseServer(spin(ADDS, 77), cut=100_000)
    with glimpse, running(glimpse=glimpse.address, rules=AT_START) as made:
        until(lambda: any(made.alarms) or made.decoder.take() is None)
        glimpse.cut = None
        until(lambda: ("END", 77, b"") in made.decoder.take())
        assert made.decoder.blocks() == naive.blocks(ADDS)
        assert made.alarms == [
            f"channel one: snapshot server {glimpse.address}: closed by the server after 2564 messages (attempt 1 of 2)"
        ]


@pytest.mark.parametrize("fault", ["rejected", "refused", "broken"])
def test_a_snapshot_that_cannot_be_had(fault: str) -> None:
    glimpse = GlimpseServer(b"\0\0", reject=fault == "rejected")
    address = closed_port(socket.SOCK_STREAM) if fault == "refused" else glimpse.address
    with glimpse, running(glimpse=address, rules=AT_START) as made:
        until(lambda: ("GIVEN_UP", 1, b"") in made.decoder.take())
        text = {
            "rejected": "login rejected: not authorised",
            "refused": "Connection refused",
            "broken": "a packet without a type",
        }[fault]
        assert all(text in alarm and "secret" not in alarm for alarm in made.alarms[:2])
        assert made.channel.counters.snapshots_failed == 2 and text in made.channel.failure


def test_another_session_ends_a_snapshot() -> None:
    with GlimpseServer(spin(ADDS, 77)) as glimpse, running(glimpse=glimpse.address, rules=AT_START, room=2) as made:
        until(lambda: made.channel.state == "SPIN")
        made.decoder.tell(BEGAN, first=1, low=LOW + 1)
        until(lambda: made.channel.state == "LIVE" and not glimpse.connections)
        made.decoder.take()
        time.sleep(0.02)
        assert not any(kind == "END" for kind, _, _ in made.decoder.take())


def test_an_error_that_is_not_of_the_wire_ends_the_thread_and_is_told() -> None:
    decoder = Decoder()
    errors: list[Exception] = []
    recovery = Recovery([Channel("one")], decoder.missing, decoder.recovered, errors.append, print)
    recovery.start()
    decoder.tell(HOLE, 1, 2, channel=7)
    until(lambda: errors)
    recovery.stop()
    assert "MISSING of channel 7, of 1" in str(errors[0])


def test_addresses_that_are_none() -> None:
    for text in ("nowhere", ":1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:70000", "127.0.0.1:0"):
        with pytest.raises(ConfigurationError, match="is no host:port that can be reached"):
            resolve(text, socket.SOCK_DGRAM)
    decoder = Decoder()
    for channel in (Channel("one", ("127.0.0.1:1", "x:y")), Channel("one", (), "x:y")):
        with pytest.raises(ConfigurationError):
            Recovery([channel], decoder.missing, decoder.recovered, print, print)  # type: ignore[arg-type]
    assert resolve("[::1]:7", socket.SOCK_DGRAM).name[:2] == ("::1", 7)


def test_nothing_is_compiled_after_warm_and_nothing_is_left_open() -> None:
    Recovery.warm()
    compiles = Compiles()
    threads = threading.active_count()
    glimpse = GlimpseServer(spin(ADDS, 7))
    with RerequestServer() as server, glimpse, running(server, glimpse=glimpse.address, rules=AT_START) as made:
        until(lambda: made.decoder.take() and made.decoder.got[-1][0] == "END")
        made.decoder.tell(HOLE, 8, 9, expected=8)
        until(lambda: len(made.decoder.messages()) == 1)
    compiles.close()
    assert [name for name in compiles.names if "recovery" in name or "soup" in name] == []
    assert threading.active_count() == threads


def test_how_it_stands_may_be_asked_at_any_time() -> None:
    with RerequestServer() as server, running(server, rules=PATIENT) as made:
        server.answer = lambda first, count: []
        made.decoder.tell(HOLE, 5, 9, expected=5)
        (status,) = until(lambda: [held for held in made.recovery.status() if held.counters.requests])
        assert status[:5] == ("one", "LIVE", (HIGH, LOW), 5, 1)
        assert (status.wire.foreign, status.failure, status.ended) == (0, "", False)


def test_a_thread_that_never_started_is_stopped() -> None:
    decoder = Decoder()
    Recovery([Channel("one", ("127.0.0.1:9",))], decoder.missing, decoder.recovered, print, print).stop()  # type: ignore[arg-type]
