"""What is displayed at a sequence number, against the twin's books; and the spin that tells it."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.naive.book import NaiveMarket
from tests.naive.itch50 import blocks, decode
from tests.stages import itch_messages as itch
from tests.venue.itch_flow import flow
from tests.venue.publisher_toys import Given, built, mold, store_of
from venym.hot.layout import aligned
from venym.venue.live_orders import (
    COUNT,
    ROW_AT,
    SEQUENCE,
    LiveOrders,
    apply_rows,
    grown,
    make_live_orders,
    put_spin,
    spin_octets,
)
from venym.venue.message_store import Store
from venym.wire.itch50 import MESSAGES

pytestmark = pytest.mark.plain

EVERY_ROW = 1 << 30


def applied(store: Store, end: int | None = None, room: int = 1_024, rows_max: int = EVERY_ROW) -> LiveOrders:
    live, wanted = make_live_orders(room), len(store.rows) if end is None else end
    while live.words[ROW_AT] < wanted:
        if not apply_rows(live, store, wanted, rows_max):
            live = grown(live)
    return live


def spin(live: LiveOrders) -> list[bytes]:
    """The messages of the spin. Fails if it is longer than was said."""
    octets = aligned(int(spin_octets(live)), np.uint8)
    messages, rest = blocks(octets[: int(put_spin(live, octets))].tobytes())
    assert rest == b""
    return messages


def books(messages: list[bytes]) -> dict[int, tuple[object, ...]]:
    """Every order of every queue, and the states, as the twin has them after these messages."""
    market = NaiveMarket()
    for message in messages:
        market.apply(message)
    return {
        locate: (
            {side: {price: book.queue(side, price) for price, _, _ in book.ladder(side)} for side in "BS"},
            book.symbol,
            book.state,
            book.halted,
        )
        for locate, book in market.books.items()
        if locate != 0
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_spin_makes_the_books_that_all_messages_made(seed: int) -> None:
    messages = flow(seed, 2_000)
    store = store_of(messages, a_packet=7)
    for end in (0, 1, 30, 150, len(store.rows)):
        live = applied(store, end)
        assert books(spin(live)) == books(messages[: 7 * end])


@pytest.mark.parametrize("seed", [11, 12])
def test_a_spin_and_the_rest_make_the_books_of_the_whole(seed: int) -> None:
    messages = flow(seed, 2_000)
    store = store_of(messages, a_packet=7)
    for end in (1, 77, 200):
        live = applied(store, end)
        assert int(live.words[SEQUENCE]) == 7 * end + 1
        assert books(spin(live) + messages[7 * end :]) == books(messages)


def test_a_spin_comes_in_the_order_of_the_specification() -> None:
    kinds = "".join(chr(message[0]) for message in spin(applied(store_of(flow(1, 3_000)))))
    assert kinds.startswith("SRRRHHHYYYh")
    rest = kinds.lstrip("S").lstrip("R").lstrip("H").lstrip("Y").lstrip("h")
    assert set(rest) == {"A", "F"} and len(rest) > 20


def test_orders_have_what_is_left_of_them_and_the_time_of_their_arrival() -> None:
    messages = [
        itch.directory("ABC", 5),
        itch.add(1, "B", 100, 1_000_000, 5, "ABC", "MMKR", 10),
        itch.add(2, "B", 100, 1_000_000, 5, "ABC", "", 20),
        itch.execute(1, 30, locate=5),
        itch.message("U", 5, 40, original_order_reference_number=1, new_order_reference_number=3, shares=60, price=7),
        itch.cancel(2, 1, 5),
    ]
    told = [decode(message) for message in spin(applied(store_of(messages)))][1:]
    assert [
        (t["message_type"], t["order_reference_number"], t["timestamp"], t["shares"], t["price"]) for t in told if t
    ] == [
        ("A", 2, 20, 99, 1_000_000),
        ("F", 3, 40, 60, 7),
    ]
    assert all(t and t["stock"] == "ABC" and t["stock_locate"] == 5 and t["buy_sell_indicator"] == "B" for t in told)
    assert told[1] and told[1]["attribution"] == "MMKR"


def test_the_last_of_each_announcement_is_told_and_halts_by_market() -> None:
    messages = [
        itch.message("S", 0, event_code="O"),
        itch.message("S", 0, event_code="Q"),
        itch.trading_action("H", "T1"),
        itch.trading_action("T", "R1"),
        *(itch.operational_halt(action, code) for code, action in ("QH", "BH", "QT", "ZH", "YH")),
    ]
    told = spin(applied(store_of(messages)))
    assert told[:2] == [messages[1], messages[3]]
    assert told[2:] == [messages[6], messages[5], messages[7], messages[8]]


def test_tables_grow_as_orders_come() -> None:
    messages = flow(5, 3_000)
    store = store_of(messages, a_packet=3)
    small, large = applied(store, room=16, rows_max=10), applied(store, room=65_536)
    assert len(small.heads) > 16
    assert spin(small) == spin(large)


def test_ten_thousand_orders_are_added_found_and_removed() -> None:
    adds = [itch.add(number, "BS"[number % 2], 10, 100 * number) for number in range(1, 10_001)]
    deletes = [itch.delete(number) for number in range(1, 10_001) if number % 100]
    live = applied(store_of(adds + deletes, a_packet=30))
    assert int(live.words[COUNT]) == 100
    assert spin(live) == [message for number, message in enumerate(adds, 1) if number % 100 == 0]


def test_short_and_unknown_messages_change_nothing() -> None:
    good = itch.add(1, "B", 10, 100)
    wrong = [good[:35], b"", b"?", b"D", itch.delete(1)[:18], b"\xff" * 40]
    assert spin(applied(store_of([good, *wrong]))) == [good]


def test_a_session_begins_with_nothing() -> None:
    first, second = itch.add(1, "B", 10, 100), itch.add(2, "S", 10, 100)
    store, _ = built([Given(mold(1, [itch.directory(), first])), Given(mold(1, [second], "SESSION002"))])
    assert first in spin(applied(store, 2))  # over, and nothing new yet
    live = applied(store)
    assert spin(live) == [second]
    assert int(live.words[SEQUENCE]) == 2


@pytest.mark.parametrize("kind", [itch.execute, itch.cancel])
def test_an_order_without_shares_is_gone(kind: Callable[[int, int], bytes]) -> None:
    order = itch.add(1, "B", 100, 100)
    left = {taken: spin(applied(store_of([order, kind(1, taken)]))) for taken in (99, 100, 101)}
    assert left == {99: [itch.add(1, "B", 1, 100)], 100: [], 101: []}


def test_a_spin_has_room_for_all_that_may_be_told() -> None:
    nothing, orders = applied(store_of([b"x"])), applied(store_of([itch.add(k, "S", 1, 1, mpid="M") for k in range(9)]))
    assert int(spin_octets(orders) - spin_octets(nothing)) == 9 * 42
    announced = sum(2 + MESSAGES[kind].length for kind in "RHY") + 4 * (2 + MESSAGES["h"].length)
    assert int(spin_octets(nothing)) >= 2 + MESSAGES["S"].length + 65_536 * announced
