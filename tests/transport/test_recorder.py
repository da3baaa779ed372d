"""What was received is in the capture, each packet once, whole and in order."""

import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.naive.packets import Datagram, read_datagrams
from tests.transport.udp_toys import free_port, opened, sender
from venym.hot.duty_cycle import IDLE_LAPS, make_control, stop
from venym.hot.layout import aligned
from venym.hot.link import HEAD, Link, commit, is_empty, make_link, room
from venym.records import PACKET
from venym.transport.lines import Line
from venym.transport.recorder import WRITTEN, make_recorder, pack, take
from venym.wire.pcap_write import FILE_HEADER, PAYLOAD_AT, SOURCE

pytestmark = pytest.mark.plain

LINES = [Line("239.1.1.1", 26_400), None, Line("239.1.1.2", 26_401, "", "192.0.2.9"), Line("10.0.0.1", 5)]
WHERE = {0: (SOURCE, ("239.1.1.1", 26_400)), 2: ("192.0.2.9", ("239.1.1.2", 26_401)), 3: (SOURCE, ("10.0.0.1", 5))}
SLOT_OCTETS, CAPACITY = 128, 8


def put(link: Link, frames: np.ndarray, number: int, line: int, payload: bytes, received_ns: int) -> None:
    """As a transport hands a packet on, if there is room: packet `number` in its slot."""
    assert room(link, 1) == 1
    at = number % CAPACITY * SLOT_OCTETS
    frames[at : at + len(payload)] = np.frombuffer(payload, np.uint8)
    packet = link.slots[int(link.cursor[HEAD]) % CAPACITY]
    packet.offset, packet.length, packet.line, packet.received_ns = at, len(payload), line, received_ns
    commit(link, 1)


PACKETS = st.lists(
    st.tuples(st.sampled_from(sorted(WHERE)), st.binary(max_size=SLOT_OCTETS), st.integers(0, 2**61)), max_size=40
)


@given(packets=PACKETS, extra=st.integers(0, 400))
@settings(deadline=None, max_examples=40)
def test_packets_are_packed_whole_whatever_the_room(packets: list[tuple[int, bytes, int]], extra: int) -> None:
    link, frames = make_link(PACKET, CAPACITY), aligned(CAPACITY * SLOT_OCTETS, np.uint8)
    recorder = make_recorder(link, frames, LINES, SLOT_OCTETS, PAYLOAD_AT + SLOT_OCTETS + extra)
    capture = FILE_HEADER
    for number, (line, payload, received_ns) in enumerate(packets):
        if number % CAPACITY == 0:
            while not is_empty(link):
                capture += recorder.octets[: pack(recorder)].tobytes()
        put(link, frames, number, line, payload, received_ns % (2**32 * 10**9))
    while not is_empty(link):
        capture += recorder.octets[: pack(recorder)].tobytes()
    assert pack(recorder) == 0
    assert recorder.words[WRITTEN] == len(packets)
    assert list(read_datagrams(capture)) == [
        Datagram(received_ns % (2**32 * 10**9), *WHERE[line], payload) for line, payload, received_ns in packets
    ]


def test_room_for_less_than_a_packet_is_refused() -> None:
    with pytest.raises(ValueError, match=r"185 octets do not hold a packet of 128"):
        make_recorder(make_link(PACKET, 1), aligned(128, np.uint8), LINES, 128, PAYLOAD_AT + 127)


@pytest.fixture
def line() -> Line:
    return Line("239.255.71.1", free_port(), "lo")


def send(line: Line, numbers: range) -> None:
    with sender() as sending:
        for number in numbers:
            sending.sendto(number.to_bytes(4, "big"), (line.group, line.port))


def test_what_there_is_no_room_for_waits_in_the_kernel(line: Line) -> None:
    link = make_link(PACKET, CAPACITY)
    with opened([line], slots=CAPACITY, slot_octets=SLOT_OCTETS) as made:
        recorder = make_recorder(link, made.context.frames, [line], SLOT_OCTETS, 1_000)
        control = make_control("yield")
        core = threading.Thread(target=take, args=(control, made.context, link, np.int64(20)))
        core.start()
        send(line, range(50))
        capture = FILE_HEADER
        while core.is_alive() or not is_empty(link):
            capture += recorder.octets[: pack(recorder)].tobytes()
        core.join()
    assert [int.from_bytes(held.payload, "big") for held in read_datagrams(capture)] == list(range(20))


def test_a_core_stops_when_it_is_told_to(line: Line) -> None:
    link = make_link(PACKET, CAPACITY)
    with opened([line], slots=CAPACITY, slot_octets=SLOT_OCTETS) as made:
        control = make_control("yield")
        core = threading.Thread(target=take, args=(control, made.context, link, np.int64(-1)))
        core.start()
        send(line, range(CAPACITY + 5))
        while room(link, 1) > 0 or control[IDLE_LAPS] == 0:
            pass
        stop(control)
        core.join(10)
        assert not core.is_alive()
    assert [packet.cause for packet in link.slots] == list(range(CAPACITY))
    assert all(link.slots["taken_cycles"] > 0)
