"""Puts a store's packets on the lines: the compiled loop of the publisher.

    store.rows ──due?──▶ fate on each line ──▶ messages ──sendmmsg──▶ line A
                                                        ──sendmmsg──▶ line B

When a packet is due, its schedule says, and nothing else: a publisher that is late sends what is due at once and never
shifts the rest (open loop). Octets are sent from where they lie in the store.

A packet that is displaced waits until others have passed it; none waits longer than for the next silence. A line that
was silent for a second tells the next number (a heartbeat), or, at the end, that the session is over.

`words[PUBLISHED]` rows may be asked for: they are counted just before they are sent.
"""

from errno import ECONNREFUSED
from typing import NamedTuple

import numpy as np

from ..hot.duty_cycle import running
from ..hot.intrinsics import copy_octets, load_acquire, pause, put_be16, put_be64, slot_at, store_release
from ..hot.jit import hot
from ..hot.layout import aligned
from ..hot.libc import EINTR, address, clock_ns, make_messages, sendmmsg
from ..wire.moldudp64 import COUNT, END_OF_SESSION, HEADER_BYTES, SEQUENCE
from .impairment import (
    DISPLACEMENT_MAX,
    LINES,
    SENT,
    Fates,
    displacement_of,
    fate_of,
    is_out,
    is_twice,
)
from .message_store import Store

MONOTONIC = 1  # CLOCK_MONOTONIC
SECOND_NS = 1_000_000_000
HEARTBEAT_NS = SECOND_NS
SPIN_NS = 100_000
ROWS_A_LAP = 1_024
WAIT_NS_MAX = 4e18
BATCH = 64  # packets of a line sent in one call, and those that they let go
_BATCH_ROOM = BATCH + 2 * (DISPLACEMENT_MAX + 2)
_BUCKETS = DISPLACEMENT_MAX + 1

# Words. PACE: one of below; the schedule counts from START, and of recorded time from FIRST; SPIN: closer to a packet
# that is due, waiting keeps the core busy.
PUBLISHED, NEXT, START, FIRST, PACE, RATE, MESSAGES, LATE_MAX, SPIN = range(9)
WORDS = 16
AS_FAST, BY_RATE, BY_TIME = range(3)

# Words of a line: its socket (-1: there is none), what is staged, when it spoke last; then what became of packets.
SOCKET, STAGED, SPOKE = range(3)
FATES_AT = 3  # + SENT, LOST, LOST_BOTH, OUT
TWICE, DISPLACED, HEARTBEATS, ENDS, REFUSED, ERRORS, ERROR = range(7, 14)
LINE_WORDS = 16


class Publication(NamedTuple):
    """store; fates; speed (1,) float64: recorded seconds a second; words (16,) and lines (2 * 16,) int64; held
    (2 * 16,) int64: bit d of bucket b: the packet d before one of number b, modulo 16, follows it; messages and vectors
    (2 * n,) MESSAGE and VECTOR; idle (2 * 20,) uint8; moment (2,) int64."""

    store: Store
    fates: Fates
    speed: np.ndarray
    words: np.ndarray
    lines: np.ndarray
    held: np.ndarray
    messages: np.ndarray
    vectors: np.ndarray
    idle: np.ndarray
    moment: np.ndarray


def make_publication(store: Store, fates: Fates, pace: int, rate: int, speed: float, sockets: list[int]) -> Publication:
    """Nothing published. pace: AS_FAST, BY_RATE (`rate` messages a second) or BY_TIME (`speed` recorded seconds a
    second); sockets: the descriptors of the two lines, connected; -1 for one that there is not."""
    messages, vectors = make_messages(LINES * _BATCH_ROOM)
    made = Publication(
        store=store,
        fates=fates,
        speed=np.array([speed]),
        words=aligned(WORDS, np.int64),
        lines=aligned(LINES * LINE_WORDS, np.int64),
        held=aligned(LINES * _BUCKETS, np.int64),
        messages=messages,
        vectors=vectors,
        idle=aligned(LINES * HEADER_BYTES, np.uint8),
        moment=aligned(2, np.int64),
    )
    made.words[FIRST] = int(store.rows[0].time_ns)
    made.words[PACE], made.words[RATE], made.words[SPIN] = pace, rate, SPIN_NS
    made.lines[SOCKET::LINE_WORDS] = sockets
    return made


@hot
def begin(ctx, wait_ns):
    """The schedule begins in `wait_ns`; until then there are heartbeats."""
    now_ns = clock_ns(MONOTONIC, ctx.moment)
    ctx.words[START] = now_ns + wait_ns
    for line in range(LINES):
        ctx.lines[line * LINE_WORDS + SPOKE] = now_ns - HEARTBEAT_NS if wait_ns > 0 else now_ns


@hot
def published(words):
    """Rows that may be asked for; from any thread."""
    return load_acquire(words, PUBLISHED)


@hot
def _elapsed(ctx, row):
    """When a row is due, since the schedule's start."""
    words = ctx.words
    if words[PACE] == BY_RATE:
        seconds, rest = words[MESSAGES] // words[RATE], words[MESSAGES] % words[RATE]
        return seconds * SECOND_NS + rest * SECOND_NS // words[RATE]
    since_first = row.time_ns - words[FIRST]
    if words[PACE] == BY_TIME:
        return np.int64(min(since_first / ctx.speed[0], WAIT_NS_MAX))
    return since_first


@hot
def _stage(ctx, line, number):
    """Have a packet sent with the next ones of the line; twice if that is its fate."""
    words_at = line * LINE_WORDS
    row = slot_at(ctx.store.rows, number)
    copies = 2 if is_twice(ctx.fates, line, number) else 1
    for _ in range(copies):
        _stage_octets(ctx, line, address(ctx.store.octets, row.offset), np.int64(row.length))
    ctx.lines[words_at + TWICE] += copies - 1


@hot
def _stage_octets(ctx, line, at, octets):
    staged = line * LINE_WORDS + STAGED
    vector = slot_at(ctx.vectors, line * _BATCH_ROOM + ctx.lines[staged])
    vector.at, vector.octets = at, octets
    ctx.lines[staged] += 1


@hot
def _let_go(ctx, line, number):
    """Stage the packets that wait for the one of this number to pass, first come first."""
    bucket = line * _BUCKETS + number % _BUCKETS
    waiting = ctx.held[bucket]
    if waiting != 0:
        ctx.held[bucket] = 0
        for back in range(DISPLACEMENT_MAX, 0, -1):
            if waiting >> back & 1:
                _stage(ctx, line, number - back)


@hot
def _let_all_go(ctx, line, number):
    """Stage every packet of the line that waits, before the one of this number."""
    for ahead in range(_BUCKETS):
        _let_go(ctx, line, number + ahead)


@hot
def _put(ctx, number, row, elapsed_ns):
    """Stage a packet on the lines, as fate will have it."""
    for line in range(LINES):
        if ctx.lines[line * LINE_WORDS + SOCKET] < 0:
            continue
        if row.count == END_OF_SESSION:
            _let_all_go(ctx, line, number)
            if not is_out(ctx.fates, line, elapsed_ns):
                _stage_octets(ctx, line, address(ctx.store.octets, row.offset), np.int64(row.length))
                ctx.lines[line * LINE_WORDS + ENDS] += 1
            continue
        fate = fate_of(ctx.fates, line, number, elapsed_ns)
        ctx.lines[line * LINE_WORDS + FATES_AT + fate] += 1
        displacement = np.int64(0)
        if fate == SENT:
            displacement = displacement_of(ctx.fates, line, number)
            if displacement == 0:
                _stage(ctx, line, number)
        _let_go(ctx, line, number)
        if displacement > 0:
            ctx.lines[line * LINE_WORDS + DISPLACED] += 1
            ctx.held[line * _BUCKETS + (number + displacement) % _BUCKETS] |= 1 << displacement


@hot
def _flush(ctx, now_ns):
    """Send what is staged."""
    for line in range(LINES):
        words_at = line * LINE_WORDS
        count, at, tries = ctx.lines[words_at + STAGED], np.int64(0), np.int64(0)
        if count == 0:
            continue
        while at < count:
            first = address(ctx.messages, line * _BATCH_ROOM + at)
            got = sendmmsg(ctx.lines[words_at + SOCKET], first, count - at, 0)
            if got >= 0:
                at += got
                tries = np.int64(0)
            elif got == -ECONNREFUSED and tries == 0:  # of a packet before: nobody listens there
                ctx.lines[words_at + REFUSED] += 1
                tries = np.int64(1)
            elif got != -EINTR:
                ctx.lines[words_at + ERRORS] += 1
                ctx.lines[words_at + ERROR] = -got
                at += 1
        ctx.lines[words_at + STAGED] = 0
        ctx.lines[words_at + SPOKE] = now_ns


@hot
def _stage_idle(ctx, line, now_ns):
    """Have the line say the next number, or that the session is over."""
    words, words_at, number = ctx.words, line * LINE_WORDS, ctx.words[NEXT]
    _let_all_go(ctx, line, number)
    ctx.lines[words_at + SPOKE] = now_ns
    if is_out(ctx.fates, line, now_ns - words[START]):
        return
    row = slot_at(ctx.store.rows, max(number - 1, 0))
    if number > 0 and row.count == END_OF_SESSION:
        _stage_octets(ctx, line, address(ctx.store.octets, row.offset), np.int64(row.length))
        ctx.lines[words_at + ENDS] += 1
        return
    sequence = row.sequence + (np.int64(row.count) if number > 0 else 0)
    at = line * HEADER_BYTES
    copy_octets(ctx.idle, at, ctx.store.octets, row.offset, HEADER_BYTES)
    put_be64(ctx.idle, at + SEQUENCE, sequence)
    put_be16(ctx.idle, at + COUNT, 0)
    _stage_octets(ctx, line, address(ctx.idle, at), np.int64(HEADER_BYTES))
    ctx.lines[words_at + HEARTBEATS] += 1


@hot
def beat(ctx, now_ns):
    """Break the silence of lines that have been silent for a second; returns when the next one will have been."""
    next_ns = now_ns + HEARTBEAT_NS
    for line in range(LINES):
        words_at = line * LINE_WORDS
        if ctx.lines[words_at + SOCKET] >= 0:
            if now_ns - ctx.lines[words_at + SPOKE] >= HEARTBEAT_NS:
                _stage_idle(ctx, line, now_ns)
            next_ns = min(next_ns, ctx.lines[words_at + SPOKE] + HEARTBEAT_NS)
    _flush(ctx, now_ns)
    return next_ns


@hot
def publish(ctx, control):
    """Publish what is due, until stopped, all is published, or there is time to sleep. Returns how long, in ns."""
    words, rows = ctx.words, ctx.store.rows
    while running(control):
        now_ns = clock_ns(MONOTONIC, ctx.moment)
        number, wake_ns = words[NEXT], np.int64(0)
        while number < rows.shape[0]:
            row = slot_at(rows, number)
            elapsed_ns = _elapsed(ctx, row)
            wake_ns = words[START] + (np.int64(0) if words[PACE] == AS_FAST else elapsed_ns)
            staged = max(ctx.lines[STAGED], ctx.lines[LINE_WORDS + STAGED])
            if wake_ns > now_ns or staged >= BATCH or number - words[NEXT] == ROWS_A_LAP:
                break
            if words[PACE] != AS_FAST:
                words[LATE_MAX] = max(words[LATE_MAX], now_ns - wake_ns)
            _put(ctx, number, row, elapsed_ns)
            if row.count != END_OF_SESSION:
                words[MESSAGES] += np.int64(row.count)
            number += 1
        if number > words[NEXT]:
            words[NEXT] = number
            store_release(words, PUBLISHED, number)
            _flush(ctx, now_ns)
            continue
        next_ns = beat(ctx, now_ns)
        if number == rows.shape[0]:
            return next_ns - now_ns
        wait_ns = min(next_ns, wake_ns) - now_ns
        if wait_ns > words[SPIN]:
            return wait_ns - words[SPIN] // 2
        pause()
    return np.int64(0)
