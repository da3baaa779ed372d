"""A real hour of one instrument, AAPL on 2012-06-21 from 9:30, against the best prices LOBSTER published for it.

The events reach 50 levels deep. An order that came while it was farther away is first seen when something happens to
it; its reference tells when it came (they grow), its events tell its size. What such an order did farther away is not
in the data, so a few best prices differ for a moment; all before the first such moment are the same.
"""

import csv
from bisect import bisect_left
from collections import defaultdict

import pytest

from tests.stages import itch_messages as itch
from tests.stages.drive import Drive
from venym.stages.decoder import Limits

ADD, CANCEL, DELETE, EXECUTE, HIDDEN = 1, 2, 3, 4, 5
UNTIL_FIRST_UNSEEN = 15_999  # best prices before an order whose end is not in the data becomes the best


@pytest.fixture(scope="module")
def hour(shared):
    with (shared / "data/lobster/AAPL_2012-06-21_34200000_37800000_message_50.csv").open() as file:
        return [(round(float(row[0]) * 1e9), *map(int, row[1:])) for row in csv.reader(file)]


@pytest.fixture(scope="module")
def published(shared):
    """(ask price, shares, bid price, shares) each time one of them changed."""
    with (shared / "data/lobster/AAPL_2012-06-21_34200000_57600000_orderbook_1.csv").open() as file:
        return changes(tuple(map(int, row)) for row in csv.reader(file))


def changes(rows):
    found = []
    for row in rows:
        if not found or found[-1] != row:
            found.append(row)
    return found


def messages_of(hour):
    """The events as ITCH messages, with an add for each order that is not seen to come, in the order of references."""
    added, unseen = set(), {}
    for _, kind, reference, shares, price_e4, direction in hour:
        if kind == ADD:
            added.add(reference)
        elif kind != HIDDEN and reference not in added:
            held = unseen.setdefault(reference, [0, price_e4, direction])
            held[0] += shares
    waiting = sorted(unseen, reverse=True)

    def come(reference, time_ns):
        shares, price_e4, direction = unseen[reference]
        waiting.remove(reference)
        return itch.add(reference, "B" if direction == 1 else "S", shares, price_e4, symbol="AAPL", time_ns=time_ns)

    yield itch.directory("AAPL")
    for time_ns, kind, reference, shares, price_e4, direction in hour:
        while kind == ADD and waiting and waiting[-1] < reference:
            yield come(waiting[-1], time_ns)
        if reference in waiting:
            yield come(reference, time_ns)
        if kind == ADD:
            side = "B" if direction == 1 else "S"
            yield itch.add(reference, side, shares, price_e4, symbol="AAPL", time_ns=time_ns)
        elif kind == CANCEL:
            yield itch.cancel(reference, shares)
        elif kind == DELETE:
            yield itch.delete(reference)
        elif kind == EXECUTE:
            yield itch.execute(reference, shares)
        elif kind == HIDDEN:
            yield itch.trade(shares, price_e4, 1, symbol="AAPL")


def test_the_best_prices_are_those_that_were_published(hour, published):
    limits = Limits(channels_max=1, instruments_max=4, orders_max=1 << 17, levels_max=1 << 17, trades_max=1 << 14)
    drive = Drive(limits, instruments=("AAPL",), frames_octets=1 << 20)
    messages = list(messages_of(hour))
    for k in range(0, len(messages), 10_000):
        drive.messages(messages[k : k + 10_000])
    assert set(drive.counters()) == {"messages", "packets", "sessions"}
    rows = [
        (int(e["ask_price_e4"][0]), int(e["ask_shares"][0]), int(e["bid_price_e4"][0]), int(e["bid_shares"][0]))
        for e in drive.events
        if e["ask_shares"][0] and e["bid_shares"][0]
    ]
    first = rows.index(published[0])
    found = changes(rows[first:])
    assert found[:UNTIL_FIRST_UNSEEN] == published[:UNTIL_FIRST_UNSEEN]
    assert matched(found, published) >= 0.999 * len(found) > 20_000


def matched(found, published):
    """How many of `found` stand in `published` in the same order, passing over fewer than 50 at a time."""
    places = defaultdict(list)
    for k, row in enumerate(published):
        places[row].append(k)
    after = count = 0
    for row in found:
        at = bisect_left(places[row], after)
        if at < len(places[row]) and places[row][at] < after + 50:
            after, count = places[row][at] + 1, count + 1
    return count
