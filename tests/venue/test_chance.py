"""Random numbers: the published sequence, the same everywhere."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.chance import drawn
from venym.hot.jit import hot
from venym.venue.chance import below, draw, make_chance

pytestmark = pytest.mark.plain

WORDS = st.lists(st.integers(0, 2**32 - 1), min_size=4, max_size=4).filter(any)


@hot
def draw_many(chance, drawn):
    for at in range(drawn.shape[0]):
        drawn[at] = draw(chance)


@hot
def draw_below(chance, bound):
    return below(chance, bound)


def drawn_from(words: list[int], count: int) -> list[int]:
    chance = make_chance(0)
    chance[:] = words
    numbers = chance.repeat(count)[:count]
    draw_many(chance, numbers)
    return [int(number) for number in numbers]


def test_the_published_sequence_comes_out() -> None:
    assert drawn_from([1, 2, 3, 4], 10) == [
        641,
        1573767,
        3222811527,
        3517856514,
        836907274,
        4247214768,
        3867114732,
        1355841295,
        495546011,
        621204420,
    ]


@settings(max_examples=50)
@given(WORDS)
def test_it_draws_as_its_authors_do(words: list[int]) -> None:
    twin = list(words)
    assert drawn_from(words, 8) == [drawn(twin) for _ in range(8)]


@settings(max_examples=50)
@given(WORDS, st.integers(1, 2**31))
def test_below_divides_the_range_evenly(words: list[int], bound: int) -> None:
    chance = make_chance(0)
    chance[:] = words
    assert draw_below(chance, bound) == drawn(words) * bound // 2**32


def test_a_seed_stands_for_four_words_of_32_bits() -> None:
    # splitmix64's well-known first two numbers, low half first
    assert [int(word) for word in make_chance(0)] == [0x7B1DCDAF, 0xE220A839, 0xA1B965F4, 0x6E789E6A]
    assert [int(word) for word in make_chance(2**64)] == [int(word) for word in make_chance(0)]
    assert len({tuple(make_chance(seed)) for seed in range(-50, 50)}) == 100
