"""The market's packets, one message after another: sessions, sequence, which instrument a locate is.

    PACKET ──open──▶ session, sequence ──▶ block, block, ... ──close──▶ released
                                             └ its clock: the greatest time stamp so far

The venue reads the same packets as the decoder and has to come to the same messages, by itself: a message is due once
and in the order of its channel; a packet of another session begins that session if it is numbered 1 or the present one
has ended, and is dropped otherwise; the second line of a session is the same channel. The clock runs on with the
messages that are due, as the decoder's: were it ahead of that, the venue would wait for orders that never come.

`find_message` looks only; nothing that a member could notice happens before the message is applied. What a new session
forgets waits for that too (BEGIN).
"""

from typing import NamedTuple

import numpy as np

from .. import metrics
from ..hot.intrinsics import be16, be48, slot_at
from ..hot.jit import apart, inner, small
from ..hot.layout import record
from ..hot.link import Link, peek, ready, release
from ..records import BLOCKS
from ..wire.itch50 import TIMESTAMP
from ..wire.moldudp64 import (
    END_OF_SESSION,
    HEADER_BYTES,
    LENGTH_BYTES,
    count_of,
    sequence_of,
    session_high,
    session_low,
)
from ..wire.scan import LINES_MAX
from .displayed import Take, VenueFull

LOCATES = 65_536
UNBEGUN, OPEN, ENDED = 0, 1, 2  # CHANNEL.stream
UNTOLD, FOREIGN = 0, -1  # in `instrument_of`, beside 1 + the instrument

CHANNEL = record(
    "VENUE_CHANNEL",
    [
        ("session_high", "i8"),
        ("session_low", "i8"),
        ("expected", "i8"),  # sequence number of the next message; 0: not known
        ("stream", "i4"),
        ("closed", "i4"),  # market hours are over
    ],
    32,
)

# Words of a feed: BUSY with a packet, AT a block, END of the packet, blocks LEFT, of which to SKIP the first; SEQUENCE
# and CHANNEL of the block; BEGIN: 1, the session of the packet begins with it; PASSED counts packets and messages;
# CLOCK of what was applied.
BUSY, AT, END, LEFT, SKIP, SEQUENCE, CHANNEL_INDEX, BEGIN, PASSED, CLOCK = range(10)
FEED_WORDS = 16
_TO_THE_END = 1 << 62  # LEFT of a packet that does not say how many blocks it has
TIMED_OCTETS = TIMESTAMP + 6  # of a message, as far as its time stamp


class MarketFeed(NamedTuple):
    """packets: Link of PACKET; frames (n,) uint8; channels (channels_max,) CHANNEL; channel_of (lines,) int32: 1 + the
    channel; instrument_of (channels_max * 65536,) int32; words (16,) int64."""

    packets: Link
    frames: np.ndarray
    channels: np.ndarray
    channel_of: np.ndarray
    instrument_of: np.ndarray
    words: np.ndarray


def build_feed(take: Take, packets: Link, frames: np.ndarray, channels_max: int) -> MarketFeed:
    """Nothing read yet."""
    return MarketFeed(
        packets=packets,
        frames=frames,
        channels=take("venue_channels", channels_max, CHANNEL),
        channel_of=take("venue_channel_of", LINES_MAX, np.dtype(np.int32)),
        instrument_of=take("venue_instrument_of", channels_max * LOCATES, np.dtype(np.int32)),
        words=take("venue_feed_words", FEED_WORDS, np.dtype(np.int64)),
    )


@apart
def open_packet(feed, counters):
    """Go to the first block of the next packet, or past its end if none of it counts."""
    packet, words = peek(feed.packets, 0), feed.words
    start, length, line = packet.offset, np.int64(packet.length), np.int64(packet.line)
    if start < 0 or length < 0 or start + length > feed.frames.shape[0]:
        raise IndexError("a packet lies outside the frame memory")
    if line < 0 or line >= LINES_MAX:
        raise IndexError("a packet's line is not one of the feed's")
    counters[metrics.VENUE_PACKETS] += 1
    words[BUSY], words[AT], words[END], words[LEFT], words[SKIP] = 1, start, start + length, 0, 0
    if packet.framing == BLOCKS:
        words[CHANNEL_INDEX] = _channel_of_line(feed, line, np.int64(-1), line)
        words[SEQUENCE] = packet.sequence
        words[LEFT] = _TO_THE_END
    elif length < HEADER_BYTES:
        counters[metrics.VENUE_MALFORMED_PACKETS] += 1
    else:
        _open_mold(feed, counters, line, start)


@apart
def _open_mold(feed, counters, line, start):
    words = feed.words
    high, low = session_high(feed.frames, start), session_low(feed.frames, start)
    sequence, count = sequence_of(feed.frames, start), count_of(feed.frames, start)
    if sequence < 0:
        counters[metrics.VENUE_MALFORMED_PACKETS] += 1
        return
    index = _channel_of_line(feed, line, high, low)
    channel = slot_at(feed.channels, index)
    if channel.session_high != high or channel.session_low != low:
        if sequence != 1 and channel.stream != ENDED:
            counters[metrics.VENUE_FOREIGN_SESSIONS] += 1
            return
        channel.session_high, channel.session_low = high, low
        channel.stream, channel.expected = OPEN, 1
        words[BEGIN] = 1
    words[CHANNEL_INDEX] = index
    if sequence == 0 and channel.expected != 0:
        counters[metrics.VENUE_MALFORMED_PACKETS] += 1
        return
    blocks = np.int64(0) if count == END_OF_SESSION else count
    if sequence != 0:  # 0: a capture whose headers were wiped; its messages are taken as they come
        if channel.expected == 0:
            channel.expected = sequence
        if sequence > channel.expected:
            counters[metrics.VENUE_MISSED_MESSAGES] += sequence - channel.expected
            channel.expected = sequence
        words[SKIP] = min(channel.expected - sequence, blocks)
    if count == END_OF_SESSION:
        channel.stream = ENDED
    words[SEQUENCE] = sequence
    words[LEFT] = blocks
    words[AT] = start + HEADER_BYTES


@apart
def _channel_of_line(feed, line, high, low):
    """Index of the line's channel; a line not seen before joins the one that carries its session, or begins one."""
    if feed.channel_of[line] != 0:
        return np.int64(feed.channel_of[line]) - 1
    for index in range(feed.channels.shape[0]):
        channel = slot_at(feed.channels, index)
        if channel.stream == UNBEGUN:
            channel.session_high, channel.session_low, channel.stream = high, low, OPEN
        if channel.session_high == high and channel.session_low == low:
            feed.channel_of[line] = index + 1
            return np.int64(index)
    raise VenueFull("venue.channels_max")


@inner
def find_message(feed, counters):
    """Go to the next whole block, through as many packets as it takes; False when none is there yet, or when a session
    begins with a packet that has none (BEGIN)."""
    words = feed.words
    while True:
        if words[BUSY] == 0:
            if words[BEGIN] != 0 or ready(feed.packets, 1) == 0:
                return False
            open_packet(feed, counters)
        at, end, left = words[AT], words[END], words[LEFT]
        if left > 0 and at + LENGTH_BYTES <= end and at + LENGTH_BYTES + be16(feed.frames, at) <= end:
            return True
        if left > 0 and (at < end or left < _TO_THE_END >> 1):
            counters[metrics.VENUE_TRUNCATED] += 1
        words[BUSY] = 0
        words[PASSED] += 1
        release(feed.packets, 1)


@small
def message_clock(feed):
    """The clock at the message that was found; it stands still at one that had come before."""
    at, clock_ns = feed.words[AT], feed.words[CLOCK]
    if feed.words[SKIP] == 0 and be16(feed.frames, at) >= TIMED_OCTETS:
        clock_ns = max(clock_ns, be48(feed.frames, at + LENGTH_BYTES + TIMESTAMP))
    return clock_ns


@small
def pass_message(feed):
    """Go behind the message that was found; False if it had come before."""
    words = feed.words
    words[AT] += LENGTH_BYTES + be16(feed.frames, words[AT])
    words[LEFT] -= 1
    words[PASSED] += 1
    words[SEQUENCE] += 1
    channel = slot_at(feed.channels, words[CHANNEL_INDEX])
    if channel.expected != 0 and words[SEQUENCE] > channel.expected:
        channel.expected = words[SEQUENCE]
    is_due = words[SKIP] == 0
    words[SKIP] -= 0 if is_due else 1
    return is_due
