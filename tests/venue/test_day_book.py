"""The books of a made-up day against lists: queues, best prices, ages."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.day_queues import ListBooks
from venym.hot.jit import hot
from venym.hot.layout import aligned
from venym.venue.day_book import (
    ASK,
    BID,
    NOWHERE,
    SYMBOL,
    Books,
    add,
    compact,
    first_at,
    last_at,
    live_from,
    make_books,
    remove,
    replace,
    trim,
)

pytestmark = pytest.mark.plain

WIDTHS = {1: 8, 2: 4}
ORDERS_MAX = 12
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "add", "remove", "replace", "trim", "compact"]),
        st.integers(0, 2**16),  # which order, or which price
        st.integers(1, 2),
        st.sampled_from([BID, ASK]),
    ),
    max_size=60,
)


@hot
def ends_at(books, locate, price_step):
    symbol = books.symbols[locate]
    return first_at(books, symbol, price_step), last_at(books, symbol, price_step)


def empty_books() -> Books:
    symbols = aligned(3, SYMBOL)
    for locate, width in WIDTHS.items():
        symbols[locate]["width"] = width
    return make_books(ORDERS_MAX, symbols)


def step_for(naive: ListBooks, locate: int, side: int, luck: int) -> int:
    """Some price of this side that does not cross; now and then one outside the window."""
    if luck % 9 == 0:
        return NOWHERE
    if side == BID:
        return luck % naive.best(locate, ASK, BID) if naive.best(locate, ASK, BID) > 0 else NOWHERE
    lowest = naive.best(locate, BID, BID) + 1
    return lowest + luck % (WIDTHS[locate] - lowest) if lowest < WIDTHS[locate] else NOWHERE


def act(books: Books, naive: ListBooks, action: tuple[str, int, int, int], reference: int) -> None:
    kind, luck, locate, side = action
    slots = sorted(naive.orders)
    if kind == "add" and len(slots) < ORDERS_MAX:
        price_step = step_for(naive, locate, side, luck)
        slot = int(add(books, locate, side, price_step, luck % 500 + 1, reference))
        naive.add(slot, locate, side, price_step, luck % 500 + 1, reference)
    elif kind == "remove" and slots:
        remove(books, slots[luck % len(slots)])
        naive.remove(slots[luck % len(slots)])
    elif kind == "replace" and slots:
        slot = slots[luck % len(slots)]
        locate, side = naive.orders[slot][:2]
        price_step = step_for(naive, locate, side, luck // 7)
        replace(books, slot, price_step, luck % 300 + 1, reference)
        naive.replace(slot, price_step, luck % 300 + 1, reference)
    elif kind == "compact":
        compact(books)
        naive.ages = [slot for slot in naive.ages if slot is not None]
    elif kind == "trim":
        trim(books)
        while naive.ages and naive.ages[-1] is None:
            naive.ages.pop()


def assert_same(books: Books, naive: ListBooks) -> None:
    counts = books.counts[0]
    assert counts.live == len(naive.orders) and counts.free == ORDERS_MAX - counts.live
    ages = [slot or 0 for slot in naive.ages]
    oldest = counts.oldest
    assert [int(slot) for slot in books.arrivals[oldest : counts.arrived]] == ages[oldest:] and not any(ages[:oldest])
    for slot, (locate, side, price_step, shares, reference) in naive.orders.items():
        order = books.orders[slot]
        assert (order.locate, order.side, order.shares, order.reference) == (locate, side, shares, reference)
        assert books.arrivals[order.arrival] == slot
        assert (order.level == NOWHERE) == (price_step == NOWHERE)
    for locate, width in WIDTHS.items():
        assert books.symbols[locate].best_bid == naive.best(locate, BID, BID)
        assert books.symbols[locate].best_ask == naive.best(locate, ASK, BID)
        for price_step in range(width):
            queue = naive.queues[locate, price_step]
            assert ends_at(books, locate, price_step) == ((queue[0], queue[-1]) if queue else (0, 0))
            assert walked(books, locate, price_step) == queue


def walked(books: Books, locate: int, price_step: int) -> list[int]:
    """A queue from its head by its links."""
    queue, slot = [], int(ends_at(books, locate, price_step)[0])
    while slot:
        queue.append(slot)
        slot = int(books.orders[slot].next)
    return queue


@settings(max_examples=60)
@given(ACTIONS)
def test_queues_best_prices_and_ages_are_those_of_lists(actions: list[tuple[str, int, int, int]]) -> None:
    books, naive = empty_books(), ListBooks(WIDTHS)
    for reference, action in enumerate(actions, 1):
        if books.counts[0].arrived + 1 >= len(books.arrivals):
            break
        act(books, naive, action, reference)
        assert_same(books, naive)
    for at in range(books.counts[0].oldest, books.counts[0].arrived):
        assert live_from(books, at) == naive.live_from(at)


def test_a_stub_quote_is_never_the_best() -> None:
    books = empty_books()
    add(books, 1, BID, NOWHERE, 100, 1)
    assert books.symbols[1].best_bid == -1
    remove(books, 1)
    assert books.counts[0].live == 0
