"""All of it in one process: an exchange on the loopback, and a live run that observes it to the end of its session."""

import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.transport.udp_toys import free_port
from venym import metrics, pipeline
from venym.control import ladder
from venym.control.lines import lines_of
from venym.control.live import LiveRun
from venym.control.receiving import Receiving
from venym.control.resolve import resolve
from venym.control.run_directory import FINISHED, RunDirectory
from venym.control.settings import Settings
from venym.hot.layout import aligned
from venym.records import PACKET
from venym.stages import decoder, gateway_view, view
from venym.transport import tcp
from venym.transport.capture import Capture
from venym.venue.glimpse_server import GlimpseOptions
from venym.venue.impairment import Impairment
from venym.venue.message_store import Store
from venym.venue.publisher import Publisher, PublisherOptions
from venym.venue.rerequest_server import RerequestOptions
from venym.venue.sending import Target
from venym.venue.store_builder import Builder, Packing

DAY = date(2019, 1, 30)
GROUPS = "239.255.74.1", "239.255.74.2"
SECONDS_MAX = 600.0
CONFIG = """
[book]
orders_max = 131_072
levels_max = 131_072
instruments_max = 2_048
trades_max = 524_288
[gateway]
orders_max = 65_536
requests_max = 131_072
executions_max = 1_024
[feed]
interface = "lo"
receive_buffer_octets = 4_194_304
[risk]
messages_per_second_max = 1_000_000
cancel_gapped = {cancels}
cancel_halted = false
order_notional_dollars_max = 1_000_000_000
gross_notional_dollars_max = 1_000_000_000
collar_bps = 10_000
[recovery]
stale_gate = {gate}
held_packets_max = 16_384
give_up_ms = 400
timeout_ms = 40
[run]
report_seconds = 0
silence_ms = 200
[[channels]]
name = "itch"
line_a = "{groups[0]}:{port}"
line_b = "{groups[1]}:{port}"
rerequest = ["127.0.0.1:{port}"]
glimpse = "127.0.0.1:{port}"
[[strategies]]
name = "probe"
file = "probe.py"
instruments = {symbols}
"""
PROBE = '''
"""Now and then an order, as long as there is room for one: what it asks for is a matter of the events alone."""

from venym.strategies.interface import BUY, limit, new_token

PARAMS = {"every": 500}


def decide(params, state, market, signal, orders, position, intents):
    state.whole[1] += 1
    if state.whole[1] % int(params[0]) == 0 and len(orders) < 30 and market.bid_shares[0] > 0:
        limit(intents, new_token(state), BUY, 1 + market.bid_shares[0] % 900, market.bid_price_e4[0])
'''


class Observed(NamedTuple):
    """What a live run came to: the decoder's counters, every book, the orders sent, how each outage ended, and what
    the exchange did."""

    counters: dict[str, int]
    books: dict[str, Any]
    orders: list[bytes]
    recoveries: Sequence[Any]
    refusals: dict[str, int]
    exchange: dict[str, Any]
    alive: set[tuple[Any, ...]]  # every order: symbol, side, price, place in its queue, and the order


def store_of(file: Path, messages_a_packet: int) -> Store:
    """A day file as packets."""
    frames, packets = aligned(1 << 22, np.uint8), aligned(1 << 14, PACKET)
    capture = Capture([file], frames, packets)
    builder = Builder("LIVE000001", Packing(messages_a_packet, None), rename=True)
    while count := capture.fill():
        builder.add(frames, packets, count)
    capture.close()
    store, _ = builder.finish()
    builder.close()
    return store


@contextmanager
def swallowing() -> Iterator[tcp.Context]:
    """A connection whose other side reads everything and says nothing."""
    ours, theirs = socket.socketpair()

    def swallow() -> None:
        while theirs.recv(1 << 16):
            pass

    thread = threading.Thread(target=swallow)
    thread.start()
    context = tcp.closed()
    context.words[tcp.FD] = ours.fileno()
    try:
        yield context
    finally:
        ours.close()
        thread.join()
        theirs.close()


def settings_of(folder: Path, port: int, symbols: Sequence[str], gate: bool, more: Sequence[str]) -> Settings:
    (folder / "probe.py").write_text(PROBE)
    path = folder / "live.toml"
    listed = "[" + ", ".join(f'"{symbol}"' for symbol in symbols) + "]"
    words = dict(cancels=str(gate).lower(), gate=str(gate).lower(), groups=GROUPS, port=port, symbols=listed)
    path.write_text(CONFIG.format(**words))
    return resolve(path, tuple(more), {}).settings


def observe(
    folder: Path,
    store: Store,
    symbols: Sequence[str],
    rate: int,
    impairment: Impairment = Impairment(),  # noqa: B008  # a tuple of constants
    rerequest: bool = True,
    gate: bool = True,
    more: Sequence[str] = (),
) -> Observed:
    """Publish a store, observe it to its end. `rerequest` False: the server is dead, and there is the snapshot."""
    (folder / "run").mkdir(parents=True)
    port = free_port()
    settings = settings_of(folder, port, symbols, gate, more)
    options = PublisherOptions(
        rate=rate,
        impairment=impairment,
        wait_seconds=1.0,
        linger_seconds=None,
        rerequest=[(f"127.0.0.1:{port}", RerequestOptions(is_dead=not rerequest))],
        glimpse=(f"127.0.0.1:{port}", GlimpseOptions()),
    )
    targets = Target(GROUPS[0], port, "lo"), Target(GROUPS[1], port, "lo")
    lines = lines_of(settings)
    with swallowing() as connection, Receiving(settings, lines) as receiving, RunDirectory(folder / "run") as directory:
        live = LiveRun(settings, receiving, DAY, "fused", directory, pipeline.Live(True, connection))
        live.warm()
        with Publisher(store, targets, options) as publisher:
            live.run(SECONDS_MAX)
            exchange = publisher.summary()
        directory.finish(FINISHED)
    held = live.made.market.decoder
    counters = metrics.named(metrics.DECODER, held.counters)
    books = ladder.document(held, ladder.selected(held, None), None, 0)["symbols"]
    orders = (folder / "run" / "orders.fix").read_bytes().splitlines()
    refusals = {name: count for name, count in gateway_view.refusals(live.made.orders.gateway).items() if count}
    return Observed(counters, books, orders, live.recoveries(), refusals, exchange, alive(held))


def alive(held: decoder.Context) -> set[tuple[Any, ...]]:
    """Every order that is displayed now."""
    found: set[tuple[Any, ...]] = set()
    for book in view.book_indices(held.market):
        name = view.symbol(held.market, book)
        for side in (0, 1):
            for row in view.levels(held.orders, book, side):
                for place, order in enumerate(view.queue(held.orders, book, side, row[0])):
                    found.add((name, side, row[0], place, *order))
    return found
