"""The settings are those of the parts they are for."""

from typing import get_args

import pytest
from pydantic import ValidationError

from venym.control import settings as held
from venym.control.settings import Instrument, Settings, Strategy
from venym.hot.arena import Arena
from venym.pipeline import PLANS
from venym.stages.decoder import Limits
from venym.transport.capture import FRAMES_BYTES_MIN


def test_the_maxima_of_the_books_are_the_decoders() -> None:
    book = Settings().book.model_dump()
    assert {name: book[name] for name in Limits._fields} == Limits()._asdict()


def test_the_smallest_frames_are_the_readers() -> None:
    assert held.FRAMES_OCTETS_MIN == FRAMES_BYTES_MIN


def test_memory_is_taken_by_these_words() -> None:
    memory = Settings().memory
    Arena(1 << 20, memory.huge_pages, memory.lock).close()
    Arena(1 << 20, "never", "never").close()


def test_the_plans_of_a_replay_are_those_of_the_pipeline() -> None:
    plans = Settings.model_fields["replay"].annotation.model_fields["plan"].annotation  # type: ignore[union-attr]
    assert set(get_args(plans)) == {"auto", *PLANS}


def test_an_instrument_goes_by_its_symbol_unless_told_otherwise() -> None:
    assert Instrument(symbol="AAPL").fix_symbol == "AAPL"
    assert Instrument(symbol="BRK.A", fix_symbol="BRK-A").fix_symbol == "BRK-A"


def test_the_model_is_the_one_that_a_strategy_names() -> None:
    assert Settings().model is None
    strategies = tuple(
        Strategy(name=name, file="/s.py", instruments=("A",), model=model) for name, model in (("a", ""), ("b", "/m"))
    )
    assert str(Settings(strategies=strategies).model) == "/m"


def test_an_example_lies_inside_the_package() -> None:
    strategy = Strategy(name="a", file="venym:taker", instruments=("A",))
    assert strategy.path.parts[-3:] == ("venym", "strategies", "taker.py")
    with pytest.raises(ValidationError, match="an example is venym:NAME"):
        Strategy(name="a", file="venym:../taker", instruments=("A",))
