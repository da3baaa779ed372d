"""Drive the gateway between its links by hand, and say what a venue would.

Every message that leaves is framed, parsed by simplefix, and its BodyLength and CheckSum made anew, before a test sees
its fields.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import simplefix

from tests.naive import fix
from tests.stages.drive import zeroed
from venym import metrics, records
from venym.hot.link import HEAD, MARK, TAIL, Link, make_link
from venym.records import BUY, DAY, LIMIT, NEW, SELL, TRADABLE
from venym.stages import gateway, gateway_view
from venym.stages.gateway import Fees, Instrument, Tables
from venym.stages.inbound import make_session
from venym.stages.risk import REASONS, RiskLimits
from venym.wire import fix_encode

MIDNIGHT_NS = 1_767_571_200_000_000_000  # 2026-01-05 in UTC
LIMITS = RiskLimits(
    order_shares_max=10_000, order_notional_max_e6=10**13, position_shares_max=100_000,
    gross_notional_max_e6=10**14, open_orders_max=32, messages_per_second_max=1_000, collar_bps=1_000, stale_ns=0,
    short_sales=1,
)  # fmt: skip
INSTRUMENTS = [Instrument("TEST", "TEST", 100, 1), Instrument("OTHER", "OTHER.B", 1, 100)]
FEES = Fees(make_e6=-2_000, take_e6=3_000)
TABLES = Tables(orders_max=256, requests_max=1_024, executions_max=256)
REASON = {reason.name: reason.word for reason in REASONS}
NAME = {reason.word: reason.name for reason in REASONS}
KIND = {
    getattr(records, name.upper()): name
    for name in ("accepted", "replaced", "canceled", "filled", "expired", "rejected", "cancel_rejected", "refused")
}
EVENT_FIELDS = [name for name in records.ORDER_EVENT.names or () if name != "padding"]


def session(version: str = "FIX.4.2", prefix: str = "V") -> Any:
    new, cancel, replace = (
        fix_encode.make_template(version, kind, "VENYM", "INET", post_only={18: "6"}, cl_ord_id_prefix=prefix)
        for kind in (fix_encode.NEW_ORDER, fix_encode.CANCEL, fix_encode.REPLACE)
    )
    return make_session(new, cancel, replace, "VENYM", "INET", prefix)


def an_intent(**fields: Any) -> SimpleNamespace:
    whole = dict(
        clock_ns=0, cause=7, ordinal=-1, token=1, shares=100, price_e4=100_000, strategy=0, instrument=0, action=NEW,
        side=BUY, ord_type=LIMIT, tif=DAY, post_only=0, reason=0,
    )  # fmt: skip
    return SimpleNamespace(**(whole | fields))


def a_state(**fields: Any) -> SimpleNamespace:
    whole = dict(clock_ns=0, ordinal=0, instrument=0, bid=99_900, ask=100_000, last=0, state=ord("T"), marks=TRADABLE)
    return SimpleNamespace(**(whole | fields))


def put(link: Link, rows: list[dict[str, Any]]) -> None:
    """Publish records with these fields."""
    for k, fields in enumerate(rows):
        slot = link.slots[(int(link.cursor[HEAD]) + k) & (len(link.slots) - 1)]
        for name, value in fields.items():
            slot[name] = value
    link.cursor[HEAD] += len(rows)
    assert link.cursor[HEAD] - link.cursor[TAIL] <= len(link.slots)


def taken(link: Link, most: int = 1 << 30) -> list[Any]:
    """The records not read yet, read."""
    tail = int(link.cursor[TAIL])
    count = min(int(link.cursor[HEAD]) - tail, most)
    found = [link.slots[(tail + k) & (len(link.slots) - 1)].copy() for k in range(count)]
    link.cursor[TAIL] += count
    return found


def intent_row(intent: Any) -> dict[str, Any]:
    return vars(intent)


def state_row(s: Any) -> dict[str, Any]:
    prices = dict(bid_price_e4=s.bid, ask_price_e4=s.ask, last_price_e4=s.last)
    return dict(clock_ns=s.clock_ns, ordinal=s.ordinal, instrument=s.instrument, state=s.state, marks=s.marks, **prices)


def wire_row(clock_ns: int, octets: bytes) -> dict[str, Any]:
    padded = np.zeros(records.WIRE_OCTETS_MAX, np.uint8)
    padded[: len(octets)] = np.frombuffer(octets, np.uint8)
    return dict(clock_ns=clock_ns, direction=records.INBOUND, length=len(octets), octets=padded)


def checked(octets: bytes) -> dict[int, str]:
    """The fields of a message that is whole and right, by simplefix and by our own twin."""
    assert fix.framed(octets) == [octets]
    parser = simplefix.FixParser()
    parser.append_buffer(octets)
    read = parser.get_message()
    assert parser.get_buffer() == b""
    assert read.encode() == octets  # BodyLength and CheckSum as simplefix makes them
    pairs = [(int(tag), value.decode()) for tag, value in read.pairs]
    assert [(tag, value.encode()) for tag, value in pairs] == fix.fields(octets)
    assert len(dict(pairs)) == len(pairs)
    return {tag: value for tag, value in pairs if tag not in (8, 9, 10)}


def told(event: Any) -> dict[str, int]:
    return {name: int(event[name]) for name in EVENT_FIELDS}


class Drive:
    """The stage between its links. Not held unless told so: what is given is taken at once."""

    def __init__(
        self, limits: RiskLimits = LIMITS, instruments: list[Instrument] = INSTRUMENTS, tables: Tables = TABLES,
        hold: bool = False, refusal_ns: int = 0, version: str = "FIX.4.2", room: int = 1_024, wire_room: int = 64,
        journal_room: int = 1_024, market: bool = True, prefix: str = "V", **how: Any,
    ) -> None:  # fmt: skip
        self.intents = make_link(records.INTENT, 1_024)
        self.states = make_link(records.MARKET_STATE, 1_024)
        self.reports = make_link(records.WIRE_MESSAGE, 64)
        self.order_events = make_link(records.ORDER_EVENT, room)
        self.wire = make_link(records.WIRE_MESSAGE, wire_room)
        self.journal = make_link(records.WIRE_MESSAGE, journal_room)
        for link in (self.order_events, self.wire, self.journal):
            link.slots.view(np.uint8)[:] = 0xEE  # what an earlier lap left there
        self.context = gateway.build(
            zeroed, self.intents, self.states, self.reports, self.order_events, self.wire, self.journal,
            session(version, prefix), instruments, limits, FEES, MIDNIGHT_NS, hold, refusal_ns, 2, tables,
            **({"armed": True} | how),
        )  # fmt: skip
        self.version, self.sequence, self.clock_ns, self.ordinal = version, 1, 0, 0
        self.messages: list[dict[int, str]] = []
        self.octets: list[tuple[int, bytes]] = []
        self.events: list[dict[str, int]] = []
        self.executions = 0
        self.worst: dict[tuple[int, int, int], int] = {}
        if market:
            self.market()

    # ---- in

    def run(self) -> None:
        """Until nothing is left to do, taking what is written as soon as a step has written it."""
        while gateway.step(self.context) + self.collect():
            pass

    def collect(self) -> int:
        """Take what was written; how much."""
        before = len(self.octets) + len(self.events)
        for message in taken(self.wire):
            octets = message.octets[: message.length].tobytes()
            assert message.direction == records.OUTBOUND
            self.octets.append((int(message.clock_ns), octets))
            self.messages.append(checked(octets))
        self.events += [told(event) for event in taken(self.order_events)]
        return len(self.octets) + len(self.events) - before + len(taken(self.journal))

    def market(self, **fields: Any) -> None:
        state = a_state(**({"clock_ns": self.clock_ns, "ordinal": self.ordinal} | fields))
        self.ordinal = state.ordinal + 1
        put(self.states, [state_row(state)])
        self.run()

    def ask(self, **fields: Any) -> str:
        """Hand on an intent; the name of the reason it was refused for, or an empty text."""
        intent = an_intent(**({"clock_ns": self.clock_ns, "ordinal": self.ordinal} | fields))
        put(self.intents, [intent_row(intent)])
        before = len(self.events)
        self.run()
        refused = [event for event in self.events[before:] if event["kind"] == records.REFUSED]
        return NAME[refused[0]["reason"]] if refused else ""

    def new(self, token: int = 1, **fields: Any) -> int:
        """An order that passes; its ClOrdID number."""
        assert self.ask(token=token, **fields) == ""
        return int(self.messages[-1][11][1:])

    def hear(self, octets: bytes) -> None:
        """Octets of the venue."""
        for at in range(0, max(len(octets), 1), records.WIRE_OCTETS_MAX):
            put(self.reports, [wire_row(self.clock_ns, octets[at : at + records.WIRE_OCTETS_MAX])])
            self.run()

    def message(self, kind: str, fields: dict[int, Any], **lies: Any) -> bytes:
        """A message of the venue's; `lies`: sequence, sender, target."""
        sequence = lies.get("sequence", self.sequence)
        self.sequence = max(self.sequence, sequence + 1)
        head = {35: kind, 34: sequence, 49: lies.get("sender", "INET")}
        head |= {52: "20260105-14:30:00.000", 56: lies.get("target", "VENYM")}
        told = {tag: value for tag, value in fields.items() if value is not None}
        head |= {tag: told.pop(tag) for tag in (43, 122) if tag in told}
        pairs = [*head.items(), *told.items()]
        return fix.message([(tag, str(value).encode()) for tag, value in pairs], self.version)

    def report(self, number: int, kind: str, status: str, **more: Any) -> list[dict[str, int]]:
        """An ExecutionReport for the ClOrdID of that number; returns the events it causes. more: `last` (shares,
        price), cum, leaves, exec_id, orig (number), liquidity, fields (any tags), and lies as of `message`."""
        self.hear(self.made_report(number, kind, status, **more))
        return self.fresh()

    def made_report(self, number: int, kind: str, status: str, **more: Any) -> bytes:
        request = gateway_view.request(self.context, number)
        order = gateway_view.order(self.context, request.order) if request else None
        self.executions += 1
        last = more.get("last")
        filled = order.filled_shares + (last[0] if last else 0) if order else 0
        cum = more.get("cum", filled)
        leaves = more.get("leaves", 0 if status in "2348C" or not order else max(order.shares - filled, 0))
        fields: dict[int, Any] = {
            37: "E1", 11: f"V{number}", 17: more.get("exec_id", f"X{self.executions}"), 150: kind, 39: status,
            20: "0" if self.version == "FIX.4.2" else None, 55: order.symbol if order else "TEST",
            54: {BUY: 1, SELL: 2}[order.side] if order else 1, 151: leaves, 14: cum, 6: 0,
        }  # fmt: skip
        if "orig" in more:
            fields[41] = f"V{more['orig']}"
        if last:
            fields |= {32: last[0], 31: f"{last[1] / 10_000:.4f}", 9882: more.get("liquidity", "A")}
        fields |= more.get("fields", {})
        return self.message("8", fields, **{k: v for k, v in more.items() if k in ("sequence", "sender", "target")})

    def reject(self, number: int, orig: int, why: int | None, status: str, **lies: Any) -> list[dict[str, int]]:
        """An OrderCancelReject."""
        response = {"F": "1", "G": "2"}.get(next(m[35] for m in self.messages if m[11] == f"V{number}"), "1")
        fields = {37: "E1", 11: f"V{number}", 41: f"V{orig}", 39: status, 434: response, 102: why}
        self.hear(self.message("9", fields | lies.pop("fields", {}), **lies))
        return self.fresh()

    def fresh(self) -> list[dict[str, int]]:
        """The events since last asked."""
        found, self.events = self.events, []
        return found

    # ---- what is there

    def counters(self) -> dict[str, int]:
        held = self.context.counters
        return {c.name: int(held[c.word]) for c in metrics.GATEWAY if held[c.word]}

    def alarms(self) -> dict[str, int]:
        """The counters but those of a day on which nothing goes wrong."""
        usual = {"intents", "new_orders", "replaces", "cancels", "own_cancels", "market_states", "chunks", "reports"}
        return {name: n for name, n in self.counters().items() if name not in usual | {"fills", "refusals"}}

    def killed(self) -> str:
        found = gateway_view.killed(self.context)
        return found.name if found else ""


def held_drive(**how: Any) -> Drive:
    return Drive(**({"hold": True, "refusal_ns": 200, "market": False} | how))


def set_mark_of(link: Link, value: int, word: int = MARK) -> None:
    link.cursor[word] = value
