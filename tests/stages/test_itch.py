"""What each message does to a book and to its market: the failures met elsewhere, as examples."""

from tests.stages import itch_messages as itch
from tests.stages.drive import Drive
from venym import records

OPEN = [itch.message("S", 0, event_code="O"), itch.directory(), itch.message("S", 0, event_code="Q")]


def driven(messages, **options) -> Drive:
    drive = Drive(**options)
    drive.messages(OPEN + messages)
    return drive


def test_new_types_and_codes_do_not_stop_the_feed():
    drive = driven([
        itch.message("J", stock="TEST", upper_auction_collar_price=110_000), itch.operational_halt("T"),
        itch.message("O", stock="TEST"), b"~" + bytes(16),
        itch.message("R", 8, stock="NEWCAT", market_category="V", issue_sub_type="RT"),
        itch.add(2**64 - 1, "B", 100, 100_000, mpid="MPID"),
    ])  # fmt: skip
    assert drive.counters() == {"messages": 9, "unknown_types": 1, "sessions": 1, "packets": 1}
    assert drive.book(8) != 0
    assert drive.ladder(7, "B") == [(100_000, 100, 1)]
    assert drive.queue(7, "B", 100_000) == [(2**64 - 1, 100, "MPID")]


def test_octets_beyond_a_types_length_are_skipped():
    drive = driven([itch.add(1, "B", 100, 100_000) + b"xx", itch.execute(1, 40)])
    assert drive.ladder(7, "B") == [(100_000, 60, 1)]


def test_prints_move_volume_and_never_levels():
    drive = driven([
        itch.add(1, "B", 100, 100_000), itch.trade(500, 100_100, match=1),
        itch.execute_at(1, 40, 99_900, "N", match=2), itch.execute_at(1, 10, 99_900, "Y", match=3),
        itch.cross(5_000_000_000, 100_000, match=4), itch.cross(0, 100_000, match=5),
    ])  # fmt: skip
    assert drive.ladder(7, "B") == [(100_000, 50, 1)] and drive.ladder(7, "S") == []
    assert drive.volume(7) == 500 + 10 + 5_000_000_000
    drive.messages([itch.broken(3)])
    assert drive.volume(7) == 500 + 5_000_000_000
    drive.messages([itch.broken(3), itch.broken(2)])
    assert drive.volume(7) == 500 + 5_000_000_000
    assert "unknown_matches" in drive.counters()  # the one that was not printable


def test_a_replaced_order_goes_to_the_back_of_its_queue_on_the_same_side():
    drive = driven([
        itch.add(1, "S", 100, 100_000, mpid="NITE"), itch.add(2, "S", 50, 100_000), itch.replace(1, 3, 80, 100_000),
    ])  # fmt: skip
    assert drive.ladder(7, "S") == [(100_000, 130, 2)]
    assert drive.queue(7, "S", 100_000) == [(2, 50, ""), (3, 80, "NITE")]
    drive.messages([itch.replace(3, 4, 80, 99_900), itch.replace(777, 5, 10, 100_000)])
    assert drive.ladder(7, "S") == [(99_900, 80, 1), (100_000, 50, 1)] and drive.ladder(7, "B") == []
    assert drive.counters()["unknown_references"] == 1
    drive.messages([itch.cancel(4, 80), itch.replace(2, 6, 0, 100_000)])
    assert drive.ladder(7, "S") == []


def test_a_modification_that_does_not_fit_takes_what_is_there_and_marks_the_book():
    for misfit, counter in (
        (itch.execute(1, 101), "over_executions"),
        (itch.execute_at(1, 101, 99_900), "over_executions"),
        (itch.cancel(1, 2**32 - 1), "over_cancels"),
    ):
        drive = driven([itch.add(1, "B", 100, 100_000), itch.add(2, "B", 7, 100_000), misfit])
        assert drive.ladder(7, "B") == [(100_000, 7, 1)]
        assert drive.counters()[counter] == 1
        assert drive.suspect(7)


def test_a_reference_in_use_keeps_its_order():
    drive = driven([itch.add(1, "B", 100, 100_000), itch.add(1, "S", 5, 200_000)])
    assert drive.ladder(7, "B") == [(100_000, 100, 1)] and drive.ladder(7, "S") == []
    assert drive.counters()["duplicate_references"] == 1 and drive.suspect(7)


def test_a_replace_may_keep_its_reference():
    drive = driven([itch.add(1, "B", 100, 100_000), itch.replace(1, 1, 60, 99_000)])
    assert drive.ladder(7, "B") == [(99_000, 60, 1)]
    assert not drive.suspect(7)


def test_a_book_may_be_crossed_for_long_and_an_instrument_trades_only_on_t():
    second = 1_000_000_000
    drive = driven([
        itch.message("V", 0, level_1=450_000_000_000, level_2=400_000_000_000, level_3=350_000_000_000),
        itch.trading_action("T"),
        itch.add(1, "B", 10, 100_500), itch.add(2, "S", 10, 100_000),
        itch.message("D", time_ns=itch.START_NS + 29 * second, order_reference_number=1),
        itch.trading_action("H", "LUDP"), itch.add(3, "B", 10, 99_000), itch.trading_action("Q"),
        itch.trading_action("T"), itch.message("W", 0, breached_level="1"), itch.trading_action("T"),
        itch.operational_halt("H"), itch.operational_halt("T"), itch.operational_halt("H", code="B"),
    ], instruments=("TEST",))  # fmt: skip
    channel = drive.pipeline.decoder.market.channels[0]
    levels = [int(channel[f"mwcb_level_{k}_e8"]) / 10**8 for k in (1, 2, 3)]
    assert levels == [4500.0, 4000.0, 3500.0] and chr(channel.mwcb_level) == "1"
    told = [(chr(e["kind"]), chr(e["state"]) if e["state"] else None, bool(e["marks"] & records.TRADABLE),
             bool(e["marks"] & records.CROSSED)) for e in drive.events]  # fmt: skip
    assert told == [
        ("R", None, False, False), ("H", "T", True, False), ("A", "T", True, False), ("A", "T", True, True),
        ("D", "T", True, False), ("H", "H", False, False), ("A", "H", False, False), ("H", "Q", False, False),
        ("H", "T", True, False), ("H", "T", True, False), ("h", "H", False, False), ("h", "T", True, False),
        ("h", "T", True, False),
    ]  # fmt: skip


def test_a_market_wide_halt_lasts_until_the_instruments_own_state_is_announced():
    drive = driven([itch.trading_action("T"), itch.message("W", 0, breached_level="2")])
    assert drive.state(7) == "H"
    drive.messages([itch.trading_action("Q"), itch.trading_action("T")])
    assert drive.state(7) == "T"


def test_a_state_never_announced_is_not_trading():
    drive = driven([itch.add(1, "B", 10, 100_000)], instruments=("TEST",))
    assert drive.state(7) is None
    assert not any(e["marks"] & records.TRADABLE for e in drive.events)


def test_an_ipo_release_is_keyed_by_symbol_because_its_locate_is_0():
    drive = driven([itch.message("K", 0, stock="TEST", ipo_quotation_release_time=34_500,
                                 ipo_quotation_release_qualifier="A", ipo_price=170_000)])  # fmt: skip
    book = drive.pipeline.decoder.market.books[drive.book(7)]
    assert (int(book.ipo_release_s), chr(book.ipo_qualifier), int(book.ipo_price_e4)) == (34_500, "A", 170_000)
    assert drive.book(0) == 0


def test_facts_of_an_instrument_are_kept():
    drive = driven([
        itch.message("Y", stock="TEST", reg_sho_action="1"),
        itch.message("J", stock="TEST", auction_collar_reference_price=1, upper_auction_collar_price=2,
                     lower_auction_collar_price=3, auction_collar_extension=4),
        itch.message("L", stock="TEST", mpid="NITE"), itch.message("N", stock="TEST", interest_flag="B"),
    ])  # fmt: skip
    book = drive.pipeline.decoder.market.books[drive.book(7)]
    assert (chr(book.reg_sho), chr(book.authenticity), int(book.round_lot_shares)) == ("1", "P", 100)
    collar = [int(book[f"collar_{part}"]) for part in ("reference_e4", "upper_e4", "lower_e4", "extension")]
    assert collar == [1, 2, 3, 4]


def test_time_may_pass_midnight():
    late = 26 * 3_600 * 1_000_000_000
    drive = driven([itch.add(1, "B", 10, 100_000, time_ns=late)], instruments=("TEST",))
    assert int(drive.events[-1]["time_ns"]) == late
