"""Two sessions and a connection that breaks; one session and a peer that does anything."""

import random
from collections import Counter
from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.control.session_peers import NEVER, REPORT, START_NS, Bench
from tests.fix_line import MemoryLine
from tests.naive import fix as naive
from venym.control.session import Session
from venym.control.session_actions import Profile
from venym.control.session_messages import SECOND_NS, Outgoing
from venym.control.session_table import State


class Pair:
    """An initiator and an acceptor, and the octets between them; what is sent is numbered by ClOrdID."""

    def __init__(self) -> None:
        self.now_ns = START_NS
        self.lines, self.sessions = [], []
        for us, them in (("VENYM", "INET"), ("INET", "VENYM")):
            profile = Profile("FIX.4.2", us, them, accepted=frozenset("D"), stale_after_s=NEVER)
            self.lines.append(MemoryLine(profile))
            self.sessions.append(Session(profile, self.lines[-1]))
        self.pipes = [b"", b""]
        self.sent = [0, 0]

    def send(self, side: int) -> None:
        body = ((11, str(self.sent[side])), (55, "A"), (54, "1"), (60, "20260105-14:30:00"), (40, "1"), (21, "1"))
        if self.sessions[side].send(Outgoing("D", body), self.now_ns) is not None:
            self.sent[side] += 1

    def move(self, side: int, count: int) -> None:
        """Octets said by `side` get across; what its end closes, the other end sees behind them."""
        line = self.lines[side]
        self.pipes[side] += line.take()
        octets, self.pipes[side] = self.pipes[side][:count], self.pipes[side][count:]
        other = self.sessions[1 - side]
        if octets and not other.is_off:
            other.receive(octets, self.now_ns)
        if self.sessions[side].is_off and not self.pipes[side] and not other.is_off:
            other.lost(self.now_ns)

    def cut(self) -> None:
        for line, session in zip(self.lines, self.sessions, strict=True):
            line.take()
            line.close()
            session.lost(self.now_ns)
        self.pipes = [b"", b""]

    def connect(self) -> None:
        self.cut()
        for line in self.lines:
            line.open()
        self.sessions[1].accepted(self.now_ns)
        self.sessions[0].connected(self.now_ns)

    def wait(self, tenths: int) -> None:
        self.now_ns += tenths * SECOND_NS // 10
        for session in self.sessions:
            session.tick(self.now_ns)

    def settle(self) -> None:
        """A connection that holds, for as long as anything may still be asked for."""
        self.connect()
        for _ in range(500):
            for side in (0, 1):
                self.move(side, 1 << 20)
            self.wait(10)

    def received(self, side: int) -> list[int]:
        return [int(message.get(11) or -1) for message in self.lines[side].delivered]


SIDES = st.integers(0, 1)
ACTS = st.one_of(
    st.tuples(st.just("send"), SIDES),
    st.tuples(st.just("send"), SIDES),
    st.tuples(st.just("move"), SIDES, st.sampled_from([1, 40, 100, 333, 10_000])),
    st.tuples(st.just("move"), SIDES, st.sampled_from([1, 40, 100, 333, 10_000])),
    st.tuples(st.just("wait"), st.sampled_from([1, 20, 400])),
    st.just(("cut",)),
    st.just(("connect",)),
)


@given(st.lists(ACTS, max_size=60))
@settings(max_examples=60)
def test_no_application_message_is_skipped_or_comes_twice(acts):
    exchange(acts)


def test_nor_in_long_sessions_that_break_often():
    seen: Counter[str] = Counter()
    for seed in range(60):
        chance = random.Random(seed)
        acts = []
        for _ in range(300):
            name = chance.choice(["send"] * 10 + ["move"] * 12 + ["wait"] * 3 + ["cut", "connect"])
            given_to = {"send": [chance.randrange(2)], "move": [chance.randrange(2), chance.choice([40, 333, 10_000])]}
            acts.append((name, *given_to.get(name, [chance.choice([1, 20])] if name == "wait" else [])))
        pair = exchange(acts)
        seen += pair.sessions[0].counts + pair.sessions[1].counts
        seen["sent"] += sum(pair.sent)
    few = {
        event: seen[event] for event in ("sent", "high", "resend_request", "application", "lost") if seen[event] < 200
    }
    assert few == {}


def exchange(acts: Iterable[tuple[Any, ...]]) -> Pair:
    pair = Pair()
    pair.connect()
    for side in (0, 1, 0):
        pair.move(side, 10_000)
    for name, *given_to in acts:
        getattr(pair, name)(*given_to)
    pair.settle()
    assert [session.state for session in pair.sessions] == [State.ON, State.ON]
    for side in (0, 1):
        assert pair.received(1 - side) == list(range(pair.sent[side]))
        assert max(Counter(pair.lines[side].used).values()) == 1
    return pair


# Any peer


def mischief(bench: Bench, chance: random.Random) -> bytes:
    """A message that may be right or wrong in any way."""
    kind = chance.choice(["0", "1", "2", "2", "2", "3", "4", "4", "5", "8", "8", "8", "A", "B", "*", "j"])
    number = max(0, bench.line.next_in + chance.choice([0, 0, 0, 0, 0, 1, 2, 7, -1, -2, 10**6]))
    near = [0, 1, 2, bench.line.next_in, bench.line.next_in + 3, bench.line.next_out, bench.line.next_out - 2]
    values = {
        "1": {112: "x"},
        "2": {7: str(chance.choice(near)), 16: str(chance.choice([0, 0, *near]))},
        "3": {45: "2"},
        "4": {36: str(chance.choice(near)), 123: chance.choice("YYN")},
        "8": dict(REPORT),
        "A": {98: "0", 108: chance.choice(["30", "30", "0", "5", "-1"])}
        | ({141: "Y"} if chance.random() < 0.4 else {}),
        "B": {148: "x", 33: "1", 58: "y"},
        "j": {372: "D", 380: "0"},
    }.get(kind, {})
    if 141 in values and chance.random() < 0.5:
        number = 1
    header = {"t43": "Y"} if chance.random() < 0.3 else {}
    if chance.random() < 0.15:
        wrong = [("t49", "X"), ("t52", "x"), ("t122", ""), ("version", "FIX.4.4"), ("t34", ""), ("t97", "Y")]
        header |= [chance.choice(wrong)]
    if chance.random() < 0.1 and values:
        values[chance.choice(list(values))] = chance.choice(["", "x", "-1", "9" * 30])
    octets = bytearray(bench.message(kind, number, values, **header))
    if chance.random() < 0.1:
        octets[chance.randrange(len(octets))] = chance.choice(b"\x01=089F")
    if chance.random() < 0.05:
        del octets[chance.randrange(len(octets)) :]
    return bytes(octets)


def provoke(seed: int) -> Bench:
    """A session that was provoked; everything it said is looked at as it is said."""
    chance = random.Random(seed)
    bench = Bench(version="FIX.4.2", stale_after_s=30)
    orders: dict[str, int] = {}
    said: dict[str, list[bytes]] = {}

    def look() -> None:
        for octets in naive.framed(bench.line.take()):
            fields = dict(naive.fields(octets))
            assert (fields.get(43) == b"Y") == (122 in fields)
            if fields[35] == b"D":
                order = fields[11].decode()
                age_ns = bench.now_ns - orders[order]
                said.setdefault(order, []).append(fields.get(43, b"N"))
                assert len(said[order]) == 1 or age_ns < 31 * SECOND_NS

    for step in range(30):
        if bench.session.is_off:
            bench.line.open()
            bench.session.connected(bench.now_ns)
            look()
            if chance.random() < 0.9:
                bench.session.receive(bench.message("A", bench.line.next_in, {98: "0", 108: "30"}), bench.now_ns)
        deed = chance.random()
        if deed < 0.3:
            body = ((11, f"{seed}.{step}"), (55, "A"), (54, "1"), (60, "20260105-14:30:00"), (40, "1"), (21, "1"))
            if bench.session.send(Outgoing("D", body), bench.now_ns) is not None:
                orders[f"{seed}.{step}"] = bench.now_ns
        elif deed < 0.4:
            bench.now_ns += chance.choice([1, 5, 20, 40]) * SECOND_NS
            bench.session.tick(bench.now_ns)
        elif deed < 0.44:
            look()
            bench.cut()
        else:
            octets = mischief(bench, chance)
            cut = chance.randrange(len(octets) + 1)
            bench.session.receive(octets[:cut], bench.now_ns)
            bench.session.receive(octets[cut:], bench.now_ns)
        look()
    assert all(times[0] == b"N" and set(times[1:]) <= {b"Y"} for times in said.values())
    return bench


def test_a_thousand_peers_that_do_anything():
    seen: Counter[str] = Counter()
    for seed in range(1_000):
        bench = provoke(seed)
        assert max(Counter(bench.line.used).values()) == 1
        seen += bench.session.counts
    often = "high low repeated invalid wrong_party wrong_version garbled logon_reset bad_reset resend_request gap_fill"
    often += " sequence_reset application unsupported test_request quiet"
    assert {event for event in often.split() if seen[event] < 20} == set()
