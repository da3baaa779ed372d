"""Working orders and positions as the strategy stage knows them, and whether any order event can still come."""

from typing import Any

import pytest

from tests.stages.strategy_drive import Drive, scripted
from tests.strategies.users import scripted as does
from venym.records import (
    ACCEPTED,
    BUY,
    CANCEL,
    CANCEL_REJECTED,
    CANCELED,
    EXPIRED,
    FILLED,
    KILL,
    NEW,
    REFUSED,
    REJECTED,
    REPLACE,
    REPLACED,
    SELL,
)
from venym.stages import strategy
from venym.stages.working import STRAYS
from venym.strategies.interface import ORDERS_MAX

pytestmark = pytest.mark.plain


class Desk(Drive):
    """One strategy, asked by signals and told by events, each a nanosecond later than the last."""

    def __init__(self) -> None:
        super().__init__([scripted()], hold=False)
        self.now_ns = 0

    def ask(self, command: int, *y: float) -> None:
        self.now_ns += 1
        self.signal(self.now_ns, command, *y)
        self.run()

    def tell(self, kind: int, token: int = 1, **fields: Any) -> None:
        self.now_ns += 1
        self.event(self.now_ns, kind, token, **(dict(side=BUY, shares=100, price_e4=9_900) | fields))
        self.run()

    def row(self, *names: str) -> tuple[int, ...]:
        (row,) = self.orders()
        return tuple(row[name] for name in names)

    @property
    def waiting(self) -> bool:
        """May an order event come?"""
        return bool(self.desk.working.totals.any())


def desk(*, accepted: bool = True) -> Desk:
    """With an order 1 to buy 100 at 0.99."""
    made = Desk()
    made.ask(does.LIMITS, 1, BUY, 100, 9_900)
    if accepted:
        made.tell(ACCEPTED, action=NEW, leaves_shares=100)
    return made


def test_an_order_works_from_when_it_is_asked_for() -> None:
    one = desk(accepted=False)
    assert one.row("token", "side", "shares", "leaves_shares", "filled_shares", "price_e4") == (
        1,
        BUY,
        100,
        100,
        0,
        9_900,
    )
    assert one.row("acknowledged", "pending") == (0, NEW)
    assert one.position()["open_buy_shares"] == 100 and one.waiting
    one.tell(ACCEPTED, action=NEW, leaves_shares=100)
    assert one.row("acknowledged", "pending", "leaves_shares") == (1, 0, 100)
    assert one.waiting


@pytest.mark.parametrize(("kind", "action"), [(REFUSED, NEW), (REJECTED, NEW), (CANCELED, 0), (EXPIRED, 0)])
def test_a_final_event_ends_it(kind: int, action: int) -> None:
    one = desk(accepted=False)
    one.tell(kind, action=action, final=1)
    assert one.orders() == [] and not one.waiting
    assert one.position()["open_buy_shares"] == 0


def test_fills_move_shares_cash_and_fees() -> None:
    one = desk()
    one.tell(FILLED, leaves_shares=70, filled_shares=30, last_shares=30, last_price_e4=9_850, fee_e6=90)
    assert one.row("leaves_shares", "filled_shares") == (70, 30)
    one.tell(FILLED, leaves_shares=0, filled_shares=100, last_shares=70, last_price_e4=9_900, fee_e6=-140, final=1)
    one.ask(does.LIMITS, 2, SELL, 150, 10_000)
    one.tell(FILLED, 2, action=NEW, side=SELL, shares=150, leaves_shares=0, filled_shares=150, last_shares=150,
             last_price_e4=10_000, final=1)  # fmt: skip
    assert one.position() == dict(
        shares=-50, open_buy_shares=0, open_sell_shares=0, bought_shares=100, sold_shares=150,
        cash_e6=-30 * 985_000 - 70 * 990_000 + 150 * 1_000_000, fees_e6=-50,
    )  # fmt: skip
    assert not one.waiting


def test_a_fill_that_is_taken_back_has_negative_shares() -> None:
    one = desk()
    one.tell(FILLED, leaves_shares=70, filled_shares=30, last_shares=30, last_price_e4=9_900, fee_e6=90)
    one.tell(FILLED, leaves_shares=100, filled_shares=0, last_shares=-30, last_price_e4=9_900, fee_e6=-90)
    assert set(one.position().values()) == {0, 100}


def test_orders_are_the_oldest_first_whichever_ends() -> None:
    one = Desk()
    for token in (5, 3, 9, 7):
        one.ask(does.LIMITS, token, BUY, 100, 9_900)
    one.tell(CANCELED, 3, final=1)
    assert [row["token"] for row in one.orders()] == [5, 9, 7]
    one.tell(CANCELED, 5, final=1)
    one.ask(does.LIMITS, 3, BUY, 100, 9_900)
    assert [row["token"] for row in one.orders()] == [9, 7, 3]
    assert one.position()["open_buy_shares"] == 300


def test_a_cancel_is_pending_until_it_is_answered() -> None:
    one = desk()
    one.ask(does.CANCELS, 1)
    assert one.row("pending", "leaves_shares") == (CANCEL, 100)
    one.tell(CANCEL_REJECTED, action=CANCEL, leaves_shares=100)
    assert one.row("pending", "leaves_shares") == (0, 100)
    one.ask(does.CANCELS, 1)
    one.tell(REFUSED, action=CANCEL)
    assert one.row("pending", "leaves_shares") == (0, 100)
    one.ask(does.CANCELS, 1)
    one.tell(CANCELED, action=CANCEL, final=1)
    assert not one.waiting


@pytest.mark.parametrize(("asked", "open_shares"), [(150, 150), (60, 100)])
def test_a_pending_replace_counts_the_larger(asked: int, open_shares: int) -> None:
    one = desk()
    one.ask(does.REPLACES, 1, 0, asked, 9_800)
    assert one.row("pending", "shares", "price_e4", "pending_shares", "pending_price_e4") == (
        REPLACE, 100, 9_900, asked, 9_800,
    )  # fmt: skip
    assert one.position()["open_buy_shares"] == open_shares
    one.tell(REPLACED, action=REPLACE, shares=asked, leaves_shares=asked, price_e4=9_800)
    assert one.row("pending", "shares", "price_e4", "pending_shares", "pending_price_e4") == (0, asked, 9_800, 0, 0)
    assert one.position()["open_buy_shares"] == asked


def test_what_was_filled_is_not_open_in_a_pending_replace() -> None:
    one = desk()
    one.tell(FILLED, leaves_shares=70, filled_shares=30, last_shares=30, last_price_e4=9_900)
    one.ask(does.REPLACES, 1, 0, 150, 9_900)
    assert one.position()["open_buy_shares"] == 120


def test_of_several_requests_each_is_answered() -> None:
    one = desk(accepted=False)
    one.ask(does.REPLACES, 1, 0, 50, 9_900)
    one.ask(does.CANCELS, 1)
    assert one.row("pending", "news", "replaces", "cancels") == (CANCEL, 1, 1, 1)
    one.tell(ACCEPTED, action=NEW, leaves_shares=100)
    assert one.row("pending", "news", "replaces", "cancels") == (CANCEL, 0, 1, 1)
    one.tell(CANCEL_REJECTED, action=CANCEL, leaves_shares=100)
    assert one.row("pending", "pending_shares") == (REPLACE, 50)
    one.tell(CANCEL_REJECTED, action=REPLACE, leaves_shares=100)
    assert one.row("pending", "pending_shares") == (0, 0)


def test_a_request_outlives_its_order() -> None:
    one = desk()
    one.ask(does.CANCELS, 1)
    one.ask(does.REPLACES, 1, 0, 50, 9_900)
    one.tell(FILLED, leaves_shares=0, filled_shares=100, last_shares=100, last_price_e4=9_900, final=1)
    assert one.orders() == [] and one.desk.working.totals[STRAYS] == 2
    one.tell(CANCEL_REJECTED, action=CANCEL, final=1)
    one.tell(CANCEL_REJECTED, action=REPLACE, final=1)
    assert not one.waiting


@pytest.mark.parametrize("command", [does.CANCELS, does.REPLACES])
def test_a_request_for_a_name_not_known_is_answered_too(command: int) -> None:
    one = Desk()
    one.ask(command, 8, 0, 5, 9_900)
    assert one.orders() == [] and one.waiting
    one.tell(REFUSED, 8, action=CANCEL if command == does.CANCELS else REPLACE, final=1)
    assert not one.waiting


def test_a_request_that_is_none_is_answered_too() -> None:
    one = desk()
    one.ask(does.JUNK, 1, 0, 0, 0, 0)
    assert one.desk.working.totals[STRAYS] == 1
    one.tell(REFUSED, action=0, final=1)
    assert one.desk.working.totals[STRAYS] == 0 and len(one.orders()) == 1


@pytest.mark.parametrize("accepted", [False, True])
def test_a_name_used_twice_is_refused_and_the_order_that_bears_it_stays(accepted: bool) -> None:
    one = desk(accepted=accepted)
    one.ask(does.LIMITS, 1, SELL, 30, 10_000)
    assert one.row("side", "leaves_shares") == (BUY, 100), "the second has no row"
    one.tell(REFUSED, action=NEW, final=0, side=SELL, shares=30)
    assert one.row("side", "leaves_shares", "pending") == (BUY, 100, 0 if accepted else NEW)
    assert one.desk.working.totals[STRAYS] == 0


def test_a_refusal_never_removes_an_order_that_the_venue_has() -> None:
    one = desk()
    one.ask(does.LIMITS, 1, SELL, 30, 10_000)
    one.tell(REFUSED, action=NEW, final=1)
    assert len(one.orders()) == 1 and one.desk.working.totals[STRAYS] == 0


def test_a_name_used_twice_may_be_taken_when_the_first_was_refused() -> None:
    one = desk(accepted=False)
    one.ask(does.LIMITS, 1, SELL, 30, 10_000)
    one.tell(REFUSED, action=NEW, final=1)
    assert one.orders() == [] and one.waiting
    one.tell(ACCEPTED, action=NEW, side=SELL, shares=30, leaves_shares=30, price_e4=10_000)
    assert one.row("side", "leaves_shares", "acknowledged", "pending") == (SELL, 30, 1, 0)
    assert one.desk.working.totals[STRAYS] == 0 and one.counters()["orders_found"] == 1


def test_events_that_answer_nothing_of_ours_leave_the_requests_open() -> None:
    one = desk()
    one.ask(does.CANCELS, 5)  # not known: its answer is to come
    one.tell(CANCELED, action=CANCEL, final=1)  # the gateway's own cancel of order 1
    assert one.desk.working.totals[STRAYS] == 1


def full() -> Desk:
    one = Desk()
    for token in range(ORDERS_MAX):
        one.ask(does.LIMITS, 100 + token, BUY, 1, 9_900)
    one.ask(does.LIMITS, 1, BUY, 100, 9_900)
    assert len(one.orders()) == ORDERS_MAX and one.desk.working.totals[STRAYS] == 1
    return one


def test_beyond_the_table_an_order_is_sent_and_the_gateway_refuses_it() -> None:
    one = full()
    one.tell(REFUSED, action=NEW, final=1)
    assert one.desk.working.totals[STRAYS] == 0 and one.counters()["intents_sent"] == ORDERS_MAX + 1


def test_beyond_the_table_an_order_taken_after_another_ended_is_found() -> None:
    one = full()
    one.tell(CANCELED, 100, final=1)
    one.tell(ACCEPTED, action=NEW, leaves_shares=100)
    assert len(one.orders()) == ORDERS_MAX and one.orders()[-1]["token"] == 1


def test_more_working_orders_than_the_table_holds_are_a_kill() -> None:
    one = full()
    one.now_ns += 1
    one.event(one.now_ns, ACCEPTED, 1, action=NEW, side=BUY, shares=100, leaves_shares=100)
    (kill,) = one.run()
    assert (kill["action"], kill["reason"], kill["clock_ns"]) == (KILL, strategy.ORDERS_OVER, one.now_ns)
    assert len(one.orders()) == ORDERS_MAX and one.whole()[does.EXECUTED] == 0


@pytest.mark.parametrize("shares", [-1, -(1 << 62), 1 << 62])
def test_absurd_shares_are_summed_within_what_a_sum_holds(shares: int) -> None:
    one = desk()
    one.tell(REPLACED, shares=shares, leaves_shares=shares)
    assert one.position()["open_buy_shares"] == (0 if shares < 0 else 1 << 53)


def test_positions_are_of_one_strategy_and_one_instrument() -> None:
    drive = Drive([scripted(), scripted()], hold=False)
    fill = dict(side=BUY, shares=9, last_shares=9, last_price_e4=1, final=1)
    drive.event(1, FILLED, 1, strategy=0, instrument=1, **fill)
    drive.event(2, FILLED, 1, strategy=1, instrument=0, **fill)
    drive.run()
    assert [drive.position(k, place)["shares"] for k in (0, 1) for place in (0, 1)] == [0, 9, 9, 0]
