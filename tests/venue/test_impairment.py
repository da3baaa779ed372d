"""Fates of packets: the chances asked for, of each line its own, the same every time."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from tests.naive import publication as naive
from venym.venue.impairment import (
    DISPLACEMENT_MAX,
    LOST,
    LOST_BOTH,
    OUT,
    SENT,
    Impairment,
    Outage,
    chance_of,
    displacement_of,
    fate_of,
    is_twice,
    make_fates,
)

pytestmark = pytest.mark.plain

COUNT = 40_000


def fates(impairment: Impairment, line: int, count: int = COUNT) -> np.ndarray:
    made = make_fates(impairment)
    return np.array([fate_of(made, line, number, 0) for number in range(count)])


def share(found: np.ndarray) -> float:
    return float(np.mean(found))


@given(some.integers(0, 2**56 - 1), some.integers(0, 8), some.integers(0, 2**40))
def test_chances_are_the_twins(seed: int, stream: int, number: int) -> None:
    made = make_fates(Impairment(seed=seed))
    assert chance_of(made.keys, stream, number) == naive.chance(seed, stream, number)


def test_nothing_happens_by_default() -> None:
    made = make_fates(Impairment())
    for line, number in itertools.product((0, 1), range(1_000)):
        assert fate_of(made, line, number, 0) == SENT
        assert not is_twice(made, line, number)
        assert displacement_of(made, line, number) == 0


def test_what_is_certain_always_happens() -> None:
    made = make_fates(Impairment(loss=(1, 0), duplicate=(0, 1), reorder=(0, 1)))
    for number in range(1_000):
        assert fate_of(made, 0, number, 0) == LOST
        assert fate_of(made, 1, number, 0) == SENT
        assert is_twice(made, 1, number)
        assert 1 <= displacement_of(made, 1, number) <= DISPLACEMENT_MAX


@pytest.mark.parametrize("probability", [0.001, 0.02, 0.3])
def test_a_line_loses_its_share(probability: float) -> None:
    for line in (0, 1):
        lost = share(fates(Impairment(loss=(probability, probability), seed=3), line) == LOST)
        assert abs(lost - probability) < 5 * (probability / COUNT) ** 0.5


def test_lines_lose_independently_and_both_lose_the_same() -> None:
    made = Impairment(loss=(0.1, 0.1), loss_both=0.1, seed=4)
    a, b = fates(made, 0), fates(made, 1)
    assert np.array_equal(a == LOST_BOTH, b == LOST_BOTH)
    assert abs(share(a == LOST_BOTH) - 0.1) < 0.01
    left = a != LOST_BOTH
    assert abs(share((a[left] == LOST) & (b[left] == LOST)) - 0.01) < 0.003


def test_losses_do_not_come_in_step_with_numbers() -> None:
    lost = fates(Impairment(loss=(0.5, 0.5), seed=5), 0) == LOST
    assert abs(share(lost[1:] == lost[:-1]) - 0.5) < 0.02
    for bit in range(8):
        odd = (np.arange(COUNT) >> bit & 1).astype(bool)
        assert abs(share(lost[odd]) - 0.5) < 0.02


def test_displacements_are_spread_evenly() -> None:
    made = make_fates(Impairment(reorder=(1, 1)))
    found = np.bincount([displacement_of(made, 0, number) for number in range(15_000)], minlength=16)
    assert found[0] == 0 and found[1:].min() > 850 and found[1:].max() < 1_150


def test_the_seed_decides() -> None:
    one = fates(Impairment(loss=(0.5, 0.5), seed=1), 0)
    assert np.array_equal(one, fates(Impairment(loss=(0.5, 0.5), seed=1), 0))
    assert not np.array_equal(one, fates(Impairment(loss=(0.5, 0.5), seed=2), 0))


def test_an_outage_is_of_one_line_and_ends() -> None:
    made = make_fates(Impairment(outages=[Outage(1, 10, 5), Outage(1, 100, 1)]))
    assert [at for at in range(200) if fate_of(made, 1, 7, at) == OUT] == [10, 11, 12, 13, 14, 100]
    assert all(fate_of(made, 0, 7, at) == SENT for at in range(200))


@pytest.mark.parametrize(
    "wrong",
    [
        Impairment(loss=(1.1, 0)),
        Impairment(loss_both=-0.1),
        Impairment(duplicate=(float("nan"), 0)),
        Impairment(outages=[Outage(2, 0, 1)]),
        Impairment(outages=[Outage(0, -1, 1)]),
        Impairment(outages=[Outage(0, 0, 0)]),
    ],
)
def test_what_cannot_be_is_refused(wrong: Impairment) -> None:
    with pytest.raises(ValueError, match=r"no probability|cannot be"):
        make_fates(wrong)
