"""What becomes of an order: every answer of the venue, in and out of turn, and what it counts with meanwhile."""

from typing import Any

import pytest

from tests.stages.gateway_drive import KIND, TABLES, Drive, zeroed
from venym.records import BUY, CANCEL, KILL, NEW, REPLACE, SELL
from venym.stages import gateway_view as view
from venym.stages.orders import NO_TOKEN, ORDERS_LIMIT, build_orders
from venym.wire.fix_encode import CL_ORD_ID_MAX

pytestmark = pytest.mark.plain


def summary(events: list[dict[str, int]]) -> list[tuple[str, int, int]]:
    return [(KIND[event["kind"]], event["action"], event["final"]) for event in events]


def opened(**fields: Any) -> tuple[Drive, int]:
    """A drive with one order that the venue has."""
    drive = Drive()
    number = drive.new(**fields)
    assert summary(drive.report(number, "0", "0")) == [("accepted", NEW, 0)]
    return drive, number


def exposure(drive: Drive) -> int:
    total = view.holding(drive.context, 0)
    return total.open_buy_shares + total.open_sell_shares


def status(drive: Drive, row: int = 0) -> str:
    return view.order(drive.context, row).status


# ---- new orders


def test_an_order_counts_from_before_it_is_answered() -> None:
    drive = Drive()
    drive.new(shares=300)
    assert (status(drive), exposure(drive)) == ("sent", 300)


@pytest.mark.parametrize(
    ("kind", "tag39", "told"),
    [
        ("0", "0", ("accepted", NEW, 0)), ("8", "8", ("rejected", NEW, 1)), ("4", "4", ("canceled", NEW, 1)),
        ("C", "C", ("expired", NEW, 1)), ("3", "3", ("expired", NEW, 1)),
    ],
)  # fmt: skip
def test_an_answer_to_a_new_order(kind: str, tag39: str, told: Any) -> None:
    drive = Drive()
    number = drive.new(shares=300)
    assert summary(drive.report(number, kind, tag39)) == [told]
    assert exposure(drive) == (0 if told[2] else 300)
    assert drive.alarms() == {}


@pytest.mark.parametrize("kind", ["A", "6", "E", "7", "9", "B"])
def test_what_is_pending_or_suspended_changes_nothing(kind: str) -> None:
    drive = Drive()
    number = drive.new(shares=300)
    assert drive.report(number, kind, kind if kind != "B" else "0") == []
    assert (status(drive), exposure(drive)) == ("sent", 300)
    assert drive.alarms() == {"unchanged": 1}


@pytest.mark.parametrize("fields", [{20: "3"}, {150: "I", 20: None}])
def test_a_status_is_no_execution(fields: Any) -> None:
    drive, number = opened()
    assert drive.report(number, "1", "1", last=(100, 100_000), fields=fields) == []
    assert view.holding(drive.context, 0).shares == 0


def test_a_reject_tells_the_venues_reason() -> None:
    drive = Drive()
    (event,) = drive.report(drive.new(), "8", "8", fields={103: 11})
    assert (event["reason"], event["leaves_shares"]) == (11, 0)
    (event,) = drive.report(drive.new(token=2), "8", "8")
    assert event["reason"] == -1


def test_an_execution_before_the_answer_is_the_answer() -> None:
    drive = Drive()
    number = drive.new(shares=300)
    assert summary(drive.report(number, "1", "1", last=(100, 100_000))) == [("filled", NEW, 0)]
    assert (status(drive), exposure(drive)) == ("open", 200)
    assert drive.report(number, "0", "0", cum=100) == []
    assert drive.alarms() == {"stale_reports": 1}


@pytest.mark.parametrize("told", [{39: "6"}, {39: "E"}, {39: "2"}])
def test_an_execution_that_leaves_nothing_ends_an_order_whatever_hides_its_status(told: Any) -> None:
    drive, number = opened()
    assert summary(drive.report(number, "2", told[39], last=(100, 100_000), leaves=0)) == [("filled", 0, 1)]


def test_confirmed_terms_are_taken_and_counted() -> None:
    drive = Drive()
    number = drive.new(shares=300)
    (event,) = drive.report(number, "0", "0", fields={38: 200, 44: "9.9900"})
    assert (event["shares"], event["price_e4"], event["leaves_shares"]) == (200, 99_900, 200)
    assert exposure(drive) == 200
    assert drive.alarms() == {"terms_differ": 2}


@pytest.mark.parametrize("fields", [{38: 0}, {38: 2**31}, {44: "0.0000"}, {44: "10.00005"}, {44: "214748.3648"}])
def test_impossible_terms_are_not_taken(fields: Any) -> None:
    drive = Drive()
    (event,) = drive.report(drive.new(), "0", "0", fields=fields)
    assert (event["shares"], event["price_e4"]) == (100, 100_000)


def test_a_restatement_changes_the_order_unasked() -> None:
    drive, number = opened(shares=300)
    (event,) = drive.report(number, "D", "0", fields={38: 100})
    assert (KIND[event["kind"]], event["action"], event["shares"]) == ("replaced", 0, 100)
    assert exposure(drive) == 100


def test_a_duplicate_of_the_number_says_nothing_of_the_first_order() -> None:
    drive, number = opened()
    assert drive.report(number, "8", "8", fields={103: 6}) == []
    assert status(drive) == "open"


# ---- cancels


def canceling(**fields: Any) -> tuple[Drive, int, int]:
    drive, number = opened(**fields)
    assert drive.ask(action=CANCEL) == ""
    return drive, number, number + 1


def test_a_cancel_is_done() -> None:
    drive, number, cancel = canceling(shares=300)
    assert [drive.messages[-1][tag] for tag in (35, 11, 41, 38, 54)] == ["F", f"V{cancel}", f"V{number}", "300", "1"]
    assert drive.report(cancel, "6", "6", orig=number) == []
    assert exposure(drive) == 300
    assert summary(drive.report(cancel, "4", "4", orig=number)) == [("canceled", CANCEL, 1)]
    assert exposure(drive) == 0


@pytest.mark.parametrize(("why", "tag39"), [(3, "6"), (2, "0"), (None, "1"), (99, "0"), (0, "0")])
def test_a_cancel_is_refused_and_may_be_asked_for_again(why: Any, tag39: str) -> None:
    drive, number, cancel = canceling()
    (event,) = drive.reject(cancel, number, why, tag39)
    assert (KIND[event["kind"]], event["action"], event["final"]) == ("cancel_rejected", CANCEL, 0)
    assert event["reason"] == (-1 if why is None else why)
    assert drive.ask(action=CANCEL) == ""
    assert drive.alarms() == {}


@pytest.mark.parametrize(("why", "tag39"), [(1, "8"), (1, "0"), (0, "2"), (0, "4"), (3, "C")])
def test_a_cancel_reject_that_says_there_is_no_such_order_ends_it_and_is_an_alarm(why: int, tag39: str) -> None:
    drive, number, cancel = canceling()
    assert summary(drive.reject(cancel, number, why, tag39)) == [("cancel_rejected", CANCEL, 1)]
    assert (status(drive), exposure(drive)) == ("final", 0)
    assert drive.alarms() == {"retired": 1}
    assert drive.ask(action=CANCEL) == "unknown_token"


def test_an_unasked_cancel_leaves_the_asked_one_to_be_answered() -> None:
    drive, number, cancel = canceling()
    assert summary(drive.report(number, "4", "4")) == [("canceled", 0, 1)]
    assert summary(drive.reject(cancel, number, 1, "4")) == [("cancel_rejected", CANCEL, 1)]
    assert drive.alarms() == {}


def test_a_cancel_of_an_order_not_answered_yet() -> None:
    drive = Drive()
    number = drive.new()
    assert drive.ask(action=CANCEL) == ""
    assert summary(drive.report(number, "0", "0")) == [("accepted", NEW, 0)]
    assert summary(drive.report(number + 1, "4", "4", orig=number)) == [("canceled", CANCEL, 1)]


def test_answers_said_twice_are_stale() -> None:
    drive, number, cancel = canceling()
    drive.report(cancel, "4", "4", orig=number)
    assert drive.report(cancel, "4", "4", orig=number) == []
    assert drive.reject(cancel, number, 1, "8") == []
    assert drive.alarms() == {"stale_reports": 2}


# ---- replaces


def replacing(shares: int, price_e4: int = 99_900, first: int = 300) -> tuple[Drive, int, int]:
    drive, number = opened(shares=first)
    assert drive.ask(action=REPLACE, shares=shares, price_e4=price_e4) == ""
    return drive, number, number + 1


def test_a_replace_is_done() -> None:
    drive, number, replace = replacing(500)
    sent = drive.messages[-1]
    assert [sent[tag] for tag in (35, 11, 41, 38, 44, 54)] == ["G", f"V{replace}", f"V{number}", "500", "9.9900", "1"]
    assert exposure(drive) == 500
    assert drive.report(replace, "E", "E", orig=number) == []
    (event,) = drive.report(replace, "5", "0", orig=number)
    assert summary([event]) == [("replaced", REPLACE, 0)]
    assert (event["shares"], event["price_e4"], event["leaves_shares"]) == (500, 99_900, 500)
    assert drive.ask(action=CANCEL) == ""
    assert drive.messages[-1][41] == f"V{replace}"  # the venue has it under its new number


@pytest.mark.parametrize("shares", [500, 100])
def test_a_replace_counts_with_the_larger_and_refused_with_what_was(shares: int) -> None:
    drive, number, replace = replacing(shares)
    assert exposure(drive) == max(shares, 300)
    assert summary(drive.reject(replace, number, 0, "0")) == [("cancel_rejected", REPLACE, 0)]
    assert exposure(drive) == 300
    assert drive.ask(action=CANCEL) == ""
    assert drive.messages[-1][41] == f"V{number}"


def test_an_execution_that_crosses_a_replace_counts_against_the_new_total() -> None:
    drive, number, replace = replacing(200)
    drive.report(number, "1", "E", last=(150, 100_000), leaves=150)
    assert exposure(drive) == 150
    (event,) = drive.report(replace, "5", "1", orig=number, leaves=50)
    assert (event["shares"], event["filled_shares"], event["leaves_shares"]) == (200, 150, 50)
    assert exposure(drive) == 50


def test_a_replace_to_what_is_filled_by_now_ends_the_order() -> None:
    drive, number, replace = replacing(200)
    drive.report(number, "1", "E", last=(200, 100_000), leaves=100)
    assert summary(drive.report(replace, "5", "2", orig=number, leaves=0)) == [("replaced", REPLACE, 1)]
    assert exposure(drive) == 0


@pytest.mark.parametrize("tag39", ["2", "E"])
def test_an_order_filled_under_a_larger_replace_counts_until_that_is_answered(tag39: str) -> None:
    drive, number, replace = replacing(500)
    assert summary(drive.report(number, "2", tag39, last=(300, 100_000), leaves=0)) == [("filled", 0, 0)]
    assert exposure(drive) == 200
    assert summary(drive.reject(replace, number, 0, "2")) == [("cancel_rejected", REPLACE, 1)]
    assert exposure(drive) == 0
    assert drive.alarms() == {}


def test_an_order_filled_under_a_larger_replace_goes_on_when_that_is_done() -> None:
    drive, number, replace = replacing(500)
    drive.report(number, "2", "2", last=(300, 100_000))
    assert summary(drive.report(replace, "5", "1", orig=number, leaves=200)) == [("replaced", REPLACE, 0)]
    assert exposure(drive) == 200


def test_a_cancel_behind_a_replace_names_the_replace_and_survives_its_refusal() -> None:
    drive, number, replace = replacing(500)
    assert drive.ask(action=CANCEL) == ""
    assert [drive.messages[-1][tag] for tag in (41, 38)] == [f"V{replace}", "500"]
    drive.reject(replace, number, 0, "0")
    told = summary(drive.reject(replace + 1, replace, 1, "8"))  # of course it does not know that number
    assert told == [("cancel_rejected", CANCEL, 0)]
    assert (status(drive), exposure(drive)) == ("open", 300)
    assert drive.ask(action=CANCEL) == ""
    assert drive.messages[-1][41] == f"V{number}"


def test_a_replace_that_was_not_asked_for_is_stale() -> None:
    drive, number = opened()
    assert drive.report(number, "5", "0", fields={38: 900}) == []
    assert exposure(drive) == 100
    assert drive.alarms() == {"stale_reports": 1}


def test_a_replace_rejected_by_an_execution_report() -> None:
    drive, number, replace = replacing(500)
    assert summary(drive.report(replace, "8", "8", orig=number)) == [("cancel_rejected", REPLACE, 0)]
    assert exposure(drive) == 300


# ---- after the end


def test_a_late_execution_is_booked_and_does_not_bring_the_order_back() -> None:
    drive, number = opened()
    drive.report(number, "4", "4")
    assert summary(drive.report(number, "1", "1", last=(40, 100_000), leaves=60)) == [("filled", 0, 1)]
    assert view.holding(drive.context, 0).shares == 40
    assert exposure(drive) == 0
    assert drive.alarms() == {"late_fills": 1}


def test_a_late_execution_does_not_bear_the_token_of_a_later_order() -> None:
    drive, number = opened(token=5)
    drive.report(number, "4", "4")
    drive.new(token=5)
    (event,) = drive.report(number, "1", "4", last=(40, 100_000))
    assert (event["token"], event["last_shares"]) == (NO_TOKEN, 40)


def test_an_order_that_the_venue_says_works_after_all_counts_again_and_is_a_kill() -> None:
    drive, number = opened()
    drive.report(number, "4", "4")
    assert summary(drive.report(number, "0", "0")) == [("accepted", 0, 0)]
    assert exposure(drive) == 100
    assert drive.killed() == "contradiction"
    assert [drive.messages[-1][tag] for tag in (35, 41)] == ["F", f"V{number}"]


def test_what_is_said_again_does_not_bring_an_order_back() -> None:
    drive, number = opened()
    drive.report(number, "4", "4")
    assert drive.report(number, "0", "0", fields={43: "Y"}, sequence=1) == []
    assert (exposure(drive), drive.killed()) == (0, "")


# ---- what is not ours


@pytest.mark.parametrize("cl_ord_id", [None, "V", "V0", "V01", "V2", "W1", "1", "V1x", "V999999999999999999"])
def test_a_number_that_is_none_of_ours_is_counted_and_not_applied(cl_ord_id: Any) -> None:
    drive, number = opened()
    assert drive.report(number, "2", "2", last=(100, 100_000), fields={11: cl_ord_id}) == []
    assert view.holding(drive.context, 0).shares == 0
    assert drive.alarms() == {"unknown_orders": 1}
    assert drive.killed() == ""


@pytest.mark.parametrize("fields", [{55: "OTHER"}, {55: "TOOLONGFORUS"}, {54: "2"}, {54: "5"}, {41: "V2"}])
def test_a_report_that_does_not_fit_the_order_it_names_is_not_applied_and_stops_trading(fields: Any) -> None:
    drive, number = opened()
    drive.new(token=2)
    assert drive.report(number, "2", "2", last=(100, 100_000), fields=fields) == []
    assert view.holding(drive.context, 0).shares == 0
    assert drive.killed() == "mismatch"


def test_a_short_sale_may_be_told_as_any_sale() -> None:
    drive = Drive()
    number = drive.new(side=SELL)
    drive.report(number, "0", "0", fields={54: "5"})
    drive.report(number, "1", "1", last=(10, 100_000), fields={54: "2"})
    assert view.holding(drive.context, 0).shares == -10


def test_a_cancel_reject_of_a_new_order_is_a_mismatch() -> None:
    drive, number = opened()
    drive.reject(number, number, 1, "8")
    assert drive.killed() == "mismatch"


# ---- the table


def test_open_orders_are_listed_oldest_first_and_as_they_stand() -> None:
    drive = Drive()
    numbers = [drive.new(token=token, shares=100 + token) for token in (3, 1, 2)]
    drive.report(numbers[1], "4", "4")
    drive.new(token=1, strategy=1)
    held = view.open_orders(drive.context)
    assert [(o.strategy, o.token, o.shares, o.side, o.symbol) for o in held] == [
        (0, 3, 103, BUY, "TEST"), (0, 2, 102, BUY, "TEST"), (1, 1, 100, BUY, "TEST"),
    ]  # fmt: skip
    assert [o.token for o in view.open_orders(drive.context, strategy=1)] == [1]
    assert view.open_orders(drive.context, instrument=1) == []
    assert [o.status for o in view.orders(drive.context)] == ["sent", "final", "sent", "sent"]


def test_numbers_begin_where_they_are_told_to() -> None:
    drive = Drive(first_number=1_000_000)
    assert drive.new() == 1_000_000
    assert view.next_number(drive.context) == 1_000_001
    assert summary(drive.report(1_000_000, "0", "0")) == [("accepted", NEW, 0)]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"orders_max": 0}, "orders_max"), ({"orders_max": ORDERS_LIMIT + 1}, "orders_max"),
        ({"requests_max": 5}, "requests_max"), ({"first_number": 0}, "first ClOrdID"),
        ({"first_number": CL_ORD_ID_MAX}, "first ClOrdID"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_are_refused(change: Any, says: str) -> None:
    right = dict(orders_max=TABLES.orders_max, requests_max=TABLES.requests_max, strategies=1, instruments=1)
    with pytest.raises(ValueError, match=says):
        build_orders(zeroed, **(right | change))


def test_after_a_kill_an_order_is_told_to_its_strategy_to_the_end() -> None:
    drive, number = opened()
    drive.ask(action=KILL)
    assert summary(drive.report(number + 1, "4", "4", orig=number)) == [("canceled", 0, 1)]
