"""Frames for tests of AF_XDP: right ones, and ways to spoil them; and the loop that takes them."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from tests.naive.packets import internet_sum
from tests.wire import build
from venym.hot.jit import hot
from venym.hot.layout import aligned
from venym.transport.xdp_receive import _folded, give_back, receive

GROUP, PORT = "239.1.1.1", 26_400
RIGHT, NONE, PARTIAL, WRONG = "right", "none", "partial", "wrong"


def take(name: str, count: int, dtype: np.dtype) -> np.ndarray:
    return aligned(count, dtype)


@hot
def receive_many(ctx, packets):
    """Fill `packets` as far as there are any; returns how many."""
    count = 0
    while count < packets.shape[0] and receive(ctx, packets[count]) != 0:
        count += 1
    return count


@hot
def give_back_many(ctx, count):
    give_back(ctx, count)


@hot
def fold(total):
    return _folded(total)


def datagram(
    payload: bytes, to: str = GROUP, port: int = PORT, options: bytes = b"", sums: str = RIGHT, ip_sum: bool = True
) -> bytes:
    """An IPv4 datagram with its sums; `sums`: what UDP's shall be."""
    octets = bytearray(build.ipv4(build.udp(payload, port), to, options))
    header = 20 + len(options)
    if ip_sum:
        octets[10:12] = (internet_sum(bytes(octets[:header])) ^ 0xFFFF).to_bytes(2, "big")
    pseudo = bytes(octets[12:20]) + b"\0\x11" + bytes(octets[header + 4 : header + 6])
    right = internet_sum(pseudo + bytes(octets[header:])) ^ 0xFFFF or 0xFFFF
    held = {RIGHT: right, NONE: 0, PARTIAL: internet_sum(pseudo), WRONG: right % 0xFFFF + 1}[sums]
    octets[header + 6 : header + 8] = held.to_bytes(2, "big")
    return bytes(octets)


def frame(payload: bytes = b"payload", tags: Sequence[int] = (), pad: int = 0, **how: object) -> bytes:
    return build.ethernet(datagram(payload, **how), tags, pad=pad)  # type: ignore[arg-type]


@st.composite
def frames(draw: st.DrawFn) -> bytes:
    """Mostly right ones; some spoiled in an octet, cut, or with octets behind."""
    octets = bytearray(
        frame(
            draw(st.binary(max_size=70)),
            tags=draw(st.sampled_from([(), (0x8100,), (0x88A8, 0x8100), (0x8100,) * 3, (0x9100,)])),
            pad=draw(st.sampled_from([0, 60, 100])),
            to=draw(st.sampled_from([GROUP, GROUP, "239.1.1.2", "10.0.0.9"])),
            port=draw(st.sampled_from([PORT, PORT, 26_401])),
            options=draw(st.sampled_from([b"", bytes(4), b"\x01" * 40])),
            sums=draw(st.sampled_from([RIGHT, NONE, PARTIAL, WRONG])),
            ip_sum=draw(st.integers(0, 4)) > 0,
        )
    )
    for _ in range(draw(st.sampled_from([0, 0, 1, 3]))):
        place = draw(st.integers(0, min(len(octets) - 1, 60)))
        octets[place] = draw(st.sampled_from([0, 5, 8, 17, 0x45, 0x46, 0x4F, 0x81, 0xFF, octets[place] ^ 1]))
    return bytes(octets[: draw(st.integers(0, len(octets)))] if draw(st.integers(0, 3)) == 0 else octets)
