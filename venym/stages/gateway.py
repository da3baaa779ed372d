"""Gateway: intents -> FIX messages, and reports -> order events. Owns orders, positions, both FIX sequence numbers.

    strategy_gateway ──INTENT──▶ judge ──▶ encode ──WIRE_MESSAGE──▶ gateway_venue     each also to gateway_journal
    decoder_gateway ──MARKET_STATE─┘ └ refused ─┐
    venue_gateway ──WIRE_MESSAGE─▶ frame, apply ┴─ORDER_EVENT──▶ gateway_strategy
      ▲ └ live, both links to the venue are the two sides of a TCP connection, which the gateway serves itself

Reads     intents; market states up to the intent that is judged, and no later ones; octets of the venue.
Writes    one message for each intent that the gate (risk.py) lets pass, one REFUSED for each other; what a report does
          to an order (reports.py); cancels of open orders where the market stops, if the limits say so. Each with the
          time of the input that caused it.
Order     held (replay): inputs are taken by their time, a report before an intent of the same time, and only once
          nothing older can come (see hot/link.py: MARK); so what is written does not depend on how inputs arrive. A
          refusal is told `refusal_ns` later, as if the venue had refused. Not held (live): as they come, at once.
Invariant an order counts as exposure from before its message is handed on until it is final; positions are the sum of
          the executions; no order passes a limit with all that is open filled. After a kill nothing but cancels leaves,
          and every open order is cancelled, again after each reject, until it is final.
When full it takes no input whose outputs may not have room. Cancels are decided at once and written as there is room.
          Live, a full journal refuses all but cancels, and order events without room are a kill.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.histogram import WORDS as HISTOGRAM_WORDS
from ..hot.histogram import make_histogram
from ..hot.intrinsics import copy_record, load_acquire, slot_at
from ..hot.jit import inner, small
from ..hot.jit import step as stage_step
from ..hot.layout import record
from ..hot.link import DONE, HEAD, MARK, Link, claim, commit, mark, peek, ready, release, room, set_mark
from ..records import INBOUND, MARKET_STATE, NEVER_NS, ORDER_EVENT
from ..transport import tcp
from ..wire.fix import COMPLETE, MORE, frame
from ..wire.fix_parse import EXECUTION
from . import gateway_words as w
from . import orders as o
from . import risk
from .book import Take
from .executions import Executions, build_executions
from .fills import EVENTS_MAX
from .inbound import BUFFER_OCTETS, Session, take_octets
from .intents import DELAYED_MAX, LAST_ORDINAL, LATENCIES, apply_market, see_market, take_intent
from .outbound import send_cancel, sweep, write_journal
from .positions import SHARES_MAX, Positions, build_positions
from .reports import check_message, take_report

# What is next.
NOTHING, TELL, REPORT, OCTETS, INTENT_NEXT, MARKET_NEXT = range(6)
FEE_E6_MAX = 1_000_000  # a share

INSTRUMENT = record("INSTRUMENT", [("symbol", "i8"), ("tick_e4", "i8"), ("lot_shares", "i8")], 64)


class Instrument(NamedTuple):
    """What orders in an instrument look like; `fix_symbol` is tag 55."""

    symbol: str
    fix_symbol: str
    tick_e4: int
    lot_shares: int


class Tables(NamedTuple):
    """The named maximum of each table, for a day."""

    orders_max: int
    requests_max: int  # messages sent
    executions_max: int


class Fees(NamedTuple):
    """A share's, in 1e-6 dollars; negative: a rebate."""

    make_e6: int  # of executions that added liquidity
    take_e6: int


class Context(NamedTuple):
    """states (instruments,) MARKET_STATE as last applied, clock_ns -1: none; instruments (instruments,) INSTRUMENT;
    buffer (BUFFER_OCTETS,) uint8; report (1,) EXECUTION; delayed (DELAYED_MAX,) ORDER_EVENT; times
    (messages_per_second_max,) int64: when the last messages were sent; refusals (risk.REASON_WORDS,) int64 by reason;
    latencies (LATENCIES, hot.histogram.WORDS) int64, in cycles; words, commands: see gateway_words."""

    intents: Link
    market: Link
    reports: Link
    order_events: Link
    wire: Link
    journal: Link
    connection: tcp.Context
    orders: o.Orders
    positions: Positions
    executions: Executions
    session: Session
    limits: risk.RiskLimits
    states: np.ndarray
    instruments: np.ndarray
    buffer: np.ndarray
    report: np.ndarray
    delayed: np.ndarray
    times: np.ndarray
    words: np.ndarray
    commands: np.ndarray
    counters: np.ndarray
    refusals: np.ndarray
    latencies: np.ndarray


def build(
    take: Take,
    intents: Link,
    market: Link,
    reports: Link,
    order_events: Link,
    wire: Link,
    journal: Link,
    session: Session,
    instruments: Sequence[Instrument],
    limits: risk.RiskLimits,
    fees: Fees,
    midnight_ns: int,
    hold: bool,
    refusal_ns: int,
    strategies: int,
    tables: Tables,
    first_number: int = 1,
    armed: bool = False,
    burst: int = 64,
    connection: tcp.Context | None = None,
) -> Context:
    """The stage's context; `take(name, count, dtype)` gives zeroed memory.

    midnight_ns: of the session's date at the exchange, since 1970 (UTC). first_number: of ClOrdIDs, above every one
    used that day. Raises ValueError, naming what cannot be.
    """
    risk.check_limits(limits)
    if hold and refusal_ns < 1:
        raise ValueError(f"held, a refusal takes its time: refusal_ns is at least 1, not {refusal_ns}")
    check_fees(fees)
    if order_events.slots.shape[0] < EVENTS_MAX:
        raise ValueError(f"the link of order events holds at least {EVENTS_MAX}")
    count, word = len(instruments), np.dtype(np.int64)
    made = Context(
        intents=intents,
        market=market,
        reports=reports,
        order_events=order_events,
        wire=wire,
        journal=journal,
        connection=connection or tcp.closed(),
        orders=o.build_orders(take, tables.orders_max, tables.requests_max, strategies, count, first_number),
        positions=build_positions(take, strategies, count),
        executions=build_executions(take, tables.executions_max),
        session=session,
        limits=limits,
        states=take("gateway_states", max(count, 1), MARKET_STATE),
        instruments=take("gateway_instruments", max(count, 1), INSTRUMENT),
        buffer=take("gateway_inbound", BUFFER_OCTETS, np.dtype(np.uint8)),
        report=take("gateway_report", 1, EXECUTION),
        delayed=take("gateway_delayed", DELAYED_MAX, ORDER_EVENT),
        times=take("gateway_times", limits.messages_per_second_max, word),
        words=take("gateway_words", w.WORDS, word),
        commands=take("gateway_commands", w.COMMANDS, word),
        counters=take("gateway_counters", metrics.GATEWAY_COUNTERS, word),
        refusals=take("gateway_refusals", risk.REASON_WORDS, word),
        latencies=take("gateway_latencies", LATENCIES * HISTOGRAM_WORDS, word).reshape(LATENCIES, HISTOGRAM_WORDS),
    )
    made.states["clock_ns"] = -1
    for k, instrument in enumerate(instruments):
        fill_instrument(made.instruments[k], instrument)
    for latency in made.latencies:
        make_histogram(latency)
    words = (w.HOLD, w.REFUSAL_NS, w.MIDNIGHT_NS, w.BURST, w.MAKE_E6, w.TAKE_E6, w.OUT_SEQUENCE, w.IN_SEQUENCE)
    made.words[list(words)] = (hold, refusal_ns, midnight_ns, burst, *fees, 1, 1)
    made.commands[w.ARM] = armed
    if intents.cursor[HEAD] == 0:
        intents.cursor[DONE] = -1  # no event is done with, not even the one numbered 0
    return made


def check_fees(fees: Fees) -> None:
    """Raises ValueError for a fee that no venue takes."""
    for name, fee_e6 in zip(Fees._fields, fees, strict=True):
        if abs(fee_e6) > FEE_E6_MAX:
            raise ValueError(f"{name} is at most {FEE_E6_MAX} (a dollar a share) either way, not {fee_e6}")


def fill_instrument(row: np.record, instrument: Instrument) -> None:
    """Raises ValueError for a symbol, tick or lot that cannot be."""
    symbol = instrument.fix_symbol.encode("ascii", "replace")
    if not 1 <= len(symbol) <= 8 or min(symbol) <= ord(" ") or max(symbol) > ord("~"):
        raise ValueError(f"{instrument.symbol}: {instrument.fix_symbol!r} is no symbol of one to eight characters")
    if not 1 <= instrument.tick_e4 <= SHARES_MAX or not 1 <= instrument.lot_shares <= SHARES_MAX:
        raise ValueError(f"{instrument.symbol}: tick_e4 and lot_shares are at least 1")
    row.symbol = int.from_bytes(symbol.ljust(8), "big")
    row.tick_e4, row.lot_shares = instrument.tick_e4, instrument.lot_shares


@stage_step
def step(ctx):
    """Take at most `burst` inputs and write what they cause; returns the work done."""
    words = ctx.words
    words[w.ARMED] = load_acquire(ctx.commands, w.ARM)
    if words[w.KILLED] == 0 and load_acquire(ctx.commands, w.STOP) != 0:
        w.kill(ctx, w.ASKED, w.BY_OPERATOR)
    work = np.int64(0)
    while work < words[w.BURST]:
        if words[w.SWEEP] != 0:
            sweep(ctx)
        work += write_cancels(ctx)
        what = choose(ctx)
        if what == REPORT:
            start, end = next_message(ctx)
            if end > start:
                kind, fresh = check_message(ctx, start, end)
                if kind != 0:
                    take_report(ctx, start, end, fresh)
        elif what == INTENT_NEXT:
            if see_market(ctx, peek(ctx.intents, 0)):
                take_intent(ctx, peek(ctx.intents, 0))
                release(ctx.intents, 1)
        elif what == MARKET_NEXT:
            apply_market(ctx, np.int64(LAST_ORDINAL), words[w.MARKET_NS])
        elif what == TELL:
            copy_record(claim(ctx.order_events, 0), delayed_next(ctx))
            commit(ctx.order_events, 1)
            words[w.DELAYED_TOLD] += 1
        elif what == OCTETS:
            take_more(ctx)
        else:
            break
        work += 1
    if tcp.is_up(ctx.connection):  # to ask for what came costs a system call, which no order waits for
        work += tcp.send_from(ctx.connection, ctx.wire)
        work += tcp.receive_into(ctx.connection, ctx.reports, words[w.CLOCK_NS]) > 0
    set_marks(ctx)
    return work


@inner
def write_cancels(ctx):
    """Write the cancels that were decided, as far as there is room; returns how many."""
    words, count = ctx.words, np.int64(0)
    while words[w.UNSENT] < ctx.orders.words[o.REQUESTS_USED] and may_write(ctx):
        send_cancel(ctx)
        count += 1
    return count


@small
def may_write(ctx):
    """Is there room for a message, and in replay for its copy in the journal?"""
    return room(ctx.wire, 1) > 0 and (ctx.words[w.HOLD] == 0 or room(ctx.journal, 1) > 0)


@inner
def bound(link):
    """The time of the link's next record, or no later than it where there is none yet."""
    bound_ns = peek(link, 0).clock_ns if ready(link, 1) > 0 else mark(link, MARK)
    return peek(link, 0).clock_ns if ready(link, 1) > 0 else bound_ns


@small
def reports_bound(ctx):
    """As `bound`, of what the venue sends."""
    return ctx.words[w.HELD_CLOCK_NS] if ctx.words[w.HELD] != 0 else bound(ctx.reports)


@small
def delayed_next(ctx):
    return slot_at(ctx.delayed, ctx.words[w.DELAYED_TOLD] & (DELAYED_MAX - 1))


@inner
def choose(ctx):
    """Which input is next, if it is known and what it may cause has room; else NOTHING. The market comes before what
    is later; at equal times a report comes first, and then each intent with the market it was decided upon."""
    words = ctx.words
    held, blocked = words[w.HOLD] != 0, False
    intents_ns, reports_ns = np.int64(NEVER_NS), np.int64(NEVER_NS)
    words[w.MARKET_NS] = NEVER_NS
    if held:
        intents_ns, reports_ns = bound(ctx.intents), reports_bound(ctx)
        words[w.MARKET_NS] = min(intents_ns, reports_ns)
    if ready(ctx.market, 1) > 0 and peek(ctx.market, 0).clock_ns < words[w.MARKET_NS]:
        return MARKET_NEXT
    if held and words[w.DELAYED_TOLD] < words[w.DELAYED_MADE] and reports_ns > delayed_next(ctx).clock_ns:
        if room(ctx.order_events, 1) > 0:
            return TELL
        blocked = True  # no later report passes it; intents do, or two full links would wait for each other
    if words[w.HELD] != 0:
        if intents_ns >= words[w.HELD_CLOCK_NS] and not blocked:
            return REPORT if not held or room(ctx.order_events, EVENTS_MAX) == EVENTS_MAX else NOTHING
    elif ready(ctx.reports, 1) > 0 and intents_ns >= peek(ctx.reports, 0).clock_ns and not blocked:
        return OCTETS if not held or room(ctx.journal, 1) > 0 else NOTHING
    if ready(ctx.intents, 1) > 0:
        unwritten = words[w.UNSENT] < ctx.orders.words[o.REQUESTS_USED]
        full = blocked and words[w.DELAYED_MADE] - words[w.DELAYED_PAST] == DELAYED_MAX
        if unwritten or full or not may_write(ctx) or reports_ns <= peek(ctx.intents, 0).clock_ns:
            return NOTHING
        return INTENT_NEXT
    return NOTHING


@inner
def next_message(ctx):
    """(start, end) of the next whole message in the buffer; (0, 0) if there is none, or something else was dropped."""
    words = ctx.words
    status, start, end = frame(ctx.buffer, words[w.START], words[w.END])
    if status == MORE:
        words[w.HELD] = 0
        return np.int64(0), np.int64(0)
    words[w.START] = end
    words[w.CLOCK_NS] = max(words[w.CLOCK_NS], words[w.HELD_CLOCK_NS])
    if status != COMPLETE:
        ctx.counters[metrics.GARBLED] += 1
        return np.int64(0), np.int64(0)
    return start, end


@inner
def take_more(ctx):
    """Take more octets of the venue's into the buffer."""
    message = peek(ctx.reports, 0)
    write_journal(ctx, message, np.int64(INBOUND))
    take_octets(ctx, message)
    ctx.words[w.HELD_CLOCK_NS] = message.clock_ns
    ctx.counters[metrics.CHUNKS] += 1
    release(ctx.reports, 1)


@inner
def set_marks(ctx):
    """Tell what is older than anything to come; DONE: than anything that no answer is."""
    words, done_ns = ctx.words, mark(ctx.reports, DONE)
    intents_ns, reports_ns = bound(ctx.intents), reports_bound(ctx)
    told_ns = min(reports_ns, min(intents_ns, np.int64(NEVER_NS)) + words[w.REFUSAL_NS])
    if words[w.DELAYED_TOLD] < words[w.DELAYED_MADE]:
        told_ns = min(told_ns, delayed_next(ctx).clock_ns)
        done_ns = min(done_ns, delayed_next(ctx).clock_ns)
    if words[w.HELD] != 0 or ready(ctx.reports, 1) > 0:
        done_ns = min(done_ns, reports_ns)
    written_ns = intents_ns
    if words[w.KILLED] != 0 and ctx.orders.words[o.OPEN_ORDERS] != 0:  # a report may cause another cancel
        written_ns = min(written_ns, reports_ns)
    if ready(ctx.market, 1) > 0:  # it may have orders canceled
        written_ns = min(written_ns, peek(ctx.market, 0).clock_ns)
    if words[w.SWEEP] != 0:
        written_ns = min(written_ns, words[w.CLOCK_NS])
    if words[w.UNSENT] < ctx.orders.words[o.REQUESTS_USED]:
        written_ns = min(written_ns, slot_at(ctx.orders.requests, words[w.UNSENT]).clock_ns)
    set_mark(ctx.order_events, DONE, max(ctx.order_events.cursor[DONE], done_ns))
    set_mark(ctx.order_events, MARK, max(ctx.order_events.cursor[MARK], min(told_ns, np.int64(NEVER_NS))))
    set_mark(ctx.wire, MARK, max(ctx.wire.cursor[MARK], min(written_ns, np.int64(NEVER_NS))))
