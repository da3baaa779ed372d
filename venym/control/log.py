"""What venym says to a person: on stderr, beside the results on stdout.

say      one clean line of a command: ``venym: …``
log      events with fields, by structlog: time, level, event, key=value. A plain command shows warnings and errors
         only; what runs for long calls ``configure("info")``.
"""

import logging
import sys
from collections.abc import Callable
from typing import Any, TextIO

CLEAR_LINE = "\r\x1b[K"


def say(text: str) -> None:
    """One line on stderr; wipes a progress bar that stands there."""
    if sys.stderr is None:  # closed by whoever started this
        return
    wipe = CLEAR_LINE if sys.stderr.isatty() else ""
    print(f"{wipe}venym: {text}", file=sys.stderr, flush=True)


def configure(level: str = "warning", stream: TextIO | None = None) -> None:
    """Log events of `level` (debug, info, warning, error) and above in human form. Raises ValueError for another."""
    import structlog

    if level not in ("debug", "info", "warning", "error"):
        raise ValueError(f"log level {level!r} is none of debug, info, warning, error")
    stream = stream or sys.stderr
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer(colors=stream.isatty(), pad_event_to=0),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=False,
    )


def log(name: str, **fields: Any) -> Any:
    """A structlog logger whose events carry ``part=name`` and `fields`."""
    import structlog

    if not structlog.is_configured():
        configure()
    return structlog.get_logger(part=name, **fields)


def show_warnings(category_name: str, otherwise: Callable[..., None]) -> Callable[..., None]:
    """A ``warnings.showwarning`` that says warnings of the class named `category_name` as one line, and leaves the
    others to `otherwise`. By name, so that the class's module need not be imported first."""

    def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
        if category.__name__ == category_name:
            say(f"warning: {message}")
        else:
            otherwise(message, category, *where, **more)

    return show
