"""Order books as plain dictionaries that find fault with every message that does not fit."""

from collections import Counter, defaultdict
from typing import Any


class DictBooks:
    """One dictionary of orders for all instruments, one of queues for each instrument, side and price.

    `faults` counts what must not happen, by name. A book is looked at after each message that can cross it.
    """

    def __init__(self) -> None:
        self.orders: dict[int, list[Any]] = {}  # reference: [locate, side, price, shares]
        self.queues: dict[tuple[int, str], dict[int, dict[int, None]]] = defaultdict(dict)
        self.used: set[int] = set()  # every reference ever
        self.matches: set[int] = set()
        self.faults: Counter[str] = Counter()
        self.in_turn = Counter[bool]()  # executions of the oldest order at the best price, and others
        self.whole = Counter[bool]()  # executions of all of an order, and others
        self.live_max = 0
        self.depth_max = 0

    def apply(self, fields: dict[str, Any]) -> None:
        kind = fields["message_type"]
        if kind in "AF":
            self._add(
                fields["order_reference_number"],
                fields["stock_locate"],
                fields["buy_sell_indicator"],
                fields["price"],
                fields["shares"],
            )
        elif kind in "EC":
            self._match(fields["match_number"])
            self._execute(fields)
        elif kind == "X":
            self._reduce(fields, fields["cancelled_shares"], may_end=False)
        elif kind == "D":
            self._reduce(fields, None)
        elif kind == "U":
            self._replace(fields)
        elif kind in "PQ":
            self._match(fields["match_number"])

    def best(self, locate: int, side: str) -> int | None:
        prices = self.queues[locate, side]
        return (max(prices) if side == "B" else min(prices)) if prices else None

    def _match(self, number: int) -> None:
        self.faults["match number twice"] += number in self.matches
        self.matches.add(number)

    def _add(self, reference: int, locate: int, side: str, price: int, shares: int) -> None:
        self.faults["reference twice"] += reference in self.used
        self.faults["no shares"] += shares == 0
        self.faults["no price"] += price == 0
        self.used.add(reference)
        self.orders[reference] = [locate, side, price, shares]
        self.queues[locate, side].setdefault(price, {})[reference] = None
        bid, ask = self.best(locate, "B"), self.best(locate, "S")
        self.faults["crossed or locked"] += bid is not None and ask is not None and bid >= ask
        self.live_max = max(self.live_max, len(self.orders))
        self.depth_max = max(self.depth_max, len(self.queues[locate, side]))

    def _known(self, reference: int, locate: int) -> list[Any] | None:
        order = self.orders.get(reference)
        self.faults["unknown reference"] += order is None
        self.faults["wrong locate"] += order is not None and order[0] != locate
        return order

    def _execute(self, fields: dict[str, Any]) -> None:
        order = self._known(fields["order_reference_number"], fields["stock_locate"])
        if order is None:
            return
        locate, side, price, shares = order
        oldest = next(iter(self.queues[locate, side][price]))
        is_first = price == self.best(locate, side) and oldest == fields["order_reference_number"]
        self.in_turn[is_first] += 1
        self.whole[shares == fields["executed_shares"]] += 1
        self._reduce(fields, fields["executed_shares"])

    def _reduce(self, fields: dict[str, Any], by: int | None, may_end: bool = True) -> None:
        """Take shares off an order; None: all of them."""
        reference = fields["order_reference_number"]
        order = self._known(reference, fields["stock_locate"])
        if order is None:
            return
        self.faults["nothing taken"] += by == 0
        self.faults["more than there is"] += by is not None and by > order[3]
        order[3] -= order[3] if by is None else by
        self.faults["ended by a cancel"] += not may_end and order[3] == 0
        if order[3] <= 0:
            self._drop(reference)

    def _drop(self, reference: int) -> None:
        locate, side, price, _ = self.orders.pop(reference)
        queue = self.queues[locate, side][price]
        del queue[reference]
        if not queue:
            del self.queues[locate, side][price]

    def _replace(self, fields: dict[str, Any]) -> None:
        original = fields["original_order_reference_number"]
        order = self._known(original, fields["stock_locate"])
        if order is not None:
            locate, side = order[:2]
            self._drop(original)
            self._add(fields["new_order_reference_number"], locate, side, fields["price"], fields["shares"])
