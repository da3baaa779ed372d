"""Features: book events -> feature rows, one each. Owns the rolling state of every configured instrument.

    decoder_features ──BOOK_EVENT──▶ decay sums by exp(-dt / tau), add ──▶ x[0 : len(FEATURES)] ──FEATURE_ROW──▶
                                     sample (time, mid, microprice)         features_inference

    samples of one instrument and horizon   | . . T s s s s s s H . . |   s: one a bucket of time, its last event
                                                  │             └ the present bucket, overwritten until time leaves it
                                                  └ last sample not later than now - horizon: the one cursor

Reads     BOOK_EVENT records; of clocks, only their `time_ns`. feature_table.py says what is computed.
Writes    one FEATURE_ROW for each, with the event in it, in the same order. Every number in it is finite.
Invariant the work for an event does not depend on how many came before: each sample is passed by the cursor once, and
          a horizon has fewer buckets than its ring has samples (checked at import), so none is lost however many
          events there are.
Ready     when the book has two sides and the longest horizon has a sample that old. The state starts anew, and rows
          are not ready until it has filled again, when the SUSPECT mark comes or goes and when time falls back by more
          than the longest horizon (another day). On a smaller step back the clock stands still. An event of no message
          (kind 0) is passed on in a row that is not ready, and touches nothing, unless it is RESTARTED: the state
          starts anew with the next event.
When full it takes no event; the decoder stops when its own link has filled.
"""

import math
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import copy_record, cycles, slot_at
from ..hot.jit import small
from ..hot.jit import step as stage_step
from ..hot.layout import record
from ..hot.link import Link, claim, commit, pass_mark, peek, ready, release, room
from ..records import FEATURES_MAX, PRINTABLE, RESTARTED, SUSPECT, TOP_LEVELS, TRADABLE
from .book import Take
from .feature_table import FEATURES, HORIZONS_NS, TAUS_NS, bucket_shift, position

HORIZONS, TAUS = len(HORIZONS_NS), len(TAUS_NS)
SHIFTS = tuple(bucket_shift(horizon) for horizon in HORIZONS_NS)
LONGEST_NS = HORIZONS_NS[-1]
SECOND_NS = 1e9
TIME_NS_MAX = 1 << 62  # later times are this one: no difference of two overflows
NO_ASK_E4 = 1 << 33  # above every price

SAMPLES_BITS = 11
SAMPLES = 1 << SAMPLES_BITS  # a ring's
# The cursor's sample, those of the buckets that a horizon touches (two of them in part), and the one being added.
assert all((horizon >> shift) + 4 <= SAMPLES for horizon, shift in zip(HORIZONS_NS, SHIFTS, strict=True))
assert len(FEATURES) <= FEATURES_MAX

SAMPLE = record("SAMPLE", [("time_ns", "i8"), ("mid2_e4", "i8"), ("microprice_e4", "f8")], 24)

OFI_1, OFI_5, TRADES, ADDS, CANCELS, EXECUTIONS, SQUARES = range(7)  # what is summed
FLOWS = 7

FEATURE_STATE = record(
    "FEATURE_STATE",
    [
        ("time_ns", "i8"),  # the instrument's clock: never falls while the state lasts
        ("trade_ns", "i8"),
        ("mid2_e4", "i8"),  # twice the last mid; 0: none yet
        ("begun", "i8"),
        ("suspect", "i8"),
        ("auction", "f8"),
        ("sums", "f8", (TAUS * FLOWS,)),  # decayed, one row of FLOWS a time constant
        ("heads", "i8", (HORIZONS,)),  # samples written so far
        ("tails", "i8", (HORIZONS,)),  # the cursor: number of the last sample not later than now - horizon, or 0
        ("bid_price_e4", "i8", (TOP_LEVELS,)),  # the book one event before
        ("bid_shares", "i8", (TOP_LEVELS,)),
        ("ask_price_e4", "i8", (TOP_LEVELS,)),
        ("ask_shares", "i8", (TOP_LEVELS,)),
    ],
    384,
)

# Where in x: the first of each family.
SPREAD, OFFSET = position("spread_bps"), position("microprice_offset_bps")
MID_RETURN, MICROPRICE_RETURN = position("mid_return_100ms_bps"), position("microprice_return_100ms_bps")
IMBALANCE_1, IMBALANCE_5 = position("queue_imbalance_1"), position("queue_imbalance_5")
FLOW_AT = tuple(
    position(name)
    for name in (
        "order_flow_imbalance_1_1s_shares",
        "order_flow_imbalance_5_1s_shares",
        "trade_flow_1s_shares",
        "adds_1s_per_s",
        "cancels_1s_per_s",
        "executions_1s_per_s",
        "realised_volatility_1s_bps",
    )
)
EVENT_AGE, TRADE_AGE = position("event_age_s"), position("trade_age_s")
AUCTION, TRADING = position("auction_imbalance"), position("tradable")

A, C, D, E, F, I, P, Q, U, X = (ord(kind) for kind in "ACDEFIPQUX")  # noqa: E741
BUY, SELL = ord("B"), ord("S")


class Context(NamedTuple):
    """states (instruments,) FEATURE_STATE; samples (instruments * HORIZONS * SAMPLES,) SAMPLE; burst (1,) int64."""

    events: Link
    rows: Link
    states: np.ndarray
    samples: np.ndarray
    burst: np.ndarray


def build(take: Take, events: Link, rows: Link, instruments: int, burst: int = 64) -> Context:
    """The stage for this many configured instruments; one step makes at most `burst` rows."""
    held = max(1, instruments)
    return Context(
        events=events,
        rows=rows,
        states=take("feature_states", held, FEATURE_STATE),
        samples=take("feature_samples", held * HORIZONS * SAMPLES, SAMPLE),
        burst=np.array([burst], np.int64),
    )


@stage_step
def step(ctx):
    """Make at most `burst` rows; returns how many. Raises IndexError for an event of no configured instrument."""
    count = room(ctx.rows, ready(ctx.events, ctx.burst[0]))
    for k in range(count):
        row = claim(ctx.rows, k)
        make_row(ctx, row, peek(ctx.events, k))
        row.featured_cycles = cycles()
    if count > 0:
        commit(ctx.rows, count)
        release(ctx.events, count)
    pass_mark(ctx.events, ctx.rows)
    return count


@stage_step
def make_row(ctx, row, event):
    """Bring the instrument's state up to the event and write what follows from it."""
    instrument = np.int64(event.instrument)
    if instrument < 0 or instrument >= ctx.states.shape[0]:
        raise IndexError("a book event's instrument is not one of the features stage's")
    state = slot_at(ctx.states, instrument)
    copy_record(row.market, event)
    x = row.x
    if event.kind == 0:
        pass_on(row, state, event)
        return

    now = min(max(event.time_ns, np.int64(0)), np.int64(TIME_NS_MAX))
    suspect = np.int64(event.marks) & SUSPECT
    if state.begun == 0 or suspect != state.suspect or now < state.time_ns - LONGEST_NS:
        restart(state, event, now, suspect)
    now = max(now, state.time_ns)
    x[EVENT_AGE] = (now - state.time_ns) / SECOND_NS
    decay(state, now)

    bid_e4, ask_e4 = np.int64(event.bid_price_e4[0]), np.int64(event.ask_price_e4[0])
    two_sided = event.bid_shares[0] > 0 and event.ask_shares[0] > 0 and bid_e4 > 0 and ask_e4 > 0
    filled = False
    if two_sided:
        filled = describe_prices(ctx, x, state, event, instrument, now)
    else:
        for k in range(IMBALANCE_1):
            x[k] = 0.0
    count_event(state, event, now)
    describe_book(x, state, event)
    describe_flows(x, state)
    x[TRADE_AGE] = (now - state.trade_ns) / SECOND_NS
    x[AUCTION] = state.auction
    x[TRADING] = 1.0 if np.int64(event.marks) & TRADABLE else 0.0
    row.ready = 1 if filled else 0


@small
def pass_on(row, state, event):
    """An event of no message: nothing follows from it but that what was rolled up may be void."""
    if np.int64(event.marks) & RESTARTED:
        state.begun = 0
    for k in range(len(FEATURES)):
        row.x[k] = 0.0
    row.ready = 0


@stage_step
def restart(state, event, now, suspect):
    """Forget everything; the book one event before is the present one."""
    state.begun = 1
    state.suspect = suspect
    state.time_ns = now
    state.trade_ns = now
    state.mid2_e4 = 0
    state.auction = 0.0
    for k in range(TAUS * FLOWS):
        state.sums[k] = 0.0
    for k in range(HORIZONS):
        state.heads[k] = 0
        state.tails[k] = 0
    for k in range(TOP_LEVELS):
        state.bid_price_e4[k] = bid_price(event, k)
        state.bid_shares[k] = max(event.bid_shares[k], np.int64(0))
        state.ask_price_e4[k] = ask_price(event, k)
        state.ask_shares[k] = max(event.ask_shares[k], np.int64(0))


@small
def bid_price(event, k):
    return np.int64(event.bid_price_e4[k]) if event.bid_shares[k] > 0 else np.int64(0)


@small
def ask_price(event, k):
    return np.int64(event.ask_price_e4[k]) if event.ask_shares[k] > 0 else np.int64(NO_ASK_E4)


@stage_step
def decay(state, now):
    """Move the clock to `now`; every sum loses what the time since the last event takes."""
    passed_ns = now - state.time_ns
    if passed_ns > 0:
        for k in range(TAUS):
            factor = math.exp(-passed_ns / TAUS_NS[k])
            for flow in range(FLOWS):
                state.sums[k * FLOWS + flow] *= factor
        state.time_ns = now


@small
def add_flow(state, flow, value):
    for k in range(TAUS):
        state.sums[k * FLOWS + flow] += value


@stage_step
def describe_prices(ctx, x, state, event, instrument, now):
    """What needs two sides: spread, offset, returns, squares. True once the longest horizon is filled."""
    bid_e4, ask_e4 = np.int64(event.bid_price_e4[0]), np.int64(event.ask_price_e4[0])
    bid_shares, ask_shares = np.float64(event.bid_shares[0]), np.float64(event.ask_shares[0])
    mid2_e4 = bid_e4 + ask_e4
    mid_e4 = mid2_e4 / 2.0
    microprice_e4 = (bid_e4 * ask_shares + ask_e4 * bid_shares) / (bid_shares + ask_shares)
    x[SPREAD] = 1e4 * (ask_e4 - bid_e4) / mid_e4
    x[OFFSET] = 1e4 * (microprice_e4 - mid_e4) / mid_e4
    if state.mid2_e4 != 0:
        change_bps = 1e4 * (mid2_e4 - state.mid2_e4) / state.mid2_e4
        add_flow(state, SQUARES, change_bps * change_bps)
    state.mid2_e4 = mid2_e4

    filled = False  # what the last horizon, the longest, leaves here
    for k in range(HORIZONS):
        ring = (instrument * HORIZONS + k) << SAMPLES_BITS
        write_sample(ctx.samples, ring, state, k, now, mid2_e4, microprice_e4)
        until_ns = now - HORIZONS_NS[k]
        then = slot_at(ctx.samples, ring + (move_cursor(ctx.samples, ring, state, k, until_ns) & (SAMPLES - 1)))
        filled = then.time_ns <= until_ns
        if filled:
            x[MID_RETURN + k] = 1e4 * (mid2_e4 - then.mid2_e4) / then.mid2_e4
            x[MICROPRICE_RETURN + k] = 1e4 * (microprice_e4 - then.microprice_e4) / then.microprice_e4
        else:
            x[MID_RETURN + k] = 0.0
            x[MICROPRICE_RETURN + k] = 0.0
    return filled


@stage_step
def write_sample(samples, ring, state, k, now, mid2_e4, microprice_e4):
    """Write the present bucket's sample, over the one it has or as the next."""
    head = state.heads[k]
    newest = slot_at(samples, ring + ((head - 1) & (SAMPLES - 1)))
    if head == 0 or newest.time_ns >> SHIFTS[k] != now >> SHIFTS[k]:
        newest = slot_at(samples, ring + (head & (SAMPLES - 1)))
        state.heads[k] = head + 1
    newest.time_ns = now
    newest.mid2_e4 = mid2_e4
    newest.microprice_e4 = microprice_e4


@stage_step
def move_cursor(samples, ring, state, k, until_ns):
    """Number of the last sample not later than `until_ns`; of the oldest if all are."""
    at, last = state.tails[k], state.heads[k] - 1
    while at < last and slot_at(samples, ring + ((at + 1) & (SAMPLES - 1))).time_ns <= until_ns:
        at += 1
    state.tails[k] = at
    return at


@stage_step
def count_event(state, event, now):
    """Add what the event is to the sums, and keep what stays until another replaces it."""
    kind, side = np.int64(event.kind), np.int64(event.side)
    shares = np.float64(max(event.shares, np.int64(0)))
    printed = np.int64(event.marks) & PRINTABLE != 0
    if printed and shares > 0.0:
        state.trade_ns = now
    if kind in (A, F, U):
        add_flow(state, ADDS, 1.0)
    if kind in (X, D, U):
        add_flow(state, CANCELS, 1.0)
    if kind in (E, C, P):
        add_flow(state, EXECUTIONS, 1.0)
    if printed and kind in (E, C):
        if side == SELL:
            add_flow(state, TRADES, shares)
        elif side == BUY:
            add_flow(state, TRADES, -shares)
    if kind == Q:
        state.auction = 0.0
    elif kind == I:
        whole = shares + np.float64(max(event.paired_shares, np.int64(0)))
        sign = 1.0 if side == BUY else -1.0 if side == SELL else 0.0
        state.auction = sign * shares / whole if whole > 0.0 else 0.0


@stage_step
def describe_book(x, state, event):
    """Queue imbalances; order-flow imbalances, for which the book one event before becomes the present one."""
    bids, asks, flow = 0.0, 0.0, 0.0
    for k in range(TOP_LEVELS):
        bid_e4, ask_e4 = bid_price(event, k), ask_price(event, k)
        bid_shares, ask_shares = max(event.bid_shares[k], np.int64(0)), max(event.ask_shares[k], np.int64(0))
        if bid_e4 >= state.bid_price_e4[k]:
            flow += np.float64(bid_shares)
        if bid_e4 <= state.bid_price_e4[k]:
            flow -= np.float64(state.bid_shares[k])
        if ask_e4 <= state.ask_price_e4[k]:
            flow -= np.float64(ask_shares)
        if ask_e4 >= state.ask_price_e4[k]:
            flow += np.float64(state.ask_shares[k])
        bids += np.float64(bid_shares)
        asks += np.float64(ask_shares)
        state.bid_price_e4[k] = bid_e4
        state.bid_shares[k] = bid_shares
        state.ask_price_e4[k] = ask_e4
        state.ask_shares[k] = ask_shares
        if k == 0:
            add_flow(state, OFI_1, flow)
            x[IMBALANCE_1] = (bids - asks) / (bids + asks) if bids + asks > 0.0 else 0.0
    add_flow(state, OFI_5, flow)
    x[IMBALANCE_5] = (bids - asks) / (bids + asks) if bids + asks > 0.0 else 0.0


@stage_step
def describe_flows(x, state):
    """The decayed sums: as they are, per second, and of squares the root."""
    for k in range(TAUS):
        per_second = SECOND_NS / TAUS_NS[k]
        for flow in range(FLOWS):
            held = state.sums[k * FLOWS + flow]
            if flow == SQUARES:
                held = math.sqrt(held)
            elif flow >= ADDS:
                held *= per_second
            x[FLOW_AT[flow] + k] = held
