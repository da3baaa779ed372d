"""Positions: what was bought and sold, of each strategy and of all, and what is on its way.

    execution ──book_execution──▶ shares, bought, sold, cash, fees   of the strategy's instrument, and the instrument's
    order     ──recount (orders)─▶ open_buy, open_sell               total

Shares follow executions only. An execution undone is booked once more with negative shares, at the price and fee it
had. Money counts 1e-6 dollars, cash as it came in: a purchase takes. Sums of money stay within MONEY_MAX_E6; what goes
beyond is cut there, and told.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import inner, small
from ..hot.layout import record
from ..records import BUY
from .book import Take
from .orders import VALUE_E4_MAX, value_of

MONEY_MAX_E6 = 1 << 60
SHARES_MAX = PRICE_E4_MAX = 2**31 - 1  # of one execution
NOTIONAL_E4_MAX = (1 << 60) // 100  # of one execution: its cash fits
INSTRUMENTS_LIMIT = 1 << 14

HOLDING = record(
    "HOLDING",
    [
        ("shares", "i8"),  # signed
        ("open_buy_shares", "i8"),  # of orders that are not final
        ("open_sell_shares", "i8"),
        ("open_sell_long_shares", "i8"),  # of these, sales of what is held
        ("bought_shares", "i8"),
        ("sold_shares", "i8"),
        ("cash_e6", "i8"),
        ("fees_e6", "i8"),  # paid; negative: rebates
        ("last_price_e4", "i8"),  # of the last execution
        ("value_e4", "i8"),  # totals only: shares, without sign, at that price
    ],
    128,
)

OPEN_VALUE_E4, HELD_VALUE_E4 = 0, 1


class Positions(NamedTuple):
    """holdings (strategies * instruments,) HOLDING, by group; totals (instruments,) HOLDING; values (2,) int64: of all
    open orders, and of all positions."""

    holdings: np.ndarray
    totals: np.ndarray
    values: np.ndarray


def build_positions(take: Take, strategies: int, instruments: int) -> Positions:
    """No shares, no money. Raises ValueError for too many instruments."""
    if instruments > INSTRUMENTS_LIMIT:
        raise ValueError(f"{instruments} instruments are more than {INSTRUMENTS_LIMIT}")
    return Positions(
        holdings=take("holdings", max(strategies * instruments, 1), HOLDING),
        totals=take("holding_totals", max(instruments, 1), HOLDING),
        values=take("holding_values", 2, np.dtype(np.int64)),
    )


@inner
def is_plausible(shares, price_e4):
    """Can this be an execution? Whole positive shares, a price, and a value that can be counted."""
    if shares < 1 or shares > SHARES_MAX or price_e4 < 1 or price_e4 > PRICE_E4_MAX:
        return False
    return shares * price_e4 <= NOTIONAL_E4_MAX


@inner
def book_execution(positions, order, group, shares, price_e4, fee_e6):
    """Book an execution, plausible, of `order`; one undone has negative shares and fee. Returns how many sums were
    cut."""
    holding = slot_at(positions.holdings, group)
    total = slot_at(positions.totals, np.int64(order.instrument))
    cut = add_execution(holding, order, shares, price_e4, fee_e6)
    cut += add_execution(total, order, shares, price_e4, fee_e6)
    held = total.value_e4
    total.value_e4 = value_of(min(abs(total.shares), SHARES_MAX), total.last_price_e4)
    positions.values[HELD_VALUE_E4] += total.value_e4 - held
    return cut


@inner
def add_execution(holding, order, shares, price_e4, fee_e6):
    cash_e6 = shares * price_e4 * 100
    if order.side == BUY:
        holding.shares += shares
        holding.bought_shares += shares
        cash_e6 = -cash_e6
    else:
        holding.shares -= shares
        holding.sold_shares += shares
    holding.last_price_e4 = price_e4
    cash_e6 += holding.cash_e6
    fees_e6 = fee_e6 + holding.fees_e6
    holding.cash_e6, holding.fees_e6 = within(cash_e6), within(fees_e6)
    return np.int64(holding.cash_e6 != cash_e6) + np.int64(holding.fees_e6 != fees_e6)


@small
def within(money_e6):
    return min(max(money_e6, -MONEY_MAX_E6), MONEY_MAX_E6)


__all__ = ["HOLDING", "SHARES_MAX", "VALUE_E4_MAX", "Positions", "book_execution", "build_positions", "is_plausible"]
