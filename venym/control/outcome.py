"""What a run came to, read off its stages once no core runs them."""

from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NamedTuple

import numpy as np

from .. import metrics, pipeline
from ..metrics import Counter
from ..stages import desk, gateway_view, gateway_words, view
from ..stages.decoder import CLOCK_NS
from ..venue import memory as venue
from .latency import in_ns, summarise
from .run_directory import FINISHED, KILLED, RunDirectory
from .settings import Settings
from .summary import Position, Result

E4_E6 = 100  # 1e-4 dollars in 1e-6


class Seen(NamedTuple):
    """What only the run itself knows: its seconds, the time of the first message, files that were damaged, the length
    of a cycle, strategies that raised, sentences for the summary."""

    seconds: float
    first_ns: int | None
    damaged: int
    ns_per_cycle: float
    raised: list[str]
    notes: list[str]


def result_of(
    made: pipeline.Pipeline,
    settings: Settings,
    seen: Seen,
    latencies: Mapping[str, np.ndarray],
    plan: str,
    day: date,
    inputs: Iterable[object],
    directory: RunDirectory,
    what: str = "replay",
) -> Result:
    """The result of a run that came to its end; `latencies` are its `histograms`."""
    source, orders = made.market.decoder, made.orders
    counted = gateway_view.counters(orders.gateway)
    reason = killed_reason(orders.gateway, settings, seen.raised)
    positions = positions_of(made, settings)
    return Result(
        what=what,
        state=KILLED if reason else FINISHED,
        reason=reason,
        inputs=tuple(str(held) for held in inputs),
        date=day.isoformat(),
        plan=plan,
        run_directory=str(directory.path),
        first_ns=seen.first_ns,
        last_ns=None if seen.first_ns is None else int(source.cursor[CLOCK_NS]),
        seconds=seen.seconds,
        packets=int(source.counters[metrics.PACKETS]),
        messages=int(source.counters[metrics.MESSAGES]),
        messages_by_type={chr(kind): int(source.types[kind]) for kind in np.flatnonzero(source.types)},
        new_orders=counted["new_orders"],
        replaces=counted["replaces"],
        cancels=counted["cancels"],
        orders_sha256=directory.orders_sha256,
        executions=counted["fills"],
        executed_shares=sum(held.bought_shares + held.sold_shares for held in positions),
        refusals=gateway_view.refusals(orders.gateway),
        positions=positions,
        latencies={name: summarise(held) for name, held in latencies.items()},
        counters={
            "decoder": metrics.named(metrics.DECODER, source.counters),
            "inference": metrics.named(metrics.INFERENCE, made.market.inference.counters),
            "strategy": metrics.named(metrics.STRATEGY, orders.strategy.desk.counters),
            "gateway": counted,
            "venue": venue.counters(orders.venue),
        },
        notes=(*seen.notes, *unseen_instruments(made, settings)),
    )


def histograms(gateway: Any, ns_per_cycle: float) -> dict[str, np.ndarray]:
    """Latencies in nanoseconds by name, in the order of the pipeline."""
    return {name: in_ns(held, ns_per_cycle) for name, held in gateway_view.latencies(gateway).items()}


def killed_reason(gateway: Any, settings: Settings, raised: list[str]) -> str:
    """Why trading was stopped, in words; "" while it was not."""
    killed = gateway_view.killed(gateway)
    if killed is None:
        return ""
    if killed.source >= 0:
        if raised:
            return raised[0]
        return f"strategy {settings.strategies[killed.source].name}: {_meaning(desk.REASONS, killed.reason)}"
    return _meaning(gateway_words.KILL_REASONS, killed.reason)


def _meaning(reasons: Iterable[Counter], word: int) -> str:
    return next((reason.meaning for reason in reasons if reason.word == word), f"reason {word}")


def positions_of(made: pipeline.Pipeline, settings: Settings) -> tuple[Position, ...]:
    """Each strategy's position in each of its instruments, marked at the end."""
    symbols = [held.symbol for held in settings.instruments]
    found = []
    for k, strategy in enumerate(settings.strategies):
        for symbol in strategy.instruments:
            held = gateway_view.holding(made.orders.gateway, symbols.index(symbol), k)
            found.append(
                Position(
                    strategy=strategy.name,
                    instrument=symbol,
                    shares=held.shares,
                    bought_shares=held.bought_shares,
                    sold_shares=held.sold_shares,
                    cash_e6=held.cash_e6,
                    fees_e6=held.fees_e6,
                    mark_e6=mark_e6(made, symbols.index(symbol)),
                )
            )
    return tuple(found)


def mark_e6(made: pipeline.Pipeline, instrument: int) -> int | None:
    """The middle of the best prices at the end, or the last trade's price; None if there is neither."""
    state = made.orders.gateway.states[instrument]
    bid_e4, ask_e4, last_e4 = int(state.bid_price_e4), int(state.ask_price_e4), int(state.last_price_e4)
    if bid_e4 and ask_e4:
        return (bid_e4 + ask_e4) * E4_E6 // 2
    return last_e4 * E4_E6 or None


def unseen_instruments(made: pipeline.Pipeline, settings: Settings) -> list[str]:
    """Instruments of which the files told nothing: a name mistyped, or another day's."""
    market = made.market.decoder.market
    names = {view.symbol(market, book) for book in view.book_indices(market)}
    return [f"{held.symbol} does not occur in the files" for held in settings.instruments if held.symbol not in names]
