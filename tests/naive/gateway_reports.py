"""What the venue says, applied to the naive gateway's orders: a part of `tests.naive.gateway`."""

from collections import Counter
from decimal import Decimal
from types import SimpleNamespace
from typing import Any

from tests.naive import fix
from venym import records as r

FINAL = "final"
FINAL_STATUS = "2348BC"
SHARES_MAX = PRICE_E4_MAX = 2**31 - 1


class Reports:
    """Messages in; see NaiveGateway for the rest of it."""

    requests: list[Any]
    executions: dict[tuple[int, bytes], Any]
    booked: list[tuple[Any, int, int, int]]
    counters: Counter[str]
    fees: tuple[int, int]
    instruments: list[Any]
    tables: Any
    in_sequence: int
    first: int
    us: str
    venue: str
    prefix: str
    kill: Any
    tell: Any
    next_age: Any

    def message(self, octets: bytes) -> None:
        fields = {tag: value.decode() for tag, value in reversed(fix.fields(octets))}
        if (fields.get(49), fields.get(56)) != (self.venue, self.us):
            self.counters["foreign_parties"] += 1
            return
        sequence, again = int(fields.get(34, 0)), fields.get(43) == "Y"
        if sequence < 1:
            self.counters["unreadable"] += 1
            self.kill("not_readable")
            return
        if sequence < self.in_sequence and not again:
            self.counters["sequence_lows"] += 1
            self.kill("sequence_low")
            return
        if sequence > self.in_sequence:
            self.counters["sequence_gaps"] += 1
            self.kill("sequence_gap")
        self.in_sequence = max(self.in_sequence, sequence + 1)
        kind = fields[35]
        if kind in ("8", "9"):
            self.report(fields, not again)
        elif kind in ("3", "j"):
            self.counters["session_rejects"] += 1
            self.kill("session_reject")
        elif kind == "5":
            self.counters["logouts"] += 1
            self.kill("logout")
        else:
            self.counters["other_types"] += 1

    def named(self, text: str | None) -> Any:
        digits = text[len(self.prefix) :] if text and text.startswith(self.prefix) else ""
        if not digits.isdigit() or digits[0] == "0":
            return None
        index = int(digits) - self.first
        return self.requests[index] if 0 <= index < len(self.requests) else None

    def report(self, f: dict[int, str], fresh: bool) -> None:
        required = (37, 17, 150, 39, 54, 151, 14, 6) if f[35] == "8" else (37, 11, 41, 39, 434)
        if any(tag not in f for tag in required):
            self.counters["unreadable"] += 1
            self.kill("not_readable")
            return
        self.counters["reports"] += 1
        request = self.named(f.get(11))
        if not request:
            self.counters["unknown_orders"] += 1
            return
        order, orig = request.order, self.named(f.get(41))
        sides = {"1"} if order.side == r.BUY else {"2", "5", "6"}
        symbol = self.instruments[order.instrument].fix_symbol
        if f.get(55, symbol) != symbol or f.get(54, min(sides)) not in sides or (orig and orig.order is not order):
            self.counters["mismatches"] += 1
            self.kill("mismatch")
            return
        kind, transaction = f.get(150), f.get(20)
        applied = False
        if transaction == "3" or kind == "I":
            self.counters["unchanged"] += 1
        elif transaction in ("1", "2") or kind in ("H", "G"):
            applied = self.undo(order, f, transaction == "2" or kind == "G", fresh)
        elif f[35] == "8" and kind in ("1", "2", "F"):
            applied = self.fill(order, f)
        elif f[35] == "9":
            self.reject(request, int(f.get(102, -1)), f[39] in FINAL_STATUS)
        elif kind == "8" and request.action != r.NEW:
            self.reject(request, int(f.get(103, -1)), False)
        elif kind in ("0", "3", "4", "5", "8", "C", "D"):
            applied = self.state(request, f, fresh)
        else:
            self.counters["unchanged"] += 1
        if applied and fresh and int(f[14]) != order.filled:
            self.counters["cum_differs"] += 1

    def finish(self, order: Any, final: bool) -> None:
        if final:
            order.status = FINAL

    def reopen(self, order: Any) -> None:
        self.counters["reopened"] += 1
        order.status, order.age = "open", self.next_age()

    def answer(self, request: Any, state: str) -> int:
        if request.state:
            return 0
        request.state = state
        return 0 if request.own else request.action

    def accept(self, order: Any) -> int:
        if order.status != "sent":
            return 0
        order.status = "open"
        return self.answer(order.request, "accepted")

    # ---- executions

    def fee(self, f: dict[int, str], shares: int) -> int:
        if f.get(9882, "")[:1] == "A":
            return shares * self.fees[0]
        self.counters["unknown_liquidities"] += f.get(9882, "")[:1] != "R"
        return shares * self.fees[1]

    @staticmethod
    def execution(f: dict[int, str]) -> tuple[int, int, bool] | None:
        """shares, price, inexact; or None if it cannot be."""
        if 32 not in f or 31 not in f:
            return None
        shares, price = int(Decimal(f[32])), Decimal(f[31]).scaleb(4)
        fits = 1 <= shares <= SHARES_MAX and 1 <= int(price) <= PRICE_E4_MAX
        if not fits or shares * int(price) > (1 << 60) // 100:
            return None
        return shares, int(price), price != int(price)

    def book(self, order: Any, shares: int, price_e4: int, fee_e6: int) -> None:
        order.filled += shares
        self.booked.append((order, shares, price_e4, fee_e6))

    def enter(self, order: Any, exec_id: bytes, told: tuple[int, int, bool], fee_e6: int) -> Any:
        made = SimpleNamespace(shares=told[0], price_e4=told[1], fee_e6=fee_e6, undone=False, successor=None)
        if len(exec_id) > 64 or len(self.executions) == self.tables.executions_max:
            self.counters["executions_full"] += 1
            self.kill("executions_full")
        else:
            self.executions[order.row, exec_id] = made
        self.counters["inexact_fills"] += told[2]
        self.book(order, told[0], told[1], fee_e6)
        return made

    def fill(self, order: Any, f: dict[int, str]) -> bool:
        exec_id = f[17].encode()
        if (order.row, exec_id) in self.executions:
            self.counters["duplicate_executions"] += 1
            return False
        told = self.execution(f)
        if not told:
            self.counters["implausible"] += 1
            self.kill("not_plausible")
            return False
        left = max(order.shares, order.pending[0] if order.pending else 0) - order.filled
        if order.status == FINAL:
            self.counters["late_fills"] += 1
        elif told[0] > left:
            self.counters["over_fills"] += 1
        fee_e6 = self.fee(f, told[0])
        action = self.accept(order)
        self.enter(order, exec_id, told, fee_e6)
        self.counters["fills"] += 1
        waits = order.pending is not None and order.pending[0] > order.filled
        self.finish(order, (f[39] in FINAL_STATUS or int(f[151]) == 0) and not waits)
        self.tell(order, "filled", action, last=(told[0], told[1], fee_e6))
        return True

    def undo(self, order: Any, f: dict[int, str], corrected: bool, fresh: bool) -> bool:
        old = self.executions.get((order.row, f.get(19, "").encode()))
        if not old:
            self.counters["unknown_busts"] += 1
            self.kill("unknown_bust")
            return False
        while old.successor:
            old = old.successor
        if old.undone or (corrected and (order.row, f[17].encode()) in self.executions):
            self.counters["duplicate_executions"] += 1
            return False
        told = self.execution(f)
        if corrected and not told:
            self.counters["implausible"] += 1
            self.kill("not_plausible")
            return False
        old.undone = True
        self.book(order, -old.shares, old.price_e4, -old.fee_e6)
        final = f[39] in FINAL_STATUS
        if order.status == FINAL and fresh and not final and int(f[151]) > 0:
            self.reopen(order)
        self.finish(order, final)
        self.counters["corrections" if corrected else "busts"] += 1
        self.tell(order, "filled", last=(-old.shares, old.price_e4, -old.fee_e6))
        if corrected and told:
            fee_e6 = self.fee(f, told[0]) if 9882 in f else old.fee_e6 // old.shares * told[0]
            made = self.enter(order, f[17].encode(), told, fee_e6)
            old.successor = made if any(made is kept for kept in self.executions.values()) else None
            self.tell(order, "filled", last=(told[0], told[1], fee_e6))
        return True

    # ---- states

    def terms(self, order: Any, f: dict[int, str], shares: int, price_e4: int) -> None:
        told = int(Decimal(f.get(38, shares)))
        if told != shares and 1 <= told <= SHARES_MAX:
            self.counters["terms_differ"] += 1
            shares = told
        order.shares = shares
        if order.ord_type == r.LIMIT:
            price = Decimal(f[44]).scaleb(4) if 44 in f else Decimal(price_e4)
            if price == int(price) and price != price_e4 and 1 <= price <= PRICE_E4_MAX:
                self.counters["terms_differ"] += 1
                price_e4 = int(price)
            order.price_e4 = order.worth = price_e4

    def state(self, request: Any, f: dict[int, str], fresh: bool) -> bool:
        order, kind = request.order, f[150]
        was_final, ended = order.status == FINAL, f[39] in FINAL_STATUS
        told, action, why = "", 0, 0
        if kind == "0" and request.action == r.NEW and (order.status == "sent" or (was_final and fresh)):
            told = "accepted"
            if was_final:
                self.reopen(order)
                self.kill("contradiction")
            action = self.accept(order)
            self.terms(order, f, order.shares, order.price_e4)
        elif kind == "5" and order.replace is request and not request.state:
            told, ended = "replaced", ended or int(f[151]) == 0
            if was_final and not ended and fresh:
                self.reopen(order)
                self.kill("contradiction")
            action = self.answer(request, "accepted")
            order.replace, order.pending, order.request = None, None, request
            self.terms(order, f, request.shares, request.price_e4)
        elif kind in ("3", "4", "C"):
            ended, first = True, self.accept(order)
            if order.cancel is request and not request.state:
                order.cancel, action = None, self.answer(request, "accepted")
            action = action or first
            told = ("canceled" if kind == "4" else "expired") if action or not was_final else ""
        elif kind == "8":
            why = int(f.get(103, -1))
            if order.status == "sent" or (not was_final and why != 6):
                told, ended, action = "rejected", True, self.answer(request, "rejected")
        elif kind == "D" and not was_final:
            told = "replaced"
            self.terms(order, f, order.shares, order.price_e4)
        if not told:
            self.counters["stale_reports"] += 1
            return False
        self.finish(order, ended)
        self.tell(order, told, action, why)
        return True

    def reject(self, request: Any, why: int, final: bool) -> None:
        order = request.order
        if request.action == r.NEW:
            self.counters["mismatches"] += 1
            self.kill("mismatch")
            return
        if request.state:
            self.counters["stale_reports"] += 1
            return
        action = self.answer(request, "rejected")
        if request.action == r.CANCEL:
            order.cancel = None
        else:
            order.replace, order.pending = None, None
        retired = False
        if order.status != FINAL:
            retired = request.orig is order.request if why == 1 else final
            self.counters["retired"] += retired and order.filled < order.shares
        self.finish(order, retired)
        if action or retired:
            self.tell(order, "cancel_rejected", action, why)
