"""What the venue sends: octets into messages, and a message's header.

    venue_gateway ──octets──▶ | START ... whole message ... | begun ... END |  buffer
                                       └ frame ─▶ read_header: type, number, who to whom, said before?

A stretch of octets may hold a part of a message, one, or several. The buffer has room for the longest message and one
more stretch, so that a new one is taken only when no whole message is left, and always fits.
"""

from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import copy_octets
from ..hot.jit import inner
from ..records import WIRE_OCTETS_MAX
from ..wire.fix import MESSAGE_OCTETS_MAX, NO_DATA, data_announced, next_field
from ..wire.fix_encode import Template
from ..wire.fix_values import is_text, read_whole
from .gateway_words import END, HELD, START

BUFFER_OCTETS = MESSAGE_OCTETS_MAX + WIRE_OCTETS_MAX

# What `read_header` gives.
COMPLETE, FOREIGN, BROKEN = 0, 1, 2

_HEADER_TAGS = (
    8, 9, 34, 35, 43, 49, 50, 52, 56, 57, 90, 91, 97, 115, 116, 122, 128, 129, 142, 143, 144, 145, 212, 213, 347, 369,
    370, 627, 628, 629, 630,
)  # fmt: skip
_IN_HEADER = np.zeros(631, np.bool_)
_IN_HEADER[list(_HEADER_TAGS)] = True


class Session(NamedTuple):
    """new, cancel, replace: templates (see wire.fix_encode). us, venue: CompIDs, uint8. prefix: of ClOrdIDs, uint8."""

    new: Template
    cancel: Template
    replace: Template
    us: np.ndarray
    venue: np.ndarray
    prefix: np.ndarray


def make_session(new: Template, cancel: Template, replace: Template, us: str, venue: str, prefix: str) -> Session:
    """The session between `us` (SenderCompID of what we send) and `venue`; the templates were made with the same."""
    us_octets, venue_octets, prefix_octets = (
        np.array(list(text.encode("ascii")), np.uint8) for text in (us, venue, prefix)
    )
    return Session(new, cancel, replace, us_octets, venue_octets, prefix_octets)


@inner
def take_octets(ctx, message):
    """Add a stretch of octets to the buffer, of which no whole message is left; START is then 0."""
    words, buffer = ctx.words, ctx.buffer
    left = words[END] - words[START]
    if words[START] > 0:
        for k in range(left):
            buffer[k] = buffer[words[START] + k]
    length = min(max(np.int64(message.length), np.int64(0)), np.int64(WIRE_OCTETS_MAX))
    copy_octets(buffer, left, message.octets, 0, length)
    words[START], words[END], words[HELD] = 0, left + length, 1


@inner
def read_header(session, octets, start, end):
    """(status, type, number, 1 if said before) of the message octets[start:end] that was framed. The type is a
    character, or 0 for types of several."""
    at, announced = start, NO_DATA
    kind, sequence, again = np.int64(0), np.int64(-1), np.int64(0)
    ours, theirs = False, False
    while at < end:
        tag, value_start, value_end = next_field(octets, at, end, announced)
        if tag <= 0 or tag >= _IN_HEADER.shape[0] or not _IN_HEADER[tag]:
            break
        if tag == 35 and value_end - value_start == 1:
            kind = np.int64(octets[value_start])
        elif tag == 34:
            sequence = read_whole(octets, value_start, value_end)
        elif tag == 43:
            again = np.int64(octets[value_start] == ord("Y"))
        elif tag == 49:
            theirs = is_text(octets, value_start, value_end, session.venue)
        elif tag == 56:
            ours = is_text(octets, value_start, value_end, session.us)
        announced = data_announced(octets, tag, value_start, value_end)
        at = value_end + 1
    if not ours or not theirs:
        return FOREIGN, kind, sequence, again
    return (COMPLETE if sequence >= 1 else BROKEN), kind, sequence, again


@inner
def find_field(octets, start, end, wanted):
    """(start, end) of the first value of a tag in the message octets[start:end]; (0, 0): it is not there."""
    at, announced = start, NO_DATA
    while at < end:
        tag, value_start, value_end = next_field(octets, at, end, announced)
        if tag <= 0:
            break
        if tag == wanted:
            return value_start, value_end
        announced = data_announced(octets, tag, value_start, value_end)
        at = value_end + 1
    return np.int64(0), np.int64(0)
