"""The venue's books are those of the decoder after every packet, on real order events and on a made-up day; and what it
fills on the real ones could have been."""

import gzip
import random
from pathlib import Path

import numpy as np
import pytest

from tests.naive import captures as naive
from tests.naive import fix
from tests.naive.binaryfile import messages_of
from tests.naive.itch50 import decode
from tests.naive.market_feed import Packet
from tests.naive.venue import Setting
from tests.stages.drive import Drive
from tests.venue.venue_drive import MIDNIGHT_NS, Gateway, Venue, compiled, datagram, expected, listed, play
from venym import pipeline
from venym.records import NEVER_NS
from venym.stages import view
from venym.stages.decoder import Limits as BookLimits
from venym.venue import memory
from venym.venue.day_plan import Wanted
from venym.venue.displayed import SIDE_LEVELS
from venym.venue.generate import write_file

DATA = Path(__file__).resolve().parent.parent.parent / "replay_data"
LIMITS = memory.Limits(1, 32_768, 8_192, 4_096, 4_096, 8_192)
BOOKS = BookLimits(channels_max=1, instruments_max=64, orders_max=32_768, levels_max=16_384, trades_max=65_536)
DEPTH = 5
MILLISECOND_NS = 1_000_000


@pytest.fixture(scope="module")
def aapl() -> list[Packet]:
    octets = gzip.decompress((DATA / "aapl-2019-01-30.pcap.gz").read_bytes())
    return [Packet(found.payload) for found in naive.read_pcap(octets).found]


@pytest.fixture(scope="module")
def made_up(tmp_path_factory: pytest.TempPathFactory) -> list[Packet]:
    path = tmp_path_factory.mktemp("venue") / "day"
    write_file(Wanted(15_000, 8, 3), path)
    messages = messages_of(path.read_bytes())
    return [datagram("MADEUP", 1 + k, messages[k : k + 7]) for k in range(0, len(messages), 7)]


class Books(Drive):
    """The decoder's books."""

    def __init__(self, symbols: tuple[str, ...]) -> None:
        super().__init__(BOOKS, symbols)
        self._drain = compiled(pipeline.drain, self.pipeline, pipeline.BOOKS)

    def drain(self) -> None:
        while self._drain(self.pipeline, pipeline.BOOKS) or self.take_events():
            pass


def ladder(venue: Venue, instrument: int, side: int, depth: int) -> list[tuple[int, int]]:
    book = venue.ctx.desk.market.book
    run = int(book.words[SIDE_LEVELS])
    first = (2 * instrument + side) * run
    entries = book.ladder[first : first + int(book.counts[2 * instrument + side])][::-1][:depth]
    found = book.levels[np.asarray(entries & 0xFFFFFFFF)]
    return [(int(level.price_e4), int(level.shares)) for level in found]


def directory_of(packets: list[Packet]) -> dict[str, int]:
    """Symbols and their locates."""
    found = (decode(message) for packet in packets for message in naive_messages(packet))
    return {one["stock"]: one["stock_locate"] for one in found if one and one["message_type"] == "R"}


def naive_messages(packet: Packet) -> list[bytes]:
    octets, messages = packet.octets[20:], []
    while octets:
        size = int.from_bytes(octets[:2], "big")
        messages.append(octets[2 : 2 + size])
        octets = octets[2 + size :]
    return messages


@pytest.mark.parametrize("day", ["aapl", "made_up"])
def test_best_levels_are_the_decoders_after_every_packet(day, request):
    packets = request.getfixturevalue(day)
    locates = dict(list(directory_of(packets).items())[:3])
    venue = Venue(Setting(listed(*locates)), LIMITS, 1 << 16)
    venue.mark(NEVER_NS)
    drive = Books(tuple(locates))
    seen = 0
    for number, packet in enumerate(packets):
        venue.offer(packet)
        venue.go()
        drive.payloads([packet.octets])
        depth = None if number % 200 == 0 or number == len(packets) - 1 else DEPTH
        for k, locate in enumerate(locates.values()):
            for side in (0, 1):
                real = [row[:2] for row in view.levels(drive.pipeline.decoder.orders, drive.book(locate), side, depth)]
                assert ladder(venue, k, side, depth or 1 << 20) == real
                seen += len(real)
    assert seen > 10_000
    assert "misfits" not in venue.counters
    assert venue.counters["messages"] == drive.counters()["messages"]


class Seen:
    """Top of the AAPL book and what happened, at every time of the capture."""

    def __init__(self, packets: list[Packet]) -> None:
        drive = Books(("AAPL",))
        for packet in packets:
            drive.payloads([packet.octets])
        self.events = drive.events
        self.clocks = np.array([int(event["clock_ns"]) for event in self.events])

    def book_at(self, time_ns: int) -> np.void:
        """After everything up to that time."""
        return self.events[int(np.searchsorted(self.clocks, time_ns, "right")) - 1]

    def events_at(self, time_ns: int) -> list[np.void]:
        return self.events[slice(*np.searchsorted(self.clocks, [time_ns, time_ns + 1]))]


def scripted(seen: Seen, setting: Setting) -> list[tuple[int, bytes]]:
    """Every so often an order near the best prices as last seen; now and then a cancel or a replacement."""
    chance, gateway, orders, live = random.Random(1), Gateway(setting), [], []
    clocks = range(int(seen.clocks[80]), int(seen.clocks[-1]), 40 * MILLISECOND_NS)
    for number, clock in enumerate(clocks):
        book, name = seen.book_at(clock), f"V{number}"
        side = chance.choice("12")
        bid, ask = int(book["bid_price_e4"][0]), int(book["ask_price_e4"][0])
        near, far = (bid, ask) if side == "1" else (ask, bid)
        what = chance.random()
        if what < 0.3:
            orders.append(gateway.new(name, side, 100, f"{far / 10_000:.4f}", "AAPL", t59=3))
        elif what < 0.75:
            orders.append(gateway.new(name, side, 200, f"{near / 10_000:.4f}", "AAPL", t18="6"))
            live.append((name, side))
        elif what < 0.8:
            orders.append(gateway.new(name, side, 300, None, "AAPL"))
        elif live:
            orig, side = live.pop(chance.randrange(len(live)))
            price = f"{(bid if side == '1' else ask) / 10_000:.4f}"
            orders.append(
                gateway.cancel(name, orig, side, "AAPL")
                if chance.random() < 0.5
                else gateway.replace(name, orig, 300, price, side, "AAPL")
            )
        else:
            orders.append(gateway.message("0", {}))
    return list(zip(clocks, orders, strict=False))


def test_orders_on_real_events_are_filled_as_they_could_have_been(aapl):
    setting = Setting(
        listed("AAPL", tick_e4=100),
        order_latency_ns=20_000,
        report_latency_ns=15_000,
        midnight_ns=MIDNIGHT_NS,
        decimals=9,
    )
    seen = Seen(aapl)
    orders = scripted(seen, setting)
    venue = Venue(setting, LIMITS, 1 << 20)
    found = play(venue, aapl, orders)
    assert found == expected(setting, aapl, orders)
    assert venue.counters["shares_taken"] > 5_000 and venue.counters["shares_made"] > 5_000
    taken: dict[tuple[bytes, bytes], int] = {}
    deeper = 0
    for clock, octets in found:
        report = dict(fix.fields(octets))
        if 32 not in report:
            continue
        time_ns, price_e4, shares = clock - 15_000, round(float(report[31]) * 10_000), int(report[32])
        other, same = ("ask", "bid") if report[54] == b"1" else ("bid", "ask")
        if report[9882] == b"R":
            book = seen.book_at(time_ns)
            displayed = dict(zip(book[f"{other}_price_e4"].tolist(), book[f"{other}_shares"].tolist(), strict=True))
            taken[report[37], report[31]] = taken.get((report[37], report[31]), 0) + shares
            if price_e4 in displayed:
                assert taken[report[37], report[31]] <= displayed[price_e4]
            else:  # below what the event tells, where the orders before took all of that
                assert min(displayed) > price_e4 if other == "bid" else max(displayed) < price_e4
                deeper += 1
        else:
            assert any(could_fill(event, same, price_e4, shares) for event in seen.events_at(time_ns))
    assert deeper < 40


def could_fill(event: np.void, side: str, price_e4: int, shares: int) -> bool:
    """Does an event explain a fill of a resting order on `side`?"""
    is_same = chr(event["side"]) == ("B" if side == "bid" else "S")
    worse = int(event["price_e4"]) <= price_e4 if side == "bid" else int(event["price_e4"]) >= price_e4
    kinds = "EC" if is_same else "AFU"
    return chr(event["kind"]) in kinds and worse and shares <= int(event["shares"])
