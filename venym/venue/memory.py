"""The venue in memory: the other side of the gateway in a replay. Reads the same packets as the decoder, keeps its own
books, and fills the member's orders by what the market did (matching.py says how).

    feed_venue ───PACKET──▶ market side ──executions, arrivals──▶ matching ──▶ reports ──WIRE_MESSAGE──▶ venue_gateway
    gateway_venue ──WIRE_MESSAGE, after the order latency──▶ acceptor ──▲

Reads     PACKET records and the bytes they lie at; WIRE_MESSAGE records, whose octets are a stream of FIX messages.
Writes    WIRE_MESSAGE records of one FIX message each, stamped with the time it reaches the gateway.
Invariant what happens does not depend on how packets, orders and marks come over the steps: a message of the market
          with clock c is applied when no order can arrive before c; an order that arrives at a is taken when the next
          message's clock is beyond a. Of one time, the market is first. An input with several reports is a task:
          one report at a time, and no other input before it is done.
When full it waits: no input is taken, no task goes on.

DONE of the reports is before every report that the market alone can cause, no new order helping: who waits for no
answer need not wait for more than that. MARK of the reports is the least time the next one can have: of the next
message, order, or of the task in hand, and the report latency. Orders older than what was applied (no producer of marks
sends such) are taken at the venue's clock and counted.
"""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numba import typeof, types

from .. import metrics
from ..hot.intrinsics import be16
from ..hot.jit import PLAIN, apart, inner, plug_in, small
from ..hot.jit import step as stage_step
from ..hot.link import DONE, MARK, Link, mark, peek, ready, room, set_mark
from ..records import NEVER_NS
from ..wire.moldudp64 import LENGTH_BYTES
from .acceptor import LOOK, Inbox, build_inbox, look, receive
from .displayed import Take, build_displayed
from .market_feed import (
    AT,
    BEGIN,
    CLOCK,
    PASSED,
    build_feed,
    find_message,
    message_clock,
    pass_message,
)
from .market_side import (
    EVENT_NS,
    EXPIRING,
    INSTRUMENT,
    KIND,
    NOTHING,
    TASK_WORDS,
    MarketSide,
    apply_message,
    begin_session,
)
from .matching import filled_side, go_on
from .member import Member, build_member
from .reports import COMP_ID_OCTETS_MAX, LATENCY_NS, Reports, build_reports
from .requests import Names

VERSIONS = ("FIX.4.2", "FIX.4.4")


class VenueError(ValueError):
    """A venue cannot be built of what was given."""


class Listing(NamedTuple):
    """A symbol that the venue takes orders of: its name in the market's messages and in FIX, tick and lot."""

    symbol: str
    fix_symbol: str = ""  # as `symbol`
    tick_e4: int = 1
    lot_shares: int = 1


class Session(NamedTuple):
    """The FIX session, as the gateway sees it: `sender` is the gateway's CompID, `target` the venue's. An order is
    post-only if the words of `post_only_tag` have `post_only_value` among them. decimals: 0, 3, 6 or 9, of the second
    in 52 and 60."""

    version: str = "FIX.4.2"
    sender: str = "VENYM"
    target: str = "VENUE"
    post_only_tag: int = 18
    post_only_value: str = "6"
    decimals: int = 3


class Limits(NamedTuple):
    """Every table's named maximum (the `venue` section of the settings). Of orders and ClOrdIDs a day has no more; one
    too many is rejected. One too many of the market's raises VenueFull."""

    channels_max: int = 8
    displayed_max: int = 1_048_576
    levels_max: int = 262_144
    side_levels_max: int = 16_384
    orders_max: int = 65_536
    ids_max: int = 131_072


class Desk(NamedTuple):
    """What a message of the member's, and a task, have to do with."""

    market: MarketSide
    member: Member
    inbox: Inbox
    reports: Reports


class Context(NamedTuple):
    """do_next is called through a pointer: orders are few, messages many, and the loop stays small to compile."""

    desk: Desk
    do_next: Callable[[Desk], None]
    latency_ns: np.ndarray  # (1,) int64: of an order
    burst: np.ndarray


def build(
    take: Take,
    packets: Link,
    frames: np.ndarray,
    orders: Link,
    reports: Link,
    symbols: Sequence[Listing],
    session: Session,
    order_latency_ns: int,
    report_latency_ns: int,
    limits: Limits,
    midnight_ns: int,
    burst: int = 256,
) -> Context:
    """The venue's context. `take(name, count, dtype)` gives zeroed memory; `frames` is the memory that PACKET.offset
    points into; `midnight_ns` is 00:00 of the session's date at the exchange, since 1970; `burst` is how many messages,
    orders and reports one step does at most.

    Raises VenueError for a version, CompID, listing or latency that cannot be.
    """
    _check(symbols, session, order_latency_ns, report_latency_ns, midnight_ns)
    desk = Desk(
        market=MarketSide(
            feed=build_feed(take, packets, frames, limits.channels_max),
            book=build_displayed(
                take, len(symbols), limits.displayed_max, limits.levels_max, limits.side_levels_max
            ),
            instruments=_list(take, symbols),
            task=take("venue_task", TASK_WORDS, np.dtype(np.int64)),
            counters=take("venue_counters", metrics.VENUE_COUNTERS, np.dtype(np.int64)),
        ),
        member=build_member(take, len(symbols), limits.orders_max, limits.ids_max),
        inbox=build_inbox(take, orders, _names(session)),
        reports=build_reports(
            take, reports, session.version, session.target, session.sender, report_latency_ns, midnight_ns,
            session.decimals,
        ),
    )  # fmt: skip
    return Context(
        desk=desk,
        do_next=_do_next if PLAIN else _compiled(typeof(desk)),
        latency_ns=np.array([order_latency_ns], np.int64),
        burst=np.array([burst], np.int64),
    )


def _check(symbols: Sequence[Listing], session: Session, order_ns: int, report_ns: int, midnight_ns: int) -> None:
    if session.version not in VERSIONS:
        raise VenueError(f"FIX version {session.version!r} is none of {', '.join(VERSIONS)}")
    for name in (session.sender, session.target):
        if not name or len(name) > COMP_ID_OCTETS_MAX or not name.isascii() or not name.isprintable():
            raise VenueError(f"CompID {name!r}: it has 1 to {COMP_ID_OCTETS_MAX} printable characters of ASCII")
    if session.decimals not in (0, 3, 6, 9):
        raise VenueError(f"{session.decimals} decimals of the second: 0, 3, 6 or 9 can be written")
    if order_ns < 0 or report_ns < 0 or midnight_ns < 0:
        raise VenueError(f"latencies of {order_ns} and {report_ns} ns, midnight {midnight_ns}: none can be below 0")
    if not symbols:
        raise VenueError("no symbol is listed")
    for listing in symbols:
        if listing.tick_e4 < 1 or listing.lot_shares < 1:
            raise VenueError(f"{listing.symbol}: tick and lot are at least 1")
    for column in ([listing.symbol for listing in symbols], [_fix_symbol(listing) for listing in symbols]):
        if len(set(column)) != len(column):
            raise VenueError("a symbol is listed twice")


def _fix_symbol(listing: Listing) -> str:
    return listing.fix_symbol or listing.symbol


def _word(symbol: str) -> int:
    octets = symbol.encode("ascii", "replace")
    if not 0 < len(octets) <= 8 or not symbol.isascii() or not symbol.isprintable() or " " in symbol:
        raise VenueError(f"a symbol has one to eight printable characters of ASCII, not {symbol!r}")
    return int.from_bytes(octets.ljust(8), "big", signed=True)


def _list(take: Take, symbols: Sequence[Listing]) -> np.ndarray:
    made = take("venue_instruments", len(symbols), INSTRUMENT)
    for k, listing in enumerate(symbols):
        made[k]["symbol"], made[k]["fix_symbol"] = _word(listing.symbol), _word(_fix_symbol(listing))
        made[k]["tick_e4"], made[k]["lot_shares"], made[k]["channel"] = listing.tick_e4, listing.lot_shares, -1
    return made


def _names(session: Session) -> Names:
    texts = (session.version, session.sender, session.target, session.post_only_value)
    begin, sender, target, post = (np.frombuffer(text.encode(), np.uint8).copy() for text in texts)
    return Names(begin, sender, target, post, np.array([session.post_only_tag], np.int64))


def counters(ctx: Context) -> dict[str, int]:
    """Every counter by name."""
    return metrics.named(metrics.VENUE, ctx.desk.market.counters)


def _do_next(desk):
    """One report of the task in hand, or one message of the inbox."""
    if desk.market.task[KIND] != NOTHING:
        go_on(desk)
    else:
        look(desk)


@cache
def _compiled(desk_type: Any) -> Callable[[Desk], None]:
    return plug_in(types.void(desk_type))(_do_next)


@stage_step
def step(ctx):
    """Do at most `burst` things, each a message, a packet, an order or a report; returns how many."""
    work = np.int64(0)
    feed, task = ctx.desk.market.feed, ctx.desk.market.task
    passed = feed.words[PASSED]
    while work + feed.words[PASSED] - passed < ctx.burst[0]:
        if task[KIND] != NOTHING or ctx.desk.inbox.words[LOOK] != 0:
            if room(ctx.desk.reports.link, 1) == 0:
                break
            ctx.do_next(ctx.desk)
            work += 1
            continue
        orders_ns = bound_of_orders(ctx)
        market_ns, is_there = bound_of_market(ctx)
        if is_there and market_ns <= orders_ns:
            walk(ctx, orders_ns, ctx.burst[0])
        elif market_ns > orders_ns and ready(ctx.desk.inbox.link, 1) != 0:
            arrive(ctx, orders_ns)
            work += 1
        else:
            break
    tell_mark(ctx)
    return work + feed.words[PASSED] - passed


@small
def bound_of_orders(ctx):
    """No order arrives before this."""
    bound_ns = mark(ctx.desk.inbox.link, MARK)
    if ready(ctx.desk.inbox.link, 1) != 0:
        bound_ns = peek(ctx.desk.inbox.link, 0).clock_ns
    return bound_ns + ctx.latency_ns[0]


@inner
def bound_of_market(ctx):
    """(the clock of the next message, or that none will be before; is that message there?)"""
    feed = ctx.desk.market.feed
    marked = mark(feed.packets, MARK)
    while True:
        if find_message(feed, ctx.desk.market.counters):
            return message_clock(feed), True
        if feed.words[BEGIN] == 0:
            break
        begin(ctx)
    return np.int64(NEVER_NS) if marked >= NEVER_NS else feed.words[CLOCK], False


@apart
def begin(ctx):
    """What a new session forgets, is forgotten."""
    ctx.desk.market.feed.words[BEGIN] = 0
    begin_session(ctx.desk.market)


@small
def walk(ctx, until_ns, most):
    """Apply the messages up to `until_ns`, at most `most`; stops where one of them gives a task."""
    market = ctx.desk.market
    words, task, counters = market.feed.words, market.task, market.counters
    for _ in range(most):
        if not find_message(market.feed, counters):
            break
        clock_ns = message_clock(market.feed)
        if clock_ns > until_ns:
            break
        if words[BEGIN] != 0:
            begin(ctx)
        at = words[AT] + LENGTH_BYTES
        length = be16(market.feed.frames, words[AT])
        words[CLOCK] = task[EVENT_NS] = clock_ns
        counters[metrics.VENUE_MESSAGES] += 1
        if not pass_message(market.feed):
            counters[metrics.VENUE_OLD_MESSAGES] += 1
        elif length > 0:
            apply_message(market, at, length)
            if task[KIND] != NOTHING:
                if task[KIND] == EXPIRING or ctx.desk.member.first[filled_side(task)] != 0:
                    break
                task[KIND] = NOTHING  # nobody is there to be filled


@small
def arrive(ctx, orders_ns):
    """An order message arrives."""
    words, task = ctx.desk.market.feed.words, ctx.desk.market.task
    if orders_ns < words[CLOCK]:
        ctx.desk.market.counters[metrics.VENUE_LATE_ORDERS] += 1
    task[EVENT_NS] = max(orders_ns, task[EVENT_NS])
    receive(ctx.desk.inbox)


@small
def tell_mark(ctx):
    """What the gateway may take for granted of reports to come."""
    reports = ctx.desk.reports
    orders_ns = bound_of_orders(ctx)
    market_ns, _ = bound_of_market(ctx)
    bound_ns = min(market_ns, orders_ns)
    if ctx.desk.market.task[KIND] != NOTHING or ctx.desk.inbox.words[LOOK] != 0:
        bound_ns = min(bound_ns, ctx.desk.market.task[EVENT_NS])
    else:
        set_mark(reports.link, DONE, min(market_ns + reports.constants[LATENCY_NS], NEVER_NS))
    bound_ns = min(bound_ns + reports.constants[LATENCY_NS], NEVER_NS)
    if bound_ns > reports.link.cursor[MARK]:
        set_mark(reports.link, MARK, bound_ns)
