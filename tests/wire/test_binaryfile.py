"""Length-prefixed records: whole ones are passed over, the rest stays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.naive.captures import read_binaryfile
from tests.wire import build
from venym.wire import binaryfile, scan

pytestmark = pytest.mark.plain

GUARDED = Guarded(1 << 16)
DAY = [build.system(), build.directory(), build.add(1), build.message("A", length=38), b"~" * 17]


def walk(octets: bytes) -> tuple[int, int, int, int]:
    return binaryfile.walk(GUARDED.put(octets), 0, len(octets))


def test_whole_records_are_counted_whatever_their_type_and_length() -> None:
    octets = build.blocks(DAY)
    assert walk(octets) == (len(octets), 5, scan.MORE, 2)


def test_a_record_of_length_0_ends_the_session_where_it_stands() -> None:
    octets = build.blocks(DAY, end=True)
    assert walk(octets) == (len(octets) - 2, 5, scan.END_OF_SESSION, 0)
    assert walk(b"\0\0") == (0, 0, scan.END_OF_SESSION, 0)


def test_of_a_cut_record_the_octets_needed_are_told() -> None:
    octets = build.blocks(DAY[:2])
    assert walk(octets[:-5]) == (14, 1, scan.MORE, 41)
    assert walk(octets[:15]) == (14, 1, scan.MORE, 2)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_mutated_days_cut_anywhere_agree_with_the_twin(data: st.DataObject) -> None:
    octets = bytearray(build.blocks(DAY, end=data.draw(st.booleans())))
    for _ in range(data.draw(st.integers(0, 3))):
        octets[data.draw(st.integers(0, len(octets) - 1))] = data.draw(st.integers(0, 255))
    octets = octets[: data.draw(st.integers(0, len(octets)))]
    position, records, status, _ = walk(bytes(octets))
    expected = read_binaryfile(bytes(octets))
    assert records == len(expected.messages)
    assert position == sum(2 + len(record) for record in expected.messages)
    assert (status == scan.END_OF_SESSION) == (octets[position : position + 2] == b"\0\0")
    assert (expected.end == "truncated") == (status == scan.MORE and position < len(octets))
