"""Positions and money: the sum of the executions, once each, corrected and undone."""

from typing import Any

import pytest

from tests.stages.gateway_drive import FEES, TABLES, Drive
from venym.records import BUY, FILLED, SELL
from venym.stages import gateway_view as view
from venym.stages.positions import INSTRUMENTS_LIMIT, MONEY_MAX_E6, build_positions

pytestmark = pytest.mark.plain


def test_a_purchase_and_a_sale() -> None:
    drive = Drive()
    drive.market(instrument=1)
    buy = drive.new(token=1, shares=300)
    drive.report(buy, "1", "1", last=(100, 99_900), liquidity="A")
    drive.report(buy, "2", "2", last=(200, 100_000), liquidity="R")
    sale = drive.new(token=2, side=SELL, shares=100, strategy=1)
    drive.report(sale, "2", "2", last=(100, 100_100), liquidity="R")
    first, second, total = (view.holding(drive.context, 0, strategy) for strategy in (0, 1, None))
    assert (first.shares, first.bought_shares, first.sold_shares) == (300, 300, 0)
    assert first.cash_e6 == -(100 * 9_990_000 + 200 * 10_000_000)
    assert first.fees_e6 == 100 * FEES.make_e6 + 200 * FEES.take_e6
    assert (second.shares, second.sold_shares, second.cash_e6) == (-100, 100, 100 * 10_010_000)
    assert (total.shares, total.bought_shares, total.sold_shares) == (200, 300, 100)
    assert total.cash_e6 == first.cash_e6 + second.cash_e6
    assert total.fees_e6 == first.fees_e6 + second.fees_e6
    assert view.holding(drive.context, 1).shares == 0


def test_the_strategy_is_told_each_execution_with_its_fee() -> None:
    drive = Drive()
    number = drive.new(shares=300)
    drive.report(number, "0", "0")
    (event,) = drive.report(number, "1", "1", last=(100, 99_900), liquidity="A")
    names = ("kind", "last_shares", "last_price_e4", "fee_e6", "filled_shares", "leaves_shares", "final", "action")
    assert [event[name] for name in names] == [FILLED, 100, 99_900, 100 * FEES.make_e6, 100, 200, 0, 0]
    (event,) = drive.report(number, "2", "2", last=(200, 100_000), liquidity="R")
    assert [event[name] for name in names] == [FILLED, 200, 100_000, 200 * FEES.take_e6, 300, 0, 1, 0]


def test_an_execution_of_unknown_liquidity_costs_what_removing_costs() -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "2", "2", last=(100, 100_000), liquidity="X")
    assert view.holding(drive.context, 0).fees_e6 == 100 * FEES.take_e6
    assert drive.alarms() == {"unknown_liquidities": 1}


@pytest.mark.parametrize("again", [{}, {43: "Y"}])
def test_an_execution_said_twice_is_booked_once(again: Any) -> None:
    drive = Drive()
    number = drive.new(shares=300)
    drive.report(number, "1", "1", last=(100, 100_000), exec_id="X9")
    told = drive.report(number, "1", "1", last=(100, 100_000), exec_id="X9", fields=again, cum=100)
    assert told == []
    assert view.holding(drive.context, 0).shares == 100
    assert drive.alarms() == {"duplicate_executions": 1}


def test_one_number_for_both_sides_of_a_trade_is_two_executions() -> None:
    drive = Drive()
    buy, sale = drive.new(token=1), drive.new(token=2, side=SELL)
    drive.report(buy, "2", "2", last=(100, 100_000), exec_id="M1")
    drive.report(sale, "2", "2", last=(100, 100_000), exec_id="M1")
    total = view.holding(drive.context, 0)
    assert (total.shares, total.bought_shares, total.sold_shares) == (0, 100, 100)


def test_an_execution_said_once_more_below_the_expected_number_is_booked_if_it_was_not() -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "4", "4")
    (event,) = drive.report(number, "1", "4", last=(40, 100_000), fields={43: "Y"}, sequence=1)
    assert (event["last_shares"], event["final"]) == (40, 1)
    assert view.holding(drive.context, 0).shares == 40
    assert drive.killed() == ""
    assert drive.alarms() == {"late_fills": 1}


def test_more_than_was_left_is_booked_and_counted() -> None:
    drive = Drive()
    number = drive.new(shares=100)
    drive.report(number, "2", "2", last=(130, 100_000))
    assert view.holding(drive.context, 0).shares == 130
    assert drive.alarms() == {"over_fills": 1}
    assert view.holding(drive.context, 0).open_buy_shares == 0


@pytest.mark.parametrize(
    "fields",
    [
        {32: "0"},
        {32: 2**31},
        {31: "0.0000"},
        {31: "214748.3648"},
        {32: None},
        {31: None},
        {32: 2**31 - 1, 31: "214748"},
    ],
)
def test_an_impossible_execution_is_not_booked_and_stops_trading(fields: Any) -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "1", "1", last=(100, 100_000), fields=fields)
    assert view.holding(drive.context, 0).shares == 0
    assert drive.killed() == "not_plausible"


def test_money_is_cut_at_a_bound_and_that_stops_trading() -> None:
    drive = Drive()
    number = drive.new(shares=100)
    worth = MONEY_MAX_E6 // 100 // 2**31 * 2**31
    shares, price_e4 = 2**31 - 1, worth // 2**31
    for k in range(2):
        drive.report(number, "1", "1", last=(shares, price_e4), exec_id=f"big{k}")
    assert view.holding(drive.context, 0).cash_e6 == -MONEY_MAX_E6
    assert drive.killed() == "money"
    assert drive.counters()["money_clamped"] == 2  # the strategy's, and the total


def undone(drive: Drive, number: int, ref: str, status: str = "1", **more: Any) -> list[dict[str, int]]:
    fields = {20: "1", 19: ref} | more.pop("fields", {})
    return drive.report(number, "1", status, fields=fields, cum=more.pop("cum", 0), **more)


def test_an_execution_undone_takes_shares_money_and_fee_back() -> None:
    drive = Drive()
    number = drive.new(shares=300)
    drive.report(number, "1", "1", last=(100, 99_900), exec_id="X1", liquidity="R")
    (event,) = undone(drive, number, "X1", leaves=300)
    assert (event["kind"], event["last_shares"], event["fee_e6"]) == (FILLED, -100, -100 * FEES.take_e6)
    assert event["filled_shares"] == 0
    total = view.holding(drive.context, 0)
    assert (total.shares, total.bought_shares, total.cash_e6, total.fees_e6) == (0, 0, 0, 0)
    assert total.open_buy_shares == 300
    assert undone(drive, number, "X1", leaves=300) == []
    assert drive.alarms() == {"busts": 1, "duplicate_executions": 1}


def test_an_order_whose_last_execution_is_undone_works_again() -> None:
    drive = Drive()
    number = drive.new(shares=100)
    drive.report(number, "2", "2", last=(100, 100_000), exec_id="X1")
    assert view.open_orders(drive.context) == []
    undone(drive, number, "X1", status="0", leaves=100)
    assert [order.open_shares for order in view.open_orders(drive.context)] == [100]
    assert view.holding(drive.context, 0).open_buy_shares == 100
    assert drive.alarms() == {"busts": 1, "reopened": 1}


def test_an_execution_corrected_and_corrected_again() -> None:
    drive = Drive()
    number = drive.new(shares=300)
    drive.report(number, "1", "1", last=(100, 100_000), exec_id="X1", liquidity="R")
    told = drive.report(
        number, "1", "1", last=(50, 99_900), exec_id="X2", fields={20: "2", 19: "X1", 9882: None}, cum=50
    )
    assert [event["last_shares"] for event in told] == [-100, 50]
    assert [event["filled_shares"] for event in told] == [0, 50]
    total = view.holding(drive.context, 0)
    assert (total.shares, total.cash_e6, total.fees_e6) == (50, -50 * 9_990_000, 50 * FEES.take_e6)
    drive.report(number, "1", "1", last=(70, 99_800), exec_id="X3", fields={20: "2", 19: "X1"}, cum=70)  # by the first
    assert view.holding(drive.context, 0).shares == 70
    undone(drive, number, "X3", leaves=300)
    assert view.holding(drive.context, 0).cash_e6 == 0
    assert drive.alarms() == {"corrections": 2, "busts": 1}


def test_in_4_4_executions_are_undone_and_corrected_by_their_exec_type() -> None:
    drive = Drive(version="FIX.4.4")
    number = drive.new(shares=300)
    drive.report(number, "F", "1", last=(100, 100_000), exec_id="X1")
    drive.report(number, "G", "1", last=(60, 100_000), exec_id="X2", fields={19: "X1"}, cum=60)
    assert view.holding(drive.context, 0).shares == 60
    drive.report(number, "H", "0", exec_id="X3", fields={19: "X2"}, cum=0, leaves=300)
    assert view.holding(drive.context, 0).shares == 0
    assert drive.alarms() == {"corrections": 1, "busts": 1}


@pytest.mark.parametrize("ref", ["X7", None, "y" * 65])
def test_what_was_not_booked_cannot_be_undone(ref: Any) -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "0", "0")
    assert undone(drive, number, ref, leaves=100) == []
    assert drive.killed() == "unknown_bust"


@pytest.mark.parametrize(("exec_id", "full"), [("x" * 64, 0), ("x" * 65, 1)])
def test_an_execution_that_cannot_be_known_again_is_booked_and_stops_trading(exec_id: str, full: int) -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "1", "1", last=(10, 100_000), exec_id=exec_id)
    assert view.holding(drive.context, 0).shares == 10
    assert drive.killed() == ("executions_full" if full else "")


def test_a_full_table_of_executions_books_on_and_stops_trading() -> None:
    drive = Drive(tables=TABLES._replace(executions_max=3))
    number = drive.new()
    for k in range(4):
        assert drive.killed() == ""
        drive.report(number, "1", "1", last=(10, 100_000), exec_id=f"X{k}")
    assert view.holding(drive.context, 0).shares == 40
    assert drive.killed() == "executions_full"
    assert drive.report(number, "1", "1", last=(10, 100_000), exec_id="X0", cum=40) == []  # known ones still are


def test_a_price_between_two_units_is_cut_and_counted() -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "1", "1", last=(100, 100_000), fields={31: "9.99995"})
    assert view.holding(drive.context, 0).cash_e6 == -100 * 9_999_900
    assert drive.alarms() == {"inexact_fills": 1}


def test_a_sum_of_fills_that_is_not_the_venues_is_counted() -> None:
    drive = Drive()
    number = drive.new()
    drive.report(number, "1", "1", last=(10, 100_000), cum=30)
    assert drive.alarms() == {"cum_differs": 1}


def test_what_is_open_is_on_its_side() -> None:
    drive = Drive()
    drive.new(token=1, shares=100)
    drive.new(token=2, shares=200, side=SELL)
    total = view.holding(drive.context, 0)
    assert (total.open_buy_shares, total.open_sell_shares, total.open_sell_long_shares) == (100, 200, 0)
    assert [order.side for order in view.open_orders(drive.context)] == [BUY, SELL]


def test_too_many_instruments_are_refused() -> None:
    with pytest.raises(ValueError, match="instruments"):
        build_positions(lambda *_: None, 1, INSTRUMENTS_LIMIT + 1)  # type: ignore[arg-type, return-value]
