"""The venue on the wire: what it writes others read, and nothing that comes makes it touch what is not its own."""

import random
import struct
import subprocess

import numpy as np
import pytest
import simplefix
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import fix as naive
from tests.naive.market_feed import Packet, due
from tests.naive.venue import Setting
from tests.stages import itch_messages as itch
from tests.venue.venue_drive import MIDNIGHT_NS, Gateway, Venue, brief, datagram, day, listed, play
from tests.venue.venue_flow import MarketFlow, orders, setting
from tests.wire import build
from venym.hot.layout import aligned
from venym.records import NEVER_NS, WIRE_OCTETS_MAX
from venym.venue import memory
from venym.venue.displayed import VenueFull
from venym.wire import fix, fix_parse

pytestmark = pytest.mark.plain

SETTING = Setting(listed("TEST"), midnight_ns=MIDNIGHT_NS)
BASE = [itch.directory(), itch.trading_action("T"), itch.add(1, "S", 100, 100_100)]
OPEN = itch.START_NS
GUARDED = Guarded(1 << 12)


def reported(count: int) -> list[bytes]:
    """Reports of all kinds and both versions."""
    found: list[bytes] = []
    for seed in range(count):
        chance = random.Random(seed)
        made, market = setting(chance), MarketFlow(chance)
        packets = market.packets(100)
        found += [octets for _, octets in play(Venue(made), packets, orders(chance, made, 60, market.time_ns))]
    return found


@pytest.fixture(scope="module")
def reports() -> list[bytes]:
    found = reported(12)
    kinds = {brief((0, one), 35, 150) for one in found}
    assert kinds >= {f"35=8|150={letter}" for letter in "01245 8F".replace(" ", "")} | {"35=3", "35=5", "35=9", "35=j"}
    return found


def test_every_report_has_the_length_and_the_sum_it_says_and_simplefix_reads_the_same(reports):
    for octets in reports:
        begin, length, rest = octets.split(b"\x01", 2)
        body = rest[:-7]
        assert begin.startswith(b"8=FIX.4.")
        assert int(length[2:]) == len(body)
        assert rest[-7:] == b"10=%03d\x01" % (sum(octets[:-7]) % 256)
        parser = simplefix.FixParser()
        parser.append_buffer(octets)
        assert [(int(tag), value) for tag, value in parser.get_message().pairs] == naive.fields(octets)
        assert fix.frame(np.frombuffer(octets, np.uint8), 0, len(octets)) == (fix.COMPLETE, 0, len(octets))


def test_the_gateways_parser_takes_every_execution_report_and_cancel_reject(reports):
    execution = aligned(1, fix_parse.EXECUTION)[0]
    counted = 0
    for octets in reports:
        found = dict(naive.fields(octets))
        status = fix_parse.parse_execution_report(np.frombuffer(octets, np.uint8), 0, len(octets), execution)
        if found[35] not in (b"8", b"9"):
            assert status == fix_parse.WRONG_TYPE
            continue
        assert status == fix_parse.OK, (octets, int(execution.error_tag))
        counted += 1
        assert execution.marks == 0  # no price was cut
        assert int(execution.sequence) == int(found[34])
        if found[35] == b"8":
            wanted = int(found[14]), int(found[151]), round(float(found[6]) * 10_000)
            assert (execution.cum_shares, execution.leaves_shares, execution.avg_price_e4) == wanted
            assert execution.present & fix_parse.HAS_EXEC_TRANS_TYPE or found[8] == b"FIX.4.4"
            if found[55] in (b"TEST", b"TWO"):
                assert int(execution.symbol).to_bytes(8, "big").strip() == found[55]
    assert counted > 300


def test_numbers_and_exec_ids_go_up_by_one_from_report_to_report():
    gateway = Gateway(SETTING)
    sent = [(OPEN + k, gateway.new(f"C{k}", "1", 30, "10.0100")) for k in range(20)]
    found = [dict(naive.fields(octets)) for _, octets in play(Venue(SETTING), [day(*BASE)], sent)]
    assert [int(one[34]) for one in found] == list(range(1, len(found) + 1))
    assert [int(one[17]) for one in found] == list(range(1, len(found) + 1))


def test_tshark_finds_every_field_and_the_right_sums(tshark, tmp_path, reports):
    path, at, frames = tmp_path / "fix.pcap", 1, []
    for octets in reports[:400]:
        tcp = struct.pack(">HHIIBBHHH", 9_878, 40_000, at, 1, 0x50, 0x18, 65_535, 0, 0) + octets
        frames.append(build.ethernet(build.ipv4(tcp, to="10.0.0.2", protocol=6)))
        at += len(octets)
    path.write_bytes(build.pcap(frames))
    tags = {"BodyLength": 9, "MsgSeqNum": 34, "MsgType": 35, "SendingTime": 52, "OrdStatus": 39, "ExecType": 150,
            "LastPx": 31, "CumQty": 14, "ClOrdID": 11}  # fmt: skip
    names = [*tags, "checksum_good", "checksum_bad"]
    wanted = [argument for name in names for argument in ("-e", f"fix.{name}")]
    command = [tshark, "-r", str(path), "-d", "tcp.port==9878,fix", "-T", "fields", *wanted, "-e", "_ws.malformed"]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == len(frames)
    for line, octets in zip(lines, reports, strict=False):
        found = dict(naive.fields(octets))
        assert line.split("\t") == [*(found.get(tag, b"").decode() for tag in tags.values()), "1", "0", ""]


# What comes in pieces, garbled, or not at all as it should.


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_a_stream_cut_anywhere_is_the_same_stream(seed):
    chance = random.Random(seed)
    gateway = Gateway(SETTING)
    stream = b"".join(gateway.new(f"C{k}", "1", 30, "10.0100") for k in range(12))
    pieces = []
    while stream:
        size = chance.choice([1, 7, 100, 300, WIRE_OCTETS_MAX])
        pieces, stream = [*pieces, stream[:size]], stream[size:]
    found = play(Venue(SETTING), [day(*BASE)], [(OPEN + 1, piece) for piece in pieces])
    whole = Gateway(SETTING)
    sent = [(OPEN + 1, whole.new(f"C{k}", "1", 30, "10.0100")) for k in range(12)]
    assert found == play(Venue(SETTING), [day(*BASE)], sent)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_of_a_garbled_stream_every_whole_message_is_taken(seed):
    chance = random.Random(seed)
    gateway = Gateway(SETTING)
    stream = bytearray(b"".join(gateway.new(f"C{k}", "1", 30, "10.0100", t58="8=FIX.4.2") for k in range(12)))
    for _ in range(chance.randrange(8)):
        at = chance.randrange(len(stream))
        what = chance.randrange(4)
        if what == 0:
            stream[at] = chance.randrange(256)
        elif what == 1:
            del stream[at : at + chance.randrange(200)]
        elif what == 2:
            stream[at:at] = chance.choice([b"8=FIX.4.2\x019=999999999\x01", b"\x0110=000\x01", b"8=", bytes(300)])
        else:
            stream += stream[at : at + 50]
    stream += gateway.message("0", {}) + b"8=FIX.4.2\x019=8000\x0135=" + b"x" * 9_000 + b"\x01"
    octets = bytes(stream)
    pieces = [octets[k : k + 900] for k in range(0, len(octets), 900)]
    venue = Venue(SETTING)
    play(venue, [day(*BASE)], [(OPEN + 1, piece) for piece in pieces])
    # Behind what is garbled a message may be found that is none of the stream's: where a read ends, a look begins.
    assert len(naive.framed(octets)) <= venue.counters.get("requests", 0) <= octets.count(b"8=FIX.4.2\x019=")


NOISE = [
    b"\x00" * 4_000,
    b"8=FIX" * 4_000,
    b"8=FIX.4.2\x019=1000000000\x01" * 1_000,
    b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x01" * 400,
    bytes(range(256)) * 40,
]


@pytest.mark.parametrize("noise", NOISE)
def test_what_is_no_message_is_counted_dropped_and_takes_no_room(noise):
    gateway = Gateway(SETTING)
    good = gateway.new("C1", "1", 10, "10.0000")
    octets = noise + b"\x01" + good
    pieces = [octets[k : k + WIRE_OCTETS_MAX] for k in range(0, len(octets), WIRE_OCTETS_MAX)]
    venue = Venue(SETTING)
    found = play(venue, [day(*BASE)], [(OPEN + 1, piece) for piece in pieces])
    assert [brief(one, 11, 39) for one in found][-1] == "11=C1|39=0"
    assert venue.counters.get("garbled", 0) + venue.counters.get("wrong_checksums", 0) > 0


PACKETS = [
    datagram("S1", 1, [*BASE, itch.execute(1, 5), itch.replace(1, 2, 5, 100_000), itch.delete(2)]).octets,
    datagram("S1", 1, MarketFlow(random.Random(1)).messages(20)).octets,
    day(*MarketFlow(random.Random(2)).messages(20)).octets,
]


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(PACKETS), st.data())
def test_no_octet_is_read_past_the_end_of_a_packet_whatever_it_says(packet, data):
    octets = bytearray(packet)
    for _ in range(data.draw(st.integers(0, 6))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    octets = octets[: data.draw(st.integers(0, len(octets)))]
    made = Packet(bytes(octets), 0, packet is not PACKETS[2])
    venue = Venue(SETTING, frames=GUARDED.put(made.octets))
    venue.mark(NEVER_NS)
    venue.offer_at(0, len(octets), made)
    venue.go()
    messages = sum(message is not None for _, _, message in due([made]))
    counters = venue.counters
    empty = counters.get("messages", 0) - counters.get("old_messages", 0) - messages
    assert 0 <= empty <= len(octets) // 2


@pytest.mark.parametrize(
    ("offset", "length", "line"), [(-1, 10, 0), (0, -1, 0), (1, 1 << 16, 0), (0, 20, -1), (0, 20, 1 << 20)]
)
def test_a_packet_record_that_points_elsewhere_is_refused(offset, length, line):
    venue = Venue(SETTING)
    venue.mark(NEVER_NS)
    venue.offer_at(offset, length, Packet(b"", line))
    with pytest.raises(IndexError, match="packet"):
        venue.go()


@pytest.mark.parametrize("length", [-1, WIRE_OCTETS_MAX + 1])
def test_a_wire_message_longer_than_its_record_is_refused(length):
    venue = Venue(SETTING)
    venue.order(OPEN, b"")
    venue.orders.slots[0].length = length
    venue.mark(NEVER_NS)
    venue.end_of_packets()
    with pytest.raises(IndexError, match="longer"):
        venue.go()


@pytest.mark.parametrize(
    ("table", "messages"),
    [
        ("displayed_max", [itch.add(k, "B", 1, 100) for k in range(1, 20)]),
        ("levels_max", [itch.add(k, "B", 1, k) for k in range(1, 20)]),
        ("side_levels_max", [itch.add(k, "B", 1, k) for k in range(1, 20)]),
    ],
)
def test_a_book_that_outgrows_its_tables_says_which(table, messages):
    venue = Venue(SETTING, memory.Limits()._replace(**{table: 10}))
    with pytest.raises(VenueFull, match=f"venue.{table}"):
        play(venue, [day(*BASE[:2], *messages)], [])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"symbols": []}, "no symbol"),
        ({"symbols": listed("TEST", "TEST")}, "twice"),
        ({"symbols": listed("TOOLONGNAME")}, "one to eight"),
        ({"symbols": listed("TEST", tick_e4=0)}, "tick"),
        ({"version": "FIX.5.0"}, "FIX.5.0"),
        ({"sender": ""}, "CompID"),
        ({"target": "A\x01B"}, "CompID"),
        ({"decimals": 4}, "decimals"),
        ({"order_latency_ns": -1}, "latencies"),
    ],
)
def test_what_cannot_be_a_venue_is_refused_by_name(change, message):
    with pytest.raises(memory.VenueError, match=message):
        Venue(Setting(**{**vars(SETTING), **change}))
