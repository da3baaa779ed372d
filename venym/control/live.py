"""``venym run``: the pipeline on the live feed. It observes: all stages run, and nothing is sent.

    lines ─▶ feed ─▶ decoder ─▶ … ─▶ gateway      cores, in compiled code
                       │  ▲            └─ journal ─▶ run directory
              missing  ▼  │ recovered
                     recovery ◀─▶ servers          a thread          this thread: watches, tells, ends it

It ends with Ctrl-C, after --seconds, or when every channel's session has ended. What came is told now and then, and at
once where a line falls silent or messages are missing; the run directory has it all.
"""

import argparse
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date, datetime
from zoneinfo import ZoneInfo

import numpy as np

from .. import metrics, pipeline
from ..hot.arena import Arena
from ..hot.cycle_clock import CycleClock
from ..stages import decoder, feed
from ..stages.book import Take
from ..stages.decoder import CLOCK_NS
from ..stages.market import ENDED
from .engine import StageFailed, choose_plan
from .errors import BAD_DATA, GOOD, ConfigurationError
from .interrupt import interruptible
from .ladder import limits_of, oddities
from .lines import lines_of
from .log import say
from .outcome import Seen, histograms, result_of
from .receiving import Receiving
from .recovering import recovery_of, rules_of
from .recovery_schedule import Recovery as Outage
from .run_directory import RunDirectory, make_run_directory
from .running import Running, begin, conclude, tell
from .settings import Settings
from .trading import model_of, trading_of
from .watch import Watch

POLL_SECONDS = 0.001
EXCHANGE = ZoneInfo("America/New_York")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Observe the feed; print the summary, or result.json with ``args.json``. ``args.seconds`` (float or None) and
    ``args.date`` (date or None, of the session: today's in New York) as given.

    1 if messages were lost for good; 3 if trading was killed. Raises ConfigurationError, LineError, UdpError, XdpError,
    StrategyError and ModelError before anything runs, StageFailed when a stage or the recovery did.
    """
    if not settings.instruments:
        raise ConfigurationError("instruments: there is none; name one, or a strategy's, as config/live.toml does")
    day = args.date or datetime.now(EXCHANGE).date()
    plan = choose_plan(settings.run.plan, len(os.sched_getaffinity(0)))
    with ExitStack() as opened:
        lines = lines_of(settings)
        directory = opened.enter_context(make_run_directory(args.run_dir, settings.replay.runs_dir, "run"))
        begin(directory, args.table, settings)
        receiving = opened.enter_context(Receiving(settings, lines))
        for note in receiving.notes:
            say(f"warning: {note}")
        live = LiveRun(settings, receiving, day, plan, directory)
        live.warm()
        say(f"observing by {receiving.source}; nothing is sent")
        seen = live.run(args.seconds)
        latencies = histograms(live.made.orders.gateway, seen.ns_per_cycle)
        inputs = [str(line) for line in lines if line is not None]
        result = result_of(live.made, settings, seen, latencies, plan, day, inputs, directory, "run")
        document = conclude(directory, result, latencies, lines=receiving.counts(), recoveries=live.recoveries())
    missed = int(live.made.market.decoder.counters[metrics.MISSED_MESSAGES])
    return tell(result, document, args.json) or (BAD_DATA if missed else GOOD)


class LiveRun(Running):
    """A pipeline on open lines, the engine that runs it, and the recovery beside it."""

    def __init__(
        self,
        settings: Settings,
        receiving: Receiving,
        day: date,
        plan: str,
        directory: RunDirectory,
        live: pipeline.Live = pipeline.Live(),  # noqa: B008  # a tuple of constants
    ) -> None:
        """Raises what building the pipeline, or an address of its servers, may."""
        trading, model = trading_of(settings, day), model_of(settings)
        symbols = tuple(held.symbol for held in settings.instruments)

        def build(take: Take) -> pipeline.Pipeline:
            market = pipeline.build_market(
                take,
                limits_of(settings.book)._replace(channels_max=len(settings.channels)),
                1,
                1,
                symbols,
                settings.book.queues,
                model,
                pipeline.LIVE,
                trading=True,
                wire=receiving.wire,
                recovery=rules_of(settings),
            )
            return pipeline.Pipeline(market, pipeline.build_orders(take, market, trading, live))

        arena = Arena(pipeline.octets_required(build), settings.memory.huge_pages, settings.memory.lock)
        masks = live_masks(plan)
        super().__init__(build(arena.take), settings, directory, masks, "pause", cpus_of(settings, len(masks)))
        self._settings, self._receiving = settings, receiving
        self._failures: list[Exception] = []
        self._first_ns: int | None = None  # exchange time when the first message had come
        source = self.made.market.decoder
        self._recovery = recovery_of(settings, source.missing, source.recovered, self._failures.append, say)

    def warm(self) -> None:
        """Compile, or load, all that runs."""
        self._engine.warm()
        self._recovery.warm()

    def run(self, seconds: float | None) -> Seen:
        """Once warm, until it is to end. Raises StageFailed."""
        source = self.made.market
        clock = CycleClock()
        watch = Watch(self._settings, source.decoder, self._receiving, say)
        began = time.monotonic()
        with interruptible() as asked:
            self._recovery.start()
            self._engine.start()
            try:
                while not asked.is_set() and (seconds is None or time.monotonic() - began < seconds):
                    self._check()
                    clock_ns = int(source.decoder.cursor[CLOCK_NS])
                    if self._first_ns is None and clock_ns:
                        self._first_ns = clock_ns
                    watch.look(clock_ns)
                    if all_ended(source.decoder) and pipeline.is_idle(self.made):
                        say("every session has ended")
                        break
                    if not self.empty_journal():
                        asked.wait(POLL_SECONDS)
            finally:
                feed.close(source.feed)
                self._engine.halt()
                self._recovery.stop()
                self.empty_journal()
        self._check()
        spent = time.monotonic() - began
        notes = [*self.raised, *oddities(source.decoder), *(f"line {name} was silent" for name in watch.silent())]
        notes += [*outages(self._recovery.recoveries()), *self.late()]
        if lost := self._receiving.lost():
            notes.append(f"{lost:,} datagrams were lost on this machine")
        return Seen(spent, self._first_ns, 0, clock.ns_per_cycle(), self.raised, notes)

    def recoveries(self) -> list[dict[str, object]]:
        """How each outage ended, as result.json has it."""
        return [record._asdict() for record in self._recovery.recoveries()]

    def _check(self) -> None:
        """Raises StageFailed if a stage failed, or the recovery."""
        self._engine.check()
        if self._failures:
            raise StageFailed(f"the recovery failed: {self._failures[0]}") from self._failures[0]


def outages(records: Sequence[Outage]) -> list[str]:
    """What was missing for a while, in a sentence for each way that it came back, or did not."""
    told = []
    for by in sorted({record.by for record in records}):
        taken = [record for record in records if record.by == by]
        messages, longest = sum(record.messages for record in taken), max(record.seconds for record in taken)
        told.append(
            f"outages ended by {by}: {len(taken):,}, {messages:,} messages, the longest {longest * 1e3:,.1f} ms"
        )
    return told


def live_masks(plan: str) -> tuple[int, ...]:
    """What each core of a plan runs where the venue is another machine."""
    return tuple(mask & ~pipeline.VENUE for mask in pipeline.PLANS[plan] if mask & ~pipeline.VENUE)


def cpus_of(settings: Settings, cores: int) -> list[int]:
    """The processors of the cores: those of the settings, else the last ones this process may use. Raises
    ConfigurationError for more cores, which all spin, than processors."""
    if settings.run.cpus:
        return [int(cpu) for cpu in settings.run.cpus.split(",")]
    mine = sorted(os.sched_getaffinity(0))
    if cores > len(mine):
        raise ConfigurationError(f"run.plan: {cores} cores that never rest, and {len(mine)} processors to run them")
    return mine[-cores:]


def all_ended(held: decoder.Context) -> bool:
    """Has the session of every channel ended?"""
    return bool(np.all(held.market.channels["stream"] == ENDED))
