"""READ FIRST: the stages, the links between them, and the loop that runs them.

    feed ──feed_decoder──▶ decoder ──decoder_features──▶ features ──features_inference──▶ inference ─┐
      │                       └─decoder_gateway─┐                                                    │
      │                                         ▼                                                    │
      │    gateway_journal ◀───────────────── gateway ◀─strategy_gateway── strategy ◀─inference_strategy
      │                      gateway_venue ─┘ ▲     └──gateway_strategy───────▲
      └──feed_venue──▶ venue ◀─┘   └─venue_gateway       the venue in memory is there in a replay only

Every stage is a `step(context)` in a file of its own under stages/ (the venue's under venue/). A core runs `duty_cycle`
over the stages of its mask; which stages share a core changes speed, never results. The market side, up to the signals,
can be had alone: for what reads and does not trade.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from .hot.arena import required
from .hot.duty_cycle import STAGE, rest, running
from .hot.jit import hot, inner
from .hot.jit import step as stage_step
from .hot.layout import aligned
from .hot.link import CURSOR_WORDS, MARK, Link, is_empty, lay_link
from .models.model import Model, no_model
from .records import (
    BOOK_EVENT,
    FEATURE_ROW,
    INTENT,
    MARKET_STATE,
    MISSING,
    NEVER_NS,
    ORDER_EVENT,
    PACKET,
    RECOVERED,
    SIGNAL,
    WIRE_MESSAGE,
)
from .stages import decoder, features, feed, gateway, inference, risk, strategy
from .stages.book import Take
from .transport import tcp
from .venue import memory as venue

# Bits of a core's mask.
FEED, DECODER, FEATURES, INFERENCE, STRATEGY, GATEWAY, VENUE = (1 << bit for bit in range(7))
BOOKS = FEED | DECODER  # for what needs order books only
MARKET_SIDE = BOOKS | FEATURES | INFERENCE
ORDER_SIDE = STRATEGY | GATEWAY | VENUE

STAGES = {
    FEED: "feed",
    DECODER: "decoder",
    FEATURES: "features",
    INFERENCE: "inference",
    STRATEGY: "strategy",
    GATEWAY: "gateway",
    VENUE: "venue",
}

# What each core runs. A plan changes speed, never results.
PLANS = {
    "fused": (MARKET_SIDE | ORDER_SIDE,),
    "split2": (MARKET_SIDE, ORDER_SIDE),
    "dedicated": tuple(STAGES),
}


def names(mask: int) -> tuple[str, ...]:
    """The stages of a mask, in the order of the pipeline."""
    return tuple(name for bit, name in STAGES.items() if mask & bit)


class LinkPlan(NamedTuple):
    """A link as it is built: its record, its capacity, how many records a step moves at most, and what its producer
    does when it is full."""

    name: str
    record: np.dtype
    capacity: int
    burst: int
    when_full: str


LINKS = {
    plan.name: plan
    for plan in (
        LinkPlan("feed_decoder", PACKET, 256, 64, "the feed comes back later; a file waits"),
        LinkPlan("feed_venue", PACKET, 256, 64, "as feed_decoder: a packet goes to both or to none"),
        LinkPlan("decoder_features", BOOK_EVENT, 1024, 256, "the decoder stops inside the packet until there is room"),
        LinkPlan(
            "decoder_gateway", MARKET_STATE, 4096, 256, "as decoder_features; it holds what all links before hold"
        ),
        LinkPlan("decoder_recovery", MISSING, 1024, 256, "the decoder tells later how things stand then"),
        LinkPlan("recovery_decoder", RECOVERED, 256, 64, "the recovery asks for no more"),
        LinkPlan("features_inference", FEATURE_ROW, 256, 64, "the features stage takes no event"),
        LinkPlan("inference_strategy", SIGNAL, 256, 64, "inference stops before the row until there is room"),
        LinkPlan("strategy_gateway", INTENT, 1024, 64, "the strategy stage takes no input whose intents may not fit"),
        LinkPlan("gateway_strategy", ORDER_EVENT, 1024, 64, "the gateway takes no input whose events may not fit"),
        LinkPlan("gateway_venue", WIRE_MESSAGE, 128, 64, "the gateway takes no input whose messages may not fit"),
        LinkPlan("venue_gateway", WIRE_MESSAGE, 128, 64, "the venue takes no input whose reports may not fit"),
        LinkPlan("gateway_journal", WIRE_MESSAGE, 512, 64, "the gateway takes no input whose messages may not fit"),
    )
}


class Pace(NamedTuple):
    """How much a step does at most: packets handed on, messages applied, events told; and how far the market may run
    ahead. Large is fast in all, small is quick from tick to order: what came first does not wait for what came with
    it. Results are the same."""

    packets: int = LINKS["feed_decoder"].burst
    messages: int = LINKS["decoder_features"].burst
    events: int = LINKS["decoder_features"].burst
    window: int = 0  # events told and not done with by the strategies; 0: any


THROUGHPUT = Pace()
LATENCY = Pace(packets=1, events=1, window=1)
LIVE = Pace(packets=1, events=1)  # what comes behind a packet waits in the kernel or the card


class MarketSide(NamedTuple):
    """From packets to signals: the contexts of its stages."""

    feed: feed.Context
    decoder: decoder.Context
    features: features.Context
    inference: inference.Context


class Live(NamedTuple):
    """A pipeline on the wire: may it send, and over which connection; None: what it writes nobody takes."""

    armed: bool = False
    connection: tcp.Context | None = None


def lay(take: Take, name: str) -> Link:
    """A link of the table over memory of `take`."""
    plan = LINKS[name]
    return lay_link(take(name, plan.capacity, plan.record), take(f"{name}.cursor", CURSOR_WORDS, np.dtype(np.int64)))


def build_market(
    take: Take,
    limits: decoder.Limits,
    frames_octets: int,
    found_max: int,
    instruments: tuple[str, ...] = (),
    queues: bool = True,
    model: Model | None = None,
    pace: Pace = THROUGHPUT,
    trading: bool = False,
    settle_ns: int = 0,
    recovery: decoder.Recovery = decoder.Recovery(),  # noqa: B008  # a tuple of constants
    wire: feed.Wire | None = None,
) -> MarketSide:
    """The stages up to the model with their memory and links; `take(name, count, dtype)` gives zeroed memory. Without a
    model inference passes the market on. `trading`: the order side is there and reads what goes to it; exchange time
    goes on for `settle_ns` after the last message of all. `recovery`: what is done where messages are missing. `wire`:
    packets come from there, and none are offered."""
    packets, events, rows = (lay(take, name) for name in ("feed_decoder", "decoder_features", "features_inference"))
    intents = lay(take, "strategy_gateway")
    to_venue = trading and wire is None
    source = feed.build(take, packets, lay(take, "feed_venue"), to_venue, frames_octets, found_max, pace.packets, wire)
    return MarketSide(
        feed=source,
        decoder=decoder.build(
            take,
            packets,
            events,
            lay(take, "decoder_gateway"),
            intents,
            lay(take, "decoder_recovery"),
            lay(take, "recovery_decoder"),
            source.frames,
            limits,
            instruments,
            queues,
            (pace.messages, pace.events),
            trading,
            settle_ns,
            pace.window,
            recovery,
        ),
        features=features.build(take, events, rows, len(instruments), LINKS["features_inference"].burst),
        inference=inference.build(
            take, rows, lay(take, "inference_strategy"), model or no_model(), LINKS["inference_strategy"].burst
        ),
    )


class OrderSide(NamedTuple):
    """From signals to orders and back: the contexts of its stages."""

    strategy: strategy.Context
    gateway: gateway.Context
    venue: venue.Context


class Pipeline(NamedTuple):
    market: MarketSide
    orders: OrderSide


class Trading(NamedTuple):
    """What trades, with whom, under which limits. Instruments are in the order of the market side's."""

    strategies: Sequence[strategy.Assignment]
    instruments: Sequence[gateway.Instrument]
    session: gateway.Session
    limits: risk.RiskLimits
    fees: gateway.Fees
    tables: gateway.Tables
    venue_session: venue.Session
    venue_limits: venue.Limits
    order_latency_ns: int
    report_latency_ns: int
    midnight_ns: int  # of the session's date, since 1970


def build_orders(take: Take, market: MarketSide, trading: Trading, live: Live | None = None) -> OrderSide:
    """The order side. In a replay inputs are held until their turn, the venue is in memory, and what the gateway
    refuses a strategy learns no earlier than if the venue had. Live, inputs are taken as they come, and no core runs
    the venue."""
    intents, events = market.decoder.intents, lay(take, "gateway_strategy")
    wire, reports, journal = (lay(take, name) for name in ("gateway_venue", "venue_gateway", "gateway_journal"))
    count = len(trading.instruments)
    return OrderSide(
        strategy=strategy.build(
            take,
            market.inference.signals,
            events,
            intents,
            trading.strategies,
            count,
            hold=live is None,
            burst=LINKS["inference_strategy"].burst,
        ),
        gateway=gateway.build(
            take,
            intents,
            market.decoder.states,
            reports,
            events,
            wire,
            journal,
            trading.session,
            trading.instruments,
            trading.limits,
            trading.fees,
            trading.midnight_ns,
            hold=live is None,
            refusal_ns=trading.order_latency_ns + trading.report_latency_ns,
            strategies=len(trading.strategies),
            tables=trading.tables,
            armed=live is None or live.armed,
            burst=LINKS["strategy_gateway"].burst,
            connection=None if live is None else live.connection,
        ),
        venue=venue.build(
            take,
            market.feed.venue_packets,
            market.feed.frames,
            wire,
            reports,
            [venue.Listing(*instrument) for instrument in trading.instruments],
            trading.venue_session,
            trading.order_latency_ns,
            trading.report_latency_ns,
            trading.venue_limits if live is None else venue.Limits(*[1] * len(venue.Limits._fields)),
            trading.midnight_ns,
            burst=LINKS["feed_venue"].burst,
        ),
    )


def finished(made: Pipeline) -> bool:
    """After the feed was closed: has everything come to its end, so that no stage will do anything more?"""
    events = made.orders.gateway.order_events
    return int(events.cursor[MARK]) >= NEVER_NS and is_empty(events) and is_empty(made.orders.gateway.journal)


def is_idle(made: Pipeline) -> bool:
    """Has every stage taken all that it was told? For a third party, which sees a moment that may be over."""
    market, orders = made.market, made.orders
    told = (market.feed.packets, market.decoder.events, market.features.rows, market.inference.signals)
    return all(map(is_empty, (*told, market.decoder.states, orders.gateway.intents, orders.gateway.order_events)))


def octets_required(build: Callable[[Take], object]) -> int:
    """The memory that `build(take)` takes, in octets of an arena."""
    items: list[tuple[int, np.dtype]] = []

    def note(name: str, count: int, dtype: np.dtype) -> np.ndarray:
        items.append((count, dtype))
        return aligned(count, dtype, touch=False)

    build(note)
    return required(items)


@stage_step
def lap_market(market, mask):
    """One step of each stage of the market side that is in the mask; returns the work done."""
    work = np.int64(0)
    if mask & FEED:
        work += feed.step(market.feed)
    if mask & DECODER:
        work += decoder.step(market.decoder)
    if mask & FEATURES:
        work += features.step(market.features)
    if mask & INFERENCE:
        work += inference.step(market.inference)
    return work


@hot
def drain(market, mask):
    """Laps of the market side until one finds nothing to do; returns the work done. For files, between two reads."""
    total = np.int64(0)
    while True:
        work = lap_market(market, mask)
        if work == 0:
            return total
        total += work


@inner
def lap(pipeline, mask, control):
    """One step of each stage in the mask; returns the work done. The control block says which was begun last."""
    market, orders = pipeline.market, pipeline.orders
    work = np.int64(0)
    if mask & FEED:
        control[STAGE] = FEED
        work += feed.step(market.feed)
    if mask & DECODER:
        control[STAGE] = DECODER
        work += decoder.step(market.decoder)
    if mask & FEATURES:
        control[STAGE] = FEATURES
        work += features.step(market.features)
    if mask & INFERENCE:
        control[STAGE] = INFERENCE
        work += inference.step(market.inference)
    if mask & STRATEGY:
        control[STAGE] = STRATEGY
        work += strategy.step(orders.strategy)
    if mask & GATEWAY:
        control[STAGE] = GATEWAY
        work += gateway.step(orders.gateway)
    if mask & VENUE:
        control[STAGE] = VENUE
        work += venue.step(orders.venue)
    return work


@hot
def duty_cycle(pipeline, mask, control):
    """What a core does until it is stopped."""
    while running(control):
        rest(control, lap(pipeline, mask, control))
