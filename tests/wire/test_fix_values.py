"""Digits, dates and sums against what Python has for them."""

from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from venym.hot.jit import hot
from venym.wire import fix_values

GUARDED = Guarded(4_096)
DAY_MAX = (date(2262, 1, 1) - date(1970, 1, 1)).days


@hot
def fill_dates(dates, days):
    """The date of each day, and its day again."""
    for day in range(dates.shape[0]):
        made = fix_values.date_of(day)
        dates[day] = made
        days[day] = fix_values.day_of(made // 10_000, made // 100 % 100, made % 100)


def test_every_day_to_2262_has_its_date_and_back():
    dates, days = np.zeros(DAY_MAX, np.int64), np.zeros(DAY_MAX, np.int64)
    fill_dates(dates, days)
    begin = date(1970, 1, 1)
    assert dates.tolist() == [int((begin + timedelta(day)).strftime("%Y%m%d")) for day in range(DAY_MAX)]
    assert days.tolist() == list(range(DAY_MAX))


@given(st.sampled_from([0, *(10**n + d for n in range(1, 18) for d in (-1, 0, 1))]) | st.integers(0, 10**18))
@settings(max_examples=100)
def test_a_number_is_written_with_as_many_digits_as_it_has(value):
    digits, out = int(fix_values.digits_of(value)), np.zeros(32, np.uint8)
    end, total = fix_values.put_whole(out, 3, value, digits)
    assert out[3:end].tobytes() == str(value).encode()
    assert total == sum(str(value).encode())
    if digits <= fix_values.DIGITS_MAX:
        assert fix_values.read_whole(out, 3, end) == value


@pytest.mark.parametrize("value", [b"", b"-1", b"+1", b" 1", b"1.", b"1e3", b"9" * 19, b"/", b":"])
def test_what_is_no_number_is_refused(value):
    assert fix_values.read_whole(GUARDED.put(value), 0, len(value)) == fix_values.REFUSED


@given(st.binary(max_size=3_000) | st.binary(max_size=40), st.integers(0, 9))
@settings(max_examples=60)
def test_the_sum_and_the_first_soh_are_found_at_any_length(octets, start):
    start = min(start, len(octets))
    held = GUARDED.put(octets)
    assert fix_values.sum_of(held, start, len(octets)) == sum(octets[start:]) % 256
    found = octets.find(b"\x01", start)
    assert fix_values.find_soh(held, start, len(octets)) == (found if found >= 0 else len(octets))


@pytest.mark.parametrize("size", range(20))
@pytest.mark.parametrize("filling", [b"\x00", b"\x02", b"\x81", b"\xff"])
def test_soh_is_told_from_its_neighbours_at_every_place(size, filling):
    octets = GUARDED.put(filling * size)
    assert fix_values.find_soh(octets, 0, size) == size
    for at in range(size):
        octets[at:] = 1
        assert fix_values.find_soh(octets, 0, size) == at
        octets[at:] = filling[0]


@pytest.mark.parametrize("text", [b"V", b"VENUE", b"VENUE.12"])
def test_a_text_is_told_from_every_other_one(text):
    wanted = np.frombuffer(text, np.uint8)
    other = [text[:-1], text + b"x", text[:-1] + b"x", b"x" + text[1:], b""]
    for held in (text, *other):
        octets = GUARDED.put(held)
        assert bool(fix_values.is_text(octets, 0, len(held), wanted)) == (held == text)


def test_a_sum_of_many_large_octets_does_not_run_over():
    octets = GUARDED.put(b"\xff" * 4_096)
    assert fix_values.sum_of(octets, 0, 4_096) == 255 * 4_096 % 256
    assert fix_values.sum_of(octets, 1, 4_096) == 255 * 4_095 % 256
