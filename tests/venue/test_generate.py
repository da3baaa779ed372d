"""Made-up days: every message fits the books, the mix is a real day's, the same arguments give the same octets."""

import gzip
import hashlib
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.naive.binaryfile import messages_of
from tests.naive.day_book import DictBooks
from tests.naive.itch50 import decode
from tests.naive.packets import END_OF_SESSION, read_packets
from venym.venue.day_plan import PlanError, Wanted
from venym.venue.day_script import REAL_DAY, REAL_MESSAGES
from venym.venue.generate import Written, write_file
from venym.wire.itch50 import MESSAGES

SIZE = 200_000
DAY = Wanted(SIZE, 20, 7)
GOLDEN = Wanted(1_500, 12, 2019)
GOLDEN_BLOCKS = "4c85ab37"
GOLDEN_CAPTURE = "545367c9"
SECOND_NS = 1_000_000_000
EVENT_TIMES = {"O": "03:04:32", "S": "04:00:00", "Q": "09:30:00", "M": "16:00:00", "E": "20:00:00", "C": "20:05:00"}


def seconds(clock_time: str) -> int:
    hours, minutes, rest = (int(part) for part in clock_time.split(":"))
    return hours * 3600 + minutes * 60 + rest


@pytest.fixture(scope="module")
def day(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return decoded(DAY, tmp_path_factory.mktemp("day") / "day")


def decoded(wanted: Wanted, path: Path) -> list[dict[str, Any]]:
    """A day's messages; each has the length its type has."""
    written = write_file(wanted, path)
    held = messages_of(path.read_bytes())
    assert written.octets == path.stat().st_size
    assert [len(message) for message in held] == [MESSAGES[chr(message[0])].length for message in held]
    return [fields for message in held if (fields := decode(message)) is not None]


def of_type(day: list[dict[str, Any]], kinds: str) -> Iterator[dict[str, Any]]:
    return (fields for fields in day if fields["message_type"] in kinds)


def test_directory_codes_are_those_of_the_specification(day: list[dict[str, Any]]) -> None:
    assert {fields["issue_sub_type"] for fields in of_type(day, "R")} <= {"A", "E", "I", "Z"}


def test_it_has_as_many_messages_as_were_asked_for(day: list[dict[str, Any]]) -> None:
    assert len(day) == SIZE


def test_every_modification_fits_the_books(day: list[dict[str, Any]]) -> None:
    books = DictBooks()
    for fields in day:
        books.apply(fields)
    assert {name: count for name, count in books.faults.items() if count} == {}
    assert books.orders == {}
    executions = books.in_turn.total()
    assert executions == sum(1 for _ in of_type(day, "EC"))
    assert books.in_turn[True] > 0.97 * executions
    assert 0.6 < books.whole[True] / executions < 0.95
    assert 0.9 * SIZE / 20 < books.live_max < 1.1 * SIZE / 20


def test_time_never_runs_back(day: list[dict[str, Any]]) -> None:
    times = [fields["timestamp"] for fields in day]
    assert times == sorted(times)


def test_system_events_frame_the_day_on_time(day: list[dict[str, Any]]) -> None:
    assert_events_on_time(day)
    assert day[0]["event_code"] == "O" and day[-1]["event_code"] == "C"
    after_hours = [fields["message_type"] for fields in day if fields["timestamp"] >= 72_000 * SECOND_NS]
    assert set(after_hours) == set("SBD") and after_hours[0] == after_hours[-1] == "S"


def assert_events_on_time(day: list[dict[str, Any]]) -> None:
    events = [(fields["event_code"], fields["timestamp"] / SECOND_NS) for fields in of_type(day, "S")]
    assert [code for code, _ in events] == list(EVENT_TIMES)
    assert [time for code, time in events if code in "SQME"] == [seconds(EVENT_TIMES[code]) for code in "SQME"]


def test_the_directory_comes_by_locate_each_with_state_and_restriction(day: list[dict[str, Any]]) -> None:
    spin = [fields for fields in day if fields["timestamp"] < 14_400 * SECOND_NS]
    directory = list(of_type(spin, "R"))
    assert [fields["stock_locate"] for fields in directory] == list(range(1, 21))
    assert len({fields["stock"] for fields in directory}) == 20
    order = [(fields["stock_locate"], "RHY".index(fields["message_type"])) for fields in of_type(spin, "RHY")]
    assert order == sorted(order) and {kind for _, kind in order} == {0, 1, 2}
    stocks = {fields["stock_locate"]: fields["stock"] for fields in directory}
    assert all(stocks[fields["stock_locate"]] == fields["stock"] for fields in of_type(day, "HYLAFPQIJh"))
    (levels,) = of_type(spin, "V")
    assert levels["level_1"] > levels["level_2"] > levels["level_3"] > 0


def test_orders_are_entered_and_executed_only_where_the_state_allows(day: list[dict[str, Any]]) -> None:
    assert_allowed(day)


def test_what_is_halted_all_day_or_never_announced_does_not_trade(tmp_path: Path) -> None:
    day = decoded(Wanted(40_000, 2_000, 3), tmp_path / "day")
    announced = {fields["stock_locate"]: fields["trading_state"] for fields in of_type(day, "H")}
    assert len(announced) < 2_000 and "H" in announced.values()
    assert_allowed(day)


def assert_allowed(day: list[dict[str, Any]]) -> None:
    state: dict[int, str] = defaultdict(str)
    halted: dict[int, bool] = defaultdict(bool)
    for fields in day:
        kind, locate = fields["message_type"], fields["stock_locate"]
        if kind == "H":
            state[locate] = fields["trading_state"]
        elif kind == "h":
            halted[locate] = fields["operational_halt_action"] == "H"
        elif kind in "AFU":
            assert state[locate] in ("T", "Q") and not halted[locate]
        elif kind == "E" or (kind == "C" and fields["printable"] == "Y"):
            assert state[locate] == "T" and not halted[locate]
        elif kind == "I":
            assert state[locate] == ("Q" if fields["cross_type"] == "H" else "T") and not halted[locate]
        elif kind == "Q" and state[locate] not in ("T", "Q"):
            assert fields["shares"] == 0


def test_a_pause_goes_through_quotation_and_a_cross(day: list[dict[str, Any]]) -> None:
    paused = next(fields["stock_locate"] for fields in of_type(day, "H") if fields["trading_state"] == "P")
    story = [fields for fields in of_type(day, "HJIQ") if fields["stock_locate"] == paused]
    words = [
        f"{fields['message_type']}{fields.get('trading_state') or fields.get('cross_type', '')}" for fields in story
    ]
    begins = words.index("HP")
    assert [word for word in words[begins:] if word not in ("IO", "IC")][:6] == ["HP", "J", "HQ", "IH", "IH", "QH"]
    assert words[begins:].count("HT") >= 1
    reasons = {fields["reason"] for fields in story[begins:] if fields["message_type"] == "H"}
    assert reasons == {"LUDP"}
    collar = next(fields for fields in story if fields["message_type"] == "J")
    low, reference, high = (
        collar[f"{name}_price"] for name in ("lower_auction_collar", "auction_collar_reference", "upper_auction_collar")
    )
    assert 0 < low < reference < high


def test_the_new_listing_is_announced_quoted_and_opens_with_a_cross(day: list[dict[str, Any]]) -> None:
    (quoting,) = of_type(day, "K")
    (listing,) = (fields for fields in of_type(day, "R") if fields["stock"] == quoting["stock"])
    assert listing["ipo_flag"] == "Y" and quoting["stock_locate"] == 0
    locate = listing["stock_locate"]
    states = [(f["trading_state"], f["reason"]) for f in of_type(day, "H") if f["stock_locate"] == locate]
    assert states == [("H", "IPO1"), ("Q", "IPOQ"), ("T", "IPOQ")]
    first = next(fields for fields in of_type(day, "AF") if fields["stock_locate"] == locate)
    assert first["timestamp"] > quoting["timestamp"]
    assert [f["cross_type"] for f in of_type(day, "Q") if f["stock_locate"] == locate].count("H") == 1


def test_crosses_open_and_close_every_instrument(day: list[dict[str, Any]]) -> None:
    for cross_type, event in (("O", "Q"), ("C", "M")):
        times = [
            f["timestamp"] // SECOND_NS - seconds(EVENT_TIMES[event])
            for f in of_type(day, "Q")
            if f["cross_type"] == cross_type
        ]
        assert len(times) == 20 and min(times) >= 0 and max(times) <= 12
        noii = [f["timestamp"] // SECOND_NS for f in of_type(day, "I") if f["cross_type"] == cross_type]
        assert noii and seconds(EVENT_TIMES[event]) - 600 <= min(noii) and max(noii) <= seconds(EVENT_TIMES[event])
    for fields in of_type(day, "Q"):
        assert (fields["shares"] == 0) == (fields["cross_price"] == 0)


def test_participants_of_a_cross_leave_the_book_at_its_price(day: list[dict[str, Any]]) -> None:
    """One price, at or worse than the limit for nobody, and no better limit of that side is left standing."""
    books, pending, crossed = DictBooks(), [], 0
    for fields in day:
        if fields["message_type"] == "C" and fields["printable"] == "N":
            locate, side, limit, shares = books.orders[fields["order_reference_number"]]
            assert shares == fields["executed_shares"] and limit == books.best(locate, side)
            assert limit >= fields["execution_price"] if side == "B" else limit <= fields["execution_price"]
            pending.append((fields, side))
        elif pending:
            assert fields["message_type"] == "Q" and fields["cross_type"] in "OCH"
            assert {held["execution_price"] for held, _ in pending} == {fields["cross_price"]}
            assert {held["timestamp"] for held, _ in pending} == {fields["timestamp"]}
            assert sum(held["executed_shares"] for held, _ in pending) <= fields["shares"]
            (side,) = {side for _, side in pending}
            best = books.best(fields["stock_locate"], side)
            assert best is None or (best <= fields["cross_price"] if side == "B" else best >= fields["cross_price"])
            crossed += len(pending)
            pending = []
        books.apply(fields)
    assert crossed >= 20


def test_trades_against_hidden_orders_lie_inside_the_spread(day: list[dict[str, Any]]) -> None:
    books = DictBooks()
    for fields in day:
        books.apply(fields)
        if fields["message_type"] == "P":
            assert fields["order_reference_number"] == 0 and fields["buy_sell_indicator"] == "B"
            assert fields["shares"] > 0 and fields["price"] > 0
            bid, ask = (books.best(fields["stock_locate"], side) for side in "BS")
            assert (bid or 0) <= fields["price"] and (ask is None or fields["price"] <= ask)


def test_an_execution_at_another_price_is_better_for_who_comes(day: list[dict[str, Any]]) -> None:
    books = DictBooks()
    for fields in day:
        if fields["message_type"] == "C" and fields["printable"] == "Y":
            _, side, limit, _ = books.orders[fields["order_reference_number"]]
            assert limit < fields["execution_price"] if side == "B" else limit > fields["execution_price"]
        books.apply(fields)


def test_only_executions_and_trades_have_a_tracking_number(day: list[dict[str, Any]]) -> None:
    tracking = {(f["message_type"] in "ECPQ", f["tracking_number"]) for f in day}
    assert tracking == {(True, 2), (False, 0)}


def test_a_broken_trade_was_made_before_and_is_broken_once(day: list[dict[str, Any]]) -> None:
    trades: dict[int, int] = {}
    broken = 0
    for fields in day:
        if fields["message_type"] in "EP" or (fields["message_type"] == "C" and fields["printable"] == "Y"):
            trades[fields["match_number"]] = fields["stock_locate"]
        elif fields["message_type"] == "B":
            assert trades.pop(fields["match_number"]) == fields["stock_locate"]
            broken += 1
    assert broken >= 2


def test_references_do_not_rise_with_time(day: list[dict[str, Any]]) -> None:
    references = [fields["order_reference_number"] for fields in of_type(day, "AF")]
    falls = sum(after < before for before, after in pairwise(references))
    assert falls > len(references) // 20
    assert max(references) > 100_000_000


def test_stub_quotes_lie_far_outside(day: list[dict[str, Any]]) -> None:
    prices = Counter(fields["price"] for fields in of_type(day, "AF"))
    assert prices[100] and prices[1_999_999_900]
    assert all(0 < price <= 1_999_999_900 for price in prices)


def test_messages_come_in_the_shape_of_a_day(day: list[dict[str, Any]]) -> None:
    """Busy after the open and before the close, quiet at noon and outside market hours."""
    a_minute: Counter[str] = Counter()
    for name, begins, ends in (
        ("pre-market", "04:00:00", "09:25:00"),
        ("open", "09:31:00", "09:46:00"),
        ("noon", "12:00:00", "13:00:00"),
        ("close", "15:50:00", "16:00:00"),
        ("post-market", "17:00:00", "20:00:00"),
    ):
        inside = (seconds(begins) <= f["timestamp"] // SECOND_NS < seconds(ends) for f in day)
        a_minute[name] = 60 * sum(inside) // (seconds(ends) - seconds(begins))
    assert a_minute["close"] > 3 * a_minute["noon"] and a_minute["open"] > 3 * a_minute["noon"]
    assert a_minute["noon"] > 5 * a_minute["pre-market"] and a_minute["noon"] > 5 * a_minute["post-market"]


def test_the_mix_is_that_of_a_real_day(tmp_path: Path) -> None:
    written = write_file(Wanted(1_000_000, 300, 5), tmp_path / "day")
    assert sum(written.by_type.values()) == 1_000_000
    for kind, tolerance in {
        "A": 0.01,
        "D": 0.01,
        "U": 0.01,
        "E": 0.01,
        "X": 0.01,
        "I": 0.01,
        "F": 0.1,
        "P": 0.02,
        "C": 0.05,
    }.items():
        share, real = written.by_type[kind] / 1_000_000, REAL_DAY[kind] / REAL_MESSAGES
        assert abs(share / real - 1) < tolerance, (kind, share, real)
    assert written.by_type["R"] == 300 and 285 <= written.by_type["Y"] <= 300
    assert set(written.by_type) == set(REAL_DAY) | set("Kh")


def test_as_many_orders_live_at_the_peak_as_were_asked_for(tmp_path: Path) -> None:
    written = write_file(Wanted(200_000, 40, 5, 40_000), tmp_path / "day")
    assert 39_000 < written.live_orders_max < 41_000


def test_every_locate_can_be_used(tmp_path: Path) -> None:
    written = write_file(Wanted(350_000, 65_535, 5), tmp_path / "day")
    assert written.by_type["R"] == 65_535 and sum(written.by_type.values()) == 350_000
    directory = [decode(held) for held in messages_of((tmp_path / "day").read_bytes()) if held[:1] == b"R"]
    assert [fields["stock_locate"] for fields in directory if fields] == list(range(1, 65_536))


@pytest.mark.plain
@pytest.mark.parametrize("symbols", [1, 2, 3, 4, 9, 60])
def test_the_shortest_days_are_whole_too(symbols: int, tmp_path: Path) -> None:
    for seed in range(5):
        with pytest.raises(PlanError) as refused:
            write_file(Wanted(1, symbols, seed), tmp_path / "nothing")
        least = int(str(refused.value).split()[-1])
        write_file(Wanted(least + seed, symbols, seed), tmp_path / "day")
        books, held = DictBooks(), messages_of((tmp_path / "day").read_bytes())
        for message in held:
            fields = decode(message)
            assert fields is not None
            books.apply(fields)
        assert len(held) == least + seed and books.orders == {} and not books.faults.total()
        assert_events_on_time([fields for message in held if (fields := decode(message))])
    assert [path.name for path in tmp_path.iterdir()] == ["day"]


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


@pytest.mark.plain
def test_the_same_arguments_give_the_same_octets(tmp_path: Path) -> None:
    write_file(GOLDEN, tmp_path / "day")
    write_file(GOLDEN, tmp_path / "day.pcap")
    assert (digest(tmp_path / "day"), digest(tmp_path / "day.pcap")) == (GOLDEN_BLOCKS, GOLDEN_CAPTURE)


def test_another_seed_gives_another_day(tmp_path: Path) -> None:
    write_file(GOLDEN._replace(seed=2020), tmp_path / "day")
    assert digest(tmp_path / "day") != GOLDEN_BLOCKS


def test_a_capture_holds_the_same_messages(tmp_path: Path) -> None:
    plain: Written = write_file(DAY, tmp_path / "day")
    written = write_file(DAY, tmp_path / "day.pcap", date(2024, 7, 1))
    assert written.by_type == plain.by_type
    *packets, end = read_packets((tmp_path / "day.pcap").read_bytes())
    held = [message for packet in packets for message in packet.messages]
    assert held == messages_of((tmp_path / "day").read_bytes())
    assert {packet.session for packet in packets} == {"2024070101"}
    assert (end.sequence, end.counted) == (SIZE + 1, END_OF_SESSION)
    assert packets[0].received_ns // SECOND_NS == 1_719_806_400 + seconds("03:04:32")  # 1 July, four hours behind
    assert max(packet.counted for packet in packets) > 3


@pytest.mark.parametrize("name", ["day", "day.pcap"])
def test_a_name_that_ends_in_gz_compresses(name: str, tmp_path: Path) -> None:
    write_file(GOLDEN, tmp_path / name)
    write_file(GOLDEN, tmp_path / f"{name}.gz")
    assert gzip.decompress((tmp_path / f"{name}.gz").read_bytes()) == (tmp_path / name).read_bytes()


def test_a_file_appears_when_it_is_whole(tmp_path: Path) -> None:
    (tmp_path / "day").write_bytes(b"the old one")

    def interrupt(octets: int, messages: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_file(GOLDEN, tmp_path / "day", report=interrupt)
    assert (tmp_path / "day").read_bytes() == b"the old one"
    assert [path.name for path in tmp_path.iterdir()] == ["day"]
    write_file(GOLDEN, tmp_path / "day")
    assert digest(tmp_path / "day") == GOLDEN_BLOCKS


def test_what_is_no_regular_file_is_written_to_directly() -> None:
    written = write_file(GOLDEN, Path("/dev/null"))
    assert written.messages == GOLDEN.messages and not Path("/dev/null").is_file()


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        write_file(GOLDEN, tmp_path / "nowhere" / "day")


def test_progress_is_reported_to_the_end() -> None:
    reports: list[tuple[int, int]] = []
    written = write_file(GOLDEN, Path("/dev/null"), report=lambda octets, messages: reports.append((octets, messages)))
    assert reports[-1] == (written.octets, GOLDEN.messages)


def test_tshark_reads_a_capture_and_finds_no_fault(tshark: str, tmp_path: Path) -> None:
    write_file(GOLDEN, tmp_path / "day.pcap")
    options = ["-d", "udp.port==26477,moldudp64", "-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"]
    wanted = ["ip.checksum.status", "udp.checksum.status", "moldudp64.sequence", "moldudp64.count", "moldudp64.msgdata"]
    columns = [argument for name in wanted for argument in ("-e", name)]
    command = [tshark, "-r", str(tmp_path / "day.pcap"), *options, "-T", "fields", *columns]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout
    *packets, end = read_packets((tmp_path / "day.pcap").read_bytes())
    lines = [line.split("\t") for line in shown.splitlines()]
    assert [line[:4] for line in lines[:-1]] == [["1", "1", str(p.sequence), str(p.counted)] for p in packets]
    assert [line[4] for line in lines[:-1]] == [",".join(held.hex() for held in p.messages) for p in packets]
    assert lines[-1][:4] == ["1", "1", str(end.sequence), str(END_OF_SESSION)]
