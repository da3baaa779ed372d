"""The best prices of every book beside another's: itch-book, a C++ implementation, on the same made-up day."""

from datetime import date

import pytest

from tests.naive.binaryfile import messages_of
from tests.stages.drive import Drive, block
from venym.stages import view
from venym.stages.book import BUY, SELL
from venym.stages.decoder import Limits
from venym.venue.day_plan import Wanted
from venym.venue.generate import write_file

SIZE, SYMBOLS = 200_000, 40
LIMITS = Limits(channels_max=1, instruments_max=64, orders_max=1 << 16, levels_max=1 << 16, trades_max=1 << 16)
EMPTY = view.Row(0, 0, 0)


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    path = tmp_path_factory.mktemp("day") / "day"
    write_file(Wanted(SIZE, SYMBOLS, 3), path)
    return messages_of(path.read_bytes())


@pytest.mark.parametrize("part", [0.3, 0.55, 0.8])
def test_best_prices_and_shares_are_the_same_in_every_book(day, part, tmp_path):
    import itch_book

    messages = day[: int(len(day) * part)]
    path = tmp_path / "part"
    path.write_bytes(b"".join(map(block, messages)))
    theirs = {}
    feed = itch_book.open(str(path), date=date(2019, 1, 30), price_type="fixed")
    for batch in feed.batches(tables=("bbo",), rows=1 << 20):
        columns = (batch.bbo[name].tolist() for name in ("locate", "bid_px", "bid_sz", "ask_px", "ask_sz"))
        theirs |= {locate: best for locate, *best in zip(*columns, strict=True)}

    drive = Drive(LIMITS, frames_octets=1 << 20)
    for first in range(0, len(messages), 10_000):
        drive.messages(messages[first : first + 10_000])
    assert set(drive.counters()) == {"messages", "packets", "sessions"}
    market, orders = drive.pipeline.decoder.market, drive.pipeline.decoder.orders
    ours = {}
    for book in view.book_indices(market):
        bid, ask = (([*view.levels(orders, book, side, 1), EMPTY])[0] for side in (BUY, SELL))
        ours[int(market.books[book].locate)] = [bid.price_e4, bid.shares, ask.price_e4, ask.shares]
    assert len(theirs) >= SYMBOLS - 1  # one may still wait for its first trade
    assert {locate: ours[locate] for locate in theirs} == theirs
