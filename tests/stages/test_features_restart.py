"""Events of no message at the features stage: passed on, and what a book set anew makes void."""

import pytest

from tests.stages.drive import told
from tests.stages.feature_events import Stage, book_event
from tests.stages.test_features import PRINTED, WIDE
from venym.records import GAPPED, RESTARTED

pytestmark = pytest.mark.plain


def test_an_event_of_no_message_is_passed_on_and_touches_nothing():
    stage, fresh = Stage(), Stage()
    events = [book_event(k, kind="E", shares=5, marks=PRINTED, **WIDE) for k in range(15)]
    silent = [book_event(k + 0.5, kind="\0", marks=GAPPED, bids=(), sequence=9) for k in range(15)]
    rows = stage.rows([event for pair in zip(events, silent, strict=True) for event in pair])
    assert [told(row) for row in rows[::2]] == [told(row) for row in fresh.rows(events)]
    assert [int(row["ready"]) for row in rows[20:]] == [1, 0] * 5
    for row in rows[1::2]:
        assert not row["x"].any() and int(row["market"]["sequence"]) == 9


def test_a_book_set_anew_makes_rows_unready_until_the_horizon_has_filled_again():
    stage, fresh = Stage(), Stage()
    stage.rows([book_event(k, kind="E", shares=5, marks=PRINTED, **WIDE) for k in range(15)])
    stage.rows([book_event(15, kind="\0", marks=RESTARTED)])
    events = [book_event(16 + k, **WIDE) for k in range(12)]
    rows = stage.rows(events)
    assert [told(row) for row in rows] == [told(row) for row in fresh.rows(events)]
    assert [int(row["ready"]) for row in rows] == [0] * 10 + [1, 1]
