"""GLIMPSE 5.0: the state of a market as a spin of ITCH messages over SoupBinTCP, then where to go on.

    login, sequence 1  ▶  A   S R..R H..H Y..Y h..h A F A A ..   G | sequence 20 |   ▶  logout

Between A and G come, in order: the day's system event, directory, trading states, short sale restrictions, an add order
for every displayed one. G says which real-time message to go on with. Messages are handed on as blocks; where they go,
and what a block's maximum is, the caller says.
"""

import numpy as np

from . import soupbintcp as soup
from .soup_session import ENDED, LOGIN, OPEN, SILENCE_NS_MAX, Client, SoupError
from .soupbintcp import Login

END_OF_SNAPSHOT = ord("G")
_END_OCTETS = 21
_NOTHING = np.empty(0, np.uint8)


class SpinError(SoupError):
    """The snapshot ended before its G, or with one that cannot be read."""


class Spin:
    """Reads one snapshot. `client` has `space`, `received`, `outgoing`, `sent`, `update` for the connection."""

    def __init__(self, username: str, password: str, now_ns: int, silence_ns_max: int = SILENCE_NS_MAX) -> None:
        self.client = Client(Login(username, password, "", 1), now_ns, silence_ns_max)
        self.sequence: int | None = None  # of the first real-time message to apply, once G has come

    @property
    def messages(self) -> int:
        """Messages handed on so far."""
        return max(self.client.sequence - 1, 0)

    def read(self, into: np.ndarray, at: int, into_end: int, now_ns: int) -> tuple[int, bool]:
        """Messages as blocks into into[at:into_end]: (written up to, is there more that had no room?).

        Once `sequence` is there, all was handed on and the logout is put. Raises SoupError, SpinError; SpinError also
        for a message that no empty array of this size takes.
        """
        if self.sequence is not None:
            return at, False
        start = at
        if self.client.state == LOGIN and not self._logged_in():
            return at, False
        at, status = self.client.gather(into, at, into_end, END_OF_SNAPSHOT)
        if status == soup.FULL and at == start:
            raise SpinError(
                f"message {self.client.sequence} is longer than {into_end - start - soup.LENGTH_BYTES} octets"
            )
        if status == soup.LAST:
            self._finish(now_ns)
        elif self.client.state == ENDED:
            raise SpinError(f"end of session after {self.messages} messages, before the snapshot's")
        return at, status == soup.FULL

    def _logged_in(self) -> bool:
        self.client.gather(_NOTHING, 0, 0)
        if self.client.state == OPEN and self.client.sequence != 1:
            raise SpinError(f"begins with message {self.client.sequence}, not 1")
        return self.client.state != LOGIN

    def _finish(self, now_ns: int) -> None:
        packet = self.client.next_packet()
        assert packet is not None
        if len(packet[1]) != _END_OCTETS:
            raise SpinError(f"an end of snapshot of {len(packet[1])} octets, not {_END_OCTETS}")
        self.sequence = soup.read_digits("sequence number", packet[1][1:])
        self.client.log_out(now_ns)
