"""The instruments of a made-up day: names, prices, how wide their books are, how often each is traded.

Everything is drawn with integers from the seed, so it is the same on every machine. Locates count from 1 in the order
of the names, as on a real day; popularity is independent of them.
"""

import math
from typing import NamedTuple

import numpy as np

from ..hot.layout import aligned
from ..wire.itch50_encode import alpha
from .chance import MASK_64
from .day_book import SYMBOL

SYMBOLS_MAX = 65_535  # a locate has 16 bits

LETTERS_MAX = 4
NAMES = sum(26**length for length in range(1, LETTERS_MAX + 1))
NAME_STRIDE = 190_393  # shares no divisor with NAMES, so no name comes twice
SUFFIXES = (".A", ".B", "-A", "-B", "+", "=", "^", "#", ".WS", "-C*")
SUFFIX_EVERY = 40  # one name in so many has a suffix

TICK_E4, SMALL_TICK_E4 = 100, 1  # from one dollar up, and below
DOLLAR_E4 = 10_000
PRICE_MAX_E4 = 3_000 * DOLLAR_E4

# What share of the symbols (by popularity) has a window of how many steps.
WIDTHS = ((100, 4096), (10, 1024), (1, 128))

PARTICIPANTS = ("ARCX", "BLUE", "CROW", "DUNE", "ELMS", "FERN", "GULL", "HAWK", "IRIS", "JADE", "KITE", "LARK", "MOSS")

# The directory's codes, by field in the order of the message from market_category on: a Nasdaq stock, one of NYSE, an
# ETF of Arca, a leveraged inverse one of Nasdaq, an American preferred, a new listing of Nasdaq's smallest market.
PROFILES = (
    ("Q", "N", 100, "N", "C", "Z ", "P", "N", "N", "1", "N", 0, "N"),
    ("N", " ", 100, "N", "C", "Z ", "P", "N", " ", "1", "N", 0, "N"),
    ("P", " ", 100, "N", "Q", "E ", "P", "N", " ", "1", "Y", 0, "N"),
    ("G", "N", 100, "N", "Q", "I ", "P", "N", "N", "2", "Y", 3, "Y"),
    ("A", " ", 100, "N", "P", "A ", "P", " ", " ", "2", "N", 0, "N"),
    ("S", "D", 100, "N", "O", "Z ", "P", "Y", "N", "2", "N", 0, "N"),
)


class Popularity(NamedTuple):
    """Walker's alias table: row i stands for locate own[i] when 32 random bits are below cut[i], else for other[i]."""

    cut: np.ndarray  # int64
    own: np.ndarray  # int64: locates, most popular first
    other: np.ndarray  # int64: locates


class Instruments(NamedTuple):
    symbols: np.ndarray  # SYMBOL by locate; row 0 is no instrument
    names: list[str]  # by locate; "" at 0
    weights: np.ndarray  # int64, by rank: how often the locate popularity.own[rank] is traded
    popularity: Popularity


def hashed(seed: int, stream: int, count: int) -> np.ndarray:
    """(count,) int64 of 32 random bits each, by splitmix64 from the seed and the number of the stream."""
    start = np.uint64((seed * 0x9E3779B97F4A7C15 + stream * 0xD1342543DE82EF95) & MASK_64)
    mixed = (np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) ^ start
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (mixed >> np.uint64(32)).astype(np.int64)


def make_instruments(count: int, seed: int) -> Instruments:
    """`count` (1 to SYMBOLS_MAX) instruments, none announced yet."""
    names = ["", *make_names(count, seed)]
    by_rank = np.argsort(hashed(seed, 1, count), kind="stable") + 1
    weights = np.array([_weight(rank) for rank in range(count)], np.int64)
    symbols = aligned(count + 1, SYMBOL)
    symbols["stock"] = [0] + [alpha(name, 8) for name in names[1:]]
    _fill_prices(symbols, by_rank, seed)
    return Instruments(symbols, names, weights, _alias_table(by_rank, weights))


def make_names(count: int, seed: int) -> list[str]:
    """`count` different names of one to eight characters, sorted."""
    start = int(hashed(seed, 2, 1)[0])
    names = []
    for index in range(count):
        name = _letters((start + index * NAME_STRIDE) % NAMES)
        if index % SUFFIX_EVERY == SUFFIX_EVERY - 1:
            name += SUFFIXES[index // SUFFIX_EVERY % len(SUFFIXES)]
        names.append(name)
    return sorted(names)


def _letters(number: int) -> str:
    """0 is A, 25 Z, 26 AA: every number another name."""
    name = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        name = chr(65 + letter) + name
    return name


def _weight(rank: int) -> int:
    """Zipf's law with exponent 3/4: proportional to 1 / (rank + 2)^0.75."""
    return (1 << 40) // math.isqrt(math.isqrt((rank + 2) ** 3 << 40))


def _fill_prices(symbols: np.ndarray, by_rank: np.ndarray, seed: int) -> None:
    count = len(by_rank)
    octave, fraction, kind = (hashed(seed, stream, count) for stream in (3, 4, 5))
    for rank, locate in enumerate(by_rank):
        width = next(steps for part, steps in WIDTHS if rank < max(count // part, 1))
        least_e4 = width * TICK_E4 * 3 // 4  # the window's lower half must leave a third of the price
        dollars_e4 = DOLLAR_E4 << int(octave[rank] % 12)
        price_e4 = min(dollars_e4 + dollars_e4 * int(fraction[rank]) // (1 << 32), PRICE_MAX_E4)
        price_e4 = max(price_e4, least_e4) // TICK_E4 * TICK_E4
        tick_e4 = TICK_E4
        if rank * 10 > count and kind[rank] % 32 == 0:
            tick_e4, price_e4 = SMALL_TICK_E4, DOLLAR_E4 // 4 + int(fraction[rank]) * DOLLAR_E4 // 2 // (1 << 32)
        symbol = symbols[locate]
        symbol["tick_e4"] = tick_e4
        symbol["width"] = width
        symbol["fair"] = width // 2
        symbol["first_price_e4"] = price_e4 - width // 2 * tick_e4
        symbol["spread"] = 1 if rank * 10 < count else (4 if price_e4 > 100 * DOLLAR_E4 else 2)


def _alias_table(by_rank: np.ndarray, weights: np.ndarray) -> Popularity:
    count, total = len(by_rank), int(weights.sum())
    share = [int(weight) * count for weight in weights]  # of `total`: 1 on average
    cut, other = np.full(count, 1 << 32, np.int64), by_rank.copy()
    small = [rank for rank in range(count) if share[rank] < total]
    large = [rank for rank in range(count) if share[rank] >= total]
    while small and large:
        poor, rich = small.pop(), large[-1]
        cut[poor], other[poor] = (share[poor] << 32) // total, by_rank[rich]
        share[rich] -= total - share[poor]
        if share[rich] < total:
            small.append(large.pop())
    return Popularity(cut, by_rank, other)
