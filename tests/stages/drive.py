"""Drive the real feed and decoder over messages or datagrams, and compare the books with the naive twin."""

import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from tests.naive.book import NaiveMarket
from venym import metrics, pipeline, records
from venym.hot.duty_cycle import make_control, rest, running, stop
from venym.hot.jit import hot
from venym.hot.layout import aligned
from venym.stages import feed, view
from venym.stages.decoder import Limits


@hot
def market_cycle(market, mask, control):
    """A core that has stages of the market side only."""
    while running(control):
        rest(control, pipeline.lap_market(market, mask))


@contextmanager
def cores(market: pipeline.MarketSide, masks: Sequence[int]) -> Iterator[None]:
    """A thread for each mask, which runs its stages until the end of the block."""
    controls = [make_control("yield") for _ in masks]
    threads = [
        threading.Thread(target=market_cycle, args=(market, mask, control))
        for mask, control in zip(masks, controls, strict=True)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        for control in controls:
            stop(control)
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()


def told(record: np.void) -> bytes:
    """A record's octets without its readings of the time stamp counter."""
    return b"".join(
        told(record[name]) if record.dtype[name].names else record[name].tobytes()
        for name in record.dtype.names or ()
        if not name.endswith("_cycles")
    )


SMALL = Limits(channels_max=4, instruments_max=64, orders_max=512, levels_max=512, trades_max=2048)


def zeroed(name: str, count: int, dtype: np.dtype) -> np.ndarray:
    return aligned(count, dtype, touch=False)


def block(message: bytes) -> bytes:
    return struct.pack(">H", len(message)) + message


def mold(session: str, sequence: int, messages: list[bytes], count: int | None = None) -> bytes:
    """One MoldUDP64 datagram."""
    held = session.encode().ljust(10)[:10]
    number = len(messages) if count is None else count
    return held + struct.pack(">QH", sequence, number) + b"".join(map(block, messages))


class Drive:
    """A pipeline of feed and decoder, fed by hand."""

    def __init__(self, limits: Limits = SMALL, instruments: tuple[str, ...] = (), frames: np.ndarray | None = None,
                 queues: bool = True, frames_octets: int = 1 << 16, **how: Any) -> None:  # fmt: skip
        self.pipeline = pipeline.build_market(zeroed, limits, frames_octets, 1024, instruments, queues, **how)
        if frames is not None:
            self.pipeline = self.pipeline._replace(
                feed=self.pipeline.feed._replace(frames=frames), decoder=self.pipeline.decoder._replace(frames=frames)
            )
        self.cause = 0
        self.sequence = 1
        self.events: list[np.void] = []

    def payloads(
        self, datagrams: list[bytes], lines: list[int] | None = None, framing: int = records.MOLDUDP64
    ) -> None:
        """Hand on datagrams, on line 0 unless told otherwise."""
        at = 0
        for k, datagram in enumerate(datagrams):
            found = self.pipeline.feed.found[k]
            self.pipeline.feed.frames[at : at + len(datagram)] = np.frombuffer(datagram, np.uint8)
            found.cause, found.offset, found.length = self.cause, at, len(datagram)
            found.line = lines[k] if lines else 0
            found.framing, found.sequence, found.marks, found.received_ns = framing, self.sequence, 0, 0
            at += len(datagram)
            self.cause += 1
        feed.offer(self.pipeline.feed, len(datagrams))
        self.drain()

    def messages(self, messages: list[bytes]) -> None:
        """Hand on messages as the records of a day file."""
        self.payloads([b"".join(map(block, messages))], framing=records.BLOCKS)
        self.sequence += len(messages)

    def drain(self) -> None:
        while pipeline.drain(self.pipeline, pipeline.BOOKS) or self.take_events():
            pass

    def take_events(self) -> int:
        link = self.pipeline.decoder.events
        head, tail = int(link.cursor[0]), int(link.cursor[32])
        for index in range(tail, head):
            self.events.append(link.slots[index & (link.slots.shape[0] - 1)].copy())
        link.cursor[32] = head
        return head - tail

    def counters(self) -> dict[str, int]:
        """Every counter that is not zero."""
        held = self.pipeline.decoder.counters
        return {c.name: int(held[c.word]) for c in metrics.DECODER if held[c.word]}

    def book(self, locate: int, channel: int = 0) -> int:
        return view.book_of(self.pipeline.decoder.market, channel, locate)

    def ladder(self, locate: int, side: str, channel: int = 0) -> list[tuple[int, ...]]:
        rows = view.levels(self.pipeline.decoder.orders, self.book(locate, channel), "BS".index(side))
        return [tuple(row) for row in rows]

    def queue(self, locate: int, side: str, price_e4: int) -> list[tuple[int | str, ...]]:
        orders = self.pipeline.decoder.orders
        return [tuple(order) for order in view.queue(orders, self.book(locate), "BS".index(side), price_e4)]

    def volume(self, locate: int) -> int:
        return int(self.pipeline.decoder.market.books[self.book(locate)].volume_shares)

    def state(self, locate: int) -> str | None:
        return view.state(self.pipeline.decoder.market, self.book(locate))

    def suspect(self, locate: int, channel: int = 0) -> bool:
        return view.suspect(self.pipeline.decoder.market, self.book(locate, channel))


FRAMING_COUNTERS = {"packets", "sessions", "gaps", "truncated", "missed_messages", "old_messages", "heartbeats"}


def assert_same(drive: Drive, naive: NaiveMarket, queues: bool = True) -> None:
    """Every level, queue, volume, state, flag and counter of channel 0 is the twin's."""
    market, orders = drive.pipeline.decoder.market, drive.pipeline.decoder.orders
    indices = {int(market.books[index].locate): index for index in view.book_indices(market)}
    assert set(indices) == set(naive.books)
    for locate, book in naive.books.items():
        index = indices[locate]
        assert view.symbol(market, index) == (book.symbol or f"#{locate}")
        assert view.state(market, index) == book.effective_state()
        assert view.suspect(market, index) == book.suspect
        assert int(market.books[index].volume_shares) == book.volume
        for side in "BS":
            assert drive.ladder(locate, side) == book.ladder(side)
            if queues:
                for price_e4, _, _ in book.ladder(side):
                    found = [tuple(o) for o in view.queue(orders, index, "BS".index(side), price_e4)]
                    assert found == book.queue(side, price_e4)
    assert int(orders.pools[2]) == len(naive.orders)
    counted = {k: v for k, v in drive.counters().items() if k not in FRAMING_COUNTERS}
    assert counted == {k: v for k, v in naive.counters.items() if v}
