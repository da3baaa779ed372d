"""Decoder: packets -> book events. Owns the sequence of every channel, every order book, every trading state.

    feed_decoder ──PACKET──▶ session, sequence ──▶ block, block, ... ──▶ apply_message ──BOOK_EVENT──▶ decoder_features
                                                     │                        └────MARKET_STATE──▶ decoder_gateway
                                                     └ look ahead: prefetch what the coming messages will touch

Reads     PACKET records, and the bytes they lie at in the feed's frame memory.
Writes    one BOOK_EVENT for each message that concerns a configured instrument, and, if a gateway listens, one
          MARKET_STATE, published first. Marks decoder_features with its clock, the greatest time stamp so far; after
          the last packet of all with that and `settle_ns` more, which is then DONE too.
Invariant a message is applied once and in the order of its channel: what is numbered below `expected` was applied
          before (the other line's copy, or repeated), what is numbered above reveals a gap, after which the channel's
          books are suspect. A packet of another session begins that session, with empty books, if it is numbered 1 or
          the present session has ended; otherwise it is counted and dropped.
When full it stops inside the packet and goes on there when the consumer has made room; nothing is dropped.
"""

from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import be16, be48, cycles, slot_at
from ..hot.jit import hot, small
from ..hot.jit import step as stage_step
from ..hot.link import DONE, MARK, Link, claim, commit, mark, peek, ready, release, room, set_mark
from ..records import BLOCKS, CROSSED, NEVER_NS, PRINTABLE, SUSPECT, TOP_LEVELS, TRADABLE
from ..wire.itch50 import TIMESTAMP
from ..wire.moldudp64 import (
    END_OF_SESSION,
    HEADER_BYTES,
    LENGTH_BYTES,
    count_of,
    sequence_of,
    session_high,
    session_low,
)
from ..wire.scan import LINES_MAX
from .book import BUY, SELL, Orders, Take, best_level, build_orders, is_crossed
from .itch import apply_message, is_print
from .lookahead import DEPTH, RING_WORDS, look_ahead
from .market import ENDED, Market, build_market, effective_state, is_suspect, trading
from .sessions import begin_session, channel_of_line

# Words of `cursor`: where in its packet the decoder is; then what it has told, and how.
BUSY, AT, END, LEFT, SKIP, SEQUENCE, CHANNEL_INDEX, AHEAD, TURN, UNTIL_NS = range(10)
CLOCK_NS, ORDINAL, TAKEN_CYCLES, TO_GATEWAY, SETTLE_NS, TIMED, WINDOW, WAITED = range(10, 18)
MESSAGES_BURST, EVENTS_BURST = range(2)  # words of `burst`
UNBOUNDED = 1 << 62  # LEFT of a packet that does not say how many blocks it has
_TIMED_BYTES = TIMESTAMP + 6  # of a message, as far as its time stamp
CURSOR_WORDS = 24


class Context(NamedTuple):
    packets: Link
    events: Link
    states: Link
    intents: Link
    frames: np.ndarray
    orders: Orders
    market: Market
    counters: np.ndarray
    types: np.ndarray  # (256,) int64: messages by their first octet
    channel_of: np.ndarray  # by line: 1 + its channel, 0 not seen yet
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


def build(
    take: Take,
    packets: Link,
    events: Link,
    states: Link,
    intents: Link,
    frames: np.ndarray,
    limits: Limits,
    instruments: tuple[str, ...] = (),
    queues: bool = True,
    burst: tuple[int, int] = (256, 256),
    to_gateway: bool = False,
    settle_ns: int = 0,
    window: int = 0,
) -> Context:
    """The decoder's context. `take(name, count, dtype)` gives zeroed memory; `frames` is the memory that PACKET.offset
    points into; `burst` is how many messages one step applies, and how many events it tells, at most; `to_gateway`:
    somebody reads `states`; `window`: how many events may be told and not done with by the strategies, as DONE of
    `intents` says; 0: any."""
    channels = limits.channels_max
    made = Context(
        packets=packets,
        events=events,
        states=states,
        intents=intents,
        frames=frames,
        orders=build_orders(take, channels, limits.orders_max, limits.levels_max, limits.instruments_max, queues),
        market=build_market(take, channels, limits.instruments_max, limits.trades_max, instruments),
        counters=take("decoder_counters", metrics.DECODER_COUNTERS, np.dtype(np.int64)),
        types=take("message_types", 256, np.dtype(np.int64)),
        channel_of=take("channel_of", LINES_MAX, np.dtype(np.int32)),
        cursor=take("decoder_cursor", CURSOR_WORDS, np.dtype(np.int64)),
        ring=take("lookahead", RING_WORDS, np.dtype(np.int64)),
        burst=np.array(burst, np.int64),
    )
    made.cursor[UNTIL_NS] = NEVER_NS
    made.cursor[TO_GATEWAY] = to_gateway
    made.cursor[SETTLE_NS] = settle_ns
    made.cursor[WINDOW] = window
    return made


def stop_after(ctx: Context, time_ns: int) -> None:
    """Apply no message later than `time_ns` after midnight: the decoder stays before the first one that is."""
    ctx.cursor[UNTIL_NS] = time_ns


def stopped(ctx: Context) -> bool:
    """Has a message later than `stop_after` come up?"""
    return bool(ctx.cursor[BUSY])


@stage_step
def step(ctx):
    """Apply at most `burst` messages; returns how many, plus the packets finished."""
    work = np.int64(0)
    first = ctx.cursor[ORDINAL]
    ends = mark(ctx.packets, MARK)
    while work < ctx.burst[MESSAGES_BURST]:
        if ctx.cursor[BUSY] == 0:
            if ready(ctx.packets, 1) == 0:
                break
            open_packet(ctx)
        allowed = room(ctx.events, ctx.burst[EVENTS_BURST] - (ctx.cursor[ORDINAL] - first))
        if ctx.cursor[TO_GATEWAY] != 0:
            allowed = room(ctx.states, allowed)
        if ctx.cursor[WINDOW] != 0:
            allowed = min(allowed, in_window(ctx.cursor, mark(ctx.intents, DONE)))
        if allowed <= 0:
            break
        passed = apply_blocks(ctx, ctx.burst[MESSAGES_BURST] - work, allowed)
        work += passed
        if ctx.cursor[BUSY] == 0:
            release(ctx.packets, 1)
            work += 1
        elif passed == 0:  # stopped before a later message
            break
    clock_ns = ctx.cursor[CLOCK_NS]
    if ends == NEVER_NS and ctx.cursor[BUSY] == 0 and ready(ctx.packets, 1) == 0:
        clock_ns += ctx.cursor[SETTLE_NS]
        set_mark(ctx.events, DONE, clock_ns)
    set_mark(ctx.events, MARK, clock_ns)
    return work


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


@hot
def open_packet(ctx):
    """Point the cursor at the next packet's blocks, or past its end if it has none to apply."""
    packet = peek(ctx.packets, 0)
    cursor = ctx.cursor
    start, length = packet.offset, np.int64(packet.length)
    if start < 0 or length < 0 or start + length > ctx.frames.shape[0]:
        raise IndexError("a packet lies outside the frame memory")
    if packet.line < 0 or packet.line >= LINES_MAX:
        raise IndexError("a packet's line is not one of the feed's")
    ctx.counters[metrics.PACKETS] += 1
    cursor[BUSY] = 1
    cursor[AT] = start
    cursor[END] = start + length
    cursor[SKIP] = 0
    cursor[LEFT] = 0
    cursor[TAKEN_CYCLES] = packet.taken_cycles if cursor[WINDOW] == 0 else cycles()
    cursor[TIMED] = 0
    if packet.framing == BLOCKS:
        cursor[TIMED] = 1 if ctx.market.instruments.shape[0] > 0 else 0
        cursor[CHANNEL_INDEX] = channel_of_line(ctx, np.int64(packet.line), np.int64(-1), np.int64(packet.line))
        cursor[SEQUENCE] = packet.sequence
        cursor[LEFT] = UNBOUNDED
    elif length < HEADER_BYTES:
        ctx.counters[metrics.MALFORMED_PACKETS] += 1
    else:
        open_mold(ctx, np.int64(packet.line), start)
    cursor[AHEAD] = cursor[AT]
    cursor[TURN] = 0
    ctx.ring[:] = 0
    if cursor[LEFT] != 0:
        for _ in range(DEPTH):
            look(ctx)


@small
def look(ctx):
    """One turn of the look-ahead."""
    cursor = ctx.cursor
    cursor[AHEAD] = look_ahead(
        ctx.orders,
        ctx.market.books_of,
        cursor[CHANNEL_INDEX],
        ctx.frames,
        cursor[AHEAD],
        cursor[END],
        ctx.ring,
        cursor[TURN],
    )
    cursor[TURN] += 1


@hot
def open_mold(ctx, line, start):
    """Read a MoldUDP64 header and decide which of its messages are due."""
    cursor, counters = ctx.cursor, ctx.counters
    high, low = session_high(ctx.frames, start), session_low(ctx.frames, start)
    sequence, count = sequence_of(ctx.frames, start), count_of(ctx.frames, start)
    if sequence < 0:
        counters[metrics.MALFORMED_PACKETS] += 1
        return
    index = channel_of_line(ctx, line, high, low)
    channel = slot_at(ctx.market.channels, index)
    if channel.session_high != high or channel.session_low != low:
        if sequence != 1 and channel.stream != ENDED:
            counters[metrics.FOREIGN_SESSIONS] += 1
            return
        begin_session(ctx, index, high, low)
        channel.expected = 1
    if sequence == 0 and channel.expected != 0:
        counters[metrics.MALFORMED_PACKETS] += 1
        return
    blocks = np.int64(0) if count == END_OF_SESSION else count
    if blocks == 0:
        counters[metrics.HEARTBEATS] += 1
    if sequence != 0:  # 0: a capture whose headers were wiped; its messages are taken as they come
        if channel.expected == 0:
            channel.expected = sequence
        if sequence > channel.expected:
            counters[metrics.GAPS] += 1
            counters[metrics.MISSED_MESSAGES] += sequence - channel.expected
            channel.gaps += 1
            channel.expected = sequence
        cursor[SKIP] = min(channel.expected - sequence, blocks)
    if count == END_OF_SESSION:
        channel.stream = ENDED
    cursor[CHANNEL_INDEX] = index
    cursor[SEQUENCE] = sequence
    cursor[LEFT] = blocks
    cursor[AT] = start + HEADER_BYTES


@stage_step
def apply_blocks(ctx, allowed, events_allowed):
    """Apply at most `allowed` messages of the open packet, up to `events_allowed` events; returns how many blocks were
    passed. A record of a day file counts as a packet of its own: its latency begins with it."""
    cursor = ctx.cursor
    channel = cursor[CHANNEL_INDEX]
    passed = np.int64(0)
    events = np.int64(0)
    while passed < allowed and events < events_allowed:
        at = cursor[AT]
        if cursor[LEFT] == 0 or (at == cursor[END] and cursor[LEFT] >= UNBOUNDED >> 1):
            cursor[BUSY] = 0
            break
        if at + LENGTH_BYTES > cursor[END] or at + LENGTH_BYTES + be16(ctx.frames, at) > cursor[END]:
            ctx.counters[metrics.TRUNCATED] += 1
            cursor[BUSY] = 0
            break
        length = be16(ctx.frames, at)
        time_ns = be48(ctx.frames, at + LENGTH_BYTES + TIMESTAMP) if length >= _TIMED_BYTES else np.int64(0)
        if time_ns > cursor[UNTIL_NS]:
            break
        if cursor[TIMED] != 0:
            cursor[TAKEN_CYCLES] = cycles()
        look(ctx)
        if cursor[SKIP] > 0:
            cursor[SKIP] -= 1
            ctx.counters[metrics.OLD_MESSAGES] += 1
        elif length == 0:
            ctx.counters[metrics.MESSAGES] += 1
        else:
            cursor[CLOCK_NS] = max(cursor[CLOCK_NS], time_ns)
            ctx.types[ctx.frames[at + LENGTH_BYTES]] += 1
            book, side, price_e4, shares, reference = apply_message(
                ctx.orders, ctx.market, ctx.counters, channel, ctx.frames, at + LENGTH_BYTES, length
            )
            if book != 0 and slot_at(ctx.market.books, book).instrument >= 0:
                tell(ctx, events, book, at + LENGTH_BYTES, side, price_e4, shares, reference)
                events += 1
        cursor[AT] = at + LENGTH_BYTES + length
        cursor[LEFT] -= 1
        cursor[SEQUENCE] += 1
        passed += 1
    follow(ctx, channel)
    if events > 0:
        if cursor[TO_GATEWAY] != 0:
            commit(ctx.states, events)
        commit(ctx.events, events)
    return passed


@small
def follow(ctx, channel):
    """After the blocks up to the cursor: what the channel expects next."""
    held = slot_at(ctx.market.channels, channel)
    if ctx.cursor[SEQUENCE] > held.expected and held.expected != 0:
        held.expected = ctx.cursor[SEQUENCE]


@hot
def tell(ctx, k, book_index, at, side, price_e4, shares, reference):
    """Fill the k-th free BOOK_EVENT with what happened and the book as it is now, and the k-th MARKET_STATE."""
    event = claim(ctx.events, k)
    book = slot_at(ctx.market.books, book_index)
    event.cause = peek(ctx.packets, 0).cause
    event.time_ns = book.time_ns
    event.clock_ns = ctx.cursor[CLOCK_NS]
    event.ordinal = ctx.cursor[ORDINAL]
    ctx.cursor[ORDINAL] += 1
    event.sequence = ctx.cursor[SEQUENCE]
    event.kind = ctx.frames[at]
    event.side = side
    event.price_e4 = price_e4
    event.shares = shares
    event.reference = reference
    event.instrument = book.instrument
    event.volume_shares = book.volume_shares
    event.paired_shares = book.paired_shares
    event.far_price_e4 = book.far_price_e4
    event.near_price_e4 = book.near_price_e4
    event.state = effective_state(book)
    marks = np.int64(0)
    if trading(book):
        marks |= TRADABLE
    if is_suspect(ctx.market, book):
        marks |= SUSPECT
    if is_crossed(ctx.orders, book_index):
        marks |= CROSSED
    if is_print(ctx.frames, at):
        marks |= PRINTABLE
    event.marks = marks
    for depth in range(TOP_LEVELS):
        bid = slot_at(ctx.orders.levels, best_level(ctx.orders, 2 * book_index + BUY, depth))
        ask = slot_at(ctx.orders.levels, best_level(ctx.orders, 2 * book_index + SELL, depth))
        event.bid_price_e4[depth] = bid.price_e4
        event.bid_shares[depth] = bid.shares
        event.ask_price_e4[depth] = ask.price_e4
        event.ask_shares[depth] = ask.shares
    if ctx.cursor[TO_GATEWAY] != 0:
        tell_state(claim(ctx.states, k), event, book)
    event.taken_cycles = ctx.cursor[TAKEN_CYCLES]
    event.decoded_cycles = cycles()


@small
def tell_state(state, event, book):
    """Fill a MARKET_STATE with what an order is judged by."""
    state.clock_ns = event.clock_ns
    state.cause = event.cause
    state.ordinal = event.ordinal
    state.instrument = event.instrument
    state.bid_price_e4 = event.bid_price_e4[0]
    state.ask_price_e4 = event.ask_price_e4[0]
    state.last_price_e4 = book.last_price_e4
    state.state = event.state
    state.marks = event.marks
