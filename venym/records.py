"""Every record that crosses a link: its fields, in order, and its size. A wrong layout fails at import.

    PACKET        feed -> decoder, venue  where a packet's payload lies and when it came
    BOOK_EVENT    decoder -> features     what happened to one instrument, and the top of its book after it
    MARKET_STATE  decoder -> gateway      the same event, as far as an order is judged by it
    FEATURE_ROW   features -> inference   the same event, and the features as they are after it
    SIGNAL        inference -> strategy   the same event, and what the model makes of the features
    INTENT        strategy -> gateway     what a strategy wants done
    ORDER_EVENT   gateway -> strategy     what became of an order
    WIRE_MESSAGE  gateway <-> venue       a FIX message, as octets; to the journal, both ways
    MISSING       decoder -> recovery     messages of a channel that did not come, or came after all
    RECOVERED     recovery -> decoder     what a re-request or snapshot server sent

Prices count 1e-4 dollars (``_e4``), money 1e-6 dollars (``_e6``). Times are nanoseconds: ``received_ns`` since the Unix
epoch; ``time_ns`` and ``clock_ns`` since midnight at the exchange, the first as a message tells it, the second never
falling: the greatest of all messages so far. ``_cycles`` are readings of the time stamp counter, for latency alone. A
level that is not there has 0 shares.
"""

from .hot.layout import record

NEVER_NS = 1 << 62  # no time is that late

# What a PACKET's bytes are (`framing`).
MOLDUDP64 = 0  # a UDP payload: MoldUDP64 header, then message blocks
BLOCKS = 1  # length-prefixed records one after another, as in a BinaryFILE day; `sequence` numbers the first

# Why a PACKET's bytes may not be all there is (`marks`).
SNAPPED = 1  # the capture kept only the start of the datagram

PACKET = record(
    "PACKET",
    [
        ("cause", "i8"),  # ingest index of this packet, from 0
        ("received_ns", "i8"),  # 0 when the source does not say
        ("offset", "i8"),  # of the payload's first byte in the feed's frame memory
        ("sequence", "i8"),  # BLOCKS only
        ("length", "i4"),  # bytes of payload present
        ("line", "i4"),  # index of the destination address and port it was sent to
        ("framing", "i4"),
        ("marks", "i4"),
        ("taken_cycles", "i8"),  # when the feed handed it on
    ],
    64,
)

TOP_LEVELS = 5

# BOOK_EVENT marks
TRADABLE = 1  # trading state is T, nothing halts it here
SUSPECT = 2  # a modification did not fit, or messages are missing
CROSSED = 4  # best bid >= best ask
PRINTABLE = 8  # E, printable C, P or Q: its shares count as volume
GAPPED = 16  # messages of its channel are missing and may still come
RESTARTED = 32  # its book was set anew from a snapshot: what was rolled up before it is void

BOOK_EVENT = record(
    "BOOK_EVENT",
    [
        ("cause", "i8"),
        ("time_ns", "i8"),
        ("sequence", "i8"),  # of the message in its channel
        ("reference", "i8"),  # order reference of A F E C X D, the new one of U; match number of P Q B; else 0
        ("shares", "i8"),  # of the change or print; imbalance shares of I
        ("paired_shares", "i8"),  # I
        ("volume_shares", "i8"),  # printed so far today, net of broken trades
        ("clock_ns", "i8"),
        ("ordinal", "i8"),  # number of this event, from 0
        ("taken_cycles", "i8"),
        ("decoded_cycles", "i8"),
        ("bid_shares", "i8", (TOP_LEVELS,)),
        ("ask_shares", "i8", (TOP_LEVELS,)),
        ("instrument", "i4"),  # dense index from the configuration
        ("price_e4", "u4"),  # of the order, execution, print or cross; current reference price of I
        ("far_price_e4", "u4"),  # I
        ("near_price_e4", "u4"),  # I
        ("bid_price_e4", "u4", (TOP_LEVELS,)),
        ("ask_price_e4", "u4", (TOP_LEVELS,)),
        ("kind", "u1"),  # the ITCH message type
        ("side", "u1"),  # B or S: side of the resting order; imbalance direction of I; 0 where there is none
        ("state", "u1"),  # T Q P H, or 0 when never announced
        ("marks", "u1"),
    ],
    256,
)

MARKET_STATE = record(
    "MARKET_STATE",
    [
        ("clock_ns", "i8"),
        ("cause", "i8"),
        ("ordinal", "i8"),  # of the BOOK_EVENT it goes with
        ("instrument", "i4"),
        ("bid_price_e4", "u4"),  # best; 0: none
        ("ask_price_e4", "u4"),
        ("last_price_e4", "u4"),  # last printable execution or trade; 0: none
        ("state", "u1"),  # as in BOOK_EVENT
        ("marks", "u1"),
    ],
    64,
)

FEATURES_MAX = 64
SIGNALS_MAX = 8

FEATURE_ROW = record(
    "FEATURE_ROW",
    [
        ("market", BOOK_EVENT),  # the event the row was made of, passed on
        ("ready", "i8"),  # 1 once the longest horizon has filled, else 0
        ("featured_cycles", "i8"),
        ("x", "f4", (FEATURES_MAX,)),  # in the order of the feature table
    ],
    576,
)

SIGNAL = record(
    "SIGNAL",
    [
        ("market", BOOK_EVENT),
        ("ready", "i8"),  # FEATURE_ROW.ready, and every value is finite
        ("featured_cycles", "i8"),
        ("inferred_cycles", "i8"),
        ("y", "f4", (SIGNALS_MAX,)),  # what the model says
    ],
    320,
)

# INTENT.action, ORDER_EVENT.action
NEW, CANCEL, REPLACE, KILL = 1, 2, 3, 4
# side, ord_type and tif of orders: as FIX tags 54, 40 and 59 have them. A sale is SELL; whether it is short the gateway
# knows.
BUY, SELL = 1, 2
MARKET, LIMIT = 1, 2
DAY, IOC = 0, 3

INTENT = record(
    "INTENT",
    [
        ("clock_ns", "i8"),  # of what was decided upon
        ("cause", "i8"),
        ("ordinal", "i8"),  # of the last BOOK_EVENT decided upon
        ("token", "i8"),  # the strategy's own name of the order
        ("shares", "i8"),  # NEW; REPLACE: the new total, what was executed included
        ("price_e4", "i8"),  # of LIMIT orders
        ("taken_cycles", "i8"),
        ("decoded_cycles", "i8"),
        ("featured_cycles", "i8"),
        ("inferred_cycles", "i8"),
        ("begun_cycles", "i8"),  # when the strategy stage took up the input
        ("decided_cycles", "i8"),
        ("strategy", "i4"),  # index from the configuration
        ("instrument", "i4"),
        ("action", "u1"),
        ("side", "u1"),
        ("ord_type", "u1"),
        ("tif", "u1"),
        ("post_only", "u1"),
        ("reason", "u1"),  # KILL: why
    ],
    128,
)

# ORDER_EVENT.kind
ACCEPTED, REPLACED, CANCELED, FILLED, EXPIRED, REJECTED, CANCEL_REJECTED, REFUSED = range(1, 9)

ORDER_EVENT = record(
    "ORDER_EVENT",
    [
        ("clock_ns", "i8"),  # when it reached the gateway
        ("token", "i8"),
        ("shares", "i8"),  # the order's total as the venue last confirmed it, or as sent
        ("price_e4", "i8"),
        ("leaves_shares", "i8"),
        ("filled_shares", "i8"),  # of the order, so far
        ("last_shares", "i8"),  # FILLED: of this execution
        ("last_price_e4", "i8"),
        ("fee_e6", "i8"),  # FILLED: of this execution; negative: a rebate
        ("strategy", "i4"),
        ("instrument", "i4"),
        ("reason", "i4"),  # REFUSED: the gate's; REJECTED, CANCEL_REJECTED: the venue's, tag 103 or 102, -1 for none
        ("kind", "u1"),
        ("side", "u1"),
        ("action", "u1"),  # the request it answers; 0: none
        ("final", "u1"),  # 1: the order is no more
    ],
    128,
)

INBOUND, OUTBOUND = 0, 1  # WIRE_MESSAGE.direction, seen from the gateway
WIRE_OCTETS_MAX = 2024

WIRE_MESSAGE = record(
    "WIRE_MESSAGE",
    [
        ("clock_ns", "i8"),  # when it left its sender; INBOUND: when it reached the gateway
        ("cause", "i8"),  # OUTBOUND: of the intent
        ("direction", "i4"),
        ("length", "i4"),
        ("octets", "u1", (WIRE_OCTETS_MAX,)),
    ],
    2048,
)

# MISSING.kind
HOLE, PROGRESS, SESSION, ENDED, OVERFLOW = range(1, 6)

MISSING = record(
    "MISSING",
    [
        ("session_high", "i8"),  # MoldUDP64 session: first eight bytes, then the last two
        ("session_low", "i8"),
        ("first", "i8"),  # HOLE, OVERFLOW: the first sequence number wanted
        ("end", "i8"),  # one past the last
        ("expected", "i8"),  # next to be applied: none below is wanted any more
        ("received_ns", "i8"),  # of the packet that showed it
        ("channel", "i4"),
        ("kind", "i4"),  # PROGRESS: `expected` passed the end of a hole; OVERFLOW: came, and there was no room to hold
    ],
    64,
)

# RECOVERED.kind
REREQUESTED, SNAPSHOT_BEGIN, SNAPSHOT_BLOCKS, SNAPSHOT_END, GIVEN_UP = range(1, 6)
RECOVERED_OCTETS_MAX = 2008

RECOVERED = record(
    "RECOVERED",
    [
        ("session_high", "i8"),
        ("session_low", "i8"),
        ("sequence", "i8"),  # SNAPSHOT_END: of the first message after it; GIVEN_UP: go on with this one
        ("channel", "i4"),
        ("kind", "i4"),
        ("length", "i4"),  # REREQUESTED: of a MoldUDP64 packet; SNAPSHOT_BLOCKS: of whole length-prefixed messages
        ("octets", "u1", (RECOVERED_OCTETS_MAX,)),
    ],
    2048,
)
