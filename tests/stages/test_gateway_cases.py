"""Failures seen elsewhere, with inputs of our own: cancel races, reused numbers, kills that leave orders behind, values
that are written wrongly."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from tests.stages.gateway_drive import KIND, LIMITS, Drive
from venym.records import CANCEL, KILL, SELL
from venym.stages import gateway_view as view

pytestmark = pytest.mark.plain

# ---- 31: cancel races


def race() -> tuple[Drive, int, int]:
    """100 shares on the way, a cancel behind them, and 40 executed meanwhile."""
    drive = Drive()
    order = drive.new(shares=100)
    drive.report(order, "0", "0")
    assert drive.ask(action=CANCEL) == ""
    cancel = order + 1
    drive.report(cancel, "6", "6", orig=order)
    drive.report(order, "1", "6", last=(40, 100_000), leaves=60)
    return drive, order, cancel


def kinds(events: list[dict[str, int]]) -> list[tuple[str, int]]:
    return [(KIND[event["kind"]], event["final"]) for event in events]


def test_an_order_filled_before_its_cancel_arrives() -> None:
    drive, order, cancel = race()
    drive.report(order, "2", "2", last=(60, 100_000), leaves=0)
    assert kinds(drive.reject(cancel, order, 0, "2")) == [("cancel_rejected", 1)]
    assert view.holding(drive.context, 0).shares == 100
    (held,) = view.orders(drive.context)
    assert (held.status, held.filled_shares, held.numbers[1:]) == ("final", 100, (0, 0))
    assert len(drive.messages) == 2  # no cancel once more
    assert drive.alarms() == {"unchanged": 1}


def test_an_order_the_venue_no_longer_knows_is_given_up_with_an_alarm_and_not_cancelled_for_ever() -> None:
    drive, order, cancel = race()
    assert kinds(drive.reject(cancel, order, 1, "8")) == [("cancel_rejected", 1)]
    assert view.holding(drive.context, 0)[:2] == (40, 0)
    assert drive.alarms() == {"unchanged": 1, "retired": 1}
    drive.ask(action=KILL)
    assert len(drive.messages) == 2
    drive.report(order, "2", "2", last=(60, 100_000))  # which it had after all
    assert view.holding(drive.context, 0).shares == 100


def test_an_order_cancelled_and_an_execution_of_before_said_again() -> None:
    drive, order, cancel = race()
    assert kinds(drive.report(cancel, "4", "4", orig=order)) == [("canceled", 1)]
    assert kinds(drive.report(order, "1", "4", last=(60, 100_000), fields={43: "Y"}, sequence=3)) == [("filled", 1)]
    assert view.holding(drive.context, 0)[:2] == (100, 0)
    assert drive.alarms() == {"unchanged": 1, "late_fills": 1}


# ---- 33: numbers within a day


def test_numbers_never_repeat_in_a_day_and_a_late_report_finds_no_other_order() -> None:
    before = Drive()
    sent = [before.new(token=token) for token in range(3)]
    after = Drive(first_number=view.next_number(before.context))  # the process was ended, and begins anew
    fresh = after.new(token=0)
    assert [*sent, fresh] == [1, 2, 3, 4]
    for late in sent:
        assert after.report(late, "2", "2", last=(100, 100_000)) == []
    assert after.alarms() == {"unknown_orders": 3}
    assert view.holding(after.context, 0).shares == 0
    assert view.order(after.context, 0).filled_shares == 0


def test_no_number_is_used_twice_whatever_becomes_of_the_requests() -> None:
    drive = Drive()
    for token in range(4):
        number = drive.new(token=1)
        drive.report(number, "0", "0")
        drive.clock_ns -= 2 * 10**9 if token == 2 else 0  # a clock that falls changes no number
        drive.ask(action=CANCEL)
        drive.reject(number + 1, number, 2, "0")
        drive.ask(action=CANCEL)
        drive.report(number + 2, "4", "4", orig=number)
    numbers = [int(message[11][1:]) for message in drive.messages]
    assert numbers == list(range(1, 13))


# ---- 50: kill switch and limits


def killed_drive() -> Drive:
    """One order resting, one not answered yet, one with a position beside it; then a kill."""
    drive = Drive()
    drive.report(drive.new(token=1, shares=100), "0", "0")
    drive.new(token=2, shares=200)
    drive.report(drive.new(token=3, shares=300, side=SELL), "1", "1", last=(50, 100_000))
    drive.ask(action=KILL)
    return drive


def test_every_order_is_cancelled_also_without_a_position_also_before_it_is_answered() -> None:
    drive = killed_drive()
    assert [(m[35], m[41]) for m in drive.messages[3:]] == [("F", "V1"), ("F", "V2"), ("F", "V3")]
    assert [drive.ask(token=9), drive.ask(token=9, side=SELL)] == ["killed", "killed"]


def test_a_cancel_refused_is_sent_again_until_the_order_is_no_more() -> None:
    drive = killed_drive()
    cancel = 4
    for why in (3, 2, 3, None, 99):
        drive.reject(cancel, 1, why, "6")
        cancel = int(drive.messages[-1][11][1:])
        assert (drive.messages[-1][35], drive.messages[-1][41]) == ("F", "V1")
    view.arm(drive.context)  # the alarm is cleared meanwhile: it goes on all the same
    drive.reject(cancel, 1, 3, "6")
    assert drive.messages[-1][41] == "V1"
    cancel = int(drive.messages[-1][11][1:])
    sent = len(drive.messages)
    drive.report(cancel, "4", "4", orig=1)
    drive.report(5, "4", "4", orig=2)
    drive.report(6, "4", "4", orig=3)
    assert view.open_orders(drive.context) == []
    assert view.holding(drive.context, 0)[:3] == (-50, 0, 0)
    assert len(drive.messages) == sent
    assert all(message[35] == "F" for message in drive.messages[3:])


def test_the_answer_to_a_new_order_that_crosses_the_kill_changes_nothing() -> None:
    drive = killed_drive()
    assert kinds(drive.report(2, "0", "0"))[-1] == ("accepted", 0)
    assert len(drive.messages) == 6
    drive.report(2, "1", "1", last=(200, 100_000), leaves=0)
    assert kinds(drive.reject(5, 2, 0, "2")) == []  # its own cancel is no strategy's business
    assert view.holding(drive.context, 0).shares == 150


def test_a_cancel_of_the_strategys_that_is_refused_under_a_kill_is_sent_again_by_the_gateway() -> None:
    drive = Drive()
    drive.report(drive.new(), "0", "0")
    drive.ask(action=CANCEL)
    drive.ask(action=KILL)
    assert len(drive.messages) == 2  # one is on its way
    assert kinds(drive.reject(2, 1, 3, "0"))[-1] == ("cancel_rejected", 0)
    assert (drive.messages[-1][35], drive.counters()["own_cancels"]) == ("F", 1)


def test_of_ten_orders_in_one_burst_as_many_pass_as_fit_the_limit() -> None:
    drive = Drive(LIMITS._replace(position_shares_max=500))
    drive.report(drive.new(token=0), "0", "0")  # open, and four more in flight
    answers = [drive.ask(token=token) for token in range(1, 10)]
    assert answers == [""] * 4 + ["position"] * 5
    assert [message[38] for message in drive.messages] == ["100"] * 5


# ---- 29: values


@pytest.mark.parametrize(
    ("price_e4", "text"), [(1, "0.0001"), (3_000, "0.3000"), (12_345_678, "1234.5678"), (2**31 - 1, "214748.3647")]
)
def test_prices_go_out_with_four_decimals_and_no_exponent(price_e4: int, text: str) -> None:
    drive = Drive(LIMITS._replace(order_shares_max=2**31 - 1, position_shares_max=2**40, order_notional_max_e6=10**15))
    drive.market(instrument=1, bid=price_e4, ask=price_e4)
    assert drive.ask(instrument=1, price_e4=price_e4, shares=np.int64(100)) == ""
    assert (drive.messages[-1][44], drive.messages[-1][38]) == (text, "100")


def test_a_check_sum_below_ten_has_three_digits() -> None:
    drive = Drive(LIMITS._replace(open_orders_max=2_000))
    drive.clock_ns = 35_999_999_000_000  # 9:59:59.999: the sums of digits go far apart
    while not any(octets[-7:-2] == b"10=00" for _, octets in drive.octets):
        drive.clock_ns += 111_000_000
        drive.new(token=len(drive.messages), price_e4=100 * (990 + 7 * len(drive.messages) % 100))
        assert len(drive.messages) < 200


@pytest.mark.parametrize("decimals", ["", ".123", ".123456", ".123456789"])
@pytest.mark.parametrize("shares", ["40", "40.", "40.00", "0040"])
def test_what_the_venue_writes_otherwise_is_read_as_the_same(decimals: str, shares: str) -> None:
    drive = Drive()
    number = drive.new()
    fields: dict[int, Any] = {32: shares, 31: "10", 60: f"20260105-14:30:00{decimals}", 14: "40.0", 151: "60.0"}
    drive.report(number, "1", "1", last=(40, 100_000), fields=fields)
    assert view.holding(drive.context, 0).shares == 40
    assert view.holding(drive.context, 0).cash_e6 == -int(Decimal(40) * Decimal("10") * 10**6)
    assert drive.alarms() == {}


def test_two_hundred_orders_behind_a_peer_that_stops_reading_leave_whole_and_in_order() -> None:
    drive = Drive(LIMITS._replace(open_orders_max=1_000), wire_room=4)
    rows: list[str] = []
    for token in range(200):
        rows.append(drive.ask(token=token, shares=token + 1))
    assert set(rows) == {""}
    assert [message[34] for message in drive.messages] == [str(k) for k in range(1, 201)]
    assert [message[38] for message in drive.messages] == [str(k) for k in range(1, 201)]
