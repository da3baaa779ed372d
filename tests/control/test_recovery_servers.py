"""Which server is asked, and for how much."""

from collections import deque

from venym.control.recovery_servers import GROWS_AFTER, Limits, Servers

LIMITS = Limits(outstanding_max=2, messages_max=100, attempts_max=3, give_up_ns=1_000)


def servers(count: int) -> Servers:
    return Servers("one", [f"server {k}" for k in range(count)], LIMITS, deque())


def test_they_take_turns_after_a_silence_and_the_least_silent_is_asked():
    made = servers(3)
    assert made.choose(-1, 0) == 0
    made.silent(0, 1, False, 0, 10)
    assert made.choose(-1, 10) == 1
    made.silent(1, 1, False, 0, 10)
    assert made.choose(-1, 10) == 2
    made.silent(2, 1, False, 0, 10)
    assert made.choose(-1, 10) == 0
    made.answered(1, 11)
    assert made.choose(-1, 11) == 1 and made.answered_ns == 11


def test_who_was_asked_in_vain_is_not_asked_again_unless_the_others_are_silent():
    made = servers(2)
    assert (made.choose(0, 0), made.choose(1, 0)) == (1, 0)
    for k in range(3):
        made.silent(1, 1, False, 10 * k, 10 * k + 5)
    assert made.choose(0, 30) == 0


def test_silences_are_forgotten_after_a_while():
    made = servers(2)
    for k in range(3):
        made.silent(0, 1, False, 10 * k, 10 * k + 5)
    made.silent(1, 1, False, 500, 510)
    assert made.choose(-1, 520) == 1
    assert made.choose(-1, 1_100) == 0


def test_requests_that_were_on_their_way_together_are_one_silence():
    made = servers(2)
    for _ in range(9):
        made.silent(0, 1, False, 5, 10)
    made.silent(1, 1, False, 5, 10)
    made.silent(1, 1, False, 10, 20)
    assert made.choose(-1, 20) == 0


def test_requests_grow_by_an_eighth_after_many_whole_answers_and_never_over_the_limit():
    made = servers(1)
    made.learn(0, 100, 40)
    assert made.messages(0) == 40
    for _ in range(2 * GROWS_AFTER - 1):
        made.learn(0, 40, 40)
        made.learn(0, 7, 7)  # a short hole says nothing
    assert made.messages(0) == 40
    made.learn(0, 40, 40)
    assert made.messages(0) == 45
    for _ in range(1_000):
        made.learn(0, made.messages(0), made.messages(0))
    assert made.messages(0) == 100


def test_requests_halve_when_none_as_long_was_ever_answered():
    made = servers(1)
    made.silent(0, 100, False, 0, 10)
    assert made.messages(0) == 50
    made.learn(0, 50, 50)
    made.silent(0, 50, True, 10, 20)
    assert made.messages(0) == 50
    made.silent(0, 1, True, 10, 20)
    assert made.messages(0) == 50


def test_a_short_hole_halves_them_at_the_second_time():
    made = servers(1)
    made.silent(0, 4, False, 0, 10)
    assert made.messages(0) == 100
    made.silent(0, 4, True, 10, 20)
    assert made.messages(0) == 2
