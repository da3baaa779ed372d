"""Hostile packets and records with a hold-back: every memory they lie in ends at a page nobody may touch."""

import struct
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.stages.drive import SMALL, block, mold
from tests.stages.recovery_drive import STATES, Recovered, part, stream
from venym import records
from venym.hot.layout import as_records
from venym.hot.link import HEAD
from venym.records import RECOVERED, RECOVERED_OCTETS_MAX
from venym.stages import feed

SLOT = 96
FRAMES, RECORD, HELD = Guarded(1 << 12), Guarded(RECOVERED.itemsize), Guarded(2 * SLOT)
MESSAGES = stream(12)
INTEGERS = st.sampled_from([0, 1, 2, 7, 2**31, 2**62, 2**63 - 1, -1, -(2**63)])
SMALL_INTEGERS = st.sampled_from(
    [0, 1, 19, 20, 100, RECOVERED_OCTETS_MAX, RECOVERED_OCTETS_MAX + 1, 2**31 - 1, -1, -(2**31)]
)


class Flush(Recovered):
    """Packets, the one record of the recovery, and the one chunk of the hold-back each end at a guard page."""

    def __init__(self, **how: Any) -> None:
        super().__init__(hold=1, octets=SLOT, limits=SMALL._replace(channels_max=1), **how)
        octets = RECORD.put(bytes(RECOVERED.itemsize))
        made = self.pipeline.decoder
        link = made.recovered._replace(slots=as_records(octets.view(RECOVERED)))
        holding = made.holding._replace(octets=HELD.put(bytes(2 * SLOT)))
        self.replace(recovered=link, recovered_octets=octets, holding=holding)

    def replace(self, **parts: Any) -> None:
        self.pipeline = self.pipeline._replace(decoder=self.pipeline.decoder._replace(**parts))

    def flush(self, datagram: bytes) -> None:
        frames = FRAMES.put(datagram)
        self.replace(frames=frames)
        self.pipeline = self.pipeline._replace(feed=self.pipeline.feed._replace(frames=frames))
        found = self.pipeline.feed.found[0]
        found.offset, found.length, found.line, found.framing = 0, len(datagram), 0, records.MOLDUDP64
        feed.offer(self.pipeline.feed, 1)
        self.drain()

    def record(self, octets: bytes, **fields: Any) -> None:
        """The record's octets end where its memory does: a short packet lies at its start, a long one reaches it."""
        self.put(fields.pop("kind"), octets[:RECOVERED_OCTETS_MAX], **fields)
        self.drain()

    def check(self) -> None:
        channel, queue = self.channel, self.pipeline.decoder.holding.queues[0]
        assert int(queue.count) in (0, 1)
        assert self.stream in STATES.values()
        if self.stream in ("IN_SYNC", "ENDED"):
            assert int(channel.expected) == int(channel.known) or int(channel.expected) == 0


@st.composite
def mutated(draw, packets):
    octets = bytearray(draw(st.sampled_from(packets)))
    for _ in range(draw(st.integers(0, 5))):
        octets[draw(st.integers(0, len(octets) - 1))] = draw(st.integers(0, 255))
    return bytes(octets[: draw(st.integers(0, len(octets)))] if draw(st.booleans()) else octets)


PACKETS = [part(MESSAGES, 1, 3), part(MESSAGES, 3, 5), part(MESSAGES, 4, 6), part(MESSAGES, 7, 9), mold("S1", 9, []),
           mold("S1", 9, [], 0xFFFF), part(MESSAGES, 1, 3, "S2"), mold("S1", 6, [bytes(SLOT - 2)])]  # fmt: skip
BLOCKS = b"".join(map(block, MESSAGES))


@st.composite
def steps(draw):
    made = []
    for _ in range(draw(st.integers(1, 10))):
        if draw(st.booleans()):
            made.append((draw(mutated(PACKETS)), None))
            continue
        fields = {"kind": draw(st.integers(1, 5)), "sequence": draw(st.one_of(st.integers(0, 9), INTEGERS))}
        if not draw(st.integers(0, 3)):
            fields["length"] = draw(SMALL_INTEGERS)
        if not draw(st.integers(0, 9)):
            fields["channel"] = draw(SMALL_INTEGERS)
        if not draw(st.integers(0, 9)):
            fields["kind"] = draw(SMALL_INTEGERS)
        made.append((draw(mutated([*PACKETS, BLOCKS])), fields))
    return made


@settings(max_examples=200, deadline=None)
@given(steps(), st.booleans())
def test_mutated_packets_and_records_touch_nothing_beyond_their_octets(made, tell_gaps):
    drive = Flush(tell_gaps=tell_gaps)
    drive.flush(PACKETS[0])
    for octets, fields in made:
        if fields is None:
            drive.flush(octets)
        else:
            drive.record(octets, **fields)
        drive.check()


@pytest.mark.parametrize("kind", [records.REREQUESTED, records.SNAPSHOT_BLOCKS])
@pytest.mark.parametrize("length", [RECOVERED_OCTETS_MAX, RECOVERED_OCTETS_MAX + 1, 2**31 - 1, -1])
def test_a_record_that_reaches_the_end_of_its_memory_is_read_to_there_and_no_further(kind, length):
    drive = Flush()
    drive.flush(PACKETS[0])
    drive.record(b"", kind=records.SNAPSHOT_BEGIN)
    message = struct.pack(">H", 38) + b"A" * 38
    octets = (mold("S1", 3, [], 60) if kind == records.REREQUESTED else b"") + message * 60
    drive.record(octets[:RECOVERED_OCTETS_MAX], kind=kind, length=length)
    counted = drive.counters()
    assert counted.get("malformed_records", 0) == (length != RECOVERED_OCTETS_MAX)
    assert drive.pipeline.decoder.recovered.cursor[HEAD] == 2
    if length == RECOVERED_OCTETS_MAX:
        assert counted["truncated"] == 1
        assert counted.get("snapshot_messages", 0) == (50 if kind == records.SNAPSHOT_BLOCKS else 0)


def test_a_held_message_that_fills_its_chunk_is_read_to_its_end():
    drive = Flush()
    drive.flush(PACKETS[0])
    drive.flush(mold("S1", 4, [b"~" * (SLOT - 2)]))
    assert drive.held == 1
    drive.flush(part(MESSAGES, 3, 4))
    assert drive.stream == "IN_SYNC" and drive.counters()["unknown_types"] == 1
    assert np.all(drive.pipeline.decoder.holding.octets[SLOT + 2 :] == ord("~"))
