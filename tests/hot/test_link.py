"""Links: no loss, no duplicate, no tear; full and empty seen; indices that wrap."""

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.hot import child
from tests.hot.link_toys import (
    CHECKSUM,
    CONSUMED,
    RECORD,
    TORN,
    WRONG_NUMBER,
    ask_ready,
    ask_room,
    consume,
    fill,
    give_back,
    look,
    produce,
    produce_or_drop,
    publish,
    told,
)
from tests.naive import link as naive
from venym.hot.arena import Arena
from venym.hot.jit import PLAIN
from venym.hot.layout import aligned
from venym.hot.link import CURSOR_WORDS, HEAD, SEEN_HEAD, SEEN_TAIL, TAIL, Link, lay_link, make_link

STARTS = [0, 2**32 - 3, -2] if PLAIN else [0, 2**32 - 3, 2**63 - 3, -2]  # numpy's integers do not wrap in silence
CAPACITIES = [1, 2, 8, 64, 4096]


@pytest.mark.parametrize("capacity", [0, -1, -8, 3, 6, 4095])
def test_capacity_is_a_power_of_two(capacity: int) -> None:
    with pytest.raises(ValueError, match=f"a link's capacity is a power of two, not {capacity}"):
        make_link(RECORD, capacity)


def test_memory_that_is_no_links() -> None:
    slots, cursor = aligned(8, RECORD), aligned(CURSOR_WORDS + 1, np.int64)
    assert lay_link(slots, cursor[:CURSOR_WORDS], start=5).cursor[TAIL] == 5
    with pytest.raises(ValueError, match="power of two, not 7"):
        lay_link(slots[:7], cursor[:CURSOR_WORDS])
    for wrong in (cursor, cursor[1:], cursor[:CURSOR_WORDS].astype(np.int32), cursor[:CURSOR_WORDS].reshape(8, 8)):
        with pytest.raises(ValueError, match=r"a link's cursor is \(64,\) int64 aligned to 128 bytes"):
            lay_link(slots, wrong)


def test_no_two_words_of_the_cursor_share_a_line_nor_the_two_sides_a_pair() -> None:
    link = make_link(RECORD, 8)
    assert link.cursor.ctypes.data % 128 == 0 and link.slots.ctypes.data % 128 == 0
    assert len({word * 8 // 64 for word in (HEAD, SEEN_TAIL, TAIL, SEEN_HEAD)}) == 4
    assert {HEAD * 8 // 128, SEEN_TAIL * 8 // 128}.isdisjoint({TAIL * 8 // 128, SEEN_HEAD * 8 // 128})
    assert len(link.cursor) == CURSOR_WORDS


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("capacity", CAPACITIES)
def test_full_is_seen_and_nothing_lost(capacity: int, start: int) -> None:
    """The consumer stands still for a while, at every place of the ring."""
    link = make_link(RECORD, capacity, start)
    sent = read = 0
    for taken in (1, capacity // 2, capacity, capacity - 1 or 1):
        while ask_room(link, 1):
            fill(link, 0, sent)
            publish(link, 1)
            sent += 1
        assert sent - read == capacity, "full at its capacity, not before, not later"
        assert ask_room(link, capacity + 5) == 0
        assert ask_ready(link, capacity + 5) == capacity
        for _ in range(min(taken, capacity)):
            assert look(link, 0) == read
            give_back(link, 1)
            read += 1
        assert ask_room(link, capacity + 5) == capacity - (sent - read)
    while ask_ready(link, 1):
        assert look(link, 0) == read
        give_back(link, 1)
        read += 1
    assert read == sent
    assert ask_room(link, capacity) == capacity


@pytest.mark.parametrize("start", STARTS)
def test_what_finds_no_room_can_be_counted(start: int) -> None:
    link = make_link(RECORD, 8, start)
    assert produce_or_drop(link, 1000) == 992
    assert [look(link, k) for k in range(ask_ready(link, 99))] == [*range(8)]


def test_nothing_is_seen_before_it_is_committed_nor_reused_before_it_is_released() -> None:
    link = make_link(RECORD, 4)
    for k in range(4):
        fill(link, k, 10 + k)
    assert ask_ready(link, 4) == 0
    publish(link, 2)
    assert ask_ready(link, 4) == 2
    fill(link, 0, 99)
    publish(link, 2)
    assert [look(link, k) for k in range(ask_ready(link, 4))] == [10, 11, 99, 13]
    assert ask_room(link, 4) == 0
    give_back(link, 1)
    assert ask_room(link, 4) == 1


def two_threads(link: Link, count: int, batch_max: int) -> None:
    seen = told()
    produced: list[int] = []
    producer = threading.Thread(target=lambda: produced.append(produce(link, count, batch_max)))
    consumer = threading.Thread(target=consume, args=(link, count, batch_max, seen))
    for thread in (consumer, producer):
        thread.start()
    for thread in (consumer, producer):
        thread.join(60)
        assert not thread.is_alive()
    assert (seen[CONSUMED], seen[WRONG_NUMBER], seen[TORN]) == (count, 0, 0)
    assert seen[CHECKSUM] == produced[0]
    assert ask_ready(link, 1) == 0


@pytest.mark.skipif(PLAIN, reason="needs the compiler: ten million records take the interpreter minutes")
def test_two_threads_ten_million_records() -> None:
    two_threads(make_link(RECORD, 1024), 10_000_000, 32)


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("capacity", CAPACITIES)
@pytest.mark.skipif(PLAIN, reason="needs the compiler: threads of the interpreter take turns: it shows nothing")
def test_two_threads_at_every_capacity_across_the_wrap(capacity: int, start: int) -> None:
    two_threads(make_link(RECORD, capacity, start), 20_000, 16)


CONSUMER = """
import sys
import numpy as np
from tests.hot.link_toys import RECORD, consume, told
from venym.hot.arena import Arena
from venym.hot.link import Link
arena = Arena.attach(int(sys.argv[1]), writable=True)
seen = told()
consume(Link(arena.view("slots", RECORD), arena.view("cursor", np.int64)), 100_000, 16, seen)
print(*seen)
"""


@pytest.mark.skipif(PLAIN, reason="needs the compiler: a hundred thousand records take the interpreter long")
def test_two_processes_over_an_arena() -> None:
    arena = Arena(1 << 20, huge_pages="never", lock="never")
    link = lay_link(arena.take("slots", 256, RECORD), arena.take("cursor", CURSOR_WORDS, np.int64))
    process = child.start(CONSUMER, arena.fd, pass_fds=[arena.fd])
    checksum = produce(link, 100_000, 16)
    assert child.finish(process)[0].split() == ["100000", str(checksum), "0", "0"]
    del link
    arena.close()


class AgainstDeque(RuleBasedStateMachine):
    """Producer and consumer take turns in batches of any size; the deque says what each must see."""

    @initialize(capacity=st.sampled_from([1, 2, 8, 64]), start=st.sampled_from(STARTS))
    def begin(self, capacity: int, start: int) -> None:
        self.link = make_link(RECORD, capacity, start)
        self.twin = naive.Link(capacity)
        self.numbers = 0
        self.granted = self.readable = 0

    @rule(wanted=st.integers(0, 70))
    def ask_for_room(self, wanted: int) -> None:
        self.granted = int(ask_room(self.link, wanted))
        assert self.granted == self.twin.room(wanted)

    @precondition(lambda self: self.granted)
    @rule(data=st.data())
    def claim_and_commit(self, data: st.DataObject) -> None:
        """Fill all that was granted, publish some of it."""
        numbers = [self.numbers + k for k in range(self.granted)]
        for k in data.draw(st.permutations(range(self.granted))):
            fill(self.link, k, numbers[k])
        count = data.draw(st.integers(0, self.granted))
        publish(self.link, count)
        self.twin.commit(numbers[:count])
        self.numbers += 1000
        self.granted -= count

    @rule(wanted=st.integers(0, 70))
    def ask_for_records(self, wanted: int) -> None:
        self.readable = int(ask_ready(self.link, wanted))
        assert self.readable == self.twin.ready(wanted)

    @precondition(lambda self: self.readable)
    @rule(data=st.data())
    def peek_and_release(self, data: st.DataObject) -> None:
        assert [look(self.link, k) for k in range(self.readable)] == [self.twin.peek(k) for k in range(self.readable)]
        count = data.draw(st.integers(0, self.readable))
        give_back(self.link, count)
        self.twin.release(count)
        self.readable -= count

    @invariant()
    def holds_as_many(self) -> None:
        if hasattr(self, "link"):
            cursor: Any = self.link.cursor
            held = (int(cursor[HEAD]) - int(cursor[TAIL])) % 2**64
            assert held == len(self.twin.records)


AgainstDeque.TestCase.settings = settings(max_examples=60, stateful_step_count=40, deadline=None)
TestAgainstDeque = AgainstDeque.TestCase
