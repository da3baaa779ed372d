"""The decoder's single words: where in its packet it is, what it has told, and how it was built.

cursor | BUSY AT END LEFT ... | one int64 each, written by the decoder's thread; UNTIL_NS by whoever paces a replay
"""

(
    BUSY,  # 1: a packet, or what counts as one, is open
    AT,  # of the next block
    END,
    LEFT,  # blocks
    SKIP,  # of these, applied before
    SEQUENCE,  # of the block at AT
    CHANNEL_INDEX,
    AHEAD,  # where the look-ahead is
    TURN,  # of the look-ahead
    UNTIL_NS,
    CLOCK_NS,
    ORDINAL,  # of the next event
    TAKEN_CYCLES,
    TO_GATEWAY,
    SETTLE_NS,
    TIMED,
    WINDOW,
    WAITED,
    SOURCE,  # where the open packet's octets lie: one of the below
    SILENT,  # 1: what is applied is told to nobody: a snapshot
    CAUSE,  # of the last packet opened
    RECEIVED_NS,
    HOLD,  # packets held back at most, a channel; 0: a gap is given up at once
    START,
    TELL_GAPS,
    PRESET,  # channels whose lines were told at build
    SWEEP,  # 1 + the channel whose instruments are each to get an event of no message; 0: none
    SWEEP_AT,  # the next of them
    SWEEP_MARKS,
    UNTOLD,  # 1: a channel has something to tell the control plane, and had no room
    TOOK_RECOVERED,  # 1: the last one opened was a record of the recovery
) = range(31)
CURSOR_WORDS = 40

FROM_LINE, FROM_HOLD, FROM_RECOVERY = range(3)  # SOURCE
NOT_LOOKED = -1  # TURN, before the first
UNBOUNDED = 1 << 62  # LEFT of a packet that does not say how many blocks it has

# START: what a channel that is joined expects first.
FIRST_SEEN, FROM_ONE, FROM_SNAPSHOT = range(3)
