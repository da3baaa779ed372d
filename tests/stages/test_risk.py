"""The gate: what is refused, by which name, and what passes to the last share."""

from typing import Any

import pytest

from tests.stages.gateway_drive import LIMITS, REASON, TABLES, Drive
from venym.records import BUY, CANCEL, CROSSED, IOC, KILL, MARKET, NEW, REFUSED, REPLACE, SELL, SUSPECT, TRADABLE
from venym.stages import gateway, gateway_view
from venym.stages.orders import OPEN_LIMIT, OPEN_ORDERS
from venym.stages.risk import CANCELS_KEPT, REASON_WORDS, REASONS, RiskLimits, check_limits

pytestmark = pytest.mark.plain

SECOND_NS = 10**9
INT64 = [-(2**63), -(2**62), -1, 0, 2**31, 2**32, 2**62, 2**63 - 1]


def limits(**changes: int) -> RiskLimits:
    return LIMITS._replace(**changes)


def bought(drive: Drive, shares: int, price_e4: int = 100_000, **fields: Any) -> None:
    """A position, by an order that is filled."""
    number = drive.new(token=900 + len(drive.messages), shares=shares, price_e4=price_e4, **fields)
    drive.report(number, "2", "2", last=(shares, price_e4))


def test_every_reason_has_a_number_a_name_and_a_meaning() -> None:
    assert [reason.word for reason in REASONS] == list(range(1, REASON_WORDS))
    assert len({reason.name for reason in REASONS}) == len(REASONS)
    assert all(reason.meaning and not reason.meaning.endswith(".") for reason in REASONS)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"side": 0}, "bad_intent"), ({"side": 3}, "bad_intent"), ({"side": 5}, "bad_intent"),
        ({"ord_type": 0}, "bad_intent"), ({"ord_type": 3}, "bad_intent"), ({"tif": 1}, "bad_intent"),
        ({"tif": 255}, "bad_intent"), ({"post_only": 2}, "bad_intent"), ({"post_only": 1, "tif": IOC}, "bad_intent"),
        ({"post_only": 1, "ord_type": MARKET}, "bad_intent"), ({"post_only": 1}, ""), ({"tif": IOC}, ""),
        ({"action": 0}, "bad_intent"), ({"action": 5}, "bad_intent"), ({"action": 255}, "bad_intent"),
        ({"strategy": 2}, "bad_intent"), ({"strategy": -1}, "bad_intent"), ({"token": -(2**63)}, "bad_intent"),
        ({"token": 2**63 - 1}, ""), ({"token": 0}, ""), ({"token": -1}, ""),
        ({"instrument": 2}, "unknown_instrument"), ({"instrument": -1}, "unknown_instrument"),
        ({"instrument": 2**31 - 1}, "unknown_instrument"),
        *(({"shares": shares}, "bad_shares") for shares in INT64),
        *(({"price_e4": price_e4}, "bad_price") for price_e4 in INT64),
        *(({"price_e4": price_e4, "ord_type": MARKET}, "") for price_e4 in INT64),
        ({"shares": 10_001}, "order_size"), ({"shares": 10_000}, ""), ({"shares": 2**31 - 1}, "order_size"),
        ({"price_e4": 100_001}, "tick"), ({"price_e4": 2**31 - 48}, "collar"),
        ({"price_e4": 110_000}, ""), ({"price_e4": 110_100}, "collar"), ({"price_e4": 100}, ""),
        ({"side": SELL, "price_e4": 90_000}, ""), ({"side": SELL, "price_e4": 89_900}, "collar"),
        ({"side": SELL, "price_e4": 900_000}, ""),
    ],
)  # fmt: skip
def test_an_order_by_itself(fields: Any, reason: str) -> None:
    drive = Drive()
    assert drive.ask(**fields) == reason
    assert len(drive.messages) == (reason == "")
    assert gateway_view.refusals(drive.context) == ({reason: 1} if reason else {})


@pytest.mark.parametrize("action", [CANCEL, REPLACE])
@pytest.mark.parametrize("garbage", INT64)
def test_garbage_for_an_order_that_is_there(action: int, garbage: int) -> None:
    drive = Drive()
    drive.report(drive.new(), "0", "0")
    assert drive.ask(action=action, token=garbage, shares=200) == "unknown_token"
    if action == REPLACE:
        assert drive.ask(action=action, shares=garbage) == "bad_shares"
        assert drive.ask(action=action, shares=200, price_e4=garbage) == "bad_price"
    assert drive.ask(action=action, shares=200, side=garbage & 0xFF, ord_type=garbage & 0xFF) == ""  # the order's own


def test_a_lot_is_of_its_instrument() -> None:
    drive = Drive()
    drive.market(instrument=1)
    assert drive.ask(instrument=1, shares=150) == "lot"
    assert drive.ask(instrument=1, shares=300, price_e4=100_001) == ""
    assert drive.messages[-1][55] == "OTHER.B"


@pytest.mark.parametrize(
    ("market", "fields", "reason"),
    [
        ({"marks": 0}, {}, "not_tradable"), ({"marks": TRADABLE | SUSPECT}, {}, "suspect"),
        ({"marks": TRADABLE | CROSSED}, {}, "crossed"), ({"marks": SUSPECT}, {}, "not_tradable"),
        ({"ask": 0}, {}, "no_market"), ({"ask": 0, "last": 100_000}, {}, ""), ({"ask": 0}, {"side": SELL}, ""),
        ({"bid": 0}, {"side": SELL}, "no_market"), ({"bid": 0, "last": 100_000}, {"side": SELL}, ""),
        ({"ask": 0, "last": 100_000}, {"ord_type": MARKET}, "no_market"),
        ({"bid": 0}, {"ord_type": MARKET}, "no_market"), ({}, {"ord_type": MARKET}, ""),
        ({"ask": 0, "last": 90_000}, {"price_e4": 99_100}, "collar"),
        ({"bid": 2**32 - 1, "ask": 2**32 - 1}, {"side": SELL}, "collar"),
        ({"bid": 2**32 - 1, "ask": 2**32 - 1}, {"ord_type": MARKET, "shares": 10_000}, "notional"),
    ],
)  # fmt: skip
def test_the_market_it_is_judged_by(market: Any, fields: Any, reason: str) -> None:
    drive = Drive()
    drive.market(**market)
    assert drive.ask(**fields) == reason


def test_no_order_before_the_first_market_state() -> None:
    assert Drive(market=False).ask() == "no_market"


@pytest.mark.parametrize("marks", [0, TRADABLE | SUSPECT, TRADABLE | CROSSED])
def test_a_cancel_passes_where_no_order_does(marks: int) -> None:
    drive = Drive()
    drive.report(drive.new(), "0", "0")
    drive.market(marks=marks)
    assert drive.ask(action=REPLACE, shares=200) != ""
    assert drive.ask(action=CANCEL) == ""


def test_an_instrument_whose_last_event_is_old_is_stale() -> None:
    drive = Drive(limits(stale_ns=3 * SECOND_NS))
    drive.clock_ns = 3 * SECOND_NS - 1
    assert drive.ask(token=1) == ""
    drive.clock_ns += 1
    drive.market(instrument=1)  # another one's
    assert drive.ask(token=2) == "stale"
    drive.market(instrument=0)
    assert drive.ask(token=3) == ""


def test_worth_of_an_order() -> None:
    drive = Drive(limits(order_notional_max_e6=1_000_000_000))  # 1,000 dollars
    assert drive.ask(shares=100) == ""
    assert drive.ask(shares=101, token=2) == "notional"
    assert drive.ask(shares=101, token=2, ord_type=MARKET) == "notional"
    assert drive.ask(shares=101, token=2, ord_type=MARKET, side=SELL) == "notional"  # at 9.99
    assert drive.ask(shares=100, token=3, ord_type=MARKET, side=SELL) == ""


def test_of_a_burst_of_ten_five_pass() -> None:
    drive = Drive(limits(position_shares_max=500))
    answers = [drive.ask(token=k) for k in range(10)]
    assert answers == [""] * 5 + ["position"] * 5
    assert gateway_view.holding(drive.context, 0).open_buy_shares == 500


def test_the_position_counts_what_is_held_and_what_is_open_on_each_side() -> None:
    drive = Drive(limits(position_shares_max=500))
    bought(drive, 300)
    assert drive.ask(token=1, shares=201) == "position"
    assert drive.ask(token=1, shares=200) == ""
    assert drive.ask(token=2, side=SELL, shares=801) == "position"
    assert drive.ask(token=2, side=SELL, shares=800) == ""
    assert drive.ask(token=3, side=SELL, shares=1) == "position"
    assert drive.ask(token=4, strategy=1, shares=501) == "position"
    assert drive.ask(token=4, strategy=1, shares=500) == ""  # each strategy has its own


def test_a_replace_counts_with_the_larger_until_it_is_answered() -> None:
    drive = Drive(limits(position_shares_max=500))
    number = drive.new(shares=300)
    drive.report(number, "0", "0")
    assert drive.ask(action=REPLACE, shares=501) == "position"
    assert drive.ask(action=REPLACE, shares=100) == ""  # smaller: 300 still count
    assert drive.ask(token=2, shares=201) == "position"
    drive.report(number + 1, "5", "0", orig=number)
    assert drive.ask(token=2, shares=401) == "position"
    assert drive.ask(token=2, shares=400) == ""


def test_an_order_may_be_made_smaller_when_a_limit_is_passed_already() -> None:
    drive = Drive(limits(position_shares_max=500))
    number = drive.new(shares=300)
    drive.report(number, "0", "0")
    drive.report(number, "1", "1", last=(250, 100_000), exec_id="a")
    other = drive.new(token=2, shares=200)
    drive.report(other, "1", "1", last=(900, 100_000))  # more than was asked for
    assert drive.ask(action=REPLACE, shares=301) == "position"
    assert drive.ask(action=REPLACE, shares=280) == ""


def test_no_total_at_or_below_what_is_filled() -> None:
    drive = Drive()
    number = drive.new(shares=300)
    drive.report(number, "1", "1", last=(250, 100_000))
    assert drive.ask(action=REPLACE, shares=250) == "bad_shares"
    assert drive.ask(action=REPLACE, shares=251) == ""


def test_worth_of_everything() -> None:
    drive = Drive(limits(gross_notional_max_e6=5_000_000_000))  # 5,000 dollars
    bought(drive, 200)
    assert drive.ask(token=1, shares=200) == ""
    assert drive.ask(token=2, shares=101) == "gross"
    drive.market(instrument=1)
    assert drive.ask(token=2, shares=200, instrument=1) == "gross"
    assert drive.ask(token=2, shares=100, instrument=1, side=SELL) == ""
    assert drive.ask(token=3, side=SELL, shares=10, price_e4=99_900) == "gross"


@pytest.mark.parametrize("short_sales", [0, 1])
def test_a_sale_is_short_where_what_is_held_and_not_on_sale_is_less(short_sales: int) -> None:
    drive = Drive(limits(short_sales=short_sales))
    refused = "" if short_sales else "short"
    assert drive.ask(token=1, side=SELL) == refused
    bought(drive, 300)
    assert drive.ask(token=2, side=SELL, shares=200) == ""
    assert drive.messages[-1][54] == "2"
    assert drive.ask(token=3, side=SELL, shares=101) == refused
    assert drive.messages[-1][54] == ("5" if short_sales else "2")
    assert drive.ask(token=4, side=SELL, shares=100) == ""
    assert drive.messages[-1][54] == "2"


def test_a_long_sale_does_not_become_short_by_a_replace() -> None:
    drive = Drive()
    bought(drive, 300)
    number = drive.new(token=2, side=SELL, shares=200)
    drive.report(number, "0", "0")
    assert drive.ask(action=REPLACE, token=2, shares=301) == "short"
    assert drive.ask(action=REPLACE, token=2, shares=300) == ""
    assert (drive.messages[-1][54], drive.messages[-1][38]) == ("2", "300")


def test_open_orders_of_a_strategy_in_an_instrument() -> None:
    drive = Drive(limits(open_orders_max=2))
    first = drive.new(token=1)
    assert drive.ask(token=2) == ""
    assert drive.ask(token=3) == "open_orders"
    assert drive.ask(token=3, strategy=1) == ""
    drive.report(first, "4", "4")
    assert drive.ask(token=3) == ""


def test_messages_in_any_second() -> None:
    drive = Drive(limits(messages_per_second_max=3))
    for k, clock_ns in enumerate((0, 1, SECOND_NS - 1)):
        drive.clock_ns = clock_ns
        assert drive.ask(token=k) == ""
    assert drive.ask(token=9) == "rate"
    drive.clock_ns = SECOND_NS
    assert drive.ask(token=3) == ""
    assert drive.ask(token=9) == "rate"


def test_cancels_count_towards_the_rate_but_are_never_refused_for_it() -> None:
    drive = Drive(limits(messages_per_second_max=2))
    drive.new(token=1)
    drive.new(token=2)
    assert [drive.ask(action=CANCEL, token=token) for token in (1, 2)] == ["", ""]
    drive.clock_ns = SECOND_NS - 1
    assert drive.ask(token=3) == "rate"
    drive.clock_ns = SECOND_NS
    assert drive.ask(token=3) == ""


def test_tokens_are_of_a_strategy_in_an_instrument_while_the_order_works() -> None:
    drive = Drive()
    drive.market(instrument=1)
    number = drive.new(token=5)
    assert drive.ask(token=5) == "duplicate_token"
    assert drive.events[-1]["final"] == 0  # there is a working order of that token
    assert drive.ask(token=5, strategy=1) == ""
    assert drive.ask(token=5, instrument=1) == ""
    drive.report(number, "4", "4")
    assert drive.ask(token=5) == ""


def test_one_request_at_a_time_but_a_cancel_needs_no_answer_before() -> None:
    drive = Drive()
    number = drive.new()
    assert drive.ask(action=REPLACE, shares=200) == "pending"  # the venue has not said that it has it
    drive.report(number, "0", "0")
    assert drive.ask(action=REPLACE, shares=200) == ""
    assert drive.ask(action=REPLACE, shares=300) == "pending"
    assert drive.ask(action=CANCEL) == ""
    assert drive.ask(action=CANCEL) == "pending"
    assert drive.ask(action=REPLACE, shares=300) == "pending"


def test_a_cancel_needs_no_acknowledged_order() -> None:
    drive = Drive()
    number = drive.new()
    assert drive.ask(action=CANCEL) == ""
    assert drive.messages[-1][41] == f"V{number}"


def test_a_market_order_is_not_replaced() -> None:
    drive = Drive()
    drive.report(drive.new(ord_type=MARKET), "0", "0")
    assert drive.ask(action=REPLACE, shares=200) == "bad_intent"


def test_tables_keep_cancels_back() -> None:
    drive = Drive(tables=TABLES._replace(orders_max=4, requests_max=16))
    assert [drive.ask(token=k) for k in range(5)] == [""] * 3 + ["table_full"] * 2  # 3 sent, 4 cancels each kept back
    for token in range(3):
        assert drive.ask(action=CANCEL, token=token) == ""
    drive.report(1, "4", "4")
    drive.report(2, "4", "4")
    assert drive.ask(token=7) == ""
    drive.report(3, "4", "4")
    drive.report(7, "4", "4")
    assert drive.ask(token=8) == "table_full"  # orders_max


def test_no_more_orders_are_open_at_once_than_their_values_can_be_summed() -> None:
    drive = Drive(tables=TABLES._replace(requests_max=CANCELS_KEPT * (OPEN_LIMIT + 3)))
    open_orders = drive.context.orders.words
    open_orders[OPEN_ORDERS] = OPEN_LIMIT - 1
    assert drive.ask(token=1) == ""
    assert open_orders[OPEN_ORDERS] == OPEN_LIMIT
    assert drive.ask(token=2) == "table_full"


def test_a_full_table_of_requests_refuses_even_cancels_and_is_alarmed_in_a_kill() -> None:
    drive = Drive(tables=TABLES._replace(orders_max=1, requests_max=5))
    number = drive.new()
    for cancel in range(2, 6):
        assert drive.ask(action=CANCEL) == ""
        drive.reject(cancel, number, 3, "0")
    assert drive.ask(action=CANCEL) == "table_full"
    drive.ask(action=KILL)
    assert drive.counters()["requests_full"] >= 1
    assert len(drive.messages) == 5


def test_a_process_observes_until_it_is_armed() -> None:
    drive = Drive(armed=False)
    assert drive.ask() == "not_armed"
    assert not gateway_view.armed(drive.context)
    gateway_view.arm(drive.context)
    assert drive.ask() == ""
    drive.report(1, "0", "0")
    gateway_view.disarm(drive.context)
    assert drive.ask(token=2) == "not_armed"
    assert drive.ask(action=REPLACE, shares=200) == "not_armed"
    assert drive.ask(action=CANCEL) == ""


def test_what_the_encoder_would_not_write_is_refused_and_changes_nothing() -> None:
    drive = Drive()
    drive.context.words[gateway.w.OUT_SEQUENCE] = 2**53 + 1
    assert drive.ask() == "encode"
    assert gateway_view.orders(drive.context) == []
    assert gateway_view.holding(drive.context, 0).open_buy_shares == 0


def test_a_refusal_tells_what_was_asked_and_what_there_is() -> None:
    drive = Drive()
    assert drive.ask(token=77, shares=-1, price_e4=5) == "bad_shares"
    (event,) = drive.fresh()
    assert (event["token"], event["shares"], event["price_e4"], event["reason"]) == (77, -1, 5, REASON["bad_shares"])
    assert (event["kind"], event["action"], event["final"]) == (REFUSED, NEW, 1)
    number = drive.new(token=1)
    drive.report(number, "1", "1", last=(30, 100_000))
    assert drive.ask(token=1, action=REPLACE, shares=30) == "bad_shares"
    (event,) = drive.fresh()
    told = [event[name] for name in ("shares", "leaves_shares", "filled_shares", "side", "action", "final")]
    assert told == [100, 70, 30, BUY, REPLACE, 0]
    assert drive.ask(token=2, action=CANCEL) == "unknown_token"
    assert drive.fresh()[0]["final"] == 1


@pytest.mark.parametrize(
    "change",
    [
        {"order_shares_max": 0}, {"order_shares_max": 2**31}, {"order_notional_max_e6": 0}, {"collar_bps": 10_001},
        {"collar_bps": -1}, {"messages_per_second_max": 0}, {"open_orders_max": 0}, {"stale_ns": -1},
        {"short_sales": 2}, {"gross_notional_max_e6": 2**62}, {"position_shares_max": -1},
        {"order_shares_max": float("nan")}, {"order_shares_max": 1.5},
    ],
)  # fmt: skip
def test_limits_that_could_not_be_held_to_are_refused_by_name(change: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(change))):
        check_limits(LIMITS._replace(**change))
