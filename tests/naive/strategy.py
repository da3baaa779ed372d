"""The strategy stage as it is meant: one list of everything that happens, in order of time, one thing after another.

It knows all signals before it begins and asks `answers` what became of an order as soon as that is due, so it never has
to wait, hold, mark or go on. Whatever a real run's links have done, it must have come to the same.
"""

import math
from typing import Any, Protocol

import numpy as np

from venym.records import (
    ACCEPTED,
    BOOK_EVENT,
    BUY,
    CANCEL,
    FILLED,
    INTENT,
    KILL,
    NEW,
    ORDER_EVENT,
    REFUSED,
    REPLACE,
    REPLACED,
    SELL,
)
from venym.strategies.interface import INTENTS_MAX, ORDERS_MAX, PARAMS_MAX, POSITION, WORKING_ORDER, Intents, State

RAISED, INTENTS_OVER, ORDERS_OVER, ASKED = 1, 2, 3, 4
Record = dict[str, Any]


class Answers(Protocol):
    """Where intents go and order events come from."""

    def ask(self, intent: Record) -> None: ...
    def next_ns(self) -> float: ...
    def settle(self, until_ns: float) -> bool: ...
    def pop(self) -> Record: ...


def filled(dtype: np.dtype, fields: Record) -> Any:
    made = np.zeros(1, dtype).view(np.recarray)
    for name, value in fields.items():
        made[name][0] = value
    return made[0]


class Book:
    """Of one strategy in one instrument: what works, the position, the memory."""

    def __init__(self) -> None:
        self.rows: list[Record] = []
        self.position = dict.fromkeys(("shares", "bought_shares", "sold_shares", "cash_e6", "fees_e6"), 0)
        self.state = State(np.zeros(64, np.int64), np.zeros(64))

    def find(self, token: int) -> Record | None:
        return next((row for row in self.rows if row["token"] == token), None)

    def shown_rows(self) -> list[Record]:
        shown = []
        for row in self.rows:
            requests = row["requests"]
            pending = next((kind for kind in (CANCEL, REPLACE, NEW) if kind in requests), 0)
            replacing = REPLACE in requests
            shown.append(
                {name: row[name] for name in ("token", "shares", "leaves_shares", "filled_shares", "price_e4", "side")}
                | dict(
                    pending=pending,
                    acknowledged=row["acknowledged"],
                    pending_shares=row["asked_shares"] if replacing else 0,
                    pending_price_e4=row["asked_price_e4"] if replacing else 0,
                    news=requests.count(NEW),
                    cancels=requests.count(CANCEL),
                    replaces=requests.count(REPLACE),
                )
            )
        return shown

    def shown_position(self) -> Record:
        open_shares = {BUY: 0, SELL: 0}
        for row in self.rows:
            leaves = row["leaves_shares"]
            if REPLACE in row["requests"]:
                leaves = max(leaves, row["asked_shares"] - row["filled_shares"])
            if row["side"] in open_shares:
                open_shares[row["side"]] += leaves
        return self.position | dict(open_buy_shares=open_shares[BUY], open_sell_shares=open_shares[SELL])

    def expect(self, intent: Record) -> None:
        row, shares = self.find(intent["token"]), max(intent["shares"], 0)
        if intent["action"] == NEW and row is None and len(self.rows) < ORDERS_MAX:
            self.rows.append(
                dict(token=intent["token"], side=intent["side"], shares=shares, leaves_shares=shares, filled_shares=0,
                     price_e4=intent["price_e4"], acknowledged=0, requests=[NEW], asked_shares=0, asked_price_e4=0)
            )  # fmt: skip
        elif intent["action"] == CANCEL and row is not None:
            row["requests"].append(CANCEL)
        elif intent["action"] == REPLACE and row is not None:
            row["requests"].append(REPLACE)
            row["asked_shares"], row["asked_price_e4"] = shares, intent["price_e4"]

    def follow(self, event: Record) -> bool:
        """False if the order it tells of has no room."""
        kind, row = event["kind"], self.find(event["token"])
        if kind == FILLED:
            sign, shares = (1, event["last_shares"]) if event["side"] == BUY else (-1, event["last_shares"])
            self.position["shares"] += sign * shares
            self.position["bought_shares" if sign == 1 else "sold_shares"] += shares
            self.position["cash_e6"] -= sign * shares * event["last_price_e4"] * 100
            self.position["fees_e6"] += event["fee_e6"]
        numbers = {name: event[name] for name in ("shares", "leaves_shares", "filled_shares", "price_e4")}
        if row is None:
            if event["final"] or kind not in (ACCEPTED, REPLACED, FILLED):
                return True
            if len(self.rows) == ORDERS_MAX:
                return False
            asked = dict(acknowledged=1, requests=[], asked_shares=0, asked_price_e4=0)
            self.rows.append(dict(token=event["token"], side=event["side"]) | numbers | asked)
            return True
        if kind == REFUSED and event["action"] == NEW:  # of this order, or of another that took its name
            if NEW in row["requests"] and event["final"]:
                self.rows.remove(row)
            return True
        if event["action"] in row["requests"]:
            row["requests"].remove(event["action"])
        if kind != REFUSED:
            row.update(numbers, acknowledged=1)
            if event["final"]:
                self.rows.remove(row)
        return True


class NaiveStrategies:
    """All strategies: `assignments` as the stage takes them. `sent` holds their intents, `raised` who raised."""

    def __init__(self, assignments: Any, instruments: int, answers: Answers) -> None:
        self.assignments, self.instruments, self.answers = assignments, instruments, answers
        self.books = [[Book() for _ in range(instruments + 1)] for _ in assignments]
        self.params = [np.array([*a.params, *[0.0] * (PARAMS_MAX - len(a.params))]) for a in assignments]
        self.timers: list[float] = [math.inf] * len(assignments)
        self.enabled = [True] * len(assignments)
        self.markets: dict[int, Any] = {}
        self.clock_ns, self.ordinal, self.cause = 0, -1, -1
        self.sent: list[Record] = []
        self.raised: list[int] = []

    def run(self, signals: list[Any], end_ns: int) -> None:
        """Everything up to `end_ns`, signals (SIGNAL records) in order of their clocks."""
        signals = list(signals)
        while True:
            event_ns, timer_ns = self.answers.next_ns(), min(self.timers, default=math.inf)
            signal_ns = int(signals[0].market.clock_ns) if signals else end_ns
            if event_ns <= min(timer_ns, signal_ns):
                if self.answers.settle(event_ns):
                    self.take_event(self.answers.pop())
            elif timer_ns < event_ns and timer_ns <= signal_ns:
                self.take_timer(int(timer_ns))
            elif signals and signal_ns < min(event_ns, timer_ns):
                self.take_signal(signals.pop(0))
            else:
                return

    def take_signal(self, signal: Any) -> None:
        market = signal.market
        place, self.clock_ns = int(market.instrument), int(market.clock_ns)
        self.ordinal, self.cause = int(market.ordinal), int(market.cause)
        self.markets[place] = market
        concerned = [k for k, a in enumerate(self.assignments) if place in a.instruments]
        for k in concerned:
            period_ns = self.assignments[k].strategy.timer_ns
            if period_ns and self.enabled[k] and self.timers[k] == math.inf:
                self.timers[k] = (self.clock_ns // period_ns + 1) * period_ns
        for k in concerned:
            self.call(k, place, place, self.assignments[k].strategy.decide, market, signal)

    def take_event(self, event: Record) -> None:
        self.clock_ns, k, instrument = event["clock_ns"], event["strategy"], event["instrument"]
        place = self.place_of(instrument)
        if not self.books[k][place].follow(event):
            self.disable(k, ORDERS_OVER)
        market = self.markets.get(place, filled(BOOK_EVENT, {}))
        record = filled(ORDER_EVENT, event)
        self.call(k, place, instrument, self.assignments[k].strategy.on_execution, record, market)

    def take_timer(self, timer_ns: int) -> None:
        self.clock_ns, k = timer_ns, self.timers.index(timer_ns)
        for place in sorted(set(self.assignments[k].instruments) & set(self.markets)):
            on_timer = self.assignments[k].strategy.on_timer
            self.call(k, place, place, on_timer, timer_ns, self.markets[place])
        self.timers[k] += self.assignments[k].strategy.timer_ns

    def place_of(self, instrument: int) -> int:
        return instrument if 0 <= instrument < self.instruments else self.instruments

    def call(self, k: int, place: int, instrument: int, function: Any, *shown: Any) -> None:
        if not self.enabled[k]:
            return
        book = self.books[k][place]
        orders = np.zeros(ORDERS_MAX, WORKING_ORDER).view(np.recarray)
        for at, row in enumerate(book.shown_rows()):
            orders[at] = filled(WORKING_ORDER, row)
        intents = Intents(np.zeros(INTENTS_MAX, INTENT).view(np.recarray), np.zeros(1, np.int64))
        intents.slots["instrument"] = -1
        position = filled(POSITION, book.shown_position())
        try:
            function(self.params[k], book.state, *shown, orders[: len(book.rows)], position, intents)
        except ValueError:
            self.raised.append(k)
            self.disable(k, RAISED)
            return
        count = int(intents.count[0])
        if not 0 <= count <= INTENTS_MAX:
            self.disable(k, INTENTS_OVER)
            return
        for slot in intents.slots[:count]:
            asked = {name: int(slot[name]) for name in ("token", "shares", "price_e4", "action", "side", "ord_type",
                                                        "tif", "post_only", "instrument")}  # fmt: skip
            if asked["instrument"] == -1:
                asked["instrument"] = instrument
            killed = asked["action"] == KILL
            self.send(asked | dict(strategy=k, reason=ASKED if killed else 0))
            if killed:
                self.enabled[k], self.timers[k] = False, math.inf

    def send(self, asked: Record) -> None:
        intent = asked | dict(clock_ns=self.clock_ns, ordinal=self.ordinal, cause=self.cause)
        if intent["action"] != KILL:
            self.books[intent["strategy"]][self.place_of(intent["instrument"])].expect(intent)
        self.sent.append(intent)
        self.answers.ask(intent)

    def disable(self, k: int, reason: int) -> None:
        self.enabled[k], self.timers[k] = False, math.inf
        nothing = dict.fromkeys(("token", "shares", "price_e4", "side", "ord_type", "tif", "post_only"), 0)
        self.send(nothing | dict(action=KILL, strategy=k, reason=reason, instrument=-1))
