"""The octets of a file, with gzip undone: all members, any cut, any damage."""

import gzip
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from venym.transport.source import (
    CaptureCorrupt,
    CaptureError,
    CaptureTruncated,
    CaptureUnreadable,
    Source,
)

pytestmark = pytest.mark.plain

Put = Callable[[bytes], Path]

CONTENT = bytes(range(256)) * 40 + b"the end"


def drain(path: Path, at_once: int = 1 << 16, peek: int = 0) -> tuple[bytes, CaptureError | None]:
    """Everything the file gives, and how it ended."""
    source = Source(path)
    view, taken = memoryview(bytearray(at_once)), b""
    try:
        peeked = source.peek(peek) if peek else b""
        while got := source.readinto(view):
            taken += view[:got]
        assert taken.startswith(peeked)
        assert source.offset == len(taken)
        assert source.octets_done == source.octets_total == path.stat().st_size
        return taken, None
    except CaptureError as error:
        return taken, error
    finally:
        source.close()


def member(content: bytes, flags: int = 0, fields: bytes = b"") -> bytes:
    """A gzip member with optional header fields."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = deflate.compress(content) + deflate.flush()
    head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(6) + fields
    return head + body + struct.pack("<II", zlib.crc32(content), len(content))


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def put(octets: bytes) -> Path:
        path = tmp_path / "file"
        path.write_bytes(octets)
        return path

    return put


@pytest.mark.parametrize("at_once", [1, 7, 1000, 1 << 20])
@pytest.mark.parametrize("peek", [0, 1, 100, 100_000])
def test_plain_and_inflated_octets_come_whole_at_any_read_size(put: Put, at_once: int, peek: int) -> None:
    assert drain(put(CONTENT), at_once, peek) == (CONTENT, None)
    assert drain(put(gzip.compress(CONTENT)), at_once, peek) == (CONTENT, None)


def test_every_member_is_read_and_padding_behind_them_is_none(put: Put) -> None:
    members = member(b"one") + member(b"") + gzip.compress(b"two") + member(b"three")
    assert drain(put(members)) == (b"onetwothree", None)
    assert drain(put(members + bytes(1000))) == (b"onetwothree", None)
    assert drain(put(member(CONTENT * 10) * 2)) == (CONTENT * 20, None)
    assert drain(put(member(b"one") + bytes(3) + member(b"two"))) == (b"onetwo", None)


def test_header_fields_of_a_member_are_passed_over(put: Put) -> None:
    extra, name, comment, check = b"\x03\x00abc", b"day\0", b"remark\0", b"\x12\x34"
    for flags, fields in [(4, extra), (8, name), (16, comment), (2, check), (30, extra + name + comment + check)]:
        octets = member(CONTENT, flags, fields)
        assert gzip.decompress(member(CONTENT, flags, fields)) == CONTENT
        assert drain(put(octets)) == (CONTENT, None)


def test_a_gzip_file_cut_at_any_octet_gives_what_was_there_and_says_truncated(put: Put) -> None:
    first, second = member(b"first" * 20, 8, b"name\0"), member(b"second")
    octets = first + second
    for size in range(2, len(octets)):
        taken, error = drain(put(octets[:size]), 7)
        assert (b"first" * 20 + b"second").startswith(taken)
        if size == len(first):
            assert error is None
        else:
            assert isinstance(error, CaptureTruncated), size
            assert error.offset == len(taken)
        if size >= len(first):
            assert taken.startswith(b"first" * 20)


def test_damage_is_named_after_what_stands_before_it(put: Put) -> None:
    good = member(CONTENT)
    for octets, words in [
        (good[:-8] + bytes(4) + good[-4:], "the check sum does not match"),
        (good[:-4] + bytes(4), "the size does not match"),
        (good + b"rubbish", "7275 where a member should start"),
        (good + b"\x1f\x8b\x07" + bytes(20), "method 7"),
        (good + member(b"", flags=0x40), "flags 0x40"),
    ]:
        taken, error = drain(put(octets), 1000)
        assert isinstance(error, CaptureCorrupt)
        assert words in str(error)
        assert taken == CONTENT
        assert error.offset == len(CONTENT)


def test_damage_inside_a_member_is_corrupt(put: Put) -> None:
    octets = bytearray(member(CONTENT))
    octets[10] |= 0b110  # a block type that does not exist
    _taken, error = drain(put(bytes(octets)))
    assert isinstance(error, CaptureCorrupt)
    assert "invalid block type" in str(error)


def test_a_name_without_end_is_not_looked_for_for_ever(put: Put) -> None:
    _taken, error = drain(put(b"\x1f\x8b\x08\x08" + bytes(6) + b"x" * (3 << 20)))
    assert isinstance(error, CaptureCorrupt)
    assert "member header" in str(error)


@given(st.binary(max_size=2000), st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=4))
@settings(max_examples=100, deadline=None)
def test_no_damage_is_taken_for_an_end(content: bytes, damages: list[tuple[int, int]]) -> None:
    octets = bytearray(member(content) + member(CONTENT))
    for place, octet in damages:
        octets[place % len(octets)] = octet
    path = Path(f"/proc/self/fd/{_memory_file(bytes(octets))}")
    taken, error = drain(path, 777)
    if bytes(octets[:2]) != b"\x1f\x8b":
        assert (taken, error) == (bytes(octets), None)
    elif error is None:
        assert taken == gzip.decompress(bytes(octets))
    os.close(int(path.name))


def _memory_file(octets: bytes) -> int:
    handle = os.memfd_create("octets")
    os.write(handle, octets)
    return handle


def test_what_the_system_refuses_is_unreadable(tmp_path: Path) -> None:
    with pytest.raises(CaptureUnreadable, match=r"missing: byte 0: No such file"):
        Source(tmp_path / "missing")
    with pytest.raises(CaptureUnreadable, match="Is a directory"):
        Source(tmp_path)
    with pytest.raises(CaptureUnreadable, match="Input/output error"):
        Source(Path("/proc/self/mem"))


def test_a_pipe_has_no_size(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, b"octets")
    os.close(writing)
    source = Source(Path(f"/proc/self/fd/{reading}"))
    assert source.octets_total is None
    assert source.peek(100) == b"octets"
    source.close()
    os.close(reading)
