"""``venym replay``: captures through all stages, into a venue in memory, as fast or as slowly as told.

    files ─▶ feed ─▶ … ─▶ gateway ◀─▶ venue          this thread: fills the feed, empties the journal, watches
                             └─ journal ─▶ run directory

The orders are the same octets under every plan and speed, and in every run: nothing that reaches an order depends on
when a thread came to it. What happened lies in the run directory, however it ended.
"""

import argparse
import os
import shutil
import time
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from .. import metrics, pipeline
from ..hot.arena import Arena
from ..hot.cycle_clock import CycleClock
from ..hot.layout import aligned
from ..records import PACKET
from ..stages import feed
from ..stages.book import Take
from ..transport.capture import Capture, CaptureError
from .batches import Batches
from .decode import OCTETS_A_PACKET, passed_over
from .engine import choose_plan
from .errors import BAD_DATA, GOOD, ConfigurationError
from .ladder import limits_of, oddities
from .outcome import Seen, histograms, result_of
from .pacing import Pacer, first_time_ns, parse_speed
from .progress import Progress
from .run_directory import RunDirectory, make_run_directory
from .running import Running, begin, conclude, tell
from .settings import FRAMES_OCTETS_MIN, Settings
from .trading import MS_NS, model_of, trading_of

POLL_SECONDS = 0.0002


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Replay ``args.files``; print the summary, or result.json with ``args.json``.

    1 if a file is cut or corrupt, or no message was found; 3 if trading was killed. Raises ConfigurationError,
    StrategyError and ModelError before anything runs, StageFailed when a stage did.
    """
    if not settings.strategies:
        raise ConfigurationError(
            "strategies: there is none; name one in a file for --config, as config/replay.toml does"
        )
    plan = choose_plan(args.plan or settings.replay.plan, len(os.sched_getaffinity(0)))
    try:
        speed = parse_speed(args.speed or settings.replay.speed)
    except ValueError as error:
        raise ConfigurationError(f"--speed: {error}") from error
    told = session_date(args.files)
    day = args.date or told
    if day is None:
        raise ConfigurationError("the files do not say of which day they are: give --date YYYY-MM-DD")
    trading, model = trading_of(settings, day), model_of(settings)
    with make_run_directory(args.run_dir, settings.replay.runs_dir, "replay") as directory:
        begin(directory, args.table, settings)
        replay = Replay(settings, trading, model, plan, directory)
        seen = replay.run(args.files, speed)
        latencies = histograms(replay.made.orders.gateway, seen.ns_per_cycle)
        result = result_of(replay.made, settings, seen, latencies, plan, day, args.files, directory)
        document = conclude(directory, result, latencies)
    if args.orders is not None:
        shutil.copyfile(directory.path / "orders.fix", args.orders)
    return tell(result, document, args.json) or (BAD_DATA if seen.damaged or result.messages == 0 else GOOD)


def session_date(files: list[Path]) -> date | None:
    """The date of the files' session, by their names or time stamps; None if they do not say. Reads the beginning, so
    that what reading needs is compiled before any stage runs."""
    frames, packets = aligned(FRAMES_OCTETS_MIN, np.uint8), aligned(4_096, PACKET)  # typed as the feed's are
    with closing(Capture(files, frames, packets)) as capture:
        while True:
            try:
                if capture.fill() == 0 or capture.session_date is not None:
                    return capture.session_date
            except CaptureError:
                continue  # told when it is replayed


class Replay(Running):
    """A pipeline in memory of its own, and the engine that runs it once."""

    def __init__(
        self,
        settings: Settings,
        trading: pipeline.Trading,
        model: Any,
        plan: str,
        directory: RunDirectory,
    ) -> None:
        octets, limits = settings.runtime.frames_octets, limits_of(settings.book)
        symbols = tuple(held.symbol for held in settings.instruments)

        def build(take: Take) -> pipeline.Pipeline:
            market = pipeline.build_market(
                take,
                limits,
                octets,
                max(1, octets // OCTETS_A_PACKET),
                symbols,
                settings.book.queues,
                model,
                pipeline.LATENCY if plan == "fused" else pipeline.THROUGHPUT,
                trading=True,
                settle_ns=settings.replay.settle_ms * MS_NS,
            )
            return pipeline.Pipeline(market, pipeline.build_orders(take, market, trading))

        arena = Arena(pipeline.octets_required(build), settings.memory.huge_pages, settings.memory.lock, touch=False)
        masks = pipeline.PLANS[plan]
        crowded = len(masks) >= len(os.sched_getaffinity(0))  # this thread wants one, too
        super().__init__(build(arena.take), settings, directory, masks, "yield" if crowded else "pause")

    def run(self, files: list[Path], speed: float | None) -> Seen:
        """Run it all. Raises StageFailed."""
        made, first_ns = self.made, None
        source = made.market.feed
        pacer = Pacer(made.market.decoder, speed)
        clock = CycleClock()
        self._engine.warm()
        capture = Capture(files, source.frames, source.found)
        batches = Batches(capture)
        began = time.monotonic()
        self._engine.start()
        try:
            with closing(capture), Progress(capture.octets_total or 0, ", ".join(f.name for f in files)) as progress:
                for count in batches:
                    if first_ns is None:
                        first_ns = first_time_ns(source.frames, source.found[:count])
                        pacer.begin(first_ns)
                    feed.offer(source, count)
                    while not feed.done(source):
                        self._wait(pacer)
                        progress.update(capture.octets_done, int(made.market.decoder.counters[metrics.MESSAGES]))
                feed.close(source)
                while not pipeline.finished(made):
                    self._wait(pacer)
        finally:
            self._engine.halt()
            self.empty_journal()
        self._engine.check()
        seconds = time.monotonic() - began
        notes = [*self.raised, *passed_over(capture.counters), *oddities(made.market.decoder), *self.late()]
        return Seen(seconds, first_ns, batches.damaged, clock.ns_per_cycle(), self.raised, notes)

    def _wait(self, pacer: Pacer) -> None:
        """What there is to do while the cores run."""
        self._engine.check()
        pacer.update()
        if not self.empty_journal():
            time.sleep(POLL_SECONDS)
