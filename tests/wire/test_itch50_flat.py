"""Messages become rows: every field of every type in its column, whatever the octets."""

from typing import Any

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
from venym.wire.itch50 import ALPHA, HEADER, LENGTHS, MESSAGES
from venym.wire.itch50_flat import (
    COLUMN_OF,
    MESSAGE,
    MESSAGE_NAMED,
    decode,
    decode_blocks,
    decode_packets,
    named,
)

TYPICAL = [octets for octets, _ in SAMPLES]


def expected_row(message: bytes, fields: naive.Fields) -> dict[str, Any]:
    """Every column of a message's row, as `named` shows it: its own fields, unstripped, and empty ones."""
    row: dict[str, Any] = {name: b"" if MESSAGE_NAMED[name].kind == "S" else 0 for name in MESSAGE_NAMED.names or ()}
    for field in HEADER + MESSAGES[fields["message_type"]].fields:
        value = message[field.offset : field.offset + field.width] if field.kind == ALPHA else fields[field.name]
        row[COLUMN_OF.get(field.name, field.name)] = value.rstrip(b"\0") if field.kind == ALPHA else value
    return row


def rows_of(messages: np.ndarray) -> list[dict[str, object]]:
    return [dict(zip(MESSAGE_NAMED.names or (), row, strict=True)) for row in named(messages).tolist()]


def dirty(count: int) -> np.ndarray:
    """Rows full of what stood there before."""
    messages = aligned(count, MESSAGE)
    messages.view(np.uint8)[:] = 0xA5
    return messages


def decode_all(octets: np.ndarray, room: int) -> tuple[np.ndarray, np.ndarray, int]:
    messages, skipped = dirty(room), np.zeros(256, np.int64)
    count, at = decode_blocks(octets, 0, octets.size, messages, skipped)
    return messages[:count], skipped, at


def as_octets(octets: bytes) -> np.ndarray:
    return np.frombuffer(octets, np.uint8)


@pytest.mark.parametrize(("message", "fields"), SAMPLES, ids=list(MESSAGES))
def test_every_field_of_every_type_lands_in_its_column(message, fields):
    messages = dirty(1)
    assert decode(as_octets(message), 0, len(message), messages, 0)
    assert rows_of(messages) == [expected_row(message, fields)]


def test_every_field_has_a_column_and_no_two_fields_of_a_type_share_one():
    used = set()
    for message in MESSAGES.values():
        columns = [COLUMN_OF.get(field.name, field.name) for field in HEADER + message.fields]
        assert len(set(columns)) == len(columns)
        used.update(columns)
    assert used == set(MESSAGE_NAMED.names)


def test_columns_read_like_a_table():
    octets = as_octets(framed(*TYPICAL))
    rows = named(decode_all(octets, 100)[0])
    assert rows.price[(rows.message_type == b"A") & (rows.stock == b"TEST    ")].tolist() == [100_000]
    assert rows.order_reference_number[rows.message_type == b"D"].tolist() == [2**63]
    assert set(rows.stock_locate.tolist()) == {7}


def test_compiled_code_sees_large_references_as_their_bit_pattern():
    octets = as_octets(framed(*TYPICAL))
    messages = decode_all(octets, 100)[0]
    assert messages.order_reference_number[messages.message_type == ord("F")].tolist() == [-1]


def test_blocks_are_decoded_until_the_rows_are_full_and_then_go_on():
    octets, at, kinds = as_octets(framed(*TYPICAL)), 0, b""
    messages, skipped = dirty(4), np.zeros(256, np.int64)
    count = 4
    while count == 4:
        count, at = decode_blocks(octets, at, octets.size, messages, skipped)
        kinds += named(messages[:count]).message_type.tobytes()
    assert kinds.decode() == "".join(MESSAGES)
    assert at == octets.size


@pytest.mark.parametrize("room", [1, 4, 23, 46, 47, 100])
def test_packets_are_decoded_lot_by_lot_like_blocks(room):
    payloads = (mold(*TYPICAL[:5], b"~"), framed(*TYPICAL[5:], b"D"), mold(*TYPICAL)[:-1])
    packets, frames = aligned(3, PACKET), as_octets(b"".join(payloads))
    packets.length[:] = [len(payload) for payload in payloads]
    packets.offset[1:] = np.cumsum(packets.length)[:-1]
    packets.framing[:] = (MOLDUDP64, BLOCKS, MOLDUDP64)
    walk, messages, skipped = make_walk(), dirty(room), np.zeros(256, np.int64)
    start_walk(walk)
    found, ended = [], False
    while not ended:
        count, ended = decode_packets(frames, packets, 3, walk, messages, skipped)
        found += rows_of(messages[:count])
    assert found == [expected_row(*sample) for sample in SAMPLES + SAMPLES[:-1]]
    assert {chr(code): skipped[code] for code in np.flatnonzero(skipped)} == {"~": 1, "D": 1}
    assert walk[TRUNCATED] == 1


def test_a_cut_block_stays_for_the_next_call():
    whole = framed(TYPICAL[0], TYPICAL[1])
    for size in range(len(whole)):
        messages, skipped, at = decode_all(as_octets(whole[:size]), 9)
        assert (len(messages), at) == ((1, 14) if size >= 14 else (0, 0))
        assert not skipped.any()


def test_unknown_types_are_counted_and_new_codes_pass(shared):
    octets = np.fromfile(shared / "cases" / "vectors" / "01_new_types.itch", np.uint8)
    messages, skipped, at = decode_all(octets, 100)
    rows = named(messages)
    assert rows.message_type.tobytes() == b"SRSJhORF"
    assert {chr(code): skipped[code] for code in np.flatnonzero(skipped)} == {"~": 1}
    assert (rows.stock[6], rows.market_category[6], rows.issue_sub_type[6]) == (b"NEWCAT  ", b"V", b"RT")
    assert (rows.order_reference_number[7], rows.shares[7], rows.price[7]) == (2**64 - 1, 100, 100_000)
    assert at == octets.size


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_may_be_longer_than_its_type_but_not_shorter(kind):
    message = TYPICAL[list(MESSAGES).index(kind)]
    long = decode_all(as_octets(framed(message + b"new", message)), 9)[0]
    assert rows_of(long) == rows_of(decode_all(as_octets(framed(message, message)), 9)[0])
    messages, skipped, _ = decode_all(as_octets(framed(message[:-1], b"", message)), 9)
    assert len(messages) == 1
    assert skipped[ord(kind)] == skipped.sum() == 1


def test_what_is_not_decoded_leaves_its_row_alone():
    messages = dirty(1)
    before = messages.tobytes()
    for message in (b"~" + bytes(60), TYPICAL[10][:-1], b""):
        assert not decode(as_octets(message), 0, len(message), messages, 0)
    assert messages.tobytes() == before


def test_real_messages_have_the_fields_that_others_found(shared):
    total = 0
    for datagrams, expected in real_captures(shared):
        found = []
        for datagram in datagrams:
            messages, skipped, at = decode_all(as_octets(datagram[20:]), 100)
            assert at == len(datagram) - 20
            assert not skipped.any()
            found += rows_of(messages)
        raw = [message for datagram in datagrams for message in naive.blocks(datagram[20:])[0]]
        assert found == [expected_row(*pair) for pair in zip(raw, expected, strict=True)]
        total += len(found)
    assert total == 227


def test_made_messages_of_all_types_have_the_fields_that_tshark_found(shared):
    raw = [m for d in payloads(shared / "oracle" / "alltypes_synthetic.pcap") for m in naive.blocks(d[20:])[0]]
    expected = by_lua(shared / "oracle" / "alltypes_synthetic_tshark_lua.ndjson")
    messages, skipped, _ = decode_all(as_octets(framed(*raw)), 1_000)
    assert {fields["message_type"] for fields in expected} == set(MESSAGES)
    assert rows_of(messages) == [expected_row(*pair) for pair in zip(raw, expected, strict=True)]
    assert len(messages) == 460
    assert not skipped.any()


GUARDED = Guarded(4_096)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_mutated_blocks_decode_as_the_naive_twin_says_and_nothing_beyond_is_read(data):
    octets = bytearray(framed(*data.draw(st.lists(st.sampled_from(TYPICAL), max_size=8))))
    for at, octet in data.draw(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 255)), max_size=4)):
        if at < len(octets):
            octets[at] = octet
    octets = octets[: len(octets) - data.draw(st.integers(0, 60))]
    raw, rest = naive.blocks(bytes(octets))
    messages, skipped, at = decode_all(GUARDED.put(bytes(octets)), 400)
    expected = [(message, naive.decode(message)) for message in raw]
    assert rows_of(messages) == [expected_row(message, fields) for message, fields in expected if fields]
    assert skipped.sum() == sum(1 for message, fields in expected if message and not fields)
    assert at == len(octets) - len(rest)


@settings(max_examples=200, deadline=None)
@given(code=st.integers(0, 255), length=st.integers(0, 60), fill=st.integers(0, 255))
def test_a_message_flush_against_forbidden_memory_is_read_no_further(code, length, fill):
    message = (bytes([code]) + bytes([fill]) * 59)[:length]
    messages = dirty(1)
    known = length > 0 and 0 < LENGTHS[code] <= length
    assert decode(GUARDED.put(message), 0, length, messages, 0) == known
