"""Every feature, declared once: its name, formula, source and parameters, in the order of FEATURE_ROW.x.

Notation: b_k, a_k and qb_k, qa_k are the price and the shares of the k-th best level of each side, m the mid
(b_1 + a_1) / 2, w the microprice (b_1 qa_1 + a_1 qb_1) / (qa_1 + qb_1), t the exchange time of the event. D_tau(v) is
the exponentially decayed sum of v over the events so far, each weighted exp(-(t - its time) / tau). v(t - h) is v at
the last event with two sides not later than t - h, to within a bucket of time (`bucket_shift`).

A model is trained on one schema, and runs on no other: `schema_hash`. Raise VERSION when the meaning of a feature
changes but neither its name nor its parameters do.
"""

import hashlib
import json
from typing import NamedTuple

VERSION = 1

MS_NS, SECOND_NS = 1_000_000, 1_000_000_000
HORIZONS_NS = (100 * MS_NS, SECOND_NS, 10 * SECOND_NS)  # of returns, ascending
TAUS_NS = (SECOND_NS, 10 * SECOND_NS)  # of decayed sums
BUCKETS_MIN = 1024  # buckets of time that a horizon has at least

CONT = "Cont, Kukanov, Stoikov 2014, The price impact of order book events, J. Financial Econometrics 12(1)"
XU = "Xu, Gould, Howison 2018, Multi-level order-flow imbalance in a limit order book, MML 4(3)"
GATHERAL = "Gatheral, Oomen 2010, Zero-intelligence realized variance estimation, Finance and Stochastics 14(2)"
GOULD = "Gould, Bonart 2016, Queue imbalance as a one-tick-ahead price predictor, MML 2(2)"
HASBROUCK = "Hasbrouck 1991, Measuring the information content of stock trades, J. Finance 46(1)"
HAWKES = "Bacry, Mastromatteo, Muzy 2015, Hawkes processes in finance, MML 1(1): exponential kernel"
ANDERSEN = "Andersen, Bollerslev, Diebold, Labys 2003, Modeling and forecasting realized volatility, Econometrica 71(2)"
NASDAQ = "Nasdaq TotalView-ITCH 5.0"
PLAIN = "by definition"


class Feature(NamedTuple):
    """A feature: the name says its unit last; `parameters` are numbers the formula uses, by name."""

    name: str
    formula: str
    source: str
    parameters: tuple[tuple[str, int], ...] = ()


def _label(time_ns: int) -> str:
    return f"{time_ns // SECOND_NS}s" if time_ns >= SECOND_NS else f"{time_ns // MS_NS}ms"


def _horizons(name: str, formula: str, source: str) -> tuple[Feature, ...]:
    """A feature for each horizon; {} in its name is the horizon."""
    return tuple(
        Feature(name.format(_label(h)), formula, source, (("h_ns", h), ("bucket_ns", 1 << bucket_shift(h))))
        for h in HORIZONS_NS
    )


def _taus(name: str, formula: str, source: str, levels: int = 0) -> tuple[Feature, ...]:
    """A feature for each time constant; {} in its name is the time constant."""
    depth = (("levels", levels),) if levels else ()
    return tuple(Feature(name.format(_label(tau)), formula, source, (*depth, ("tau_ns", tau))) for tau in TAUS_NS)


def bucket_shift(horizon_ns: int) -> int:
    """log2 of the width in ns of the buckets a horizon is sampled in: the last event of a bucket stands for it. At
    least BUCKETS_MIN, and fewer than twice as many, make a horizon."""
    return (horizon_ns // BUCKETS_MIN).bit_length() - 1


_OFI = (
    "D_tau(sum over k <= levels of qb_k [b_k >= b_k'] - qb_k' [b_k <= b_k'] - qa_k [a_k <= a_k'] + qa_k' [a_k >= a_k']"
    "), ' the book one event before; a level that is not there has 0 shares at price 0 (bid) or infinity (ask)"
)
_RETURN = "1e4 (v - v(t - h)) / v(t - h), "

FEATURES: tuple[Feature, ...] = (
    Feature("spread_bps", "1e4 (a_1 - b_1) / m", PLAIN),
    Feature("microprice_offset_bps", "1e4 (w - m) / m", GATHERAL),
    *_horizons("mid_return_{}_bps", _RETURN + "v = m", PLAIN),
    *_horizons("microprice_return_{}_bps", _RETURN + "v = w", GATHERAL),
    Feature("queue_imbalance_1", "(qb_1 - qa_1) / (qb_1 + qa_1), 0 without shares", GOULD, (("levels", 1),)),
    Feature("queue_imbalance_5", "(sum qb_k - sum qa_k) / (sum qb_k + sum qa_k), k <= levels", XU, (("levels", 5),)),
    *_taus("order_flow_imbalance_1_{}_shares", _OFI, CONT, 1),
    *_taus("order_flow_imbalance_5_{}_shares", _OFI, XU, 5),
    *_taus("trade_flow_{}_shares", "D_tau(s shares) of printable E and C, s = +1 when the resting order sold, -1 when "
           "it bought; P has no side and Q is an auction: neither counts", HASBROUCK),
    *_taus("adds_{}_per_s", "D_tau([A F U]) / tau", HAWKES),
    *_taus("cancels_{}_per_s", "D_tau([X D U]) / tau", HAWKES),
    *_taus("executions_{}_per_s", "D_tau([E C P]) / tau", HAWKES),
    *_taus("realised_volatility_{}_bps", "sqrt(D_tau(r^2)), r the mid return in bps since the last event with two "
           "sides", ANDERSEN),
    Feature("event_age_s", "t - time of the instrument's event before", PLAIN),
    Feature("trade_age_s", "t - time of the last printable E, C, P or Q of any shares, or of the first event", PLAIN),
    Feature("auction_imbalance", "s imbalance / (paired + imbalance) of the last I, s = +1 to buy, -1 to sell, else 0; "
            "0 before the first I and after a Q", NASDAQ),
    Feature("tradable", "1 while the instrument trades, else 0", NASDAQ),
)  # fmt: skip


def names() -> tuple[str, ...]:
    """The name of x[0], x[1], ..."""
    return tuple(feature.name for feature in FEATURES)


def position(name: str) -> int:
    """Where in FEATURE_ROW.x a feature is. Raises ValueError for a name that is none."""
    return names().index(name)


def schema() -> dict[str, object]:
    """What a model relies on, as JSON would hold it."""
    features = [{"name": feature.name, "parameters": dict(feature.parameters)} for feature in FEATURES]
    return {"version": VERSION, "features": features}


def schema_hash() -> str:
    """SHA-256 of the schema's JSON, without spaces and with sorted keys, in hexadecimal."""
    return hashlib.sha256(json.dumps(schema(), sort_keys=True, separators=(",", ":")).encode()).hexdigest()
