"""The market's side of the naive venue: what is displayed of listed symbols, and whether they trade."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from tests.naive.itch50 import decode


class Listed(NamedTuple):
    symbol: str
    fix_symbol: str
    tick_e4: int = 1
    lot_shares: int = 1


@dataclass
class Shown:
    """A displayed order of the market."""

    reference: int
    symbol: str
    side: str
    price_e4: int
    shares: int
    place: int
    taken: int = 0


@dataclass
class Symbol:
    """What is known of a listed symbol."""

    listed: Listed
    channel: int | None = None
    locate: int = 0
    state: str = ""
    halted: bool = False
    breached: bool = False


class NaiveMarketSide:
    """The books; what else a message leads to, is another's."""

    def __init__(self, symbols: list[Listed]) -> None:
        self.symbols = {listed.symbol: Symbol(listed) for listed in symbols}
        self.told: dict[tuple[int, int], str] = {}  # (channel, locate): its symbol, "" for one that is not followed
        self.closed: set[int] = set()
        self.shown: dict[tuple[int, int], Shown] = {}  # by channel and reference
        self.place = 0

    def expire(self, channel: int) -> None:
        """Market hours are over."""

    def came(self, shown: Shown) -> None:
        """An order came."""

    def executed(self, shown: Shown, shares: int) -> None:
        """Some of an order was executed."""

    def begin(self, channel: int) -> None:
        self.told = {key: symbol for key, symbol in self.told.items() if key[0] != channel}
        self.closed.discard(channel)
        for symbol in self.symbols.values():
            if symbol.channel == channel:
                self.forget(symbol)

    def forget(self, symbol: Symbol) -> None:
        symbol.channel, symbol.state, symbol.halted, symbol.breached = None, "", False, False
        self.shown = {key: shown for key, shown in self.shown.items() if shown.symbol != symbol.listed.symbol}

    def learn(self, channel: int, locate: int, name: str) -> None:
        key = channel, locate
        before = self.told.get(key)
        after = None if name == "" else name if name in self.symbols else ""
        if after == before:
            return
        if before:
            self.forget(self.symbols[before])
        if after:
            symbol = self.symbols[after]
            if symbol.channel not in (None, channel):
                after = ""
            else:
                if symbol.channel is not None:
                    self.told[channel, symbol.locate] = ""
                    self.forget(symbol)
                symbol.channel, symbol.locate = channel, locate
        if after is None:
            self.told.pop(key, None)
        else:
            self.told[key] = after

    def apply(self, channel: int, message: bytes) -> None:
        found = decode(message)
        if found is None:
            return
        kind = found["message_type"]
        if kind == "S" and found["event_code"] == "M":
            self.closed.add(channel)
            self.expire(channel)
        if kind == "W":
            for symbol in self.symbols.values():
                symbol.breached = symbol.breached or symbol.channel == channel
        if kind in "SW":
            return
        key = channel, found["stock_locate"]
        if kind == "R" or (key not in self.told and kind in "AFPQIHhY"):
            self.learn(*key, found["stock"])
        name = self.told.get(key)
        if not name:
            return
        if kind in "AFECXDU":
            self.change(channel, name, kind, found)
        elif kind == "H":
            self.symbols[name].state = found["trading_state"]
            if found["trading_state"] == "T":
                self.symbols[name].breached = False
        elif kind == "h" and found["market_code"] == "Q":
            self.symbols[name].halted = found["operational_halt_action"] == "H"

    def change(self, channel: int, name: str, kind: str, found: dict[str, Any]) -> None:
        if kind in "AF":
            if found["buy_sell_indicator"] in ("B", "S"):
                self.add(channel, name, found["buy_sell_indicator"], found["order_reference_number"], found)
            return
        reference = found["original_order_reference_number" if kind == "U" else "order_reference_number"]
        shown = self.shown.get((channel, reference))
        if shown is None:
            return
        shares = found.get("executed_shares", found.get("cancelled_shares", shown.shares))
        shares = min(shares, shown.shares) if kind != "U" else shown.shares
        taken = shown.taken
        shown.shares -= shares
        shown.taken = min(shown.taken, shown.shares)
        if shown.shares == 0:
            del self.shown[channel, shown.reference]
        if kind in "EC":
            self.executed(shown, shares)
        if kind == "U":
            new = found["new_order_reference_number"]
            self.add(channel, shown.symbol, shown.side, new, found, taken)

    def add(self, channel: int, name: str, side: str, reference: int, found: dict[str, Any], taken: int = 0) -> None:
        if (channel, reference) in self.shown or found["shares"] == 0:
            return
        shares = found["shares"]
        shown = Shown(reference, name, side, found["price"], shares, self.next_place(), min(taken, shares))
        self.shown[channel, reference] = shown
        self.came(shown)

    def is_trading(self, name: str) -> bool:
        symbol = self.symbols[name]
        return symbol.state == "T" and not symbol.halted and not symbol.breached

    def next_place(self) -> int:
        self.place += 1
        return self.place

    def best(self, name: str, side: str) -> list[Shown]:
        """Displayed orders of a side, in price-time order."""
        held = [shown for shown in self.shown.values() if (shown.symbol, shown.side) == (name, side)]
        return sorted(held, key=lambda s: (-s.price_e4 if side == "B" else s.price_e4, s.place))
