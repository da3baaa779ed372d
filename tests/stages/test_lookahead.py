"""Looking ahead: it walks the blocks, never past the end, and only guesses."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.stages.drive import Drive, block
from tests.stages.test_book import random_day
from venym.hot.jit import hot
from venym.stages.lookahead import DEPTH, RING_WORDS, look_ahead

GUARDED = Guarded(1 << 16)


@hot
def walk(orders, books_of, channel, octets, at, end, ring, turns, offsets):
    for turn in range(turns):
        at = look_ahead(orders, books_of, channel, octets, at, end, ring, turn)
        offsets[turn] = at


def walked(octets: bytes, turns: int) -> tuple[np.ndarray, np.ndarray]:
    context = Drive().pipeline.decoder
    ring, offsets = np.zeros(RING_WORDS, np.int64), np.zeros(turns, np.int64)
    view = GUARDED.put(octets)
    walk(context.orders, context.market.books_of, np.int64(0), view, 0, len(octets), ring, turns, offsets)
    return ring, offsets


def test_each_turn_goes_on_to_the_next_block():
    messages = list(random_day(random.Random(2), 40, 0))
    octets = b"".join(map(block, messages))
    _, offsets = walked(octets, 30)
    assert offsets.tolist() == np.cumsum([2 + len(m) for m in messages])[:30].tolist()


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300), st.integers(1, 3 * DEPTH))
def test_any_octets_are_walked_within_their_end_and_point_into_the_tables(octets, turns):
    context = Drive().pipeline.decoder
    ring, offsets = walked(octets, turns)
    assert (np.diff(offsets, prepend=0) >= 0).all()
    buckets, sides, levels = ring[:DEPTH], ring[DEPTH : 2 * DEPTH], ring[2 * DEPTH :]
    assert ((buckets >= 0) & (buckets < context.orders.heads.shape[0])).all()
    assert ((sides >= 0) & (sides < context.orders.sides.shape[0])).all()
    assert ((levels >= 0) & (levels < context.orders.levels.shape[0])).all()
