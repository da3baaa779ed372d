"""What is known of the re-request servers of a channel: who answers, and how much fits into an answer."""

from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

GROWS_AFTER = 16  # whole answers, times the requests that may be on their way


class Limits(NamedTuple):
    """Of a channel."""

    outstanding_max: int = 16  # requests without an answer at any time
    requests_per_second_max: int = 5_000  # in time t: at most t times this, and a hundredth of it, and one
    messages_max: int = 1_000  # of one request
    ahead_messages_max: int = 65_536
    wait_ns: int = 1_000_000  # left to the other line to bring it
    timeout_ns: int = 100_000_000
    attempts_max: int = 5
    give_up_ns: int = 5_000_000_000
    holes_max: int = 65_536  # kept apart; beyond, they are asked for together with what lies between


@dataclass
class Server:
    name: str
    messages: int  # to ask for at once
    whole: int = 0  # answers in a row with all of so many
    came: int = 0  # most that ever came at once
    silences: int = 0  # timeouts since its last answer
    silent_ns: int = 0  # of the last one


class Servers:
    """By number, as configured. What a person should know is put into `alarms`."""

    def __init__(self, channel: str, names: list[str], limits: Limits, alarms: deque[str]) -> None:
        self.answered_ns = -1  # when one last answered
        self._servers = [Server(name, limits.messages_max) for name in names]
        self._channel = channel
        self._limits = limits
        self._alarms = alarms
        self._turn = 0

    def __len__(self) -> int:
        return len(self._servers)

    def name(self, server: int) -> str:
        return self._servers[server].name

    def messages(self, server: int) -> int:
        """How many to ask it for at once."""
        return self._servers[server].messages

    def choose(self, asked_in_vain: int, now_ns: int) -> int:
        """One that is not silent, if there is; another than was `asked_in_vain` (-1: none), if one is not silent; with
        the fewest silences; in turn. A silence is forgotten after `give_up_ns`."""

        def rank(server: int) -> tuple[bool, bool, int, int]:
            who = self._servers[server]
            silences = who.silences if now_ns - who.silent_ns < self._limits.give_up_ns else 0
            turn = (server - self._turn) % len(self._servers)
            return silences >= self._limits.attempts_max, server == asked_in_vain, silences, turn

        return min(range(len(self._servers)), key=rank)

    def answered(self, server: int, now_ns: int) -> None:
        who = self._servers[server]
        if who.silences >= self._limits.attempts_max:
            self._alarms.append(f"channel {self._channel}: re-request server {who.name} answers again")
        who.silences = 0
        self.answered_ns = now_ns

    def learn(self, server: int, asked: int, came: int) -> None:
        """So many messages of those asked for came in one answer."""
        who = self._servers[server]
        who.came = max(who.came, came)
        if came < asked:
            who.messages, who.whole = max(1, min(who.messages, came)), 0
        elif asked >= who.messages:
            who.whole += 1
            if who.whole >= GROWS_AFTER * self._limits.outstanding_max:
                who.messages, who.whole = min(self._limits.messages_max, who.messages + max(1, who.messages // 8)), 0

    def silent(self, server: int, asked: int, again: bool, sent_ns: int, now_ns: int) -> None:
        """A request of `sent_ns` for so many messages had no answer in time; `again`: nor had one before."""
        who = self._servers[server]
        if sent_ns >= who.silent_ns:  # once for all requests that were on their way
            who.silences, who.silent_ns = who.silences + 1, now_ns
            self._turn = (server + 1) % len(self._servers)
            if who.silences == self._limits.attempts_max:
                self._alarms.append(f"channel {self._channel}: re-request server {who.name} does not answer")
        if asked > max(who.came, 1) and (asked >= who.messages or again):
            who.messages = min(who.messages, asked // 2)
