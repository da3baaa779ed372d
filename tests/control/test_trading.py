"""From settings to what the order side is built of: nothing is left out, nothing is called otherwise."""

from datetime import date

import pytest

from tests.skips import ROOT
from venym.control import settings as control
from venym.control import values
from venym.control.errors import ConfigurationError
from venym.control.resolve import resolve
from venym.control.trading import midnight_ns, model_of, trading_of
from venym.stages import desk, gateway
from venym.strategies.interface import ORDERS_MAX
from venym.venue import memory as venue

DAY = date(2019, 1, 30)


def resolved(*options: str) -> control.Settings:
    return resolve(ROOT / "config" / "replay.toml", options, {}).settings


def test_every_maximum_of_a_table_is_a_setting():
    assert set(gateway.Tables._fields) == set(control.Gateway.model_fields)
    assert set(venue.Limits._fields) <= set(control.Venue.model_fields)
    assert control.STRATEGIES_MAX == desk.STRATEGIES_MAX
    assert getattr(values, "OPEN_ORDERS_MAX", control.OPEN_ORDERS_MAX) == ORDERS_MAX


def test_midnight_is_that_of_the_sessions_date():
    assert midnight_ns(date(1970, 1, 2)) == 86_400_000_000_000


def test_strategies_instruments_and_limits_are_the_configured_ones():
    made = trading_of(resolved("risk.collar_bps=7", "strategies.taker.params.threshold=3", "fees.take_e6_share=9"), DAY)
    assert [a.strategy.name for a in made.strategies] == ["taker", "quoter"]
    assert [list(a.instruments) for a in made.strategies] == [[0], [0]]
    assert made.strategies[0].params[0] == 3.0
    assert made.instruments[0].symbol == "AAPL" and made.limits.collar_bps == 7
    assert made.limits.order_notional_max_e6 == 250_000 * 1_000_000 and made.fees.take_e6 == 9
    assert model_of(resolved()) is not None


def test_a_timer_of_the_configuration_takes_the_place_of_the_files():
    made = trading_of(resolved("strategies.quoter.timer_ms=250"), DAY)
    assert [a.strategy.timer_ns for a in made.strategies] == [0, 250_000_000]


def test_what_a_template_cannot_hold_is_refused_by_its_section():
    with pytest.raises(ConfigurationError, match="session"):
        trading_of(resolved("session.tags.38=100"), DAY)


def test_a_post_only_order_is_known_to_the_venue_by_one_field():
    with pytest.raises(ConfigurationError, match="post_only_tags"):
        trading_of(resolved("session.post_only_tags.9140=P"), DAY)


def test_requests_count_every_order_too():
    with pytest.raises(ConfigurationError, match=r"gateway.requests_max \(5\).*gateway.orders_max \(6\)"):
        trading_of(resolved("gateway.requests_max=5", "gateway.orders_max=6"), DAY)
    assert trading_of(resolved("gateway.requests_max=6", "gateway.orders_max=6"), DAY).tables.requests_max == 6
