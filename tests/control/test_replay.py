"""`venym replay` from end to end: the real capture, the examples, every plan; and all that a strategy can do wrong."""

import gzip
import hashlib
import json
from pathlib import Path

import pytest
import simplefix

from tests.skips import ROOT
from venym import cli, pipeline

CAPTURE = ROOT / "replay_data" / "aapl-2019-01-30.pcap.gz"
CONFIG = ROOT / "config" / "replay.toml"
EXAMPLES = ROOT / "venym" / "strategies"


class Ran:
    """A replay that has run: its exit code, what it printed, and its directory."""

    def __init__(self, code: int, out: str, err: str, directory: Path) -> None:
        self.code, self.out, self.err, self.directory = code, out, err, directory

    @property
    def result(self) -> dict:
        return json.loads((self.directory / "result.json").read_text())

    @property
    def outcome(self) -> dict:
        return json.loads((self.directory / "outcome.json").read_text())

    @property
    def orders(self) -> bytes:
        return (self.directory / "orders.fix").read_bytes()


@pytest.fixture
def replay(tmp_path, capsys):
    """Runs `venym replay` on the capture with these arguments; --run-dir is a new folder each time."""
    runs = []

    def run(*args: str, files=(CAPTURE,), config=CONFIG) -> Ran:
        directory = tmp_path / f"run{len(runs)}"
        runs.append(directory)
        given = [str(file) for file in files]
        code = cli.main(["replay", *given, "--config", str(config), "--run-dir", str(directory), *args])
        said = capsys.readouterr()
        return Ran(code, said.out, said.err, directory)

    return run


@pytest.fixture
def configured(tmp_path):
    """A configuration of one strategy, the text of its file given."""

    def write(source: str, more: str = "") -> Path:
        (tmp_path / "mine.py").write_text(source)
        path = tmp_path / "mine.toml"
        path.write_text(f'[[strategies]]\nname = "mine"\nfile = "mine.py"\ninstruments = ["AAPL"]\n{more}')
        return path

    return write


def fields(message: bytes) -> dict[int, bytes]:
    parser = simplefix.FixParser()
    parser.append_buffer(message)
    return {int(tag): value for tag, value in parser.get_message()}


def test_the_orders_are_the_same_octets_under_every_plan_and_in_every_run(replay):
    runs = [replay("--plan", plan) for plan in (*pipeline.PLANS, "fused")]
    assert [run.code for run in runs] == [0] * len(runs)
    hashes = {hashlib.sha256(run.orders).hexdigest() for run in runs}
    assert len(hashes) == 1 and len(runs[0].orders.splitlines()) > 500
    for run in runs:
        assert "compiled while running" not in " ".join(run.result["notes"])
        assert run.result["positions"] == runs[0].result["positions"]
        assert run.result["messages"] == 10_062


def test_every_message_is_one_that_simplefix_reads_and_sums_the_same(replay):
    for number, message in enumerate(replay().orders.splitlines(), 1):
        body, _, sum_of_it = message.rpartition(b"10=")
        assert sum_of_it == b"%03d\x01" % (sum(body) % 256)
        head = body.index(b"\x0135=") + 1
        held = fields(message)
        assert held[9] == str(len(body) - head).encode()
        assert held[34] == str(number).encode()
        assert held[35] in (b"D", b"F", b"G") and held[55] == b"AAPL"
        if 44 in held:
            assert len(held[44].partition(b".")[2]) == 4
        assert held[52].startswith(b"20190130-")


def test_positions_and_cash_are_those_of_the_fills_on_the_wire(replay):
    run = replay()
    shares = cash_e6 = 0
    for line in (run.directory / "messages.fix").read_bytes().splitlines():
        direction, _, message = line.split(b" ", 2)
        held = fields(message)
        if direction == b"in" and held[35] == b"8" and 32 in held and held[150] in (b"1", b"2", b"F"):
            sign = 1 if held[54] == b"1" else -1
            shares += sign * int(held[32])
            cash_e6 -= sign * int(held[32]) * round(float(held[31]) * 10_000) * 100
    told = run.result["positions"]
    assert sum(position["shares"] for position in told) == shares
    assert sum(position["cash_e6"] for position in told) == cash_e6
    assert run.result["fills"]["executions"] > 20


def test_the_run_directory_tells_what_ran_and_how_it_ended(replay, tmp_path):
    run = replay("--orders", str(tmp_path / "orders"))
    assert (tmp_path / "orders").read_bytes() == run.orders
    assert run.outcome["state"] == "finished"
    assert run.outcome["orders_sha256"] == run.result["orders"]["sha256"] == hashlib.sha256(run.orders).hexdigest()
    assert {"settings.toml", "versions.json", "histograms"} <= {path.name for path in run.directory.iterdir()}
    again = replay(config=run.directory / "settings.toml")
    assert again.orders == run.orders
    latency = run.result["latency_ns"]
    assert list(latency)[-1] == "tick_to_order" and latency["tick_to_order"]["count"] > 0
    for words in ("AAPL", "taker", "quoter", str(run.directory)):
        assert words in run.out


def test_an_example_copied_with_one_line_changed_sends_other_orders(replay, configured):
    source = (EXAMPLES / "quoter.py").read_text()
    assert source.count('"half_spread_e4": 50,') == 1
    first = replay(config=configured(source))
    second = replay(config=configured(source.replace('"half_spread_e4": 50,', '"half_spread_e4": 150,')))
    assert first.code == second.code == 0
    assert first.orders and second.orders and first.orders != second.orders


RAISES = """
def decide(params, state, market, signal, orders, position, intents):
    state.whole[0] += 1
    if state.whole[0] == 3000:
        raise ValueError("I did not think of this")
"""
QUOTES_THEN_RAISES = """
from venym.strategies.interface import BUY, bid_e4, limit, new_token, tradable

def decide(params, state, market, signal, orders, position, intents):
    state.whole[0] += 1
    if len(orders) == 0 and tradable(market):
        limit(intents, new_token(state), BUY, 100, bid_e4(market) - 5000)
    if state.whole[0] == 3000:
        raise ValueError("I did not think of this")
"""


@pytest.mark.parametrize("plan", pipeline.PLANS)
def test_a_strategy_that_raises_kills_trading_by_name(replay, configured, plan):
    run = replay("--plan", plan, config=configured(QUOTES_THEN_RAISES))
    assert run.code == 3
    assert run.outcome["state"] == "killed"
    assert run.outcome["reason"] == "strategy mine raised ValueError: I did not think of this"
    assert run.outcome["reason"] in run.err and run.result["reason"] == run.outcome["reason"]
    kinds = [fields(message)[35] for message in run.orders.splitlines()]
    assert kinds == [b"D", b"F"]  # what rested is canceled, and nothing follows
    assert run.result["counters"]["gateway"]["own_cancels"] == 1


def test_prices_that_are_no_number_never_leave(replay, configured):
    run = replay(
        config=configured("""
import math
from venym.strategies.interface import BUY, limit, new_token

def decide(params, state, market, signal, orders, position, intents):
    if state.whole[0] < 10:
        state.whole[0] += 1
        limit(intents, new_token(state), BUY, 100, math.nan)
        limit(intents, new_token(state), BUY, math.inf, 10000)
""")
    )
    assert run.code == 0 and run.orders == b""
    assert run.result["refusals"] == {"bad_price": 10, "bad_shares": 10}


def test_a_thousand_orders_in_one_call_are_a_kill(replay, configured):
    run = replay(
        config=configured("""
from venym.strategies.interface import BUY, bid_e4, limit, new_token

def decide(params, state, market, signal, orders, position, intents):
    for _ in range(1000):
        limit(intents, new_token(state), BUY, 100, bid_e4(market))
""")
    )
    assert run.code == 3 and run.orders == b""
    assert "mine: it asked for more than 16 intents in one call" in run.outcome["reason"]


def test_an_order_for_an_unknown_instrument_is_refused(replay, configured):
    run = replay(
        config=configured("""
from venym.strategies.interface import BUY, bid_e4, limit, new_token

def decide(params, state, market, signal, orders, position, intents):
    if state.whole[0] == 0:
        state.whole[0] = 1
        limit(intents, new_token(state), BUY, 100, 1600000)
        intents.slots[0].instrument = 7
""")
    )
    assert run.code == 0 and run.orders == b""
    assert run.result["refusals"] == {"unknown_instrument": 1}


def test_a_model_of_another_feature_table_is_refused(replay, configured, tmp_path):
    model = json.loads((ROOT / "replay_data" / "aapl-demo.model.json").read_text())
    model["schema_hash"] = "0" * len(model["schema_hash"])
    (tmp_path / "other.model.json").write_text(json.dumps(model))
    (tmp_path / "aapl-demo.txt").write_bytes((ROOT / "replay_data" / "aapl-demo.txt").read_bytes())
    config = configured((EXAMPLES / "taker.py").read_text(), 'model = "other.model.json"\n')
    run = replay(config=config)
    assert run.code == 2 and "other.model.json" in run.err and not (run.directory / "orders.fix").exists()


def test_a_strategy_file_that_is_not_there_is_refused_by_name(replay, configured, tmp_path):
    config = configured(RAISES)
    (tmp_path / "mine.py").unlink()
    run = replay(config=config)
    assert run.code == 2 and "mine.py" in run.err


def test_without_strategies_there_is_nothing_to_replay(replay, tmp_path):
    (tmp_path / "empty.toml").write_text("")
    run = replay(config=tmp_path / "empty.toml")
    assert run.code == 2 and "strategies" in run.err


def test_files_that_do_not_say_their_day_want_a_date(replay, configured, tmp_path):
    day = tmp_path / "day.itch"
    cli.main(["generate", "--messages", "2000", "--symbols", "5", "--seed", "1", str(day)])
    config = configured((EXAMPLES / "quoter.py").read_text())
    refused = replay(files=[day], config=config)
    assert refused.code == 2 and "--date" in refused.err
    run = replay("--date", "2026-03-02", files=[day], config=config)
    assert run.code == 0 and run.result["date"] == "2026-03-02"
    assert any("AAPL does not occur" in note for note in run.result["notes"])


def test_a_capture_that_is_cut_is_replayed_as_far_as_it_goes(replay, tmp_path):
    octets = gzip.decompress(CAPTURE.read_bytes())
    cut = tmp_path / "cut-2019-01-30.pcap"
    cut.write_bytes(octets[: len(octets) // 2])
    run = replay(files=[cut])
    assert run.code == 1 and "ends inside" in run.err
    assert 3_000 < run.result["messages"] < 10_062 and run.orders


def test_the_speed_changes_no_order(replay):
    assert replay("--speed", "100").orders == replay().orders
    refused = replay("--speed", "fast")
    assert refused.code == 2 and "fast" in refused.err
