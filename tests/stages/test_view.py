"""Reading books from plain Python."""

from tests.stages import itch_messages as itch
from tests.stages.drive import Drive
from venym.stages import view
from venym.stages.book import BUY, SELL


def test_levels_are_best_first_and_as_many_as_asked_for():
    drive = Drive()
    drive.messages([itch.add(k, "BS"[k & 1], k, 100_000 + (100 if k & 1 else -100) * k) for k in range(1, 21)])
    orders, book = drive.pipeline.decoder.orders, drive.book(7)
    assert view.levels(orders, book, BUY, 2) == [(99_800, 2, 1), (99_600, 4, 1)]
    assert view.levels(orders, book, SELL)[0] == view.Row(100_100, 1, 1)
    assert len(view.levels(orders, book, SELL)) == 10
    assert view.levels(orders, book, BUY, 0) == []


def test_a_queue_is_in_the_order_of_arrival_with_its_attributions():
    drive = Drive()
    drive.messages([itch.add(3, "B", 5, 100), itch.add(2**64 - 2, "B", 6, 100, mpid="NITE"), itch.add(1, "B", 7, 200)])
    orders, book = drive.pipeline.decoder.orders, drive.book(7)
    assert view.queue(orders, book, BUY, 100) == [(3, 5, ""), (2**64 - 2, 6, "NITE")]
    assert view.queue(orders, book, SELL, 100) == view.queue(orders, book, BUY, 300) == []


def test_a_book_that_no_message_named_is_known_by_its_locate():
    drive = Drive()
    drive.messages([itch.delete(5, locate=321)])
    market = drive.pipeline.decoder.market
    assert view.symbol(market, view.book_of(market, 0, 321)) == "#321"
    assert view.book_of(market, 0, 322) == 0
    assert list(view.book_indices(market)) == [1]
