"""READ FIRST: the stages, the links between them, and the loop that runs them.

    feed ──feed_decoder──▶ decoder ──decoder_features──▶ features ──features_inference──▶ inference ─┐
                                                                            (strategy) ◀─inference_strategy─┘

Every stage is a `step(context)` in a file of its own under stages/. A core runs `duty_cycle` over the stages of its
mask; which stages share a core changes speed, never results. A mask without the later stages leaves their link to the
caller.
"""

from typing import NamedTuple

import numpy as np

from .hot.arena import required
from .hot.duty_cycle import rest, running
from .hot.jit import hot
from .hot.jit import step as stage_step
from .hot.layout import aligned
from .hot.link import CURSOR_WORDS, lay_link
from .models.model import Model, no_model
from .records import BOOK_EVENT, FEATURE_ROW, PACKET, SIGNAL
from .stages import decoder, features, feed, inference
from .stages.book import Take

FEED, DECODER, FEATURES, INFERENCE = 1, 2, 4, 8  # bits of a core's mask
BOOKS = FEED | DECODER  # for what needs order books only
ALL = BOOKS | FEATURES | INFERENCE


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
        LinkPlan("decoder_features", BOOK_EVENT, 1024, 256, "the decoder stops inside the packet until there is room"),
        LinkPlan("features_inference", FEATURE_ROW, 256, 64, "the features stage takes no event"),
        LinkPlan("inference_strategy", SIGNAL, 256, 64, "inference stops before the row until there is room"),
    )
}


class Pipeline(NamedTuple):
    """Every stage's context."""

    feed: feed.Context
    decoder: decoder.Context
    features: features.Context
    inference: inference.Context


def build(
    take: Take,
    limits: decoder.Limits,
    frames_octets: int,
    found_max: int,
    instruments: tuple[str, ...] = (),
    queues: bool = True,
    model: Model | None = None,
) -> Pipeline:
    """Every stage with its memory and links; `take(name, count, dtype)` gives zeroed memory. Without a model inference
    passes the market on."""
    links = {
        name: lay_link(take(name, plan.capacity, plan.record), take(f"{name}.cursor", CURSOR_WORDS, np.dtype(np.int64)))
        for name, plan in LINKS.items()
    }
    source = feed.build(take, links["feed_decoder"], frames_octets, found_max, LINKS["feed_decoder"].burst)
    return Pipeline(
        feed=source,
        decoder=decoder.build(
            take,
            links["feed_decoder"],
            links["decoder_features"],
            source.frames,
            limits,
            instruments,
            queues,
            LINKS["decoder_features"].burst,
        ),
        features=features.build(
            take,
            links["decoder_features"],
            links["features_inference"],
            len(instruments),
            LINKS["features_inference"].burst,
        ),
        inference=inference.build(
            take,
            links["features_inference"],
            links["inference_strategy"],
            model or no_model(),
            LINKS["inference_strategy"].burst,
        ),
    )


def octets_required(
    limits: decoder.Limits,
    frames_octets: int,
    found_max: int,
    instruments: tuple[str, ...] = (),
    queues: bool = True,
    model: Model | None = None,
) -> int:
    """The memory that `build` takes with the same arguments, in octets of an arena."""
    items: list[tuple[int, np.dtype]] = []

    def note(name: str, count: int, dtype: np.dtype) -> np.ndarray:
        items.append((count, dtype))
        return aligned(count, dtype, touch=False)

    build(note, limits, frames_octets, found_max, instruments, queues, model)
    return required(items)


@stage_step
def lap(pipeline, mask):
    """One step of each stage in the mask; returns the work done."""
    work = np.int64(0)
    if mask & FEED:
        work += feed.step(pipeline.feed)
    if mask & DECODER:
        work += decoder.step(pipeline.decoder)
    if mask & FEATURES:
        work += features.step(pipeline.features)
    if mask & INFERENCE:
        work += inference.step(pipeline.inference)
    return work


@hot
def duty_cycle(pipeline, mask, control):
    """What a core does until it is stopped."""
    while running(control):
        rest(control, lap(pipeline, mask))


@hot
def drain(pipeline, mask):
    """Laps until one finds nothing to do; returns the work done. For files, between two reads."""
    total = np.int64(0)
    while True:
        work = lap(pipeline, mask)
        if work == 0:
            return total
        total += work
