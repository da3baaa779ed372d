"""What is known of each instrument beside its orders: names, trading states, auctions, prints and printed volume.

    (channel, locate) ──books_of──▶ BOOK        one for every symbol seen, by the day's directory or by first message
    channel           ─────────────▶ CHANNEL    session, sequence, market-wide events
    match number      ──blocks────▶ TRADE       the day's log, so that a broken trade can be taken off the volume

An instrument trades when its state is T and neither an operational halt nor a market-wide circuit breaker is on. The
state of a symbol never announced is 0, which is not trading: absent from the day's spin means halted.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import hot, small, step
from ..hot.layout import record
from .book import LOCATES, TableFull, Take

BOOK = record(
    "BOOK",
    [
        ("symbol", "i8"),  # eight ASCII bytes, big-endian, padded with spaces; 0: not told
        ("volume_shares", "i8"),  # printed, net of broken trades
        ("time_ns", "i8"),  # of the last message
        ("paired_shares", "i8"),  # NOII
        ("imbalance_shares", "i8"),
        ("cross_shares", "i8"),  # last cross
        ("instrument", "i4"),  # dense index from the configuration; -1: not configured
        ("channel", "i4"),
        ("locate", "i4"),
        ("last_price_e4", "u4"),  # last printable execution or trade
        ("cross_price_e4", "u4"),
        ("far_price_e4", "u4"),  # NOII
        ("near_price_e4", "u4"),
        ("reference_price_e4", "u4"),
        ("collar_reference_e4", "u4"),  # LULD auction collar
        ("collar_upper_e4", "u4"),
        ("collar_lower_e4", "u4"),
        ("collar_extension", "u4"),
        ("ipo_price_e4", "u4"),
        ("ipo_release_s", "u4"),  # seconds since midnight
        ("round_lot_shares", "u4"),
        ("state", "u1"),  # H P Q T as announced; 0: never
        ("operational_halt", "u1"),  # 1: halted on this market
        ("mwcb_level", "u1"),  # breached and not resumed since: ASCII 1 2 3
        ("reg_sho", "u1"),
        ("misfit", "u1"),  # a modification did not fit
        ("imbalance_direction", "u1"),
        ("noii_cross", "u1"),
        ("cross", "u1"),  # type of the last cross
        ("ipo_qualifier", "u1"),
        ("authenticity", "u1"),  # P, or T for a test issue
    ],
    128,
)

# CHANNEL.stream: sequence.py says what follows what
UNBEGUN, IN_SYNC, ENDED, BACKFILL, GAP, SNAPSHOT = range(6)

CHANNEL = record(
    "CHANNEL",
    [
        ("session_high", "i8"),  # MoldUDP64 session: first eight bytes, then the last two
        ("session_low", "i8"),
        ("expected", "i8"),  # sequence number of the next message; 0: not known yet
        ("known", "i8"),  # one past the highest sequence number known to exist
        ("gaps", "i8"),  # in this session, given up
        ("mwcb_level_1_e8", "i8"),
        ("mwcb_level_2_e8", "i8"),
        ("mwcb_level_3_e8", "i8"),
        ("told_expected", "i8"),  # what the control plane knows as `expected`
        ("overflow_first", "i8"),  # what came and was not held, since something was held last
        ("overflow_end", "i8"),
        ("overflow_told", "i8"),  # as far as the control plane knows
        ("owner", "i4"),  # number of the session, over all channels: TRADE.owner
        ("stream", "i4"),
        ("system_event", "u1"),  # last S
        ("mwcb_level", "u1"),  # highest level breached: ASCII 1 2 3
        ("code", "u1"),  # which market this is in h: Q Nasdaq, B Nasdaq Texas, X PSX
        ("ended", "u1"),  # 1: the end of the session was seen
        ("waiting", "u1"),  # 1: nothing is applied before a snapshot
        ("overflowing", "u1"),  # 1: overflow_end still grows
        ("untold", "u1"),  # bits of missing.py: what had no room
        ("gap_told", "u1"),  # 1: an event was marked GAPPED, and none for all instruments has taken it back
    ],
    128,
)

TRADE = record("TRADE", [("match", "i8"), ("shares", "u4"), ("owner", "i4")], 16)
TRADE_BLOCK = record("TRADE_BLOCK", [("match_min", "i8"), ("match_max", "i8")], 16)
TRADE_BLOCK_BITS = 10

TRADES_HELD, BOOKS_TOP, OWNERS = range(3)  # indices into `words`
MARKET_WORDS = 8

_BLANK = int.from_bytes(b" " * 8, "big")


class Market(NamedTuple):
    """books (instruments_max + 1,) BOOK, 0 is nobody; books_of (channels * 65536,) int32; channels (channels,)
    CHANNEL; trades (trades_max,) TRADE in order of arrival; trade_blocks: the range of match numbers in each 1,024 of
    them; words (8,) int64; instruments (configured,) int64 symbols in the order given."""

    books: np.ndarray
    books_of: np.ndarray
    channels: np.ndarray
    trades: np.ndarray
    trade_blocks: np.ndarray
    words: np.ndarray
    instruments: np.ndarray
    instrument_books: np.ndarray
    instrument_channels: np.ndarray


def symbol_word(symbol: str) -> int:
    """A symbol as its eight bytes on the wire, read as a signed big-endian integer. Raises ValueError if it is longer
    than eight characters or not ASCII."""
    octets = symbol.encode("ascii")
    if not 0 < len(octets) <= 8:
        raise ValueError(f"a symbol has one to eight ASCII characters, not {symbol!r}")
    return int.from_bytes(octets.ljust(8), "big", signed=True)


def symbol_text(word: int) -> str:
    """The symbol of `symbol_word`, without padding; bytes that are not ASCII as ``\\xNN``."""
    octets = int(word).to_bytes(8, "big", signed=True) if word else b""
    return octets.rstrip(b" ").decode("ascii", "backslashreplace")


def build_market(
    take: Take,
    channels_max: int,
    instruments_max: int,
    trades_max: int,
    instruments: tuple[str, ...] = (),
    code: str = "Q",
) -> Market:
    """Nothing known yet. `instruments` are the configured symbols; their order is their dense index. `code` is the
    letter by which operational halts name this market."""
    symbols = [symbol_word(symbol) for symbol in instruments]
    if len(set(symbols)) != len(symbols):
        raise ValueError("an instrument is configured twice")
    made = Market(
        books=take("books", instruments_max + 1, BOOK),
        books_of=take("books_of", channels_max * LOCATES, np.dtype(np.int32)),
        channels=take("channels", channels_max, CHANNEL),
        trades=take("trades", trades_max, TRADE),
        trade_blocks=take("trade_blocks", (trades_max >> TRADE_BLOCK_BITS) + 1, TRADE_BLOCK),
        words=take("market", MARKET_WORDS, np.dtype(np.int64)),
        instruments=take("instruments", max(1, len(symbols)), np.dtype(np.int64)),
        instrument_books=take("instrument_books", max(1, len(symbols)), np.dtype(np.int64)),
        instrument_channels=take("instrument_channels", max(1, len(symbols)), np.dtype(np.int64)),
    )
    made.instruments[: len(symbols)] = symbols
    made.channels["code"] = ord(code)
    return made


@small
def book_at(market, channel, locate):
    """Index of the book of this locate, made if there is none yet."""
    index = np.int64(slot_at(market.books_of, (channel << 16) + locate))
    if index == 0:
        index = make_book(market, channel, locate)
    return index


@hot
def make_book(market, channel, locate):
    index = market.words[BOOKS_TOP] + 1
    if index >= market.books.shape[0]:
        raise TableFull("book.instruments_max")
    market.words[BOOKS_TOP] = index
    market.books_of[(channel << 16) + locate] = index
    book = slot_at(market.books, index)
    book.channel = channel
    book.locate = locate
    book.instrument = -1
    return index


@hot
def name_book(market, index, symbol):
    """Learn a book's symbol, and whether it is configured."""
    book = slot_at(market.books, index)
    book.symbol = symbol if symbol != _BLANK else 0
    book.instrument = -1
    for k in range(market.instruments.shape[0]):
        if market.instruments[k] == symbol:
            book.instrument = k
            market.instrument_books[k] = index
            market.instrument_channels[k] = book.channel + 1


@hot
def book_named(market, channel, symbol):
    """Index of the channel's book of this symbol, or 0: K is to be keyed by its symbol, its locate may be 0."""
    for index in range(1, market.words[BOOKS_TOP] + 1):
        book = slot_at(market.books, index)
        if book.symbol == symbol and book.channel == channel:
            return index
    return np.int64(0)


@small
def trading(book):
    """May this instrument trade here now?"""
    return book.state == 84 and book.operational_halt == 0 and book.mwcb_level == 0  # 84: T


@small
def effective_state(book):
    """The announced state, H instead of T while a halt of another kind is on, 0 if never announced."""
    if book.state == 84 and not (book.operational_halt == 0 and book.mwcb_level == 0):
        return np.int64(72)  # H
    return np.int64(book.state)


@step
def print_trade(market, book, owner, match, shares, price_e4):
    """Add to the printed volume, and log the match number in case it is broken."""
    book.volume_shares += shares
    book.last_price_e4 = price_e4
    index = market.words[TRADES_HELD]
    if index >= market.trades.shape[0]:
        raise TableFull("book.trades_max")
    market.words[TRADES_HELD] = index + 1
    trade = slot_at(market.trades, index)
    trade.match = match
    trade.shares = shares
    trade.owner = owner
    block = slot_at(market.trade_blocks, index >> TRADE_BLOCK_BITS)
    if index & ((1 << TRADE_BLOCK_BITS) - 1) == 0:
        block.match_min = match
        block.match_max = match
    block.match_min = min(block.match_min, match)
    block.match_max = max(block.match_max, match)


@hot
def break_trade(market, book, owner, match):
    """Take a broken trade off the printed volume; False if its match number was never printed in this session. A second
    break of the same trade takes off nothing. Match numbers grow, roughly, so few blocks have to be searched."""
    found = False
    held = market.words[TRADES_HELD]
    for k in range((held + (1 << TRADE_BLOCK_BITS) - 1) >> TRADE_BLOCK_BITS):
        block = slot_at(market.trade_blocks, k)
        if block.match_min <= match <= block.match_max:
            first = k << TRADE_BLOCK_BITS
            for index in range(first, min(held, first + (1 << TRADE_BLOCK_BITS))):
                trade = slot_at(market.trades, index)
                if trade.match == match and trade.owner == owner:
                    found = True
                    book.volume_shares -= np.int64(trade.shares)
                    trade.shares = 0
    return found


@hot
def breach(market, channel, level):
    """A market-wide circuit breaker: all instruments of the channel are halted until each one's state comes anew."""
    held = slot_at(market.channels, channel)
    held.mwcb_level = max(held.mwcb_level, level)
    for index in range(1, market.words[BOOKS_TOP] + 1):
        book = slot_at(market.books, index)
        if book.channel == channel:
            book.mwcb_level = level


@hot
def forget_channel(market, channel):
    """A new session: locates, states, volumes and match numbers begin anew; a book keeps its place."""
    for index in range(1, market.words[BOOKS_TOP] + 1):
        locate = market.books[index].locate
        if market.books[index].channel == channel:
            market.books[index] = market.books[0]
            market.books[index].channel = channel
            market.books[index].locate = locate
            market.books[index].instrument = -1
    held = slot_at(market.channels, channel)
    market.words[OWNERS] += 1
    held.owner = market.words[OWNERS]
    held.gaps = 0
    held.system_event = 0
    held.mwcb_level = 0
    held.mwcb_level_1_e8 = 0
    held.mwcb_level_2_e8 = 0
    held.mwcb_level_3_e8 = 0


@small
def is_suspect(channel, book):
    """A modification did not fit, or the book's channel missed messages in this session."""
    return book.misfit != 0 or channel.gaps != 0
