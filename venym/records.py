"""Every record that crosses a link: its fields, in order, and its size. A wrong layout fails at import.

    PACKET       feed -> decoder       where a packet's payload lies and when it came
    BOOK_EVENT   decoder -> features   what happened to one instrument, and the top of its book after it
    FEATURE_ROW  features -> inference the same event, and the features as they are after it
    SIGNAL       inference -> strategy the same event, and what the model makes of the features

Prices count 1e-4 dollars (``_e4``), times are nanoseconds: ``received_ns`` since the Unix epoch, ``time_ns`` since
midnight at the exchange. A level that is not there has 0 shares.
"""

from .hot.layout import record

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
    ],
    64,
)

TOP_LEVELS = 5

# BOOK_EVENT marks
TRADABLE = 1  # trading state is T, nothing halts it here
SUSPECT = 2  # a modification did not fit, or messages are missing
CROSSED = 4  # best bid >= best ask
PRINTABLE = 8  # E, printable C, P or Q: its shares count as volume

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

FEATURES_MAX = 64
SIGNALS_MAX = 8

FEATURE_ROW = record(
    "FEATURE_ROW",
    [
        ("market", BOOK_EVENT),  # the event the row was made of, passed on
        ("ready", "i8"),  # 1 once the longest horizon has filled, else 0
        ("x", "f4", (FEATURES_MAX,)),  # in the order of the feature table
    ],
    576,
)

SIGNAL = record(
    "SIGNAL",
    [
        ("market", BOOK_EVENT),
        ("ready", "i8"),  # FEATURE_ROW.ready, and every value is finite
        ("y", "f4", (SIGNALS_MAX,)),  # what the model says
    ],
    320,
)
