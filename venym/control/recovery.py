"""Recovery: a thread that gets back what the decoder misses, by re-requests over UDP and snapshots over TCP.

    decoder ──decoder_recovery──▶ schedule of each channel ──requests──▶ re-request servers
       ▲                                                                     │
       └──recovery_decoder◀── answers, snapshot blocks, GIVEN_UP ◀───────────┘  GLIMPSE server

Nothing here blocks for longer than the poll interval. Answers are read only while the link to the decoder has room;
the rest waits in the kernel, and what is dropped there is asked for again. One error that is not of the wire ends the
thread, and `failed` is told.
"""

import selectors
import threading
import time
from collections.abc import Callable, Sequence

import numpy as np

from ..hot.layout import aligned
from ..hot.link import Link, make_link
from ..records import GIVEN_UP, MISSING, RECOVERED
from ..stages import recovery_links as links
from ..wire import soupbintcp
from .recovery_channel import Channel, ChannelRecovery, Rules, Status
from .recovery_schedule import Recovery as RecoveryRecord

POLL_SECONDS = 0.001
JOIN_SECONDS_MAX = 5.0
STATUS_NS = 100_000_000


class Recovery:
    """`channels` in the decoder's order; `missing` and `recovered` are its two links.

    `failed(error)` is called on the thread, once, when it ends by an error; `alarm(text)` for a person. Raises
    ConfigurationError for addresses that cannot be.
    """

    def __init__(
        self,
        channels: Sequence[Channel],
        missing: Link,
        recovered: Link,
        failed: Callable[[Exception], None],
        alarm: Callable[[str], None],
        rules: Rules = Rules(),  # noqa: B008  # it is immutable
        clock: Callable[[], int] = time.monotonic_ns,
    ) -> None:
        self._missing = missing
        self._recovered = recovered
        self._failed = failed
        self._alarm = alarm
        self._clock = clock
        self._rows = links.make_rows()
        self._selector = selectors.DefaultSelector()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="recovery", daemon=True)
        self._status: tuple[Status, ...] = ()
        self._status_due_ns = 0
        self.channels: list[ChannelRecovery] = []
        try:
            for number, channel in enumerate(channels):
                self.channels.append(ChannelRecovery(number, channel, rules, recovered, self._selector))
        except Exception:
            self._close()
            raise

    @staticmethod
    def warm() -> None:
        """Compile or load what the thread runs."""
        missing, recovered = make_link(MISSING, 1), make_link(RECOVERED, 1)
        octets, zero = aligned(64, np.uint8), 0
        links.take_missing(missing, links.make_rows())
        links.has_room(recovered)
        links.push_answer(recovered, zero, zero, zero, octets, zero)
        links.push(recovered, zero, GIVEN_UP, zero, zero, zero, octets, zero)
        soupbintcp.gather(octets, zero, zero, octets, zero, zero, -1)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close what it had. Raises TimeoutError if it does not end."""
        self._stopping.set()
        if self._thread.ident is not None:
            self._thread.join(JOIN_SECONDS_MAX)
            if self._thread.is_alive():
                raise TimeoutError(f"the recovery thread did not end within {JOIN_SECONDS_MAX:.0f} s")
        else:
            self._close()

    def recoveries(self) -> list[RecoveryRecord]:
        """How each outage of late ended, per channel in the order of their ends."""
        return [record for channel in self.channels for record in list(channel.schedule.recoveries)]

    def status(self) -> tuple[Status, ...]:
        """Each channel, as of the last tenth of a second."""
        return self._status

    def turn(self, wait_seconds: float = 0.0) -> bool:
        """Do what there is to do, after a wait that an answer ends; was there anything?"""
        answers: list[tuple[ChannelRecovery, int]] = []
        if links.has_room(self._recovered):
            answers = [key.data for key, _ in self._selector.select(wait_seconds) if key.data is not None]
        elif wait_seconds:
            time.sleep(wait_seconds)
        now_ns = self._clock()
        done = self._take_told(now_ns)
        for channel, server in answers:
            done = channel.receive(server, now_ns) > 0 or done
        if now_ns >= self._status_due_ns:
            self._status_due_ns = now_ns + STATUS_NS
            self._status = tuple(channel.status() for channel in self.channels)
        for channel in self.channels:
            done = channel.work(now_ns) or done
            while channel.schedule.alarms:
                self._alarm(channel.schedule.alarms.popleft())
        return done

    def _take_told(self, now_ns: int) -> bool:
        count = links.take_missing(self._missing, self._rows)
        for row in self._rows[:count].tolist():
            if not 0 <= row[5] < len(self.channels):
                raise AssertionError(f"MISSING of channel {row[5]}, of {len(self.channels)}")
            self.channels[row[5]].told(row, now_ns)
        return bool(count > 0)

    def _run(self) -> None:
        try:
            done = True
            while not self._stopping.is_set():
                done = self.turn(0.0 if done else POLL_SECONDS)
        except Exception as error:  # whatever it is: without this thread the engine must not run on
            self._failed(error)
        finally:
            self._close()

    def _close(self) -> None:
        for channel in self.channels:
            channel.close()
        self._selector.close()
