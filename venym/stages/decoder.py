"""Decoder: packets -> book events. Owns the sequence of every channel, every order book, every trading state.

    feed_decoder ──PACKET──▶ session, sequence ──▶ block, block, ... ──▶ apply_message ──BOOK_EVENT──▶ decoder_features
                               │    ▲ above a hole   │                        └────MARKET_STATE──▶ decoder_gateway
    recovery_decoder ─RECOVERED┤    └──hold-back     └ look ahead: prefetch what the coming messages will touch
    decoder_recovery ◀─MISSING─┘

Reads     PACKET records, and the bytes they lie at in the feed's frame memory; RECOVERED records.
Writes    one BOOK_EVENT for each message that concerns a configured instrument, and, if a gateway listens, one
          MARKET_STATE, published first; events of no message where books were set anew, or messages are missing
          (telling.py). Marks decoder_features with its clock, the greatest time stamp so far; after the last packet of
          all with that and `settle_ns` more, which is then DONE too. What is missing as MISSING records (missing.py).
Invariant a message is applied once and in the order of its channel, whichever line or server brought it (sequence.py).
          What begins a session is said in sessions.py.
When full it stops inside the packet and goes on there when the consumer has made room; nothing is dropped. A full
          hold-back drops what comes above it, and says so. A full decoder_recovery is told later how things stand.
"""

from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import be16, be48, cycles, slot_at
from ..hot.jit import small
from ..hot.jit import step as stage_step
from ..hot.link import DONE, MARK, Link, mark, ready, release, room, set_mark
from ..records import NEVER_NS
from ..wire.itch50 import TIMESTAMP
from ..wire.moldudp64 import LENGTH_BYTES
from ..wire.scan import LINES_MAX
from .book import Orders, Take, build_orders
from .decoder_words import (
    AHEAD,
    AT,
    BUSY,
    CHANNEL_INDEX,
    CLOCK_NS,
    CURSOR_WORDS,
    END,
    FIRST_SEEN,
    FROM_HOLD,
    FROM_LINE,
    FROM_RECOVERY,
    HOLD,
    LEFT,
    ORDINAL,
    PRESET,
    SEQUENCE,
    SETTLE_NS,
    SILENT,
    SKIP,
    SOURCE,
    START,
    SWEEP,
    TAKEN_CYCLES,
    TELL_GAPS,
    TIMED,
    TO_GATEWAY,
    TURN,
    UNBOUNDED,
    UNTIL_NS,
    UNTOLD,
    WAITED,
    WINDOW,
)
from .holding import Holding, build_holding
from .itch import apply_message
from .lines import ARRIVAL, ARRIVALS, LINE
from .lookahead import DEPTH, RING_WORDS, look_ahead
from .market import IN_SYNC, Market, build_market
from .missing import TRUTH_MAX, catch_up
from .packets import open_next
from .sequence import follow, settle
from .telling import publish, sweep, tell_message

MESSAGES_BURST, EVENTS_BURST = range(2)  # words of `burst`
_TIMED_BYTES = TIMESTAMP + 6  # of a message, as far as its time stamp


class Context(NamedTuple):
    packets: Link
    events: Link
    states: Link
    intents: Link
    missing: Link
    recovered: Link
    frames: np.ndarray
    recovered_octets: np.ndarray  # the memory of `recovered`
    holding: Holding
    orders: Orders
    market: Market
    counters: np.ndarray
    types: np.ndarray  # (256,) int64: messages by their first octet
    channel_of: np.ndarray  # by line: 1 + its channel, 0 not seen yet
    lines: np.ndarray  # (LINES_MAX,) LINE
    arrivals: np.ndarray  # (channels * ARRIVALS,) ARRIVAL
    cursor: np.ndarray
    ring: np.ndarray
    burst: np.ndarray


class Limits(NamedTuple):
    """Every table's named maximum (the `book` section of the settings)."""

    channels_max: int = 8
    instruments_max: int = 65_536
    orders_max: int = 4_194_304
    levels_max: int = 4_194_304
    trades_max: int = 16_777_216


class Recovery(NamedTuple):
    """What is done where messages are missing. hold_packets: held back at most, a channel; 0: a gap is given up as it
    is seen, and nobody is told. hold_octets: of each. start: what a channel expects when it is joined, FIRST_SEEN,
    FROM_ONE or FROM_SNAPSHOT. tell_gaps: events say GAPPED, and every instrument gets one when that begins and ends.
    channels: that many have lines of their own, channel c 2c and 2c + 1; 0: lines join by their session."""

    hold_packets: int = 0
    hold_octets: int = 2048
    start: int = FIRST_SEEN
    tell_gaps: bool = False
    channels: int = 0


def build(
    take: Take,
    packets: Link,
    events: Link,
    states: Link,
    intents: Link,
    missing: Link,
    recovered: Link,
    frames: np.ndarray,
    limits: Limits,
    instruments: tuple[str, ...] = (),
    queues: bool = True,
    burst: tuple[int, int] = (256, 256),
    to_gateway: bool = False,
    settle_ns: int = 0,
    window: int = 0,
    recovery: Recovery = Recovery(),  # noqa: B008  # a tuple of constants
) -> Context:
    """The decoder's context. `take(name, count, dtype)` gives zeroed memory; `frames` is the memory that PACKET.offset
    points into; `burst` is how many messages one step applies, and how many events it tells, at most; `to_gateway`:
    somebody reads `states`; `window`: how many events may be told and not done with by the strategies, as DONE of
    `intents` says; 0: any. Raises ValueError for a recovery that is impossible."""
    channels = limits.channels_max
    if not 0 <= recovery.channels <= channels:
        raise ValueError(f"{recovery.channels} channels have lines, book.channels_max is {channels}")
    if recovery.start != FIRST_SEEN and recovery.hold_packets == 0:
        raise ValueError("without a hold-back a channel begins with what is seen first")
    if len(missing.slots) <= TRUTH_MAX:
        raise ValueError(f"the link to the recovery holds more than {TRUTH_MAX} records, not {len(missing.slots)}")
    made = Context(
        packets=packets,
        events=events,
        states=states,
        intents=intents,
        missing=missing,
        recovered=recovered,
        frames=frames,
        recovered_octets=recovered.slots.view(np.ndarray).view(np.uint8),
        holding=build_holding(take, channels, recovery.hold_packets, recovery.hold_octets),
        orders=build_orders(take, channels, limits.orders_max, limits.levels_max, limits.instruments_max, queues),
        market=build_market(take, channels, limits.instruments_max, limits.trades_max, instruments),
        counters=take("decoder_counters", metrics.DECODER_COUNTERS, np.dtype(np.int64)),
        types=take("message_types", 256, np.dtype(np.int64)),
        channel_of=take("channel_of", LINES_MAX, np.dtype(np.int32)),
        lines=take("lines", LINES_MAX, LINE),
        arrivals=take("arrivals", channels * ARRIVALS, ARRIVAL),
        cursor=take("decoder_cursor", CURSOR_WORDS, np.dtype(np.int64)),
        ring=take("lookahead", RING_WORDS, np.dtype(np.int64)),
        burst=np.array(burst, np.int64),
    )
    made.cursor[UNTIL_NS] = NEVER_NS
    made.cursor[TO_GATEWAY] = to_gateway
    made.cursor[SETTLE_NS] = settle_ns
    made.cursor[WINDOW] = window
    made.cursor[HOLD] = recovery.hold_packets
    made.cursor[START] = recovery.start
    made.cursor[TELL_GAPS] = recovery.tell_gaps
    made.cursor[PRESET] = recovery.channels
    made.channel_of[: 2 * recovery.channels] = 1 + np.arange(2 * recovery.channels) // 2
    return made


def stop_after(ctx: Context, time_ns: int) -> None:
    """Apply no message later than `time_ns` after midnight: the decoder stays before the first one that is."""
    ctx.cursor[UNTIL_NS] = time_ns


def stopped(ctx: Context) -> bool:
    """Has a message later than `stop_after` come up?"""
    return bool(ctx.cursor[BUSY])


@stage_step
def step(ctx):
    """Apply at most `burst` messages; returns how many, plus the packets finished and the events of no message."""
    cursor = ctx.cursor
    work = np.int64(0)
    first = cursor[ORDINAL]
    ends = mark(ctx.packets, MARK)
    while work < ctx.burst[MESSAGES_BURST]:
        if cursor[BUSY] == 0 and cursor[SWEEP] == 0 and not open_next(ctx):
            break
        allowed = room(ctx.events, ctx.burst[EVENTS_BURST] - (cursor[ORDINAL] - first))
        if cursor[TO_GATEWAY] != 0:
            allowed = room(ctx.states, allowed)
        if cursor[WINDOW] != 0:
            allowed = min(allowed, in_window(cursor, mark(ctx.intents, DONE)))
        if allowed <= 0:
            break
        if cursor[SWEEP] != 0:
            work += sweep(ctx, allowed)
            continue
        passed = apply_blocks(ctx, ctx.burst[MESSAGES_BURST] - work, allowed)
        work += passed
        if cursor[BUSY] == 0:
            finish(ctx)
            work += 1
        elif passed == 0:  # stopped before a later message
            break
    if cursor[UNTOLD] != 0:
        catch_up(ctx)
    clock_ns = cursor[CLOCK_NS]
    if ends == NEVER_NS and cursor[BUSY] == 0 and cursor[SWEEP] == 0 and ready(ctx.packets, 1) == 0:
        clock_ns += cursor[SETTLE_NS]
        set_mark(ctx.events, DONE, clock_ns)
    set_mark(ctx.events, MARK, clock_ns)
    return work


@small
def finish(ctx):
    """The open packet is done with: give it back, and see what is due in its channel, unless that is in sync."""
    if ctx.cursor[SOURCE] == FROM_LINE:
        release(ctx.packets, 1)
    elif ctx.cursor[SOURCE] == FROM_RECOVERY:
        release(ctx.recovered, 1)
    channel = ctx.cursor[CHANNEL_INDEX]
    if slot_at(ctx.market.channels, channel).stream != IN_SYNC:
        settle(ctx, channel)


@small
def in_window(cursor, done):
    """How many events may be told before the strategies are done with more. Where a packet waits for that, it counts as
    taken when its turn comes: a replay's waiting is no latency."""
    allowed = cursor[WINDOW] - (cursor[ORDINAL] - 1 - done)
    if allowed <= 0:
        cursor[WAITED] = 1
    elif cursor[WAITED] != 0:
        cursor[WAITED] = 0
        cursor[TAKEN_CYCLES] = cycles()
    return allowed


@small
def look(ctx, octets):
    """One turn of the look-ahead."""
    cursor = ctx.cursor
    cursor[AHEAD] = look_ahead(
        ctx.orders,
        ctx.market.books_of,
        cursor[CHANNEL_INDEX],
        octets,
        cursor[AHEAD],
        cursor[END],
        ctx.ring,
        cursor[TURN],
    )
    cursor[TURN] += 1


@small
def look_first(ctx, octets):
    """The first turns, before the first block of what was opened."""
    ctx.cursor[AHEAD] = ctx.cursor[AT]
    ctx.cursor[TURN] = 0
    ctx.ring[:] = 0
    for _ in range(DEPTH):
        look(ctx, octets)


@stage_step
def apply_blocks(ctx, allowed, events_allowed):
    """Apply at most `allowed` messages of the open packet, up to `events_allowed` events; returns how many blocks were
    passed. A record of a day file counts as a packet of its own: its latency begins with it."""
    cursor = ctx.cursor
    octets = ctx.frames
    if cursor[SOURCE] == FROM_HOLD:
        octets = ctx.holding.octets
    elif cursor[SOURCE] == FROM_RECOVERY:
        octets = ctx.recovered_octets
    channel = cursor[CHANNEL_INDEX]
    passed = np.int64(0)
    events = np.int64(0)
    if cursor[TURN] < 0 and cursor[LEFT] != 0:
        look_first(ctx, octets)
    while passed < allowed and events < events_allowed:
        at = cursor[AT]
        if cursor[LEFT] == 0 or (at == cursor[END] and cursor[LEFT] >= UNBOUNDED >> 1):
            cursor[BUSY] = 0
            break
        if at + LENGTH_BYTES > cursor[END] or at + LENGTH_BYTES + be16(octets, at) > cursor[END]:
            ctx.counters[metrics.TRUNCATED] += 1
            cursor[BUSY] = 0
            break
        length = be16(octets, at)
        time_ns = be48(octets, at + LENGTH_BYTES + TIMESTAMP) if length >= _TIMED_BYTES else np.int64(0)
        if time_ns > cursor[UNTIL_NS]:
            break
        if cursor[TIMED] != 0:
            cursor[TAKEN_CYCLES] = cycles()
        look(ctx, octets)
        if cursor[SKIP] > 0:
            cursor[SKIP] -= 1
            ctx.counters[metrics.OLD_MESSAGES] += 1
        elif length == 0:
            ctx.counters[metrics.MESSAGES] += 1
        else:
            cursor[CLOCK_NS] = max(cursor[CLOCK_NS], time_ns)
            ctx.types[octets[at + LENGTH_BYTES]] += 1
            book, side, price_e4, shares, reference = apply_message(
                ctx.orders, ctx.market, ctx.counters, channel, octets, at + LENGTH_BYTES, length
            )
            if book != 0 and slot_at(ctx.market.books, book).instrument >= 0 and cursor[SILENT] == 0:
                tell_message(ctx, events, channel, book, octets, at + LENGTH_BYTES, side, price_e4, shares, reference)
                events += 1
        cursor[AT] = at + LENGTH_BYTES + length
        cursor[LEFT] -= 1
        cursor[SEQUENCE] += 1
        passed += 1
    follow(ctx, channel)
    if cursor[SILENT] != 0:
        ctx.counters[metrics.SNAPSHOT_MESSAGES] += passed
    if events > 0:
        publish(ctx, events)
    return passed
