"""`venym decode`: what it prints, what it says on stderr, how it ends."""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import pytest

from tests.wire.itch50_samples import SAMPLES, framed, mold
from venym.control.decode import Printer, passed_over, run
from venym.control.settings import Settings
from venym.hot.layout import aligned
from venym.records import BLOCKS, MOLDUDP64, PACKET
from venym.transport.capture import CaptureError, Counters

TYPICAL = [octets for octets, _ in SAMPLES]
FIELDS = [fields for _, fields in SAMPLES]
DAY = framed(*TYPICAL)


class Decoded:
    """What one run printed: the objects on stdout, the lines on stderr, the exit code."""

    def __init__(self, capfd: pytest.CaptureFixture[str], paths: list[Path], limit: int | None = None) -> None:
        self.code = run(argparse.Namespace(files=paths, limit=limit), Settings())
        printed = capfd.readouterr()
        self.objects = [json.loads(line) for line in printed.out.splitlines()]
        self.said = printed.err.splitlines()


def write(folder: Path, name: str, octets: bytes) -> Path:
    path = folder / name
    path.write_bytes(octets)
    return path


def pcap(*payloads: bytes) -> bytes:
    """A capture of datagrams to 233.54.12.111:26477, in microseconds, little-endian."""
    octets = bytes.fromhex("d4c3b2a1 0200 0400 00000000 00000000 00000400 01000000")
    for payload in payloads:
        udp = bytes.fromhex("8ae9 676d") + (8 + len(payload)).to_bytes(2, "big") + b"\0\0" + payload
        ip = (
            b"\x45\0"
            + (20 + len(udp)).to_bytes(2, "big")
            + bytes.fromhex("0000 4000 1011 0000 cec87f8a e9360c6f")
            + udp
        )
        frame = bytes.fromhex("01005e360c6f 020000000001 0800") + ip
        octets += bytes(8) + 2 * len(frame).to_bytes(4, "little") + frame
    return octets


def test_every_message_of_a_day_file_is_a_line(tmp_path, capfd):
    decoded = Decoded(capfd, [write(tmp_path, "01302019.NASDAQ_ITCH50", DAY)])
    assert decoded.objects == FIELDS
    assert (decoded.said, decoded.code) == ([], 0)


def test_every_message_of_a_capture_is_a_line_in_the_order_of_the_packets(tmp_path, capfd):
    path = write(tmp_path, "a.pcap", pcap(mold(*TYPICAL[3:], sequence=4), mold(), mold(*TYPICAL[:3])))
    decoded = Decoded(capfd, [path])
    assert decoded.objects == FIELDS[3:] + FIELDS[:3]
    assert (decoded.said, decoded.code) == ([], 0)


def test_what_came_on_both_lines_is_shown_twice(tmp_path, capfd):
    path = write(tmp_path, "a.pcap", pcap(mold(TYPICAL[0]), mold(TYPICAL[0])))
    assert Decoded(capfd, [path]).objects == FIELDS[:1] * 2


def test_the_limit_counts_messages_over_all_files(tmp_path, capfd):
    paths = [write(tmp_path, "a", DAY), write(tmp_path, "b", DAY)]
    assert Decoded(capfd, paths, limit=2).objects == FIELDS[:2]
    assert Decoded(capfd, paths, limit=30).objects == (FIELDS + FIELDS)[:30]


def test_a_cut_file_gives_its_whole_messages_an_error_and_a_bad_exit_and_the_next_file_follows(tmp_path, capfd):
    paths = [write(tmp_path, "cut", DAY[:-5]), write(tmp_path, "whole", DAY)]
    decoded = Decoded(capfd, paths)
    assert decoded.objects == FIELDS[:-1] + FIELDS
    assert decoded.code == 1
    assert len(decoded.said) == 1
    assert str(paths[0]) in decoded.said[0]
    assert "ends inside a record" in decoded.said[0]


def test_the_limit_ends_before_an_error_that_lies_behind_it(tmp_path, capfd):
    decoded = Decoded(capfd, [write(tmp_path, "cut", DAY[:-5])], limit=22)
    assert decoded.objects == FIELDS[:-1]
    assert (decoded.said, decoded.code) == ([], 0)


def test_a_file_of_another_kind_is_refused_before_anything_is_printed(tmp_path, capfd):
    paths = [write(tmp_path, "good", DAY), write(tmp_path, "notes.txt", b"not market data\n" * 9)]
    with pytest.raises(CaptureError, match=r"notes\.txt"):
        Decoded(capfd, paths)
    assert capfd.readouterr() == ("", "")


def test_what_cannot_be_shown_is_counted_at_the_end(tmp_path, capfd):
    odd = (b"~" + bytes(16), b"~" + bytes(3), b"\xff", TYPICAL[10][:-1])
    decoded = Decoded(capfd, [write(tmp_path, "a.pcap", pcap(mold(*odd, TYPICAL[0]), mold(TYPICAL[0])[:-3], b"Mold"))])
    assert decoded.objects == FIELDS[:1]
    assert decoded.code == 0
    assert decoded.said == [
        "venym: skipped 1 message of type 'A' shorter than its 36 octets",
        "venym: skipped 2 messages of unknown type '~'",
        "venym: skipped 1 message of unknown type '\\xff'",
        "venym: 1 packet ended inside a message, which is not shown",
        "venym: skipped 1 packet too short for a MoldUDP64 header",
    ]


def test_data_without_a_single_message_is_bad_but_silence_is_not(tmp_path, capfd):
    decoded = Decoded(capfd, [write(tmp_path, "other.pcap", pcap(mold(b"~" + bytes(16))))])
    assert decoded.said == ["venym: skipped 1 message of unknown type '~'", "venym: no ITCH 5.0 message found"]
    assert (decoded.objects, decoded.code) == ([], 1)
    decoded = Decoded(capfd, [write(tmp_path, "idle.pcap", pcap(mold(), mold()))])
    assert (decoded.objects, decoded.said, decoded.code) == ([], [], 0)


def test_frames_that_are_no_market_data_are_counted():
    assert passed_over(Counters(frames=9, packets=9)) == []
    assert passed_over(Counters(not_ipv4=2, fragments=1)) == ["skipped 3 frames: 2 not IPv4, 1 fragments of datagrams"]
    assert passed_over(Counters(short=1)) == ["skipped 1 frame: 1 shorter than their headers"]


def test_new_types_and_codes_pass(shared, capfd):
    decoded = Decoded(capfd, [shared / "cases" / "vectors" / "01_new_types.itch"])
    assert "".join(fields["message_type"] for fields in decoded.objects) == "SRSJhORF"
    assert decoded.said == ["venym: skipped 1 message of unknown type '~'"]
    assert decoded.code == 0


def test_octets_behind_a_known_message_are_passed_over(shared, capfd):
    decoded = Decoded(capfd, [shared / "cases" / "vectors" / "03_longer_than_known.itch"])
    assert [fields["message_type"] for fields in decoded.objects][-2:] == ["A", "E"]
    assert (decoded.said, decoded.code) == ([], 0)


def test_output_larger_than_the_buffer_is_whole(tmp_path, capfd):
    decoded = Decoded(capfd, [write(tmp_path, "a", DAY * 500)])
    assert decoded.objects == FIELDS * 500


def lot(payload: bytes, framing: int) -> tuple[np.ndarray, np.ndarray]:
    packets = aligned(1, PACKET)
    packets[0].length, packets[0].framing = len(payload), framing
    return np.frombuffer(payload, np.uint8), packets


def test_a_reader_that_went_away_is_told_to_the_caller():
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        Printer(writing, 10).print(*lot(DAY, BLOCKS), 1)
    os.close(writing)


def test_counts_go_on_from_lot_to_lot(tmp_path):
    with (tmp_path / "out").open("w+b") as out:
        printer = Printer(out.fileno(), 3)
        printer.print(*lot(mold(TYPICAL[0], b"~"), MOLDUDP64), 1)
        printer.print(*lot(framed(b"~", TYPICAL[1]), BLOCKS), 1)
        assert (printer.lines, printer.is_full) == (2, False)
        printer.print(*lot(DAY, BLOCKS), 1)
        assert (printer.lines, printer.is_full) == (3, True)
        assert printer.odd() == ["skipped 2 messages of unknown type '~'"]
        out.seek(0)
        assert [json.loads(line) for line in out] == [FIELDS[0], FIELDS[1], FIELDS[0]]
