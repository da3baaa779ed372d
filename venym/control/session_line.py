"""Between a session and who owns its numbers and its socket.

    Session ──send(Outgoing)──▶ Line: next number, kept, written as one; says the number
            ──resend(number, ...)──▶   written under a number that was used before, with 43=Y and 122
            ──deliver(Message)──▶      to the application, and only then
            ──expect(number + 1)──▶    is the message done with

The session never makes up a number: whoever owns the socket numbers what is new at the moment it is written, so that
orders and the session's own messages, from wherever they come, cannot have the same number or change places. A number
is used up before the octets are on their way, and done with after the message was delivered: whenever the process ends,
no number goes out twice and no message that came is skipped; the last one may be delivered twice.
"""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

from .session_messages import Message, Outgoing


class Sent(NamedTuple):
    message: Outgoing
    sent_ns: int


class Line(Protocol):
    """Numbers begin at 1. All times are nanoseconds since 1970."""

    @property
    def next_in(self) -> int:
        """The number the peer's next message should have."""

    @property
    def next_out(self) -> int:
        """The number our next message will have."""

    @property
    def used_ns(self) -> int:
        """When a number of either kind was used last; 0: never."""

    def send(self, message: Outgoing, now_ns: int) -> int:
        """Write `message` under the next number, which is then used up, and keep it; the number."""

    def resend(self, number: int, message: Outgoing, original_ns: int, now_ns: int) -> None:
        """Write `message` under `number`, marked as sent before."""

    def sent(self, first: int, last: int) -> Iterator[tuple[int, Sent]]:
        """Application messages sent under the numbers from `first` to `last`, in order. Those of the session itself
        need not be kept."""

    def expect(self, number: int, now_ns: int) -> None:
        """Everything of the peer's below `number` is done with."""

    def deliver(self, message: Message, now_ns: int) -> None:
        """A message for the application: one of a type it accepts, or a Reject. It may be marked as sent before."""

    def reset(self, now_ns: int) -> None:
        """Both numbers are 1, and nothing was sent."""

    def close(self) -> None:
        """End the connection behind what was written. The session takes it as ended from now on."""
