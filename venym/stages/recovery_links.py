"""The two links between decoder and recovery, as the recovery thread uses them: a few compiled calls a turn."""

import numpy as np

from ..hot import link as links
from ..hot.intrinsics import be16, copy_octets, put_be16
from ..hot.jit import hot
from ..hot.layout import aligned
from ..records import RECOVERED_OCTETS_MAX, REREQUESTED
from ..wire import moldudp64 as mold

ROW_WORDS = 7  # of a MISSING record: session high and low, first, end, expected, channel, kind

# What became of an answer (`push_answer`).
HANDED_ON, NO_ROOM, SHORT, FOREIGN, EMPTY = range(5)


ROWS = 256


def make_rows() -> np.ndarray:
    """(ROWS, ROW_WORDS) int64, for `take_missing`."""
    return aligned(ROWS * ROW_WORDS, np.int64).reshape(ROWS, ROW_WORDS)


@hot
def take_missing(link, rows):
    """Read at most len(rows) MISSING records into the (n, ROW_WORDS) int64 rows, and give them back: how many."""
    count = links.ready(link, rows.shape[0])
    for k in range(count):
        record = links.peek(link, k)
        rows[k, 0] = record.session_high
        rows[k, 1] = record.session_low
        rows[k, 2] = record.first
        rows[k, 3] = record.end
        rows[k, 4] = record.expected
        rows[k, 5] = record.channel
        rows[k, 6] = record.kind
    links.release(link, count)
    return count


@hot
def has_room(link):
    return links.room(link, np.int64(1)) > 0


@hot
def push(link, channel, kind, high, low, sequence, octets, length):
    """Hand on a RECOVERED with octets[:length], at most RECOVERED_OCTETS_MAX; False when there is no room."""
    if links.room(link, np.int64(1)) == 0:
        return False
    _fill(link, channel, kind, high, low, sequence, octets, length)
    return True


@hot
def push_answer(link, channel, high, low, octets, length):
    """Hand on the MoldUDP64 packet octets[:length] of this session, as far as its messages are whole and a RECOVERED
    holds them: (what became of it, first message handed on, one past the last). May change the packet's count."""
    if length < mold.HEADER_BYTES:
        return SHORT, np.int64(0), np.int64(0)
    if mold.session_high(octets, 0) != high or mold.session_low(octets, 0) != low:
        return FOREIGN, np.int64(0), np.int64(0)
    count, first = mold.count_of(octets, 0), mold.sequence_of(octets, 0)
    if count == mold.END_OF_SESSION:
        count = np.int64(0)
    messages, end = np.int64(0), np.int64(mold.HEADER_BYTES)
    limit = min(np.int64(length), np.int64(RECOVERED_OCTETS_MAX))
    while messages < count and end + mold.LENGTH_BYTES <= limit:
        next_end = end + mold.LENGTH_BYTES + be16(octets, end)
        if next_end > limit:
            break
        end = next_end
        messages += 1
    if messages == 0 or first < 1:
        return EMPTY, np.int64(0), np.int64(0)
    if links.room(link, np.int64(1)) == 0:
        return NO_ROOM, np.int64(0), np.int64(0)
    put_be16(octets, mold.COUNT, messages)
    _fill(link, channel, REREQUESTED, high, low, first, octets, end)
    return HANDED_ON, first, first + messages


@hot
def _fill(link, channel, kind, high, low, sequence, octets, length):
    record = links.claim(link, 0)
    record.session_high = high
    record.session_low = low
    record.sequence = sequence
    record.channel = channel
    record.kind = kind
    record.length = length
    copy_octets(record.octets, 0, octets, 0, length)
    links.commit(link, np.int64(1))
