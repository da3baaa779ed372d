"""What is no message costs nothing but itself: it is not acted on, no number moves, and the session carries on."""

import pytest

from tests.control.session_peers import REPORT, Bench
from tests.naive import fix as naive
from venym.control.session import DROPPED_OCTETS_MAX
from venym.control.session_stream import Stream
from venym.control.session_table import State
from venym.wire.fix import COMPLETE, MESSAGE_OCTETS_MAX

ALIVE = ["35=0 34=2 112=alive"]


def resized(message: bytes, length: bytes) -> bytes:
    """With another BodyLength."""
    version, _, rest = message.split(b"\x01", 2)
    return version + b"\x019=" + length + b"\x01" + rest


def garble(how: str, message: bytes) -> bytes:
    return {
        "short": resized(message, b"5"),
        "sum": message[:-4] + b"%03d\x01" % ((int(message[-4:-1]) + 1) % 256),
        "no sum": message[:-7],
        "huge": resized(message, b"1000000000"),
        "letters": resized(message, b"0K2") + resized(message, b"02A"),
        "negative": resized(message, b"-9"),
        "begin only": b"8=",
        "text": b"hello, this is no FIX\r\n",
    }[how]


HOWS = ["short", "sum", "no sum", "huge", "letters", "negative", "begin only", "text"]


@pytest.mark.parametrize("how", HOWS)
def test_a_report_that_is_garbled_is_dropped_and_what_follows_is_answered(how):
    bench = Bench().log_on()
    bad = garble(how, bench.message("8", 2, REPORT))
    assert bench.take(bad + bench.message("1", 2, {112: "alive"})) == ALIVE
    assert (bench.line.delivered, bench.line.next_in) == ([], 3)
    assert bench.session.counts["garbled"] > 0


@pytest.mark.parametrize("how", HOWS)
def test_however_it_is_cut(how):
    bench = Bench().log_on()
    octets = garble(how, bench.message("8", 2, REPORT)) + bench.message("1", 2, {112: "alive"})
    said = [one for i in range(len(octets)) for one in bench.take(octets[i : i + 1])]
    assert said == ALIVE


def test_what_is_lost_with_a_message_that_claims_the_next_one_is_asked_for():
    bench = Bench().log_on()
    cut = bench.message("8", 2, REPORT)[:60] + b"\x01"
    assert bench.take(cut + bench.message("8", 2, REPORT)) == []
    assert bench.line.next_in == 2
    assert bench.hear("8", 3, REPORT) == ["35=2 34=2 7=2 16=0"]


def test_junk_in_front_of_a_message_is_dropped_and_the_message_taken():
    bench = Bench().log_on()
    assert bench.take(b"junk" + bench.message("1", 2, {112: "alive"})) == ALIVE


@pytest.mark.parametrize(
    ("field", "told"),
    [
        (b"ab=1", "58=Invalid tag number 372=0 373=0"),
        (b"nothing", "58=Invalid tag number 372=0 373=0"),
        (b"=1", "58=Invalid tag number 372=0 373=0"),
        (b"-1=x", "58=Invalid tag number 371=-1 372=0 373=0"),
        (b"0=x", "58=Invalid tag number 371=0 372=0 373=0"),
        (b"112=", "58=Tag specified without a value 371=112 372=0 373=4"),
    ],
)
def test_a_whole_message_with_a_field_that_is_none_is_rejected(field, told):
    bench = Bench().log_on()
    head = [(35, b"0"), (34, b"2"), (49, b"INET"), (56, b"VENYM"), (52, naive.time(bench.now_ns))]
    assert bench.take(naive.message(naive.joined(head) + field + b"\x01")) == [f"35=3 34=2 45=2 {told}"]
    assert bench.hear("1", 3, {112: "alive"}) == ["35=0 34=3 112=alive"]


def test_a_beginning_in_a_text_is_text():
    bench = Bench(accepted=frozenset("8")).log_on()
    bench.hear("8", 2, REPORT | {58: "8=FIX.4.2"})
    assert bench.line.delivered[0].get(58) == "8=FIX.4.2"


@pytest.mark.parametrize("version", ["FIX.4.2", "FIX.4.4"])
def test_data_with_a_separator_in_it_is_whole_at_every_cut(version):
    values = {148: "x", 33: "1", 58: "y", 95: "5", 96: "ab\x01cd"}
    octets = Bench(version=version).message("B", 2, values)
    for cut in range(len(octets) + 1):
        bench = Bench(version=version, accepted=frozenset("B")).log_on()
        assert bench.take(octets[:cut]) + bench.take(octets[cut:]) == []
        assert [message.get(96) for message in bench.line.delivered] == ["ab\x01cd"]


@pytest.mark.parametrize("length", ["4", "6", "60", "8000", "x", "-5"])
def test_data_of_another_length_than_it_says_costs_that_message(length):
    bench = Bench(accepted=frozenset("B")).log_on()
    said = bench.hear("B", 2, {148: "x", 33: "1", 58: "y", 95: length, 96: "ab\x01cd"})
    assert [one.split()[0] for one in said] == ["35=3"]
    assert (bench.line.delivered, bench.line.next_in) == ([], 3)
    assert bench.hear("1", 3, {112: "alive"}) == ["35=0 34=3 112=alive"]


def test_data_does_not_run_over_the_end_of_its_message():
    bench = Bench(accepted=frozenset("B")).log_on()
    said = bench.hear("B", 2, {148: "x", 33: "1", 58: "y", 95: str(len(b"cd|10=123")), 96: "cd"})
    assert [message.get(96) for message in bench.line.delivered] + said == ["cd"]


def test_a_message_within_a_garbled_one_is_not_acted_on():
    bench = Bench(accepted=frozenset("8B")).log_on()
    inner = bench.message("8", 2, REPORT)
    values = {148: "x", 33: "1", 58: "y", 95: str(len(inner) + 2), 96: "\x01" + inner.decode() + "\x01"}
    bench.take(garble("sum", bench.message("B", 2, values)))
    assert (bench.line.delivered, bench.line.next_in) == ([], 2)


@pytest.mark.parametrize("begin", [b"", b"8=", b"8=FIX.4.2\x019=8000\x0135=8\x0158="])
def test_octets_without_end_end_the_connection(begin):
    bench = Bench().log_on()
    bench.take(begin)
    for _ in range(DROPPED_OCTETS_MAX // 1_000 + 10):
        bench.take(b"x" * 1_000)
    assert (bench.session.state, bench.session.reason) == (State.OFF, "flooded")
    assert bench.line.next_in == 2


def test_garbage_between_messages_does_not_add_up():
    bench = Bench().log_on()
    for number in range(2, 12):
        bench.take(b"x" * (DROPPED_OCTETS_MAX // 2) + bench.message("0", number))
    assert (bench.session.state, bench.line.next_in) == (State.ON, 12)


def test_garbage_instead_of_a_logon_ends_the_connection():
    bench = Bench()
    bench.connect()
    assert bench.take(garble("sum", bench.message("A", 1, {98: "0", 108: "30"}))) == []
    assert bench.session.is_off


def test_what_waits_is_shorter_than_the_longest_message_whatever_comes_at_once():
    stream, heartbeat = Stream(), Bench().message("0", 2)
    begun = b"8=FIX.4.2\x019=8192\x0135=B\x0158=" + b"z" * 1_000
    assert list(stream.feed(heartbeat * 2_000 + begun)) == [(COMPLETE, heartbeat)] * 2_000
    assert stream.waiting == len(begun)
    dropped = b"".join(one for status, one in stream.feed(b"z" * 100_000) if status != COMPLETE)
    assert len(dropped) + stream.waiting == len(begun) + 100_000
    assert stream.waiting < MESSAGE_OCTETS_MAX
    stream.clear()
    assert list(stream.feed(heartbeat)) == [(COMPLETE, heartbeat)]
