"""The gate once more: one question after another, in the order of the table of reasons."""

from typing import Any

from venym import records as r
from venym.stages.risk import REASONS

SECOND_NS = 10**9
E4_MAX = 2**31 - 1
NO_TOKEN = -(1 << 63)


class Gate:
    def __init__(self, gateway: Any) -> None:
        self.g = gateway
        self.code = {reason.name: reason.word for reason in REASONS}

    def judge(self, intent: Any) -> tuple[Any, int, bool, int]:
        """The order an intent means, the reason to refuse it or 0; of a NEW: is it short, what a share counts with."""
        order, reason, short, worth = self._judge(intent)
        return order, self.code[reason] if reason else 0, short, worth

    def _judge(self, intent: Any) -> tuple[Any, str, bool, int]:
        g = self.g
        refuse = lambda reason, order=None: (order, reason, False, 0)  # noqa: E731
        if g.killed and intent.action != r.CANCEL:
            return refuse("killed")
        if intent.action not in (r.NEW, r.CANCEL, r.REPLACE) or not 0 <= intent.strategy < g.strategies:
            return refuse("bad_intent")
        if not 0 <= intent.instrument < len(g.instruments):
            return refuse("unknown_instrument")
        order = g.find(intent.strategy, intent.instrument, intent.token)
        if intent.action == r.NEW:
            if not self.codes_fit(intent):
                return refuse("bad_intent")
            if order:
                return refuse("duplicate_token")
            return (None, *self.risk(intent, None, intent.side, intent.ord_type))
        if not order:
            return refuse("unknown_token")
        if intent.action == r.CANCEL:
            if order.cancel:
                return refuse("pending", order)
            return refuse("table_full" if len(g.requests) >= g.tables.requests_max else "", order)
        if order.ord_type != r.LIMIT:
            return refuse("bad_intent", order)
        if order.status != "open" or order.cancel or order.replace:
            return refuse("pending", order)
        return (order, *self.risk(intent, order, order.side, order.ord_type))

    @staticmethod
    def codes_fit(i: Any) -> bool:
        known = i.side in (r.BUY, r.SELL) and i.ord_type in (r.MARKET, r.LIMIT) and i.tif in (r.DAY, r.IOC)
        rests = i.ord_type == r.LIMIT and i.tif == r.DAY
        return known and i.post_only in (0, 1) and i.token != NO_TOKEN and (rests or not i.post_only)

    def risk(self, intent: Any, order: Any, side: int, ord_type: int) -> tuple[str, bool, int]:
        g, limits, shares = self.g, self.g.limits, intent.shares
        instrument, state = g.instruments[intent.instrument], g.states.get(intent.instrument)
        price = intent.price_e4
        touch = (state.ask if side == r.BUY else state.bid) or state.last if state else 0
        one_sided = not state or not state.bid or not state.ask
        bps = limits.collar_bps
        checks = [
            ("not_armed", lambda: not g.armed),
            ("bad_shares", lambda: not 1 <= shares <= E4_MAX),
            ("lot", lambda: shares % instrument.lot_shares),
            ("order_size", lambda: shares > limits.order_shares_max),
            ("bad_price", lambda: ord_type == r.LIMIT and not 1 <= price <= E4_MAX),
            ("tick", lambda: ord_type == r.LIMIT and price % instrument.tick_e4),
            ("bad_shares", lambda: order and shares <= order.filled),
            ("no_market", lambda: not touch or (ord_type == r.MARKET and one_sided)),
            ("stale", lambda: limits.stale_ns and g.clock_ns - state.clock_ns >= limits.stale_ns),
            ("not_tradable", lambda: not state.marks & r.TRADABLE),
            ("suspect", lambda: state.marks & r.SUSPECT),
            ("gapped", lambda: state.marks & r.GAPPED),
            ("crossed", lambda: state.marks & r.CROSSED),
            (
                "collar",
                lambda: (
                    ord_type == r.LIMIT
                    and (
                        price * 10_000 > touch * (10_000 + bps)
                        if side == r.BUY
                        else price * 10_000 < touch * (10_000 - bps)
                    )
                ),
            ),
        ]
        for reason, is_so in checks:
            if is_so():
                return reason, False, 0
        worth = touch if ord_type == r.MARKET else price
        if shares * worth > limits.order_notional_max_e6 // 100:
            return "notional", False, 0
        return self.totals(intent, order, side, shares, worth)

    def totals(self, intent: Any, order: Any, side: int, shares: int, worth: int) -> tuple[str, bool, int]:
        g, limits = self.g, self.g.limits
        total = g.holding(intent.instrument)
        now, now_value = (g.open_shares(order), g.open_value(order)) if order else (0, 0)
        would = shares - (order.filled if order else 0)
        more, more_value = max(would - now, 0), max(min(would * worth, 1 << 44) - now_value, 0)
        short = bool(order and order.short)
        if side == r.SELL:
            held = total["shares"] - total["open_sell_long_shares"]
            short = short if order else held < shares
            if (not order and short and not limits.short_sales) or (order and not short and held < more):
                return "short", False, 0
        own = g.holding(intent.instrument, intent.strategy)
        if side == r.BUY:
            worst = own["shares"] + own["open_buy_shares"] + more
        else:
            worst = own["open_sell_shares"] - own["shares"] + more
        held_value = sum(self.held_value(k) for k in range(len(g.instruments)))
        gross = sum(g.open_value(o) for o in g.orders if o.status != "final") + held_value + more_value
        working = sum(o.status != "final" for o in g.orders)
        if more and worst > limits.position_shares_max:
            return "position", False, 0
        if more_value and gross > limits.gross_notional_max_e6 // 100:
            return "gross", False, 0
        if not order and len(g.open_orders(intent.strategy, intent.instrument)) >= limits.open_orders_max:
            return "open_orders", False, 0
        if sum(g.clock_ns - sent < SECOND_NS for sent in g.sent_ns) >= limits.messages_per_second_max:
            return "rate", False, 0
        if not order and len(g.orders) >= g.tables.orders_max:
            return "table_full", False, 0
        if len(g.requests) + 1 + 4 * (working + (not order)) > g.tables.requests_max:
            return "table_full", False, 0
        return "", short, worth

    def held_value(self, instrument: int) -> int:
        held = self.g.holding(instrument)
        return min(min(abs(held["shares"]), E4_MAX) * held["last_price_e4"], 1 << 44)
