"""What a made-up day will hold, settled before its first message: phases, scripted messages, how many of each kind.

    phase   | directory | pre-market | ... | opening cross | open | ... | closing cross | expiry | post-market | late |
    index   0           end_at                                                             regular_end_at     messages

A day has exactly `messages` messages. Phases and scripted rows are laid out by message index; the clock follows them.
Messages that are not scripted are *regular*: drawn as the day goes on, the kinds from budgets, adds and deletes as the
number of live orders asks for.
"""

from typing import NamedTuple

import numpy as np

from ..hot.layout import aligned, record
from .day_script import CLOSING, DAY_ENDS_NS, PART_BITS, SECOND_NS, SPANS, Column, scaled, write_script
from .day_symbols import SYMBOLS_MAX, Instruments, make_instruments

MESSAGES_MAX = 2_000_000_000
LIVE_ORDERS = 1_000_000  # at the peak, when not told otherwise and the day is long enough
MESSAGES_PER_LIVE = 20  # that long
LIVE_ORDERS_MAX = 16_000_000
REGULAR_PER_LIVE_MIN = 4  # so that the orders can be entered, live a little and go

LATE_DELETES = 12  # after the end of system hours
LIVE_ORDERS_MIN = LATE_DELETES + 4
REGULAR_MIN = 80  # fewer make no day

PHASE = record(
    "PHASE",
    [
        ("end_at", "i8"),  # index of the first message after it
        ("start_ns", "i8"),
        ("end_ns", "i8"),
        ("start_live", "i8"),  # how many live orders there should be
        ("end_live", "i8"),
        ("imbalances", "i8"),  # regular I messages in it
    ],
    64,
)

ROW = record(
    "ROW",
    [
        ("at", "i8"),  # due when so many messages are out
        ("a", "i8"),  # by kind, see day_script
        ("b", "i8"),
        ("locate", "i8"),
        ("kind", "i8"),  # the message type's byte
    ],
    40,
)


class PlanError(ValueError):
    """A day like this cannot be made; the message says what would do."""


class Wanted(NamedTuple):
    """What is asked for. `live_orders` is the number at the peak; None: as many as the length of the day suggests."""

    messages: int
    symbols: int
    seed: int
    live_orders: int | None = None


class Plan(NamedTuple):
    instruments: Instruments
    phases: np.ndarray  # PHASE
    rows: np.ndarray  # ROW, in order
    messages: int
    regular_end_at: int  # message index at which LATE_DELETES orders are left, and nothing else to do
    orders_max: int  # live orders at most
    budgets: dict[str, int]  # regular messages of kinds U E C X P


def make_plan(wanted: Wanted) -> Plan:
    """Lay the day out. Raises PlanError when it is too short for its directory, or for the live orders asked for."""
    _check_ranges(wanted)
    instruments = make_instruments(wanted.symbols, wanted.seed)
    script = write_script(wanted.messages, wanted.seed, instruments)
    regular = wanted.messages - len(script) - LATE_DELETES
    if regular < REGULAR_MIN:
        raise PlanError(
            f"{wanted.messages} messages are too few for {wanted.symbols} symbols: the directory and the crosses alone "
            f"make it at least {_messages_min(wanted, instruments, REGULAR_MIN)}"
        )
    live = wanted.live_orders
    if live is None:
        live = max(
            min(wanted.messages // MESSAGES_PER_LIVE, regular // REGULAR_PER_LIVE_MIN, LIVE_ORDERS), LIVE_ORDERS_MIN
        )
    elif regular < live * REGULAR_PER_LIVE_MIN:
        raise PlanError(
            f"{wanted.messages} messages are too few for {live} live orders: "
            f"at least {_messages_min(wanted, instruments, live * REGULAR_PER_LIVE_MIN)}"
        )
    by_phase = _regular_by_phase(regular, live)
    phases, rows = _lay_out(script, by_phase, live, scaled("I", wanted.messages))
    crossing = int(script[script[:, Column.KIND] == ord("Q"), Column.B].sum())
    budgets = {kind: scaled(kind, wanted.messages) for kind in "UECXP"}
    budgets["C"] = max(budgets["C"] - crossing, 0)
    return Plan(
        instruments=instruments,
        phases=phases,
        rows=rows,
        messages=wanted.messages,
        regular_end_at=int(phases[-2]["end_at"]),
        orders_max=live + live // 8 + 256,
        budgets=budgets,
    )


def _check_ranges(wanted: Wanted) -> None:
    if not 1 <= wanted.symbols <= SYMBOLS_MAX:
        raise PlanError(f"{wanted.symbols} symbols: a stock locate has 16 bits, so 1 to {SYMBOLS_MAX}")
    if not 1 <= wanted.messages <= MESSAGES_MAX:
        raise PlanError(f"{wanted.messages} messages: 1 to {MESSAGES_MAX}")
    if wanted.live_orders is not None and not LIVE_ORDERS_MIN <= wanted.live_orders <= LIVE_ORDERS_MAX:
        raise PlanError(f"{wanted.live_orders} live orders: {LIVE_ORDERS_MIN} to {LIVE_ORDERS_MAX}")


def _messages_min(wanted: Wanted, instruments: Instruments, regular: int) -> int:
    """The shortest day with so many regular messages. Its script grows a little with it, so step up until both fit."""
    least = 0
    while True:
        needed = len(write_script(least, wanted.seed, instruments)) + LATE_DELETES + regular
        if needed <= least:
            return least
        least = needed


def _live_at_ends(live: int) -> list[int]:
    """How many orders should be live at the end of each phase."""
    ends = [live * span.live // 1000 for span in SPANS]
    after_close = [max(end, LATE_DELETES) for end in ends[CLOSING:-1]]
    return ends[:CLOSING] + after_close + [0]


def _regular_by_phase(regular: int, live: int) -> list[int]:
    """Share the regular messages out: what the rise and fall of the live orders takes, the rest by weight."""
    ends = _live_at_ends(live)
    counts = [abs(end - start) * 11 // 10 for start, end in zip([0, *ends[:-2]], ends[:-1], strict=True)]
    rest = regular - sum(counts)
    weights = [span.weight for span in SPANS[:-1]]
    counts = [count + rest * weight // sum(weights) for count, weight in zip(counts, weights, strict=True)]
    busiest = max(range(len(counts)), key=counts.__getitem__)
    counts[busiest] += regular - sum(counts)
    return counts + [LATE_DELETES]


def _lay_out(script: np.ndarray, regular: list[int], live: int, imbalances: int) -> tuple[np.ndarray, np.ndarray]:
    """Give every phase and every scripted row its message index."""
    phases, rows = aligned(len(SPANS), PHASE), aligned(len(script), ROW)
    for field, column in (("kind", Column.KIND), ("locate", Column.LOCATE), ("a", Column.A), ("b", Column.B)):
        rows[field] = script[:, column]
    starts = [span.starts_s * SECOND_NS for span in SPANS] + [DAY_ENDS_NS]
    lives = [0] + _live_at_ends(live)
    at = 0
    for index, span in enumerate(SPANS):
        mine = np.flatnonzero(script[:, Column.PHASE] == index)
        regular_before = script[mine, Column.PART] * regular[index] >> PART_BITS
        rows["at"][mine] = at + regular_before + np.arange(len(mine))
        at += regular[index] + len(mine)
        wanted = imbalances * span.imbalances // 100
        phases[index] = (at, starts[index], starts[index + 1], lives[index], lives[index + 1], wanted, [0] * 16)
    rows["at"][-1] = at - 1  # the end of messages is the last one, whatever rounding says
    return phases, rows
