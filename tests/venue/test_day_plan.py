"""How a made-up day is laid out before its first message."""

import pytest

from venym.venue.day_plan import LATE_DELETES, PlanError, Wanted, make_plan
from venym.venue.day_script import REAL_DAY, REAL_MESSAGES, scaled

pytestmark = pytest.mark.plain


def rows_of(wanted: Wanted) -> list[tuple[int, str]]:
    """When each scripted message is due, and its type."""
    return [(int(row.at), chr(row.kind)) for row in make_plan(wanted).rows]


@pytest.mark.parametrize("wanted", [Wanted(400, 3, 1), Wanted(5_000, 100, 2), Wanted(3_000_000, 1_000, 3)])
def test_rows_come_in_order_and_the_last_is_the_last_message(wanted: Wanted) -> None:
    due = [at for at, _ in rows_of(wanted)]
    assert due == sorted(due) and due[-1] == wanted.messages - 1
    plan = make_plan(wanted)
    ends = [int(phase.end_at) for phase in plan.phases]
    assert ends == sorted(ends) and ends[-1] == wanted.messages
    assert [at for at, kind in rows_of(wanted) if kind == "S"][1:-1] == [ends[phase] for phase in (1, 4, 13, 16)]
    assert plan.regular_end_at == ends[-2]
    late = sum(at >= ends[-2] for at in due)
    assert ends[-1] - ends[-2] == late + LATE_DELETES


def test_each_symbol_is_announced_and_crosses_twice() -> None:
    kinds = [kind for _, kind in rows_of(Wanted(200_000, 500, 1))]
    assert kinds.count("R") == 500 and kinds.count("S") == 6 and kinds.count("V") == 1
    assert kinds.count("Q") == 2 * 500 + 1 + 3  # the IPO's, and a pause's three
    assert kinds.count("L") == scaled("L", 200_000)


@pytest.mark.parametrize("symbols", [1, 3, 4, 50, 1_000])
def test_too_few_messages_are_refused_with_the_least_that_do(symbols: int) -> None:
    with pytest.raises(PlanError, match=r"too few for .* symbols.* at least") as refused:
        make_plan(Wanted(10, symbols, 1))
    least = int(str(refused.value).split()[-1])
    assert make_plan(Wanted(least, symbols, 1)).messages == least
    with pytest.raises(PlanError, match=f"at least {least}$"):
        make_plan(Wanted(least - 1, symbols, 1))


@pytest.mark.parametrize(
    ("wanted", "words"),
    [
        (Wanted(10_000, 0, 1), "0 symbols.*65535"),
        (Wanted(10**7, 65_536, 1), "65536 symbols.*65535"),
        (Wanted(0, 1, 1), "0 messages"),
        (Wanted(2 * 10**9 + 1, 1, 1), "messages: 1 to 2000000000"),
        (Wanted(10_000, 5, 1, 5_000), r"too few for 5000 live orders: at least 20\d\d\d"),
        (Wanted(10_000, 5, 1, 0), "0 live orders: 16 to"),
    ],
)
def test_what_cannot_be_is_refused(wanted: Wanted, words: str) -> None:
    with pytest.raises(PlanError, match=words):
        make_plan(wanted)


def test_live_orders_follow_the_length_of_the_day_up_to_a_million() -> None:
    assert max(make_plan(Wanted(2_000_000, 10, 1)).phases["end_live"]) == 100_000
    assert max(make_plan(Wanted(50_000_000, 10, 1)).phases["end_live"]) == 1_000_000
    assert max(make_plan(Wanted(50_000_000, 10, 1, 2_000_000)).phases["end_live"]) == 2_000_000


def test_budgets_are_the_real_days_shares() -> None:
    assert sum(REAL_DAY.values()) == REAL_MESSAGES == 368_366_634
    plan = make_plan(Wanted(10_000_000, 1_000, 1))
    crossing = sum(int(row.b) for row in plan.rows if row.kind == ord("Q"))
    assert plan.budgets == {
        "U": scaled("U", 10**7),
        "E": scaled("E", 10**7),
        "C": scaled("C", 10**7) - crossing,
        "X": scaled("X", 10**7),
        "P": scaled("P", 10**7),
    }
