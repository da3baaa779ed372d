"""All messages of a publication, as the packets that carry them: what is sent, asked for again and told in a spin.

    sessions | first row, end row | ...
    rows     | offset, sequence, time_ns, length, count | ...      one a packet, in the order of their numbers
    octets   | session 10 | sequence 8 | count 2 | length 2 | message | ...      packets, as they go on the wire

Rows and octets lie in unnamed files in the folder for temporary files (TMPDIR) and are mapped: a day of 10^8 messages
takes no memory that the kernel could not have back. A message is found by its packet, and in there by walking its
blocks. The last packet of a session is the one that ends it. `store_builder` makes a store.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import hot
from ..hot.layout import record
from ..wire.moldudp64 import END_OF_SESSION, SESSION_BYTES

ROW = record(
    "STORE_ROW",
    [
        ("offset", "i8"),  # of the packet in `octets`
        ("sequence", "i8"),  # of its first message
        ("time_ns", "i8"),  # when it was received or, where nobody says, of its last message; never falls
        ("length", "i4"),  # of the packet
        ("count", "i4"),  # of its messages, or END_OF_SESSION
    ],
    32,
)
SESSION_ROW = record("STORE_SESSION", [("high", "i8"), ("low", "i8"), ("first", "i8"), ("end", "i8")], 32)  # rows


class StoreError(Exception):
    """What was given cannot be published; the message says why."""


class Store(NamedTuple):
    """octets (n,) uint8; rows (m,) ROW; sessions (s,) SESSION_ROW. For compiled code."""

    octets: np.ndarray
    rows: np.ndarray
    sessions: np.ndarray

    @property
    def messages(self) -> int:
        """All there are; the end of a session is none."""
        counts = self.rows["count"]
        return int(counts[counts != END_OF_SESSION].sum(dtype=np.int64))

    def names(self) -> list[str]:
        """Of the sessions, in order."""
        starts = [int(self.rows[int(row.first)].offset) for row in self.sessions]
        return [self.octets[at : at + SESSION_BYTES].tobytes().decode("latin-1") for at in starts]


def put_in_order(rows: np.ndarray, sessions: np.ndarray, into: np.ndarray) -> int:
    """Write the rows of each session by their numbers, without those that bring nothing new: how many."""
    kept = 0
    for session in sessions:
        part = rows[int(session.first) : int(session.end)]
        order = np.lexsort((part["count"] == END_OF_SESSION, part["sequence"]))
        first, kept = kept, int(_keep(rows, int(session.first), order, into, kept))
        into["time_ns"][first:kept] = np.maximum.accumulate(into["time_ns"][first:kept])
        session.first, session.end = first, kept
    return kept


@hot
def _keep(rows, base, order, into, kept):
    top = np.int64(-1)
    for k in range(order.shape[0]):
        row = slot_at(rows, base + order[k])
        count = np.int64(row.count)
        is_end = count == END_OF_SESSION
        if is_end or row.sequence + count > top:
            put = slot_at(into, kept)
            put.offset, put.sequence, put.time_ns = row.offset, row.sequence, row.time_ns
            put.length, put.count = row.length, row.count
            kept += 1
            top = top if is_end else row.sequence + count
    return kept


@hot
def missing(rows, sessions):
    """Messages of the sessions that are in no row."""
    total = np.int64(0)
    for k in range(sessions.shape[0]):
        session = slot_at(sessions, k)
        top = np.int64(-1)
        for j in range(session.first, session.end):
            row = slot_at(rows, j)
            if top >= 0 and row.sequence > top:
                total += row.sequence - top
            top = max(top, row.sequence + (0 if row.count == END_OF_SESSION else np.int64(row.count)))
    return total


@hot
def find_session(store, high, low):
    """Index of the session of this name (see wire.moldudp64), or -1."""
    for k in range(store.sessions.shape[0]):
        session = slot_at(store.sessions, k)
        if session.high == high and session.low == low:
            return k
    return -1


@hot
def find_row(rows, first, end, sequence):
    """The last row of rows[first:end] whose first message is not above `sequence`, or first - 1."""
    low, high = first, end
    while low < high:
        middle = (low + high) >> 1
        if slot_at(rows, middle).sequence <= sequence:
            low = middle + 1
        else:
            high = middle
    return low - 1
