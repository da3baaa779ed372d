"""Strategy: signals, order events and timers -> intents. Owns every strategy's state, working orders and positions.

    inference_strategy ──SIGNAL──┐
                      timers ────┼─▶ earliest first ──▶ decide, on_timer, on_execution ──▶ batch ──INTENT──▶
    gateway_strategy ─ORDER_EVENT┘    orders, position, state ┘                         strategy_gateway

Reads     SIGNAL and ORDER_EVENT records, each one's `clock_ns`; the MARK of both links.
Writes    one INTENT for each request of a strategy, in the order of the configuration and of its asking. What a
          strategy may not say of itself (who it is, when, upon what) is overwritten. `clock_ns` is that of the input,
          `ordinal` and `cause` those of the last signal; the stamps before `begun_cycles` are 0 unless a signal was
          decided upon.
          MARK: no intent to come is older. DONE: ordinal of the last signal all strategies are done with, -1 at first.
Invariant under `hold` inputs are taken in the order of their clocks, at equal clocks order events first, timers next,
          signals last, and only when nothing earlier can come: what is decided depends on what is read, never on when
          it arrives. Without hold, what is there is taken, in the same order of rank.
          An input is given back when every strategy concerned was called for it, each once, also if one raises.
When full it makes no call whose intents may not fit, and goes on in the same input when there is room. A strategy that
          asks for more than fits in one call is switched off, and a KILL is sent instead; see REASONS.

A strategy that raises ends the loop. Whoever runs it calls `in_call` to learn which strategy it was (None: not one),
`disable`, and enters the loop again, which goes on where it was.

Timers begin with a strategy's first signal and fire at multiples of their period, for each of its instruments that had
one. They go on as long as the signals' MARK does.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import slot_at
from ..hot.jit import inner, small
from ..hot.jit import step as stage_step
from ..hot.link import DONE, Link, peek, release, room
from ..records import INTENT, NEVER_NS
from ..strategies.interface import INTENTS_MAX, PARAMS_MAX, SAME_INSTRUMENT, STATE_WORDS, Intents, State
from ..strategies.load import Loaded, decide_nothing, ignore_execution, ignore_timer
from . import desk as at
from .asking import close_call, is_called, place_of, tell_kill
from .book import Take
from .desk import (
    ASKED,
    INTENTS_OVER,
    MEMBER,
    ORDERS_OVER,
    PLACE,
    RAISED,
    REASONS,
    STRATEGIES_MAX,
    Desk,
)
from .turns import choose, pass_marks
from .working import build_working, orders_of

__all__ = ["ASKED", "INTENTS_OVER", "ORDERS_OVER", "RAISED", "REASONS", "STRATEGIES_MAX", "Assignment", "Context",
           "InCall", "build", "disable", "in_call", "step"]  # fmt: skip


class Assignment(NamedTuple):
    """A strategy, the value of each of its params, and the instruments it is called for."""

    strategy: Loaded
    params: Sequence[float]
    instruments: Sequence[int]


class Context(NamedTuple):
    """The calls of every strategy; params (STRATEGIES_MAX * PARAMS_MAX,) float64; per strategy and place (see
    `working`) whole int64 and real float64, STATE_WORDS each."""

    decides: tuple[Callable[..., None], ...]
    on_executions: tuple[Callable[..., None], ...]
    on_timers: tuple[Callable[..., None], ...]
    params: np.ndarray
    whole: np.ndarray
    real: np.ndarray
    desk: Desk


class InCall(NamedTuple):
    """The strategy in a call, and the ordinal of the signal it decides upon, or of the last."""

    strategy: int
    ordinal: int


def build(
    take: Take,
    signals: Link,
    order_events: Link,
    intents: Link,
    strategies: Sequence[Assignment],
    instruments: int,
    hold: bool,
    burst: int = 64,
) -> Context:
    """The stage for these strategies, in the order in which they are called, and this many configured instruments;
    `take(name, count, dtype)` gives zeroed memory. A step makes about `burst` calls at most.

    Raises ValueError for more than STRATEGIES_MAX strategies, params that are not the strategy's, an instrument that
    is not configured, and a link of intents that could never hold those of one call.
    """
    _check(strategies, instruments, intents)
    word, real = np.dtype(np.int64), np.dtype(np.float64)
    places, count = instruments + 1, len(strategies)
    blocks = max(count, 1) * places
    desk = Desk(
        signals=signals,
        order_events=order_events,
        intents=intents,
        members=take("strategy_members", STRATEGIES_MAX, MEMBER),
        places=take("strategy_places", places, PLACE),
        working=build_working(take, blocks),
        batch=Intents(take("strategy_batch", INTENTS_MAX, INTENT), take("strategy_batch_count", 1, word)),
        blank=take("strategy_blank", 1, INTENT),
        words=take("strategy_words", at.WORDS, word),
        counters=take("strategy_counters", metrics.STRATEGY_COUNTERS, word),
    )
    made = Context(
        decides=_padded([a.strategy.decide for a in strategies], decide_nothing),
        on_executions=_padded([a.strategy.on_execution for a in strategies], ignore_execution),
        on_timers=_padded([a.strategy.on_timer for a in strategies], ignore_timer),
        params=take("strategy_params", STRATEGIES_MAX * PARAMS_MAX, real),
        whole=take("strategy_whole", blocks * STATE_WORDS, word),
        real=take("strategy_real", blocks * STATE_WORDS, real),
        desk=desk,
    )
    desk.words[[at.HOLD, at.BURST, at.STRATEGIES, at.PLACES]] = int(hold), burst, count, places
    desk.words[[at.ORDINAL, at.CAUSE, at.DONE_ORDINAL]] = intents.cursor[DONE] = -1
    desk.blank["instrument"] = SAME_INSTRUMENT
    desk.batch.slots[:] = desk.blank
    desk.members["timer_ns"] = NEVER_NS
    for k, (strategy, params, concerned) in enumerate(strategies):
        desk.members[k].enabled, desk.members[k].period_ns = 1, strategy.timer_ns
        made.params[k * PARAMS_MAX : k * PARAMS_MAX + len(params)] = params
        for place in concerned:
            desk.places[place].strategies |= 1 << k
    return made


def in_call(ctx: Context) -> InCall | None:
    """Whose call an exception ended; None if it came from elsewhere. For whoever runs the loop, while it does not."""
    called = int(ctx.desk.words[at.CALLED])
    return InCall(called - 1, int(ctx.desk.words[at.ORDINAL])) if called else None


def disable(ctx: Context, strategy: int, reason: int) -> None:
    """Switch a strategy off for the day: it is not called again, what it asked for in the call that it is in, if any,
    is dropped, and the next intent is a KILL for this reason. A second time does nothing. Only while the loop does not
    run. Raises ValueError for a strategy or reason that cannot be."""
    if not 0 <= strategy < ctx.desk.words[at.STRATEGIES] or not 0 < reason < 256:
        raise ValueError(
            f"strategy {strategy}, reason {reason}: there are {ctx.desk.words[at.STRATEGIES]}, and reasons to 255"
        )
    if ctx.desk.words[at.CALLED] == strategy + 1:
        ctx.desk.words[at.CALLED] = 0
        ctx.desk.counters[metrics.INTENTS_DROPPED] += max(int(ctx.desk.batch.count[0]), 0)
        ctx.desk.batch.slots[:] = ctx.desk.blank
    member = ctx.desk.members[strategy]
    if member.enabled:
        member.enabled, member.timer_ns, member.kill = 0, NEVER_NS, reason
        ctx.desk.words[at.TO_TELL] += 1
        ctx.desk.counters[metrics.STRATEGIES_DISABLED] += 1


@stage_step
def step(ctx):
    """Call strategies at most `burst` times and little more; returns the work done. Raises what a strategy raises."""
    work = np.int64(0)
    while work < ctx.desk.words[at.BURST]:
        done = advance(ctx)
        if done == 0:
            break
        work += done
    pass_marks(ctx.desk)
    return work


@inner
def advance(ctx):
    """Send kills, take up an input, make one call for it, or give it back; 0 if nothing can be done."""
    words = ctx.desk.words
    if words[at.TO_TELL] > 0:
        return tell_kill(ctx.desk)
    if words[at.INPUT] == at.NONE:
        choose(ctx.desk)
    kind, done = words[at.INPUT], np.int64(0)
    if kind == at.SIGNAL_INPUT:
        done = serve_signal(ctx)
    elif kind == at.EVENT:
        done = serve_event(ctx)
    elif kind == at.TIMER:
        done = serve_timer(ctx)
    if words[at.CALLED] != 0:
        close_call(ctx.desk)
    return done


# Calls: one at a time, so that the place to go on at is always known


@inner
def serve_signal(ctx):
    """Call the next strategy that the signal concerns; after the last give it back. 0: no room for what one may ask."""
    desk, words = ctx.desk, ctx.desk.words
    signal = peek(desk.signals, 0)
    place = place_of(words, signal.market.instrument)
    for k in range(words[at.NEXT], words[at.STRATEGIES]):
        if is_called(slot_at(desk.members, k), slot_at(desk.places, place), k):
            if room(desk.intents, INTENTS_MAX) < INTENTS_MAX:
                return np.int64(0)
            block = k * words[at.PLACES] + place
            open_call(desk, k, signal.market.instrument, k + 1)
            ctx.decides[k](
                params_of(ctx, k),
                state_of(ctx, block),
                signal.market,
                signal,
                orders_of(desk.working, block),
                slot_at(desk.working.positions, block),
                desk.batch,
            )
            return np.int64(1)
    release(desk.signals, 1)
    words[at.DONE_ORDINAL] = words[at.ORDINAL]
    words[at.INPUT] = at.NONE
    return np.int64(1)


@inner
def serve_event(ctx):
    """Tell the strategy whose order it is, then give the event back."""
    desk, words = ctx.desk, ctx.desk.words
    event = peek(desk.order_events, 0)
    k = np.int64(event.strategy)
    if words[at.NEXT] == 0 and slot_at(desk.members, k).enabled != 0:
        if room(desk.intents, INTENTS_MAX) < INTENTS_MAX:
            return np.int64(0)
        place = place_of(words, event.instrument)
        block = k * words[at.PLACES] + place
        open_call(desk, k, event.instrument, 1)
        ctx.on_executions[k](
            params_of(ctx, k),
            state_of(ctx, block),
            event,
            slot_at(desk.places, place).market,
            orders_of(desk.working, block),
            slot_at(desk.working.positions, block),
            desk.batch,
        )
        return np.int64(1)
    release(desk.order_events, 1)
    words[at.INPUT] = at.NONE
    return np.int64(1)


@inner
def serve_timer(ctx):
    """Call the timer's strategy for its next instrument; after the last set the timer anew."""
    desk, words = ctx.desk, ctx.desk.words
    k = words[at.FIRING]
    member = slot_at(desk.members, k)
    for place in range(words[at.NEXT], words[at.PLACES] - 1):
        if slot_at(desk.places, place).seen != 0 and is_called(member, slot_at(desk.places, place), k):
            if room(desk.intents, INTENTS_MAX) < INTENTS_MAX:
                return np.int64(0)
            block = k * words[at.PLACES] + place
            open_call(desk, k, place, place + 1)
            ctx.on_timers[k](
                params_of(ctx, k),
                state_of(ctx, block),
                member.timer_ns,
                slot_at(desk.places, place).market,
                orders_of(desk.working, block),
                slot_at(desk.working.positions, block),
                desk.batch,
            )
            return np.int64(1)
    if member.enabled != 0:
        member.timer_ns += member.period_ns
    words[at.INPUT] = at.NONE
    return np.int64(1)


@small
def params_of(ctx, strategy):
    return ctx.params[strategy * PARAMS_MAX : (strategy + 1) * PARAMS_MAX]


@small
def state_of(ctx, block):
    first, end = block * STATE_WORDS, (block + 1) * STATE_WORDS
    return State(ctx.whole[first:end], ctx.real[first:end])


@small
def open_call(desk, strategy, instrument, then):
    """Note who is called, and where to go on after it, even if it raises."""
    desk.words[at.INSTRUMENT] = instrument
    desk.words[at.NEXT] = then
    desk.words[at.CALLED] = strategy + 1
    desk.batch.count[0] = 0
    desk.counters[metrics.STRATEGY_CALLS] += 1


def _padded(calls: list[Callable[..., None]], nothing: Callable[..., None]) -> tuple[Callable[..., None], ...]:
    return (*calls, *[nothing] * (STRATEGIES_MAX - len(calls)))


def _check(strategies: Sequence[Assignment], instruments: int, intents: Link) -> None:
    if len(strategies) > STRATEGIES_MAX:
        raise ValueError(f"{len(strategies)} strategies are configured, {STRATEGIES_MAX} are possible")
    if len(intents.slots) < INTENTS_MAX:
        raise ValueError(f"a link of {len(intents.slots)} intents cannot hold the {INTENTS_MAX} of one call")
    for strategy, params, concerned in strategies:
        if len(params) != len(strategy.params):
            raise ValueError(f"{strategy.path}: it has {len(strategy.params)} params, {len(params)} values are given")
        if wrong := [place for place in concerned if not 0 <= place < instruments]:
            raise ValueError(f"{strategy.path}: instruments {wrong} are none of the {instruments} configured")
