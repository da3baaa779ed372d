"""A session and its peer, written out: the venue's messages octet by octet, and what the session says to them."""

from dataclasses import replace
from typing import Any

from tests.fix_line import MemoryLine
from tests.naive import fix as naive
from venym.control.session import Session
from venym.control.session_actions import Profile
from venym.control.session_messages import SECOND_NS, Outgoing
from venym.control.session_schedule import Schedule

START_NS = 1_767_623_400 * SECOND_NS  # 2026-01-05 14:30
ORDER = Outgoing("D", ((11, "V1"), (55, "AAPL"), (54, "1"), (60, "20260105-14:30:00.000"), (38, "100"), (40, "2")))
REPORT = {37: "o", 17: "e", 150: "0", 39: "0", 54: "1", 151: "100", 14: "0", 6: "0", 20: "0", 55: "AAPL"}
NEVER = 10**9  # seconds: nothing is stale


def profile(**change: Any) -> Profile:
    return replace(Profile("FIX.4.2", "VENYM", "INET", stale_after_s=NEVER), **change)


class Bench:
    """A session under test, VENYM; what is heard comes from INET."""

    def __init__(self, schedule: Schedule | None = None, line: MemoryLine | None = None, **change: Any) -> None:
        self.profile = profile(**change)
        self.line = line or MemoryLine(self.profile)
        self.session = Session(self.profile, self.line, schedule)
        self.now_ns = START_NS

    def connect(self) -> list[str]:
        self.line.open()
        self.session.connected(self.now_ns)
        return self.said()

    def log_on(self) -> "Bench":
        """Up to and with the venue's Logon; both numbers are 2 after the first."""
        self.connect()
        number = self.line.next_in
        assert self.hear("A", number, {98: "0", 108: "30"}) == []
        return self

    def hear(self, kind: str, number: int, values: dict[int, str] | None = None, **header: str) -> list[str]:
        return self.take(self.message(kind, number, values, **header))

    def take(self, octets: bytes) -> list[str]:
        self.session.receive(octets, self.now_ns)
        return self.said()

    def message(self, kind: str, number: int, values: dict[int, str] | None = None, **header: str) -> bytes:
        """t49="X" changes a header field, and t43="Y" adds one; version: BeginString."""
        version = header.pop("version", self.profile.version)
        fields = {34: str(number), 49: "INET", 52: naive.time(self.now_ns).decode(), 56: "VENYM"}
        fields |= {int(name[1:]): value for name, value in header.items()}
        if header.get("t43") == "Y":
            fields.setdefault(122, fields[52])
        pairs = [(35, kind), *fields.items(), *(values or {}).items()]
        return naive.message([(tag, value.encode("latin-1")) for tag, value in pairs if value is not None], version)

    def wait(self, seconds: float) -> list[str]:
        """Time goes on, with a look every quarter of a second."""
        end_ns = self.now_ns + int(seconds * SECOND_NS)
        while self.now_ns < end_ns:
            self.now_ns = min(end_ns, self.now_ns + SECOND_NS // 4)
            self.session.tick(self.now_ns)
        return self.said()

    def order(self, message: Outgoing = ORDER) -> int | None:
        return self.session.send(message, self.now_ns)

    def cut(self) -> None:
        """The connection is gone, with what was on its way."""
        self.line.close()
        self.line.take()
        self.session.lost(self.now_ns)

    def said(self) -> list[str]:
        """What was said since, without 8 9 49 52 56 10, as ``35=A 34=1 98=0``."""
        return [
            " ".join(f"{tag}={value.decode()}" for tag, value in naive.fields(one) if tag not in (8, 9, 49, 52, 56, 10))
            for one in naive.framed(self.line.take())
        ]
