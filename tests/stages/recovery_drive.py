"""Drive the real decoder with a hold-back: packets of two lines, records of the recovery, what it tells of what is
missing."""

from typing import Any

import numpy as np

from tests.stages import itch_messages as itch
from tests.stages.drive import SMALL, Drive, mold
from venym import pipeline, records
from venym.hot.link import HEAD, TAIL
from venym.stages import decoder, feed, market
from venym.stages.decoder_words import FIRST_SEEN

STATES = {getattr(market, name): name for name in ("UNBEGUN", "IN_SYNC", "ENDED", "BACKFILL", "GAP", "SNAPSHOT")}
KINDS = {getattr(records, name): name for name in ("HOLE", "PROGRESS", "SESSION", "ENDED", "OVERFLOW")}


def stream(last: int) -> list[bytes]:
    """Messages 1 to `last` of a day: a directory, then orders that come and go, each with an event of its own."""
    made = [itch.directory()]
    for number in range(2, last + 1):
        rest = number % 5 == 0 and number > 4
        made.append(
            itch.delete(number - 2) if rest else itch.add(number, "BS"[number % 2], number, 100_000 + number % 2)
        )
    return made


def prints(last: int) -> list[bytes]:
    """Messages 1 to `last`, each an event whatever came before."""
    return [itch.trade(1, 100_000, number) for number in range(1, last + 1)]


def part(messages: list[bytes], first: int, end: int, session: str = "S1") -> bytes:
    """The packet with messages [first, end) of a session whose first is number 1."""
    return mold(session, first, messages[first - 1 : end - 1])


class Recovered(Drive):
    """One channel with lines 0 and 1, held back and told."""

    def __init__(self, hold: int = 64, octets: int = 512, start: int = FIRST_SEEN, tell_gaps: bool = False,
                 instruments: tuple[str, ...] = ("TEST",), channels: int = 1, **how: Any) -> None:  # fmt: skip
        recovery = decoder.Recovery(hold, octets, start, tell_gaps, channels)
        super().__init__(how.pop("limits", SMALL), instruments, recovery=recovery, **how)

    def line(self, datagram: bytes, line: int = 0, received_ns: int = 0) -> None:
        self.brought([(line, datagram)], received_ns)

    def brought(self, came: list[tuple[int, bytes]], received_ns: int = 0) -> None:
        """Datagrams by their lines, all at once."""
        made, at = self.pipeline.feed, 0
        for k, (line, datagram) in enumerate(came):
            found = made.found[k]
            made.frames[at : at + len(datagram)] = np.frombuffer(datagram, np.uint8)
            found.cause, found.offset, found.length, found.line = self.cause, at, len(datagram), line
            found.framing, found.marks, found.received_ns = records.MOLDUDP64, 0, received_ns
            self.cause, at = self.cause + 1, at + len(datagram)
        feed.offer(made, len(came))
        self.drain()

    def put(self, kind: int, octets: bytes = b"", sequence: int = 0, session: str = "S1", **fields: int) -> None:
        """Write a record of the recovery, without a step."""
        link = self.pipeline.decoder.recovered
        record = link.slots[int(link.cursor[HEAD]) & (len(link.slots) - 1)]
        name = session.encode().ljust(10)[:10] if session else bytes(10)
        record.session_high, record.session_low = int.from_bytes(name[:8], "big"), int.from_bytes(name[8:], "big")
        record.kind, record.sequence, record.channel, record.length = kind, sequence, 0, len(octets)
        record.octets[: len(octets)] = np.frombuffer(octets, np.uint8)
        for field, value in fields.items():
            record[field] = value
        link.cursor[HEAD] += 1

    def recover(self, kind: int, octets: bytes = b"", sequence: int = 0, session: str = "S1", **fields: int) -> None:
        self.put(kind, octets, sequence, session, **fields)
        self.drain()

    def rerequested(self, datagram: bytes) -> None:
        self.recover(records.REREQUESTED, datagram)

    def told(self) -> list[tuple[str, int, int, int]]:
        """What the control plane hears: (kind, first, end, expected), taken."""
        link = self.pipeline.decoder.missing
        made = []
        for index in range(int(link.cursor[TAIL]), int(link.cursor[HEAD])):
            record = link.slots[index & (len(link.slots) - 1)]
            made.append((KINDS[int(record.kind)], int(record.first), int(record.end), int(record.expected)))
        link.cursor[TAIL] = link.cursor[HEAD]
        return made

    def told_later(self) -> list[tuple[str, int, int, int]]:
        """What is told once there is room again."""
        pipeline.drain(self.pipeline, pipeline.BOOKS)
        return self.told()

    @property
    def channel(self) -> Any:
        return self.pipeline.decoder.market.channels[0]

    @property
    def stream(self) -> str:
        return STATES[int(self.channel.stream)]

    @property
    def held(self) -> int:
        return int(self.pipeline.decoder.holding.queues[0].count)

    def numbers(self) -> list[int]:
        """Numbers of the messages told as events, in order."""
        return [int(event["sequence"]) for event in self.events if event["kind"]]


def essence(event: np.void) -> tuple[Any, ...]:
    """What an event says but which packet brought it, and marks of a gap."""
    names = (
        "sequence",
        "kind",
        "side",
        "reference",
        "shares",
        "price_e4",
        "time_ns",
        "clock_ns",
        "instrument",
        "state",
    )
    whole = tuple(int(event[name]) for name in names)
    return (*whole, *(event[f"{side}_{what}"].tobytes() for side in ("bid", "ask") for what in ("shares", "price_e4")))
