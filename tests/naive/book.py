"""The books once more, slow and obvious: dictionaries and lists, fed with ITCH messages as bytes.

The twin of stages/book.py, stages/itch.py and stages/market.py for one channel in sequence.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from venym.wire.itch50 import MESSAGES


@dataclass
class NaiveOrder:
    reference: int
    locate: int
    side: str
    shares: int
    price_e4: int
    attribution: str


@dataclass
class NaiveBook:
    symbol: str = ""
    state: str = ""
    halted: bool = False
    mwcb: str = ""
    volume: int = 0
    suspect: bool = False
    queues: dict = field(default_factory=lambda: {"B": defaultdict(list), "S": defaultdict(list)})

    def ladder(self, side):
        """[(price, shares, orders)], best first."""
        rows = [(p, sum(o.shares for o in q), len(q)) for p, q in self.queues[side].items() if q]
        return sorted(rows, reverse=side == "B")

    def queue(self, side, price_e4):
        return [(o.reference, o.shares, o.attribution) for o in self.queues[side].get(price_e4, [])]

    def effective_state(self):
        if self.state == "T" and (self.halted or self.mwcb):
            return "H"
        return self.state or None


class NaiveMarket:
    def __init__(self):
        self.orders = {}
        self.books = defaultdict(NaiveBook)
        self.counters = Counter()
        self.trades = defaultdict(list)

    def apply(self, message: bytes) -> None:
        self.counters["messages"] += 1
        if not message:
            return
        kind = chr(message[0])
        if kind not in MESSAGES:
            self.counters["unknown_types"] += 1
            return
        if len(message) < MESSAGES[kind].length:
            self.counters["short_messages"] += 1
            return
        number = lambda at, width: int.from_bytes(message[at : at + width], "big")  # noqa: E731
        text = lambda at, width: message[at : at + width].decode("latin-1").rstrip(" ")  # noqa: E731
        locate = number(1, 2)
        getattr(self, f"_{'lower_' if kind.islower() else ''}{kind.lower()}", self._ignore)(locate, number, text)

    def _ignore(self, locate, number, text):
        pass

    def _learn(self, locate, symbol):
        if not self.books[locate].symbol:
            self.books[locate].symbol = symbol

    def _add(self, order):
        book = self.books[order.locate]
        if order.reference in self.orders:
            self.counters["duplicate_references"] += 1
            book.suspect = True
        elif order.shares == 0:
            self.counters["zero_shares"] += 1
        else:
            self.orders[order.reference] = order
            book.queues[order.side][order.price_e4].append(order)

    def _a(self, locate, number, text, attribution=""):
        book = self.books[locate]
        self._learn(locate, text(24, 8))
        side = text(19, 1)
        if side not in ("B", "S"):
            self.counters["unknown_codes"] += 1
            book.suspect = True
            return
        self._add(NaiveOrder(number(11, 8), locate, side, number(20, 4), number(32, 4), attribution))

    def _f(self, locate, number, text):
        self._a(locate, number, text, text(36, 4))

    def _find(self, locate, reference):
        order = self.orders.get(reference)
        if order is None:
            self.counters["unknown_references"] += 1
            self.books[locate].suspect = True
        elif order.locate != locate:
            self.counters["wrong_locates"] += 1
            self.books[locate].suspect = self.books[order.locate].suspect = True
        return order

    def _take(self, order, shares):
        order.shares -= shares
        if order.shares == 0:
            del self.orders[order.reference]
            self.books[order.locate].queues[order.side][order.price_e4].remove(order)

    def _reduce(self, order, shares, counter):
        if shares > order.shares:
            self.counters[counter] += 1
            self.books[order.locate].suspect = True
        self._take(order, min(shares, order.shares))

    def _print(self, locate, match, shares):
        self.books[locate].volume += shares
        self.trades[match].append(shares)

    def _e(self, locate, number, text, printable=True):
        order = self._find(locate, number(11, 8))
        if printable:
            self._print(order.locate if order else locate, number(23, 8), number(19, 4))
        if order:
            self._reduce(order, number(19, 4), "over_executions")

    def _c(self, locate, number, text):
        self._e(locate, number, text, printable=text(31, 1) == "Y")

    def _x(self, locate, number, text):
        order = self._find(locate, number(11, 8))
        if order:
            self._reduce(order, number(19, 4), "over_cancels")

    def _d(self, locate, number, text):
        order = self._find(locate, number(11, 8))
        if order:
            self._take(order, order.shares)

    def _u(self, locate, number, text):
        order = self._find(locate, number(11, 8))
        if order:
            self._take(order, order.shares)
            if number(27, 4):
                self._add(
                    NaiveOrder(number(19, 8), order.locate, order.side, number(27, 4), number(31, 4), order.attribution)
                )

    def _p(self, locate, number, text):
        self._learn(locate, text(24, 8))
        self._print(locate, number(36, 8), number(20, 4))

    def _q(self, locate, number, text):
        self._learn(locate, text(19, 8))
        if number(11, 8) + self.books[locate].volume > 2**62:
            self.counters["unknown_codes"] += 1
            self.books[locate].suspect = True
            return
        self.books[locate].volume += number(11, 8)

    def _b(self, locate, number, text):
        match = number(11, 8)
        book = self.books[locate]
        if match not in self.trades:
            self.counters["unknown_matches"] += 1
            return
        book.volume -= sum(self.trades[match])
        self.trades[match] = [0]

    def _h(self, locate, number, text):
        self._learn(locate, text(11, 8))
        self.books[locate].state = text(19, 1) or " "
        if text(19, 1) == "T":
            self.books[locate].mwcb = ""

    def _lower_h(self, locate, number, text):
        self._learn(locate, text(11, 8))
        if text(19, 1) == "Q":
            self.books[locate].halted = text(20, 1) == "H"

    def _w(self, locate, number, text):
        for book in self.books.values():
            book.mwcb = text(11, 1) or " "

    def _r(self, locate, number, text):
        self.books[locate].symbol = text(11, 8)

    def _y(self, locate, number, text):
        self._learn(locate, text(11, 8))

    def _j(self, locate, number, text):
        self._learn(locate, text(11, 8))

    def _i(self, locate, number, text):
        self._learn(locate, text(28, 8))

    def _l(self, locate, number, text):
        self.books[locate]

    _n = _o = _l
