"""Payloads written as a capture are what a slow reader, that checks every length and sum, finds in it."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive.packets import Datagram, read_datagrams
from tests.wire.pcap_toys import put
from venym.wire.pcap_write import FILE_HEADER, PAYLOAD_AT, SOURCE, make_headers

GROUP, PORT = "239.200.1.2", 26_400
GUARDED = Guarded(70_000)


def written(payload: bytes, received_ns: int, identification: int, *where: str) -> bytes:
    """The record of one payload, in memory that ends behind it."""
    octets = GUARDED.put(bytes(PAYLOAD_AT) + payload)
    headers = np.concatenate([np.full(7, 0xEE, np.uint8), make_headers(where[0], PORT, *where[1:])])
    assert put(octets, 0, headers, 7, received_ns, identification, len(payload)) == len(octets)
    return octets.tobytes()


@given(st.lists(st.binary(max_size=90), max_size=4), st.integers(0, 2**32 * 10**9 - 1))
@example([b"\xff" * 64, b"\0" * 63, b""], 2**32 * 10**9 - 1)
@settings(deadline=None, max_examples=60)
def test_what_was_written_is_read(payloads: list[bytes], received_ns: int) -> None:
    capture = FILE_HEADER
    for number, payload in enumerate(payloads, 1):
        capture += written(payload, received_ns, number, GROUP)
    assert list(read_datagrams(capture)) == [
        Datagram(received_ns, SOURCE, (GROUP, PORT), payload) for payload in payloads
    ]


@pytest.mark.parametrize("length", [0, 1, 2, 3, 4, 5, 1_472, 65_507])
def test_any_length_of_a_datagram(length: int) -> None:
    payload = bytes(number * 7 & 0xFF for number in range(length))
    (held,) = read_datagrams(FILE_HEADER + written(payload, 5, 1, GROUP))
    assert held.payload == payload


@pytest.mark.parametrize("where", [("239.200.1.2", "10.1.2.3"), ("10.77.1.1", "10.1.2.3"), ("224.129.0.1",)])
def test_groups_and_addresses_of_machines(where: tuple[str, ...]) -> None:
    (held,) = read_datagrams(FILE_HEADER + written(b"abc", 5, 1, *where))
    assert held == (5, (*where, SOURCE)[1], (where[0], PORT), b"abc")


def test_no_sum_is_written_as_none() -> None:
    """A sum of 0 would mean that there is none, and stands as all ones. Two octets make it whatever is wanted."""
    other = written(bytes(2), 0, 1, GROUP)
    missing = int.from_bytes(other[PAYLOAD_AT - 2 : PAYLOAD_AT], "big")
    record = written(missing.to_bytes(2, "big"), 0, 1, GROUP)
    assert record[PAYLOAD_AT - 2 : PAYLOAD_AT] == b"\xff\xff"
    assert len(list(read_datagrams(FILE_HEADER + record))) == 1
