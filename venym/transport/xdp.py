"""AF_XDP on lines: datagrams from the driver to the feed, around the kernel's network stack.

    interface ── program ──▶ queue 0: socket, rings, frames ──┐
                        └──▶ queue 1: socket, rings, frames ──┴──▶ receive(ctx, packet) … give_back(ctx, count)

open_xdp looks at the interfaces, locks the frames, attaches the program, binds a socket to every receive queue, and
joins the groups with ordinary sockets, which receive nothing but keep the memberships. All of it ends with the process,
however that ends. Nothing is done by halves: where something is refused, an XdpError says what and why, and nothing is
left behind. What was had, though not as well as possible, is told in `notes`.

Capabilities: CAP_NET_RAW for the sockets; CAP_IPC_LOCK, or a limit that covers the frames; CAP_BPF and CAP_NET_ADMIN
for map and program, unless a helper hands them over (transport/xdp_helper.py).
"""

import os
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np

from ..metrics import XDP, named
from .bpf import GENERIC
from .bpf_program import NAME, Target
from .interface import Interface, look_up
from .lines import Line, check_lines
from .xdp_attach import attach_program, load_steering, serve_queue
from .xdp_errors import XdpError, XdpInterfaceAbsent, XdpLine, XdpMode, XdpMtu, XdpQueues
from .xdp_helper import ask_helper
from .xdp_receive import (
    COUNT_MASK,
    GIVEN_BACK,
    HANDED,
    LAST_ERROR,
    LINE_COLUMNS,
    TAKEN,
    Context,
    give_back,
    lay_context,
    receive,
)
from .xdp_rings import FILL_CONSUMER, FILL_PRODUCER, RX_PRODUCER, Rings, Seat

__all__ = ["Account", "Context", "Options", "Xdp", "XdpError", "give_back", "open_xdp", "receive"]

Take = Callable[[str, int, np.dtype], np.ndarray]

MTU_MAX_OCTETS = 3500  # above, a driver needs frames in several parts
_CHUNKS_OCTETS = (2048, 4096)
_BEFORE_OCTETS = 256  # the kernel leaves before a frame in its chunk
_ETHERNET_OCTETS = 14 + 2 * 4
_MODES = ("native", "generic")
_CHOICES = ("auto", "always", "never")
_CLOCK_TRIES = 100
_MCAST_JOIN_GROUP, _MCAST_JOIN_SOURCE_GROUP = 42, 46


class Options(NamedTuple):
    """modes        in the order tried: native (in the driver), generic (in the kernel, for any driver)
    zero_copy    auto: where the driver can; always: or XdpMode; never
    frames_each  frames for each receive queue; 2048 octets each, 4096 where the MTU asks for it
    huge_pages   auto, always, never: for the frames, see venym.hot.arena.Arena
    queues_max   more receive queues than this on one interface are refused
    check_sums   whether check sums are verified, see xdp_receive
    helper       path of a helper's socket that hands over map and program; None: made here
    """

    modes: tuple[str, ...] = ("native",)
    zero_copy: str = "auto"
    frames_each: int = 16_384
    huge_pages: str = "auto"
    queues_max: int = 8
    check_sums: bool = True
    helper: str | None = None


DEFAULTS = Options()


class Account(NamedTuple):
    """Where the frames are: total = filling + received + handed + kernel. At rest, and without zero copy, the kernel
    holds none beside those in its rings."""

    total: int
    filling: int  # in the fill rings
    received: int  # in the receive rings
    handed: int  # handed out and not given back
    kernel: int  # held by the driver, or lost


def open_xdp(take: Take, lines: Sequence[Line | None], options: Options = DEFAULTS) -> "Xdp":
    """AF_XDP on these lines, ready to receive; the number of a line is its place in `lines`.

    `take` gives the counters' memory: take("xdp_counts", XDP_COUNTERS, int64). Raises LineError, XdpError by kind
    (xdp_errors), ArenaError when there is no memory for the frames, ValueError for options that cannot be.
    """
    _check_options(options)
    check_lines(lines)
    interfaces = _interfaces_of(lines)
    chunk_octets = _chunk_for(list(interfaces.values()))
    seats = [
        Seat(interface, number, queue)
        for number, interface in enumerate(dict.fromkeys(interfaces.values()))
        for queue in range(_queues_of(interface, options))
    ]
    with ExitStack() as undo:
        opened = Xdp(take, lines, interfaces, seats, chunk_octets, options, undo)
        undo.pop_all()
    return opened


class Xdp:
    """What open_xdp made. `context` is for receive and give_back; `notes` are sentences about what is not as good as it
    could be. Close it when no compiled code runs on it any more."""

    def __init__(
        self,
        take: Take,
        lines: Sequence[Line | None],
        interfaces: dict[str, Interface],
        seats: list[Seat],
        chunk_octets: int,
        options: Options,
        undo: ExitStack,
    ) -> None:
        self.notes: list[str] = []
        self._interfaces = list(dict.fromkeys(interfaces.values()))
        self._links: list[int] = []
        self._members: list[socket.socket] = []
        self._frames_each, self._chunk_octets = options.frames_each, chunk_octets
        undo.callback(self.close)
        self._rings: Rings | None = None
        self._rings = rings = Rings(seats, options.frames_each, chunk_octets, options.huge_pages)
        self.notes += rings.notes
        self.notes += [_is_down(interface) for interface in self._interfaces if not interface.up]
        for number, interface in enumerate(self._interfaces):
            self._serve(number, interface, _targets_on(interface, lines, interfaces), options)
        for line in lines:
            if line is not None and line.is_multicast:
                self._members.append(_join(line))
        self.context = _lay(take, rings, lines, interfaces, options, chunk_octets)
        self.refresh_clock()

    def _serve(self, number: int, interface: Interface, targets: list[Target], options: Options) -> None:
        """Program, map and sockets of one interface."""
        assert self._rings is not None
        if options.helper is None:
            map_fd, program_fd = load_steering(targets, interface.rx_queues)
        else:
            map_fd, program_fd = ask_helper(options.helper, interface.name, interface.rx_queues, targets)
        try:
            link, mode, note = attach_program(program_fd, interface, options.modes)
            self._links.append(link)
            self.notes += note
            zero_copy = options.zero_copy
            if mode == GENERIC:
                if zero_copy == "always":
                    raise XdpMode(f"{interface.name}: in generic mode there is no zero copy")
                zero_copy = "never"
            copied = []
            for place, seat in enumerate(self._rings.seats):
                if seat.number == number:
                    if not self._rings.bind(place, zero_copy):
                        copied.append(str(seat.queue))
                    serve_queue(map_fd, seat.queue, self._rings.sockets[place].fileno())
            if copied and options.zero_copy != "never":
                self.notes.append(f"{interface.name}: no zero copy: frames of queue {', '.join(copied)} are copied")
        finally:
            os.close(map_fd)  # the program holds its map, and the link its program
            os.close(program_fd)

    def counts(self) -> dict[str, int]:
        """What was counted here, by name (metrics.XDP)."""
        return named(XDP, self.context.counts)

    def kernel_counts(self) -> dict[str, int]:
        """What the kernel counted, summed over the sockets (xdp_rings.KERNEL_COUNTS). dropped + ring_full is lost."""
        assert self._rings is not None
        held = [self._rings.kernel_counts(number) for number in range(len(self._rings.sockets))]
        return {name: sum(counts[name] for counts in held) for name in (held[0] if held else ())}

    @property
    def last_error(self) -> int:
        """The number of the last error of a socket; 0: there was none."""
        return int(self.context.words[LAST_ERROR])

    def account(self) -> Account:
        """Where every frame is; exact while nothing arrives and no compiled code runs on it."""
        assert self._rings is not None
        return account(self.context, self._frames_each * len(self._rings.seats))

    def refresh_clock(self) -> None:
        """Measure anew how far CLOCK_REALTIME is ahead of the clock that arrivals are stamped with; now and then.

        The tightest of some tries: a thread that was interrupted between the two clocks would be wrong by as much.
        """
        best_ns = -1
        for _ in range(_CLOCK_TRIES):
            before_ns, now_ns, after_ns = time.monotonic_ns(), time.time_ns(), time.monotonic_ns()
            if best_ns < 0 or after_ns - before_ns < best_ns:
                best_ns = after_ns - before_ns
                self.context.clock[0] = now_ns - (before_ns + after_ns) // 2

    def check(self) -> list[str]:
        """Sentences about what has gone wrong outside since it was opened; empty: nothing. For the control
        plane; in the network namespace it was opened in."""
        wrong = []
        for was in self._interfaces:
            try:
                now = look_up(was.name)
            except OSError:
                wrong.append(f"{was.name}: the interface is gone")
                continue
            if not now.up:
                wrong.append(_is_down(now))
            if not now.programs:
                wrong.append(f"{was.name}: the program {NAME} is not on it any more")
            if now.rx_queues != was.rx_queues:
                wrong.append(f"{was.name}: {now.rx_queues} receive queues, {was.rx_queues} are served")
            if now.mtu_octets + _ETHERNET_OCTETS > self._chunk_octets - _BEFORE_OCTETS:
                wrong.append(f"{was.name}: with an MTU of {now.mtu_octets} datagrams come that do not fit a frame")
        return wrong

    def close(self) -> None:
        """Take the program off, give up sockets and memberships. A second time does nothing."""
        while self._links:
            os.close(self._links.pop())
        if self._rings is not None:
            self._rings.close()
        while self._members:
            self._members.pop().close()

    def __enter__(self) -> "Xdp":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def account(ctx: Context, total: int) -> Account:
    """Where the `total` frames of a context are."""

    def between(first: Any, last: Any) -> int:
        return sum((int(b) - int(a)) & COUNT_MASK for a, b in zip(first, last, strict=True))

    received = between(ctx.state[:, TAKEN], ctx.words_32[ctx.places[:, RX_PRODUCER]])
    filling = between(ctx.words_32[ctx.places[:, FILL_CONSUMER]], ctx.words_32[ctx.places[:, FILL_PRODUCER]])
    handed = int(ctx.words[HANDED] - ctx.words[GIVEN_BACK])
    return Account(total, filling, received, handed, total - filling - received - handed)


def _lay(
    take: Take,
    rings: Rings,
    lines: Sequence[Line | None],
    interfaces: dict[str, Interface],
    options: Options,
    chunk_octets: int,
) -> Context:
    numbers = {interface: number for number, interface in enumerate(dict.fromkeys(interfaces.values()))}
    rows = [
        (
            _address(line.group) << 16 | line.port,
            _address(line.source) if line.source else 0,
            numbers[interfaces[line.interface]],
            number,
        )
        for number, line in enumerate(lines)
        if line is not None
    ]
    table = np.array(rows, np.int64).reshape(len(rows), LINE_COLUMNS)
    return lay_context(
        *(take, rings.frames, rings.octets, rings.places, table),
        *(options.frames_each, chunk_octets, options.check_sums),
    )


def _check_options(options: Options) -> None:
    if not options.modes or any(mode not in _MODES for mode in options.modes):
        raise ValueError(f"modes {options.modes!r} are not one or more of {', '.join(_MODES)}")
    if options.zero_copy not in _CHOICES:
        raise ValueError(f"zero_copy {options.zero_copy!r} is none of {', '.join(_CHOICES)}")
    if options.frames_each < 64 or options.queues_max < 1:
        raise ValueError("a queue needs 64 frames or more, and there is at least one")


def _interfaces_of(lines: Sequence[Line | None]) -> dict[str, Interface]:
    """For the interface of each line, the one that its frames come in on: below a VLAN interface lies another."""
    found: dict[str, Interface] = {}
    for line in lines:
        if line is None or line.interface in found:
            continue
        if not line.interface:
            raise XdpLine(f"line {line}: AF_XDP needs the name of the interface")
        try:
            interface = look_up(line.interface)
            while interface.lower is not None:
                interface = look_up(interface.lower)
        except OSError as error:
            raise XdpInterfaceAbsent(
                f"there is no interface {line.interface!r} in this network namespace: {error}"
            ) from error
        found[line.interface] = interface
    return found


def _chunk_for(interfaces: list[Interface]) -> int:
    for interface in interfaces:
        if interface.mtu_octets > MTU_MAX_OCTETS:
            raise XdpMtu(
                f"{interface.name}: its MTU of {interface.mtu_octets} is above {MTU_MAX_OCTETS}, the most of a frame "
                f"in one part: ip link set {interface.name} mtu {MTU_MAX_OCTETS}"
            )
    needed = max(interface.mtu_octets for interface in interfaces) + _ETHERNET_OCTETS + _BEFORE_OCTETS
    return next(octets for octets in _CHUNKS_OCTETS if octets >= needed)


def _queues_of(interface: Interface, options: Options) -> int:
    if interface.rx_queues > options.queues_max:
        raise XdpQueues(
            f"{interface.name}: it has {interface.rx_queues} receive queues, at most {options.queues_max} are served "
            f"(queues_max): ethtool -L {interface.name} combined {options.queues_max}"
        )
    return interface.rx_queues


def _targets_on(interface: Interface, lines: Sequence[Line | None], interfaces: dict[str, Interface]) -> list[Target]:
    return [
        Target(line.group, line.port, line.source)
        for line in lines
        if line is not None and interfaces[line.interface] == interface
    ]


def _is_down(interface: Interface) -> str:
    return f"{interface.name}: the interface is down: nothing comes until it is up"


def _address(text: str) -> int:
    return int.from_bytes(socket.inet_aton(text), "big")


def _join(line: Line) -> socket.socket:
    """A socket that is a member of the line's group as long as it is open. It is bound to no port: it gets nothing."""
    member = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    request = struct.pack("=I4x", socket.if_nametoindex(line.interface))
    for address in (line.group, *([line.source] if line.source else [])):
        request += struct.pack("=HH4s120x", socket.AF_INET, 0, socket.inet_aton(address))
    try:
        how = _MCAST_JOIN_SOURCE_GROUP if line.source else _MCAST_JOIN_GROUP
        member.setsockopt(socket.IPPROTO_IP, how, request)
    except OSError as error:
        member.close()
        raise XdpError(f"line {line}: the group cannot be joined ({error.strerror})") from error
    return member
