"""Somewhere for intents to go: gateway and venue in one, which answers each after a fixed time, as the dice say.

What happens depends on what was asked and when, never on when it is called: requests arrive, and orders fill, in the
order of their times.
"""

import heapq
import math
from itertools import count
from typing import Any

from venym.records import (
    ACCEPTED,
    BUY,
    CANCEL,
    CANCEL_REJECTED,
    CANCELED,
    EXPIRED,
    FILLED,
    KILL,
    NEW,
    REFUSED,
    REJECTED,
    REPLACE,
    REPLACED,
    SELL,
)

Record = dict[str, Any]


class Answers:
    """Each new order takes the next of `dice`: how it is answered, and how it fills."""

    def __init__(self, dice: list[int], latency_ns: int, instruments: int, open_max: int) -> None:
        self.dice, self.latency_ns, self.instruments, self.open_max = dice, latency_ns, instruments, open_max
        self.number = count()
        self.due: list[tuple[int, int, int, str, Record]] = []  # trades before arrivals
        self.open: dict[tuple[int, int, int], Record] = {}
        self.ready: list[Record] = []  # events of a kill beside the first
        self.thrown = self.killed = 0

    def ask(self, intent: Record) -> None:
        heapq.heappush(self.due, (intent["clock_ns"] + self.latency_ns, 1, next(self.number), "arrive", intent))

    def next_ns(self) -> float:
        """Nothing happens before this, were nothing more asked for."""
        if self.ready:
            return self.ready[0]["clock_ns"]
        return self.due[0][0] if self.due else math.inf

    def settle(self, until_ns: float) -> bool:
        """Is there an order event up to then? Whoever asks knows that nothing will be asked that arrives before."""
        while not self.ready and self.due and self.due[0][0] <= until_ns:
            at_ns, _, _, what, whom = heapq.heappop(self.due)
            self.ready += self.arrive(at_ns, whom) if what == "arrive" else self.trade(at_ns, whom, what)
        return bool(self.ready)

    def pop(self) -> Record:
        return self.ready.pop(0)

    def arrive(self, at_ns: int, intent: Record) -> list[Record]:
        action, key = intent["action"], (intent["strategy"], intent["instrument"], intent["token"])
        if action == KILL:
            self.killed = 1
            return [self.close(at_ns, order, CANCELED, 0) for order in list(self.open.values())]
        order = self.open.get(key)
        if self.killed or not 0 <= intent["instrument"] < self.instruments or action not in (NEW, CANCEL, REPLACE):
            return [self.refuse(at_ns, intent, order)]
        if action == NEW:
            return self.accept(at_ns, intent, key, order)
        if order is None:
            return [self.refuse(at_ns, intent, None)]
        if action == CANCEL:
            return [self.close(at_ns, order, CANCELED, CANCEL)]
        if intent["shares"] <= order["filled_shares"] or intent["price_e4"] <= 0:
            return [self.tell(at_ns, order, CANCEL_REJECTED, REPLACE, reason=2)]
        order.update(shares=intent["shares"], price_e4=intent["price_e4"])
        order["leaves_shares"] = order["shares"] - order["filled_shares"]
        return [self.tell(at_ns, order, REPLACED, REPLACE)]

    def accept(self, at_ns: int, intent: Record, key: Any, order: Record | None) -> list[Record]:
        self.thrown += 1
        die = self.dice[self.thrown % len(self.dice)]
        of_strategy = sum(other["strategy"] == intent["strategy"] for other in self.open.values())
        wrong = intent["side"] not in (BUY, SELL) or intent["shares"] < 1 or intent["price_e4"] < 0
        if order is not None or wrong or of_strategy >= self.open_max:
            return [self.refuse(at_ns, intent, order)]
        new = dict(strategy=key[0], instrument=key[1], token=key[2], side=intent["side"], shares=intent["shares"],
                   leaves_shares=intent["shares"], filled_shares=0, price_e4=intent["price_e4"])  # fmt: skip
        if die == 0:
            return [self.tell(at_ns, new | dict(leaves_shares=0), REJECTED, NEW, reason=99, final=1)]
        self.open[key] = new
        for k in range(die % 4):
            heapq.heappush(self.due, (at_ns + die * (k + 1) * 3, 0, 4 * self.thrown + k, "fill", new))
        if die % 3 == 2:
            heapq.heappush(self.due, (at_ns + die * 9, 0, 4 * self.thrown + 3, "expire", new))
        return [self.tell(at_ns, new, ACCEPTED, NEW)]

    def trade(self, at_ns: int, order: Record, what: str) -> list[Record]:
        if self.open.get((order["strategy"], order["instrument"], order["token"])) is not order:
            return []
        if what == "expire":
            return [self.close(at_ns, order, EXPIRED, 0)]
        shares = -(-order["leaves_shares"] // 2)
        order["filled_shares"] += shares
        order["leaves_shares"] -= shares
        done = order["leaves_shares"] == 0
        if done:
            self.forget(order)
        fill = dict(last_shares=shares, last_price_e4=order["price_e4"] - 1, fee_e6=shares * 3 - 10, final=int(done))
        return [self.tell(at_ns, order, FILLED, 0, **fill)]

    def close(self, at_ns: int, order: Record, kind: int, action: int) -> Record:
        self.forget(order)
        order["leaves_shares"] = 0
        return self.tell(at_ns, order, kind, action, final=1)

    def forget(self, order: Record) -> None:
        del self.open[order["strategy"], order["instrument"], order["token"]]

    def refuse(self, at_ns: int, intent: Record, order: Record | None) -> Record:
        """`final` is of the order that bears the name, not of the request."""
        told = order or (
            {name: intent[name] for name in ("strategy", "instrument", "token", "side", "shares", "price_e4")}
            | dict(leaves_shares=0, filled_shares=0)
        )
        return self.tell(at_ns, told, REFUSED, intent["action"], reason=7, final=int(order is None))

    def tell(self, at_ns: int, order: Record, kind: int, action: int, **more: int) -> Record:
        nothing = dict(last_shares=0, last_price_e4=0, fee_e6=0, reason=0, final=0)
        return nothing | order | dict(clock_ns=at_ns, kind=kind, action=action) | more
