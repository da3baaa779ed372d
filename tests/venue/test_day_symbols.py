"""The instruments of a made-up day."""

from fractions import Fraction

import pytest

from venym.venue.day_symbols import SYMBOLS_MAX, hashed, make_instruments, make_names
from venym.wire.itch50_encode import alpha

pytestmark = pytest.mark.plain


@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_names_are_different_sorted_and_fit_eight_characters(seed: int) -> None:
    names = make_names(SYMBOLS_MAX, seed)
    assert len(set(names)) == SYMBOLS_MAX and names == sorted(names)
    assert {len(name) for name in names} <= set(range(1, 9))
    assert {mark for name in names for mark in name if not mark.isalpha()} == set(".-+=^#*")


def test_a_symbol_is_drawn_as_often_as_its_weight_says() -> None:
    instruments = make_instruments(50, 3)
    cut, own, other = instruments.popularity
    chances = dict.fromkeys(range(1, 51), Fraction(0))
    for row in range(50):
        chances[int(own[row])] += Fraction(int(cut[row]), 2**32 * 50)
        chances[int(other[row])] += Fraction(2**32 - int(cut[row]), 2**32 * 50)
    total = int(instruments.weights.sum())
    for rank, locate in enumerate(own):
        assert abs(chances[int(locate)] - Fraction(int(instruments.weights[rank]), total)) < Fraction(1, 10**8)


@pytest.mark.parametrize("count", [1, 7, 2_000])
def test_windows_lie_within_prices_a_venue_has(count: int) -> None:
    symbols = make_instruments(count, 5).symbols[1:]
    assert (symbols["first_price_e4"] > symbols["tick_e4"]).all()
    top_e4 = symbols["first_price_e4"] + symbols["width"] * symbols["tick_e4"]
    assert (top_e4 <= 3_100 * 10_000).all()
    fair_e4 = symbols["first_price_e4"] + symbols["fair"] * symbols["tick_e4"]
    is_small = symbols["tick_e4"] == 1
    assert (fair_e4[is_small] < 10_000).all() and (fair_e4[~is_small] >= 10_000).all()
    assert (fair_e4[~is_small] % 100 == 0).all() and set(symbols["width"]) <= {128, 1024, 4096}


def test_symbols_are_announced_by_locate_in_order_of_name() -> None:
    instruments = make_instruments(30, 9)
    assert instruments.names[0] == "" and instruments.names[1:] == sorted(instruments.names[1:])
    assert [int(word) for word in instruments.symbols["stock"][1:]] == [alpha(n, 8) for n in instruments.names[1:]]
    assert sorted(int(locate) for locate in instruments.popularity.own) == list(range(1, 31))


def test_streams_of_a_seed_have_nothing_in_common() -> None:
    numbers = [int(number) for stream in range(10) for number in hashed(1, stream, 1000)]
    assert len(set(numbers)) > 9_980 and all(0 <= number < 2**32 for number in numbers)
