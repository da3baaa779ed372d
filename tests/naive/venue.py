"""The venue once more: dictionaries, lists, sorting; no link, no step, no mark. Everything that comes is known at once.

packets ──▶ due messages, each with its clock ─┐
                                               ├─ in order of time, the market first ──▶ reports
octets, each with its arrival ─────────────────┘
"""

from dataclasses import dataclass
from typing import Any

from tests.naive import fix
from tests.naive.market_feed import Packet, due
from tests.naive.requests import amount, is_post_only, read, whole
from tests.naive.venue_market import Listed, NaiveMarketSide, Shown

Text = bytes
SESSION_TYPES = {b"0", b"1", b"2", b"3", b"4", b"5", b"A"}
FINAL = {"2", "4", "C"}


@dataclass
class Ours:
    """An order of the member's."""

    number: int
    name: Text
    symbol: str
    side: str
    ord_type: str
    tif: str
    price_e4: int
    shares: int
    place: int = 0
    filled: int = 0
    value_e4: int = 0
    status: str = "0"
    resting: bool = False

    @property
    def leaves(self) -> int:
        return 0 if self.status in FINAL else self.shares - self.filled


@dataclass
class Setting:
    """The venue's settings, with the names of the real one."""

    symbols: list[Listed]
    version: str = "FIX.4.2"
    sender: str = "VENYM"
    target: str = "VENUE"
    order_latency_ns: int = 0
    report_latency_ns: int = 0
    midnight_ns: int = 0
    decimals: int = 3
    orders_max: int = 1 << 30
    ids_max: int = 1 << 30


class NaiveVenue(NaiveMarketSide):
    def __init__(self, setting: Setting) -> None:
        super().__init__(setting.symbols)
        self.setting = setting
        self.reports: list[tuple[int, bytes]] = []
        self.ours: list[Ours] = []
        self.named: dict[Text, Ours] = {}
        self.now = 0
        self.expected = 1
        self.exec_id = 1
        self.stream = b""
        self.taken = 0

    def run(self, packets: list[Packet], orders: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Everything that is reported, as (clock at the gateway, octets)."""
        waiting = [(clock + self.setting.order_latency_ns, octets) for clock, octets in orders]
        for clock, channel, message in due(packets):
            while waiting and waiting[0][0] < clock:
                self.receive(*waiting.pop(0))
            self.now = clock
            if message is None:
                self.begin(channel)
            else:
                self.apply(channel, message)
        for arrival, octets in waiting:
            self.receive(arrival, octets)
        return self.reports

    # What resting orders get of the market's doings.

    def expire(self, channel: int) -> None:
        for order in self.ours:
            if order.resting and self.symbols[order.symbol].channel == channel:
                self.end(order, "C")

    def came(self, shown: Shown) -> None:
        if not self.is_trading(shown.symbol):
            return
        for order in self.queue(shown.symbol, "S" if shown.side == "B" else "B"):
            crosses = order.price_e4 >= shown.price_e4 if shown.side == "S" else order.price_e4 <= shown.price_e4
            available = shown.shares - shown.taken
            if crosses and available > 0:
                shares = min(order.leaves, available)
                shown.taken += shares
                self.fill(order, shares, order.price_e4, "A")

    def executed(self, shown: Shown, shares: int) -> None:
        if not self.is_trading(shown.symbol):
            return
        for order in self.queue(shown.symbol, shown.side):
            ahead = better(shown.side, order.price_e4, shown.price_e4)
            ahead = ahead or (order.price_e4 == shown.price_e4 and order.place < shown.place)
            filled = min(order.leaves, shares)
            if ahead and filled > 0:
                shares -= filled
                self.fill(order, filled, order.price_e4, "A")

    def queue(self, name: str, side: str) -> list[Ours]:
        """Our resting orders of a side, in price-time order."""
        held = [o for o in self.ours if o.resting and o.symbol == name and (o.side == "1") == (side == "B")]
        return sorted(held, key=lambda o: (-o.price_e4 if side == "B" else o.price_e4, o.place))

    # The member.

    def receive(self, arrival: int, octets: bytes) -> None:
        self.now = max(self.now, arrival)
        self.stream += octets
        for message in fix.framed(self.stream)[self.taken :]:
            self.taken += 1
            self.answer(message)

    def answer(self, message: bytes) -> None:
        found, fault = read(message)
        number = whole(found.get(34, b""))
        if found[8] != self.setting.version.encode():
            return self.send("5", [(58, "BeginString is not the session's")])
        if number != self.expected:
            if found.get(43) == b"Y" and number is not None and 0 < number < self.expected:
                return None
            return self.send("5", [(58, f"MsgSeqNum expected: {self.expected}")])
        self.expected += 1
        kind = found[35]
        if kind in SESSION_TYPES:
            return None
        if found.get(49) != self.setting.sender.encode():
            fault = 49, 9
        elif found.get(56) != self.setting.target.encode():
            fault = 56, 9
        if fault is None and kind not in (b"D", b"F", b"G"):
            return self.send("j", [(45, number), (372, kind), (380, 3)])
        for tag in (11, 41, 54, 55) if kind != b"D" else (11, 54, 55):
            most = 1 if tag == 54 else 48 if tag != 55 else 10_000
            if fault is None and (tag not in found or len(found[tag]) > most):
                fault = tag, 1 if tag not in found else 5
        if fault is not None:
            tag, reason = fault
            blamed = [(371, tag)] if tag else []
            if reason == 13 and self.setting.version == "FIX.4.2":
                reason = 5
            return self.send("3", [(45, number), *blamed, (372, kind), (373, reason)])
        if kind == b"D":
            return self.new(found)
        return self.amend(found, kind == b"G")

    def send(self, kind: str, body: list[tuple[int, Any]]) -> None:
        sent = fix.time(self.setting.midnight_ns + self.now, self.setting.decimals)
        head: list[tuple[int, Any]] = [(35, kind), (34, len(self.reports) + 1), (49, self.setting.target)]
        head += [(52, sent), (56, self.setting.sender)]
        fields = [(tag, value if isinstance(value, bytes) else str(value).encode()) for tag, value in head + body]
        self.reports.append((self.now + self.setting.report_latency_ns, fix.message(fields, self.setting.version)))

    def report(self, order: Ours, kind: str, **more: Any) -> None:
        """An execution report; `more` by tag, as t31."""
        is_42 = self.setting.version == "FIX.4.2"
        average = (2 * order.value_e4 + order.filled) // (2 * order.filled) if order.filled else 0
        values: dict[int, Any] = {
            6: fix.price(average), 11: order.name, 14: order.filled, 17: self.exec_id, 37: order.number,
            38: order.shares, 39: order.status, 40: order.ord_type, 54: order.side,
            55: self.symbols[order.symbol].listed.fix_symbol, 59: order.tif,
            60: fix.time(self.setting.midnight_ns + self.now, self.setting.decimals), 150: kind, 151: order.leaves,
        }  # fmt: skip
        values |= {20: 0} if is_42 else {}
        values |= {44: fix.price(order.price_e4)} if order.price_e4 else {}
        if not is_42 and order.status == "5":
            values[39] = "0"
        if kind == "F" and is_42:
            values[150] = "2" if order.leaves == 0 else "1"
        self.exec_id += 1
        self.send("8", sorted((values | {int(tag[1:]): value for tag, value in more.items()}).items()))

    def terms(self, found: dict[int, bytes], name: str) -> tuple[str, int, int] | None:
        """(text, 103 of 4.2, 103 of 4.4) of what is wrong with an order's terms."""
        listed, shares = self.symbols[name].listed, amount(found.get(38), 0)
        if found[54] not in (b"1", b"2", b"5"):
            return "Side is none of 1, 2, 5", 0, 11
        if not shares:
            return "OrderQty is no whole number from 1 to 2147483647", 0, 13
        if shares % listed.lot_shares:
            return "OrderQty is no multiple of the lot", 0, 13
        if found.get(40) not in (b"1", b"2"):
            return "OrdType is neither 1 nor 2", 0, 11
        if found.get(59, b"0") not in (b"0", b"3"):
            return "TimeInForce is neither 0 nor 3", 0, 11
        if found[40] == b"2":
            price_e4 = amount(found.get(44), 4)
            if not price_e4:
                return "Price is none from 0.0001 to 214748.3647 with four decimals", 0, 99
            if price_e4 % listed.tick_e4:
                return "Price is no multiple of the tick", 0, 99
        if is_post_only(found) and (found[40] == b"1" or found.get(59) == b"3"):
            return "only a limit order for the day can be post-only", 0, 11
        if self.symbols[name].channel in self.closed:
            return "market hours are over", 2, 2
        if not self.is_trading(name):
            return "the symbol is not trading", 2, 2
        return None

    def new(self, found: dict[int, bytes]) -> None:
        name = next((s.listed.symbol for s in self.symbols.values() if s.listed.fix_symbol.encode() == found[55]), None)
        fault: tuple[str, int, int] | None = None
        if found[11] in self.named:
            fault = "ClOrdID was used before", 6, 6
        elif name is None:
            fault = "symbol is not listed", 1, 1
        else:
            fault = self.terms(found, name)
            if fault is None and len(self.ours) >= self.setting.orders_max:
                fault = "venue.orders_max is reached", 3, 3
            if fault is None and len(self.named) >= self.setting.ids_max:
                fault = "venue.ids_max is reached", 3, 3
            if fault is None and is_post_only(found) and self.takes(name, found):
                fault = "post-only order would take", 0, 99
        if fault is not None:
            return self.reject(found, *fault)
        price_e4 = amount(found[44], 4) if found[40] == b"2" else 0
        tif = found.get(59, b"0").decode()
        assert name is not None and price_e4 is not None
        order = Ours(
            len(self.ours) + 1, found[11], name, found[54].decode(), found[40].decode(), tif, price_e4,
            amount(found[38], 0) or 0,
        )  # fmt: skip
        self.ours.append(order)
        self.named[order.name] = order
        self.report(order, "0")
        return self.match(order)

    def reject(self, found: dict[int, bytes], text: str, reason_42: int, reason_44: int) -> None:
        is_42, shares, price_e4 = self.setting.version == "FIX.4.2", amount(found.get(38), 0), amount(found.get(44), 4)
        values: dict[int, Any] = {
            6: "0.0000", 11: found[11], 14: 0, 17: self.exec_id, 37: "NONE", 39: 8, 54: found[54], 55: found[55][:48],
            58: text, 60: fix.time(self.setting.midnight_ns + self.now, self.setting.decimals),
            103: reason_42 if is_42 else reason_44, 150: 8, 151: 0,
        }  # fmt: skip
        values |= {20: 0} if is_42 else {}
        values |= {38: shares} if shares else {}
        values |= {44: fix.price(price_e4)} if price_e4 else {}
        self.exec_id += 1
        self.send("8", sorted(values.items()))

    def takes(self, name: str, found: dict[int, bytes]) -> bool:
        """Is anything there to be taken at the price?"""
        limit = amount(found[44], 4) or 0
        return self.first(name, found[54].decode(), limit) is not None

    def first(self, name: str, side: str, limit: int) -> Shown | None:
        """The displayed order that comes first for an order of this side and price, 0 for any."""
        for shown in self.best(name, "S" if side == "1" else "B"):
            is_beyond = shown.price_e4 > limit if side == "1" else shown.price_e4 < limit
            if not (limit and is_beyond) and shown.shares > shown.taken:
                return shown
        return None

    def match(self, order: Ours) -> None:
        """Take what is there; then rest, or end."""
        while order.leaves and (shown := self.first(order.symbol, order.side, order.price_e4)):
            shares = min(order.leaves, shown.shares - shown.taken)
            shown.taken += shares
            self.fill(order, shares, shown.price_e4, "R")
        if not order.leaves:
            return
        if order.tif == "3" or order.ord_type == "1":
            self.end(order, "4")
        else:
            order.resting, order.place = True, self.next_place()

    def fill(self, order: Ours, shares: int, price_e4: int, who: str) -> None:
        order.filled += shares
        order.value_e4 += shares * price_e4
        order.status = "2" if order.filled == order.shares else "1"
        order.resting = order.resting and order.status == "1"
        self.report(order, "F", t31=fix.price(price_e4), t32=shares, t9882=who)

    def end(self, order: Ours, status: str) -> None:
        order.status, order.resting = status, False
        self.report(order, status)

    def amend(self, found: dict[int, bytes], is_replace: bool) -> None:
        order = self.named.get(found[41])
        fault = self.amend_fault(found, order, is_replace)
        if fault is not None:
            text, reason_42, reason_44 = fault
            is_42 = self.setting.version == "FIX.4.2"
            status = "8" if order is None else "0" if order.status == "5" and not is_42 else order.status
            return self.send("9", [
                (11, found[11]), (37, order.number if order else "NONE"), (39, status), (41, found[41]), (58, text),
                (60, fix.time(self.setting.midnight_ns + self.now, self.setting.decimals)),
                (102, reason_42 if is_42 else reason_44), (434, 2 if is_replace else 1),
            ])  # fmt: skip
        assert order is not None
        before, order.name = order.name, found[11]
        if not is_replace:
            order.status, order.resting = "4", False
            self.report(order, "4", t41=before)
            order.name = before  # a cancel's name is not the order's
            return None
        shares, price_e4 = amount(found[38], 0) or 0, amount(found[44], 4) or 0
        keeps = price_e4 == order.price_e4 and shares <= order.shares
        order.shares, order.price_e4 = shares, price_e4
        order.status = "2" if shares == order.filled else "1" if order.filled else "5"
        order.resting = order.resting and keeps and order.status != "2"
        self.named[order.name] = order
        self.report(order, "5", t41=before)
        return None if keeps else self.match(order)

    def amend_fault(self, found: dict[int, bytes], order: Ours | None, is_replace: bool) -> tuple[str, int, int] | None:
        """(text, 102 of 4.2, 102 of 4.4)"""
        if order is None:
            return "OrigClOrdID names no order", 1, 1
        if found[11] in self.named:
            return "ClOrdID was used before", 2, 6
        if order.status in FINAL:
            return "the order is no more", 0, 0
        if order.name != found[41]:
            return "OrigClOrdID is not the order's present ClOrdID", 2, 99
        if self.symbols[order.symbol].listed.fix_symbol.encode() != found[55]:
            return "Symbol is not the order's", 2, 99
        if (found[54] == b"1") != (order.side == "1"):
            return "Side is not the order's", 2, 99
        if not is_replace:
            return None
        if found.get(40) != b"2" or found.get(59) == b"3":
            return "a replacement is a limit order for the day", 2, 99
        fault = self.terms(found, order.symbol)
        if fault is not None:
            return fault[0], 2, 99
        shares = amount(found[38], 0) or 0
        if shares < order.filled:
            return "OrderQty is below CumQty", 2, 99
        if len(self.named) >= self.setting.ids_max:
            return "venue.ids_max is reached", 2, 99
        if is_post_only(found) and shares > order.filled and self.takes(order.symbol, found):
            return "post-only order would take", 2, 99
        return None


def better(side: str, price_e4: int, other_e4: int) -> bool:
    return price_e4 > other_e4 if side == "B" else price_e4 < other_e4
