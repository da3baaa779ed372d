"""The packets of a capture, a batch at a time: what every command that reads files goes through."""

from collections.abc import Callable, Iterator

from ..transport.capture import Capture, CaptureError
from .log import say


class Batches:
    """Fills the capture's memory until its end, or until `enough()`; gives how many packets there are each time.

    A file that is cut or corrupt is told, and counted in `damaged`; the next one follows.
    """

    def __init__(self, capture: Capture, enough: Callable[[], bool] = lambda: False) -> None:
        self._capture = capture
        self._enough = enough
        self.damaged = 0

    def __iter__(self) -> Iterator[int]:
        while not self._enough():
            try:
                count = self._capture.fill()
            except CaptureError as error:  # that was one file; the next call begins the next
                say(str(error))
                self.damaged += 1
                continue
            if count == 0:
                return
            yield count
