"""``venym book``: every order book of captures and day files, as they stand at the end or at a given time.

    TEST   trading   volume 1,200   09:30:00.000000123
      orders      shares         bid | ask            shares   orders
           2         150     10.0000 | 10.0100           300        1

Several files are one stream, read in order. The two lines of a channel are put together: the first copy of a message
counts. Channels are kept apart; a symbol that trades on more than one is shown as ``SYMBOL@2`` on the second and so on.
"""

import argparse
import json
import re
import sys
from typing import Any, NamedTuple

from .. import metrics, pipeline
from ..hot.arena import Arena
from ..stages import decoder, feed, view
from ..stages.book import BUY, ORDERS_LIVE, SELL, TableFull, Take
from ..transport.capture import Capture
from .batches import Batches
from .decode import OCTETS_A_PACKET, passed_over
from .errors import BAD_DATA, GOOD, USAGE, ConfigurationError
from .log import say
from .progress import Progress
from .settings import Book

TEXT_LEVELS = 10  # shown without --levels; JSON shows all
SECOND_NS = 1_000_000_000

# The counters of the JSON document; those further down are told on stderr.
SHOWN = (
    metrics.MESSAGES,
    metrics.UNKNOWN_TYPES,
    metrics.UNKNOWN_REFERENCES,
    metrics.DUPLICATE_REFERENCES,
    metrics.OVER_EXECUTIONS,
    metrics.OVER_CANCELS,
    metrics.GAPS,
    metrics.TRUNCATED,
)
ORDINARY = (metrics.PACKETS, metrics.SESSIONS, metrics.HEARTBEATS, metrics.OLD_MESSAGES)


class Read(NamedTuple):
    """The books after reading, how many files were cut or corrupt, and whether --at was reached."""

    pipeline: pipeline.MarketSide
    damaged: int
    reached: bool


def run(args: argparse.Namespace, settings: Any) -> int:
    """Show the books of ``args.files``: of ``args.symbol`` only, at ``args.at``, ``args.levels`` a side, JSON or text.

    1 if a file is cut or corrupt, holds no message, or the symbol is not in it; 2 if a table is too small, or the time
    is no time. Raises CaptureRefused or CaptureUnreadable for a file that is no capture.
    """
    until_ns = None if args.at is None else parse_time(args.at)
    try:
        read = read_books(args.files, settings, until_ns)
    except TableFull as error:
        say(f"{error} is reached: the books do not fit; raise it with --set")
        return USAGE
    held = read.pipeline.decoder
    shown = selected(held, args.symbol)
    for sentence in oddities(held):
        say(sentence)
    code = BAD_DATA if read.damaged else GOOD
    if int(held.counters[metrics.MESSAGES]) == 0:
        say("no ITCH 5.0 message found")
        code = BAD_DATA
    elif until_ns is not None and not read.reached:
        say(f"the last message is earlier than {args.at}: these are the books at the end")
    if args.symbol is not None and not shown:
        say(f"{args.symbol} is not among the {len(view.book_indices(held.market)):,} symbols seen")
        code = BAD_DATA
    if args.json:
        json.dump(document(held, shown, args.levels, read.damaged), sys.stdout)
        sys.stdout.write("\n")
    elif len(shown) > 1:
        print_summary(held, shown)
    else:
        for name, book in shown.items():
            print_ladder(held, name, book, args.levels or TEXT_LEVELS)
    return code


def parse_time(text: str) -> int:
    """HH:MM:SS[.fraction] as nanoseconds since midnight; hours go past 24 for a session that does."""
    found = re.fullmatch(r"(\d{1,2}):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?", text)
    if found is None:
        raise ConfigurationError(f"--at {text!r} is not a time: HH:MM:SS, with up to nine digits of a second")
    hours, minutes, seconds, fraction = found.groups()
    return ((int(hours) * 60 + int(minutes)) * 60 + int(seconds)) * SECOND_NS + int((fraction or "0").ljust(9, "0"))


def format_time(time_ns: int) -> str:
    """Nanoseconds since midnight as HH:MM:SS.nnnnnnnnn."""
    seconds, fraction = divmod(time_ns, SECOND_NS)
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:09}"


def format_price(price_e4: int) -> str:
    """1e-4 dollars with all four decimals."""
    return f"{price_e4 // 10_000}.{price_e4 % 10_000:04}"


def limits_of(book: Book) -> decoder.Limits:
    """The maxima of the books, as the settings have them."""
    return decoder.Limits(**{name: getattr(book, name) for name in decoder.Limits._fields})


def read_books(files: list[Any], settings: Any, until_ns: int | None) -> Read:
    """Run feed and decoder over the files, with a progress bar; a damaged file is told and read as far as it goes."""
    limits = limits_of(settings.book)
    octets = settings.runtime.frames_octets

    def build(take: Take) -> pipeline.MarketSide:
        return pipeline.build_market(take, limits, octets, max(1, octets // OCTETS_A_PACKET), (), settings.book.queues)

    arena = Arena(pipeline.octets_required(build), settings.memory.huge_pages, settings.memory.lock, touch=False)
    made = build(arena.take)
    if until_ns is not None:
        decoder.stop_after(made.decoder, until_ns)
    capture = Capture(files, made.feed.frames, made.feed.found)
    batches = Batches(capture, lambda: decoder.stopped(made.decoder))
    with Progress(capture.octets_total or 0, ", ".join(path.name for path in files)) as progress:
        for count in batches:
            feed.offer(made.feed, count)
            pipeline.drain(made, pipeline.BOOKS)
            progress.update(capture.octets_done, int(made.decoder.counters[metrics.MESSAGES]))
    capture.close()
    for sentence in passed_over(capture.counters):
        say(sentence)
    return Read(made, batches.damaged, decoder.stopped(made.decoder))


def selected(held: decoder.Context, symbol: str | None) -> dict[str, int]:
    """The books to show by name, in the order of their names; a second channel's are named ``SYMBOL@2``."""
    market = held.market
    found: dict[str, int] = {}
    for book in view.book_indices(market):
        name = view.symbol(market, book)
        if symbol in (None, name) and has_content(market, book):
            channel = int(market.books[book].channel)
            found[name if name not in found else f"{name}@{channel + 1}"] = book
    return dict(sorted(found.items()))


def has_content(market: Any, book: int) -> bool:
    """Is this a book of the present session? One of a session before keeps its place, without symbol and time."""
    return bool(market.books[book].symbol) or bool(market.books[book].time_ns)


def oddities(held: decoder.Context) -> list[str]:
    """What was counted besides ordinary messages, one sentence a counter."""
    found = []
    for counter in metrics.DECODER:
        count = int(held.counters[counter.word])
        if count and counter.word != metrics.MESSAGES and counter.word not in ORDINARY:
            found.append(f"{counter.name.replace('_', ' ')}: {count:,} ({counter.meaning})")
    return found


def document(held: decoder.Context, shown: dict[str, int], levels: int | None, damaged: int) -> dict[str, Any]:
    """What --json prints: rows are price, shares, orders, best first; all levels unless told how many."""
    market = held.market
    symbols = {
        name: {
            "bids": [row(level) for level in view.levels(held.orders, book, BUY, levels)],
            "asks": [row(level) for level in view.levels(held.orders, book, SELL, levels)],
            "state": view.state(market, book),
            "volume": int(market.books[book].volume_shares),
            "suspect": view.suspect(market, book),
        }
        for name, book in shown.items()
    }
    counters = {metrics.DECODER[index].name: int(held.counters[index]) for index in SHOWN}
    counters["truncated"] += damaged
    return {"symbols": symbols, "counters": counters}


def row(level: view.Row) -> list[Any]:
    return [format_price(level.price_e4), level.shares, level.orders]


STATES = {"T": "trading", "Q": "quotation only", "P": "paused", "H": "halted", None: "state never announced"}


def print_ladder(held: decoder.Context, name: str, book: int, levels: int) -> None:
    """One book, bids on the left, asks on the right, best first."""
    market = held.market
    state = view.state(market, book)
    known = market.books[book]
    title = f"{name}   {STATES.get(state, f'state {state!r}')}   volume {int(known.volume_shares):,}"
    title += f"   {format_time(int(known.time_ns))}"
    print(title + ("   SUSPECT: messages are missing or did not fit" if view.suspect(market, book) else ""))
    bids = view.levels(held.orders, book, BUY)
    asks = view.levels(held.orders, book, SELL)
    print(f"{'orders':>8} {'shares':>13} {'bid':>13} | {'ask':<13} {'shares':>13} {'orders':>8}")
    for k in range(min(levels, max(len(bids), len(asks)))):
        left, right = f"{'':36}", ""
        if k < len(bids):
            left = f"{bids[k].orders:>8,} {bids[k].shares:>13,} {format_price(bids[k].price_e4):>13}"
        if k < len(asks):
            right = f"{format_price(asks[k].price_e4):<13} {asks[k].shares:>13,} {asks[k].orders:>8,}"
        print(f"{left} | {right}".rstrip())
    more = [
        f"{len(side) - levels:,} more {word}" for side, word in ((bids, "bids"), (asks, "asks")) if len(side) > levels
    ]
    if more:
        print(f"(levels not shown: {', '.join(more)})")


def print_summary(held: decoder.Context, shown: dict[str, int]) -> None:
    """One line a book."""
    market, orders = held.market, held.orders
    print(f"{'symbol':<12} {'state':<6} {'bid shares':>12} {'bid':>13} | {'ask':<13} {'ask shares':>12} {'volume':>15}")
    for name, book in shown.items():
        bid, ask = view.levels(orders, book, BUY, 1), view.levels(orders, book, SELL, 1)
        left = f"{bid[0].shares:>12,} {format_price(bid[0].price_e4):>13}" if bid else f"{'':12} {'':13}"
        right = f"{format_price(ask[0].price_e4):<13} {ask[0].shares:>12,}" if ask else f"{'':13} {'':12}"
        mark = "  suspect" if view.suspect(market, book) else ""
        state = view.state(market, book) or "-"
        volume = int(market.books[book].volume_shares)
        print(f"{name:<12} {state:<6} {left} | {right} {volume:>15,}{mark}".rstrip())
    live = int(orders.pools[ORDERS_LIVE])
    print(f"{len(shown):,} books, {live:,} orders alive; --symbol S shows one of them")
