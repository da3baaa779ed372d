"""From settings to the thread that gets back what is missing.

Passwords of snapshot servers are no settings: one is the file CHANNEL.password among systemd's credentials.
"""

import os
from collections.abc import Callable
from pathlib import Path

from ..hot.link import Link
from ..stages import decoder
from ..stages.decoder_words import FIRST_SEEN, FROM_ONE, FROM_SNAPSHOT
from .errors import ConfigurationError
from .recovery import Recovery
from .recovery_channel import Channel, Rules
from .recovery_schedule import Limits
from .settings import Settings

US_NS, MS_NS = 1_000, 1_000_000
STARTS = {"beginning": FROM_ONE, "snapshot": FROM_SNAPSHOT, "now": FIRST_SEEN}


def rules_of(settings: Settings) -> decoder.Recovery:
    """What the decoder does where messages are missing. Raises ConfigurationError for a start that cannot be."""
    held = settings.recovery
    for channel in settings.channels:
        if held.start == "snapshot" and not channel.glimpse:
            raise ConfigurationError(f"recovery.start: snapshot, but channels.{channel.name} has no glimpse server")
    return decoder.Recovery(
        hold_packets=held.held_packets_max,
        hold_octets=settings.feed.slot_octets,
        start=STARTS[held.start],
        tell_gaps=held.stale_gate,
        channels=len(settings.channels),
    )


def recovery_of(
    settings: Settings,
    missing: Link,
    recovered: Link,
    failed: Callable[[Exception], None],
    alarm: Callable[[str], None],
) -> Recovery:
    """The recovery of all channels. Raises ConfigurationError for a server that cannot be."""
    held = settings.recovery
    limits = Limits(
        outstanding_max=held.outstanding_max,
        requests_per_second_max=held.requests_per_second_max,
        messages_max=held.request_messages_max,
        wait_ns=held.wait_us * US_NS,
        timeout_ns=held.timeout_ms * MS_NS,
        attempts_max=held.attempts_max,
        give_up_ns=held.give_up_ms * MS_NS,
    )
    rules = Rules(limits=limits, start=held.start, snapshot_attempts_max=held.snapshot_attempts_max)
    channels = [
        Channel(channel.name, channel.rerequest, channel.glimpse, channel.username, password_of(channel.name))
        for channel in settings.channels
    ]
    return Recovery(channels, missing, recovered, failed, alarm, rules)


def password_of(name: str) -> str:
    """The password of a channel's snapshot server; "" if there is none."""
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    path = Path(folder) / f"{name}.password" if folder else None
    return path.read_text().rstrip("\n") if path is not None and path.exists() else ""
