"""Inputs for the gateway by chance: what strategies ask, what the market does, what honest and hostile venues answer.

An input is a kind and a seed; what it becomes depends on what was sent before, so it is made of the twin's state.
"""

import random
from types import SimpleNamespace
from typing import Any

from tests.naive import fix
from tests.naive.gateway import NaiveGateway
from tests.stages.gateway_drive import (
    INSTRUMENTS,
    TABLES,
    a_state,
    an_intent,
)
from venym.records import (
    BUY,
    CANCEL,
    CROSSED,
    DAY,
    GAPPED,
    IOC,
    KILL,
    LIMIT,
    MARKET,
    NEW,
    REPLACE,
    SELL,
    SUSPECT,
    TRADABLE,
)  # fmt: skip
from venym.stages.risk import RiskLimits

LIMITS = RiskLimits(
    order_shares_max=900, order_notional_max_e6=9_000_000_000, position_shares_max=1_500,
    gross_notional_max_e6=30_000_000_000, open_orders_max=4, messages_per_second_max=12, collar_bps=200,
    stale_ns=3 * 10**9, short_sales=1,
)  # fmt: skip
CANCELING = LIMITS._replace(cancel_halted=1, cancel_gapped=1)
TIGHT = TABLES._replace(orders_max=24, requests_max=64, executions_max=20)
ODD = [0, -1, 1, 7, 2**31 - 1, 2**31, 2**62, -(2**63), 2**63 - 1]
KINDS = {
    "new": 8, "cancel": 2, "replace": 3, "market": 4, "odd": 2, "kill": 1, "wait": 2, "honest": 14, "hostile": 3,
    "reject": 1, "undo": 2, "session": 1, "junk": 1,
}  # fmt: skip
USUAL = [kind for kind, weight in KINDS.items() for _ in range(weight)]
CALM = ["new"] * 9 + ["honest"] * 14 + ["replace"] * 4 + ["cancel"] * 2 + ["undo", "wait", "again", "open_market"]


class World:
    """Makes inputs: `make(kind, seed)` gives ("market" | "intent", fields) or ("octets", bytes)."""

    def __init__(self, twin: NaiveGateway) -> None:
        self.twin, self.ordinal, self.clock_ns, self.sequence, self.made = twin, 0, 10**9, 1, 0

    def make(self, kind: str, seed: int) -> list[tuple[str, Any]]:
        self.dice = random.Random(f"{kind} {seed}")
        self.clock_ns += self.dice.choice([0, 0, 1, 1_000, 90_000_000])
        found = getattr(self, kind)()
        return found if isinstance(found, list) else [found]

    def stamped(self, intent: SimpleNamespace) -> tuple[str, Any]:
        intent.clock_ns, intent.ordinal = self.clock_ns, self.ordinal - 1
        return "intent", intent

    def wait(self) -> list[tuple[str, Any]]:
        self.clock_ns += self.dice.choice([10**8, 10**9, 4 * 10**9])
        return []

    # ---- strategies

    def new(self) -> tuple[str, Any]:
        dice = self.dice
        ord_type = dice.choice([LIMIT] * 5 + [MARKET])
        return self.stamped(
            an_intent(
                token=dice.randrange(6), strategy=dice.randrange(2), instrument=dice.choice([0, 0, 1]),
                side=dice.choice([BUY, SELL]), ord_type=ord_type, tif=dice.choice([DAY, DAY, IOC]),
                post_only=dice.choice([0, 0, 0, 1]), shares=100 * dice.randint(1, 5), price_e4=self.price(),
            )
        )  # fmt: skip

    def price(self) -> int:
        return 100 * self.dice.choice([1_000, 999, 1_001, 1_010, 990, 1_021, 979])

    def an_order(self, working: bool = True) -> Any:
        orders = [o for o in self.twin.orders if o.status != "final"] if working else self.twin.orders
        return self.dice.choice(orders) if orders else None

    def meant(self, action: int, **fields: Any) -> tuple[str, Any]:
        order = self.an_order()
        where = dict(token=self.dice.randrange(6), strategy=0, instrument=0)
        if order:
            where = dict(token=order.token, strategy=order.strategy, instrument=order.instrument)
        return self.stamped(an_intent(action=action, **where, **fields))

    def cancel(self) -> tuple[str, Any]:
        return self.meant(CANCEL, shares=0, price_e4=0)

    def replace(self) -> tuple[str, Any]:
        return self.meant(REPLACE, shares=100 * self.dice.randint(1, 8), price_e4=self.price())

    def kill(self) -> list[tuple[str, Any]]:
        if self.dice.random() < 0.7:
            return []
        return [self.stamped(an_intent(action=KILL, reason=self.dice.randrange(256), strategy=1))]

    def odd(self) -> tuple[str, Any]:
        """What a strategy that writes anywhere may leave."""
        _, intent = self.new()
        ranges = {
            "action": (0, 3, 255), "side": (0, 5, 255), "ord_type": (0, 3), "tif": (1, 6), "post_only": (1, 2, 255),
            "strategy": (-1, 2, 2**31 - 1), "instrument": (-1, 2, -(2**31)), "token": ODD, "shares": ODD,
            "price_e4": ODD,
        }  # fmt: skip
        for name in self.dice.sample(sorted(ranges), self.dice.randint(1, 3)):
            setattr(intent, name, self.dice.choice(ranges[name]))
        return self.stamped(intent)

    # ---- the market

    def market(self) -> list[tuple[str, Any]]:
        dice, found = self.dice, []
        for instrument in (0, 1):
            bid = dice.choice([99_900, 99_900, 99_900, 0])
            ask = dice.choice([100_000, 100_000, 100_000, 0])
            marks = TRADABLE | dice.choice([0] * 9 + [SUSPECT, CROSSED, GAPPED])
            found.append(
                (
                    "market",
                    a_state(
                        clock_ns=self.clock_ns, ordinal=self.ordinal, instrument=instrument, bid=bid, ask=ask,
                        last=dice.choice([0, 100_000]), marks=marks if dice.random() < 0.95 else 0,
                    ),
                )
            )  # fmt: skip
            self.ordinal += 1
        return found

    def open_market(self) -> list[tuple[str, Any]]:
        """Two sides, trading."""
        self.ordinal += 2
        return [("market", a_state(clock_ns=self.clock_ns, ordinal=self.ordinal - 2 + k, instrument=k)) for k in (0, 1)]

    # ---- the venue

    def message(self, kind: str, fields: dict[int, Any], sequence: int | None = None, **parties: str) -> bytes:
        sequence = self.sequence if sequence is None else sequence
        self.sequence = max(self.sequence, sequence + 1)
        head = {35: kind, 34: sequence, 49: parties.get("sender", "INET"), 52: "20260105-14:30:00"}
        pairs = [*head.items(), (56, parties.get("target", "VENYM")), *fields.items()]
        return fix.message([(tag, str(value).encode()) for tag, value in pairs if value is not None])

    def execution(self, order: Any, number: int, kind: str, status: str, **more: Any) -> dict[int, Any]:
        self.made += 1
        shares, price = more.get("last", (0, 0))
        cum = order.filled + shares
        fields = {
            37: f"E{order.row}", 11: f"V{number}", 17: f"X{self.made}", 150: kind, 39: status, 20: "0",
            55: INSTRUMENTS[order.instrument].fix_symbol, 54: order.side, 151: 0 if status in "2348C" else 1, 14: cum,
            6: 0,
        }  # fmt: skip
        if shares:
            fields |= {32: shares, 31: f"{price / 10_000:.4f}", 9882: self.dice.choice("ARX")}
        return fields | more.get("fields", {})

    def honest(self) -> list[tuple[str, Any]]:
        """An answer to a request that waits, or an execution, as a venue would say it."""
        waiting = [q for q in self.twin.requests if not q.state]
        dice, order = self.dice, self.an_order()
        if waiting and dice.random() < 0.7:
            return [("octets", self.answer(dice.choice(waiting[:3])))]
        if not order or order.status == "sent":
            return []
        left = max(order.shares - order.filled, 1)
        shares = dice.choice([left, left, 100, max(left // 2, 1)])
        done = shares >= left
        number = dice.choice([order.request, order.replace or order.request]).number
        status = dice.choice(["2", "6"]) if done else "1"
        fields = self.execution(order, number, "2" if done else "1", status, last=(shares, order.price_e4 or 100_000))
        return [("octets", self.message("8", fields | ({151: 0} if done else {151: left - shares})))]

    def answer(self, request: Any) -> bytes:
        dice, order = self.dice, request.order
        orig = request.orig.number if request.orig else None
        if request.action == NEW:
            kind, status = dice.choice([("0", "0")] * 6 + [("A", "A"), ("8", "8"), ("C", "C")])
            return self.message(
                "8", self.execution(order, request.number, kind, status) | {103: 0 if kind == "8" else None}
            )
        if dice.random() < 0.3:
            why, status = dice.choice([(0, "2"), (1, "8"), (3, "6"), (None, "0"), (0, "4")])
            fields = {37: "E", 11: f"V{request.number}", 41: f"V{orig}", 39: status, 434: "1", 102: why}
            return self.message("9", fields)
        told = {41: f"V{orig}"}
        if request.action == CANCEL:
            kind = dice.choice(["6", "4", "4"])
            return self.message("8", self.execution(order, request.number, kind, kind, fields=told))
        told |= {38: request.shares, 44: f"{request.price_e4 / 10_000:.4f}"} if dice.random() < 0.7 else {}
        kind = dice.choice(["E", "5", "5", "5"])
        return self.message("8", self.execution(order, request.number, kind, "E" if kind == "E" else "0", fields=told))

    def hostile(self) -> list[tuple[str, Any]]:
        """A report of anything, for anything."""
        dice, order = self.dice, self.an_order(working=False)
        if not order:
            return []
        number = dice.choice([q.number for q in self.twin.requests] + [0, 999, 10**18])
        last = dice.choice(
            [(0, 0), (100, 100_000), (5_000, 1), (2**31 - 1, 2**31 - 1), (2**31, 5), (1, 10**9), (10, 0)]
        )
        fields = self.execution(
            order, number, dice.choice("01234567890ABCDEFGHI"), dice.choice("0123456789ABCDE"), last=last
        )
        odd: dict[int, list[Any]] = {
            17: [f"X{dice.randrange(9)}", "x" * 64, "x" * 65], 11: [None, "V", "V01", "W1", "V1x"], 14: [0, 5],
            41: [None, "V1", "V2", "NONE"], 55: [None, "TEST", "WRONG", "TOOLONGBYFAR"], 54: ["1", "2", "5", "7"],
            20: [None, "0", "1", "2", "3"], 151: [0, 1, 100], 38: [0, 100, 700, 2**31, 10**9],
            44: ["10.0000", "10.00005", "0.0000", "9999999.0000"], 43: ["Y"], 19: ["X1", "X2", "", "nothing"],
            31: ["10.00005", "1.0000", None], 32: ["100.0", "7", None], 103: [0, 6], 37: [None], 150: [None],
        }  # fmt: skip
        for tag, values in odd.items():
            if dice.random() < 0.12:
                fields[tag] = dice.choice(values) or None
        gap = dice.choice([0] * 12 + [1, 1, -1, -3, 10**9])
        again = fields.pop(43, None)
        body = ({43: again} if again else {}) | fields
        return [("octets", self.message("8", body, max(self.sequence + gap, 1)))]

    def reject(self) -> list[tuple[str, Any]]:
        dice = self.dice
        requests = [q for q in self.twin.requests if q.action != NEW or dice.random() < 0.05]
        if not requests:
            return []
        request = dice.choice(requests)
        fields = {
            37: "E", 11: f"V{request.number}", 41: f"V{dice.choice(self.twin.requests).number}",
            39: dice.choice("0124568ACE"), 434: dice.choice("12"), 102: dice.choice([None, 0, 1, 2, 3, 6, 99]),
        }  # fmt: skip
        return [("octets", self.message("9", fields))]

    def again(self) -> list[tuple[str, Any]]:
        """An execution said once more, as such or not, or late."""
        dice = self.dice
        if not self.twin.executions:
            return []
        row, exec_id = dice.choice(sorted(self.twin.executions))
        order = self.twin.orders[row]
        fields = self.execution(order, order.request.number, "1", "1", last=(100, 99_900))
        fields[17] = dice.choice([exec_id.decode(), exec_id.decode(), fields[17], "x" * 65])
        body = {43: dice.choice(["Y", "N"])} | fields
        back = dice.randrange(3) if body[43] == "Y" else 0
        return [("octets", self.message("8", body, max(self.sequence - back, 1)))]

    def undo(self) -> list[tuple[str, Any]]:
        dice = self.dice
        if not self.twin.executions:
            return []
        row, exec_id = dice.choice(sorted(self.twin.executions))
        order = self.twin.orders[row]
        corrected = dice.random() < 0.5
        last = (100 * dice.randint(1, 4), 100_000 - 100 * dice.randrange(3))
        fields = self.execution(order, order.request.number, "1", dice.choice("0124"), last=last)
        fields |= {19: exec_id.decode(), 20: "2" if corrected else "1", 14: dice.choice([order.filled, 0])}
        if dice.random() < 0.3:
            fields |= {20: None, 150: "G" if corrected else "H", 9882: None}
        return [("octets", self.message("8", fields))]

    def session(self) -> list[tuple[str, Any]]:
        kind = self.dice.choice("000011145j3") if self.dice.random() < 0.3 else self.dice.choice("01A")
        parties = self.dice.choice([{}, {}, {"sender": "OTHER"}, {"target": "VENY"}])
        return [("octets", self.message(kind, {58: "text"}, self.sequence + 1 if parties else None, **parties))]

    def junk(self) -> list[tuple[str, Any]]:
        whole = self.message("0", {112: "x"})
        spoilt = self.dice.choice([b"junk\x01", b"\x01", whole.replace(b"112=x", b"112=y"), whole[:-4] + b"000\x01"])
        self.sequence -= 1
        return [("octets", spoilt)]
