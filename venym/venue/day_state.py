"""What the writer of a made-up day remembers between two messages, and what it looks things up in."""

from typing import NamedTuple

import numpy as np

from ..hot.layout import aligned, record
from ..wire.itch50_encode import alpha
from .chance import make_chance
from .day_book import Books, make_books
from .day_plan import Plan
from .day_symbols import PARTICIPANTS, PROFILES, hashed

ENGINES = 8  # each numbers its orders in a residue class of its own, so references do not rise with time
FIRST_REFERENCES = 1 << 27  # where an engine's count starts is drawn below this
TRADES = 256  # remembered, for some to be broken
AHEAD = 8  # orders chosen before they are needed, so that memory can fetch them

TODAY = record(
    "TODAY",
    [
        (name, "i8")
        for name in (
            "messages",  # in the whole day
            "emitted",
            "regular_end_at",
            "rows_before_end",  # scripted rows still to come before regular_end_at
            "time_ns",
            "phase",
            "row",  # the next scripted one
            "crossing",  # executions the present cross may still make; -1 when none is under way
            "crossing_side",
            "crossed_shares",
            "cross_price_e4",
            "upkeep_at",
            "add_odds",  # parts of 2^16: an add rather than a delete
            "short_gap_ns",
            "long_gap_ns",
            "age_octaves",  # bits of a position in arrivals
            "imbalances_left",  # regular I in this phase
            "replaces_left",
            "executions_left",
            "priced_executions_left",
            "cancels_left",
            "prints_left",
            "locate",  # of the last message
            "imbalance_locate",
            "match",
            "chosen",  # ring index into ahead
        )
    ],
    208,
)

TRADE = record("TRADE", [("match", "i8"), ("locate", "i8")], 16)


class Day(NamedTuple):
    today: np.ndarray  # one TODAY: every number that changes
    phases: np.ndarray  # PHASE
    rows: np.ndarray  # ROW
    books: Books
    chance: np.ndarray
    popularity_cut: np.ndarray
    popularity_own: np.ndarray
    popularity_other: np.ndarray
    shares: np.ndarray  # (256,) int64 by random bits; 0: an odd lot
    offsets: np.ndarray  # (1024,) int64 by random bits: distance of a new order from the fair price
    mpids: np.ndarray  # int64: ALPHA words
    profiles: np.ndarray  # (profiles, 13) int64: the directory's codes
    engines: np.ndarray  # (ENGINES,) int64: orders numbered
    trades: np.ndarray  # (TRADES,) TRADE: the latest
    ahead: np.ndarray  # (AHEAD,) int64: positions in arrivals
    written: np.ndarray  # (256,) int64: messages so far by the byte of their type


def begin_day(plan: Plan, seed: int) -> Day:
    """Everything as it stands before the first message."""
    today = aligned(1, TODAY)
    now = today[0]
    now.messages, now.regular_end_at = plan.messages, plan.regular_end_at
    now.rows_before_end = int((plan.rows["at"] < plan.regular_end_at).sum())
    now.time_ns = plan.phases[0]["start_ns"]
    now.crossing = -1
    now.add_odds = 1 << 15
    now.age_octaves = 1
    now.locate = 1
    now.imbalances_left = plan.phases[0]["imbalances"]
    now.replaces_left, now.executions_left = plan.budgets["U"], plan.budgets["E"]
    now.priced_executions_left, now.cancels_left = plan.budgets["C"], plan.budgets["X"]
    now.prints_left = plan.budgets["P"]
    popularity = plan.instruments.popularity
    return Day(
        today=today,
        phases=plan.phases,
        rows=plan.rows,
        books=make_books(plan.orders_max, plan.instruments.symbols),
        chance=make_chance(seed),
        popularity_cut=popularity.cut,
        popularity_own=popularity.own,
        popularity_other=popularity.other,
        shares=_share_table(),
        offsets=_offset_table(),
        mpids=np.array([alpha(name, 4) for name in PARTICIPANTS], np.int64),
        profiles=np.array([[_code(value) for value in profile] for profile in PROFILES], np.int64),
        engines=hashed(seed, 8, ENGINES) % FIRST_REFERENCES,
        trades=aligned(TRADES, TRADE),
        ahead=np.zeros(AHEAD, np.int64),
        written=np.zeros(256, np.int64),
    )


def _code(value: str | int) -> int:
    """A directory code as put_stock_directory takes it: its octets as a number, or a plain number."""
    return value if isinstance(value, int) else alpha(value, len(value))


def _share_table() -> np.ndarray:
    counts = ((100, 118), (0, 56), (200, 26), (300, 14), (500, 14), (400, 8), (1000, 8), (600, 4), (2000, 3), (5000, 2))
    table = [shares for shares, times in counts for _ in range(times)] + [800, 10_000, 50_000]
    return np.array(table, np.int64)


def _offset_table() -> np.ndarray:
    """Two thirds within two steps of the best, the rest thinning out as 1 / distance to a thousand steps."""
    near = [0] * 340 + [1] * 210 + [2] * 120 + [3] * 80
    tail = 1024 - len(near)
    far = [min(3 + 6 * tail // (tail - index) - 5, 1023) for index in range(tail)]
    return np.array(near + far, np.int64)
