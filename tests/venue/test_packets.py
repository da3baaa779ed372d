"""Blocks packed into a capture: what comes out is what went in, in packets that the world accepts."""

from datetime import date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.packets import END_OF_SESSION, Packet, read_packets
from tests.stages.itch_messages import message
from venym.venue.packets import (
    MESSAGES_A_PACKET,
    PACKET_MAX,
    PAYLOAD_MAX,
    SPAN_NS,
    make_packer,
    new_york_midnight_ns,
    pack,
    pack_end,
)
from venym.wire.itch50 import MESSAGES
from venym.wire.pcap_write import FILE_HEADER

pytestmark = pytest.mark.plain

MIDNIGHT_NS = 1_548_824_400_000_000_000  # 30 January 2019, five hours behind Greenwich
STEPS_NS = st.lists(st.sampled_from([0, 0, 0, 700, 5_000, 20_000, 20_001, 3_000_000_000]), max_size=120)
KINDS = st.lists(st.sampled_from(sorted(MESSAGES)), min_size=120, max_size=120)


def packed(messages: list[bytes], room: int, pieces: int = 1) -> list[Packet]:
    """Through a packer with room for so many octets at a time, in so many calls."""
    state, template = make_packer("2019013001", MIDNIGHT_NS)
    octets, capture, waiting = np.zeros(room, np.uint8), FILE_HEADER, b""
    each = len(messages) // pieces + 1
    for piece in range(pieces):
        for held in messages[piece * each : (piece + 1) * each]:
            waiting += len(held).to_bytes(2, "big") + held
        while True:
            blocks = np.frombuffer(waiting, np.uint8).copy()
            pack(state, template, blocks, piece == pieces - 1, SPAN_NS, octets)
            if state[0].consumed == 0:
                break
            capture += octets[: state[0].written].tobytes()
            waiting = waiting[state[0].consumed :]
    assert waiting == b""
    pack_end(state, template, octets)
    return list(read_packets(capture + octets[: state[0].written].tobytes()))


def spaced(steps_ns: list[int], kinds: list[str]) -> list[bytes]:
    time_ns, messages = 34_200_000_000_000, []
    for step_ns, kind in zip(steps_ns, kinds, strict=False):
        time_ns += step_ns
        messages.append(message(kind, 7, time_ns))
    return messages


@settings(max_examples=40)
@given(STEPS_NS, KINDS, st.integers(PACKET_MAX, 4 * PACKET_MAX), st.integers(1, 6))
def test_messages_come_out_in_order_and_numbered(steps: list[int], kinds: list[str], room: int, pieces: int) -> None:
    messages = spaced(steps, kinds)
    *packets, end = packed(messages, room, pieces)
    assert [held for packet in packets for held in packet.messages] == messages
    sequence = 1
    for packet in packets:
        assert packet.session == "2019013001" and packet.destination == ("233.54.12.111", 26_477)
        assert packet.sequence == sequence and 1 <= packet.counted <= MESSAGES_A_PACKET
        assert packet.payload_octets <= PAYLOAD_MAX
        sequence += packet.counted
    assert (end.sequence, end.counted) == (sequence, END_OF_SESSION)


@settings(max_examples=40)
@given(STEPS_NS, KINDS, st.integers(1, 6))
def test_a_packet_holds_what_came_close_together_and_bears_the_last_time(
    steps: list[int], kinds: list[str], pieces: int
) -> None:
    *packets, _ = packed(spaced(steps, kinds), PACKET_MAX, pieces)
    for packet in packets:
        assert times_of(packet)[-1] - times_of(packet)[0] <= SPAN_NS
        assert packet.received_ns == MIDNIGHT_NS + times_of(packet)[-1]
    for packet, after in pairwise(packets):
        is_late = times_of(after)[0] - times_of(packet)[0] > SPAN_NS
        is_full = packet.payload_octets + 2 + len(after.messages[0]) > PAYLOAD_MAX
        assert is_late or is_full or packet.counted == MESSAGES_A_PACKET


def times_of(packet: Packet) -> list[int]:
    return [int.from_bytes(held[5:11], "big") for held in packet.messages]


def test_a_checksum_that_comes_to_zero_is_sent_as_ones() -> None:
    """Zero would say that there is none."""
    plain = checksum_of(message("D", 7, order_reference_number=0))
    assert 0 < plain < 0xFFFF
    assert checksum_of(message("D", 7, order_reference_number=plain << 8)) == 0xFFFF  # the same sum plus `plain`


def checksum_of(held: bytes) -> int:
    """The UDP checksum of a packet with this message alone."""
    state, template = make_packer("2019013001", MIDNIGHT_NS)
    octets = np.zeros(PACKET_MAX, np.uint8)
    pack(state, template, np.frombuffer(len(held).to_bytes(2, "big") + held, np.uint8).copy(), True, SPAN_NS, octets)
    assert len(list(read_packets(FILE_HEADER + octets[: state[0].written].tobytes()))) == 1
    return int.from_bytes(octets[16 + 14 + 20 + 6 :][:2].tobytes(), "big")


def test_a_session_has_ten_characters() -> None:
    with pytest.raises(ValueError, match="'short' is no MoldUDP64 session"):
        make_packer("short", 0)


def test_midnight_in_new_york_is_the_time_zone_databases() -> None:
    new_york, day = ZoneInfo("America/New_York"), date(2007, 1, 1)
    while day < date(2030, 1, 1):
        expected = datetime(day.year, day.month, day.day, tzinfo=new_york).timestamp()
        assert new_york_midnight_ns(day) == int(expected) * 1_000_000_000, day
        day += timedelta(days=1)
    assert new_york_midnight_ns(date(2019, 1, 30)) == MIDNIGHT_NS
