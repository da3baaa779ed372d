"""AF_XDP started, killed, started anew, and refused: each time by a name of its own, with nothing left behind."""

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.skips import require
from tests.transport.children import (
    BPF,
    IPC_LOCK,
    NET_ADMIN,
    NET_RAW,
    answer_of,
    child,
    forbid_sockets_of,
    keep_capabilities,
    limit_locked_memory,
)
from tests.transport.veth import Pair, ip, sender, veth, within
from tests.transport.xdp_frames import GROUP, PORT, receive_many, take
from venym.hot.layout import aligned
from venym.records import PACKET
from venym.transport import bpf
from venym.transport.bpf_program import Assembler
from venym.transport.interface import look_up
from venym.transport.lines import Line
from venym.transport.xdp import Options, Xdp, open_xdp
from venym.transport.xdp_errors import (
    XdpForeignProgram,
    XdpInterfaceAbsent,
    XdpLine,
    XdpMode,
    XdpMtu,
    XdpProgramRefused,
    XdpQueueBusy,
    XdpQueues,
)
from venym.transport.xdp_rings import Rings, Seat

LINES = [Line(GROUP, PORT, "in0")]
_held: list[Xdp] = []  # in children, until they are killed
SMALL = Options(frames_each=256, huge_pages="never", zero_copy="never")


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    require("needs AF_XDP")
    with veth() as made:
        yield made


def opens(pair: Pair, options: Options = SMALL) -> str:
    """For a child: open and stay."""
    with within(pair.inside):
        _held.append(open_xdp(take, LINES, options))
    return "opened"


def is_left_behind(pair: Pair) -> bool:
    with within(pair.inside):
        return bool(look_up("in0").programs) or "010101EF" in Path("/proc/thread-self/net/igmp").read_text("ascii")


def test_killed_and_started_anew_five_times(pair: Pair) -> None:
    """Closing is asynchronous: the queue of a process that was killed is not free at once."""
    began = time.monotonic()
    for _ in range(5):
        with child(lambda: opens(pair)) as made:
            assert made.answer() == "opened"
            made.kill()
            assert not is_left_behind(pair)
    assert time.monotonic() - began < 5
    with within(pair.inside), open_xdp(take, LINES, SMALL) as xdp, sender(pair) as out:
        out.send(b"after all that")
        time.sleep(0.02)
        assert receive_many(xdp.context, aligned(4, PACKET)) == 1


def test_a_second_one_waits_for_the_first_to_go_and_then_gives_up(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("venym.transport.xdp_attach.ATTACH_WAIT_S", 0.2)
    with child(lambda: opens(pair)) as made:
        assert made.answer() == "opened"
        kind, said = answer_of(lambda: opens(pair))
        assert kind == "XdpForeignProgram" and "venym_xdp" in said
    assert opens_in_a_child(pair) == "opened"


def opens_in_a_child(pair: Pair) -> str:
    return str(answer_of(lambda: opens(pair)))


def test_a_queue_that_another_socket_holds_is_waited_for_so_long(pair: Pair) -> None:
    with within(pair.inside):
        seat = Seat(look_up("in0"), 0, 0)
        first, second = (Rings([seat], 64, 2048, "never") for _ in range(2))
        try:
            assert first.bind(0, "never") is False
            began = time.monotonic()
            with pytest.raises(XdpQueueBusy, match="queue 0 of in0: another AF_XDP socket has held it"):
                second.bind(0, "never", wait_s=0.1)
            assert 0.1 <= time.monotonic() - began < 2
            first.close()
            assert second.bind(0, "never") is False
        finally:
            first.close()
            second.close()


@pytest.mark.parametrize("mode", [bpf.NATIVE, bpf.GENERIC])
def test_a_foreign_program_is_left_alone_and_named(pair: Pair, mode: int) -> None:
    code = Assembler()
    code.set(0, bpf.PASS)
    code.leave()
    program = bpf.load_program(code.code(), "somebody")
    with within(pair.inside):
        link = bpf.attach(program, look_up("in0").ifindex, mode)
        try:
            there = look_up("in0").programs
            for modes in (("native",), ("generic",), ("native", "generic")):
                with pytest.raises(XdpForeignProgram, match=r"in0: there is an XDP program on it already: somebody"):
                    open_xdp(take, LINES, SMALL._replace(modes=modes))
                assert look_up("in0").programs == there != ()
        finally:
            os.close(link)
            os.close(program)
    assert opens_in_a_child(pair) == "opened"


def test_a_large_mtu_is_refused() -> None:
    require("needs AF_XDP")
    with veth(mtu=8901) as pair, within(pair.inside):
        with pytest.raises(XdpMtu, match="in0: its MTU of 8901 is above 3500"):
            open_xdp(take, LINES, SMALL)
        assert not is_left_behind(pair)


def test_more_queues_than_may_be_served_are_refused() -> None:
    require("needs AF_XDP")
    with veth(queues=4) as pair, within(pair.inside):
        with pytest.raises(XdpQueues, match="in0: it has 4 receive queues, at most 3 are served"):
            open_xdp(take, LINES, SMALL._replace(queues_max=3))
        assert not is_left_behind(pair)


def test_an_interface_that_is_not_there_is_refused(pair: Pair) -> None:
    with within(pair.inside):
        with pytest.raises(XdpInterfaceAbsent, match="'nope0'"):
            open_xdp(take, [Line(GROUP, PORT, "nope0")], SMALL)
        with pytest.raises(XdpLine, match="needs the name of the interface"):
            open_xdp(take, [Line(GROUP, PORT)], SMALL)


def test_what_the_driver_cannot_do_is_refused(pair: Pair) -> None:
    with within(pair.inside):
        with pytest.raises(XdpMode, match="the driver has no zero copy"):
            open_xdp(take, LINES, SMALL._replace(zero_copy="always"))
        with pytest.raises(XdpMode, match="in generic mode there is no zero copy"):
            open_xdp(take, LINES, SMALL._replace(modes=("generic",), zero_copy="always"))
        ip("-n", pair.inside, "link", "set", "lo", "mtu", 1500)
        with pytest.raises(XdpMode, match="lo: no native mode"):
            open_xdp(take, [Line("127.0.0.1", PORT, "lo")], SMALL)
    assert not is_left_behind(pair)


@pytest.mark.parametrize(
    "wrong", [{"modes": ()}, {"modes": ("fast",)}, {"zero_copy": "no"}, {"frames_each": 1}, {"queues_max": 0}], ids=str
)
def test_options_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError):
        open_xdp(take, LINES, SMALL._replace(**wrong))  # type: ignore[arg-type]


def test_memory_that_may_not_be_locked_is_named(pair: Pair) -> None:
    def work() -> str:
        limit_locked_memory(64 << 10)
        keep_capabilities(NET_RAW, NET_ADMIN, BPF)
        return _opens_from_within(SMALL)

    with within(pair.inside):
        kind, said = answer_of(work)
    assert kind == "XdpMemoryLimit" and "RLIMIT_MEMLOCK" in said and "CAP_IPC_LOCK" in said
    assert not is_left_behind(pair)


@pytest.mark.parametrize(
    ("kept", "named"),
    [
        ((IPC_LOCK, BPF, NET_ADMIN), "CAP_NET_RAW"),
        ((IPC_LOCK, NET_RAW), "CAP_BPF"),
        ((NET_RAW, IPC_LOCK, BPF), "CAP_NET_ADMIN"),
    ],
)
def test_a_capability_that_is_missing_is_named(pair: Pair, kept: tuple[int, ...], named: str) -> None:
    def work() -> str:
        keep_capabilities(*kept)
        return _opens_from_within(SMALL)

    with within(pair.inside):
        kind, said = answer_of(work)
    assert kind == "XdpPermission" and named in said


def test_a_kernel_without_it_is_named(pair: Pair) -> None:
    def work() -> str:
        forbid_sockets_of(44, errno.EAFNOSUPPORT)
        return _opens_from_within(SMALL)

    with within(pair.inside):
        kind, said = answer_of(work)
    assert kind == "XdpUnsupported" and "no AF_XDP" in said


def _opens_from_within(options: Options) -> str:
    """As `opens`, for a child that may not change namespaces any more."""
    _held.append(open_xdp(take, LINES, options))
    return "opened"


def test_what_the_verifier_refuses_is_told_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    require("needs AF_XDP")
    code = Assembler()
    code.leave()  # without a result
    with pytest.raises(OSError, match="R0"):
        bpf.load_program(code.code(), "wrong")
    monkeypatch.setattr("venym.transport.xdp_attach.steer", lambda map_fd, targets: code.code())
    with veth() as pair, within(pair.inside), pytest.raises(XdpProgramRefused, match="R0"):
        open_xdp(take, LINES, SMALL)
