"""The books against their dictionary twin, on random days that include every misfit."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.book import NaiveMarket
from tests.stages import itch_messages as itch
from tests.stages.drive import SMALL, Drive, assert_same
from venym.stages.book import TableFull
from venym.stages.decoder import Limits

LOCATES = st.sampled_from([1, 2, 7])
REFERENCES = st.one_of(st.integers(1, 12), st.sampled_from([0, 2**63, 2**64 - 1]))
SHARES = st.sampled_from([0, 1, 10, 50, 100, 2**32 - 1])
PRICES = st.sampled_from([0, 1, 99_900, 100_000, 100_100, 2_147_483_647, 2_147_483_648, 2**32 - 1])
MATCHES = st.integers(1, 5)
SYMBOLS = st.sampled_from(["TEST", "A", "BRK.A", "ZVZZT"])

ANY_MESSAGE = st.one_of(
    st.builds(itch.add, REFERENCES, st.sampled_from("BBSSX"), SHARES, PRICES, LOCATES, SYMBOLS,
              st.sampled_from(["", "NITE"])),
    st.builds(itch.execute, REFERENCES, SHARES, MATCHES, LOCATES),
    st.builds(itch.execute_at, REFERENCES, SHARES, PRICES, st.sampled_from("YN"), MATCHES, LOCATES),
    st.builds(itch.cancel, REFERENCES, SHARES, LOCATES),
    st.builds(itch.delete, REFERENCES, LOCATES),
    st.builds(itch.replace, REFERENCES, REFERENCES, SHARES, PRICES, LOCATES),
    st.builds(itch.trade, SHARES, PRICES, MATCHES, LOCATES, SYMBOLS),
    st.builds(itch.cross, st.sampled_from([0, 5_000_000_000, 2**62 - 1, 2**62, 2**63, 2**64 - 1]), PRICES, MATCHES,
              st.just("O"), LOCATES, SYMBOLS),
    st.builds(itch.broken, MATCHES, LOCATES),
    st.builds(itch.trading_action, st.sampled_from("HPQT"), st.just(""), LOCATES, SYMBOLS),
    st.builds(itch.operational_halt, st.sampled_from("HT"), st.sampled_from("QBX"), LOCATES, SYMBOLS),
    st.builds(itch.directory, SYMBOLS, LOCATES),
    st.builds(lambda level: itch.message("W", 0, breached_level=level), st.sampled_from("123")),
    st.builds(lambda kind, cut: itch.message(kind)[: -cut or None], st.sampled_from("SRHYLVWKJhAFECXDUPQBINO"),
              st.integers(0, 3)),
    st.sampled_from([b"", b"~", b"~unknown", b"A"]),
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(ANY_MESSAGE, max_size=60), st.booleans())
def test_any_sequence_of_messages_leaves_the_books_of_the_twin(messages, queues):
    drive, naive = Drive(queues=queues), NaiveMarket()
    drive.messages(messages)
    for message in messages:
        naive.apply(message)
    assert_same(drive, naive, queues)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("misfits", [0.0, 0.1])
def test_a_random_day_leaves_the_books_of_the_twin(seed, misfits):
    drive, naive = Drive(), NaiveMarket()
    messages = list(random_day(random.Random(seed), 4_000, misfits))
    for k in range(0, len(messages), 500):
        drive.messages(messages[k : k + 500])
        for message in messages[k : k + 500]:
            naive.apply(message)
        assert_same(drive, naive)
    misfit_counters = {"unknown_references", "duplicate_references", "over_executions", "over_cancels"}
    assert misfit_counters <= set(drive.counters()) if misfits else not misfit_counters & set(drive.counters())


def random_day(rng, count, misfits):
    """Messages whose books grow to hundreds of orders over tens of levels; a share of them does not fit."""
    live, reference = {}, 0
    for match in range(count):
        wrong = rng.random() < misfits
        kind = rng.choices("AFECXDU", [30, 5, 10, 5, 10, 25, 15])[0] if live else "A"
        if len(live) > 400:
            kind = "D"
        locate = rng.choice([1, 2, 7])
        if kind in "AF":
            if not (wrong and live):
                reference += rng.randint(1, 9)
            new = rng.choice(list(live)) if wrong and live else reference
            shares = rng.randint(1, 500)
            yield itch.add(new, rng.choice("BS"), shares, 100_000 + 100 * rng.randint(-40, 40), locate,
                           mpid="MPID" if kind == "F" else "")  # fmt: skip
            live.setdefault(new, (locate, shares))
            continue
        old = rng.choice(list(live))
        locate, shares = live[old]
        if wrong and rng.random() < 0.5:
            old = reference + 1_000_000
        part = shares + 1 if wrong else rng.randint(1, shares)
        if kind == "E":
            yield itch.execute(old, part, match, locate)
        elif kind == "C":
            yield itch.execute_at(old, part, 100_000, rng.choice("YN"), match, locate)
        elif kind == "X":
            yield itch.cancel(old, part, locate)
        elif kind == "D":
            yield itch.delete(old, locate)
            part = shares
        else:
            reference += rng.randint(1, 9)
            yield itch.replace(old, reference, part, 100_000 + 100 * rng.randint(-40, 40), locate)
            if old in live:
                live[reference] = (locate, part)
            part = shares
        if old in live:
            del live[old]
            if part < shares:
                live[old] = (locate, shares - part)


def test_a_side_holds_as_many_levels_as_there_are_orders():
    limits = Limits(channels_max=1, instruments_max=4, orders_max=5_000, levels_max=5_000, trades_max=16)
    drive = Drive(limits, frames_octets=1 << 18)
    prices = list(range(100, 500_100, 100))
    random.Random(1).shuffle(prices)
    drive.messages([itch.add(k + 1, "B", 10, price) for k, price in enumerate(prices)])
    assert drive.ladder(7, "B") == [(price, 10, 1) for price in sorted(prices, reverse=True)]
    random.Random(2).shuffle(prices)
    order = {price: k for k, price in enumerate(prices)}
    drive.messages([itch.delete(k + 1) for k in sorted(range(5_000), key=lambda k: order[prices[k]])])
    assert drive.ladder(7, "B") == []
    runs = drive.pipeline.decoder.orders
    assert runs.sides[2 * drive.book(7)].size_class == 3


def test_memory_given_back_is_used_again():
    """Growing and emptying the same books for long never needs more than the peak did."""
    drive = Drive()
    used = []
    for day in range(20):
        base = day * 1_000
        for locate in (1, 2, 7):
            drive.messages(
                [itch.add(base + locate * 100 + k, "BS"[k & 1], 5, 1_000 + 100 * k, locate) for k in range(90)]
            )
        for locate in (1, 2, 7):
            drive.messages([itch.delete(base + locate * 100 + k, locate) for k in range(90)])
        used.append(drive.pipeline.decoder.orders.pools[[0, 3, 5]].tolist())
    assert used[1:] == used[:1] * 19
    assert drive.pipeline.decoder.orders.pools[2] == 0


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"orders_max": 10}, "book.orders_max"),
        ({"levels_max": 10}, "book.levels_max"),
        ({"instruments_max": 10}, "book.instruments_max"),
        ({"trades_max": 10}, "book.trades_max"),
    ],
)
def test_one_more_than_a_table_holds_is_refused_by_name_and_touches_nothing_else(changed, named):
    drive = Drive(SMALL._replace(**changed))
    fill = [itch.add(k, "B", 100, 100 * k, locate=k) for k in range(1, 11)]
    drive.messages(fill)
    drive.messages([itch.execute(k, 1, match=k, locate=k) for k in range(1, 11)])
    before = {locate: drive.ladder(locate, "B") for locate in range(1, 11)}
    with pytest.raises(TableFull, match=named):
        drive.messages([itch.execute(1, 1, match=11, locate=1)] if "trades_max" in changed else
                       [itch.add(11, "B", 100, 1_100, locate=11)])  # fmt: skip
    after = {locate: drive.ladder(locate, "B") for locate in range(1, 11)}
    assert {k: v for k, v in after.items() if k != 1} == {k: v for k, v in before.items() if k != 1}


def test_without_queues_prices_shares_and_counts_are_the_same():
    messages = list(random_day(random.Random(3), 3_000, 0.05))
    with_queues, without = Drive(frames_octets=1 << 18), Drive(queues=False, frames_octets=1 << 18)
    with_queues.messages(messages)
    without.messages(messages)
    for locate in (1, 2, 7):
        for side in "BS":
            assert without.ladder(locate, side) == with_queues.ladder(locate, side) != []
