"""The gateway once more, by dicts, lists and sums over everything: orders, reports, positions, kills.

Every input is applied at once. `messages` are the fields of what is sent, `events` what the strategy is told, both in
order. Exposure and position are added up anew from all orders and all executions whenever they are needed.
"""

from collections import Counter
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from tests.naive import fix
from tests.naive.gate import Gate
from tests.naive.gateway_reports import FINAL, Reports
from venym import records as r

KINDS = {
    name: getattr(r, name.upper())
    for name in ("accepted", "replaced", "canceled", "filled", "expired", "rejected", "cancel_rejected", "refused")
}
MONEY_MAX_E6 = 1 << 60
NO_TOKEN = -(1 << 63)


class NaiveGateway(Reports):
    def __init__(
        self, instruments: list[Any], limits: Any, fees: tuple[int, int], tables: Any, midnight_ns: int,
        strategies: int = 2, us: str = "VENYM", venue: str = "INET", prefix: str = "V", first_number: int = 1,
        version: str = "FIX.4.2",
    ) -> None:  # fmt: skip
        self.instruments, self.limits, self.fees, self.tables = instruments, limits, fees, tables
        self.midnight_ns, self.strategies = midnight_ns, strategies
        self.us, self.venue, self.prefix, self.first, self.version = us, venue, prefix, first_number, version
        self.clock_ns, self.armed, self.killed = 0, True, None
        self.out_sequence, self.in_sequence = 1, 1
        self.orders: list[Any] = []
        self.requests: list[Any] = []
        self.executions: dict[tuple[int, bytes], Any] = {}
        self.booked: list[tuple[Any, int, int, int]] = []  # order, shares, price_e4, fee_e6
        self.states: dict[int, Any] = {}
        self.sent_ns: list[int] = []
        self.messages: list[dict[int, str]] = []
        self.events: list[dict[str, int]] = []
        self.counters: Counter[str] = Counter()
        self.refusals: Counter[int] = Counter()
        self.stream, self.framed = b"", 0
        self.gate = Gate(self)

    # ---- what there is

    def open_orders(self, strategy: int, instrument: int) -> list[Any]:
        held = [o for o in self.orders if o.strategy == strategy and o.instrument == instrument and o.status != FINAL]
        return sorted(held, key=lambda order: order.age)

    def find(self, strategy: int, instrument: int, token: int) -> Any:
        return next((o for o in self.open_orders(strategy, instrument) if o.token == token), None)

    @staticmethod
    def open_shares(order: Any) -> int:
        if order.status == FINAL:
            return 0
        return max(max(order.shares, order.pending[0] if order.pending else 0) - order.filled, 0)

    def open_value(self, order: Any) -> int:
        worth = max(order.worth, order.pending[1] if order.pending else 0)
        return min(self.open_shares(order) * worth, 1 << 44)

    def holding(self, instrument: int, strategy: int | None = None) -> dict[str, int]:
        def ours(order: Any) -> bool:
            return order.instrument == instrument and strategy in (None, order.strategy)

        held = dict.fromkeys(("shares", "bought_shares", "sold_shares", "cash_e6", "fees_e6", "last_price_e4"), 0)
        for order, shares, price_e4, fee_e6 in self.booked:
            if ours(order):
                sign = 1 if order.side == r.BUY else -1
                held["shares"] += sign * shares
                held["bought_shares" if sign > 0 else "sold_shares"] += shares
                held["cash_e6"] = within(held["cash_e6"] - sign * shares * price_e4 * 100)
                held["fees_e6"] = within(held["fees_e6"] + fee_e6)
                held["last_price_e4"] = price_e4
        for name, side, longs in (
            ("open_buy_shares", r.BUY, False), ("open_sell_shares", r.SELL, False),
            ("open_sell_long_shares", r.SELL, True),
        ):  # fmt: skip
            held[name] = sum(
                self.open_shares(o) for o in self.orders if ours(o) and o.side == side and not (longs and o.short)
            )
        return held

    # ---- what comes in

    def market(self, state: Any) -> None:
        known = self.states.get(state.instrument)
        rested = known is not None and not self.must_not_rest(known)
        self.states[state.instrument] = state
        self.counters["market_states"] += 1
        if rested and self.must_not_rest(state):
            clock_ns = max(self.clock_ns, state.clock_ns)
            self.cancel_all([(strategy, state.instrument) for strategy in range(self.strategies)], clock_ns)

    def must_not_rest(self, state: Any) -> bool:
        halted = bool(self.limits.cancel_halted) and not state.marks & r.TRADABLE
        return halted or bool(self.limits.cancel_gapped and state.marks & r.GAPPED)

    def intent(self, intent: Any) -> None:
        self.counters["intents"] += 1
        self.clock_ns = max(self.clock_ns, intent.clock_ns)
        if intent.action == r.KILL:
            self.kill((intent.reason, intent.strategy))
        else:
            order, reason, short, worth = self.gate.judge(intent)
            if reason:
                self.refuse(intent, order, reason)
            elif intent.action == r.CANCEL:
                self.cancel(order, intent.cause)
            elif intent.action == r.NEW:
                self.new(intent, short, worth)
            else:
                self.replace(intent, order)
        self.sweep()

    def octets(self, clock_ns: int, octets: bytes) -> None:
        self.clock_ns = max(self.clock_ns, clock_ns)
        self.counters["chunks"] += 1
        self.stream += octets
        found = fix.framed(self.stream)
        for message in found[self.framed :]:
            self.message(message)
            self.sweep()
        self.framed = len(found)

    # ---- what goes out

    def request(self, order: Any, action: int, own: bool, shares: int, price_e4: int, orig: Any) -> Any:
        number = self.first + len(self.requests)
        made = SimpleNamespace(
            number=number, order=order, action=action, own=own, shares=shares, price_e4=price_e4, orig=orig, state=""
        )
        self.requests.append(made)
        return made

    def new(self, intent: Any, short: bool, worth: int) -> None:
        order = SimpleNamespace(
            token=intent.token, strategy=intent.strategy, instrument=intent.instrument, side=intent.side,
            short=short, ord_type=intent.ord_type, tif=intent.tif, shares=intent.shares, worth=worth, filled=0,
            price_e4=intent.price_e4 if intent.ord_type == r.LIMIT else 0, pending=None, status="sent", cancel=None,
            replace=None, age=0, row=len(self.orders), post_only=intent.post_only,
        )  # fmt: skip
        order.age = self.next_age()
        self.orders.append(order)
        order.request = self.request(order, r.NEW, False, intent.shares, intent.price_e4, None)
        self.counters["new_orders"] += 1
        self.send("D", order, order.request, order.price_e4)

    def next_age(self) -> int:
        return max((order.age for order in self.orders), default=0) + 1

    def replace(self, intent: Any, order: Any) -> None:
        order.replace = self.request(order, r.REPLACE, False, intent.shares, intent.price_e4, order.request)
        order.pending = (intent.shares, intent.price_e4)
        self.counters["replaces"] += 1
        self.send("G", order, order.replace, intent.price_e4)

    def cancel(self, order: Any, cause: int, own: bool = False, clock_ns: int | None = None) -> None:
        shares = order.pending[0] if order.replace else order.shares
        order.cancel = self.request(order, r.CANCEL, own, shares, 0, order.replace or order.request)
        self.counters["cancels"] += 1
        self.counters["own_cancels"] += own
        self.send("F", order, order.cancel, 0, clock_ns)

    def send(self, kind: str, order: Any, request: Any, price_e4: int, clock_ns: int | None = None) -> None:
        clock_ns = self.clock_ns if clock_ns is None else clock_ns
        now = fix.time(self.midnight_ns + clock_ns).decode()
        side = "1" if order.side == r.BUY else "5" if order.short else "2"
        fields = {35: kind, 34: self.out_sequence, 49: self.us, 52: now, 56: self.venue, 60: now, 54: side}
        fields |= {11: f"{self.prefix}{request.number}", 38: request.shares}
        fields[55] = self.instruments[order.instrument].fix_symbol
        if request.orig:
            fields[41] = f"{self.prefix}{request.orig.number}"
        if kind != "F":
            fields |= {40: order.ord_type, 59: order.tif} | ({21: "1"} if self.version == "FIX.4.2" else {})
            if order.ord_type == r.LIMIT:
                fields[44] = f"{Decimal(price_e4).scaleb(-4):.4f}"
            if order.post_only:
                fields[18] = "6"
        self.out_sequence += 1
        self.sent_ns.append(clock_ns)
        self.messages.append({tag: str(value) for tag, value in fields.items()})

    def tell(
        self, order: Any, kind: str, action: int = 0, reason: int = 0, last: tuple[int, int, int] = (0, 0, 0)
    ) -> None:
        final = order.status == FINAL
        token = NO_TOKEN if final and self.find(order.strategy, order.instrument, order.token) else order.token
        self.events.append(
            dict(
                clock_ns=self.clock_ns, token=token, shares=order.shares, price_e4=order.price_e4,
                leaves_shares=0 if final else max(order.shares - order.filled, 0), filled_shares=order.filled,
                last_shares=last[0], last_price_e4=last[1], fee_e6=last[2], strategy=order.strategy,
                instrument=order.instrument, reason=reason, kind=KINDS[kind], side=order.side, action=action,
                final=int(final),
            )
        )  # fmt: skip

    def refuse(self, intent: Any, order: Any, reason: int) -> None:
        self.counters["refusals"] += 1
        self.refusals[reason] += 1
        told = dict(
            clock_ns=self.clock_ns, token=intent.token, shares=intent.shares, price_e4=intent.price_e4,
            leaves_shares=0, filled_shares=0, last_shares=0, last_price_e4=0, fee_e6=0, strategy=intent.strategy,
            instrument=intent.instrument, reason=reason, kind=KINDS["refused"], side=intent.side,
            action=intent.action, final=int(not order and reason != self.gate.code["duplicate_token"]),
        )  # fmt: skip
        if order:
            told |= dict(shares=order.shares, price_e4=order.price_e4, side=order.side, filled_shares=order.filled)
            told |= dict(leaves_shares=max(order.shares - order.filled, 0))
        self.events.append(told)

    # ---- kills

    def kill(self, why: Any) -> None:
        self.counters["kills"] += 1
        self.killed = self.killed or why

    def sweep(self) -> None:
        if self.killed:
            groups = [(s, i) for s in range(self.strategies) for i in range(len(self.instruments))]
            self.cancel_all(groups, self.clock_ns)

    def cancel_all(self, groups: list[tuple[int, int]], clock_ns: int) -> None:
        for order in [order for group in groups for order in self.open_orders(*group)]:
            if not order.cancel and len(self.requests) < self.tables.requests_max:
                self.cancel(order, 0, own=True, clock_ns=clock_ns)


def within(money_e6: int) -> int:
    return max(-MONEY_MAX_E6, min(MONEY_MAX_E6, money_e6))
