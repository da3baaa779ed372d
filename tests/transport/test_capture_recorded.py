"""Recorded captures and the vectors of failures seen in the field; tshark reads them beside us."""

import gzip
import subprocess
from pathlib import Path

import pytest

from tests.naive import captures as naive
from tests.transport.reading import read
from venym.transport.capture import CaptureRefused, Line

MULTICAST = Line("239.1.1.1", 26_400)


# Vectors


@pytest.mark.parametrize(
    ("name", "records", "end"),
    [
        ("01_new_types.itch", 9, "whole"),
        ("03_prefixed.itch", 3, "whole"),
        ("03_longer_than_known.itch", 4, "whole"),
        ("03_two_members.itch.gz", 4, "whole"),
        ("03_cut_last.itch", 3, "truncated"),
        ("03_cut.itch.gz", 3, "truncated"),
        ("04_hidden_nonprintable_cross.itch", 10, "whole"),
    ],
)
def test_day_vectors(shared: Path, name: str, records: int, end: str) -> None:
    path = shared / "cases/vectors" / name
    for read_bytes in (1, 2, 3, 13, 14, 37, None):
        result = read(path, read_bytes=read_bytes)
        assert (len(result.messages[name]), result.end) == (records, end)


def test_the_unframed_vector_is_refused(shared: Path) -> None:
    with pytest.raises(CaptureRefused, match="without their length prefixes"):
        read(shared / "cases/vectors/03_raw_unframed.itch")


@pytest.mark.parametrize(
    ("name", "times", "end"),
    [
        ("14_le_us.pcap", [150_304_000], "whole"),
        ("14_be_us.pcap", [150_304_000], "whole"),
        ("14_le_ns.pcap", [150_304_789], "whole"),
        ("14_be_ns.pcap", [150_304_789], "whole"),
        ("15_multi_idb.pcapng", [150_304_000, 150_305_000, 150_305_747, 150_307_000], "whole"),
        ("18_vlan.pcap", [150_304_000] * 3, "whole"),
        ("18_sll.pcap", [150_304_000], "whole"),
        ("18_sll2.pcap", [150_304_000], "whole"),
        ("19_cut_record.pcap", [150_304_000], "truncated"),
        ("19_cut_header.pcap", [150_304_000], "truncated"),
        ("19_bad_caplen.pcap", [150_304_000], "truncated"),
    ],
)
def test_capture_vectors(shared: Path, name: str, times: list[int], end: str) -> None:
    result = read(shared / "cases/vectors" / name)
    assert [found.time_ns - 1_546_524_000_000_000_000 for found in result.found] == times
    assert result.end == end
    assert result.lines == [MULTICAST]
    sequences = [int.from_bytes(found.payload[10:18], "big") for found in result.found]
    assert sequences == list(range(1, len(times) + 1))


def test_the_snapped_vector_is_marked(shared: Path) -> None:
    result = read(shared / "cases/vectors/19_snaplen.pcap")
    assert [(len(found.payload), found.snapped) for found in result.found] == [(54, True)] * 3


def test_hex_vectors(shared: Path) -> None:
    paths = sorted((shared / "cases/vectors").glob("*.mold.hex"))
    assert paths
    for path in paths:
        result = read(path)
        assert [found.payload.hex() for found in result.found] == path.read_text().split()
        assert (result.end, result.lines) == ("whole", [Line(path.name, 0)])


# Recorded data


@pytest.mark.parametrize(
    ("name", "records", "end"),
    [
        ("12302019.filtered_2_per_type", 12, "whole"),
        ("12302019.filtered_500", 500, "whole"),
        ("BBekele.sample.itch", 1000, "whole"),
        ("HuckZou.partialData", 16, "truncated"),
    ],
)
def test_slices_of_real_days(shared: Path, name: str, records: int, end: str) -> None:
    path = shared / "data/itch_slices" / name
    result = read(path)
    assert (len(result.messages[name]), result.end) == (records, end)
    assert result.messages[name] == naive.read_binaryfile(path.read_bytes()).messages


def test_files_of_other_kinds_are_refused(shared: Path) -> None:
    for name, words in [
        ("itch_slices/mold.sample.dat", "bare MoldUDP64 packets"),
        ("ritch/ex20101224.TEST_ITCH_50", "every length prefix zero"),
        ("databento/XNAS.ITCH.test_data.mbo.dbn.zst", "zstd"),
        ("README.md", "text"),
        ("manifest.json", "text"),
        ("quickfix_at/FIX44.xml", "text"),
    ]:
        with pytest.raises(CaptureRefused, match=words):
            read(shared / "data" / name)


def tshark_packets(tshark: str, path: Path, *options: str) -> list[tuple[int, str, int, bytes]]:
    """(time in ns, destination, port, payload) of every UDP packet that tshark finds in the file."""
    command = [tshark, "-n", "-r", str(path), *options, "-Y", "udp", "-T", "fields"]
    for name in ("frame.time_epoch", "ip.dst", "udp.dstport", "udp.payload"):
        command += ["-e", name]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout  # exit 2 for a cut file
    packets = []
    for line in output.splitlines():
        time, address, port, payload = line.split("\t")
        seconds, fraction = time.split(".")
        octets = bytes.fromhex(payload.replace(":", ""))
        packets.append((int(seconds) * 10**9 + int(fraction), address, int(port), octets))
    return packets


def our_packets(path: Path) -> list[tuple[int, str, int, bytes]]:
    return [found[:4] for found in read(path).found]


def test_tshark_reads_the_same_from_exchange_captures(shared: Path, tmp_path: Path, tshark: str) -> None:
    """MoldUDP64 of NASDAQ, BX and PSX, among them frames with zeros for addresses and ports; as one file, because
    tshark takes its time to start."""
    files = [path.read_bytes() for path in sorted((shared / "data/omi/Nasdaq").glob("*TotalView*/*.pcap"))]
    assert len(files) > 40
    assert {file[:4] + file[20:24] for file in files} == {bytes.fromhex("4d3cb2a1 01000000")}
    path = tmp_path / "all.pcap"
    path.write_bytes(files[0][:24] + b"".join(file[24:] for file in files))
    ours = our_packets(path)
    assert len(ours) > 150
    assert ours == tshark_packets(tshark, path)


def test_tshark_reads_the_same_from_the_synthetic_capture(shared: Path, tshark: str) -> None:
    path = shared / "oracle/alltypes_synthetic.pcap"
    assert our_packets(path) == tshark_packets(tshark, path) != []


@pytest.mark.parametrize(
    "name", ["14_be_ns.pcap", "15_multi_idb.pcapng", "18_vlan.pcap", "18_sll.pcap", "18_sll2.pcap"]
)
def test_tshark_reads_the_same_from_the_vectors(shared: Path, tshark: str, name: str) -> None:
    path = shared / "cases/vectors" / name
    assert our_packets(path) == tshark_packets(tshark, path) != []


@pytest.mark.parametrize(
    ("name", "packets", "end"), [("DEEP10.pcap.gz", 121_314, "truncated"), ("TOPS16.pcapng.gz", 13_022, "whole")]
)
def test_captures_of_another_protocol_are_read_whole(shared: Path, name: str, packets: int, end: str) -> None:
    path = shared / "data/iex" / name
    result = read(path)
    assert result.counters.packets == result.counters.frames == len(result.found) == packets
    assert result.end == end
    expected = naive.read_pcap(gzip.decompress(path.read_bytes()))
    assert (result.found, result.end) == (expected.found, expected.end)


@pytest.mark.parametrize("name", ["DEEP10.pcap.gz", "TOPS16.pcapng.gz"])
def test_tshark_reads_the_same_from_captures_of_another_protocol(shared: Path, tshark: str, name: str) -> None:
    path = shared / "data/iex" / name
    assert our_packets(path)[:15_000] == tshark_packets(tshark, path, "-c", "15000")


def test_converted_captures_hold_the_same(shared: Path, tmp_path: Path, tshark: str) -> None:
    """tshark writes what it read as pcapng and as pcap in nanoseconds."""
    path = next((shared / "data/omi/Nasdaq").glob("*/Multiple.Packets.pcap"))
    ours = our_packets(path)
    for kind in ("pcapng", "nsecpcap"):
        converted = tmp_path / kind
        subprocess.run([tshark, "-r", str(path), "-F", kind, "-w", str(converted)], check=True, capture_output=True)
        assert our_packets(converted) == ours
