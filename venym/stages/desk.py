"""What the parts of the strategy stage share: the Desk, its words, and why a strategy is switched off."""

from typing import NamedTuple

import numpy as np

from ..hot.layout import record
from ..hot.link import Link
from ..metrics import Counter
from ..records import BOOK_EVENT
from ..strategies.interface import INTENTS_MAX, Intents
from .working import Working

STRATEGIES_MAX = 8

# Why a strategy was switched off: INTENT.reason of a KILL.
RAISED, INTENTS_OVER, ORDERS_OVER, ASKED = range(1, 5)
REASONS = (
    Counter(RAISED, "raised", "the strategy raised an exception"),
    Counter(INTENTS_OVER, "intents_over", f"it asked for more than {INTENTS_MAX} intents in one call"),
    Counter(ORDERS_OVER, "orders_over", "it has more working orders in an instrument than the table holds"),
    Counter(ASKED, "asked", "it asked for the kill itself"),
)

# Words of `words`: how the stage is set, then where it is.
HOLD, BURST, STRATEGIES, PLACES = range(4)
INPUT, NEXT, FIRING = range(4, 7)  # the input in work; from where on it is to be served; whose timer it is
CALLED = 7  # 1 + the strategy in a call; 0: none
CLOCK_NS, ORDINAL, CAUSE, BEGUN_CYCLES = range(8, 12)
TO_TELL = 12  # kills not sent yet
KILLED = 13  # 1: a kill was sent
DONE_ORDINAL, INSTRUMENT = 14, 15  # the latter of the call
CLOSED = 16  # 1: the day is over; what is asked for from then on is dropped
ANSWERED_NS = 17  # of the last order event
WORDS = 24

NONE, EVENT, TIMER, SIGNAL_INPUT = range(4)  # INPUT

MEMBER = record(
    "MEMBER",
    [
        ("enabled", "i8"),
        ("period_ns", "i8"),  # of its timer; 0: none
        ("timer_ns", "i8"),  # when it fires next; NEVER_NS: not yet, or never
        ("kill", "i8"),  # reason of a kill to be sent; 0: none
    ],
    64,
)

PLACE = record(
    "PLACE",
    [
        ("market", BOOK_EVENT),  # the last
        ("seen", "i8"),  # 1: there was one
        ("strategies", "i8"),  # a bit for each that is called for it
    ],
    320,
)


class Desk(NamedTuple):
    """All of the stage but the calls, so that its parts need not be handed those: that would take long to compile.

    members (STRATEGIES_MAX,) MEMBER; places (see `working`) PLACE; batch: what the present call asks for, every slot
    beyond it blank; blank (1,) INTENT of no instrument; words (WORDS,), counters (metrics.STRATEGY_COUNTERS,) int64."""

    signals: Link
    order_events: Link
    intents: Link
    members: np.ndarray
    places: np.ndarray
    working: Working
    batch: Intents
    blank: np.ndarray
    words: np.ndarray
    counters: np.ndarray
