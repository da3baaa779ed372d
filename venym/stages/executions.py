"""Executions booked: each is known again by its order and ExecID, so that none is booked twice.

    hash(order, ExecID) ──▶ slots | row + 1 | 0 | row + 1 | ...      open addressing, nothing is ever removed
                                     └▶ EXECUTION_ROW: octets of the id, what was booked, whether it still stands

The order is part of the key: where a venue numbers trades, both sides of a trade with oneself have one number. An
execution corrected is undone, and `successor` leads to what it became.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import inner
from ..hot.layout import record
from .book import Take

EXEC_ID_OCTETS_MAX = 64

EXECUTION_ROW = record(
    "EXECUTION_ROW",
    [
        ("shares", "i8"),
        ("price_e4", "i8"),
        ("fee_e6", "i8"),
        ("order", "i4"),
        ("successor", "i4"),  # row + 1 of the correction; 0: none
        ("undone", "i4"),
        ("octets", "i4"),
        ("exec_id", "u1", (EXEC_ID_OCTETS_MAX,)),
    ],
    128,
)
USED = 0
_FACTOR, _MASK = 16_777_619, 0xFFFFFFFF


class Executions(NamedTuple):
    """rows (executions_max,) EXECUTION_ROW; slots (a power of two,) int64; words (1,) int64."""

    rows: np.ndarray
    slots: np.ndarray
    words: np.ndarray


def build_executions(take: Take, executions_max: int) -> Executions:
    """An empty table. Raises ValueError for a maximum below 1."""
    if executions_max < 1:
        raise ValueError(f"executions_max is at least 1, not {executions_max}")
    word = np.dtype(np.int64)
    slots = 1 << (2 * executions_max - 1).bit_length()
    return Executions(
        rows=take("executions", executions_max, EXECUTION_ROW),
        slots=take("execution_slots", slots, word),
        words=take("execution_words", 1, word),
    )


@inner
def find_execution(executions, order, octets, start, count):
    """(row or -1, slot) of the order's execution with the ExecID octets[start : start + count]. The caller has seen
    that they lie in the array and are at most EXEC_ID_OCTETS_MAX."""
    mixed = np.int64(2_166_136_261)
    for k in range(8):
        mixed = ((mixed ^ (order >> 8 * k & 0xFF)) * _FACTOR) & _MASK
    for k in range(count):
        mixed = ((mixed ^ np.int64(octets[start + k])) * _FACTOR) & _MASK
    last = executions.slots.shape[0] - 1
    slot = (mixed ^ mixed >> 15) & last
    while True:
        held = slot_at(executions.slots, slot)
        if held == 0:
            return np.int64(-1), slot
        if is_same(slot_at(executions.rows, held - 1), order, octets, start, count):
            return held - 1, slot
        slot = (slot + 1) & last


@inner
def is_same(row, order, octets, start, count):
    if row.order != order or row.octets != count:
        return False
    differing = 0
    for k in range(count):
        if row.exec_id[k] != octets[start + k]:
            differing += 1
    return differing == 0


@inner
def add_execution_row(executions, slot, order, octets, start, count, shares, price_e4, fee_e6):
    """Enter an execution at the slot `find_execution` gave; returns its row, or -1 when the table is full."""
    index = executions.words[USED]
    if index == executions.rows.shape[0]:
        return np.int64(-1)
    row = slot_at(executions.rows, index)
    row.order, row.octets = order, count
    row.shares, row.price_e4, row.fee_e6 = shares, price_e4, fee_e6
    for k in range(count):
        row.exec_id[k] = octets[start + k]
    executions.slots[slot] = index + 1
    executions.words[USED] = index + 1
    return index


@inner
def last_version(executions, row):
    """The row that a corrected execution became, or itself."""
    while slot_at(executions.rows, row).successor != 0:
        row = np.int64(slot_at(executions.rows, row).successor) - 1
    return row
