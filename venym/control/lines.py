"""The lines that the settings name, in the order that packets number them."""

from ..transport.lines import Line, LineError, check_lines
from .errors import ConfigurationError
from .settings import Settings

LINES_A_CHANNEL = 2


def lines_of(settings: Settings) -> list[Line | None]:
    """Lines A and B of every channel, None for a B that there is not. Raises ConfigurationError when there are none, or
    one that cannot be."""
    if not settings.channels:
        raise ConfigurationError("channels: there is none; name one in a file for --config, as config/venym.toml shows")
    lines: list[Line | None] = []
    for channel in settings.channels:
        for address, interface, source in (
            (channel.line_a, channel.interface_a, channel.source_a),
            (channel.line_b, channel.interface_b, channel.source_b),
        ):
            group, _, port = address.rpartition(":")
            named = interface or settings.feed.interface
            lines.append(Line(group, int(port), named, source or None) if address else None)
    try:
        check_lines(lines)
    except LineError as error:
        raise ConfigurationError(f"channels: {error}") from error
    return lines


def name_of(settings: Settings, number: int) -> str:
    """A line's name for people: its channel's, and which of the two it is."""
    return f"{settings.channels[number // LINES_A_CHANNEL].name} {'AB'[number % LINES_A_CHANNEL]}"
