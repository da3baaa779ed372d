"""The owner of a session's numbers and socket, in memory: everything is kept, for tests to look at."""

from collections.abc import Callable, Iterator

from venym.control.session_actions import Profile
from venym.control.session_line import Sent
from venym.control.session_messages import Message, Outgoing, write_message

SESSION_TYPES = frozenset("012345A")


class Crash(Exception):
    """The process ends here."""


class MemoryLine:
    """out: octets on their way to the peer; is_open: whether they may get there; delivered: to the application; used:
    (how often reset, number) of everything said as new; again: what was said again, with its number.

    crash_at: "write" or "deliver": end the process the next time, with the number used up or the message delivered.
    """

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self.next_in = self.next_out = 1
        self.used_ns = 0
        self.out = b""
        self.is_open = False
        self.delivered: list[Message] = []
        self.said: list[Outgoing] = []
        self.used: list[tuple[int, int]] = []
        self.again: list[tuple[int, Outgoing, int]] = []
        self.expected: list[int] = []
        self.on_deliver: Callable[[Message, int], None] = lambda message, now_ns: None
        self.crash_at = ""
        self._kept: dict[int, Sent] = {}
        self._resets = 0

    def open(self) -> None:
        self.out, self.is_open = b"", True

    def take(self) -> bytes:
        taken, self.out = self.out, b""
        return taken

    def send(self, message: Outgoing, now_ns: int) -> int:
        number, self.next_out, self.used_ns = self.next_out, self.next_out + 1, now_ns
        self.used.append((self._resets, number))
        self.said.append(message)
        if message.msg_type not in SESSION_TYPES:
            self._kept[number] = Sent(message, now_ns)
        if self.crash_at == "write":
            raise Crash
        self._write(number, message, now_ns, None)
        return number

    def resend(self, number: int, message: Outgoing, original_ns: int, now_ns: int) -> None:
        self.again.append((number, message, now_ns))
        self._write(number, message, now_ns, original_ns)

    def sent(self, first: int, last: int) -> Iterator[tuple[int, Sent]]:
        return ((number, self._kept[number]) for number in sorted(self._kept) if first <= number <= last)

    def expect(self, number: int, now_ns: int) -> None:
        self.next_in, self.used_ns = number, now_ns
        self.expected.append(number)

    def deliver(self, message: Message, now_ns: int) -> None:
        self.delivered.append(message)
        self.on_deliver(message, now_ns)
        if self.crash_at == "deliver":
            raise Crash

    def reset(self, now_ns: int) -> None:
        self.next_in = self.next_out = 1
        self.used_ns = now_ns
        self._kept.clear()
        self._resets += 1

    def close(self) -> None:
        self.is_open = False

    def _write(self, number: int, message: Outgoing, now_ns: int, original_ns: int | None) -> None:
        profile = self._profile
        assert self.is_open, "nothing is said without a connection"
        self.out += write_message(profile.version, profile.sender, profile.target, number, now_ns, message, original_ns)
