"""A FIX session as its initiator: what is said to what the venue says, and what becomes of the numbers."""

import pytest

from tests.control.session_peers import ORDER, REPORT, START_NS, Bench
from tests.naive import fix as naive
from venym.control.session import Impossible
from venym.control.session_actions import Actions
from venym.control.session_messages import SECOND_NS, Outgoing
from venym.control.session_table import EVENTS, TABLE, State

VERSIONS = ["FIX.4.2", "FIX.4.4"]


def on(**change) -> Bench:
    return Bench(**change).log_on()


def numbers(bench: Bench) -> tuple[int, int]:
    return bench.line.next_in, bench.line.next_out


# The table


def test_every_action_of_the_table_is_there_and_every_action_is_in_the_table():
    actions = {step.action for step in TABLE.values()} - {""}
    assert actions == {name for name, what in vars(Actions).items() if callable(what) and not name.startswith("_")}


def test_events_are_told_only_when_they_can_happen():
    with pytest.raises(Impossible, match="connected, when both said Logon"):
        on().session.connected(START_NS)


def test_every_state_can_be_left_and_lost_from_anywhere_is_off():
    assert all(TABLE["lost", state].state is State.OFF for state in State)
    assert {event for event, _ in TABLE} == set(EVENTS)


# Logon


@pytest.mark.parametrize("version", VERSIONS)
def test_a_logon_is_asked_for_and_given(version):
    bench = Bench(version=version)
    assert bench.connect() == ["35=A 34=1 98=0 108=30"]
    assert bench.session.state is State.ASKED
    assert bench.hear("A", 1, {98: "0", 108: "30"}) == []
    assert bench.session.state is State.ON
    assert numbers(bench) == (2, 2)


def test_no_order_goes_out_before_the_logon_nor_after_the_logout():
    bench = Bench()
    assert bench.order() is None
    bench.connect()
    assert bench.order() is None
    bench.hear("A", 1, {98: "0", 108: "30"})
    assert bench.order() == 2
    bench.session.finish(bench.now_ns)
    assert bench.order() is None


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("0", {}),
        ("A", {"t49": "OTHER"}),
        ("A", {"t56": "OTHER"}),
        ("A", {"t49": None}),
        ("A", {"t52": "20260105-14:32:01"}),
        ("A", {"t52": "20260105-14:27:59"}),
        ("A", {"t52": "noon"}),
        ("A", {"version": "FIX.4.1"}),
        ("A", {"t34": "x"}),
        ("A", {"t34": None}),
    ],
)
def test_what_is_no_right_logon_ends_the_connection_and_changes_no_number(kind, change):
    bench = Bench()
    bench.connect()
    assert bench.hear(kind, 1, {98: "0", 108: "30"}, **change) == []
    assert bench.session.is_off and not bench.line.is_open
    assert numbers(bench) == (1, 2)


def test_a_venue_that_refuses_says_why():
    bench = Bench()
    bench.connect()
    assert bench.hear("5", 1, {58: "Not today"}) == []
    assert (bench.session.state, bench.session.reason) == (State.OFF, "logout: Not today")
    assert bench.line.next_in == 2


def test_no_answer_to_a_logon_ends_the_connection():
    bench = Bench()
    bench.connect()
    bench.wait(9)
    assert bench.session.state is State.ASKED
    bench.wait(2)
    assert (bench.session.state, bench.session.reason) == (State.OFF, "late")


def test_a_logon_with_too_high_a_number_is_taken_and_what_is_missing_asked_for():
    bench = Bench()
    bench.connect()
    assert bench.hear("A", 5, {98: "0", 108: "30"}) == ["35=2 34=2 7=1 16=0"]
    assert bench.hear("4", 1, {36: "5", 123: "Y"}, t43="Y") == []
    assert numbers(bench) == (6, 3)


def test_a_logon_with_too_low_a_number_ends_the_session():
    bench = on()
    bench.cut()
    bench.connect()
    assert bench.hear("A", 1, {98: "0", 108: "30"}) == ["35=5 34=3 58=MsgSeqNum too low, expecting 2 but received 1"]
    assert bench.session.is_off
    assert bench.line.next_in == 2


# Staying


def test_heartbeats_are_sent_when_nothing_else_is():
    bench = on()
    assert bench.wait(29) == []
    bench.order()
    assert [said[:9] for said in bench.hear("0", 2)] == ["35=D 34=2"]
    assert bench.wait(29.5) == []
    assert bench.wait(1) == ["35=0 34=3"]


def test_silence_is_asked_about_and_then_the_connection_ended():
    bench = on()
    assert bench.wait(30) == ["35=0 34=2"]
    assert bench.wait(6.5) == ["35=1 34=3 112=TEST"]
    assert bench.wait(35) == []
    assert bench.session.state is State.ON
    assert bench.wait(1) == []
    assert (bench.session.state, bench.session.reason) == (State.OFF, "silent")


def test_any_message_ends_the_silence():
    bench = on()
    bench.wait(37)
    bench.hear("0", 2, {112: "TEST"})
    assert "35=1 34=5 112=TEST" in bench.wait(37)


def test_an_interval_of_zero_means_no_heartbeats():
    bench = on(heartbeat_s=0)
    assert bench.wait(500) == []
    assert bench.session.state is State.ON


def test_who_connects_to_us_says_how_often():
    bench = Bench()
    bench.line.open()
    bench.session.accepted(bench.now_ns)
    assert bench.session.state is State.AWAITED
    assert bench.hear("A", 1, {98: "0", 108: "5"}) == ["35=A 34=1 98=0 108=5"]
    assert bench.wait(4.75) == []
    assert bench.wait(0.25) == ["35=0 34=2"]


def test_who_connects_to_us_and_says_nothing_is_hung_up_on():
    bench = Bench()
    bench.line.open()
    bench.session.accepted(bench.now_ns)
    assert bench.wait(11) == []
    assert (bench.session.state, bench.line.is_open) == (State.OFF, False)


def test_a_test_request_is_answered_with_its_text():
    assert on().hear("1", 2, {112: "are you there"}) == ["35=0 34=2 112=are you there"]


# Numbers


def test_a_message_too_early_is_held_until_its_turn():
    bench = on()
    assert bench.hear("8", 4, REPORT | {17: "e4"}) == ["35=2 34=2 7=2 16=0"]
    assert bench.hear("8", 3, REPORT | {17: "e3"}) == []
    assert bench.line.delivered == []
    bench.hear("8", 2, REPORT | {17: "e2"}, t43="Y")
    assert [message.get(17) for message in bench.line.delivered] == ["e2", "e3", "e4"]
    assert bench.line.next_in == 5
    assert bench.hear("8", 3, REPORT | {17: "e3"}, t43="Y") == []
    assert len(bench.line.delivered) == 3


def test_a_gap_is_asked_for_once_and_again_when_nothing_comes_and_in_the_end_given_up():
    bench = on()
    assert bench.hear("0", 9) == ["35=2 34=2 7=2 16=0"]
    assert bench.hear("0", 10) == []
    for out in (3, 4):
        assert bench.wait(9.5) == []
        assert bench.wait(1) == [f"35=2 34={out} 7=2 16=0"]
    bench.wait(11)
    assert bench.session.state is State.ENDING
    assert bench.session.reason == "hopeless"


def test_a_second_gap_behind_the_first_is_asked_for_too():
    bench = on()
    bench.hear("0", 4)
    assert bench.hear("4", 2, {36: "4", 123: "Y"}, t43="Y") == []
    assert bench.line.next_in == 5
    assert bench.hear("0", 8) == ["35=2 34=3 7=5 16=0"]


def test_a_resend_that_stops_in_the_middle_is_asked_for_from_there():
    bench = on()
    bench.hear("0", 9)
    bench.wait(8)
    bench.hear("0", 2, t43="Y")
    assert bench.wait(9) == []
    assert "35=2 34=3 7=3 16=0" in bench.wait(3)


def test_more_than_can_be_held_is_asked_for_when_its_turn_comes():
    bench = on()
    for number in range(3, 3 + 4_096 + 10):
        bench.hear("0", number)
    assert bench.session.counts["held_full"] == 10
    bench.hear("0", 2)
    assert bench.line.next_in == 3 + 4_096
    assert bench.hear("0", 5_000)[0].startswith(f"35=2 34=3 7={3 + 4_096} ")


def test_too_low_a_number_ends_the_session_unless_it_says_that_it_may_come_twice():
    bench = on()
    bench.hear("0", 2)
    assert bench.hear("0", 2, t43="Y") == []
    assert bench.hear("0", 2) == ["35=5 34=2 58=MsgSeqNum too low, expecting 3 but received 2"]
    assert bench.session.is_off
    assert bench.line.next_in == 3


def test_a_repetition_must_say_when_it_was_sent_first():
    bench = on()
    bench.hear("8", 2, REPORT)
    told = "35=3 34=2 45=2 58=Required tag missing 371=122 372=8 373=1"
    assert bench.hear("8", 2, REPORT, t43="Y", t122=None) == [told]
    assert bench.session.state is State.ON
    later = naive.time(bench.now_ns + 10 * SECOND_NS).decode()
    told = ["35=3 34=3 45=2 58=SendingTime accuracy problem 372=8 373=10", "35=5 34=4"]
    assert bench.hear("8", 2, REPORT, t43="Y", t122=later) == told
    assert bench.session.state is State.ENDING
    assert len(bench.line.delivered) == 1


@pytest.mark.parametrize("number", ["x", "-1", "", None])
def test_a_message_without_a_number_ends_the_session(number):
    bench = on()
    assert bench.hear("0", 2, t34=number) == ["35=5 34=2 58=Required tag missing: MsgSeqNum"]
    assert bench.session.is_off


# Who and when


def test_a_message_of_others_is_rejected_and_the_session_ended():
    bench = on()
    told = ["35=3 34=2 45=2 58=CompID problem 372=8 373=9", "35=5 34=3"]
    assert bench.hear("8", 2, REPORT, t49="OTHER") == told
    assert bench.line.delivered == []
    assert bench.session.state is State.ENDING


@pytest.mark.parametrize(("party", "reason"), [(None, "Required tag missing"), ("", "Tag specified without a value")])
@pytest.mark.parametrize("tag", [49, 56])
def test_a_message_that_names_nobody_is_rejected_for_that(tag, party, reason):
    bench = on()
    number = 1 if party is None else 4
    told = f"35=3 34=2 45=2 58={reason} 371={tag} 372=8 373={number}"
    assert bench.hear("8", 2, REPORT, **{f"t{tag}": party}) == [told]
    assert (bench.session.state, bench.line.delivered) == (State.ON, [])


def test_a_message_that_was_sent_before_it_was_sent_first_is_rejected_in_its_turn_too():
    bench = on()
    later = naive.time(bench.now_ns + 10 * SECOND_NS).decode()
    told = ["35=3 34=2 45=2 58=SendingTime accuracy problem 372=8 373=10", "35=5 34=3"]
    assert bench.hear("8", 2, REPORT, t43="Y", t122=later) == told
    assert bench.line.delivered == []


@pytest.mark.parametrize("seconds", [-121, 121])
def test_a_message_of_another_time_is_rejected_and_the_session_ended(seconds):
    bench = on()
    sent = naive.time(bench.now_ns + seconds * SECOND_NS).decode()
    told = ["35=3 34=2 45=2 58=SendingTime accuracy problem 372=8 373=10", "35=5 34=3"]
    assert bench.hear("8", 2, REPORT, t52=sent) == told
    assert bench.line.delivered == []


def test_a_message_of_another_version_ends_the_session():
    bench = on()
    assert bench.hear("0", 2, version="FIX.4.4") == ["35=5 34=2 58=Incorrect BeginString"]
    assert bench.line.next_in == 2
    bench.wait(2.5)
    assert bench.session.is_off


# Rejects


def test_a_reject_is_for_the_application_and_so_is_a_business_reject():
    bench = on()
    assert bench.hear("3", 2, {45: "7", 58: "no"}) == []
    assert bench.hear("j", 3, {372: "D", 380: "3"}) == []
    assert [message.msg_type for message in bench.line.delivered] == ["3", "j"]


def test_a_type_nobody_takes_is_answered_with_a_business_reject():
    told = "35=j 34=2 45=2 58=Unsupported Message Type 372=B 380=3"
    assert on().hear("B", 2, {148: "x", 33: "1", 58: "y"}) == [told]


def test_a_rejected_message_is_done_with_and_those_held_behind_it_come():
    bench = on()
    bench.hear("8", 3, REPORT)
    wrong = REPORT | {38: "+1"}
    told = "35=3 34=3 45=2 58=Incorrect data format for value 371=38 372=8 373=6"
    assert bench.hear("8", 2, wrong, t43="Y") == [told]
    assert bench.line.next_in == 4
    assert len(bench.line.delivered) == 1


# Ends


def test_a_logout_is_answered_and_the_connection_ended():
    bench = on()
    assert bench.hear("5", 2, {58: "End of day"}) == ["35=5 34=2"]
    assert (bench.session.state, bench.session.reason) == (State.OFF, "logout: End of day")
    assert numbers(bench) == (3, 3)


def test_our_logout_waits_for_an_answer_and_takes_fills_until_then():
    bench = on()
    bench.session.finish(bench.now_ns)
    assert bench.said() == ["35=5 34=2"]
    bench.hear("8", 2, REPORT)
    assert len(bench.line.delivered) == 1
    assert bench.hear("5", 3) == []
    assert bench.session.is_off
    assert bench.line.next_in == 4


def test_our_logout_does_not_wait_for_ever():
    bench = on()
    bench.session.finish(bench.now_ns)
    bench.wait(2)
    assert not bench.session.is_off
    bench.wait(0.5)
    assert bench.session.is_off


def test_nothing_behind_the_end_is_looked_at():
    bench = on()
    bench.take(bench.message("5", 2) + bench.message("8", 3, REPORT))
    assert bench.line.delivered == []
    bench.take(bench.message("8", 3, REPORT))
    assert bench.line.delivered == []


def test_numbers_go_on_with_the_next_connection():
    bench = on()
    bench.order()
    bench.cut()
    assert bench.connect() == ["35=A 34=3 98=0 108=30"]
    bench.hear("A", 2, {98: "0", 108: "30"})
    assert bench.session.state is State.ON
    assert bench.order(Outgoing("F", ORDER.body)) == 4
