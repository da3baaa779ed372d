"""A frame to the UDP payload in it, for every link type, against a plain twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import captures as naive
from tests.wire import build
from venym.records import SNAPPED
from venym.wire import scan
from venym.wire.ethernet import LINK_TYPES, find_udp, name_link_type

pytestmark = pytest.mark.plain

PAYLOAD = build.mold(1, [build.add(1)])
COUNTERS = tuple(scan.Counters.__dataclass_fields__)
GUARDED = Guarded(4096)


def found(frame: bytes, link_type: int = build.ETHERNET, original: int | None = None) -> naive.Found | str:
    """What find_udp finds in octets that end at a page nobody may touch, in the twin's words."""
    octets = GUARDED.put(frame)
    verdict, offset, length, key, marks = find_udp(
        octets, 0, len(frame), len(frame) if original is None else original, link_type
    )
    if verdict != scan.PACKETS:
        return COUNTERS[verdict]
    address = ".".join(str(key >> shift & 0xFF) for shift in (40, 32, 24, 16))
    return naive.Found(0, address, key & 0xFFFF, octets[offset : offset + length].tobytes(), bool(marks & SNAPPED))


WHOLE = naive.Found(0, "239.1.1.1", 26_400, PAYLOAD, False)
DATAGRAM = build.ipv4(build.udp(PAYLOAD))


@pytest.mark.parametrize(
    ("frame", "link_type"),
    [
        pytest.param(build.ethernet(DATAGRAM), 1, id="Ethernet"),
        pytest.param(build.ethernet(DATAGRAM, [0x8100]), 1, id="802.1Q"),
        pytest.param(build.ethernet(DATAGRAM, [0x88A8, 0x8100]), 1, id="802.1ad and 802.1Q"),
        pytest.param(build.ethernet(DATAGRAM, [0x9100, 0x8100]), 1, id="9100 and 802.1Q"),
        pytest.param(build.ethernet(DATAGRAM, [0x9200, 0x9100, 0x88A8, 0x8100]), 1, id="four tags"),
        pytest.param(build.ethernet(DATAGRAM, pad=180), 1, id="padded Ethernet"),
        pytest.param(build.sll(DATAGRAM), 113, id="SLL"),
        pytest.param(build.sll(b"\0\x64\x08\0" + DATAGRAM, 0x8100), 113, id="SLL with a tag"),
        pytest.param(build.sll2(DATAGRAM), 276, id="SLL2"),
        pytest.param(build.loopback(DATAGRAM), 0, id="loopback, little-endian"),
        pytest.param(build.loopback(DATAGRAM, order=">"), 0, id="loopback, big-endian"),
        pytest.param(build.loopback(DATAGRAM, order=">"), 108, id="OpenBSD loopback"),
        *(pytest.param(DATAGRAM, raw, id=f"raw {raw}") for raw in (12, 14, 101, 228)),
    ],
)
def test_every_link_type_leads_to_the_payload(frame: bytes, link_type: int) -> None:
    assert found(frame, link_type) == WHOLE


def test_options_of_the_ip_header_are_passed_over() -> None:
    for words in range(1, 11):
        assert found(build.ethernet(build.ipv4(build.udp(PAYLOAD), options=bytes(4 * words)))) == WHOLE


def test_the_payload_is_as_long_as_udp_says_not_the_frame() -> None:
    """Ethernet pads to 60 octets, and some senders leave octets behind the datagram."""
    assert found(build.ethernet(build.ipv4(build.udp(b"short")), pad=60)) == WHOLE._replace(payload=b"short")
    assert found(build.ethernet(build.ipv4(build.udp(PAYLOAD, length=8)))) == WHOLE._replace(payload=b"")


def test_a_frame_with_zeros_for_addresses_ports_and_sums_is_read() -> None:
    """As in anonymised captures: of the IP header only version, length and protocol stand."""
    datagram = bytearray(build.ipv4(build.udp(PAYLOAD, port=0, source=0)))
    datagram[4:9] = bytes(5)
    datagram[10:20] = bytes(10)
    assert found(build.ethernet(bytes(datagram))) == naive.Found(0, "0.0.0.0", 0, PAYLOAD, False)
    datagram[2:4] = bytes(2)  # a total length of 0: left to the network card
    assert found(build.ethernet(bytes(datagram))) == naive.Found(0, "0.0.0.0", 0, PAYLOAD, False)


@pytest.mark.parametrize(
    ("frame", "counted"),
    [
        (build.ethernet(DATAGRAM, kind=0x0806), "not_ipv4"),
        (build.ethernet(DATAGRAM, kind=0x86DD), "not_ipv4"),
        (build.ethernet(DATAGRAM, [0x8100], kind=0x86DD), "not_ipv4"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), version=6)), "not_ipv4"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), protocol=6)), "not_udp"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), words=4)), "bad_ip_header"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), total=19)), "bad_ip_header"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), fragment=0x2000)), "fragments"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), fragment=0x2001)), "fragments"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), fragment=185)), "fragments"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD, length=7))), "bad_udp_length"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD, length=0))), "bad_udp_length"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD, length=67), total=0)), "bad_udp_length"),
        (build.ethernet(build.ipv4(build.udp(PAYLOAD), total=85)), "bad_udp_length"),
        (build.ethernet(b""), "short"),
        (build.ethernet(b"", [0x8100])[:16], "short"),
        (build.ethernet(DATAGRAM)[:13], "short"),
        (build.ethernet(DATAGRAM)[:41], "short"),
    ],
)
def test_what_is_no_udp_payload_is_counted_by_its_reason(frame: bytes, counted: str) -> None:
    assert found(frame) == counted


def test_do_not_fragment_is_not_a_fragment() -> None:
    assert found(build.ethernet(build.ipv4(build.udp(PAYLOAD), fragment=0x4000))) == WHOLE


def test_of_a_snapped_frame_what_is_there_is_handed_on_and_marked() -> None:
    frame = build.ethernet(DATAGRAM)
    assert found(frame[:96], original=100) == WHOLE._replace(payload=PAYLOAD[:-4], snapped=True)
    assert found(frame[:42], original=100) == WHOLE._replace(payload=b"", snapped=True)
    assert found(frame[:41], original=100) == "short"
    assert found(frame[:96], original=96) == "bad_udp_length"  # nothing says that it was snapped
    assert found(frame + bytes(8), original=200) == WHOLE  # snapped behind the datagram


BASES = [
    (build.ethernet(DATAGRAM), 1),
    (build.ethernet(build.ipv4(build.udp(PAYLOAD), options=bytes(8)), [0x88A8, 0x8100]), 1),
    (build.sll(DATAGRAM), 113),
    (build.sll2(DATAGRAM), 276),
    (build.loopback(DATAGRAM), 0),
    (DATAGRAM, 101),
    (build.ipv4(build.udp(PAYLOAD), protocol=6), 101),
]


def test_every_cut_of_every_frame_agrees_with_the_twin() -> None:
    for base, link_type in BASES:
        for size in range(len(base) + 1):
            for original in (size, len(base)):
                expected = naive.udp_in(base[:size], original, link_type)
                assert found(base[:size], link_type, original) == expected, (size, original, link_type)


@given(st.data())
@settings(max_examples=300, deadline=None)
def test_mutated_frames_agree_with_the_twin(data: st.DataObject) -> None:
    base, _ = data.draw(st.sampled_from(BASES))
    frame = bytearray(base[: data.draw(st.integers(0, len(base)))])
    for _ in range(data.draw(st.integers(0, 4)) if frame else 0):
        frame[data.draw(st.integers(0, min(len(frame), 60) - 1))] = data.draw(st.integers(0, 255))
    link_type = data.draw(st.sampled_from(sorted(LINK_TYPES)))
    original = data.draw(st.sampled_from([0, len(frame), len(frame) + 1]))
    assert found(bytes(frame), link_type, original) == naive.udp_in(bytes(frame), original, link_type)


def test_link_types_are_named_in_messages() -> None:
    assert name_link_type(1) == "link type 1 (Ethernet)"
    assert name_link_type(105) == "link type 105 (IEEE 802.11)"
    assert name_link_type(4000) == "link type 4000"


def test_the_offset_of_a_frame_within_a_chunk_is_kept() -> None:
    frame = build.ethernet(DATAGRAM)
    octets = np.frombuffer(bytes(37) + frame + bytes(5), np.uint8)
    verdict, offset, length, _, _ = find_udp(octets, 37, len(frame), len(frame), 1)
    assert (verdict, octets[offset : offset + length].tobytes()) == (scan.PACKETS, PAYLOAD)
