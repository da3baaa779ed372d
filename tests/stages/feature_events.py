"""Book events made by hand, put through the real features stage; rows compared with the naive twin."""

from typing import Any

import numpy as np

from tests.naive.features import NaiveFeatures
from tests.stages.drive import SMALL, zeroed
from venym import pipeline
from venym.hot.link import Link
from venym.records import BOOK_EVENT, TRADABLE
from venym.stages import feature_table

HEAD, TAIL = 0, 32  # words of a link's cursor
COUNT = len(feature_table.FEATURES)
OPEN_S = 34_200
Level = tuple[int, int]


def book_event(
    at_s: float,
    bids: tuple[Level, ...] = ((100_000, 100),),
    asks: tuple[Level, ...] = ((100_200, 100),),
    kind: str = "A",
    **fields: Any,
) -> np.ndarray:
    """A BOOK_EVENT `at_s` seconds after the open, the best levels of (price_e4, shares) first; (1,), as records are."""
    made = np.zeros(1, BOOK_EVENT)
    made["time_ns"] = OPEN_S * 10**9 + round(at_s * 1e9)
    made["kind"], made["marks"] = ord(kind), TRADABLE
    for side, levels in (("bid", bids), ("ask", asks)):
        for k, (price_e4, shares) in enumerate(levels):
            made[f"{side}_price_e4"][0, k], made[f"{side}_shares"][0, k] = price_e4, shares
    for name, value in fields.items():
        made[name] = ord(value) if isinstance(value, str) else value
    return made


def taken(link: Link) -> list[np.void]:
    """Take every record of a link, as copies."""
    head, tail = int(link.cursor[HEAD]), int(link.cursor[TAIL])
    made = [link.slots[k & (len(link.slots) - 1)].copy() for k in range(tail, head)]
    link.cursor[TAIL] = head
    return made


class Stage:
    """The features stage of a pipeline, its events put in by hand."""

    def __init__(self, instruments: tuple[str, ...] = ("TEST",)) -> None:
        self.pipeline = pipeline.build_market(zeroed, SMALL, 1 << 12, 16, instruments)

    def put(self, event: np.ndarray) -> None:
        link = self.pipeline.features.events
        head = int(link.cursor[HEAD])
        link.slots.view(BOOK_EVENT)[head & (len(link.slots) - 1)] = event[0]
        link.cursor[HEAD] = head + 1

    def step(self) -> int:
        return int(pipeline.lap_market(self.pipeline, pipeline.FEATURES))

    def rows(self, events: list[np.ndarray]) -> list[np.void]:
        """A row for each event."""
        made: list[np.void] = []
        for event in events:
            self.put(event)
            assert self.step() == 1
            made += taken(self.pipeline.features.rows)
        return made

    def pour(self, events: np.ndarray) -> list[np.void]:
        """A row for each of many events, (n,): as many at a time as the link to inference has room for."""
        link, made = self.pipeline.features.events, []
        most = len(self.pipeline.features.rows.slots)
        for part in np.split(events, range(most, len(events), most)):
            head = int(link.cursor[HEAD])
            link.slots.view(BOOK_EVENT)[np.arange(head, head + len(part)) & (len(link.slots) - 1)] = part
            link.cursor[HEAD] = head + len(part)
            assert pipeline.drain(self.pipeline, pipeline.FEATURES) == len(part)
            made += taken(self.pipeline.features.rows)
        return made

    def last(self, *events: np.ndarray) -> dict[str, float]:
        """The features after the last event, by name, and `ready`."""
        row = self.rows(list(events))[-1]
        return {**dict(zip(feature_table.names(), map(float, row["x"]), strict=False)), "ready": int(row["ready"])}


def assert_rows_of_the_twin(rows: list[np.void], every: int = 1) -> int:
    """Every row, or every n-th, is what the twin makes of the events in the rows; returns how many are ready."""
    twins: dict[int, NaiveFeatures] = {}
    for k, row in enumerate(rows):
        twin = twins.setdefault(int(row["market"]["instrument"]), NaiveFeatures())
        twin.note(row["market"])
        x = np.asarray(row["x"])
        assert np.isfinite(x).all()
        assert not x[COUNT:].any()
        if k % every:
            continue
        expected, is_ready = twin.row()
        wrong = ~np.isclose(x[:COUNT], np.array(expected), rtol=1e-6, atol=1e-7)
        assert not wrong.any(), [(k, feature_table.names()[n], x[n], expected[n]) for n in np.flatnonzero(wrong)]
        assert row["ready"] == is_ready
    return sum(int(row["ready"]) for row in rows)
