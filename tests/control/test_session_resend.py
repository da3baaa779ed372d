"""What is said twice, what is skipped, and which numbers are used after something was lost."""

import pytest

from tests.control.session_peers import ORDER, REPORT, Bench
from tests.fix_line import Crash
from tests.naive import fix as naive
from venym.control.session import Session
from venym.control.session_messages import Outgoing
from venym.control.session_table import State


def on(**change) -> Bench:
    return Bench(**change).log_on()


def fields(said: list[str]) -> list[str]:
    """Without the times of orders."""
    return [" ".join(part for part in one.split() if part[:3] not in ("60=", "122")) for one in said]


# Asked by the venue


def test_orders_are_said_again_as_said_before_and_the_rest_is_skipped():
    bench = on()
    bench.order()
    bench.hear("1", 2, {112: "x"})
    bench.order()
    first_ns = bench.now_ns
    bench.said()
    bench.wait(3)
    messages = bench.line
    bench.session.receive(bench.message("2", 3, {7: "1", 16: "0"}), bench.now_ns)
    said = [dict(naive.fields(one)) for one in naive.framed(messages.take())]
    assert [(one[35], one[34], one.get(36)) for one in said] == [
        (b"4", b"1", b"2"),
        (b"D", b"2", None),
        (b"4", b"3", b"4"),
        (b"D", b"4", None),
    ]
    assert all(one[43] == b"Y" and one[52] == naive.time(bench.now_ns) for one in said)
    assert {one[122] for one in said if one[35] == b"D"} == {naive.time(first_ns)}
    assert all(one[123] == b"Y" for one in said if one[35] == b"4")
    assert bench.order() == 5


@pytest.mark.parametrize("end", ["0", "999999", "3"])
def test_the_end_of_a_request_may_be_open(end):
    bench = on()
    bench.order()
    bench.order()
    bench.said()
    assert [one[:14] for one in bench.hear("2", 2, {7: "3", 16: end})] == ["35=D 34=3 43=Y"]


def test_old_orders_are_skipped_and_the_next_number_is_the_one_that_was_said():
    bench = on(stale_after_s=60)
    assert [bench.order() for _ in range(5)] == [2, 3, 4, 5, 6]
    bench.line.take()
    bench.hear("0", 2)
    for number in range(3, 32):  # ten minutes
        bench.wait(20)
        bench.hear("0", number)
    beats = bench.line.next_out - 7
    assert beats > 0
    asked = bench.hear("2", 32, {7: "2", 16: "0"})
    assert fields(asked) == [f"35=4 34=2 43=Y 36={7 + beats} 123=Y"]
    assert bench.order() == 7 + beats


def test_of_old_and_new_orders_only_the_new_are_said_again():
    bench = on(stale_after_s=10)
    bench.order()
    bench.wait(11)
    bench.order()
    bench.said()
    assert fields(bench.hear("2", 2, {7: "2", 16: "0"})) == [
        "35=4 34=2 43=Y 36=3 123=Y",
        "35=D 34=3 43=Y 11=V1 55=AAPL 54=1 38=100 40=2",
    ]


def test_without_leave_nothing_is_said_again():
    bench = on(stale_after_s=0)
    bench.order()
    bench.said()
    assert fields(bench.hear("2", 2, {7: "2", 16: "2"})) == ["35=4 34=2 43=Y 36=3 123=Y"]


def test_a_new_order_waits_while_old_ones_are_said_again():
    bench = on()
    for _ in range(150):
        bench.order()
    bench.said()
    assert len(bench.hear("2", 2, {7: "2", 16: "0"})) == 64
    assert bench.order() is None
    assert len(bench.wait(0.25)) == 64
    assert bench.order() is None
    assert len(bench.wait(0.25)) == 22
    assert bench.order() == 152


def test_a_second_request_does_not_cut_the_first_one_short():
    bench = on()
    for _ in range(150):
        bench.order()
    bench.said()
    again = [*bench.hear("2", 2, {7: "2", 16: "0"}), *bench.hear("2", 3, {7: "140", 16: "141"}), *bench.wait(1)]
    assert {one.split()[1] for one in again} == {f"34={number}" for number in range(2, 152)}


def test_a_replay_ends_with_its_connection():
    bench = on()
    for _ in range(1_000):
        bench.order()
    bench.said()
    bench.hear("2", 2, {7: "1", 16: "0"})
    bench.cut()
    assert bench.wait(2) == []
    assert bench.connect() == ["35=A 34=1002 98=0 108=30"]
    bench.hear("A", 3, {98: "0", 108: "30"})
    assert bench.wait(2) == []
    assert bench.order() == 1_003


def test_a_request_is_answered_whatever_its_number():
    bench = on()
    bench.order()
    bench.said()
    assert [one[:14] for one in bench.hear("2", 9, {7: "2", 16: "2"})] == ["35=D 34=2 43=Y", "35=2 34=3 7=2 "]
    bench.hear("4", 2, {36: "9", 123: "Y"}, t43="Y")
    assert bench.line.next_in == 10
    assert [one[:14] for one in bench.hear("2", 2, {7: "2", 16: "2"})] == ["35=D 34=2 43=Y"]
    assert bench.line.next_in == 10


@pytest.mark.parametrize(("asked", "tag"), [({7: "0", 16: "0"}, 7), ({7: "4", 16: "3"}, 16)])
def test_a_request_for_what_cannot_be_is_rejected(asked, tag):
    told = f"35=3 34=2 45=2 58=Value is incorrect (out of range) for this tag 371={tag} 372=2 373=5"
    assert on().hear("2", 2, asked) == [told]


def test_a_request_for_what_was_never_said_is_not_answered():
    bench = on()
    assert bench.hear("2", 2, {7: "2", 16: "0"}) == []
    assert bench.hear("2", 3, {7: "50", 16: "60"}) == []
    assert bench.line.next_out == 2


# Skipped by the venue


def at_ten() -> Bench:
    bench = on()
    bench.hear("4", 2, {36: "10", 123: "Y"})
    assert bench.line.next_in == 10
    return bench


def test_a_gap_fill_from_below_that_may_come_twice_is_passed_over():
    bench = at_ten()
    assert bench.hear("4", 3, {36: "6", 123: "Y"}, t43="Y") == []
    assert (bench.session.state, bench.line.next_in) == (State.ON, 10)


def test_a_gap_fill_from_below_ends_the_session():
    bench = at_ten()
    assert bench.hear("4", 3, {36: "6", 123: "Y"}) == ["35=5 34=2 58=MsgSeqNum too low, expecting 10 but received 3"]
    assert (bench.session.state, bench.line.next_in) == (State.OFF, 10)


@pytest.mark.parametrize("number", [3, 10, 20])
def test_a_reset_to_below_is_rejected_and_changes_nothing(number):
    bench = at_ten()
    told = f"35=3 34=2 45={number} 58=Value is incorrect (out of range) for this tag 372=4 373=5"
    assert bench.hear("4", number, {36: "5"}) == [told]
    assert (bench.session.state, bench.line.next_in) == (State.ON, 10)


def test_a_gap_fill_that_leads_nowhere_is_rejected():
    bench = at_ten()
    assert bench.hear("4", 10, {36: "10", 123: "Y"})[0].startswith("35=3 34=2 45=10 ")
    assert bench.line.next_in == 11


@pytest.mark.parametrize("flag", [{}, {123: "N"}])
def test_a_reset_moves_the_number_up_whatever_its_own(flag):
    bench = at_ten()
    bench.hear("8", 12, REPORT)
    assert bench.hear("4", 1, {36: "40", **flag}) == []
    assert bench.line.next_in == 40
    assert bench.hear("8", 40, REPORT) == []
    assert len(bench.line.delivered) == 1


def test_a_reset_to_where_we_are_changes_nothing():
    bench = at_ten()
    assert bench.hear("4", 1, {36: "10"}) == []
    assert bench.line.next_in == 10


def test_a_gap_fill_need_not_say_when_it_was_sent_first():
    bench = on()
    assert bench.hear("4", 2, {36: "6", 123: "Y"}, t43="Y", t122=None) == []
    assert bench.line.next_in == 6


def test_what_was_held_and_is_skipped_takes_no_room():
    bench = on()
    for number in range(3, 3 + 4_096):
        bench.hear("0", number)
    bench.hear("4", 2, {36: "6000", 123: "Y"}, t43="Y")
    bench.hear("8", 6_001, REPORT)
    bench.hear("0", 6_000)
    assert len(bench.line.delivered) == 1
    assert bench.session.counts["held_full"] == 0


def test_a_gap_fill_over_what_was_held_drops_it():
    bench = on()
    bench.hear("8", 4, REPORT)
    bench.hear("4", 2, {36: "6", 123: "Y"}, t43="Y")
    assert (bench.line.next_in, bench.line.delivered) == (6, [])


# Both start again


def test_a_reset_that_was_asked_for_begins_both_at_one():
    bench = Bench(reset_on_logon=True)
    assert bench.connect() == ["35=A 34=1 98=0 108=30 141=Y"]
    assert bench.hear("A", 1, {98: "0", 108: "30", 141: "Y"}) == []
    assert (bench.line.next_in, bench.line.next_out) == (2, 2)
    assert fields(bench.hear("2", 2, {7: "1", 16: "0"})) == ["35=4 34=1 43=Y 36=2 123=Y"]
    assert bench.order() == 2


def test_a_reset_within_a_session_is_answered_and_begins_both_at_one():
    bench = on()
    bench.order()
    bench.hear("8", 2, REPORT)
    bench.hear("8", 5, REPORT)
    assert bench.hear("A", 1, {98: "0", 108: "30", 141: "Y"}) == ["35=A 34=1 98=0 108=30 141=Y"]
    assert (bench.line.next_in, bench.line.next_out) == (2, 2)
    for number in (2, 3, 4):
        assert bench.hear("0", number) == []
    assert (bench.line.next_in, len(bench.line.delivered)) == (5, 1)  # what was held before is of another count
    assert bench.order() == 2


def test_a_reset_ends_what_was_being_said_again():
    bench = on()
    for _ in range(100):
        bench.order()
    bench.hear("2", 2, {7: "2", 16: "0"})
    bench.hear("A", 1, {98: "0", 108: "30", 141: "Y"})
    assert bench.wait(1) == []
    assert bench.order() == 2


def test_a_reset_that_may_have_come_before_is_passed_over():
    bench = at_ten()
    assert bench.hear("A", 1, {98: "0", 108: "30", 141: "Y"}, t43="Y") == []
    assert (bench.session.state, bench.line.next_in) == (State.ON, 10)


@pytest.mark.parametrize("change", [{"t49": "OTHER"}, {"t56": "OTHER"}, {"t52": "20260105-15:30:00"}])
def test_a_reset_by_others_changes_no_number(change):
    bench = at_ten()
    bench.hear("A", 1, {98: "0", 108: "30", 141: "Y"}, **change)
    assert bench.line.next_in == 10
    assert bench.session.state is State.ENDING


def test_a_reset_under_another_number_than_one_is_refused():
    bench = at_ten()
    assert bench.hear("A", 7, {98: "0", 108: "30", 141: "Y"}) == ["35=5 34=2 58=ResetSeqNumFlag with MsgSeqNum 7"]
    assert (bench.session.state, bench.line.next_in) == (State.OFF, 10)


@pytest.mark.parametrize(("reset", "number"), [(True, 7), (False, 1)])
def test_a_logon_with_a_reset_that_is_wrong_or_not_asked_for_is_refused(reset, number):
    bench = Bench(reset_on_logon=reset)
    bench.connect()
    assert bench.hear("A", number, {98: "0", 108: "30", 141: "Y"}) == []
    assert (bench.session.state, bench.session.reason) == (State.OFF, "bad_reset")
    assert (bench.line.next_in, bench.line.next_out) == (1, 2)


# Lost


def test_a_request_that_was_lost_with_its_connection_is_made_again():
    bench = on()
    bench.session.receive(bench.message("8", 5, REPORT), bench.now_ns)
    bench.cut()
    bench.connect()
    assert bench.hear("A", 6, {98: "0", 108: "30"}) == ["35=2 34=4 7=2 16=0"]


def test_what_was_held_or_asked_for_ends_with_the_session():
    bench = on()
    bench.hear("8", 5, REPORT)
    bench.hear("5", 2)
    assert bench.session.is_off
    bench.connect()
    assert bench.hear("A", 4, {98: "0", 108: "30"}) == ["35=2 34=5 7=3 16=0"]
    bench.hear("0", 3, t43="Y")
    assert (bench.line.next_in, bench.line.delivered) == (5, [])


def test_the_number_of_a_logon_that_got_no_answer_is_not_used_again():
    bench = Bench()
    assert bench.connect() == ["35=A 34=1 98=0 108=30"]
    bench.wait(11)
    assert bench.session.is_off
    assert bench.connect() == ["35=A 34=2 98=0 108=30"]


def test_the_number_of_an_order_is_not_used_again_whenever_the_process_ends():
    bench = on()
    bench.line.crash_at = "write"
    with pytest.raises(Crash):
        bench.order()
    bench.line.crash_at = ""
    bench.cut()
    bench.session = Session(bench.profile, bench.line)
    assert bench.connect() == ["35=A 34=3 98=0 108=30"]
    bench.hear("A", 2, {98: "0", 108: "30"})
    assert [one[:14] for one in bench.hear("2", 3, {7: "2", 16: "0"})] == ["35=D 34=2 43=Y", "35=4 34=3 43=Y"]


def test_a_report_may_come_twice_but_is_not_skipped_whenever_the_process_ends():
    bench = on()
    bench.line.crash_at = "deliver"
    with pytest.raises(Crash):
        bench.hear("8", 2, REPORT | {17: "e2"})
    bench.line.crash_at = ""
    bench.cut()
    bench.session = Session(bench.profile, bench.line)
    bench.connect()
    assert bench.hear("A", 3, {98: "0", 108: "30"}) == ["35=2 34=3 7=2 16=0"]
    bench.hear("8", 2, REPORT | {17: "e2"}, t43="Y")
    assert [message.get(17) for message in bench.line.delivered] == ["e2", "e2"]
    assert bench.line.next_in == 4


def test_an_answer_goes_back_to_where_the_question_came_from():
    bench = on()
    assert bench.hear("B", 2, {148: "x", 33: "1", 58: "y"}, t115="JCD", t116="CS")[0].startswith(
        "35=j 34=2 128=JCD 129=CS 45=2 "
    )


def test_a_header_of_our_own_is_in_its_place():
    bench = on()
    bench.session.send(Outgoing("D", ORDER.body, ((97, "Y"),)), bench.now_ns)
    assert bench.said()[0].startswith("35=D 34=2 97=Y 11=V1 ")
