"""The features by their definitions, each from the whole history of an instrument: O(n) an event, nothing kept but
what came. Sums are weighed anew, so the last bits may differ from sums that were decayed step by step."""

import math

import numpy as np

from venym.records import PRINTABLE, RESTARTED, SUSPECT, TOP_LEVELS, TRADABLE
from venym.stages.feature_table import FEATURES

HORIZONS_S = (0.1, 1.0, 10.0)
BUCKET_BITS = (16, 19, 23)  # a horizon's bucket is 2**bits ns
TAUS_S = (1.0, 10.0)


class NaiveFeatures:
    """One instrument: `note` each of its events; `row` gives the features after the last, and whether it is ready."""

    def __init__(self) -> None:
        self.silent = False  # the last event was of no message
        self.forget()

    def forget(self) -> None:
        self.events: list[np.void] = []
        self.times: list[int] = []
        self.flows: list[list[float]] = []  # ofi 1, ofi 5, trades, adds, cancels, executions, squares
        self.quoted: list[tuple[int, float, float]] = []  # time, mid, microprice of every event with two sides

    def note(self, event: np.void) -> None:
        self.silent = int(event["kind"]) == 0
        if self.silent:
            if int(event["marks"]) & RESTARTED:
                self.forget()
            return
        now = min(max(int(event["time_ns"]), 0), 2**62)
        if self.events:
            suspect_changed = (int(event["marks"]) ^ int(self.events[-1]["marks"])) & SUSPECT
            if suspect_changed or now < self.times[-1] - 10_000_000_000:
                self.forget()
        if self.times:
            now = max(now, self.times[-1])
        previous = self.events[-1] if self.events else event
        change_bps = self.quote(event, now)
        self.events.append(event)
        self.times.append(now)
        kind = chr(event["kind"])
        self.flows.append([
            order_flow(previous, event, 1), order_flow(previous, event, TOP_LEVELS), signed_trade(event),
            float(kind in "AFU"), float(kind in "XDU"), float(kind in "ECP"), change_bps**2,
        ])  # fmt: skip

    def row(self) -> tuple[list[float], bool]:
        if self.silent:
            return [0.0] * len(FEATURES), False
        event, now = self.events[-1], self.times[-1]
        age_s = (now - self.times[-2]) / 1e9 if len(self.times) > 1 else 0.0
        prices, filled = self.prices(now) if two_sides(event) else ([0.0] * 8, False)
        return (
            prices
            + [imbalance(event, 1), imbalance(event, TOP_LEVELS)]
            + self.decayed(now)
            + [age_s, (now - self.last_trade()) / 1e9, self.auction(), float(bool(event["marks"] & TRADABLE))]
        ), filled

    def quote(self, event: np.void, now: int) -> float:
        """Note mid and microprice; the mid's change in bps since it was last noted."""
        if not two_sides(event):
            return 0.0
        bid, ask = int(event["bid_price_e4"][0]), int(event["ask_price_e4"][0])
        bids, asks = int(event["bid_shares"][0]), int(event["ask_shares"][0])
        before = self.quoted[-1][1] if self.quoted else None
        mid = (bid + ask) / 2
        self.quoted.append((now, mid, (bid * asks + ask * bids) / (bids + asks)))
        return 0.0 if before is None else 1e4 * (mid - before) / before

    def prices(self, now: int) -> tuple[list[float], bool]:
        event = self.events[-1]
        _, mid, micro = self.quoted[-1]
        spread = int(event["ask_price_e4"][0]) - int(event["bid_price_e4"][0])
        mids, micros, filled = [], [], False
        for horizon_s, bits in zip(HORIZONS_S, BUCKET_BITS, strict=True):
            until = now - round(horizon_s * 1e9)
            then = self.sample(until, bits)
            filled = then is not None
            mids.append(1e4 * (mid - then[1]) / then[1] if then else 0.0)
            micros.append(1e4 * (micro - then[2]) / then[2] if then else 0.0)
        return [1e4 * spread / mid, 1e4 * (micro - mid) / mid, *mids, *micros], filled

    def sample(self, until: int, bits: int) -> tuple[int, float, float] | None:
        """The last quote not later than `until` that is the last of its bucket of time."""
        for k in range(len(self.quoted) - 1, -1, -1):
            ends_bucket = k + 1 == len(self.quoted) or self.quoted[k + 1][0] >> bits != self.quoted[k][0] >> bits
            if ends_bucket and self.quoted[k][0] <= until:
                return self.quoted[k]
        return None

    def decayed(self, now: int) -> list[float]:
        ages_s = np.array([now - time for time in self.times]) / 1e9
        flows = np.array(self.flows)
        sums = [(flows * np.exp(-ages_s / tau)[:, None]).sum(axis=0) for tau in TAUS_S]
        made: list[float] = []
        for flow in range(flows.shape[1]):
            for held, tau in zip(sums, TAUS_S, strict=True):
                value = float(held[flow])
                made.append(math.sqrt(value) if flow == 6 else value / tau if flow >= 3 else value)
        return made

    def last_trade(self) -> int:
        for event, time in zip(reversed(self.events), reversed(self.times), strict=True):
            if event["marks"] & PRINTABLE and event["shares"] > 0:
                return time
        return self.times[0]

    def auction(self) -> float:
        for event in reversed(self.events):
            if chr(event["kind"]) == "Q":
                return 0.0
            if chr(event["kind"]) == "I":
                shares, paired = max(int(event["shares"]), 0), max(int(event["paired_shares"]), 0)
                sign = {"B": 1, "S": -1}.get(chr(event["side"]), 0)
                return sign * shares / (shares + paired) if shares + paired else 0.0
        return 0.0


def two_sides(event: np.void) -> bool:
    return all(event[f"{side}_shares"][0] > 0 and event[f"{side}_price_e4"][0] > 0 for side in ("bid", "ask"))


def level(event: np.void, side: str, k: int) -> tuple[float, int]:
    """Price and shares; no bid is one at 0, no ask one at infinity."""
    shares = max(int(event[f"{side}_shares"][k]), 0)
    return (float(event[f"{side}_price_e4"][k]) if shares else {"bid": 0.0, "ask": math.inf}[side]), shares


def order_flow(before: np.void, after: np.void, levels: int) -> float:
    """Cont, Kukanov, Stoikov 2014, (2), summed over levels."""
    total = 0
    for k in range(levels):
        (old_bid, old_bids), (bid, bids) = level(before, "bid", k), level(after, "bid", k)
        (old_ask, old_asks), (ask, asks) = level(before, "ask", k), level(after, "ask", k)
        total += bids * (bid >= old_bid) - old_bids * (bid <= old_bid)
        total += old_asks * (ask >= old_ask) - asks * (ask <= old_ask)
    return float(total)


def imbalance(event: np.void, levels: int) -> float:
    bids, asks = (sum(level(event, side, k)[1] for k in range(levels)) for side in ("bid", "ask"))
    return (bids - asks) / (bids + asks) if bids + asks else 0.0


def signed_trade(event: np.void) -> float:
    if chr(event["kind"]) not in "EC" or not event["marks"] & PRINTABLE:
        return 0.0
    return {"B": -1.0, "S": 1.0}.get(chr(event["side"]), 0.0) * max(int(event["shares"]), 0)
