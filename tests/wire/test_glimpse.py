"""A GLIMPSE snapshot is read to its G, in any pieces; one that ends otherwise is named."""

import numpy as np
import pytest

from tests.naive import soupbintcp as naive
from tests.wire.test_soup_session import give
from venym.wire import soupbintcp as soup
from venym.wire.glimpse import Spin, SpinError
from venym.wire.soup_session import Rejected
from venym.wire.soupbintcp import Accepted, Login, SoupError

ACCEPTED = soup.pack_accepted(Accepted("S1", 1))
MESSAGES = [b"S" + bytes(11), b"R" * 39, b"A" * 36, b"F" * 40]
END = naive.frame(b"S", b"G" + b"123".rjust(20))


def stream(messages: list[bytes] = MESSAGES) -> bytes:
    return ACCEPTED + b"".join(naive.frame(b"S", message) for message in messages)


def read(spin: Spin, room: int = 4096) -> bytes:
    into, got, more = np.zeros(room, np.uint8), b"", True
    while more:
        end, more = spin.read(into, 0, room, 0)
        got += into[:end].tobytes()
    return got


def test_it_asks_for_message_one_of_the_present_session():
    spin = Spin("user", "secret", 0)
    assert soup.read_login(bytes(spin.client.outgoing[3:])) == Login("user", "secret", "", 1)


@pytest.mark.parametrize("room", [42, 43, 100, 4096])
def test_a_snapshot_cut_anywhere(room: int):
    octets = stream() + END
    for cut in range(len(octets) + 1):
        spin = Spin("user", "secret", 0)
        give(spin.client, octets[:cut])
        got = read(spin, room)
        assert (spin.sequence is None) == (cut < len(octets))
        give(spin.client, octets[cut:])
        assert got + read(spin, room) == naive.blocks(MESSAGES)
        assert (spin.sequence, spin.messages) == (123, 4)
        assert spin.client.outgoing.endswith(b"\0\1O")


def test_an_empty_snapshot():
    spin = Spin("user", "secret", 0)
    give(spin.client, ACCEPTED + END)
    assert read(spin) == b"" and (spin.sequence, spin.messages) == (123, 0)


def test_what_comes_after_the_end_is_not_looked_at():
    spin = Spin("user", "secret", 0)
    give(spin.client, stream() + END + b"\0\0")
    assert read(spin) + read(spin) == naive.blocks(MESSAGES) and spin.sequence == 123


@pytest.mark.parametrize(
    ("octets", "text"),
    [
        (stream() + naive.frame(b"Z"), "end of session after 4 messages, before the snapshot's"),
        (stream() + naive.frame(b"S", b"G" + b"123".rjust(19)), "an end of snapshot of 20 octets, not 21"),
        (stream() + naive.frame(b"S", b"G" + b" " * 20), "sequence number b' .*' is no number"),
        (stream([bytes(4095)]), "message 1 is longer than 4094 octets"),
        (soup.pack_accepted(Accepted("S1", 7)), "begins with message 7, not 1"),
        (stream() + b"\0\0", "a packet without a type"),
    ],
)
def test_a_snapshot_that_is_none(octets: bytes, text: str):
    spin = Spin("user", "secret", 0)
    give(spin.client, octets)
    with pytest.raises(SoupError, match=text):
        for _ in range(9):
            read(spin)


def test_a_rejected_login():
    spin = Spin("user", "secret", 0)
    give(spin.client, b"\0\2JA")
    with pytest.raises(Rejected, match="not authorised"):
        read(spin)
    assert not issubclass(Rejected, SpinError)
