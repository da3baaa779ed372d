"""The examples: what they ask for in each situation."""

from pathlib import Path
from typing import Any

import pytest

import venym.strategies
from tests.stages.strategy_drive import Drive, loaded
from venym.records import (
    ACCEPTED,
    BUY,
    CANCEL,
    CANCELED,
    CROSSED,
    DAY,
    FILLED,
    IOC,
    LIMIT,
    NEW,
    REFUSED,
    REPLACE,
    REPLACED,
    SELL,
    SUSPECT,
    TRADABLE,
)
from venym.stages.strategy import Assignment

pytestmark = pytest.mark.plain

EXAMPLES = Path(venym.strategies.__file__).parent
UNTRADABLE: list[dict[str, Any]] = [
    dict(marks=0),
    dict(marks=TRADABLE | SUSPECT),
    dict(marks=TRADABLE | CROSSED),
    dict(bid_shares=[0] * 5),
    dict(ask_shares=[0] * 5),
]


class Example(Drive):
    def __init__(self, name: str, **params: float) -> None:
        made = loaded(EXAMPLES / f"{name}.py")
        super().__init__([Assignment(made, made.values(params), (0,))], instruments=1, hold=False)
        self.now_ns = 0

    def see(self, *y: float, **market: Any) -> list[tuple[int, ...]]:
        """What is asked for upon a signal: action, token, side, shares, price."""
        self.now_ns += 1
        self.signal(self.now_ns, *y, **market)
        return [
            tuple(intent[name] for name in ("action", "token", "side", "shares", "price_e4")) for intent in self.run()
        ]

    def tell(self, kind: int, token: int, **fields: Any) -> None:
        self.now_ns += 1
        self.event(self.now_ns, kind, token, **fields)
        assert self.run() == []

    def fill(self, token: int, side: int, shares: int, final: int = 1) -> None:
        done = dict(shares=shares, filled_shares=shares, last_shares=shares, last_price_e4=10_000)
        self.tell(FILLED, token, action=NEW, side=side, final=final, **done)


# Taker


def test_the_taker_takes_the_touch_in_the_direction_of_the_move() -> None:
    assert Example("taker").see(0.6) == [(NEW, 1, BUY, 100, 10_100)]
    assert Example("taker").see(-0.6) == [(NEW, 1, SELL, 100, 10_000)]
    for small in (0.5, 0.0, -0.5, float("nan")):
        assert Example("taker").see(small) == []


def test_the_taker_leaves_nothing_resting() -> None:
    taker = Example("taker", shares=300)
    taker.signal(1, 1.0)
    (intent,) = taker.run()
    assert (intent["ord_type"], intent["tif"], intent["shares"]) == (LIMIT, IOC, 300)


@pytest.mark.parametrize("market", UNTRADABLE)
def test_the_taker_takes_nothing_that_cannot_be_traded_on(market: dict[str, Any]) -> None:
    assert Example("taker").see(1.0, **market) == []


def test_the_taker_does_nothing_without_a_model() -> None:
    assert Example("taker").see(1.0, ready=0) == []


def test_the_taker_sends_one_order_at_a_time_each_with_a_name_of_its_own() -> None:
    taker = Example("taker")
    assert len(taker.see(1.0)) == 1
    assert taker.see(1.0) == []
    taker.tell(CANCELED, 1, side=BUY, action=NEW, final=1)
    assert taker.see(1.0) == [(NEW, 2, BUY, 100, 10_100)]
    taker.tell(REFUSED, 2, side=BUY, action=NEW, final=1)
    assert taker.see(1.0) == [(NEW, 3, BUY, 100, 10_100)]


def test_the_taker_never_asks_beyond_its_position() -> None:
    taker = Example("taker", position_max=250)
    for token, held in ((1, 100), (2, 200)):
        assert len(taker.see(1.0)) == 1
        taker.fill(token, BUY, 100)
        assert taker.position()["shares"] == held
    assert taker.see(1.0) == []
    assert taker.see(-1.0) == [(NEW, 3, SELL, 100, 10_000)]
    taker.fill(3, SELL, 100)
    for token in (4, 5, 6):
        assert len(taker.see(-1.0)) == 1
        taker.fill(token, SELL, 100)
    assert taker.position()["shares"] == -200 and taker.see(-1.0) == []


# Quoter


def quoting(**params: float) -> Example:
    """Both quotes accepted, in a book of 100 at 1.00 and 100 at 1.01."""
    quoter = Example("quoter", **params)
    assert quoter.see() == [(NEW, 1, BUY, 100, 10_000), (NEW, 2, SELL, 100, 10_100)]
    for token, side, price_e4 in ((1, BUY, 10_000), (2, SELL, 10_100)):
        quoter.tell(ACCEPTED, token, side=side, action=NEW, shares=100, leaves_shares=100, price_e4=price_e4)
    return quoter


def test_the_quoter_quotes_both_sides_for_the_day_and_never_takes() -> None:
    quoter = Example("quoter")
    quoter.signal(1, ready=0)
    assert [(i["ord_type"], i["tif"], i["post_only"]) for i in quoter.run()] == [(LIMIT, DAY, 1)] * 2
    assert quoting().see() == [], "nothing has changed"


def test_the_quoter_asks_nothing_new_while_a_request_is_open() -> None:
    quoter = Example("quoter")
    quoter.see()
    assert quoter.see(bid_price_e4=[9_800, 0, 0, 0, 0]) == []


def test_the_quoter_moves_with_the_price() -> None:
    quoter = quoting()
    higher = dict(bid_price_e4=[10_100, 0, 0, 0, 0], ask_price_e4=[10_200, 0, 0, 0, 0])
    assert quoter.see(**higher) == [(REPLACE, 1, 0, 100, 10_100), (REPLACE, 2, 0, 100, 10_200)]
    for token, side, price_e4 in ((1, BUY, 10_100), (2, SELL, 10_200)):
        quoter.tell(REPLACED, token, side=side, action=REPLACE, shares=100, leaves_shares=100, price_e4=price_e4)
    assert quoter.see(**higher) == []


def test_the_quoter_leans_with_the_microprice() -> None:
    heavy = dict(bid_shares=[900, 0, 0, 0, 0])
    assert Example("quoter").see(**heavy) == [(NEW, 1, BUY, 100, 10_000), (NEW, 2, SELL, 100, 10_200)]


def test_the_quoter_quotes_lower_the_more_it_holds() -> None:
    quoter = quoting(skew_e4=100)
    quoter.fill(1, BUY, 100)
    assert quoter.see() == [(NEW, 3, BUY, 100, 9_900)], "the sale is at the touch already, and goes no lower"
    quoter = quoting(skew_e4=100)
    quoter.fill(2, SELL, 100)
    assert quoter.see() == [(NEW, 3, SELL, 100, 10_200)]


def test_the_quoter_at_its_limit_quotes_one_side() -> None:
    quoter = quoting(position_max=150)
    quoter.fill(1, BUY, 100)
    assert quoter.see() == [], "nothing more to buy"
    quoter = quoting(position_max=100)
    quoter.fill(2, SELL, 100)
    assert quoter.see() == []


@pytest.mark.parametrize("market", UNTRADABLE)
def test_the_quoter_cancels_when_the_book_cannot_be_traded_on(market: dict[str, Any]) -> None:
    quoter = quoting()
    assert quoter.see(**market) == [(CANCEL, 1, 0, 0, 0), (CANCEL, 2, 0, 0, 0)]
    assert quoter.see(**market) == [], "asked for already"
    for token, side in ((1, BUY), (2, SELL)):
        quoter.tell(CANCELED, token, side=side, action=CANCEL, final=1)
    assert quoter.see(**market) == []
    assert quoter.see() == [(NEW, 3, BUY, 100, 10_000), (NEW, 4, SELL, 100, 10_100)]


def test_the_quoter_keeps_what_is_left_of_a_quote() -> None:
    quoter = quoting()
    quoter.tell(FILLED, 1, side=BUY, shares=100, leaves_shares=60, filled_shares=40, last_shares=40,
                last_price_e4=10_000, price_e4=10_000)  # fmt: skip
    higher = dict(bid_price_e4=[10_300, 0, 0, 0, 0], ask_price_e4=[10_400, 0, 0, 0, 0])
    assert quoter.see(**higher)[0] == (REPLACE, 1, 0, 100, 10_200), "the total stays; below the touch, as it holds 40"
