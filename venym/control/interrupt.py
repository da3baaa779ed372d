"""Ctrl-C and SIGTERM as a wish to end, so that what was under way is still brought to its end."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interruptible() -> Iterator[threading.Event]:
    """An event that SIGINT and SIGTERM set."""
    asked = threading.Event()
    before = {number: signal.signal(number, lambda *_: asked.set()) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield asked
    finally:
        for number, held in before.items():
            signal.signal(number, held)
