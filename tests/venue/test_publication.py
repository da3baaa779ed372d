"""What the lines carry, packet by packet, on real sockets."""

import errno
import socket
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.naive import publication as naive
from tests.venue.publisher_toys import SESSION, Given, Listener, built, listening, mold, over, packets_of, store_of
from venym.hot.duty_cycle import make_control, stop
from venym.venue import publication as loop
from venym.venue.impairment import Impairment, Outage, make_fates
from venym.venue.message_store import Store

SECOND_NS = 10**9


class Line:
    """A listener, and a socket connected to it."""

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.connect(("127.0.0.1", listener.port))

    def came(self, count: int) -> list[bytes]:
        """At least `count` packets, and all that is there by then."""
        until = time.monotonic() + 5
        while len(self.listener.packets) < count and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(0.03)
        return list(self.listener.packets)


@pytest.fixture
def lines() -> Iterator[tuple[Line, Line]]:
    with listening("127.0.0.1", "127.0.0.1") as listeners:
        made = Line(listeners[0]), Line(listeners[1])
        yield made
        for line in made:
            line.socket.close()


def made(
    store: Store,
    lines: tuple[Line, ...],
    impairment: Impairment = Impairment(),  # noqa: B008
    pace: int = loop.AS_FAST,
    rate: int = 0,
    speed: float = 1.0,
) -> loop.Publication:
    sockets = [line.socket.fileno() for line in lines] + [-1] * (2 - len(lines))
    context = loop.make_publication(store, make_fates(impairment), pace, rate, speed, sockets)
    loop.begin(context, 0)
    return context


def publish(context: loop.Publication, seconds: float = 20.0) -> None:
    """All of it."""
    control, until = make_control("pause"), time.monotonic() + seconds
    while context.words[loop.NEXT] < len(context.store.rows):
        assert time.monotonic() < until
        wait_ns = loop.publish(context, control)
        if context.words[loop.NEXT] < len(context.store.rows):
            time.sleep(wait_ns / 1e9)


def counted(context: loop.Publication, line: int, word: int) -> int:
    return int(context.lines[line * loop.LINE_WORDS + word])


def numbered(count: int) -> Store:
    """A message a packet, its number in it."""
    return store_of([b"N%09d" % number for number in range(1, count + 1)])


def numbers(packets: list[bytes]) -> list[int]:
    """From 0, of packets with messages."""
    return [int(packet[23:32]) - 1 for packet in packets if len(packet) > 20]


def test_both_lines_carry_every_packet_as_it_lies_in_the_store(lines: tuple[Line, Line]) -> None:
    store = numbered(2_000)
    context = made(store, lines)
    publish(context)
    for line in lines:
        assert line.came(2_001) == packets_of(store)
    assert [counted(context, line, loop.FATES_AT) for line in (0, 1)] == [2_000, 2_000]
    assert int(context.words[loop.MESSAGES]) == 2_000


def test_a_line_that_there_is_not_is_not_sent_on(lines: tuple[Line, Line]) -> None:
    publish(made(numbered(5), lines[:1]))
    assert len(lines[0].came(6)) == 6
    assert lines[1].came(0) == []


@pytest.mark.parametrize(
    "given",
    [
        {"loss": 0.2},
        {"loss_both": 0.2},
        {"duplicate": 0.3},
        {"reorder": 0.3},
        {"reorder": 1.0},
        {"loss": 0.1, "loss_both": 0.05, "duplicate": 0.2, "reorder": 0.2},
    ],
    ids=str,
)
@pytest.mark.parametrize("seed", [1, 99])
def test_lines_carry_what_the_twin_says(lines: tuple[Line, Line], given: dict[str, Any], seed: int) -> None:
    count = 1_500
    impairment = Impairment(
        seed=seed,
        loss_both=given.get("loss_both", 0.0),
        loss=(given.get("loss", 0.0),) * 2,
        duplicate=(given.get("duplicate", 0.0),) * 2,
        reorder=(given.get("reorder", 0.0),) * 2,
    )
    context = made(numbered(count), lines, impairment)
    publish(context)
    for number, line in enumerate(lines):
        wanted = naive.sent(count, number, seed, **given)
        came = line.came(len(wanted) + 1)
        assert numbers(came) == wanted
        assert came[-1] == over(count + 1)
        assert counted(context, number, loop.TWICE) == len(wanted) - len(set(wanted))
        assert counted(context, number, loop.FATES_AT) == len(set(wanted))
        lost = sum(counted(context, number, loop.FATES_AT + fate) for fate in (1, 2))
        assert lost == count - len(set(wanted))


def test_what_is_lost_does_not_depend_on_the_pace(lines: tuple[Line, Line]) -> None:
    impairment = Impairment(loss=(0.3, 0.3), duplicate=(0.1, 0.1), reorder=(0.2, 0.2), seed=8)
    publish(made(numbered(300), lines, impairment))
    fast = [line.came(100) for line in lines]
    for line in lines:
        line.listener.packets.clear()
    publish(made(numbered(300), lines, impairment, loop.BY_RATE, rate=3_000))
    assert [line.came(len(packets)) for line, packets in zip(lines, fast, strict=True)] == fast


def test_a_rate_is_messages_a_second_however_they_are_packed(lines: tuple[Line, Line]) -> None:
    store = store_of([b"x" * 12] * 600, a_packet=3)
    context = made(store, lines, pace=loop.BY_RATE, rate=1_000)
    began = time.monotonic()
    publish(context)
    assert 0.55 < time.monotonic() - began < 2.0
    assert len(lines[0].came(201)) == 201
    times = lines[0].listener.times_ns
    assert times[100] - times[0] > 0.2 * SECOND_NS


def test_recorded_time_is_kept_by_speed(lines: tuple[Line, Line]) -> None:
    times_ns = [SECOND_NS, 2 * SECOND_NS, 2 * SECOND_NS, 4 * SECOND_NS]
    packets = [Given(mold(number, [b"m"]), received_ns=at) for number, at in enumerate(times_ns, 1)]
    context = made(built(packets)[0], lines, pace=loop.BY_TIME, speed=10.0)
    publish(context)
    assert len(lines[0].came(5)) == 5
    times = [at - lines[0].listener.times_ns[0] for at in lines[0].listener.times_ns]
    assert times[1] >= 0.09 * SECOND_NS and times[2] - times[1] < 0.05 * SECOND_NS
    assert 0.29 * SECOND_NS <= times[3] < 1.5 * SECOND_NS


def test_who_was_late_goes_on_by_the_schedule(lines: tuple[Line, Line]) -> None:
    context = made(numbered(400), lines, pace=loop.BY_RATE, rate=1_000)
    time.sleep(0.3)
    began = time.monotonic()
    publish(context)
    assert time.monotonic() - began < 0.3
    assert int(context.words[loop.LATE_MAX]) >= 0.29 * SECOND_NS


def test_what_is_lost_altogether_is_published_a_lap_at_a_time(lines: tuple[Line, Line]) -> None:
    context = made(numbered(3_000), lines, Impairment(loss_both=1.0))
    publish(context)
    assert lines[0].came(1) == lines[1].came(1) == [over(3_001)]
    assert counted(context, 1, loop.FATES_AT + 2) == 3_000


def test_the_slowest_speed_is_a_wait_without_end(lines: tuple[Line, Line]) -> None:
    packets = [Given(mold(number, [b"m"]), received_ns=number * SECOND_NS) for number in (1, 100)]
    context = made(built(packets)[0], lines, pace=loop.BY_TIME, speed=1e-300)
    assert loop.publish(context, make_control("pause")) > 0
    assert loop.published(context.words) == 1


def test_only_what_is_due_is_published(lines: tuple[Line, Line]) -> None:
    packets = [Given(mold(number, [b"m"]), received_ns=number * SECOND_NS) for number in (1, 100)]
    context = made(built(packets)[0], lines, pace=loop.BY_TIME)
    assert loop.published(context.words) == 0
    wait_ns = loop.publish(context, make_control("pause"))
    assert loop.published(context.words) == 1
    assert 0.9 * SECOND_NS < wait_ns <= SECOND_NS  # until the next heartbeat


def test_who_is_stopped_publishes_nothing(lines: tuple[Line, Line]) -> None:
    context, control = made(numbered(5), lines), make_control("pause")
    stop(control)
    assert loop.publish(context, control) == 0
    assert loop.published(context.words) == 0


def test_an_outage_is_of_the_schedule(lines: tuple[Line, Line]) -> None:
    outage = Impairment(outages=[Outage(1, SECOND_NS // 10, SECOND_NS // 10)])
    context = made(numbered(400), lines, outage, loop.BY_RATE, rate=1_000)
    publish(context)
    assert numbers(lines[0].came(401)) == list(range(400))
    assert numbers(lines[1].came(301)) == [*range(100), *range(200, 400)]
    assert counted(context, 1, loop.FATES_AT + 3) == 100


def test_silence_is_broken_after_a_second_by_the_next_number(lines: tuple[Line, Line]) -> None:
    packets = [Given(mold(7, [b"a", b"b"]), received_ns=1), Given(mold(9, [b"c"]), received_ns=100 * SECOND_NS)]
    context = made(built(packets)[0], lines, pace=loop.BY_TIME)
    loop.begin(context, SECOND_NS // 2)
    loop.publish(context, make_control("pause"))
    assert lines[0].came(1) == [mold(7, [])]
    time.sleep(0.5)
    loop.publish(context, make_control("pause"))
    spoke = counted(context, 0, loop.SPOKE)
    loop.beat(context, spoke + SECOND_NS - 1)
    loop.beat(context, spoke + SECOND_NS)
    assert lines[0].came(3) == [mold(7, []), packets[0].octets, mold(9, [])]
    assert counted(context, 0, loop.HEARTBEATS) == 2


def test_a_displaced_packet_waits_no_longer_than_for_the_next_silence(lines: tuple[Line, Line]) -> None:
    packets = [Given(mold(1, [b"a"]), received_ns=1), Given(mold(2, [b"c"]), received_ns=100 * SECOND_NS)]
    context = made(built(packets)[0], lines, Impairment(reorder=(1, 1)), loop.BY_TIME)
    loop.publish(context, make_control("pause"))
    before = len(lines[0].came(0))
    loop.beat(context, counted(context, 0, loop.SPOKE) + SECOND_NS)
    assert lines[0].came(before + 2)[before:] == [packets[0].octets, mold(2, [])]


def test_the_end_of_the_session_is_repeated_instead_of_heartbeats(lines: tuple[Line, Line]) -> None:
    context = made(numbered(1), lines)
    publish(context)
    for turn in range(1, 4):
        loop.beat(context, counted(context, 0, loop.SPOKE) + turn * SECOND_NS)
    assert lines[0].came(5)[1:] == [over(2)] * 4


def test_a_line_in_an_outage_is_silent_altogether(lines: tuple[Line, Line]) -> None:
    context = made(numbered(3), lines, Impairment(outages=[Outage(0, 0, 10**15)]), loop.BY_RATE, rate=1_000)
    publish(context)
    loop.beat(context, counted(context, 1, loop.SPOKE) + SECOND_NS)
    assert lines[0].came(0) == []
    assert len(lines[1].came(5)) == 5


def test_sessions_end_before_the_next_begins(lines: tuple[Line, Line]) -> None:
    store = built([Given(mold(1, [b"a"])), Given(mold(1, [b"b"], "SESSION002"))])[0]
    publish(made(store, lines, Impairment(reorder=(1, 1))))
    wanted = [mold(1, [b"a"]), over(2), mold(1, [b"b"], "SESSION002"), over(2, "SESSION002")]
    assert lines[0].came(4) == wanted
    assert SESSION.encode() == wanted[0][:10]


def test_nobody_listening_is_counted_and_nothing_is_left_out() -> None:
    with listening("127.0.0.1", "127.0.0.1") as (listener, other):
        line = Line(listener)
        other.close()
        line.socket.connect(("127.0.0.1", other.port))
        context = made(numbered(200), (line,))
        publish(context)
        assert counted(context, 0, loop.REFUSED) > 0
        assert counted(context, 0, loop.ERRORS) == 0
        assert counted(context, 0, loop.FATES_AT) == 200
        line.socket.close()


def test_a_line_that_the_system_refuses_is_counted_and_the_other_goes_on(lines: tuple[Line, Line]) -> None:
    lines[0].socket.shutdown(socket.SHUT_WR)
    context = made(numbered(5), lines)
    publish(context)
    assert len(lines[1].came(6)) == 6
    assert counted(context, 0, loop.ERRORS) == 6
    assert counted(context, 0, loop.ERROR) == errno.EPIPE
    assert counted(context, 1, loop.ERRORS) == 0
