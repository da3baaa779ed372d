"""What a run came to: plain numbers, as text for people and as result.json for programs.

result.json, whose keys stay what they are; money is in 1e-6 dollars (``_e6``), times in ns:

    what                       replay or run
    state, reason              finished, killed, failed or interrupted; why, or ""
    inputs, date, plan         files read, session date, cores
    run_directory              where this file lies
    first_ns, last_ns          exchange time of the first and last message since midnight; null: there was none
    seconds                    from the first packet to the end, without compiling
    packets, messages          counts; messages_by_type: by ITCH message type; messages_per_second
    orders                     new, replace, cancel: messages sent, total and sha256: of orders.fix
    fills                      executions, shares
    refusals                   intents that the gateway refused, by reason
    rejects                    orders, cancels: what the venue rejected
    positions                  by strategy and instrument: shares (negative: short), bought_shares, sold_shares,
                               cash_e6 (received less paid, fees apart), fees_e6 (paid; negative: rebates),
                               mark_e6 (price of a share at the end; null: none),
                               profit_e6 = cash_e6 - fees_e6 + shares * mark_e6
    profit_e6                  of all positions; null where a mark is missing
    latency_ns                 by stage: count, p50, p90, p99, p99.9, max
    counters                   by stage and name
    notes                      sentences on what was out of the ordinary
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .ladder import format_time
from .latency import QUANTILES, Latency

HOLD = "hold"  # of latency_ns
TYPES_A_LINE = 7


class Position(NamedTuple):
    """A strategy's, in an instrument."""

    strategy: str
    instrument: str
    shares: int = 0
    bought_shares: int = 0
    sold_shares: int = 0
    cash_e6: int = 0
    fees_e6: int = 0
    mark_e6: int | None = None  # price of a share: the middle of the best prices at the end, or the last trade's

    @property
    def profit_e6(self) -> int | None:
        """What would be left, were all shares sold or bought back at the mark; None where that is not known."""
        if self.shares == 0:
            return self.cash_e6 - self.fees_e6
        return None if self.mark_e6 is None else self.cash_e6 - self.fees_e6 + self.shares * self.mark_e6


class Result(NamedTuple):
    """All that is told of a run. Counters are those of metrics.py, by stage, then name."""

    state: str = "finished"  # as in `run_directory`
    what: str = "replay"  # the command
    reason: str = ""
    inputs: tuple[str, ...] = ()
    date: str = ""  # of the session, YYYY-MM-DD
    plan: str = ""
    run_directory: str = ""
    first_ns: int | None = None
    last_ns: int | None = None
    seconds: float = 0.0
    packets: int = 0
    messages: int = 0
    messages_by_type: Mapping[str, int] = {}
    new_orders: int = 0
    replaces: int = 0
    cancels: int = 0
    orders_sha256: str = ""
    executions: int = 0
    executed_shares: int = 0
    refusals: Mapping[str, int] = {}
    rejected_orders: int = 0
    rejected_cancels: int = 0  # replaces too
    positions: tuple[Position, ...] = ()
    latencies: Mapping[str, Latency] = {}
    counters: Mapping[str, Mapping[str, int]] = {}
    notes: tuple[str, ...] = ()

    @property
    def messages_per_second(self) -> int:
        return round(self.messages / self.seconds) if self.seconds > 0 else 0

    @property
    def sent(self) -> int:
        return self.new_orders + self.replaces + self.cancels

    @property
    def profit_e6(self) -> int | None:
        profits = [position.profit_e6 for position in self.positions]
        return None if None in profits else sum(profit for profit in profits if profit is not None)


def to_document(result: Result) -> dict[str, Any]:
    """result.json, as the module's page has it."""
    return {
        "what": result.what,
        "state": result.state,
        "reason": result.reason,
        "inputs": list(result.inputs),
        "date": result.date,
        "plan": result.plan,
        "run_directory": result.run_directory,
        "first_ns": result.first_ns,
        "last_ns": result.last_ns,
        "seconds": result.seconds,
        "packets": result.packets,
        "messages": result.messages,
        "messages_by_type": dict(result.messages_by_type),
        "messages_per_second": result.messages_per_second,
        "orders": {
            "new": result.new_orders,
            "replace": result.replaces,
            "cancel": result.cancels,
            "total": result.sent,
            "sha256": result.orders_sha256,
        },
        "fills": {"executions": result.executions, "shares": result.executed_shares},
        "refusals": {reason: count for reason, count in result.refusals.items() if count},
        "rejects": {"orders": result.rejected_orders, "cancels": result.rejected_cancels},
        "positions": [position._asdict() | {"profit_e6": position.profit_e6} for position in result.positions],
        "profit_e6": result.profit_e6,
        "latency_ns": {
            stage: dict(zip(("count", *QUANTILES, "max"), latency, strict=True))
            for stage, latency in result.latencies.items()
        },
        "counters": {stage: dict(counters) for stage, counters in result.counters.items()},
        "notes": list(result.notes),
    }


def to_text(result: Result) -> str:
    """The summary that stands at the end of a run."""
    parts = [_heading(result), _orders(result), _positions(result), _latencies(result), _notes(result), _files(result)]
    return "\n\n".join(part for part in parts if part)


def dollars(amount_e6: int, decimals: int = 2) -> str:
    """Money with thousands apart; half a unit of the last decimal goes to the even one."""
    unit = 10 ** (6 - decimals)
    whole, rest = divmod(abs(amount_e6), unit)
    whole += rest * 2 > unit or (rest * 2 == unit and whole % 2 == 1)
    digits = f"{whole:0{decimals + 1}}"
    sign = "-" if amount_e6 < 0 and whole else ""
    return f"{sign}{int(digits[:-decimals]):,}.{digits[-decimals:]}"


def _heading(result: Result) -> str:
    state = result.state if result.state == "finished" else result.state.upper()
    lines = [f"{result.what.capitalize()} {state}" + (f": {result.reason}" if result.reason else "")]
    lines += [_row("input", path) for path in result.inputs]
    if result.first_ns is not None and result.last_ns is not None:
        lines.append(_row("session", f"{result.date}  {format_time(result.first_ns)} to {format_time(result.last_ns)}"))
    lines.append(_row("messages", f"{result.messages:,} in {result.packets:,} packets"))
    kinds = sorted(result.messages_by_type.items(), key=lambda kind: (-kind[1], kind[0]))
    told = [f"{name} {count:,}" for name, count in kinds]
    lines += [_row("", "   ".join(told[k : k + TYPES_A_LINE])) for k in range(0, len(told), TYPES_A_LINE)]
    if result.seconds > 0:
        speed = f"{result.messages_per_second:,} messages a second"
        lines.append(_row("took", f"{result.seconds:.3f} s, {speed}" + (f", {result.plan}" if result.plan else "")))
    return "\n".join(lines)


def _orders(result: Result) -> str:
    kinds = [(result.new_orders, "new"), (result.replaces, "replace"), (result.cancels, "cancel")]
    lines = ["Orders", _row("sent", _counted(result.sent, kinds))]
    lines.append(_row("filled", f"{result.executed_shares:,} shares in {result.executions:,} executions"))
    refused = sorted(((count, reason) for reason, count in result.refusals.items() if count), reverse=True)
    lines.append(_row("refused", _counted(sum(count for count, _ in refused), refused)))
    kinds = [(result.rejected_orders, "orders"), (result.rejected_cancels, "cancels")]
    lines.append(_row("rejected", _counted(result.rejected_orders + result.rejected_cancels, kinds)))
    return "\n".join(lines)


def _positions(result: Result) -> str:
    traded = [position for position in result.positions if position.bought_shares or position.sold_shares]
    idle = len(result.positions) - len(traded)
    if not result.positions:
        return ""
    rows = [("Position, dollars", "", "shares", "bought", "sold", "cash", "fees", "mark", "profit")]
    for position in traded:
        mark, profit = position.mark_e6, position.profit_e6
        rows.append(
            (
                f"  {position.strategy}",
                position.instrument,
                f"{position.shares:,}",
                f"{position.bought_shares:,}",
                f"{position.sold_shares:,}",
                dollars(position.cash_e6),
                dollars(position.fees_e6),
                "-" if mark is None else dollars(mark, 4),
                "-" if profit is None else dollars(profit),
            )
        )
    if len(traded) > 1:
        cash_e6, fees_e6 = (sum(money) for money in zip(*((p.cash_e6, p.fees_e6) for p in traded), strict=True))
        total = "-" if result.profit_e6 is None else dollars(result.profit_e6)
        rows.append(("  total", "", "", "", "", dollars(cash_e6), dollars(fees_e6), "", total))
    text = _table(rows, left=2) if traded else rows[0][0]
    return text + (f"\n  ({idle:,} of {len(result.positions):,} without a fill)" if idle else "")


def _latencies(result: Result) -> str:
    if not any(latency.recorded for latency in result.latencies.values()):
        return ""
    rows = [("Latency, ns", "count", *QUANTILES, "max")]
    for stage, latency in result.latencies.items():
        numbers = ("-" if number is None else f"{number:,}" for number in latency)
        rows.append((f"  {stage.replace('_', ' ')}", *numbers))
    text = _table(rows, left=1)
    if HOLD in result.latencies:
        text += "\n  (hold: what a replay waits until nothing older can come; no latency, and not in tick to order)"
    return text


def _notes(result: Result) -> str:
    return "\n".join(["To be noted", *(f"  {note}" for note in result.notes)]) if result.notes else ""


def _files(result: Result) -> str:
    lines = []
    if result.run_directory:
        lines.append(f"All of it is in {result.run_directory}")
    if result.orders_sha256:
        lines.append(_row("orders.fix", f"sha256 {result.orders_sha256}"))
    return "\n".join(lines)


def _row(name: str, text: str) -> str:
    return f"  {name:<10}  {text}"


def _counted(total: int, kinds: list[tuple[int, str]]) -> str:
    """``5: 3 new, 2 cancel``; kinds of which there are none are left out."""
    listed = ", ".join(f"{count:,} {name.replace('_', ' ')}" for count, name in kinds if count)
    return f"{total:,}" + (f": {listed}" if listed else "")


def _table(rows: Sequence[tuple[str, ...]], left: int) -> str:
    """Columns as wide as they must be; the first `left` of them to the left, numbers to the right."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [
            f"{cell:<{width}}" if column < left else f"{cell:>{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)
