"""What becomes of an order in memory, case by case."""

from typing import Any

import pytest

from tests.naive.market_feed import Packet
from tests.naive.venue import Setting
from tests.stages import itch_messages as itch
from tests.venue.venue_drive import MIDNIGHT_NS, Gateway, Venue, brief, datagram, day, expected, listed, play

pytestmark = pytest.mark.plain

OPEN = itch.START_NS
SETTING = Setting(listed("TEST"), order_latency_ns=100, report_latency_ns=30, midnight_ns=MIDNIGHT_NS)
BASE = [itch.directory(), itch.trading_action("T")]
SHOWN = [
    itch.add(1, "S", 100, 100_100),
    itch.add(2, "S", 50, 100_100),
    itch.add(3, "S", 70, 100_200),
    itch.add(4, "B", 80, 100_000),
]


def at(time_ns: int, message: bytes) -> bytes:
    return message[:5] + (OPEN + time_ns).to_bytes(6, "big") + message[11:]


class Case:
    """Messages and orders at nanoseconds after the open, and what is reported of them, checked against the twin."""

    def __init__(self, setting: Setting = SETTING, shown: list[bytes] = SHOWN) -> None:
        self.setting, self.gateway = setting, Gateway(setting)
        self.market: list[bytes] = [*BASE, *shown]
        self.orders: list[tuple[int, bytes]] = []

    def happens(self, time_ns: int, *messages: bytes) -> "Case":
        self.market += [at(time_ns, message) for message in messages]
        return self

    def sends(self, time_ns: int, message: bytes) -> "Case":
        """`time_ns`: of its arrival."""
        self.orders.append((OPEN + time_ns - self.setting.order_latency_ns, message))
        return self

    def reports(self, *wanted: int, skip: tuple[str, ...] = ("39=0",)) -> list[str]:
        """The wanted fields; reports of which one is in `skip` are left out."""
        packets = [day(message) for message in self.market]
        found = play(Venue(self.setting), packets, self.orders)
        assert found == expected(self.setting, packets, self.orders)
        return [brief(one, *wanted) for one in found if brief(one, 39) not in skip]


def new(case: Case, time_ns: int, name: str, side: str, shares: int, price: str | None, **more: Any) -> Case:
    return case.sends(time_ns, case.gateway.new(name, side, shares, price, **more))


def test_an_order_takes_order_by_order_what_is_displayed_up_to_its_price_and_rests_with_what_is_left():
    case = new(Case(), 10, "C1", "1", 200, "10.0100")
    assert case.reports(11, 39, 31, 32, 151, 9882) == [
        "11=C1|39=1|31=10.0100|32=100|151=100|9882=R",
        "11=C1|39=1|31=10.0100|32=50|151=50|9882=R",
    ]
    case.happens(20, itch.add(9, "S", 30, 100_000))
    assert case.reports(39, 31, 32, 151, 9882)[2:] == ["39=1|31=10.0100|32=30|151=20|9882=A"]


def test_what_was_taken_is_not_there_a_second_time_even_if_its_owner_replaces_it():
    case = new(Case(), 10, "C1", "1", 120, "10.0100", t59=3)
    new(case, 20, "C2", "1", 100, "10.0100", t59=3)
    assert case.reports(11, 39, 32) == ["11=C1|39=1|32=100", "11=C1|39=2|32=20", "11=C2|39=1|32=30", "11=C2|39=4"]
    case.happens(30, itch.replace(1, 11, 110, 100_100), itch.execute(2, 20))
    new(case, 40, "C3", "1", 100, "10.0100", t59=3)
    assert case.reports(11, 39, 32)[4:] == ["11=C3|39=1|32=10", "11=C3|39=4"]


def test_an_order_at_market_takes_at_any_price_and_does_not_rest():
    case = new(Case(), 10, "C1", "1", 300, None)
    assert case.reports(39, 31, 32, 151) == [
        "39=1|31=10.0100|32=100|151=200", "39=1|31=10.0100|32=50|151=150", "39=1|31=10.0200|32=70|151=80", "39=4|151=0",
    ]  # fmt: skip


def test_the_average_price_is_that_of_all_executions():
    case = new(Case(), 10, "C1", "1", 220, "10.0200")
    assert case.reports(6, 14) == ["6=10.0100|14=100", "6=10.0100|14=150", "6=10.0132|14=220"]


def test_executions_of_orders_that_were_there_before_fill_nothing_and_those_of_later_ones_do():
    case = new(Case(), 10, "C1", "1", 100, "10.0000")
    case.happens(20, itch.add(5, "B", 60, 100_000), itch.execute(4, 80), itch.execute(5, 25))
    assert case.reports(39, 31, 32, 151, 9882) == ["39=1|31=10.0000|32=25|151=75|9882=A"]


def test_an_execution_at_a_worse_price_fills_at_our_own_price_and_each_share_once():
    case = new(Case(), 10, "C1", "1", 30, "10.0010")
    new(case, 11, "C2", "1", 30, "10.0020")
    case.happens(20, itch.execute(4, 50))
    assert case.reports(11, 39, 31, 32) == ["11=C2|39=2|31=10.0020|32=30", "11=C1|39=1|31=10.0010|32=20"]


def test_among_ours_the_earlier_comes_first():
    case = new(new(Case(), 10, "C1", "2", 30, "10.0050"), 11, "C2", "5", 30, "10.0050")
    case.happens(20, itch.add(9, "B", 40, 100_060))
    assert case.reports(11, 54, 39, 32) == ["11=C1|54=2|39=2|32=30", "11=C2|54=5|39=1|32=10"]


def test_an_order_that_came_and_met_ours_is_taken_from():
    case = new(Case(), 10, "C1", "1", 30, "10.0050")
    case.happens(20, itch.add(9, "S", 40, 100_040))
    new(case, 30, "C2", "1", 40, "10.0040", t59=3)
    assert case.reports(11, 39, 31, 32) == ["11=C1|39=2|31=10.0050|32=30", "11=C2|39=1|31=10.0040|32=10", "11=C2|39=4"]


def test_trades_without_an_order_crosses_and_what_happens_in_a_halt_fill_nothing():
    case = new(Case(), 10, "C1", "1", 30, "10.0050")
    case.happens(20, itch.trade(500, 99_000, 1), itch.cross(500, 99_000, 2), itch.trading_action("H"))
    case.happens(30, itch.add(9, "S", 40, 100_000), itch.execute(4, 50))
    assert case.reports(39) == []


def test_market_messages_of_the_time_an_order_arrives_come_before_it():
    case = new(Case(), 10, "C1", "1", 10, "10.0100", t59=3)
    case.happens(10, itch.delete(1), itch.delete(2)).happens(11, itch.add(9, "S", 10, 100_100))
    assert case.reports(39) == ["39=4"]


@pytest.mark.parametrize(
    ("more", "price", "outcome"),
    [
        ({"t18": "6"}, "10.0100", ["39=8|58=post-only order would take|103=0"]),
        ({"t18": "1 6"}, "10.0100", ["39=8|58=post-only order would take|103=0"]),
        ({"t18": "6"}, "10.0000", []),
        ({"t18": "6", "t59": 3}, "10.0000", ["39=8|58=only a limit order for the day can be post-only|103=0"]),
        ({"t18": "6"}, None, ["39=8|58=only a limit order for the day can be post-only|103=0"]),
    ],
)
def test_post_only(more, price, outcome):
    assert new(Case(), 10, "C1", "1", 10, price, **more).reports(39, 58, 103) == outcome


def test_a_post_only_order_rests_where_only_shares_are_left_that_were_taken():
    case = new(Case(), 10, "C1", "1", 150, "10.0100", t59=3)
    new(case, 20, "C2", "1", 10, "10.0100", t18="6")
    assert case.reports(11, 39, skip=("39=1", "39=2"))[-1] == "11=C2|39=0"


def test_orders_rest_until_market_hours_are_over_and_none_is_taken_after():
    case = new(Case(), 10, "C1", "1", 30, "9.9900")
    case.happens(20, itch.message("S", 0, event_code="M"))
    new(case, 30, "C2", "1", 30, "9.9900")
    assert case.reports(11, 39, 151, 103) == ["11=C1|39=C|151=0", "11=C2|39=8|151=0|103=2"]


@pytest.mark.parametrize("message", [itch.trading_action("H"), itch.trading_action("Q"), itch.operational_halt("H"),
                                     itch.message("W", 0, breached_level="1")])  # fmt: skip
def test_no_order_is_taken_in_a_halt_but_cancels_are(message):
    case = new(Case(), 10, "C1", "1", 30, "9.9900").happens(20, message)
    new(case, 30, "C2", "1", 30, "9.9900").sends(31, case.gateway.replace("C3", "C1", 20, "9.99"))
    case.sends(32, case.gateway.cancel("C4", "C1"))
    assert case.reports(35, 11, 39, 58) == [
        "35=8|11=C2|39=8|58=the symbol is not trading", "35=8|11=C4|39=4",
    ]  # fmt: skip
    assert "35=9|11=C3|39=0|58=the symbol is not trading" in case.reports(35, 11, 39, 58, skip=())


def test_a_cancel_that_comes_after_the_last_fill_is_told_what_became_of_the_order():
    case = new(Case(), 10, "C1", "1", 100, "10.0100")
    case.sends(30, case.gateway.cancel("C2", "C1")).sends(31, case.gateway.cancel("C3", "C9"))
    assert case.reports(35, 11, 37, 41, 39, 102, 434)[1:] == [
        "35=9|11=C2|37=1|41=C1|39=2|102=0|434=1", "35=9|11=C3|37=NONE|41=C9|39=8|102=1|434=1",
    ]  # fmt: skip


def test_a_replacement_for_fewer_shares_at_its_price_keeps_its_place_and_any_other_loses_it():
    def filled(*replacement: Any) -> list[str]:
        case = new(Case(), 10, "C1", "1", 30, "10.0000").happens(15, itch.add(5, "B", 60, 100_000))
        case.sends(20, case.gateway.replace("C2", "C1", *replacement)).happens(30, itch.execute(5, 60))
        return case.reports(11, 41, 150, 39, 38, 32, 151)

    assert filled(20, "10.0000") == ["11=C2|41=C1|150=5|39=5|38=20|151=20", "11=C2|150=2|39=2|38=20|32=20|151=0"]
    assert filled(40, "10.0000") == ["11=C2|41=C1|150=5|39=5|38=40|151=40"]
    assert filled(30, "9.9999") == ["11=C2|41=C1|150=5|39=5|38=30|151=30"]
    assert filled(150, "10.0100")[-1] == "11=C2|150=2|39=2|38=150|32=50|151=0"


@pytest.mark.parametrize(
    ("shares", "outcome"),
    [
        (24, "35=9|11=C2|39=1|58=OrderQty is below CumQty|102=2"),
        (25, "35=8|11=C2|150=5|39=2|14=25|151=0"),
        (26, "35=8|11=C2|150=5|39=1|14=25|151=1"),
    ],
)
def test_a_replacement_is_of_the_total_and_cannot_be_below_what_is_filled(shares, outcome):
    case = new(Case(), 10, "C1", "1", 100, "10.0000").happens(20, itch.add(5, "B", 60, 100_000), itch.execute(5, 25))
    case.sends(30, case.gateway.replace("C2", "C1", shares, "10.0000"))
    assert case.reports(35, 11, 150, 39, 14, 151, 58, 102)[-1] == outcome


def test_a_superseded_name_names_the_order_no_more_but_is_not_unknown():
    case = new(Case(), 10, "C1", "1", 30, "10.0000")
    case.sends(30, case.gateway.replace("C2", "C1", 20, "10.0000")).sends(40, case.gateway.cancel("C3", "C1"))
    assert case.reports(35, 39, 58, 102)[-1] == ("35=9|39=5|58=OrigClOrdID is not the order's present ClOrdID|102=2")


def test_in_4_4_a_fill_is_a_trade_and_a_replaced_order_is_new():
    case = new(Case(Setting(**{**vars(SETTING), "version": "FIX.4.4"})), 10, "C1", "1", 100, "10.0000")
    case.sends(20, case.gateway.replace("C2", "C1", 60, "10.0100"))
    assert case.reports(20, 150, 39, skip=()) == ["150=0|39=0", "150=5|39=0", "150=F|39=2"]


@pytest.mark.parametrize("table", ["orders_max", "ids_max"])
def test_thousands_of_orders_are_answered_each_and_those_too_many_with_the_name_of_the_maximum(table):
    setting = Setting(**{**vars(SETTING), table: 200})
    gateway = Gateway(setting)
    orders = [(OPEN + k, gateway.new(f"C{k}", "1", 1, "9.0000")) for k in range(3000)]
    found = play(Venue(setting), [day(*BASE)], orders)
    assert [brief(one, 11) for one in found] == [f"11=C{k}" for k in range(3000)]
    assert [brief(one, 39) for one in found] == ["39=0"] * 200 + ["39=8"] * 2800
    assert {brief(one, 58) for one in found[200:]} == {f"58=venue.{table} is reached"}


def test_a_symbol_is_learnt_from_any_message_that_tells_it_and_followed_on_the_channel_that_told_it_first():
    packets = [
        datagram("S1", 1, [itch.message("H", 5, stock="TEST", trading_state="T")]),
        datagram("S2", 1, [itch.add(1, "S", 10, 100_100, locate=5)], line=1),
        datagram("S1", 2, [itch.add(1, "S", 10, 100_300, locate=5, symbol="")]),
    ]
    orders = [(OPEN + 1, Gateway(SETTING).new("C1", "1", 10, "10.0300"))]
    venue = Venue(SETTING)
    found = play(venue, packets, orders)
    assert [brief(one, 39, 31) for one in found] == ["39=0", "39=2|31=10.0300"]
    assert venue.counters["second_markets"] == 1


@pytest.mark.parametrize("gap", [0, 3])
def test_a_new_session_begins_with_nothing_known_and_what_rests_goes_on_resting(gap):
    packets = [
        datagram("S1", 1, [*BASE, *SHOWN]),
        datagram("S1", 7, [], count=0xFFFF),
        Packet(datagram("S2", 1 + gap, [at(50, itch.add(1, "S", 9, 100_000))]).octets, 1 if gap else 0),
    ]
    gateway = Gateway(SETTING)
    orders = [(OPEN - 60, gateway.new("C1", "1", 10, "9.9900")), (OPEN + 60, gateway.new("C2", "1", 10, "9.9900"))]
    orders.append((OPEN + 70, gateway.cancel("C3", "C1")))
    found = play(Venue(SETTING), packets, orders)
    assert found == expected(SETTING, packets, orders)
    if not gap:
        assert [brief(one, 11, 39) for one in found] == ["11=C1|39=0", "11=C2|39=8", "11=C3|39=4"]
