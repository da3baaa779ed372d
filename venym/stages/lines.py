"""What each line brought, for the control plane: a line that is silent, lossy or late beside its other copy. Part of
the decoder.

    line A  ──seq 7, 10:00:00.000001──▶ arrivals[7 & 255] = (7, A, 10:00:00.000001)
    line B  ──seq 7, 10:00:00.000004──▶ B.late_ns_sum += 3000

Read LINE records of `lines` at any time, each word for itself. A line that stands still while its copy goes on is
silent.
"""

import numpy as np

from ..hot.intrinsics import slot_at
from ..hot.jit import small
from ..hot.layout import record

LINE = record(
    "LINE",
    [
        ("packets", "i8"),  # MoldUDP64 packets, heartbeats included
        ("first_copies", "i8"),  # packets with a message that had not come before
        ("duplicates", "i8"),  # packets whose messages all had
        ("received_ns", "i8"),  # of the last packet
        ("sequence", "i8"),  # one past its last message
        ("late", "i8"),  # duplicates whose first copy came by another line
        ("late_ns_sum", "i8"),  # how much after it, of all `late`
        ("late_ns_max", "i8"),
    ],
    64,
)

ARRIVAL = record("ARRIVAL", [("sequence", "i8"), ("received_ns", "i8"), ("line", "i8")], 24)
ARRIVALS = 256  # remembered a channel, a power of two


@small
def note_line(ctx, line, received_ns, end):
    """A packet of the channel's session came by this line; `end` is one past its last message."""
    held = slot_at(ctx.lines, line)
    held.packets += 1
    held.received_ns = received_ns
    held.sequence = end


@small
def note_copy(ctx, channel, line, received_ns, sequence, is_first):
    """It brought something new, or nothing that had not come."""
    held = slot_at(ctx.lines, line)
    arrival = slot_at(ctx.arrivals, channel * ARRIVALS + (sequence & (ARRIVALS - 1)))
    if is_first:
        held.first_copies += 1
        arrival.sequence = sequence
        arrival.received_ns = received_ns
        arrival.line = line
        return
    held.duplicates += 1
    if arrival.sequence == sequence and arrival.line != line:
        late_ns = received_ns - arrival.received_ns
        held.late += 1
        held.late_ns_sum += late_ns
        held.late_ns_max = max(held.late_ns_max, np.int64(late_ns))
