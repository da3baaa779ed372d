"""Messages become lines of JSON: every field in order, whatever the octets."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import itch50 as naive
from tests.wire.itch50_golden import by_lua, payloads, real_captures
from tests.wire.itch50_samples import SAMPLES, framed, mold
from venym.hot.layout import aligned
from venym.records import BLOCKS, MOLDUDP64, PACKET
from venym.wire.blocks import TRUNCATED, make_walk, start_walk
from venym.wire.itch50 import MESSAGES
from venym.wire.itch50_json import LINE_MAX, LINE_OCTETS_MAX, WORD_BYTES, write_json, write_packets

TYPICAL = [octets for octets, _ in SAMPLES]
GUARDED = Guarded(8_192)


def line_of(message: bytes) -> bytes:
    out = np.zeros(LINE_OCTETS_MAX, np.uint8)
    return out[: write_json(GUARDED.put(message), 0, len(message), out, 0)].tobytes()


def lay_out(*payloads: tuple[int, bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Frame memory that ends at forbidden memory, and its packets, as (framing, payload)."""
    packets = aligned(max(1, len(payloads)), PACKET)
    frames = GUARDED.put(b"".join(payload for _, payload in payloads))
    at = 0
    for packet, (framing, payload) in zip(packets, payloads, strict=False):
        packet.offset, packet.length, packet.framing = at, len(payload), framing
        at += len(payload)
    return frames, packets


def write_all(
    *payloads: tuple[int, bytes], room: int = 1 << 16, limit: int = 10**9
) -> tuple[bytes, dict[int, int], np.ndarray]:
    frames, packets = lay_out(*payloads)
    walk, skipped, out = make_walk(), np.zeros(256, np.int64), np.zeros(room, np.uint8)
    start_walk(walk)
    written, ended = b"", False
    while not ended and limit > 0:
        used, lines, ended = write_packets(frames, packets, len(payloads), walk, skipped, out, limit)
        assert out[:used].tobytes().count(b"\n") == lines
        written, limit = written + out[:used].tobytes(), limit - lines
    return written, {int(code): int(skipped[code]) for code in np.flatnonzero(skipped)}, walk


def fields_of(line: bytes) -> list[tuple[str, object]]:
    return json.loads(line, object_pairs_hook=list)


@pytest.mark.parametrize(("message", "fields"), SAMPLES, ids=list(MESSAGES))
def test_a_line_has_every_field_in_order(message, fields):
    line = line_of(message)
    assert fields_of(line) == list(fields.items())
    assert line == json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def test_numbers_are_unsigned_at_every_width():
    for value in [0, 9, 10, 99, 100, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1] + [10**n for n in range(20)]:
        for shifted in (value, max(0, value - 1)):
            message = b"B" + bytes(10) + shifted.to_bytes(8, "big")
            assert json.loads(line_of(message))["match_number"] == shifted
    message = b"V" + b"\xff" * 34
    assert fields_of(line_of(message))[1:4] == [
        ("stock_locate", 65_535),
        ("tracking_number", 65_535),
        ("timestamp", 2**48 - 1),
    ]


@pytest.mark.parametrize("octet", range(256))
def test_any_octet_may_stand_in_a_name(octet):
    message = b"N" + bytes(10) + b"A" + bytes([octet]) + b" B" + bytes([octet]) + b"   " + bytes([octet])
    line = line_of(message)
    fields = json.loads(line)
    assert line.isascii()
    assert fields["stock"] == ("A" + chr(octet) + " B" + chr(octet)).rstrip(" ")
    assert fields["interest_flag"] == chr(octet).strip(" ")
    assert line == naive.as_line(naive.decode(message))


def test_the_longest_line_of_each_type_fits_its_bound_exactly():
    for kind, message in MESSAGES.items():
        longest = kind.encode() + b"\xff" * (message.length - 1)
        escaped_kind = 5  # octets that the bound allows for escaping the type itself, which never is
        size = LINE_MAX[ord(kind)]
        assert len(line_of(longest)) + escaped_kind + WORD_BYTES == size
        with pytest.raises(ValueError, match="no room"):
            write_json(GUARDED.put(longest), 0, len(longest), np.zeros(size - 1, np.uint8), 0)
        room = GUARDED_OUT.put(bytes(int(size)))
        assert write_json(GUARDED.put(longest), 0, len(longest), room, 0) == size - escaped_kind - WORD_BYTES


GUARDED_OUT = Guarded(8_192)


def test_lines_come_packet_by_packet_whatever_the_output_holds():
    lots = ((MOLDUDP64, mold(*TYPICAL[:5])), (BLOCKS, framed(*TYPICAL[5:])), (MOLDUDP64, mold(*TYPICAL[:1])))
    expected = b"".join(naive.as_line(fields) for _, fields in SAMPLES) + naive.as_line(SAMPLES[0][1])
    for room in (LINE_OCTETS_MAX, LINE_OCTETS_MAX + 100, 1 << 16):
        written, skipped, walk = write_all(*lots, room=room)
        assert written == expected
        assert (skipped, walk[TRUNCATED]) == ({}, 0)


def test_lines_stop_at_the_limit():
    lots = ((BLOCKS, framed(*TYPICAL)), (BLOCKS, framed(*TYPICAL)))
    for limit in (1, 23, 24, 46):
        assert write_all(*lots, limit=limit)[0].count(b"\n") == limit
    assert write_all(*lots, limit=47)[0].count(b"\n") == 46


def test_unknown_and_short_messages_are_counted_and_the_rest_written():
    written, skipped, _ = write_all(
        (BLOCKS, framed(b"~" + bytes(16), TYPICAL[0], b"", b"A", TYPICAL[10] + b"new", TYPICAL[10][:-1]))
    )
    assert [json.loads(line)["message_type"] for line in written.splitlines()] == ["S", "A"]
    assert skipped == {ord("~"): 1, ord("A"): 2}


def test_real_messages_have_the_fields_that_others_found(shared):
    total = 0
    for datagrams, expected in real_captures(shared):
        written, skipped, walk = write_all(*((MOLDUDP64, datagram) for datagram in datagrams))
        assert [fields_of(line) for line in written.splitlines()] == [list(fields.items()) for fields in expected]
        assert (skipped, walk[TRUNCATED]) == ({}, 0)
        total += len(expected)
    assert total == 227


def test_tshark_finds_the_same_in_real_messages(shared):
    lines = [line for d, _ in real_captures(shared) for line in write_all(*((MOLDUDP64, p) for p in d))[0].splitlines()]
    expected = by_lua(shared / "oracle" / "omi_nasdaq_itch_tshark_lua.ndjson")
    assert [json.loads(line) for line in lines] == expected


def test_made_messages_of_all_types_have_the_fields_that_tshark_found(shared):
    expected = by_lua(shared / "oracle" / "alltypes_synthetic_tshark_lua.ndjson")
    lines = []
    for datagram in payloads(shared / "oracle" / "alltypes_synthetic.pcap"):
        lines += write_all((MOLDUDP64, datagram))[0].splitlines()
    assert [fields_of(line) for line in lines] == [list(fields.items()) for fields in expected]
    assert len(lines) == 460


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_packets_are_written_as_the_naive_twin_says_and_nothing_beyond_is_read(data):
    lots = []
    for _ in range(data.draw(st.integers(0, 3))):
        framing = data.draw(st.sampled_from((MOLDUDP64, BLOCKS)))
        messages = data.draw(st.lists(st.sampled_from(TYPICAL), max_size=6))
        payload = bytearray(mold(*messages) if framing == MOLDUDP64 else framed(*messages))
        for at, octet in data.draw(st.lists(st.tuples(st.integers(0, 300), st.integers(0, 255)), max_size=4)):
            if at < len(payload):
                payload[at] = octet
        lots.append((framing, bytes(payload[: len(payload) - data.draw(st.integers(0, 60))])))
    written, skipped, walk = write_all(*lots, room=data.draw(st.sampled_from((LINE_OCTETS_MAX, 1 << 14))))
    walked = naive.Walked(lots)
    assert written == b"".join(naive.as_line(fields) for fields in walked.decoded())
    assert skipped == walked.skipped()
    assert walk[TRUNCATED] == walked.truncated
