"""AF_XDP between two network namespaces: what arrives, what passes, what is lost and counted."""

import os
import socket
import struct
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.skips import require
from tests.transport.egress import attach_egress, load_egress
from tests.transport.veth import INSIDE_ADDRESS, Pair, ip, raw_sender, sender, veth, within
from tests.transport.xdp_frames import GROUP, NONE, PORT, RIGHT, WRONG, frame, give_back_many, receive_many, take
from venym.hot.layout import aligned
from venym.records import PACKET
from venym.transport.bpf_program import Assembler
from venym.transport.interface import look_up
from venym.transport.lines import Line
from venym.transport.xdp import Options, Xdp, open_xdp
from venym.transport.xdp_receive import TAKEN

LINES = [Line(GROUP, PORT, "in0"), Line("239.1.1.2", PORT, "in0"), None, Line(GROUP, PORT + 1, "in0", "10.77.0.1")]
SMALL = Options(frames_each=256, huge_pages="never", zero_copy="never")
SETTLE_S = 0.02  # on the same machine a datagram is there when send returns, or a soft interrupt later


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    require("needs AF_XDP")
    with veth() as made:
        yield made


def opened(pair: Pair, options: Options = SMALL, lines: list[Line | None] | None = None) -> Xdp:
    with within(pair.inside):
        return open_xdp(take, LINES if lines is None else lines, options)


def received(xdp: Xdp, give_back: bool = True, settle_s: float = SETTLE_S) -> list[tuple[int, bytes]]:
    time.sleep(settle_s)
    packets = aligned(1024, PACKET)
    count = receive_many(xdp.context, packets)
    made = [(int(p.line), xdp.context.frames[p.offset : p.offset + p.length].tobytes()) for p in packets[:count]]
    if give_back:
        give_back_many(xdp.context, count)
    return made


@pytest.mark.parametrize("mode", ["native", "generic"])
def test_datagrams_of_every_line_arrive_with_their_time(pair: Pair, mode: str) -> None:
    with opened(pair, SMALL._replace(modes=(mode,))) as xdp:
        before_ns = time.time_ns()
        for line in LINES:
            if line is not None:
                with sender(pair, line.group, line.port) as out:
                    out.send(str(line).encode())
        time.sleep(SETTLE_S)
        after_ns = time.time_ns()
        packets = aligned(8, PACKET)
        assert receive_many(xdp.context, packets) == 3
        for packet, number in zip(packets, (0, 1, 3), strict=False):
            payload = xdp.context.frames[packet.offset : packet.offset + packet.length].tobytes()
            assert (packet.line, payload) == (number, str(LINES[number]).encode())
            assert before_ns - 100_000 < packet.received_ns < after_ns + 100_000
        assert xdp.account() == (256, 253, 0, 3, 0)
        give_back_many(xdp.context, 3)
        assert xdp.account() == (256, 256, 0, 0, 0)
        with within(pair.inside):
            assert xdp.check() == []


def test_what_is_not_ours_goes_to_the_kernel(pair: Pair) -> None:
    with opened(pair) as xdp, within(pair.inside), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind((INSIDE_ADDRESS, PORT))
        other.settimeout(5)
        with sender(pair, INSIDE_ADDRESS, PORT) as out:
            out.send(b"to the host")
            assert other.recv(100) == b"to the host"
            out.send(b"in fragments" * 300)
            assert len(other.recv(10_000)) == 3600
        assert received(xdp) == [] and xdp.counts()["frames"] == 0


def test_another_source_than_the_lines_is_not_taken(pair: Pair) -> None:
    with opened(pair, lines=[Line(GROUP, PORT, "in0", "10.77.0.9")]) as xdp, sender(pair) as out:
        out.send(b"from 10.77.0.1")
        assert received(xdp) == [] and xdp.counts()["frames"] == 0


@pytest.mark.parametrize("mode", ["native", "generic"])
def test_tagged_frames_are_taken(pair: Pair, mode: str) -> None:
    with opened(pair, SMALL._replace(modes=(mode,))) as xdp, raw_sender(pair) as out:
        for tags in ((), (0x8100,), (0x88A8,), (0x88A8, 0x8100), (0x8100, 0x8100, 0x8100)):
            out.send(frame(repr(tags).encode(), tags, pad=60))
        assert received(xdp) == [(0, repr(tags).encode()) for tags in ((), (33024,), (34984,), (34984, 33024))]


def test_sums_are_judged_as_the_policy_says(pair: Pair) -> None:
    with opened(pair) as xdp, raw_sender(pair) as raw, sender(pair) as out:
        raw.send(frame(b"right", sums=RIGHT))
        raw.send(frame(b"wrong", sums=WRONG))
        raw.send(frame(b"none", sums=NONE))
        raw.send(frame(b"header", ip_sum=False))
        out.send(b"partial")
        assert [payload for _, payload in received(xdp)] == [b"right", b"none", b"partial"]
        counts = xdp.counts()
        assert (counts["bad_udp_sums"], counts["bad_ip_sums"], counts["no_sums"]) == (1, 1, 1)
        assert counts["partial_sums"] == 1
        assert xdp.account() == (256, 256, 0, 0, 0)
    with opened(pair, SMALL._replace(check_sums=False)) as xdp, raw_sender(pair) as raw:
        raw.send(frame(b"wrong", sums=WRONG))
        assert received(xdp) == [(0, b"wrong")]


def test_a_reader_that_pauses_loses_what_has_no_frame_and_then_goes_on(pair: Pair) -> None:
    with opened(pair, SMALL._replace(frames_each=64)) as xdp, sender(pair) as out:
        for number in range(640):
            out.send(b"%d" % number)
        assert received(xdp, False, 0.1) == [(0, b"%d" % number) for number in range(64)]
        lost = xdp.kernel_counts()
        assert lost["dropped"] + lost["ring_full"] == 640 - 64
        assert xdp.account() == (64, 0, 0, 64, 0)
        out.send(b"no frame for this one")
        assert received(xdp) == []
        give_back_many(xdp.context, 64)
        assert xdp.account() == (64, 64, 0, 0, 0)
        for number in range(64):
            out.send(b"%d" % number)
        assert received(xdp) == [(0, b"%d" % number) for number in range(64)]
        assert xdp.account() == (64, 64, 0, 0, 0)


def test_many_ring_fulls_keep_every_frame_in_its_place(pair: Pair) -> None:
    with opened(pair, SMALL._replace(frames_each=64)) as xdp, sender(pair) as out:
        seen = 0
        for number in range(1000):
            out.send(b"%d" % number)
            if number % 50 == 49:
                for _, payload in received(xdp, settle_s=0.002):
                    assert payload == b"%d" % seen
                    seen += 1
        assert seen == 1000 and xdp.account() == (64, 64, 0, 0, 0)


def test_the_group_is_joined_as_long_as_it_is_open(pair: Pair) -> None:
    def joined() -> bool:
        with within(pair.inside):
            return "010101EF" in Path("/proc/thread-self/net/igmp").read_text("ascii")

    assert not joined()
    with opened(pair):
        assert joined()
    assert not joined()


def test_the_program_is_on_the_interface_as_long_as_it_is_open(pair: Pair) -> None:
    xdp = opened(pair)
    with within(pair.inside):
        assert look_up("in0").programs
        xdp.close()
        xdp.close()
        assert look_up("in0").programs == ()


def test_after_the_end_nothing_comes_and_what_came_stays_readable(pair: Pair) -> None:
    with opened(pair) as xdp, sender(pair) as out:
        out.send(b"in time")
        out.send(b"unread")
        time.sleep(SETTLE_S)
        packets = aligned(1, PACKET)
        assert receive_many(xdp.context, packets) == 1
    with sender(pair) as out:
        out.send(b"too late")
    assert received(xdp) == [(0, b"unread")]
    assert received(xdp) == []
    offset = packets[0].offset
    assert xdp.context.frames[offset : offset + 7].tobytes() == b"in time"
    assert (xdp.counts()["frames"], xdp.counts()["packets"]) == (2, 2)


def test_lines_on_two_interfaces(pair: Pair) -> None:
    """The same group and port on both: the line is the interface's."""
    ip("link", "add", "out1", "netns", pair.outside, "type", "veth", "peer", "name", "in1", "netns", pair.inside)
    for name, device, host in ((pair.outside, "out1", 1), (pair.inside, "in1", 2)):
        ip("-n", name, "addr", "add", f"10.78.0.{host}/24", "dev", device)
        ip("-n", name, "link", "set", device, "up")
    lines = [Line(GROUP, PORT, "in1"), Line(GROUP, PORT, "in0")]
    with opened(pair, lines=list(lines)) as xdp, sender(pair) as first, raw_sender(pair, "out1") as second:
        for number in range(3):
            first.send(b"0 %d" % number)
            second.send(frame(b"1 %d" % number))
        assert sorted(received(xdp)) == [(0, b"1 %d" % k) for k in range(3)] + [(1, b"0 %d" % k) for k in range(3)]
        assert xdp.account() == (512, 512, 0, 0, 0)


def tag_seen_inside(pair: Pair) -> int:
    """The VLAN that the kernel keeps beside a frame of ours (struct tpacket_auxdata)."""
    with within(pair.inside), socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as sniffer:
        sniffer.bind(("in0", 3))
        sniffer.setsockopt(263, 8, 1)
        sniffer.settimeout(5)
        with sender(pair) as out:
            out.send(b"seen")
        while True:
            octets, ancillary, _, _ = sniffer.recvmsg(2000, 100)
            if octets.endswith(b"seen"):
                return int(struct.unpack_from("=H", ancillary[0][2], 16)[0])


@pytest.mark.parametrize("mode", ["native", "generic"])
def test_a_tag_that_a_card_took_off_or_will_put_on_is_not_in_the_way(pair: Pair, mode: str) -> None:
    """VLAN offload: a program at the sender's interface puts the tag beside the frame, as a VLAN interface would."""
    code = Assembler()
    code.set(2, 0x0081)  # 8100 as on the wire
    code.set(3, 100)
    code.call(18)  # bpf_skb_vlan_push
    code.set(0, 0)
    code.leave()
    program = load_egress(code.code())
    try:
        with within(pair.outside):
            link = attach_egress(program, look_up("out0").ifindex)
        try:
            assert tag_seen_inside(pair) == 100
            with opened(pair, SMALL._replace(modes=(mode,))) as xdp, sender(pair) as out:
                out.send(b"tagged")
                assert received(xdp) == [(0, b"tagged")]
        finally:
            os.close(link)
    finally:
        os.close(program)


def test_copies_and_the_other_mode_are_told(pair: Pair) -> None:
    with opened(pair, SMALL._replace(zero_copy="auto")) as xdp:
        assert any("no zero copy" in note and "copied" in note for note in xdp.notes)
    ip("-n", pair.inside, "link", "set", "lo", "mtu", 1500)
    either = SMALL._replace(modes=("native", "generic"))
    with opened(pair, either, [Line("127.0.0.1", PORT, "lo")]) as xdp:
        assert any("no native mode" in note for note in xdp.notes)
        assert any("in generic mode" in note for note in xdp.notes)


def test_every_queue_is_served() -> None:
    require("needs AF_XDP")
    with veth(queues=4) as pair, opened(pair) as xdp:
        sent = set()
        for number in range(64):
            for line, group in ((0, GROUP), (1, "239.1.1.2")):
                with sender(pair, group) as out:  # from another port each time, so to another queue
                    out.send(b"%d" % number)
                sent.add((line, b"%d" % number))
        assert set(received(xdp)) == sent
        assert np.count_nonzero(xdp.context.state[:, TAKEN]) > 1
        assert xdp.account() == (4 * 256, 4 * 256, 0, 0, 0)


def test_large_frames_up_to_the_limit() -> None:
    require("needs AF_XDP")
    with veth(mtu=3500) as pair, opened(pair) as xdp, sender(pair) as out:
        payload = bytes(k & 0xFF for k in range(3500 - 28))
        out.send(payload)
        assert received(xdp) == [(0, payload)]


def test_an_interface_that_is_down_is_told_and_serves_when_it_is_up() -> None:
    require("needs AF_XDP")
    with veth() as pair:
        ip("-n", pair.inside, "link", "set", "in0", "down")
        with opened(pair) as xdp, within(pair.inside):
            assert any("in0: the interface is down" in note for note in xdp.notes)
            assert ["in0: the interface is down" in said for said in xdp.check()] == [True]
            ip("-n", pair.inside, "link", "set", "in0", "up")
            assert xdp.check() == []
            with sender(pair) as out:
                out.send(b"up")
                assert received(xdp) == [(0, b"up")]


def test_no_namespace_is_left_behind_by_a_test_that_fails() -> None:
    require("needs AF_XDP")
    names: list[str] = []
    with pytest.raises(ZeroDivisionError), veth() as made:
        names += made
        raise ZeroDivisionError
    assert names and not set(names) & set(ip("netns", "list").split())


def test_what_goes_wrong_outside_is_told() -> None:
    require("needs AF_XDP")
    with veth() as pair, opened(pair) as xdp:
        with within(pair.inside):
            ip("-n", pair.inside, "link", "set", "in0", "mtu", 3000)
            assert ["MTU of 3000" in said for said in xdp.check()] == [True]
            ip("-n", pair.inside, "link", "del", "in0")
            assert ["is gone" in said for said in xdp.check()] == [True]
        assert received(xdp) == []
