"""The venue in memory against its twin, message by message, and however its input comes."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.venue.venue_drive import Venue, expected, play, play_in_pieces
from tests.venue.venue_flow import MarketFlow, orders, setting

pytestmark = pytest.mark.plain


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_every_report_is_the_twins_octet_by_octet(seed):
    chance = random.Random(seed)
    made, market = setting(chance), MarketFlow(chance)
    packets = market.packets(150)
    sent = orders(chance, made, 40, market.time_ns)
    assert play(Venue(made), packets, sent) == expected(made, packets, sent)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_reports_do_not_depend_on_how_packets_orders_and_marks_come(seed):
    chance = random.Random(seed)
    made, market = setting(chance), MarketFlow(chance)
    packets = market.packets(60)
    sent = orders(chance, made, 30, market.time_ns)
    venue = Venue(made, report_slots=chance.choice([1, 2, 4]), burst=chance.choice([1, 2, 7, 256]))
    assert play_in_pieces(venue, packets, sent, chance) == expected(made, packets, sent)
