"""The conduct of both sides of a SoupBinTCP connection, without sockets: the caller moves octets and gives the time.

    Client   LOGIN ──A──▶ OPEN ──Z──▶ ENDED          Server   LOGIN ──L, accept──▶ OPEN ──end──▶ ENDED
               └────J───▶ REJECTED                              └──L, reject──▶ REJECTED

    n = connection.recv_into(side.space());  side.received(n, now_ns);  side.next_packet() or client.gather(...)
    n = connection.send(side.outgoing);      side.sent(n)
    side.update(now_ns)                      puts a heartbeat where a second passed in silence; raises Silent

Any of it raises SoupError when the peer breaks the protocol; the connection is of no use then. Times are of one
monotonic clock.
"""

import numpy as np

from ..hot.layout import aligned
from . import soupbintcp as soup
from .soupbintcp import Accepted, Login, SoupError

LOGIN, OPEN, ENDED, REJECTED = "LOGIN", "OPEN", "ENDED", "REJECTED"

HEARTBEAT_NS = 1_000_000_000
SILENCE_NS_MAX = 15_000_000_000  # of the peer, which should send a heartbeat a second
LOGIN_NS_MAX = 30_000_000_000  # until a client logs in
BUFFER_OCTETS = 4 * soup.PACKET_MAX


class Silent(SoupError):
    """Nothing came for too long."""


class Rejected(SoupError):
    """The server does not let us in."""


class Side:
    """What both sides have: octets that came and are not read yet, octets to be sent, heartbeats."""

    def __init__(self, now_ns: int, heartbeat: int, silence_ns_max: int) -> None:
        self.state = LOGIN
        self.outgoing = bytearray()
        self._silence_ns_max = silence_ns_max
        self._heartbeat = soup.pack(heartbeat)
        self._octets = aligned(BUFFER_OCTETS, np.uint8)
        self._view = memoryview(self._octets)  # type: ignore[arg-type]
        self._start = self._end = 0
        self._heard_ns = self._spoke_ns = now_ns

    def space(self) -> memoryview:
        """Where received octets go; room for a whole packet at least, if what is whole has been read."""
        held = self._end - self._start
        if held == 0:
            self._start = self._end = 0
        elif BUFFER_OCTETS - self._end < soup.PACKET_MAX:
            self._view[:held] = bytes(self._view[self._start : self._end])
            self._start, self._end = 0, held
        return self._view[self._end :]

    def received(self, count: int, now_ns: int) -> None:
        """So many octets were put into `space()`."""
        self._end += count
        self._heard_ns = now_ns

    def sent(self, count: int) -> None:
        """So many octets of `outgoing` are on their way."""
        del self.outgoing[:count]

    def put(self, packet: bytes, now_ns: int) -> None:
        """Have a packet sent."""
        self.outgoing += packet
        self._spoke_ns = now_ns

    def peek_packet(self) -> tuple[int, memoryview] | None:
        """Type and payload of the next whole packet, which stays unread. Raises SoupError."""
        have = self._end - self._start
        if have < soup.LENGTH_BYTES:
            return None
        length = int.from_bytes(self._view[self._start : self._start + soup.LENGTH_BYTES], "big")
        if length == 0:
            raise SoupError("a packet without a type")
        if have < soup.LENGTH_BYTES + length:
            return None
        at = self._start + soup.LENGTH_BYTES
        return self._view[at], self._view[at + 1 : at + length]

    def next_packet(self) -> tuple[int, bytes] | None:
        """Type and payload of the next whole packet, taken. Raises SoupError."""
        if (found := self.peek_packet()) is None:
            return None
        kind, payload = found[0], bytes(found[1])
        self._start += soup.HEADER_BYTES + len(payload)
        return kind, payload

    def update(self, now_ns: int) -> None:
        """Put a heartbeat if it is time. Raises Silent."""
        if self.state in (ENDED, REJECTED):
            return
        if now_ns - self._heard_ns >= self._silence_ns_max:
            raise Silent(f"nothing came for {(now_ns - self._heard_ns) / 1e9:.1f} s")
        if self.state == OPEN and now_ns - self._spoke_ns >= HEARTBEAT_NS:
            self.put(self._heartbeat, now_ns)


class Client(Side):
    """Logs in at once. `session` and `sequence` are those of the next message, once OPEN."""

    def __init__(self, login: Login, now_ns: int, silence_ns_max: int = SILENCE_NS_MAX) -> None:
        super().__init__(now_ns, soup.CLIENT_HEARTBEAT, silence_ns_max)
        self.session = ""
        self.sequence = 0
        self.put(soup.pack_login(login), now_ns)

    def gather(self, into: np.ndarray, at: int, into_end: int, last: int = -1) -> tuple[int, int]:
        """Read messages into `into` as blocks, and all other packets by the way: (written up to, status), where the
        status is MORE, FULL or LAST of `soupbintcp`, or MORE with the state ENDED. Raises SoupError."""
        while True:
            if self.state == OPEN:
                self._start, at, messages, status = soup.gather(
                    self._octets, self._start, self._end, into, at, into_end, last
                )
                self.sequence += messages
                if status in (soup.FULL, soup.LAST):
                    return at, status
            if self.state == ENDED or not self._read_other():
                return at, soup.MORE

    def log_out(self, now_ns: int) -> None:
        """Tell the server that we go; close the connection once `outgoing` is sent."""
        self.put(soup.pack(soup.LOGOUT), now_ns)
        self.state = ENDED

    def _read_other(self) -> bool:
        if (packet := self.next_packet()) is None:
            return False
        kind, payload = packet
        if kind == soup.ACCEPTED and self.state == LOGIN:
            self.session, self.sequence = soup.read_accepted(payload)
            self.state = OPEN
        elif kind == soup.REJECTED and self.state == LOGIN:
            self.state = REJECTED
            reasons = {soup.NOT_AUTHORIZED: "not authorised", soup.NOT_AVAILABLE: "session not available"}
            raise Rejected(f"login rejected: {reasons.get(payload, repr(payload))}")
        elif kind == soup.END_OF_SESSION and self.state == OPEN:
            self.state = ENDED
        elif kind not in (soup.SERVER_HEARTBEAT, soup.DEBUG):
            raise SoupError(f"a packet of type {chr(kind)!r} that may not come in state {self.state}")
        return True


class Server(Side):
    """Waits for a login; the caller looks into it and calls `accept` or `reject`."""

    def __init__(self, now_ns: int, silence_ns_max: int = SILENCE_NS_MAX) -> None:
        super().__init__(now_ns, soup.SERVER_HEARTBEAT, silence_ns_max)
        self._connected_ns = now_ns

    def read_login(self) -> Login | None:
        """The login, when it has come. Raises SoupError for anything else that comes first."""
        while (packet := self.next_packet()) is not None:
            kind, payload = packet
            if kind == soup.LOGIN:
                return soup.read_login(payload)
            if kind not in (soup.DEBUG, soup.CLIENT_HEARTBEAT):
                raise SoupError(f"a packet of type {chr(kind)!r} before the login")
        return None

    def accept(self, session: str, sequence: int, now_ns: int) -> None:
        """Let the client in; the first message to come has number `sequence`."""
        self.put(soup.pack_accepted(Accepted(session, sequence)), now_ns)
        self.state = OPEN

    def reject(self, reason: bytes, now_ns: int) -> None:
        """NOT_AUTHORIZED or NOT_AVAILABLE; close the connection once `outgoing` is sent."""
        self.put(soup.pack(soup.REJECTED, reason), now_ns)
        self.state = REJECTED

    def put_message(self, message: bytes, now_ns: int) -> None:
        """Have one message sent. Many at once: `soupbintcp.spread`, and `outgoing`."""
        self.put(soup.pack(soup.MESSAGE, message), now_ns)

    def end(self, now_ns: int) -> None:
        """End of session."""
        self.put(soup.pack(soup.END_OF_SESSION), now_ns)
        self.state = ENDED

    def read(self) -> list[bytes]:
        """The unnumbered messages that came; the state is ENDED once the client logged out. Raises SoupError."""
        messages = []
        while (packet := self.next_packet()) is not None:
            kind, payload = packet
            if kind == soup.UNNUMBERED:
                messages.append(payload)
            elif kind == soup.LOGOUT:
                self.state = ENDED
            elif kind not in (soup.DEBUG, soup.CLIENT_HEARTBEAT):
                raise SoupError(f"a packet of type {chr(kind)!r} that may not come in state {self.state}")
        return messages

    def update(self, now_ns: int) -> None:
        if self.state == LOGIN and now_ns - self._connected_ns >= LOGIN_NS_MAX:
            raise Silent(f"no login for {LOGIN_NS_MAX / 1e9:.0f} s")
        super().update(now_ns)
