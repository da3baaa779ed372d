"""``venym publish``: be the exchange. Put a capture or day file on a channel's lines, and serve what recovery asks for.

    FILE ─▶ store ─┬─▶ line A, line B: MoldUDP64, heartbeats, the end of the session
                   ├─▶ re-request servers: what is lost
                   └─▶ snapshot server: what is displayed now

The channel is one of the settings: its groups and ports are sent to, its servers are bound here. What is lost, sent
twice or out of order depends on --seed and the packet's number alone. A packet is sent when it is due, however late the
one before was. Messages that came in packets keep them; a day file's are packed by time, or by --messages-per-packet.
It ends some seconds after the last packet, or with Ctrl-C, and tells what was published and served.
"""

import argparse
import json
import threading
from contextlib import closing
from typing import Any

import numpy as np

from ..hot.layout import aligned
from ..records import MOLDUDP64, PACKET
from ..transport.capture import Capture
from ..venue.glimpse_server import GlimpseOptions
from ..venue.impairment import Impairment, Outage
from ..venue.message_store import Store
from ..venue.publisher import Publisher, PublisherOptions
from ..venue.rerequest_server import RerequestOptions
from ..venue.sending import Target
from ..venue.store_builder import Builder, Left, Packing
from ..wire.moldudp64 import COUNT_MAX, SESSION_BYTES
from .batches import Batches
from .errors import BAD_DATA, GOOD, ConfigurationError
from .interrupt import interruptible
from .log import say
from .pacing import parse_speed
from .progress import Progress
from .settings import Channel, Settings

OCTETS_A_PACKET = 256  # of frame memory, for each packet that may lie in it
SESSION = "VENYM00001"  # of a day file whose name has no date
_POLL_SECONDS = 0.1


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Publish ``args.files`` (paths) on the channel ``args.channel`` (its name, or None for the first).

    1 if a file was damaged or a packet could not be sent. Raises ConfigurationError, CaptureError, StoreError and
    SendError before anything is sent.
    """
    channel = _channel_of(settings, args.channel)
    options = _options_of(args, channel)
    targets = _targets_of(args, settings, channel)
    store, left, damaged = _load(args, settings)
    _tell_left(left)
    with interruptible() as asked:
        try:
            publisher = Publisher(store, targets, options)
        except ValueError as error:
            raise ConfigurationError(str(error)) from error
        with publisher:
            say(f"publishing {store.messages:,} messages on {', '.join(str(target) for target in targets if target)}")
            _watch(publisher, store, asked)
            summary = publisher.summary() | {"left_out": left._asdict()}
    print(json.dumps(summary, indent=2) if args.json else _as_text(summary))
    return BAD_DATA if damaged or any(line["errors"] for line in summary["lines"].values()) else GOOD


def _channel_of(settings: Settings, name: str | None) -> Channel:
    if not settings.channels:
        raise ConfigurationError("channels: there is none; name one in a file for --config, as config/venym.toml shows")
    for channel in settings.channels:
        if name in (None, channel.name):
            return channel
    there = ", ".join(channel.name for channel in settings.channels)
    raise ConfigurationError(f"--channel: there is no channel {name}; there are {there}")


def _targets_of(args: argparse.Namespace, settings: Settings, channel: Channel) -> tuple[Target | None, Target | None]:
    def target(address: str, interface: str) -> Target | None:
        group, _, port = address.rpartition(":")
        named = args.interface if args.interface is not None else interface or settings.feed.interface
        return Target(group, int(port), named, args.ttl) if address else None

    return target(channel.line_a, channel.interface_a), target(channel.line_b, channel.interface_b)


def _options_of(args: argparse.Namespace, channel: Channel) -> PublisherOptions:
    try:
        speed = parse_speed(args.speed)
    except ValueError as error:
        raise ConfigurationError(f"--speed: {error}") from error
    served = [] if args.no_servers else [*channel.rerequest, *filter(None, [channel.glimpse])]
    for address in args.dead:
        if address not in served:
            raise ConfigurationError(
                f"--dead: {address} is none of the servers: {', '.join(served) or 'there is none'}"
            )
    answers = RerequestOptions(delay_ns=args.rerequest_delay_ms * 1_000_000, rate_max=args.rerequest_rate)
    snapshots = GlimpseOptions(
        channel.username, octets_a_second=args.glimpse_rate, is_dead=channel.glimpse in args.dead
    )
    return PublisherOptions(
        rate=args.rate,
        speed=speed,
        impairment=Impairment(
            loss=args.loss,
            loss_both=args.loss_both,
            duplicate=args.duplicate,
            reorder=args.reorder,
            outages=[Outage(*outage) for outage in args.outage],
            seed=args.seed,
        ),
        wait_seconds=args.wait,
        linger_seconds=args.linger,
        rerequest=[(at, answers._replace(is_dead=at in args.dead)) for at in channel.rerequest if at in served],
        glimpse=(channel.glimpse, snapshots) if channel.glimpse in served else None,
    )


def _load(args: argparse.Namespace, settings: Settings) -> tuple[Store, Left, int]:
    """The store, what is not in it, and how many files were damaged."""
    frames = aligned(settings.runtime.frames_octets, np.uint8)
    packets = aligned(max(1, frames.size // OCTETS_A_PACKET), PACKET)
    packed_by = args.messages_per_packet
    if packed_by is not None and packed_by > COUNT_MAX:
        raise ConfigurationError(f"--messages-per-packet: {packed_by}: a packet counts at most {COUNT_MAX}")
    packing = Packing() if packed_by is None else Packing(packed_by, None)
    label = ", ".join(path.name for path in args.files)
    with closing(Capture(args.files, frames, packets)) as capture, Progress(capture.octets_total or 0, label) as shown:
        day = capture.session_date
        named = SESSION if day is None else f"{day:%Y%m%d}01"
        session = named if args.session is None else args.session.ljust(SESSION_BYTES)
        with closing(Builder(session, packing, rename=args.session is not None)) as builder:
            batches = Batches(capture)
            for count in batches:
                if packed_by is not None and np.any(packets["framing"][:count] == MOLDUDP64):
                    raise ConfigurationError("--messages-per-packet: a capture's packets stay as they are")
                builder.add(frames, packets, count)
                shown.update(capture.octets_done, builder.messages)
            store, left = builder.finish()
    return store, left, batches.damaged


def _tell_left(left: Left) -> None:
    """What of the files is not published, in at most one sentence. Heartbeats and second copies are no loss."""
    kinds = {
        "foreign": "packets of another stream",
        "malformed": "packets that are cut",
        "missing": "messages that no packet has",
    }
    said = [f"{getattr(left, name):,} {words}" for name, words in kinds.items() if getattr(left, name)]
    if said:
        say(f"warning: not published: {', '.join(said)}")


def _watch(publisher: Publisher, store: Store, asked: threading.Event) -> None:
    """Until all is over, or somebody asks for the end."""
    with Progress(len(store.octets), "published") as shown:
        while not asked.is_set() and not publisher.wait(_POLL_SECONDS):
            shown.update(*publisher.done())


def _as_text(summary: dict[str, Any]) -> str:
    names = ", ".join(name.strip() for name in summary["sessions"])
    lines = [
        f"{summary['messages']:,} messages in {summary['packets']:,} packets, {summary['seconds']:.1f} s, "
        f"at most {summary['late_ns_max'] / 1e6:,.1f} ms late; session {names}"
    ]
    lines += [f"line {name}      {_counted(counts)}" for name, counts in summary["lines"].items()]
    lines += [f"rerequest   {made['address']}  {_counted(made)}" for made in summary["rerequest"]]
    if summary["glimpse"] is not None:
        lines.append(f"glimpse     {_counted(summary['glimpse'])}")
    return "\n".join(lines)


def _counted(counts: dict[str, Any]) -> str:
    said = [f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items() if isinstance(count, int) and count]
    return ", ".join(said) or "nothing"
