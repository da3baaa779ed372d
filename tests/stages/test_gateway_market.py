"""What the market does to orders: no new one where it stops, and what rests is canceled if the limits say so."""

import pytest

from tests.stages.gateway_drive import LIMITS, Drive
from venym.records import CROSSED, GAPPED, SUSPECT, TRADABLE
from venym.stages import gateway_view as view

pytestmark = pytest.mark.plain

BOTH = LIMITS._replace(cancel_halted=1, cancel_gapped=1)
STOPS = {
    "halted": (dict(state=ord("H"), marks=0), "not_tradable"),
    "paused": (dict(state=ord("P"), marks=0), "not_tradable"),
    "quotation only": (dict(state=ord("Q"), marks=0), "not_tradable"),
    "never announced": (dict(state=0, marks=0), "not_tradable"),
    "gapped": (dict(marks=TRADABLE | GAPPED), "gapped"),
}


def resting(drive: Drive, token: int = 1, **fields: int) -> int:
    number = drive.new(token=token, **fields)
    drive.report(number, "0", "0")
    return number


@pytest.mark.parametrize("stop", STOPS)
def test_nothing_new_leaves_while_the_market_stops_and_again_once_it_goes_on(stop: str) -> None:
    drive = Drive()
    fields, reason = STOPS[stop]
    drive.market(**fields)
    assert drive.ask() == reason
    drive.market()
    assert drive.ask() == ""


@pytest.mark.parametrize("stop", STOPS)
def test_what_rests_is_canceled_once_when_the_market_stops(stop: str) -> None:
    drive = Drive(BOTH)
    number = resting(drive)
    drive.market(**STOPS[stop][0])
    assert [(m[35], m[41]) for m in drive.messages[1:]] == [("F", f"V{number}")]
    drive.market(**STOPS[stop][0])  # still stopped
    assert len(drive.messages) == 2
    assert drive.counters()["own_cancels"] == 1


@pytest.mark.parametrize("stop", STOPS)
def test_it_stays_where_the_limits_do_not_say_so(stop: str) -> None:
    drive = Drive(LIMITS)
    resting(drive)
    drive.market(**STOPS[stop][0])
    assert len(drive.messages) == 1


@pytest.mark.parametrize(("limit", "stop"), [("cancel_halted", "gapped"), ("cancel_gapped", "halted")])
def test_each_limit_is_for_its_own_kind_of_stop(limit: str, stop: str) -> None:
    drive = Drive(LIMITS._replace(**{limit: 1}))
    resting(drive)
    drive.market(**STOPS[stop][0])
    assert len(drive.messages) == 1


def test_orders_of_every_strategy_in_that_instrument_and_no_other_are_canceled() -> None:
    drive = Drive(BOTH)
    drive.market(instrument=1)
    mine = [resting(drive, 1), resting(drive, 2, strategy=1)]
    resting(drive, 3, instrument=1)
    drive.market(state=ord("H"), marks=0)
    assert [m[41] for m in drive.messages[3:]] == [f"V{number}" for number in mine]


def test_an_order_not_answered_yet_and_one_being_canceled() -> None:
    drive = Drive(BOTH)
    sent = drive.new()
    drive.market(marks=TRADABLE | GAPPED)
    assert [m[41] for m in drive.messages[1:]] == [f"V{sent}"]
    drive.market()
    drive.market(marks=TRADABLE | GAPPED)
    assert len(drive.messages) == 2  # its cancel is on its way
    drive.report(sent + 1, "4", "4", orig=sent)
    assert [order.status for order in view.orders(drive.context)] == ["final"]


@pytest.mark.parametrize("marks", [TRADABLE | CROSSED, TRADABLE | SUSPECT])
def test_a_crossed_or_suspect_book_stops_new_orders_only(marks: int) -> None:
    drive = Drive(BOTH)
    resting(drive)
    drive.market(marks=marks)
    assert drive.ask(token=2) in ("crossed", "suspect")
    assert len(drive.messages) == 1


def test_an_intent_that_comes_with_the_stop_is_judged_after_what_rests_is_canceled() -> None:
    drive = Drive(BOTH, wire_room=1)
    number = resting(drive)
    drive.market(state=ord("H"), marks=0)
    assert drive.ask(token=9) == "not_tradable"
    assert [(m[35], m.get(41)) for m in drive.messages] == [("D", None), ("F", f"V{number}")]
