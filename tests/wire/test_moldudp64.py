"""Header and request of MoldUDP64, field by field, against struct."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive import moldudp64 as naive
from venym.wire import moldudp64

pytestmark = pytest.mark.plain

GUARDED = Guarded(64)
HEADERS = st.builds(
    naive.Header, st.binary(min_size=10, max_size=10), st.integers(-(2**63), 2**63 - 1), st.integers(0, 0xFFFF)
)


def test_a_header_as_it_came_from_the_exchange() -> None:
    octets = np.frombuffer(b"000010059B" + bytes.fromhex("0000000000061bc4 0026"), np.uint8)
    assert len(octets) == moldudp64.HEADER_BYTES
    assert moldudp64.session_high(octets, 0).to_bytes(8, "big") == b"00001005"
    assert moldudp64.session_low(octets, 0).to_bytes(2, "big") == b"9B"
    assert moldudp64.sequence_of(octets, 0) == 0x61BC4
    assert moldudp64.count_of(octets, 0) == 38


@given(HEADERS, st.integers(0, 8))
@settings(max_examples=100, deadline=None)
def test_fields_are_read_where_they_lie(header: naive.Header, offset: int) -> None:
    octets = GUARDED.put(bytes(offset) + naive.pack(header))
    high, low = moldudp64.session_high(octets, offset), moldudp64.session_low(octets, offset)
    assert int(high).to_bytes(8, "big", signed=True) + int(low).to_bytes(2, "big") == header.session
    assert moldudp64.sequence_of(octets, offset) == header.sequence
    assert moldudp64.count_of(octets, offset) == header.message_count


@given(HEADERS, st.integers(0, 8))
@settings(max_examples=100, deadline=None)
def test_a_header_or_request_is_written_and_nothing_beside_it(header: naive.Header, offset: int) -> None:
    octets = GUARDED.put(b"\xee" * (offset + moldudp64.HEADER_BYTES))
    moldudp64.put_header(octets, offset, np.frombuffer(header.session, np.uint8), header.sequence, header.message_count)
    assert octets.tobytes() == b"\xee" * offset + naive.pack(header)
    assert naive.unpack(octets[offset:].tobytes()) == header


def test_the_end_of_a_session_is_no_count() -> None:
    assert moldudp64.COUNT_MAX < moldudp64.END_OF_SESSION == 0xFFFF
    assert moldudp64.HEARTBEAT == 0
