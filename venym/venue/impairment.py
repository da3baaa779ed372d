"""What goes wrong on the lines, on purpose and the same each time.

    fate(seed, line, kind, packet's number) ──▶ 32 bits  < probability * 2^32 ?

Nothing else decides: not the time, not the machine, not what was sent before. Packets are numbered from 0 over a whole
publication. Each line, and each kind of trouble, has chances of its own; those of `loss_both` are common to both lines.

    lost       not sent on a line, or not on any
    twice      sent twice, one right behind the other
    displaced  sent after 1 to DISPLACEMENT_MAX packets that should have followed
    outage     nothing is sent on a line for a while of the schedule
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..hot.jit import hot
from .chance import MASK, make_chance

DISPLACEMENT_MAX = 15
LINES = 2

BOTH, LOSS, DUPLICATE, REORDER, DISTANCE = 0, 1, 3, 5, 7  # streams of chance; the line is added
_STREAMS = 9

SENT, LOST, LOST_BOTH, OUT = range(4)  # fates


class Outage(NamedTuple):
    """A line (0 or 1) is silent from `start_ns` of the schedule on, for `duration_ns`."""

    line: int
    start_ns: int
    duration_ns: int


class Impairment(NamedTuple):
    """Probabilities, of line A and of line B; those of `loss_both` that neither carries a packet. `seed`: 56 bits."""

    loss: tuple[float, float] = (0.0, 0.0)
    loss_both: float = 0.0
    duplicate: tuple[float, float] = (0.0, 0.0)
    reorder: tuple[float, float] = (0.0, 0.0)
    outages: Sequence[Outage] = ()
    seed: int = 0


class Fates(NamedTuple):
    """keys (18,) int64; limits (7,) int64: of BOTH, LOSS, DUPLICATE and REORDER; outages (n, 3) int64: line, start,
    end."""

    keys: np.ndarray
    limits: np.ndarray
    outages: np.ndarray


def make_fates(impairment: Impairment) -> Fates:
    """For compiled code. Raises ValueError for a probability not from 0 to 1, or an outage that cannot be."""
    given = (impairment.loss_both, *impairment.loss, *impairment.duplicate, *impairment.reorder)
    for probability in given:
        if not 0 <= probability <= 1:
            raise ValueError(f"{probability} is no probability: 0 to 1")
    for outage in impairment.outages:
        if outage.line not in range(LINES) or outage.start_ns < 0 or outage.duration_ns <= 0:
            raise ValueError(f"{outage} cannot be: line 0 or 1, a start from 0, a duration above 0")
    keys = np.concatenate([make_chance((impairment.seed << 8) + stream)[:2] for stream in range(_STREAMS)])
    rows = [(line, start_ns, start_ns + duration_ns) for line, start_ns, duration_ns in impairment.outages]
    outages = np.array(rows, np.int64).reshape(len(rows), 3)
    return Fates(keys, np.array([round(probability * 2**32) for probability in given], np.int64), outages)


@hot
def chance_of(keys, stream, number):
    """32 bits that depend on the seed, the stream of chance and the packet's number alone."""
    drawn = (number ^ keys[2 * stream]) & MASK
    for turn in range(2):
        drawn = (drawn ^ drawn >> 16) * 0x21F0AAAD & MASK  # the products have 63 bits at most
        drawn = (drawn ^ drawn >> 15) * 0x735A2D97 & MASK
        drawn ^= drawn >> 15
        if turn == 0:
            drawn = (drawn + keys[2 * stream + 1] + (number >> 32)) & MASK
    return drawn


@hot
def _happens(fates, stream, number):
    limit = fates.limits[stream]
    return limit != 0 and chance_of(fates.keys, stream, number) < limit


@hot
def is_out(fates, line, elapsed_ns):
    """Is the line silent at this time of the schedule?"""
    for k in range(fates.outages.shape[0]):
        if fates.outages[k, 0] == line and fates.outages[k, 1] <= elapsed_ns < fates.outages[k, 2]:
            return True
    return False


@hot
def fate_of(fates, line, number, elapsed_ns):
    """SENT, LOST, LOST_BOTH or OUT."""
    if is_out(fates, line, elapsed_ns):
        return OUT
    if _happens(fates, BOTH, number):
        return LOST_BOTH
    if _happens(fates, LOSS + line, number):
        return LOST
    return SENT


@hot
def is_twice(fates, line, number):
    return _happens(fates, DUPLICATE + line, number)


@hot
def displacement_of(fates, line, number):
    """After how many packets that should have followed it is sent; 0: in its place."""
    if not _happens(fates, REORDER + line, number):
        return np.int64(0)
    return 1 + (chance_of(fates.keys, DISTANCE + line, number) * DISPLACEMENT_MAX >> 32)
