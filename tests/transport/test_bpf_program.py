"""The program's verdict on frames, asked of the kernel without any interface, against a plain twin."""

import os
import socket
import struct
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings

from tests.naive import xdp as naive
from tests.skips import require
from tests.transport.xdp_frames import GROUP, PORT, frame, frames
from tests.wire import build
from venym.transport import bpf
from venym.transport.bpf_program import Assembler, Target, steer

TARGETS = [Target(GROUP, PORT, None), Target("239.1.1.2", PORT + 1, "10.0.0.1"), Target("239.1.1.2", PORT, "10.0.0.2")]
NAIVE = [naive.Target(*target) for target in TARGETS]
Steered = Callable[[bytes], bool]


@pytest.fixture(scope="module")
def steered() -> Iterator[Steered]:
    """Is a frame taken? A socket with a receive ring is enough to be in the map."""
    require("needs AF_XDP")
    with socket.socket(44, socket.SOCK_RAW) as receiver:
        receiver.setsockopt(283, 2, struct.pack("=I", 64))
        sockets = bpf.create_socket_map(1, "test")
        bpf.put_socket(sockets, 0, receiver.fileno())
        program = bpf.load_program(steer(sockets, TARGETS), "test")

        def verdict(octets: bytes) -> bool:
            result = bpf.run_program(program, octets).verdict
            assert result in (bpf.PASS, bpf.REDIRECT)
            return result == bpf.REDIRECT

        yield verdict
        bpf.remove_socket(sockets, 0)
        assert not verdict(frame())  # without a socket it passes
        os.close(program)
        os.close(sockets)


@pytest.mark.parametrize(
    ("octets", "taken"),
    [
        pytest.param(frame(), True, id="plain"),
        pytest.param(frame(pad=60), True, id="padded"),
        pytest.param(frame(b""), True, id="empty"),
        pytest.param(frame(tags=[0x8100]), True, id="802.1Q"),
        pytest.param(frame(tags=[0x88A8]), True, id="802.1ad"),
        pytest.param(frame(tags=[0x88A8, 0x8100]), True, id="both"),
        pytest.param(frame(tags=[0x8100, 0x8100]), True, id="two of 802.1Q"),
        pytest.param(frame(tags=[0x8100, 0x8100, 0x8100]), False, id="three tags"),
        pytest.param(frame(tags=[0x9100]), False, id="another tag"),
        pytest.param(frame(options=bytes(4)), True, id="one word of options"),
        pytest.param(frame(options=bytes(40), tags=[0x88A8, 0x8100]), True, id="all options, both tags"),
        pytest.param(frame(to="239.1.1.2", port=PORT + 1), True, id="second line, from its source"),
        pytest.param(frame(to="239.1.1.2"), False, id="third line, from another source"),
        pytest.param(frame(port=PORT + 1), False, id="port of another line"),
        pytest.param(frame(to="239.1.1.3"), False, id="another group"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x"), fragment=0x2000)), False, id="first fragment"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x"), fragment=1)), False, id="later fragment"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x"), fragment=0x4000)), True, id="must not be cut"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x"), protocol=6)), False, id="TCP"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x"), version=6)), False, id="version 6"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x"), words=4)), False, id="header of four words"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x"), words=15)), False, id="options beyond the frame"),
        pytest.param(build.ethernet(build.ipv4(build.udp(b"x")), kind=0x86DD), False, id="IPv6"),
        pytest.param(frame(b"")[:41], False, id="cut in the UDP header"),
    ],
)
def test_what_is_taken(steered: Steered, octets: bytes, taken: bool) -> None:
    assert steered(octets) is taken
    assert naive.is_steered(octets, NAIVE) is taken


@given(octets=frames())
@settings(max_examples=300, deadline=None)
def test_any_frame_is_judged_as_the_twin_judges_it(steered: Steered, octets: bytes) -> None:
    if len(octets) >= 14:  # the kernel takes no shorter one
        assert steered(octets) == naive.is_steered(octets, NAIVE)


def test_many_lines_are_one_program() -> None:
    require("needs AF_XDP")
    sockets = bpf.create_socket_map(1, "test")
    targets = [Target(f"239.{number}.1.1", PORT, f"10.0.{number}.1") for number in range(200)]
    program = bpf.load_program(steer(sockets, targets), "test")
    os.close(program)
    os.close(sockets)


def test_instructions_are_laid_out_as_the_kernel_has_them() -> None:
    a = Assembler()
    a.if_equal(1, -2, "end")
    a.load_16(2, 3, -4)
    a.label("end")
    a.leave()
    assert a.code().hex(" ", 8) == "15010100feffffff 6932fcff00000000 9500000000000000"


def test_a_jump_to_nowhere_is_an_error() -> None:
    a = Assembler()
    a.jump("nowhere")
    with pytest.raises(KeyError, match="nowhere"):
        a.code()
