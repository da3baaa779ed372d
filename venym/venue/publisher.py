"""The exchange's side of the wire: two lines of multicast, re-request servers and a snapshot server, each on a thread.

    with Publisher(store, (Target("233.54.12.111", 26477, "lo"), None), options) as publisher:
        publisher.wait()
    publisher.summary()

Threads hold no lock while they publish or build a spin. What goes wrong on one is raised by `wait` and `close`.
"""

import contextlib
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from ..hot.duty_cycle import make_control, stop
from . import publication as loop
from .glimpse_server import GlimpseOptions, GlimpseServer
from .impairment import LOST, LOST_BOTH, OUT, Impairment, make_fates
from .impairment import SENT as IN_TIME
from .message_store import Store
from .rerequest_server import RerequestOptions, RerequestServer
from .sending import Target, open_target

_SLEEP_SECONDS_MAX = 0.1  # a publisher that is stopped ends after at most so long
LINE_NAMES = ("a", "b")


class PublisherOptions(NamedTuple):
    """rate: messages a second, or None for recorded time by `speed`, of which None is as fast as it goes.
    wait_seconds: of heartbeats before the first packet. linger_seconds: after the last one, for which the end of the
    session is repeated and servers answer; None: until `close`. spin_ns: closer to a packet that is due, the thread
    keeps a core busy; 0 leaves it to others, and packets go out in small bursts. rerequest: an endpoint and options
    each; glimpse: of the snapshot server."""

    rate: int | None = None
    speed: float | None = 1.0
    impairment: Impairment = Impairment()
    wait_seconds: float = 0.0
    linger_seconds: float | None = 5.0
    spin_ns: int = loop.SPIN_NS
    rerequest: Sequence[tuple[str, RerequestOptions]] = ()
    glimpse: tuple[str, GlimpseOptions] | None = None


AS_RECORDED = PublisherOptions()


class Publisher:
    """Publishes `store` once. `rerequest_servers` and `glimpse_server` (or None) tell their addresses and counts, and
    take other options while they serve.

    Raises SendError when a line or server cannot be had, ValueError for options that cannot be.
    """

    def __init__(
        self, store: Store, targets: tuple[Target | None, Target | None], options: PublisherOptions = AS_RECORDED
    ) -> None:
        if (options.rate is not None and options.rate < 1) or (options.speed is not None and not options.speed > 0):
            raise ValueError(f"nothing can be published at {options.rate} messages a second or speed {options.speed}")
        self.store = store
        self._options = options
        fates = make_fates(options.impairment)
        self._sockets: list[socket.socket | None] = []
        self.rerequest_servers: list[RerequestServer] = []
        self.glimpse_server: GlimpseServer | None = None
        self._control = make_control("pause")
        self._published, self._stopped = threading.Event(), threading.Event()
        self._failure: BaseException | None = None
        self._seconds = 0.0
        with contextlib.ExitStack() as opened:
            for target in targets:
                self._sockets.append(None if target is None else opened.enter_context(open_target(target)))
            pace = loop.BY_RATE if options.rate is not None else loop.BY_TIME if options.speed else loop.AS_FAST
            numbers = [-1 if made is None else made.fileno() for made in self._sockets]
            self.context = loop.make_publication(store, fates, pace, options.rate or 0, options.speed or 1.0, numbers)
            words = self.context.words
            words[loop.SPIN] = options.spin_ns
            for endpoint, given in options.rerequest:
                self.rerequest_servers.append(RerequestServer(endpoint, store, words, given))
                opened.callback(self.rerequest_servers[-1].close)
            if options.glimpse is not None:
                self.glimpse_server = GlimpseServer(options.glimpse[0], store, words, options.glimpse[1])
                opened.callback(self.glimpse_server.close)
            opened.callback(self._end_thread)
            self._opened = opened.pop_all()
        self._thread = threading.Thread(target=self._run, name="publish", daemon=True)

    def start(self) -> None:
        """Serve, and begin the schedule."""
        for server in self.rerequest_servers:
            server.start()
        if self.glimpse_server is not None:
            self.glimpse_server.start()
        ended = make_control("pause")
        stop(ended)
        loop.publish(self.context, ended)  # compiled, or loaded
        loop.beat(self.context, 0)
        loop.begin(self.context, int(self._options.wait_seconds * 1e9))
        self._thread.start()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until all is published and the time to linger is over; False if that takes longer than `seconds`.
        Raises what ended the thread."""
        self._thread.join(seconds)
        if self._failure is not None:
            raise self._failure
        return not self._thread.is_alive()

    def wait_published(self, seconds: float | None = None) -> bool:
        """As `wait`, for the last packet only."""
        found = self._published.wait(seconds)
        if self._failure is not None:
            raise self._failure
        return found

    def close(self) -> None:
        """End all threads and close all sockets. Raises what ended one before."""
        self._opened.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *reason: object) -> None:
        self.close()

    @property
    def next_sequence(self) -> int:
        """Number of the next message of the present session that is not published."""
        number = int(loop.published(self.context.words))
        row = self.store.rows[max(number - 1, 0)]
        is_end = number == 0 or row["count"] == loop.END_OF_SESSION
        return int(row.sequence) + (0 if is_end else int(row["count"]))

    def done(self) -> tuple[int, int]:
        """Octets of the store and messages that were published by now."""
        number = int(loop.published(self.context.words))
        end = self.store.rows[number - 1] if number else None
        octets = 0 if end is None else int(end.offset) + int(end.length)
        return octets, int(self.context.words[loop.MESSAGES])

    def summary(self) -> dict[str, Any]:
        """What was published, by design not sent, and served so far."""
        words = self.context.words
        return {
            "sessions": self.store.names(),
            "packets": int(words[loop.NEXT]),
            "messages": int(words[loop.MESSAGES]),
            "seconds": round(self._seconds, 3),
            "late_ns_max": int(words[loop.LATE_MAX]),
            "lines": {
                name: self._line_summary(line)
                for line, name in enumerate(LINE_NAMES)
                if self.context.lines[line * loop.LINE_WORDS + loop.SOCKET] >= 0
            },
            "rerequest": [{"address": made.address, **made.counts} for made in self.rerequest_servers],
            "glimpse": None if self.glimpse_server is None else self.glimpse_server.counts._asdict(),
        }

    def _line_summary(self, line: int) -> dict[str, int]:
        words = self.context.lines[line * loop.LINE_WORDS :][: loop.LINE_WORDS].tolist()
        at = {
            "sent": loop.FATES_AT + IN_TIME,
            "lost": loop.FATES_AT + LOST,
            "lost_on_both": loop.FATES_AT + LOST_BOTH,
            "outage": loop.FATES_AT + OUT,
            "twice": loop.TWICE,
            "displaced": loop.DISPLACED,
            "heartbeats": loop.HEARTBEATS,
            "ends": loop.ENDS,
            "refused": loop.REFUSED,
            "errors": loop.ERRORS,
            "error": loop.ERROR,
        }
        return {name: int(words[index]) for name, index in at.items()}

    def _run(self) -> None:
        try:
            began = time.monotonic() + self._options.wait_seconds
            while not self._stopped.is_set() and self.context.words[loop.NEXT] < len(self.store.rows):
                self._sleep(int(loop.publish(self.context, self._control)))
            self._seconds = time.monotonic() - began
            self._published.set()
            linger = self._options.linger_seconds
            end = None if linger is None else time.monotonic() + linger
            while not self._stopped.is_set() and (end is None or time.monotonic() < end):
                self._sleep(int(loop.publish(self.context, self._control)))
        except BaseException as error:
            self._failure = error
            self._published.set()

    def _sleep(self, wait_ns: int) -> None:
        if wait_ns > 0:
            self._stopped.wait(min(wait_ns / 1e9, _SLEEP_SECONDS_MAX))

    def _end_thread(self) -> None:
        self._stopped.set()
        stop(self._control)
        if self._thread.ident is not None:
            self._thread.join()
        if self._failure is not None:
            raise self._failure
