"""The feed on the wire: datagrams of the lines become books, and their frames go back to the transport."""

import socket
import time
from collections.abc import Callable

import pytest
from numba import typeof

from tests.skips import require
from tests.stages.drive import SMALL, mold, zeroed
from tests.stages.itch_messages import add, delete, directory
from tests.transport.udp_toys import BUFFER_OCTETS, free_port
from tests.transport.udp_toys import sender as udp_sender
from tests.transport.veth import sender, veth, within
from venym import metrics, pipeline
from venym.hot.link import HEAD, MARK, TAIL
from venym.records import NEVER_NS
from venym.stages import decoder, feed, view
from venym.transport import udp, xdp, xdp_receive
from venym.transport.lines import Line

GROUP_A, GROUP_B = "239.255.73.1", "239.255.73.2"
OPTIONS = udp.Options("software", 0, BUFFER_OCTETS)
DAY = [directory(), *(add(k, "B", 100, 10_000 + 100 * k) for k in range(1, 40)), delete(39)]
BEST = (13_800, 100, 1)


def market_on(wire: feed.Wire) -> pipeline.MarketSide:
    return pipeline.build_market(
        zeroed, SMALL, 1, 1, ("TEST",), wire=wire, recovery=decoder.Recovery(channels=1), pace=pipeline.LIVE
    )


def run_until(market: pipeline.MarketSide, there: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not there():
        assert time.monotonic() < until, "it did not come"
        pipeline.drain(market, pipeline.MARKET_SIDE)
        market.inference.signals.cursor[TAIL] = market.inference.signals.cursor[HEAD]


def messages(market: pipeline.MarketSide) -> int:
    return int(market.decoder.counters[metrics.MESSAGES])


def best_bid(market: pipeline.MarketSide) -> tuple[int, ...]:
    return tuple(view.levels(market.decoder.orders, view.book_of(market.decoder.market, 0, 7), 0)[0])


def send_day(lines: list[socket.socket]) -> None:
    for k, message in enumerate(DAY):
        for line in lines:
            line.send(mold("S", 1 + k, [message]))


def test_datagrams_of_both_lines_become_one_book():
    port = free_port()
    with udp.open_udp(zeroed, [Line(GROUP_A, port, "lo"), Line(GROUP_B, port, "lo")], 256, 2048, OPTIONS) as opened:
        market = market_on(feed.Wire(feed.UDP, opened.context, xdp_receive.closed()))
        with udp_sender() as a, udp_sender() as b:
            a.connect((GROUP_A, port))
            b.connect((GROUP_B, port))
            send_day([a, b])
        run_until(market, lambda: int(market.decoder.counters[metrics.PACKETS]) == 2 * len(DAY))
    assert messages(market) == len(DAY) and best_bid(market) == BEST
    assert [int(line.packets) for line in market.decoder.lines[:2]] == [len(DAY)] * 2
    assert market.feed.cursor[feed.NEXT] == 2 * len(DAY)


def test_a_feed_that_is_closed_receives_nothing_more_and_says_so():
    port = free_port()
    with udp.open_udp(zeroed, [Line("127.0.0.1", port)], 256, 2048, OPTIONS) as opened:
        market = market_on(feed.Wire(feed.UDP, opened.context, xdp_receive.closed()))
        feed.close(market.feed)
        with udp_sender() as out:
            out.sendto(mold("S", 1, DAY), ("127.0.0.1", port))
            time.sleep(0.01)
        assert pipeline.drain(market, pipeline.FEED) == 0
        assert market.feed.packets.cursor[MARK] == NEVER_NS


def test_fewer_slots_than_packets_on_their_way_are_refused():
    with udp.open_udp(zeroed, [Line("127.0.0.1", free_port())], 128, 2048, OPTIONS) as opened:
        wire = feed.Wire(feed.UDP, opened.context, xdp_receive.closed())
        with pytest.raises(ValueError, match="128 slots are fewer than the 256 packets"):
            market_on(wire)


def test_frames_go_back_to_the_card_once_they_are_read():
    require("needs AF_XDP")
    options = xdp.Options(frames_each=64, huge_pages="never", zero_copy="never")
    with veth() as pair, within(pair.inside), xdp.open_xdp(zeroed, [Line("239.1.1.1", 26_400, "in0")], options) as held:
        market = market_on(feed.Wire(feed.XDP, udp.closed(), held.context))
        for _ in range(5):  # more packets than frames
            sent = messages(market)
            with sender(pair, "239.1.1.1", 26_400) as out:
                for k, message in enumerate(DAY[:30]):
                    out.send(mold("S", 1 + sent + k, [message]))
            run_until(market, lambda: messages(market) == sent + 30)  # noqa: B023  # called at once
        pipeline.drain(market, pipeline.FEED)
        assert held.account() == (64, 64, 0, 0, 0)


def test_a_transport_that_is_closed_has_the_types_of_an_open_one():
    with udp.open_udp(zeroed, [Line("127.0.0.1", free_port())], 256, 2048, OPTIONS) as opened:
        assert typeof(opened.context) == typeof(udp.closed())
    require("needs AF_XDP")
    options = xdp.Options(frames_each=64, huge_pages="never", zero_copy="never")
    with veth() as pair, within(pair.inside), xdp.open_xdp(zeroed, [Line("239.1.1.1", 26_400, "in0")], options) as held:
        assert typeof(held.context) == typeof(xdp_receive.closed())
