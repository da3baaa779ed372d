"""Takes the packets of a capture or day file into what is to be a store: the compiled half of `store_builder`.

    PACKET, MoldUDP64   of this stream? new? whole? ──▶ copied, its boundaries kept
    PACKET, blocks      ──▶ the packet that is being filled ──full, or the next one much later──▶ closed

A line of the capture belongs to the stream if the session that it carries first does. A line of the stream begins
another session with a packet numbered 1, or after the end of the present one.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import be16, be48, copy_octets, put_be16, slot_at
from ..hot.jit import hot
from ..records import BLOCKS
from ..wire.itch50 import TIMESTAMP
from ..wire.moldudp64 import (
    COUNT,
    END_OF_SESSION,
    HEADER_BYTES,
    LENGTH_BYTES,
    SESSION_BYTES,
    count_of,
    put_header,
    sequence_of,
    session_high,
    session_low,
)

DATAGRAM_MAX = 65_507
PACKET_ROOM = 65_536 + HEADER_BYTES  # that a packet may need
TIMED_OCTETS = TIMESTAMP + 6

# Words: which PACKET it is in, and where; the octets and rows made since the last write; where in the store they begin;
# the packet being filled; the number of the next message; the time; then of sessions, and what was left out.
PACKET_INDEX, AT, USED, ROWS, BASE, OPEN_AT, OPEN_COUNT, OPEN_NS, SEQUENCE, TIME_NS = range(10)
SESSIONS, ENDED, DISORDER, TOTAL_ROWS, MESSAGES, KNOWN = range(10, 16)
HEARTBEATS, DUPLICATES, FOREIGN, MALFORMED = range(16, 20)
WORDS = 24

MESSAGES_LIMIT, SPAN_LIMIT, OCTETS_LIMIT, RENAME = range(4)  # limits

UNKNOWN, OURS, OTHERS = 0, 1, 2  # a line
DONE, FULL, SESSIONS_FULL, RENAMED = range(4)


class Work(NamedTuple):
    """words (24,) int64; limits (4,) int64; lines (n,) int64; session (10,) uint8: of what is packed here; source and
    name (10,) uint8: the present session in the capture, and as it is sent; octets (n,) uint8; rows (n,) ROW; sessions
    (n,) SESSION_ROW."""

    words: np.ndarray
    limits: np.ndarray
    lines: np.ndarray
    session: np.ndarray
    source: np.ndarray
    name: np.ndarray
    octets: np.ndarray
    rows: np.ndarray
    sessions: np.ndarray


@hot
def take(work, frames, packets, count):
    """Take `packets[:count]` until all are, or there is no more room. Returns DONE, FULL, SESSIONS_FULL or RENAMED: a
    second session, where all are to have one name."""
    words = work.words
    while words[PACKET_INDEX] < count:
        packet = slot_at(packets, words[PACKET_INDEX])
        if not _has_room(work):
            return FULL
        if words[SESSIONS] == work.sessions.shape[0]:
            return SESSIONS_FULL
        if packet.framing == BLOCKS:
            if words[SESSIONS] == 0:
                _begin(work, work.session, np.int64(0), np.int64(1))
            if not _take_blocks(work, frames, packet):
                return FULL
        else:
            close_packet(work)
            _take_mold(work, frames, packet)
            if work.limits[RENAME] != 0 and words[SESSIONS] > 1:
                return RENAMED
        words[PACKET_INDEX] += 1
        words[AT] = 0
    return DONE


@hot
def _has_room(work):
    """For a packet, and the end of its session?"""
    return work.words[USED] + PACKET_ROOM <= work.octets.shape[0] and work.words[ROWS] + 3 <= work.rows.shape[0]


@hot
def _begin(work, named, at, sequence):
    """A session begins, whose name lies at named[at:]."""
    words = work.words
    copy_octets(work.source, 0, named, at, SESSION_BYTES)
    if work.limits[RENAME] != 0:
        copy_octets(work.name, 0, work.session, 0, SESSION_BYTES)
    else:
        copy_octets(work.name, 0, named, at, SESSION_BYTES)
    row = slot_at(work.sessions, words[SESSIONS])
    row.high, row.low = session_high(work.name, 0), session_low(work.name, 0)
    row.first = row.end = words[TOTAL_ROWS]
    words[SESSIONS] += 1
    words[SEQUENCE] = words[KNOWN] = sequence
    words[ENDED] = 0


@hot
def _put_row(work, at, sequence, time_ns, length, count):
    words = work.words
    words[TIME_NS] = max(words[TIME_NS], time_ns)
    row = slot_at(work.rows, words[ROWS])
    row.offset, row.sequence, row.time_ns = words[BASE] + at, sequence, words[TIME_NS]
    row.length, row.count = length, count
    words[ROWS] += 1
    words[TOTAL_ROWS] += 1


@hot
def _take_blocks(work, frames, packet):
    """Pack length-prefixed messages; False where there is no more room."""
    words, limits, end = work.words, work.limits, np.int64(packet.length)
    while words[AT] + LENGTH_BYTES <= end:
        at = packet.offset + words[AT]
        block = LENGTH_BYTES + be16(frames, at)
        if words[AT] + block > end:
            words[MALFORMED] += 1
            break
        if not _has_room(work):
            return False
        time_ns = words[TIME_NS]
        if block >= LENGTH_BYTES + TIMED_OCTETS:
            time_ns = be48(frames, at + LENGTH_BYTES + TIMESTAMP)
        if words[OPEN_AT] >= 0:
            is_full = words[OPEN_COUNT] == limits[MESSAGES_LIMIT]
            is_full |= words[USED] - words[OPEN_AT] + block > limits[OCTETS_LIMIT]
            if is_full or time_ns - words[OPEN_NS] > limits[SPAN_LIMIT]:
                close_packet(work)
        if words[OPEN_AT] < 0:
            words[OPEN_AT], words[OPEN_COUNT], words[OPEN_NS] = words[USED], 0, time_ns
            put_header(work.octets, words[USED], work.name, words[SEQUENCE], 0)
            words[USED] += HEADER_BYTES
        copy_octets(work.octets, words[USED], frames, at, block)
        words[USED] += block
        words[OPEN_COUNT] += 1
        words[TIME_NS] = max(words[TIME_NS], time_ns)
        words[AT] += block
    return True


@hot
def close_packet(work):
    """Close the packet that is being filled, if there is one."""
    words = work.words
    at, count = words[OPEN_AT], words[OPEN_COUNT]
    if at >= 0:
        put_be16(work.octets, at + COUNT, count)
        _put_row(work, at, words[SEQUENCE], words[TIME_NS], words[USED] - at, count)
        words[SEQUENCE] += count
        words[MESSAGES] += count
        words[KNOWN] = words[SEQUENCE]
        words[DISORDER] |= words[ENDED]  # behind the end of the session
        words[OPEN_AT] = -1


@hot
def end_session(work):
    """Close the session, with the packet that ends it if there was none."""
    words = work.words
    if words[ENDED] == 0:
        words[ENDED] = 1
        put_header(work.octets, words[USED], work.name, words[SEQUENCE], END_OF_SESSION)
        _put_row(work, words[USED], words[SEQUENCE], words[TIME_NS], HEADER_BYTES, END_OF_SESSION)
        words[USED] += HEADER_BYTES
    slot_at(work.sessions, words[SESSIONS] - 1).end = words[TOTAL_ROWS]


@hot
def _is_ours(work, frames, packet):
    """Does the packet belong to the stream? Begins its session where that is new."""
    words, start, line = work.words, packet.offset, np.int64(packet.line)
    high, low, sequence = session_high(frames, start), session_low(frames, start), sequence_of(frames, start)
    has_begun = words[SESSIONS] > 0
    is_present = has_begun and high == session_high(work.source, 0) and low == session_low(work.source, 0)
    if work.lines[line] == UNKNOWN:
        work.lines[line] = OURS if is_present or not has_begun else OTHERS
    if work.lines[line] == OTHERS or is_present:
        return is_present
    if has_begun:
        for k in range(words[SESSIONS]):
            held = slot_at(work.sessions, k)
            if held.high == high and held.low == low:
                return False  # a late packet of a session that is over
        if sequence != 1 and words[ENDED] == 0:
            return False
        end_session(work)
    _begin(work, frames, start, max(sequence, np.int64(1)))
    return True


@hot
def _measure(frames, start, length, count):
    """Octets of a packet up to its last block; 0 if they are not all there."""
    at = np.int64(HEADER_BYTES)
    for _ in range(count):
        if at + LENGTH_BYTES > length:
            return np.int64(0)
        at += LENGTH_BYTES + be16(frames, start + at)
    return at if at <= length else np.int64(0)


@hot
def _last_time(frames, start, count):
    """Time stamp of a packet's last message that has one; 0 if none has."""
    at, time_ns = start + HEADER_BYTES, np.int64(0)
    for _ in range(count):
        size = be16(frames, at)
        if size >= TIMED_OCTETS:
            time_ns = be48(frames, at + LENGTH_BYTES + TIMESTAMP)
        at += LENGTH_BYTES + size
    return time_ns


@hot
def _take_mold(work, frames, packet):
    words, start, length = work.words, packet.offset, np.int64(packet.length)
    if length < HEADER_BYTES or packet.line < 0 or packet.line >= work.lines.shape[0]:
        words[MALFORMED] += 1
        return
    count, sequence = count_of(frames, start), sequence_of(frames, start)
    size = np.int64(HEADER_BYTES)
    if count != END_OF_SESSION:
        size = _measure(frames, start, length, count)
    if size == 0 or size > DATAGRAM_MAX or sequence < 0:
        words[MALFORMED] += 1
        return
    if not _is_ours(work, frames, packet):
        words[FOREIGN] += 1
        return
    if sequence == 0:  # the capture's headers were wiped: numbered as they come
        sequence = words[SEQUENCE]
    if count == 0:
        words[HEARTBEATS] += 1
    elif count == END_OF_SESSION:
        if words[ENDED] == 0 and sequence >= words[SEQUENCE]:
            words[SEQUENCE] = sequence
            end_session(work)
        else:
            words[DUPLICATES] += 1
    elif sequence + count <= words[KNOWN]:
        words[DUPLICATES] += 1
    else:
        _copy_mold(work, frames, packet, sequence, count, size)


@hot
def _copy_mold(work, frames, packet, sequence, count, size):
    words = work.words
    time_ns = packet.received_ns
    if time_ns == 0:
        time_ns = _last_time(frames, packet.offset, count)
    copy_octets(work.octets, words[USED], frames, packet.offset, size)
    put_header(work.octets, words[USED], work.name, sequence, count)
    _put_row(work, words[USED], sequence, time_ns, size, count)
    words[USED] += size
    words[MESSAGES] += count
    if sequence != words[SEQUENCE] or words[ENDED] != 0:
        words[DISORDER] = 1  # a hole, or what fills one
    if sequence <= words[KNOWN]:
        words[KNOWN] = sequence + count  # all before has been seen; what is above a hole is not looked at
    words[SEQUENCE] = max(words[SEQUENCE], sequence + count)
