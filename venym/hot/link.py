"""A link: one producer, one consumer, a power of two of fixed-size slots, no lock.

    cursor  | HEAD MARK DONE | SEEN_TAIL ... | (pair) | TAIL ........ | SEEN_HEAD ... | (pair)
              producer's       producer's              consumer's       consumer's
              published        last look at TAIL       given back       last look at HEAD

    producer: room -> claim(0) .. claim(n-1) -> commit(n)       consumer: ready -> peek(0) .. peek(n-1) -> release(n)

Indices are monotonic 64-bit counts that may wrap; a slot is index & (capacity - 1). Each side writes a pair of cache
lines of its own. Nothing is visible to the other side before commit or release, so a batch costs one ordered store.

MARK is what a producer says of records to come: none will be older (its unit is the producer's; it never falls). A
consumer of several links may so know that an empty one has nothing older for it. DONE is a second such word. A
producer commits first and marks then; so a consumer that reads the mark, and finds nothing ready *after* that, has seen
everything older.

Legal: commit(n) after room(...) >= n and the slots 0..n-1 were filled; release(n) after ready(...) >= n.
Prohibited: commit or release of more than was granted, two producers, two consumers, a slot kept after its release.
"""

from typing import NamedTuple

import numpy as np

from .intrinsics import load_acquire, slot_at, store_release
from .jit import small
from .layout import PAIR_BYTES, aligned

HEAD, SEEN_TAIL, TAIL, SEEN_HEAD = 0, 8, 32, 40  # int64 indices into the cursor, each on a line of its own
MARK, DONE = 1, 2  # on the line of HEAD: who looks at one has the others
CURSOR_WORDS = 64


class Link(NamedTuple):
    """slots: (capacity,) records; cursor: (64,) int64."""

    slots: np.ndarray
    cursor: np.ndarray


def make_link(dtype: np.dtype, capacity: int, start: int = 0) -> Link:
    """A link of `capacity` records, both indices at `start`. Raises ValueError unless capacity is a power of two."""
    _check_capacity(capacity)
    return lay_link(aligned(capacity, dtype), aligned(CURSOR_WORDS, np.int64), start)


def lay_link(slots: np.ndarray, cursor: np.ndarray, start: int = 0) -> Link:
    """A link over memory of the caller's: (capacity,) records and (CURSOR_WORDS,) int64 on a line pair of its own.

    Raises ValueError unless capacity is a power of two and the cursor as said.
    """
    _check_capacity(len(slots))
    if cursor.shape != (CURSOR_WORDS,) or cursor.dtype != np.int64 or cursor.ctypes.data % PAIR_BYTES:
        raise ValueError(f"a link's cursor is ({CURSOR_WORDS},) int64 aligned to {PAIR_BYTES} bytes")
    cursor[[HEAD, SEEN_TAIL, TAIL, SEEN_HEAD]] = start
    return Link(slots, cursor)


def _check_capacity(capacity: int) -> None:
    if capacity < 1 or capacity & (capacity - 1):
        raise ValueError(f"a link's capacity is a power of two, not {capacity}")


@small
def room(link, wanted):
    """Slots the producer may fill now, at most `wanted`; looks at the other side only when it must."""
    head = link.cursor[HEAD]
    free = link.slots.shape[0] - (head - link.cursor[SEEN_TAIL])
    if free < wanted:
        link.cursor[SEEN_TAIL] = load_acquire(link.cursor, TAIL)
        free = link.slots.shape[0] - (head - link.cursor[SEEN_TAIL])
    return min(free, wanted)


@small
def claim(link, k):
    """The k-th free slot, to be filled in place."""
    return slot_at(link.slots, (link.cursor[HEAD] + k) & (link.slots.shape[0] - 1))


@small
def commit(link, count):
    """Publish the first `count` claimed slots."""
    store_release(link.cursor, HEAD, link.cursor[HEAD] + count)


@small
def ready(link, wanted):
    """Records the consumer may read now, at most `wanted`."""
    tail = link.cursor[TAIL]
    held = link.cursor[SEEN_HEAD] - tail
    if held < wanted:
        link.cursor[SEEN_HEAD] = load_acquire(link.cursor, HEAD)
        held = link.cursor[SEEN_HEAD] - tail
    return min(held, wanted)


@small
def peek(link, k):
    """The k-th unread record, in place."""
    return slot_at(link.slots, (link.cursor[TAIL] + k) & (link.slots.shape[0] - 1))


@small
def release(link, count):
    """Give the first `count` records back to the producer."""
    store_release(link.cursor, TAIL, link.cursor[TAIL] + count)


def is_empty(link: Link) -> bool:
    """Has everything published been given back? For a third party, which sees a moment that may be over."""
    return int(link.cursor[TAIL]) == int(link.cursor[HEAD])


@small
def pass_mark(source, sink):
    """Say of the sink what was said of the source, if nothing of that is left to be read."""
    done, value = load_acquire(source.cursor, DONE), load_acquire(source.cursor, MARK)
    if ready(source, 1) == 0:
        set_mark(sink, DONE, done)
        set_mark(sink, MARK, value)


@small
def set_mark(link, word, value):
    """Say that nothing older than `value` will come; `word`: MARK or DONE. After the commit of what came."""
    if link.cursor[word] != value:
        store_release(link.cursor, word, value)


@small
def mark(link, word):
    """What the producer said; look for records after this, not before."""
    return load_acquire(link.cursor, word)
