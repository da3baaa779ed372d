"""Integers in octets, one octet at a time."""

from typing import Literal

Order = Literal["big", "little"]


def load(octets: bytes, offset: int, width: int, order: Order) -> int:
    """The integer of `width` octets at `offset`; eight octets are two's complement, fewer have no sign."""
    value = 0
    for k in range(width):
        octet = octets[offset + k]
        value += octet << 8 * (width - 1 - k if order == "big" else k)
    return value - (1 << 64) if width == 8 and value >= 1 << 63 else value


def store(octets: bytes, offset: int, width: int, order: Order, value: int) -> bytes:
    """The octets with the low `width` octets of `value` put at `offset`."""
    held = bytearray(octets)
    for k in range(width):
        held[offset + k] = value >> 8 * (width - 1 - k if order == "big" else k) & 0xFF
    return bytes(held)
