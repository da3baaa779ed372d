"""What is missing is asked for within the limits, and in the end it is there or given up."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.control.recovery_world import MS, Faults, World, world
from venym.control.recovery_schedule import (
    BY_LINE,
    BY_NEW_SESSION,
    BY_NOBODY,
    BY_SNAPSHOT,
    LIVE,
    SNAPSHOT_WANTED,
    Request,
)
from venym.control.recovery_servers import Limits

LIMITS = Limits(wait_ns=0)
FAULTS = st.builds(
    Faults,
    dead=st.integers(0, 3).map(lambda k: k == 0),
    loss=st.sampled_from((0.0, 0.1, 0.5)),
    delay_ns=st.integers(0, 30 * MS),
    jitter_ns=st.sampled_from((0, MS, 120 * MS)),
    packet_messages=st.integers(1, 50),
    refuses_over=st.sampled_from((65_534, 7)),
    lacks=st.frozensets(st.integers(1, 400), max_size=3),
    repeats=st.sampled_from((0.0, 0.5)),
)
LIMITED = st.builds(
    Limits,
    outstanding_max=st.integers(1, 8),
    requests_per_second_max=st.sampled_from((50, 500, 5_000)),
    messages_max=st.sampled_from((1, 10, 1_000)),
    ahead_messages_max=st.sampled_from((1, 50, 65_536)),
    wait_ns=st.sampled_from((0, 3 * MS)),
    timeout_ns=st.just(20 * MS),
    attempts_max=st.integers(1, 4),
    give_up_ns=st.just(300 * MS),
    holes_max=st.sampled_from((1, 3, 65_536)),
)


def asked(made: World) -> list[Request]:
    return [request for _, request in made.sent]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(FAULTS, max_size=3),
    LIMITED,
    st.lists(st.tuples(st.integers(0, 10), st.integers(1, 60), st.integers(0, 40)), min_size=1, max_size=8),
    st.lists(st.tuples(st.integers(0, 200), st.integers(1, 300), st.integers(1, 30)), max_size=4),
    st.integers(0, 1000),
)
def test_every_hole_ends(faults, limits, holes, late, seed):
    made = world(faults, limits, seed)
    if limits.holes_max < len(holes):  # then what lies between may be asked for
        made.between = set(range(1, 500))
    made.late = [(made.now_ns + ms * MS, first, first + count) for ms, first, count in late]
    at = 1
    for gap, count, turns in holes:
        at += gap
        if set(range(at, at + count)) - made.there:
            made.tell(at, at + count)
        at += count
        for _ in range(turns):
            made.turn()
    made.run(30_000)
    schedule = made.schedule
    assert made.told <= made.there
    assert schedule.counters.requests == len(made.sent)
    assert schedule.counters.outages == len(schedule.recoveries)
    if not schedule.counters.joined:
        assert sum(recovery.messages for recovery in schedule.recoveries) >= len(made.told)
    assert (schedule.counters.given_up > 0) == bool(made.given_up) and made.given_up == sorted(made.given_up)


def test_a_hole_that_closes_in_parts_is_asked_for_once_a_timeout():
    """1-2, 6-8, 9-10, 3, 4-5: the hole is [3,6), then [4,6)."""
    made = world([Faults(dead=True)], LIMITS)
    made.schedule.progress(3, made.now_ns)
    made.tell(3, 6)
    for turn in range(150):
        if turn == 50:
            made.there.add(3)
            made.schedule.progress(4, made.now_ns)
        made.turn()
    assert asked(made) == [Request(0, 3, 3), Request(0, 4, 2)]
    made.there |= {4, 5}
    made.schedule.progress(11, made.now_ns)
    made.run(0 + 1)
    assert [(r.first, r.messages, r.by) for r in made.schedule.recoveries] == [(3, 3, BY_LINE)]


def test_the_other_line_gets_its_time():
    made = world([Faults()], Limits(wait_ns=5 * MS))
    made.tell(5, 7)
    for _ in range(4):
        made.turn()
    assert asked(made) == []
    made.turn()
    assert asked(made) == [Request(0, 5, 2)]


def test_adjacent_holes_are_asked_for_together_and_known_ones_are_no_news():
    made = world([Faults()], LIMITS)
    for first, end in ((5, 7), (10, 12), (7, 10), (5, 12), (6, 13)):
        made.tell(first, end)
    made.turn()
    assert asked(made) == [Request(0, 5, 8)]
    made.tell(4, 14)
    made.turn()
    assert asked(made) == [Request(0, 5, 8), Request(0, 4, 1), Request(0, 13, 1)]


def test_a_long_hole_is_asked_for_in_as_many_requests_at_once_as_are_allowed():
    made = world([Faults(packet_messages=40)], Limits(wait_ns=0, messages_max=40, outstanding_max=8))
    made.tell(1, 4_001)
    made.run(1_000)
    assert len(made.sent) == 100 and made.outstanding_seen == 8
    assert made.schedule.counters.in_part == 0


def test_how_much_fits_into_an_answer_is_learnt():
    made = world([Faults(packet_messages=40)], LIMITS)
    made.tell(1, 40_001)
    made.run(1_000)
    assert made.schedule.counters.requests < 1.5 * 1_000
    assert {r.messages for r in asked(made)[-200:]} <= set(range(1, 46))


def test_a_server_that_ignores_long_requests_is_asked_for_less():
    made = world([Faults(refuses_over=100)], Limits(wait_ns=0, timeout_ns=10 * MS))
    made.tell(1, 2_001)
    made.run(1_000)
    assert not made.given_up


def test_after_a_timeout_it_is_another_servers_turn_and_a_dead_one_is_passed_over():
    made = world([Faults(dead=True), Faults()], Limits(wait_ns=0, outstanding_max=1, timeout_ns=10 * MS))
    for k in range(100):
        made.tell(10 * k + 1, 10 * k + 3)
    made.run(2_000)
    servers = [request.server for request in asked(made)]
    assert servers[0] == 0 and servers.count(0) <= 6 and servers.count(1) == 100
    assert not made.given_up


def test_what_one_server_lacks_another_is_asked_for():
    made = world([Faults(lacks=frozenset({7})), Faults()], Limits(wait_ns=0, timeout_ns=10 * MS))
    made.tell(1, 20)
    made.run(1_000)
    assert not made.given_up and made.schedule.recoveries[-1].by == "server 1"


def test_a_message_nobody_has_is_given_up_after_so_many_attempts_and_no_other_is():
    made = world([Faults(lacks=frozenset({7})), Faults(lacks=frozenset({7}))], Limits(wait_ns=0, timeout_ns=10 * MS))
    made.tell(1, 4)
    made.tell(7, 8)
    for k in range(100):
        made.tell(10 * k + 9, 10 * k + 12)
        made.turn()
    made.run(1_000)
    assert made.given_up == [8]
    assert sum(1 for request in asked(made) if request.first == 7) == 5
    assert [r.first for r in made.schedule.recoveries if r.by == BY_NOBODY] == [7]
    assert "a hole given up, going on with message 8; 1 messages lost so far" in made.schedule.alarms[-1]


def test_what_is_asked_for_in_vain_waits_for_what_is_lower_before_it_is_given_up():
    schedule = world([Faults()], Limits(wait_ns=0, timeout_ns=10, attempts_max=1)).schedule
    schedule.missing(7, 8, 100)
    assert schedule.requests(100) == [Request(0, 7, 1)]
    schedule.missing(3, 5, 105)
    schedule.missing(20, 21, 105)
    assert schedule.requests(105) == [Request(0, 3, 2), Request(0, 20, 1)]
    schedule.answered(0, 20, 21, 108)
    assert schedule.requests(110) == [] and not schedule.given_up
    schedule.answered(0, 3, 5, 112)
    assert schedule.requests(112) == [] and list(schedule.given_up) == [8]


def test_an_outage_of_all_servers_is_sat_out():
    made = world([Faults(dead=True)] * 2, Limits(wait_ns=0, timeout_ns=10 * MS))
    made.tell(5, 9)
    for _ in range(4_000):
        made.turn()
    made.faults[1] = Faults()
    made.run(50)
    assert not made.given_up and made.there >= {5, 6, 7, 8}


def test_what_found_no_room_is_asked_for_when_the_holes_below_are_filled():
    made = world([Faults(delay_ns=5 * MS)], LIMITS)
    made.tell(5, 9)
    made.told |= set(range(20, 500))
    made.schedule.missing(20, 500, made.now_ns, overflowed=True)
    made.tell(600, 601)
    made.turn()
    assert asked(made) == [Request(0, 5, 4)]
    made.run(100)
    assert [request.first for request in asked(made)][:3] == [5, 20, 600] and made.there >= made.told


def test_with_all_servers_dead_holes_are_given_up_in_order_when_it_took_too_long():
    made = world([Faults(dead=True)] * 2, Limits(wait_ns=0, give_up_ns=200 * MS))
    for k in range(30):
        made.tell(10 * k + 1, 10 * k + 3)
    assert 200 <= made.run(1_000) <= 302
    assert made.given_up == [10 * k + 3 for k in range(30)]
    assert [text for text in made.schedule.alarms if "given up" in text] == [
        "channel one: 30 holes given up, going on with message 293; 60 messages lost so far"
    ]


def test_without_servers_the_other_line_has_as_long():
    made = world([], Limits(give_up_ns=200 * MS))
    made.tell(5, 9)
    assert 200 <= made.run(1_000) <= 202
    assert made.given_up == [9]


def test_a_silent_server_is_told_once_and_so_is_its_return():
    made = world([Faults(dead=True)], Limits(wait_ns=0, timeout_ns=10 * MS, attempts_max=3, give_up_ns=10_000 * MS))
    made.tell(1, 2)
    made.tell(3, 4)
    for _ in range(100):
        made.turn()
    made.faults[0].dead = False
    made.tell(5, 6)
    made.run(1_000)
    assert [text for text in made.schedule.alarms if "server 0" in text] == [
        "channel one: re-request server server 0 does not answer",
        "channel one: re-request server server 0 answers again",
    ]


def test_a_snapshot_is_taken_instead_of_giving_up():
    made = world(
        [Faults(dead=True)], Limits(wait_ns=0, timeout_ns=10 * MS, attempts_max=2, give_up_ns=200 * MS), snapshots=True
    )
    made.tell(5, 9)
    made.tell(20, 22)
    made.run(1_000)
    assert made.schedule.state == SNAPSHOT_WANTED and not made.given_up
    assert "channel one: messages from 5 on are not to be had: taking a snapshot" in made.schedule.alarms
    sent = len(made.sent)
    made.turn()
    assert len(made.sent) == sent
    made.schedule.snapshot_done(21, made.now_ns)
    made.faults[0].dead = False
    made.there |= set(range(1, 21))
    made.expected = 21
    made.run(1_000)
    assert [(r.first, r.by) for r in made.schedule.recoveries] == [(5, BY_SNAPSHOT), (20, "server 0")]


def test_after_a_snapshot_what_is_on_its_way_is_asked_for_anew_but_not_within_its_timeout():
    schedule = world([Faults()], Limits(wait_ns=0, timeout_ns=10, attempts_max=1), snapshots=True).schedule
    schedule.missing(5, 9, 100)
    assert schedule.requests(100) == [Request(0, 5, 4)]
    schedule.missing(20, 21, 105)
    assert schedule.requests(105) == [Request(0, 20, 1)]
    schedule.answered(0, 20, 21, 106)
    assert schedule.requests(110) == [] and schedule.state == SNAPSHOT_WANTED
    schedule.snapshot_done(6, 111)
    assert schedule.requests(111) == [Request(0, 6, 3)]
    schedule.snapshot_done(6, 112)
    assert schedule.requests(120) == [] and schedule.requests(121) == [Request(0, 6, 3)]


def test_without_a_snapshot_to_be_had_all_is_given_up():
    made = world([], Limits(give_up_ns=0, wait_ns=0), snapshots=True)
    made.tell(5, 9)
    made.tell(20, 22)
    made.run(10)
    made.schedule.snapshot_failed(made.now_ns)
    assert list(made.schedule.given_up) == [9, 22] and made.schedule.state == LIVE and not made.schedule.wanted
    made.schedule.session_began((7, 7), 1, made.now_ns)
    assert not made.schedule.given_up  # of a session that is over


def test_a_snapshot_is_called_off_when_all_came_before_it_began():
    made = world([], Limits(give_up_ns=0, wait_ns=0), snapshots=True)
    made.tell(5, 9)
    made.run(10)
    assert made.schedule.still_wants_snapshot()
    made.schedule.progress(9, made.now_ns)
    assert not made.schedule.still_wants_snapshot() and made.schedule.state == LIVE


def test_a_channel_may_be_joined_by_a_snapshot():
    made = world([Faults()], LIMITS, snapshots=True, at_start=True)
    assert made.schedule.still_wants_snapshot()
    made.tell(5, 9)
    made.turn()
    assert asked(made) == []
    made.schedule.snapshot_done(7, made.now_ns)
    made.there |= set(range(1, 7))
    made.turn()
    assert asked(made) == [Request(0, 7, 2)]
    made.schedule.session_began((3, 4), 1, made.now_ns)
    assert made.schedule.state == LIVE


def test_another_session_ends_what_was_wanted_of_the_last():
    made = world([Faults(dead=True)], LIMITS)
    made.tell(5, 9)
    made.turn()
    made.tell(15, 19)
    made.schedule.session_began((1, 3), 1, made.now_ns)
    assert not made.schedule.wanted
    assert {(r.first, r.by) for r in made.schedule.recoveries} == {(5, BY_NEW_SESSION), (15, BY_NEW_SESSION)}
    made.schedule.session_began((1, 3), 1, made.now_ns)
    made.schedule.missing(1, 3, made.now_ns)
    assert made.schedule.requests(made.now_ns) == [Request(0, 1, 2)]


def test_more_holes_than_are_kept_apart_are_asked_for_together():
    made = world([Faults()], Limits(wait_ns=0, holes_max=10, outstanding_max=1))
    made.between = set(range(1, 1_000))
    for k in range(60):
        made.tell(10 * k + 1, 10 * k + 3)
    assert made.schedule.wanted == 11 and made.schedule.counters.joined == 50
    made.run(1_000)
    assert made.there >= {10 * k + 1 for k in range(60)} and not made.given_up


@pytest.mark.parametrize("messages_max", [65_535, 10**9])
def test_no_request_counts_more_than_its_field_holds(messages_max: int):
    made = world([Faults()], Limits(wait_ns=0, messages_max=messages_max, ahead_messages_max=10**6))
    made.tell(1, 200_001)
    made.turn()
    assert max(request.messages for request in asked(made)) == 65_534
