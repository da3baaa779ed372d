"""What a strategy looks with: prices, rounding, its orders. (What it asks with: tests/stages/test_strategy.py.)"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venym.hot.layout import aligned
from venym.records import BOOK_EVENT, BUY, CROSSED, GAPPED, PRINTABLE, SELL, SUSPECT, TRADABLE
from venym.strategies import interface
from venym.strategies.interface import ORDERS_MAX, STATE_WORDS, WORKING_ORDER, State

pytestmark = pytest.mark.plain


def book(bid: tuple[int, int] = (0, 0), ask: tuple[int, int] = (0, 0), marks: int = TRADABLE) -> Any:
    """An event whose best levels are these, as (price, shares)."""
    event = aligned(1, BOOK_EVENT)[0]
    event.bid_price_e4[0], event.bid_shares[0] = bid
    event.ask_price_e4[0], event.ask_shares[0] = ask
    event.marks = marks
    return event


def test_a_level_of_no_shares_is_none() -> None:
    assert (interface.bid_e4(book()), interface.ask_e4(book())) == (0, 0)
    stale = book((9_900, 0), (10_100, 0))
    assert (interface.bid_e4(stale), interface.ask_e4(stale), bool(interface.two_sided(stale))) == (0, 0, False)
    one = book((9_900, 5))
    assert (interface.bid_e4(one), interface.ask_e4(one), bool(interface.two_sided(one))) == (9_900, 0, False)


@settings(max_examples=50)
@given(
    bid=st.integers(1, 2**32 - 1), ask=st.integers(1, 2**32 - 1), bids=st.integers(1, 2**31), asks=st.integers(1, 2**31)
)
def test_mid_and_microprice(bid: int, ask: int, bids: int, asks: int) -> None:
    market = book((bid, bids), (ask, asks))
    assert interface.mid_e4(market) == (bid + ask) / 2
    exact = Fraction(bid * asks + ask * bids, bids + asks)
    assert math.isclose(interface.microprice_e4(market), float(exact), rel_tol=1e-12)


def test_the_microprice_leans_to_the_side_with_fewer_shares() -> None:
    assert interface.microprice_e4(book((10_000, 300), (10_100, 100))) == 10_075.0


@pytest.mark.parametrize(
    ("marks", "expected"),
    [(TRADABLE, True), (TRADABLE | PRINTABLE, True), (0, False), (TRADABLE | SUSPECT, False),
     (TRADABLE | CROSSED, False), (SUSPECT | CROSSED, False), (TRADABLE | GAPPED, False)],
)  # fmt: skip
def test_what_can_be_traded_on(marks: int, expected: bool) -> None:
    assert bool(interface.tradable(book((10_000, 1), (10_100, 1), marks))) is expected
    assert not interface.tradable(book((10_000, 1), (0, 0), marks))


@pytest.mark.parametrize(
    ("price", "down", "up"),
    [
        (10_000.0, 10_000, 10_000),
        (10_001.0, 10_000, 10_100),
        (10_099.9, 10_000, 10_100),
        (0.5, 0, 100),
        (-1.0, -100, 0),
    ],
)
def test_rounding_to_the_tick(price: float, down: int, up: int) -> None:
    assert (interface.round_down(price, 100.0), interface.round_up(price, 100.0)) == (down, up)


def test_rounding_what_is_no_number_gives_none() -> None:
    with np.errstate(all="ignore"):
        assert math.isnan(interface.round_down(math.nan, 100.0)) and math.isnan(interface.round_up(math.nan, 100.0))


def test_tokens_are_never_the_same() -> None:
    state = State(np.zeros(STATE_WORDS, np.int64), np.zeros(STATE_WORDS))
    assert [interface.new_token(state) for _ in range(3)] == [1, 2, 3]


def test_orders_are_found_by_name_and_by_side() -> None:
    orders = aligned(ORDERS_MAX, WORKING_ORDER)
    orders["token"][:4], orders["side"][:4] = [7, 5, 9, 5], [SELL, SELL, BUY, BUY]
    assert [interface.find(orders[:4], token) for token in (7, 5, 9, 8)] == [0, 1, 2, -1]
    assert [interface.first(orders[:4], side) for side in (SELL, BUY, 0)] == [0, 2, -1]
    assert (interface.find(orders[:0], 7), interface.first(orders[:0], BUY)) == (-1, -1)
