"""Makes a store of captures and day files, a lot of PACKETs at a time.

Packets of MoldUDP64 keep their boundaries; both lines, or a line that was disordered, become one sequence. What is
length-prefixed only is packed. A session ends with a packet that says so, whether one was there or not. What is left
out is counted.
"""

import mmap
import tempfile
from typing import BinaryIO, NamedTuple, cast

import numpy as np

from ..hot.layout import aligned, as_records
from ..wire.moldudp64 import COUNT_MAX, HEADER_BYTES, SESSION_BYTES
from ..wire.scan import LINES_MAX
from .message_store import ROW, SESSION_ROW, Store, StoreError, missing, put_in_order
from .packets import MESSAGES_A_PACKET, PAYLOAD_MAX, SPAN_NS
from .store_take import (
    AT,
    BASE,
    DATAGRAM_MAX,
    DISORDER,
    DONE,
    DUPLICATES,
    HEARTBEATS,
    MALFORMED,
    MESSAGES,
    OPEN_AT,
    PACKET_INDEX,
    RENAMED,
    ROWS,
    SESSIONS,
    SESSIONS_FULL,
    USED,
    WORDS,
    Work,
    close_packet,
    end_session,
    take,
)

SESSIONS_MAX = 1_024
ROWS_A_WRITE = 65_536
OCTETS_A_WRITE = 4_194_304


class Packing(NamedTuple):
    """How messages that came without packets are packed: at most so many to one, none later than `span_ns` after its
    first (None: whenever)."""

    messages_max: int = MESSAGES_A_PACKET
    span_ns: int | None = SPAN_NS
    octets_max: int = PAYLOAD_MAX


BY_TIME = Packing()


class Left(NamedTuple):
    """What was not taken: heartbeats; packets that came again; packets of another stream; packets that were cut or do
    not hold what they count. `missing`: messages that are in no packet."""

    heartbeats: int
    duplicates: int
    foreign: int
    malformed: int
    missing: int


class Builder:
    """`add` PACKETs, then `finish`. The packets' memory is free again after each call.

    session: ten characters of ASCII, of what is packed here; of a capture too if `rename`.
    Raises ValueError for another session or a packing that cannot be.
    """

    def __init__(self, session: str, packing: Packing = BY_TIME, rename: bool = False) -> None:
        if len(session) != SESSION_BYTES or not session.isascii():
            raise ValueError(f"{session!r} is no MoldUDP64 session: {SESSION_BYTES} characters")
        if not 1 <= packing.messages_max <= COUNT_MAX or not HEADER_BYTES < packing.octets_max <= DATAGRAM_MAX:
            raise ValueError(f"no packets can be made by {packing}")
        span_ns = 1 << 62 if packing.span_ns is None else packing.span_ns
        self._work = Work(
            words=aligned(WORDS, np.int64),
            limits=np.array([packing.messages_max, span_ns, packing.octets_max, rename], np.int64),
            lines=aligned(LINES_MAX, np.int64),
            session=np.frombuffer(session.encode(), np.uint8).copy(),
            source=aligned(SESSION_BYTES, np.uint8),
            name=aligned(SESSION_BYTES, np.uint8),
            octets=aligned(OCTETS_A_WRITE, np.uint8),
            rows=aligned(ROWS_A_WRITE, ROW),
            sessions=aligned(SESSIONS_MAX, SESSION_ROW),
        )
        self._work.words[OPEN_AT] = -1
        self._octet_file, self._row_file = (
            cast(BinaryIO, tempfile.TemporaryFile(buffering=0))  # noqa: SIM115  # closed by `finish` or `close`
            for _ in range(2)
        )

    @property
    def messages(self) -> int:
        """Taken so far."""
        return int(self._work.words[MESSAGES])

    def add(self, frames: np.ndarray, packets: np.ndarray, count: int) -> None:
        """Take ``packets[:count]`` (records.PACKET), which lie in `frames` (uint8). Raises StoreError, OSError."""
        self._work.words[PACKET_INDEX] = self._work.words[AT] = 0
        while (status := take(self._work, frames, packets, count)) != DONE:
            if status == SESSIONS_FULL:
                raise StoreError(f"more than {SESSIONS_MAX} sessions: not a capture of one stream")
            if status == RENAMED:
                raise StoreError("there are several sessions, which cannot all have one name")
            self._write()

    def finish(self) -> tuple[Store, Left]:
        """What is published, and what is not. Raises StoreError if there is nothing, OSError."""
        words = self._work.words
        close_packet(self._work)
        if words[SESSIONS] == 0:
            raise StoreError("there is no message to publish")
        end_session(self._work)
        self._write()
        rows = as_records(_mapped(self._row_file).view(ROW))
        sessions = as_records(self._work.sessions[: int(words[SESSIONS])].copy())
        if words[DISORDER]:
            ordered = aligned(len(rows), ROW, touch=False)
            kept = put_in_order(rows, sessions, ordered)
            words[DUPLICATES] += len(rows) - kept
            rows = ordered[:kept]
        heartbeats, duplicates, foreign, malformed = words[HEARTBEATS : MALFORMED + 1].tolist()
        left = Left(heartbeats, duplicates, foreign, malformed, int(missing(rows, sessions)))
        return Store(_mapped(self._octet_file), rows, sessions), left

    def close(self) -> None:
        """Give up what was taken."""
        self._octet_file.close()
        self._row_file.close()

    def _write(self) -> None:
        """Write what is whole; the packet that is being filled moves to the front."""
        words, octets = self._work.words, self._work.octets
        end = int(words[OPEN_AT]) if words[OPEN_AT] >= 0 else int(words[USED])
        _write_all(self._octet_file, octets[:end].data)
        _write_all(self._row_file, self._work.rows[: int(words[ROWS])].view(np.uint8).data)
        kept = int(words[USED]) - end
        octets[:kept] = octets[end : end + kept].copy()
        words[USED], words[ROWS] = kept, 0
        words[BASE] += end
        words[OPEN_AT] = min(words[OPEN_AT], 0)


def _write_all(file: BinaryIO, octets: memoryview) -> None:
    while octets:
        octets = octets[file.write(octets) :]


def _mapped(file: BinaryIO) -> np.ndarray:
    """A file's octets, mapped; the file is gone with the array."""
    held = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)  # nobody writes; compiled code has one type less
    file.close()
    return np.frombuffer(held, np.uint8)
