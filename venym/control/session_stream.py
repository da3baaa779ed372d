"""A peer's octets as messages, by the framer of `wire.fix`: `frame` looks at every octet that arrives, here as
everywhere, and nothing goes on that it did not find whole and right.

    feed(b"...10=1") -> []        feed(b"28|8=FIX.4.2|9=") -> [(COMPLETE, message)]        what is no message: (why, it)
"""

from collections.abc import Iterator

import numpy as np

from ..wire.fix import MESSAGE_OCTETS_MAX, MORE, frame


class Stream:
    """What waits is shorter than the longest message, whatever comes."""

    def __init__(self) -> None:
        self._octets = np.zeros(2 * MESSAGE_OCTETS_MAX, np.uint8)
        self._end = 0

    @property
    def waiting(self) -> int:
        """How many octets wait for more."""
        return self._end

    def clear(self) -> None:
        self._end = 0

    def feed(self, octets: bytes) -> Iterator[tuple[int, bytes]]:
        """(COMPLETE, message) or (JUNK, BAD_LENGTH or BAD_CHECKSUM, what is dropped), one after another."""
        for first in range(0, len(octets), MESSAGE_OCTETS_MAX):
            part = octets[first : first + MESSAGE_OCTETS_MAX]
            self._octets[self._end : self._end + len(part)] = np.frombuffer(part, np.uint8)
            self._end += len(part)
            yield from self._frames()

    def _frames(self) -> Iterator[tuple[int, bytes]]:
        at, end = 0, self._end
        found = []
        while at < end:
            status, _, behind = map(int, frame(self._octets, at, end))
            if status == MORE:
                break
            found.append((status, self._octets[at:behind].tobytes()))
            at = behind
        self._octets[: end - at] = self._octets[at:end].copy()
        self._end = end - at
        yield from found
