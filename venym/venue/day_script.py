"""The scripted part of a made-up day: what happens at a certain time to a certain instrument.

    03:04:32  S O   R H Y for each symbol, in order of locate   L ...   V
    04:00     S S                                08:30  K
    09:30     S Q   Q for each symbol            10:00  H Q, I ... 10:15  Q, H T: the IPO
    09:45 ... 15:30   H P, J, five minutes, H Q, I, Q, H T: volatility pauses       11:00  h H ... 11:07  h T
    16:00     S M   Q for each symbol
    20:00     S E   B   S C

A script is an int64 table, one row a message, see Column. What stands in A and B:

    S  event code                   H  state, reason             Y  action           L  participant, -
    R  profile, whether it is new   Q  cross type, executions    I  cross type, -    K  release time in s, -
    h  action, -                    J V B  -, -

The executions of a cross (C, not printable) come on top, as far as the book has them.
"""

from typing import NamedTuple

import numpy as np

from ..wire.itch50_encode import alpha
from .day_symbols import PARTICIPANTS, PROFILES, Instruments, hashed

# A whole day of NASDAQ, 30 January 2019: messages by type.
REAL_DAY = {
    "A": 162_970_455,
    "D": 158_273_361,
    "U": 27_222_746,
    "E": 8_096_995,
    "X": 4_669_874,
    "I": 3_684_511,
    "F": 1_725_898,
    "P": 1_326_184,
    "L": 193_769,
    "C": 158_886,
    "Q": 17_430,
    "Y": 8_821,
    "H": 8_805,
    "R": 8_714,
    "B": 116,
    "J": 62,
    "S": 6,
    "V": 1,
}
REAL_MESSAGES = sum(REAL_DAY.values())

SECOND_NS = 1_000_000_000
PART_BITS = 31  # a place in a span is given in parts of 2^31
ALL = (1 << PART_BITS) - 1
DAY_ENDS_NS = (20 * 3600 + 300) * SECOND_NS

SPECIAL_SYMBOLS_MIN = 4  # with fewer there is no IPO and no halt
PAUSES_BEGIN_S, PAUSES_END_S, PAUSE_S = 35_100, 55_800, 300  # 09:45, 15:30
PAUSES_MIN = 3
IPO_RELEASE_S = 36_900  # 10:15
CROSS_EXECUTIONS = 60  # per cent of the day's C


class Span(NamedTuple):
    """A stretch of the day in which messages come at one rate."""

    starts_s: int
    weight: int  # of the messages that only turn the book over
    live: int  # live orders at its end, per mille of the peak
    imbalances: int = 0  # per cent of the day's I messages


DIRECTORY, PRE_MARKET, OPENING, LATE_MORNING, CLOSING, LATE = 0, 2, 5, 8, 14, 17
SPANS = (
    Span(11_072, 0, 0),  # 03:04:32 the directory
    Span(11_112, 0, 0),  # nothing
    Span(14_400, 14, 50),  # 04:00
    Span(28_800, 24, 170),  # 08:00
    Span(33_900, 14, 280, imbalances=30),  # 09:25
    Span(34_200, 22, 330),  # 09:30:00 crosses
    Span(34_212, 95, 620),
    Span(35_400, 110, 850),  # 09:50
    Span(37_800, 135, 960),  # 10:30
    Span(41_400, 120, 1000),  # 11:30
    Span(46_800, 130, 1000),  # 13:00
    Span(52_200, 130, 1000),  # 14:30
    Span(55_800, 85, 960),  # 15:30
    Span(57_000, 90, 880, imbalances=70),  # 15:50
    Span(57_600, 12, 500),  # 16:00:00 crosses
    Span(57_612, 8, 60),  # day orders expire
    Span(59_400, 11, 0),  # 16:30 down to the few that are left late
    Span(72_000, 0, 0),  # 20:00
)


class Column:
    """Of a script."""

    PHASE, PART, KIND, LOCATE, A, B = range(6)


def scaled(kind: str, messages: int) -> int:
    """How many messages of a kind belong into a day of so many, rounded down."""
    return REAL_DAY[kind] * messages // REAL_MESSAGES


def write_script(messages: int, seed: int, instruments: Instruments) -> np.ndarray:
    """The scripted messages of a day of `messages`, in order: (rows, 6) int64, see Column."""
    count = len(instruments.names) - 1
    blocks = [
        *_system_events(),
        *_directory(messages, seed, instruments),
        *_crosses(messages, instruments),
        *_broken_trades(messages, seed),
    ]
    if count >= SPECIAL_SYMBOLS_MIN:
        ranked = instruments.popularity.own
        blocks += _ipo(int(ranked[-1]))
        blocks += _operational_halt(int(ranked[-2]))
        blocks += _pauses(messages, [int(ranked[1 + (9 + 7 * turn) % (count - 3)]) for turn in range(count)])
    blocks.append(_row(LATE, ALL, "S", a=ord("C")))
    script = np.concatenate(blocks)
    return script[np.lexsort((np.arange(len(script)), script[:, Column.PART], script[:, Column.PHASE]))]


def _row(phase: int, part: int, kind: str, locate: int = 0, a: int = 0, b: int = 0) -> np.ndarray:
    return np.array([[phase, part, ord(kind), locate, a, b]], np.int64)


def _at(time_s: int, kind: str, locate: int, a: int = 0, b: int = 0) -> np.ndarray:
    """A row at a time of day."""
    phase = max(index for index, span in enumerate(SPANS) if span.starts_s <= time_s)
    start_s = SPANS[phase].starts_s
    part = (time_s - start_s << PART_BITS) // (SPANS[phase + 1].starts_s - start_s)
    return _row(phase, part, kind, locate, a, b)


def _block(phase: int, parts: np.ndarray, kind: str, locates: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    block = np.empty((len(parts), 6), np.int64)
    block[:, Column.PHASE], block[:, Column.PART], block[:, Column.KIND] = phase, parts, ord(kind)
    block[:, Column.LOCATE], block[:, Column.A], block[:, Column.B] = locates, a, b
    return block


def _system_events() -> list[np.ndarray]:
    events = ((DIRECTORY, "O"), (PRE_MARKET, "S"), (OPENING, "Q"), (CLOSING, "M"), (LATE, "E"))
    return [_row(phase, 0, "S", a=ord(code)) for phase, code in events]


def _directory(messages: int, seed: int, instruments: Instruments) -> list[np.ndarray]:
    """R, H and Y of each symbol; the participants; the market-wide circuit breaker's levels."""
    count = len(instruments.names) - 1
    locates, luck = np.arange(1, count + 1), hashed(seed, 6, count)
    state, reason, announced = np.full(count, ord("T")), np.full(count, alpha("", 4)), np.full(count, True)
    unpopular = np.sort(instruments.popularity.own[count // 2 : -2])  # all may be halted, but for the special ones
    unlucky = unpopular[luck[unpopular - 1] % 128 == 0] - 1
    state[unlucky], reason[unlucky] = ord("H"), alpha("T12", 4)
    announced[unpopular[luck[unpopular - 1] % 128 == 1] - 1] = False  # halted since before the day
    profile, is_new = luck // 128 % len(PROFILES), np.zeros(count, np.int64)
    if count >= SPECIAL_SYMBOLS_MIN:
        newcomer = int(instruments.popularity.own[-1]) - 1
        state[newcomer], reason[newcomer] = ord("H"), alpha("IPO1", 4)
        profile[newcomer], is_new[newcomer] = 0, 1
    restricted = luck // 4096 % 64 == 0
    actions = np.where(restricted, ord("2"), ord("0"))
    positions = scaled("L", messages)
    turns = np.arange(positions)
    return [
        _block(DIRECTORY, 3 * locates, "R", locates, profile, is_new),
        _block(DIRECTORY, 3 * locates + 1, "H", locates, state, reason)[announced],
        _block(DIRECTORY, 3 * locates + 2, "Y", locates, actions, locates * 0)[luck // 65536 % 64 != 0],
        _block(DIRECTORY, 200_000 + turns, "L", 1 + turns % count, turns // count % len(PARTICIPANTS), turns * 0),
        _row(DIRECTORY, ALL, "V"),
    ]


def _crosses(messages: int, instruments: Instruments) -> list[np.ndarray]:
    """One cross a symbol at the open and one at the close; the popular ones take most of the executions."""
    own, weights = instruments.popularity.own, instruments.weights
    budget = scaled("C", messages) * CROSS_EXECUTIONS // 200
    executions = np.array([budget * int(weight) // int(weights.sum()) for weight in weights], np.int64)
    parts = np.arange(1, len(own) + 1) * (ALL // (len(own) + 1))
    order = np.argsort(own)  # in order of locate
    return [
        _block(OPENING, parts, "Q", own[order], np.full(len(own), ord("O")), executions[order]),
        _block(CLOSING, parts, "Q", own[order], np.full(len(own), ord("C")), executions[order]),
    ]


def _broken_trades(messages: int, seed: int) -> list[np.ndarray]:
    """Half of them during the day, from the late morning on; at least two after hours."""
    total = max(scaled("B", messages), 2)
    during = min(total // 2, total - 2)
    luck = hashed(seed, 7, total) & ALL
    rows = [_row(LATE_MORNING + turn % 4, int(luck[turn]), "B") for turn in range(during)]
    return rows + [_row(LATE, int(luck[turn]) // 2 + 1, "B") for turn in range(during, total)]


def _ipo(locate: int) -> list[np.ndarray]:
    cross, reason = ord("H"), alpha("IPOQ", 4)
    return [
        _at(30_600, "K", locate, IPO_RELEASE_S),
        _at(IPO_RELEASE_S - 900, "H", locate, ord("Q"), reason),
        *(_at(IPO_RELEASE_S - before, "I", locate, cross) for before in (600, 300, 120, 60, 10)),
        _at(IPO_RELEASE_S, "Q", locate, cross, 4),
        _at(IPO_RELEASE_S, "H", locate, ord("T"), reason),
    ]


def _operational_halt(locate: int) -> list[np.ndarray]:
    return [_at(39_600, "h", locate, ord("H")), _at(40_020, "h", locate, ord("T"))]


def _pauses(messages: int, locates: list[int]) -> list[np.ndarray]:
    """Volatility pauses spread over the day, one after another."""
    count = max(scaled("J", messages) // 2, PAUSES_MIN)
    every_s = (PAUSES_END_S - PAUSES_BEGIN_S) // (count + 1)
    rows = []
    for turn in range(count):
        locate, begins_s, reason = locates[turn % len(locates)], PAUSES_BEGIN_S + turn * every_s, alpha("LUDP", 4)
        quotes_s, ends_s = begins_s + PAUSE_S - 60, begins_s + PAUSE_S
        rows += [
            _at(begins_s, "H", locate, ord("P"), reason),
            _at(begins_s, "J", locate),
            _at(quotes_s, "H", locate, ord("Q"), reason),
            _at(quotes_s + 10, "I", locate, ord("H")),
            _at(quotes_s + 50, "I", locate, ord("H")),
            _at(ends_s, "Q", locate, ord("H"), 2),
            _at(ends_s, "H", locate, ord("T"), reason),
        ]
    return rows
