"""Every counter, declared once: index, name, meaning. One writer each, int64, never reset while running."""

from typing import NamedTuple


class Counter(NamedTuple):
    """A counter's word in its owner's array, its name in tables and JSON, and what it counts."""

    word: int
    name: str
    meaning: str


# Written by the decoder.
(
    MESSAGES,
    UNKNOWN_TYPES,
    UNKNOWN_REFERENCES,
    DUPLICATE_REFERENCES,
    OVER_EXECUTIONS,
    OVER_CANCELS,
    GAPS,
    TRUNCATED,
    UNKNOWN_CODES,
    SHORT_MESSAGES,
    ZERO_SHARES,
    WRONG_LOCATES,
    UNKNOWN_MATCHES,
    MISSED_MESSAGES,
    OLD_MESSAGES,
    FOREIGN_SESSIONS,
    SESSIONS,
    HEARTBEATS,
    PACKETS,
    MALFORMED_PACKETS,
    DECODER_COUNTERS,
) = range(21)

DECODER = (
    Counter(MESSAGES, "messages", "whole messages in sequence, unknown types included"),
    Counter(UNKNOWN_TYPES, "unknown_types", "messages of a type that is not in the table, skipped by their length"),
    Counter(UNKNOWN_REFERENCES, "unknown_references", "E C X D U that name an order that is not in the book"),
    Counter(DUPLICATE_REFERENCES, "duplicate_references", "A F U that add a reference that is; nothing is added"),
    Counter(OVER_EXECUTIONS, "over_executions", "E C of more shares than the order has; the order is removed"),
    Counter(OVER_CANCELS, "over_cancels", "X of more shares than the order has; the order is removed"),
    Counter(GAPS, "gaps", "ranges of sequence numbers that did not come"),
    Counter(TRUNCATED, "truncated", "packets that end inside a message, and files that end inside a record"),
    Counter(UNKNOWN_CODES, "unknown_codes", "A F neither buy nor sell, Q of impossibly many shares; not applied"),
    Counter(SHORT_MESSAGES, "short_messages", "messages shorter than their type; not applied"),
    Counter(ZERO_SHARES, "zero_shares", "A F of no shares; nothing is added"),
    Counter(WRONG_LOCATES, "wrong_locates", "E C X D U whose locate is not the order's; applied by reference"),
    Counter(UNKNOWN_MATCHES, "unknown_matches", "B of a match number that was not seen"),
    Counter(MISSED_MESSAGES, "missed_messages", "messages in the gaps"),
    Counter(OLD_MESSAGES, "old_messages", "messages that had been applied before: the other line's, or repeated"),
    Counter(FOREIGN_SESSIONS, "foreign_sessions", "packets of a session that is neither the current nor a new one"),
    Counter(SESSIONS, "sessions", "sessions begun; each begins with empty books"),
    Counter(HEARTBEATS, "heartbeats", "packets without messages"),
    Counter(PACKETS, "packets", "packets taken"),
    Counter(MALFORMED_PACKETS, "malformed_packets", "packets shorter than their header, or with an impossible number"),
)
assert [counter.word for counter in DECODER] == list(range(DECODER_COUNTERS))

# Written by inference.
(
    SIGNALS,
    ROWS_WITHOUT_MODEL,
    ROWS_NOT_READY,
    FEATURES_NOT_FINITE,
    OUTPUTS_NOT_FINITE,
    INFERENCE_COUNTERS,
) = range(6)

INFERENCE = (
    Counter(SIGNALS, "signals", "signals given, ready or not"),
    Counter(ROWS_WITHOUT_MODEL, "rows_without_model", "rows that no model looked at"),
    Counter(ROWS_NOT_READY, "rows_not_ready", "rows whose longest horizon has not filled"),
    Counter(FEATURES_NOT_FINITE, "features_not_finite", "ready rows in which a used feature is NaN or infinite"),
    Counter(OUTPUTS_NOT_FINITE, "outputs_not_finite", "ready rows of finite features, with an output that is not"),
)
assert [counter.word for counter in INFERENCE] == list(range(INFERENCE_COUNTERS))
