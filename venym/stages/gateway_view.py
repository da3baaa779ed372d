"""Reading the gateway from plain Python: for the control plane, tools and tests, when no core is running it.

Every function takes the gateway's `Context` (stages/gateway.py) and copies out. `arm`, `disarm` and `stop` are the only
ones that ask for something; they may be called while it runs.
"""

from typing import Any, NamedTuple

import numpy as np

from .. import metrics
from . import gateway_words as w
from . import orders as o
from .intents import LATENCY_NAMES
from .risk import REASONS

STATUS = {o.SENT: "sent", o.OPEN: "open", o.FINAL: "final"}


class Order(NamedTuple):
    """An order. `numbers`: of the ClOrdID under which the venue has it, and of its cancel and replace that are not
    answered, 0 for none."""

    row: int
    strategy: int
    instrument: int
    symbol: str
    token: int
    side: int
    short: bool
    shares: int
    price_e4: int
    filled_shares: int
    open_shares: int
    pending_shares: int
    status: str
    numbers: tuple[int, int, int]


class Request(NamedTuple):
    """A message that was sent, or is about to be."""

    number: int
    order: int
    action: int
    own: bool
    shares: int
    clock_ns: int


class Holding(NamedTuple):
    """A position and what is on its way; see positions.HOLDING."""

    shares: int
    open_buy_shares: int
    open_sell_shares: int
    open_sell_long_shares: int
    bought_shares: int
    sold_shares: int
    cash_e6: int
    fees_e6: int
    last_price_e4: int


class Killed(NamedTuple):
    """Why trading was stopped: `name` of a gateway's own reason, or ``reason N``; `source`: index of the strategy, or
    gateway_words.BY_GATEWAY or BY_OPERATOR."""

    name: str
    reason: int
    source: int
    clock_ns: int


def order(ctx: Any, row: int) -> Order:
    """The order of that row."""
    held = ctx.orders.rows[row]
    octets = int(ctx.instruments[int(held.instrument)].symbol).to_bytes(8, "big", signed=True)
    return Order(
        row=row,
        strategy=int(held.strategy),
        instrument=int(held.instrument),
        symbol=octets.decode().rstrip(),
        token=int(held.token),
        side=int(held.side),
        short=bool(held.short),
        shares=int(held.shares),
        price_e4=int(held.price_e4),
        filled_shares=int(held.filled_shares),
        open_shares=int(held.open_shares),
        pending_shares=int(held.pending_shares),
        status=STATUS[int(held.status)],
        numbers=(int(held.number), int(held.cancel), int(held.replace)),
    )


def orders(ctx: Any) -> list[Order]:
    """Every order of the day, oldest first."""
    return [order(ctx, row) for row in range(int(ctx.orders.words[o.ORDERS_USED]))]


def open_orders(ctx: Any, strategy: int | None = None, instrument: int | None = None) -> list[Order]:
    """The orders that are not final, of a strategy and in an instrument if told so; by group, oldest first."""
    found = []
    for head in ctx.orders.heads:
        at = int(head)
        while at:
            held = order(ctx, at - 1)
            if strategy in (None, held.strategy) and instrument in (None, held.instrument):
                found.append(held)
            at = int(ctx.orders.rows[at - 1].next)
    return found


def request(ctx: Any, number: int) -> Request | None:
    """The request of a ClOrdID number, None if none has it."""
    row = number - int(ctx.orders.words[o.FIRST_NUMBER])
    if not 0 <= row < int(ctx.orders.words[o.REQUESTS_USED]):
        return None
    held = ctx.orders.requests[row]
    return Request(number, int(held.order), int(held.action), bool(held.own), int(held.shares), int(held.clock_ns))


def next_number(ctx: Any) -> int:
    """The first ClOrdID number not used: where a later process of the same day may begin."""
    return int(ctx.orders.words[o.FIRST_NUMBER]) + int(ctx.orders.words[o.REQUESTS_USED])


def holding(ctx: Any, instrument: int, strategy: int | None = None) -> Holding:
    """The position in an instrument, of one strategy or of all."""
    if strategy is None:
        held = ctx.positions.totals[instrument]
    else:
        held = ctx.positions.holdings[strategy * int(ctx.orders.words[o.INSTRUMENTS]) + instrument]
    return Holding(*(int(held[name]) for name in Holding._fields))


def refusals(ctx: Any) -> dict[str, int]:
    """How many intents were refused, by the reason's name; only those that came up."""
    return {reason.name: int(ctx.refusals[reason.word]) for reason in REASONS if ctx.refusals[reason.word]}


def counters(ctx: Any) -> dict[str, int]:
    """Every counter by name."""
    return metrics.named(metrics.GATEWAY, ctx.counters)


def latencies(ctx: Any) -> dict[str, np.ndarray]:
    """Histograms (hot.histogram) by name, in cycles of the time stamp counter; copies."""
    return {name: ctx.latencies[row].copy() for row, name in enumerate(LATENCY_NAMES)}


def sequences(ctx: Any) -> tuple[int, int]:
    """MsgSeqNum of the next message out, and of the next one expected."""
    return int(ctx.words[w.OUT_SEQUENCE]), int(ctx.words[w.IN_SEQUENCE])


def armed(ctx: Any) -> bool:
    """May orders be sent?"""
    return bool(ctx.words[w.ARMED])


def killed(ctx: Any) -> Killed | None:
    """Why trading was stopped; None while it was not."""
    words = ctx.words
    if not words[w.KILLED]:
        return None
    reason, source = int(words[w.KILL_REASON]), int(words[w.KILL_SOURCE])
    own = {known.word: known.name for known in w.KILL_REASONS}
    name = f"reason {reason}" if source >= 0 else own[reason]
    return Killed(name, reason, source, int(words[w.KILL_CLOCK_NS]))


def arm(ctx: Any) -> None:
    """Let orders be sent from the next step on."""
    ctx.commands[w.ARM] = 1


def disarm(ctx: Any) -> None:
    """Observe from the next step on: new orders and replaces are refused, cancels pass."""
    ctx.commands[w.ARM] = 0


def stop(ctx: Any) -> None:
    """Kill: the next step cancels everything, and nothing else is ever sent."""
    ctx.commands[w.STOP] = 1
