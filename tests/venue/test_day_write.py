"""The loop that writes a day: into buffers of any size, and never past their end."""

import pytest

from tests.guarded import Guarded
from tests.naive.binaryfile import messages_of
from venym.venue.day_plan import Wanted, make_plan
from venym.venue.day_state import Day, begin_day
from venym.venue.day_write import BLOCK_MAX, write_day

pytestmark = pytest.mark.plain

WANTED = Wanted(400, 5, 11)


def day() -> Day:
    return begin_day(make_plan(WANTED), WANTED.seed)


def written_by(size: int) -> bytes:
    """The whole day through a buffer of `size` octets that ends where no octet may be touched."""
    begun, memory, whole = day(), Guarded(size), b""
    while True:
        octets = memory.put(bytes(size))
        length = write_day(begun, octets)
        if length == 0:
            return whole
        assert length > size - BLOCK_MAX or begun.today[0].emitted == WANTED.messages
        whole += bytes(octets[:length])


@pytest.mark.parametrize("size", [BLOCK_MAX, BLOCK_MAX + 1, 1_000])
def test_the_size_of_the_buffer_does_not_matter(size: int) -> None:
    assert written_by(size) == written_by(1 << 16)


def test_messages_are_counted_by_type() -> None:
    begun, octets = day(), Guarded(1 << 16).put(bytes(1 << 16))
    kinds = [message[0] for message in messages_of(bytes(octets[: write_day(begun, octets)]))]
    assert len(kinds) == WANTED.messages
    assert [int(count) for count in begun.written] == [kinds.count(code) for code in range(256)]


def test_a_day_that_is_over_writes_nothing_more() -> None:
    begun, octets = day(), Guarded(1 << 16).put(bytes(1 << 16))
    assert write_day(begun, octets) > 0
    assert write_day(begun, octets) == 0
