"""READ FIRST: the stages, the links between them, and the loop that runs them.

    feed ──feed_decoder──▶ decoder ──decoder_features──▶ features ──features_inference──▶ inference ─┐
                                                                            (strategy) ◀─inference_strategy─┘

Every stage is a `step(context)` in a file of its own under stages/. A core runs `duty_cycle` over the stages of its
mask; which stages share a core changes speed, never results. A mask without the later stages leaves their link to the
caller.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .hot.arena import required
from .hot.jit import hot
from .hot.jit import step as stage_step
from .hot.layout import aligned
from .hot.link import CURSOR_WORDS, Link, lay_link
from .models.model import Model, no_model
from .records import BOOK_EVENT, FEATURE_ROW, INTENT, MARKET_STATE, ORDER_EVENT, PACKET, SIGNAL, WIRE_MESSAGE
from .stages import decoder, features, feed, inference
from .stages.book import Take

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
    """How much a step does at most: packets handed on, messages applied, events told. Large is fast in all, small is
    quick from tick to order: what came first does not wait for what came with it."""

    packets: int = LINKS["feed_decoder"].burst
    messages: int = LINKS["decoder_features"].burst
    events: int = LINKS["decoder_features"].burst


THROUGHPUT = Pace()
LATENCY = Pace(packets=1, events=1)


class MarketSide(NamedTuple):
    """From packets to signals: the contexts of its stages."""

    feed: feed.Context
    decoder: decoder.Context
    features: features.Context
    inference: inference.Context


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
) -> MarketSide:
    """The stages up to the model with their memory and links; `take(name, count, dtype)` gives zeroed memory. Without a
    model inference passes the market on. `trading`: the order side is there and reads what goes to it; exchange time
    goes on for `settle_ns` after the last message of all."""
    packets, events, rows = (lay(take, name) for name in ("feed_decoder", "decoder_features", "features_inference"))
    source = feed.build(take, packets, lay(take, "feed_venue"), trading, frames_octets, found_max, pace.packets)
    return MarketSide(
        feed=source,
        decoder=decoder.build(
            take,
            packets,
            events,
            lay(take, "decoder_gateway"),
            source.frames,
            limits,
            instruments,
            queues,
            (pace.messages, pace.events),
            trading,
            settle_ns,
        ),
        features=features.build(take, events, rows, len(instruments), LINKS["features_inference"].burst),
        inference=inference.build(
            take, rows, lay(take, "inference_strategy"), model or no_model(), LINKS["inference_strategy"].burst
        ),
    )


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
