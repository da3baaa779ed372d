"""What is kept of a market beside orders: symbols, the log of trades, instruments."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.stages import itch_messages as itch
from tests.stages.drive import SMALL, Drive, zeroed
from venym.stages.market import TRADE_BLOCK_BITS, build_market, symbol_text, symbol_word


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=8))
def test_a_symbol_is_its_eight_octets(symbol):
    assert symbol_text(symbol_word(symbol)) == symbol


@pytest.mark.parametrize("symbol", ["", "NINECHARS"])
def test_what_is_no_symbol_is_refused(symbol):
    with pytest.raises(ValueError, match="one to eight"):
        symbol_word(symbol)


def test_an_instrument_configured_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        build_market(zeroed, 1, 8, 16, ("A", "B", "A"))


def test_a_trade_is_broken_once_wherever_in_the_log_it_stands():
    """Match numbers of several engines: each grows, together they do not."""
    count = 5 << TRADE_BLOCK_BITS
    rng = random.Random(4)
    matches = [engine << 40 | k for k in range(count // 4) for engine in rng.sample(range(4), 4)]
    drive = Drive(SMALL._replace(trades_max=count), frames_octets=1 << 20)
    for k in range(0, count, 1_000):
        drive.messages([itch.trade(1 + m % 97, 100_000, m, locate=7) for m in matches[k : k + 1_000]])
    volume = drive.volume(7)
    assert volume == sum(1 + m % 97 for m in matches)
    broken = rng.sample(matches, 200)
    drive.messages([itch.broken(m) for m in broken + broken[:50]])
    assert drive.volume(7) == volume - sum(1 + m % 97 for m in broken)
    assert "unknown_matches" not in drive.counters()
    drive.messages([itch.broken(9 << 40)])
    assert drive.counters()["unknown_matches"] == 1
