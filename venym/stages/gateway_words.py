"""The gateway's single words, why it may stop trading, and how that is told.

    words     | HOLD ARMED KILLED ... |     one int64 each, written by the gateway's thread alone
    commands  | ARM STOP |                  written by another thread alone, looked at by every step

A kill is latched: nothing in the process takes it back. Only its first reason is kept; all are counted.
"""

from ..hot.jit import inner
from ..metrics import KILLS, Counter

(
    HOLD,  # 1: inputs are taken in the order of their time (replay); 0: as they come (live)
    ARMED,
    KILLED,
    KILL_REASON,
    KILL_SOURCE,  # index of the strategy that asked for it, BY_GATEWAY or BY_OPERATOR
    KILL_CLOCK_NS,
    SWEEP,  # 1: open orders may lack a cancel
    CLOCK_NS,  # of the last input; never falls
    OUT_SEQUENCE,  # MsgSeqNum of the next message
    IN_SEQUENCE,  # expected
    UNSENT,  # index of the first request not written: those from there on are cancels of the gateway's own
    START,  # of what is not looked at in the inbound buffer
    END,
    HELD,  # 1: there may be a whole message in it
    HELD_CLOCK_NS,
    DELAYED_MADE,  # refusals put into the ring of those to be told
    DELAYED_TOLD,
    DELAYED_PAST,  # refusals whose time has come: their places are free
    MARKET_NS,  # market states older than it are to be applied now
    RATE_MADE,  # messages in the ring of their times
    REFUSAL_NS,
    MIDNIGHT_NS,
    BURST,
    MAKE_E6,  # fee a share of an execution that added liquidity
    TAKE_E6,
    BEGUN_CYCLES,  # when the present intent was taken up
    WORDS,
) = range(27)

ARM, STOP, COMMANDS = range(3)  # ARM: 1 to send, 0 to observe; STOP: 1 to kill, for good

BY_GATEWAY, BY_OPERATOR = -1, -2

# The gateway's own reasons. A strategy's are its own.
(
    ASKED,
    SEQUENCE_GAP,
    SEQUENCE_LOW,
    NOT_READABLE,
    MISMATCH,
    NOT_PLAUSIBLE,
    UNKNOWN_BUST,
    CONTRADICTION,
    SESSION_REJECT,
    LOGOUT,
    REFUSALS_FULL,
    EVENTS_FULL,
    EXECUTIONS_FULL,
    MONEY,
    ENCODE,
) = range(1, 16)

KILL_REASONS = (
    Counter(ASKED, "asked", "the operator wants it"),
    Counter(SEQUENCE_GAP, "sequence_gap", "a message of the venue is missing"),
    Counter(SEQUENCE_LOW, "sequence_low", "a message of the venue is numbered as one before"),
    Counter(NOT_READABLE, "not_readable", "a message of the venue cannot be read; it may be an execution"),
    Counter(MISMATCH, "mismatch", "a report does not fit the order it names"),
    Counter(NOT_PLAUSIBLE, "not_plausible", "an execution of impossible shares or price"),
    Counter(UNKNOWN_BUST, "unknown_bust", "an execution is undone or corrected that was not booked"),
    Counter(CONTRADICTION, "contradiction", "the venue tells of an order as working that was no more"),
    Counter(SESSION_REJECT, "session_reject", "the venue could not read a message of ours"),
    Counter(LOGOUT, "logout", "the venue has ended the session"),
    Counter(REFUSALS_FULL, "refusals_full", "more refusals than can wait to be told"),
    Counter(EVENTS_FULL, "events_full", "the strategy does not take its order events"),
    Counter(EXECUTIONS_FULL, "executions_full", "an execution that cannot be known again"),
    Counter(MONEY, "money", "sums of money beyond what is counted"),
    Counter(ENCODE, "encode", "a cancel could not be written"),
)


@inner
def kill(ctx, reason, source):
    """Stop trading for good: cancels for all open orders are made before the next input is taken."""
    words = ctx.words
    ctx.counters[KILLS] += 1
    if words[KILLED] == 0:
        words[KILL_REASON], words[KILL_SOURCE], words[KILL_CLOCK_NS] = reason, source, words[CLOCK_NS]
        words[KILLED] = 1
    words[SWEEP] = 1
