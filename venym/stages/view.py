"""Reading the books from plain Python: for tools, tests and reports, when no core is changing them.

Every function takes the decoder's `Orders` and `Market` (stages/book.py, stages/market.py) and copies out.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .book import BUY, SELL, Orders
from .market import BOOKS_TOP, LOCATES, Market, effective_state, symbol_text


class Row(NamedTuple):
    """One price level: price in 1e-4 dollars, displayed shares, number of orders."""

    price_e4: int
    shares: int
    orders: int


class Resting(NamedTuple):
    """One order of a queue."""

    reference: int
    shares: int
    attribution: str


def levels(orders: Orders, book: int, side: int, depth: int | None = None) -> list[Row]:
    """The levels of a side (BUY or SELL), best first, at most `depth` of them."""
    held = orders.sides[2 * book + side]
    first, count = int(held.first), int(held.count)
    entries = orders.ladder[first : first + count][::-1][:depth]
    found = orders.levels[np.asarray(entries & 0xFFFFFFFF)]
    return [Row(int(level.price_e4), int(level.shares), int(level.orders)) for level in found]


def queue(orders: Orders, book: int, side: int, price_e4: int) -> list[Resting]:
    """The orders of a level, first in time first; empty if there is no such level, or queues are not kept."""
    held = orders.sides[2 * book + side]
    for entry in orders.ladder[int(held.first) : int(held.first) + int(held.count)]:
        level = orders.levels[int(entry) & 0xFFFFFFFF]
        if int(level.price_e4) == price_e4:
            return list(_walk(orders, int(level.head)))
    return []


def _walk(orders: Orders, index: int) -> Iterator[Resting]:
    while index:
        order = orders.orders[index]
        mpid = (
            int(order.attribution).to_bytes(4, "big").decode("ascii", "backslashreplace") if order.attribution else ""
        )
        yield Resting(int(order.reference) & 2**64 - 1, int(order.shares), mpid)
        index = int(order.next)


def book_indices(market: Market) -> range:
    """Index of every book made so far."""
    return range(1, int(market.words[BOOKS_TOP]) + 1)


def book_of(market: Market, channel: int, locate: int) -> int:
    """Index of the book of a locate, 0 if there is none."""
    return int(market.books_of[channel * LOCATES + locate])


def symbol(market: Market, book: int) -> str:
    """A book's symbol, or ``#LOCATE`` when no message told it."""
    held = market.books[book]
    return symbol_text(held.symbol) or f"#{int(held.locate)}"


def state(market: Market, book: int) -> str | None:
    """T Q P or H; None when never announced, which is not trading."""
    letter = int(effective_state(market.books[book]))
    return chr(letter) if letter else None


def suspect(market: Market, book: int) -> bool:
    """A modification did not fit, or messages are missing from the book's channel."""
    held = market.books[book]
    return bool(held.misfit) or bool(market.channels[int(held.channel)].gaps)


__all__ = ["BUY", "SELL", "Resting", "Row", "book_indices", "book_of", "levels", "queue", "state", "suspect", "symbol"]
