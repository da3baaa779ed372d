"""The kernel's side of AF_XDP rings, played over ordinary memory: what is in the fill ring may be filled."""

import numpy as np

from tests.transport.xdp_frames import take
from venym.transport.xdp import Account, account
from venym.transport.xdp_receive import GIVEN, LINE_COLUMNS, SEEN, TAKEN, TOLD, Context, lay_context
from venym.transport.xdp_rings import (
    BASE,
    FD,
    FILL_ADDRESSES,
    FILL_CONSUMER,
    FILL_FLAGS,
    FILL_PRODUCER,
    INTERFACE,
    MASK,
    OCTETS,
    PLACES,
    RX_CONSUMER,
    RX_DESCRIPTORS,
    RX_PRODUCER,
)

HEADROOM = 256
_WRAP = 1 << 32


class Kernel:
    """`sockets` of `frames_each` (a power of two) frames, all in the fill rings, whose indices begin at `start`.

    lines: rows of (address << 16 | port, source, interface, line). Socket k is on interface k.
    """

    def __init__(
        self,
        lines: list[tuple[int, int, int, int]],
        sockets: int = 1,
        frames_each: int = 4,
        chunk: int = 2048,
        start: int = 0,
        check_sums: bool = True,
        frames: np.ndarray | None = None,
    ) -> None:
        self.chunk, self.frames_each = chunk, frames_each
        each = 512 + 24 * frames_each
        self.octets = np.zeros(sockets * each, np.uint8)
        self.words, self.entries = self.octets.view(np.uint32), self.octets.view(np.int64)
        self.places = np.zeros((sockets, PLACES), np.int64)
        for number in range(sockets):
            row, at = self.places[number], number * each
            row[RX_PRODUCER], row[RX_CONSUMER] = at // 4, at // 4 + 16
            row[FILL_PRODUCER], row[FILL_CONSUMER], row[FILL_FLAGS] = at // 4 + 32, at // 4 + 48, at // 4 + 64
            row[RX_DESCRIPTORS], row[FILL_ADDRESSES] = at // 8 + 64, at // 8 + 64 + 2 * frames_each
            row[MASK], row[BASE], row[OCTETS] = frames_each - 1, number * frames_each * chunk, frames_each * chunk
            row[FD], row[INTERFACE] = -1, number
            self.words[row[[RX_PRODUCER, RX_CONSUMER, FILL_CONSUMER]]] = start % _WRAP
            self.words[row[FILL_PRODUCER]] = (start + frames_each) % _WRAP
            for k in range(frames_each):
                self.entries[row[FILL_ADDRESSES] + (start + k) % frames_each] = k * chunk
        if frames is None:
            frames = np.zeros(sockets * frames_each * chunk, np.uint8)
        table = np.array(lines, np.int64).reshape(len(lines), LINE_COLUMNS)
        self.ctx: Context = lay_context(take, frames, self.octets, self.places, table, frames_each, chunk, check_sums)
        self.ctx.state[:, [TAKEN, SEEN]] = start % _WRAP
        self.ctx.state[:, [GIVEN, TOLD]] = (start + frames_each) % _WRAP

    def deliver(self, frame: bytes, number: int = 0, stamp: int = 0) -> int | None:
        """Put a frame into the next empty chunk; where it lies in ctx.frames, None when no chunk is there."""
        row = self.places[number]
        consumer = int(self.words[row[FILL_CONSUMER]])
        if consumer == self.words[row[FILL_PRODUCER]]:
            return None
        chunk = int(self.entries[row[FILL_ADDRESSES] + (consumer & row[MASK])])
        self.words[row[FILL_CONSUMER]] = (consumer + 1) % _WRAP
        at = int(row[BASE]) + chunk + HEADROOM
        self.ctx.frames[at : at + len(frame)] = np.frombuffer(frame, np.uint8)
        self.ctx.frames[at - 8 : at] = np.frombuffer(stamp.to_bytes(8, "little"), np.uint8)
        self.describe(chunk + HEADROOM, len(frame), number)
        return at

    def describe(self, address: int, length: int, number: int = 0, options: int = 0) -> None:
        """Put a descriptor into the receive ring, true or not."""
        row = self.places[number]
        producer = int(self.words[row[RX_PRODUCER]])
        at = row[RX_DESCRIPTORS] + 2 * (producer & row[MASK])
        self.entries[at], self.entries[at + 1] = address, options << 32 | length
        self.words[row[RX_PRODUCER]] = (producer + 1) % _WRAP

    def account(self) -> Account:
        return account(self.ctx, self.frames_each * len(self.places))
