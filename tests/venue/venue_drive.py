"""Drive the real venue over links by hand, and talk to it as a gateway would."""

import random
from collections.abc import Iterable
from typing import Any

import numpy as np
from numba import typeof

from tests.naive import fix
from tests.naive.market_feed import Packet
from tests.naive.venue import Listed, NaiveVenue, Setting
from tests.stages.drive import block, mold, zeroed
from venym.hot.jit import PLAIN, hot
from venym.hot.link import HEAD, MARK, TAIL, Link, make_link
from venym.records import BLOCKS, MOLDUDP64, NEVER_NS, PACKET, WIRE_MESSAGE, WIRE_OCTETS_MAX
from venym.venue import memory

MIDNIGHT_NS = fix.time_ns(b"20190130-05:00:00")
SMALL = memory.Limits(
    channels_max=4, displayed_max=512, levels_max=256, side_levels_max=128, orders_max=256, ids_max=512
)


@hot
def drain(ctx):
    """Steps until one finds nothing to do."""
    while memory.step(ctx) > 0:
        pass


def listed(*symbols: str, **terms: int) -> list[Listed]:
    return [Listed(symbol, symbol, **terms) for symbol in symbols]


def compiled(function: Any, *arguments: Any) -> Any:
    """What a call of the function with such arguments ends in: to find out takes numba milliseconds, for a context."""
    return function if PLAIN else function.compile(tuple(map(typeof, arguments)))


def room_of(link: Link) -> int:
    return len(link.slots) - unread(link)


def unread(link: Link) -> int:
    return int(link.cursor[HEAD]) - int(link.cursor[TAIL])


def free_slot(link: Link) -> Any:
    """The slot that `claim` gives, which compiled code called from here would copy."""
    return link.slots[int(link.cursor[HEAD]) & len(link.slots) - 1]


class Venue:
    """A venue with links to its packets, orders and reports; what is reported piles up in `reports`."""

    def __init__(
        self,
        setting: Setting,
        limits: memory.Limits = SMALL,
        frames_octets: int = 1 << 16,
        report_slots: int = 64,
        burst: int = 256,
        frames: np.ndarray | None = None,
    ) -> None:
        self.frames = np.zeros(frames_octets, np.uint8) if frames is None else frames
        self.packets, self.orders = make_link(PACKET, 64), make_link(WIRE_MESSAGE, 16)
        self.reported: Link = make_link(WIRE_MESSAGE, report_slots)
        self.at = 0
        self.reports: list[tuple[int, bytes]] = []
        limits = limits._replace(
            orders_max=min(limits.orders_max, setting.orders_max), ids_max=min(limits.ids_max, setting.ids_max)
        )
        self.ctx = memory.build(
            zeroed,
            self.packets,
            self.frames,
            self.orders,
            self.reported,
            [memory.Listing(*one) for one in setting.symbols],
            memory.Session(setting.version, setting.sender, setting.target, decimals=setting.decimals),
            setting.order_latency_ns,
            setting.report_latency_ns,
            limits,
            setting.midnight_ns,
            burst,
        )
        self._drain, self._step = compiled(drain, self.ctx), compiled(memory.step, self.ctx)

    def offer(self, packet: Packet) -> None:
        """Put one packet onto its link; the frames are used over again from their beginning."""
        size = len(packet.octets)
        if self.at + size > len(self.frames):
            assert unread(self.packets) == 0, "frames are still read"
            self.at = 0
        self.frames[self.at : self.at + size] = np.frombuffer(packet.octets, np.uint8)
        self.offer_at(self.at, size, packet)
        self.at += size

    def offer_at(self, offset: int, size: int, packet: Packet) -> None:
        assert room_of(self.packets) > 0
        slot = free_slot(self.packets)
        slot.offset, slot.length, slot.line = offset, size, packet.line
        slot.framing, slot.sequence = MOLDUDP64 if packet.is_mold else BLOCKS, 1
        self.packets.cursor[HEAD] += 1

    def order(self, clock_ns: int, octets: bytes) -> None:
        assert room_of(self.orders) > 0 and len(octets) <= WIRE_OCTETS_MAX
        slot = free_slot(self.orders)
        slot.clock_ns, slot.length = clock_ns, len(octets)
        slot.octets[: len(octets)] = np.frombuffer(octets, np.uint8)
        self.orders.cursor[HEAD] += 1

    def collect(self, most: int = 1 << 30) -> None:
        for _ in range(min(most, unread(self.reported))):
            slot = self.reported.slots[int(self.reported.cursor[TAIL]) & len(self.reported.slots) - 1]
            self.reports.append((int(slot.clock_ns), slot.octets[: slot.length].tobytes()))
            self.reported.cursor[TAIL] += 1

    def mark(self, clock_ns: int) -> None:
        """No order of a smaller clock will come."""
        self.orders.cursor[MARK] = clock_ns

    def end_of_packets(self) -> None:
        """No packet will come."""
        self.packets.cursor[MARK] = NEVER_NS

    def step(self) -> int:
        return int(self._step(self.ctx))

    def go(self) -> None:
        """Run until nothing more can be done."""
        while True:
            self._drain(self.ctx)
            if unread(self.reported) == 0:
                return
            self.collect()

    @property
    def counters(self) -> dict[str, int]:
        return {name: count for name, count in memory.counters(self.ctx).items() if count}


def play(venue: Venue, packets: Iterable[Packet], orders: Iterable[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """Everything at once, as far as the links hold it."""
    waiting, held = list(packets), list(orders)
    while waiting or held:
        while waiting and room_of(venue.packets):
            venue.offer(waiting.pop(0))
        while held and room_of(venue.orders):
            venue.order(*held.pop(0))
        venue.mark(held[0][0] if held else NEVER_NS)
        if not waiting:
            venue.end_of_packets()
        venue.go()
    venue.end_of_packets()
    venue.mark(NEVER_NS)
    venue.go()
    return venue.reports


def play_in_pieces(
    venue: Venue, packets: Iterable[Packet], orders: Iterable[tuple[int, bytes]], chance: random.Random
) -> list[tuple[int, bytes]]:
    """Packets, orders and marks one by one, in an order of chance, with steps and reads of reports in between."""
    waiting, held = list(packets), list(orders)
    while waiting or held:
        what = chance.randrange(6)
        if what == 0 and waiting and room_of(venue.packets):
            venue.offer(waiting.pop(0))
        elif what == 1 and held and room_of(venue.orders):
            venue.order(*held.pop(0))
        elif what == 2:
            ceiling = held[0][0] if held else NEVER_NS
            before = int(venue.orders.cursor[MARK])
            venue.mark(max(before, min(ceiling, before + chance.choice([1, 10, 1000, 1 << 50]))))
        elif what == 3:
            venue.collect(chance.choice([1, 2, 100]))
        else:
            venue.step()
        if not waiting and chance.random() < 0.1:
            venue.end_of_packets()
    venue.end_of_packets()
    venue.mark(NEVER_NS)
    venue.go()
    return venue.reports


def expected(setting: Setting, packets: list[Packet], orders: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    return NaiveVenue(setting).run(packets, orders)


class Gateway:
    """Numbers and writes the messages of a session."""

    def __init__(self, setting: Setting) -> None:
        self.setting = setting
        self.sequence = 1

    def message(self, kind: str, fields: dict[int, Any], sequence: int | None = None) -> bytes:
        head = [(35, kind), (34, sequence or self.sequence), (49, self.setting.sender), (52, "20190130-14:30:00.000")]
        head.append((56, self.setting.target))
        if sequence is None:
            self.sequence += 1
        pairs = [(tag, str(value).encode()) for tag, value in [*head, *fields.items()] if value is not None]
        return fix.message(pairs, self.setting.version)

    def new(self, name: str, side: str, shares: Any, price: Any = None, symbol: str = "TEST", **more: Any) -> bytes:
        """D; a limit order for the day, or at market without a price. More fields as t59=3."""
        ord_type = 1 if price is None else 2
        fields = {11: name, 21: 1, 38: shares, 40: ord_type, 44: price, 54: side, 55: symbol, 59: 0}
        return self.message("D", fields | tags(more))

    def cancel(self, name: str, orig: str, side: str = "1", symbol: str = "TEST", **more: Any) -> bytes:
        return self.message("F", {11: name, 38: 100, 41: orig, 54: side, 55: symbol} | tags(more))

    def replace(
        self, name: str, orig: str, shares: Any, price: Any, side: str = "1", symbol: str = "TEST", **more: Any
    ) -> bytes:
        fields = {11: name, 21: 1, 38: shares, 40: 2, 41: orig, 44: price, 54: side, 55: symbol, 59: 0}
        return self.message("G", fields | tags(more))


def tags(more: dict[str, Any]) -> dict[int, Any]:
    return {int(tag[1:]): value for tag, value in more.items()}


def day(*messages: bytes, line: int = 0) -> Packet:
    """Messages as records of a day file."""
    return Packet(b"".join(map(block, messages)), line, False)


def datagram(session: str, sequence: int, messages: list[bytes], line: int = 0, count: int | None = None) -> Packet:
    return Packet(mold(session, sequence, messages, count), line)


def brief(report: tuple[int, bytes], *wanted: int) -> str:
    """The wanted fields of a report, as 39=0|14=100."""
    found = dict(fix.fields(report[1]))
    return "|".join(f"{tag}={found[tag].decode()}" for tag in wanted if tag in found)
