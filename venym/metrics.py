"""Every counter, declared once: index, name, meaning. One writer each, int64, never reset while running."""

from collections.abc import Iterable
from typing import Any, NamedTuple


class Counter(NamedTuple):
    """A counter's word in its owner's array, its name in tables and JSON, and what it counts."""

    word: int
    name: str
    meaning: str


def named(table: Iterable[Counter], counted: Any) -> dict[str, int]:
    """What was counted, by name: `counted` is the int64 array of the table's owner."""
    return {counter.name: int(counted[counter.word]) for counter in table}


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
    HOLES,
    HELD_PACKETS,
    OVERFLOW_MESSAGES,
    RECOVERED_RECORDS,
    MALFORMED_RECORDS,
    IGNORED_RECORDS,
    SNAPSHOTS,
    SNAPSHOT_MESSAGES,
    TOLD_LATE,
    DECODER_COUNTERS,
) = range(30)

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
    Counter(HOLES, "holes", "ranges of sequence numbers seen missing with a hold-back; they may have come since"),
    Counter(HELD_PACKETS, "held_packets", "packets held back because messages before theirs were missing"),
    Counter(OVERFLOW_MESSAGES, "overflow_messages", "messages that were to be held back, and there was no room"),
    Counter(RECOVERED_RECORDS, "recovered_records", "records taken from the recovery"),
    Counter(MALFORMED_RECORDS, "malformed_records", "of these, with an impossible channel, length or kind"),
    Counter(IGNORED_RECORDS, "ignored_records", "of these, of another session, or that nothing waited for"),
    Counter(SNAPSHOTS, "snapshots", "snapshots begun; each begins with empty books"),
    Counter(SNAPSHOT_MESSAGES, "snapshot_messages", "of the messages, those of snapshots"),
    Counter(TOLD_LATE, "told_late", "times that what is missing could not be told at once: the link was full"),
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

# Written by the gateway. What it refuses is counted by reason beside (stages/risk.py).
(
    INTENTS,
    REFUSALS,
    REFUSALS_UNTOLD,
    NEW_ORDERS,
    REPLACES,
    CANCELS,
    OWN_CANCELS,
    KILLS,
    MARKET_STATES,
    EVENTS_UNTOLD,
    JOURNAL_MISSED,
    ENCODE_FAILURES,
    REQUESTS_FULL,
    CHUNKS,
    GARBLED,
    FOREIGN_PARTIES,
    SEQUENCE_GAPS,
    SEQUENCE_LOWS,
    OTHER_TYPES,
    SESSION_REJECTS,
    LOGOUTS,
    UNREADABLE,
    REPORTS,
    UNKNOWN_ORDERS,
    MISMATCHES,
    IMPLAUSIBLE,
    UNCHANGED,
    STALE_REPORTS,
    TERMS_DIFFER,
    CUM_DIFFERS,
    FILLS,
    DUPLICATE_EXECUTIONS,
    LATE_FILLS,
    OVER_FILLS,
    INEXACT_FILLS,
    UNKNOWN_LIQUIDITIES,
    BUSTS,
    CORRECTIONS,
    UNKNOWN_BUSTS,
    EXECUTIONS_FULL,
    RETIRED,
    REOPENED,
    MONEY_CLAMPED,
    GATEWAY_COUNTERS,
) = range(44)

GATEWAY = (
    Counter(INTENTS, "intents", "intents taken"),
    Counter(REFUSALS, "refusals", "intents refused"),
    Counter(REFUSALS_UNTOLD, "refusals_untold", "of these, not told: too many were waiting; it is a kill"),
    Counter(NEW_ORDERS, "new_orders", "new orders sent"),
    Counter(REPLACES, "replaces", "replace requests sent"),
    Counter(CANCELS, "cancels", "cancel requests sent"),
    Counter(OWN_CANCELS, "own_cancels", "of these, the gateway's own: after a kill, or where the market stopped"),
    Counter(KILLS, "kills", "reasons to kill that came up; the first one is kept"),
    Counter(MARKET_STATES, "market_states", "market states applied"),
    Counter(EVENTS_UNTOLD, "events_untold", "order events there was no room for, live; it is a kill"),
    Counter(JOURNAL_MISSED, "journal_missed", "messages that the journal's link had no room for, live"),
    Counter(ENCODE_FAILURES, "encode_failures", "cancels that could not be written; it is a kill"),
    Counter(REQUESTS_FULL, "requests_full", "cancels of its own that found the table of requests full"),
    Counter(CHUNKS, "chunks", "stretches of octets taken from the venue"),
    Counter(GARBLED, "garbled", "stretches of them that are no message, dropped"),
    Counter(FOREIGN_PARTIES, "foreign_parties", "messages from or to another than the session's; ignored"),
    Counter(SEQUENCE_GAPS, "sequence_gaps", "messages numbered above the expected number; applied, and a kill"),
    Counter(SEQUENCE_LOWS, "sequence_lows", "messages numbered below it, not marked as repeated; ignored, and a kill"),
    Counter(OTHER_TYPES, "other_types", "messages of the session, and of types that are not looked at"),
    Counter(SESSION_REJECTS, "session_rejects", "rejects of a message of ours as such (35=3, 35=j); it is a kill"),
    Counter(LOGOUTS, "logouts", "logouts; it is a kill"),
    Counter(UNREADABLE, "unreadable", "messages with a field missing or not of its form; not applied, and a kill"),
    Counter(REPORTS, "reports", "execution reports and cancel rejects that could be read"),
    Counter(UNKNOWN_ORDERS, "unknown_orders", "of these, with a ClOrdID that is none of ours; not applied"),
    Counter(MISMATCHES, "mismatches", "of another symbol, side or order than the ClOrdID's; not applied, and a kill"),
    Counter(IMPLAUSIBLE, "implausible", "fills of impossible shares or prices; not applied, and a kill"),
    Counter(UNCHANGED, "unchanged", "reports that change nothing: pending, status, suspended"),
    Counter(STALE_REPORTS, "stale_reports", "reports of what was known, or of no request that waits; not applied"),
    Counter(TERMS_DIFFER, "terms_differ", "confirmations of other shares or another price than asked for; taken"),
    Counter(CUM_DIFFERS, "cum_differs", "reports whose CumQty is not the sum of the order's fills"),
    Counter(FILLS, "fills", "executions booked"),
    Counter(DUPLICATE_EXECUTIONS, "duplicate_executions", "executions that had been booked before"),
    Counter(LATE_FILLS, "late_fills", "executions of orders that were no more; booked"),
    Counter(OVER_FILLS, "over_fills", "executions of more shares than were left; booked"),
    Counter(INEXACT_FILLS, "inexact_fills", "executions at a price between two of 1e-4; booked at the lower"),
    Counter(UNKNOWN_LIQUIDITIES, "unknown_liquidities", "executions that do not say added or removed: fee of these"),
    Counter(BUSTS, "busts", "executions undone"),
    Counter(CORRECTIONS, "corrections", "executions corrected"),
    Counter(UNKNOWN_BUSTS, "unknown_busts", "undone or corrected executions that were not booked; it is a kill"),
    Counter(EXECUTIONS_FULL, "executions_full", "executions booked that cannot be known again; it is a kill"),
    Counter(RETIRED, "retired", "orders given up because a cancel reject says that they are no more"),
    Counter(REOPENED, "reopened", "orders that were no more, of which the venue tells that they work"),
    Counter(MONEY_CLAMPED, "money_clamped", "sums of money beyond what is counted; it is a kill"),
)  # fmt: skip
assert [counter.word for counter in GATEWAY] == list(range(GATEWAY_COUNTERS))
# Written by the strategy stage.
(
    SIGNALS_TAKEN,
    ORDER_EVENTS_TAKEN,
    TIMERS_TAKEN,
    STRATEGY_CALLS,
    INTENTS_SENT,
    INTENTS_DROPPED,
    STRATEGIES_DISABLED,
    EVENTS_MISDIRECTED,
    ORDERS_FOUND,
    STRATEGY_COUNTERS,
) = range(10)

STRATEGY = (
    Counter(SIGNALS_TAKEN, "signals_taken", "signals taken, whether or not a strategy is called for them"),
    Counter(ORDER_EVENTS_TAKEN, "order_events_taken", "order events taken"),
    Counter(TIMERS_TAKEN, "timers_taken", "timers that fired"),
    Counter(STRATEGY_CALLS, "strategy_calls", "calls of a strategy's function"),
    Counter(INTENTS_SENT, "intents_sent", "intents sent, kills included"),
    Counter(
        INTENTS_DROPPED,
        "intents_dropped",
        "intents of calls that asked for more than fit in one, or after the end; not sent",
    ),
    Counter(STRATEGIES_DISABLED, "strategies_disabled", "strategies switched off, each with a kill"),
    Counter(EVENTS_MISDIRECTED, "events_misdirected", "order events of no strategy; not applied"),
    Counter(ORDERS_FOUND, "orders_found", "working orders first known by an event: a name used twice, a full table"),
)
assert [counter.word for counter in STRATEGY] == list(range(STRATEGY_COUNTERS))

# Written by the venue in memory.
(
    VENUE_PACKETS,
    VENUE_MALFORMED_PACKETS,
    VENUE_FOREIGN_SESSIONS,
    VENUE_SESSIONS,
    VENUE_TRUNCATED,
    VENUE_MESSAGES,
    VENUE_OLD_MESSAGES,
    VENUE_MISSED_MESSAGES,
    VENUE_SHORT_MESSAGES,
    VENUE_LISTED_MESSAGES,
    VENUE_MISFITS,
    VENUE_SECOND_MARKETS,
    VENUE_GARBLED,
    VENUE_WRONG_CHECKSUMS,
    VENUE_REQUESTS,
    VENUE_LOGOUTS,
    VENUE_POSS_DUPS,
    VENUE_ADMIN,
    VENUE_SESSION_REJECTS,
    VENUE_UNSUPPORTED,
    VENUE_LATE_ORDERS,
    VENUE_ORDERS,
    VENUE_ORDERS_REJECTED,
    VENUE_CANCELS,
    VENUE_REPLACES,
    VENUE_CHANGES_REJECTED,
    VENUE_FILLS,
    VENUE_SHARES_TAKEN,
    VENUE_SHARES_MADE,
    VENUE_UNFILLED,
    VENUE_EXPIRED,
    VENUE_COUNTERS,
) = range(32)

VENUE = (
    Counter(VENUE_PACKETS, "packets", "packets taken"),
    Counter(
        VENUE_MALFORMED_PACKETS, "malformed_packets", "packets shorter than their header, or with an impossible number"
    ),
    Counter(
        VENUE_FOREIGN_SESSIONS, "foreign_sessions", "packets of a session that is neither the current nor a new one"
    ),
    Counter(VENUE_SESSIONS, "sessions", "sessions begun after a channel's first"),
    Counter(VENUE_TRUNCATED, "truncated", "packets that end inside a message"),
    Counter(VENUE_MESSAGES, "messages", "whole messages, those that had come before included"),
    Counter(VENUE_OLD_MESSAGES, "old_messages", "messages that had come before"),
    Counter(VENUE_MISSED_MESSAGES, "missed_messages", "messages that never came"),
    Counter(VENUE_SHORT_MESSAGES, "short_messages", "messages shorter than their type; not applied"),
    Counter(VENUE_LISTED_MESSAGES, "listed_messages", "messages of listed symbols"),
    Counter(VENUE_MISFITS, "misfits", "modifications of listed symbols that did not fit their books"),
    Counter(
        VENUE_SECOND_MARKETS, "second_markets", "locates of listed symbols that another channel has too; not followed"
    ),
    Counter(VENUE_GARBLED, "garbled", "pieces of the member's octets that are no message; dropped"),
    Counter(VENUE_WRONG_CHECKSUMS, "wrong_checksums", "messages whose check sum is wrong; dropped"),
    Counter(VENUE_REQUESTS, "requests", "messages of the member's"),
    Counter(
        VENUE_LOGOUTS,
        "logouts",
        "messages of another version, or not the next in sequence; not taken, answered with a Logout",
    ),
    Counter(VENUE_POSS_DUPS, "poss_dups", "messages that said that they may have come before, and had"),
    Counter(VENUE_ADMIN, "admin", "messages of the session; not answered"),
    Counter(VENUE_SESSION_REJECTS, "session_rejects", "messages answered with a Reject (35=3)"),
    Counter(
        VENUE_UNSUPPORTED,
        "unsupported",
        "messages of types that are not taken, answered with a Business Message Reject",
    ),
    Counter(VENUE_LATE_ORDERS, "late_orders", "orders older than what was applied; taken at the venue's clock"),
    Counter(VENUE_ORDERS, "orders", "orders accepted"),
    Counter(VENUE_ORDERS_REJECTED, "orders_rejected", "orders rejected"),
    Counter(VENUE_CANCELS, "cancels", "orders canceled on request"),
    Counter(VENUE_REPLACES, "replaces", "orders replaced"),
    Counter(VENUE_CHANGES_REJECTED, "changes_rejected", "cancels and replacements rejected"),
    Counter(VENUE_FILLS, "fills", "executions"),
    Counter(VENUE_SHARES_TAKEN, "shares_taken", "shares executed on arrival"),
    Counter(VENUE_SHARES_MADE, "shares_made", "shares executed while resting"),
    Counter(VENUE_UNFILLED, "unfilled", "orders canceled because they do not rest"),
    Counter(VENUE_EXPIRED, "expired", "orders that rested when market hours were over"),
)
assert [counter.word for counter in VENUE] == list(range(VENUE_COUNTERS))

# Written by the UDP transport, a row of words a line.
(
    UDP_PACKETS,
    UDP_OCTETS,
    UDP_TOO_LONG,
    UDP_DROPPED,
    UDP_UNSTAMPED,
    UDP_NOT_HARDWARE,
    UDP_ERRORS,
    UDP_COUNTERS,
) = range(8)

UDP = (
    Counter(UDP_PACKETS, "packets", "datagrams handed on"),
    Counter(UDP_OCTETS, "octets", "octets of payload in them"),
    Counter(UDP_TOO_LONG, "too_long", "datagrams longer than a slot; not handed on"),
    Counter(UDP_DROPPED, "dropped", "datagrams the kernel had no room for, as told with the next one that came after"),
    Counter(UDP_UNSTAMPED, "unstamped", "datagrams without the time of arrival that was asked for"),
    Counter(UDP_NOT_HARDWARE, "not_hardware", "datagrams that the kernel stamped, though the card was to"),
    Counter(UDP_ERRORS, "errors", "calls that the system refused"),
)
assert [counter.word for counter in UDP] == list(range(UDP_COUNTERS))

# Written by the AF_XDP transport. What the kernel counts of the same sockets is asked of it (transport/xdp.py).
(
    XDP_FRAMES,
    XDP_PACKETS,
    XDP_OCTETS,
    XDP_FOREIGN,
    XDP_MALFORMED,
    XDP_BAD_IP_SUMS,
    XDP_BAD_UDP_SUMS,
    XDP_NO_SUMS,
    XDP_PARTIAL_SUMS,
    XDP_UNSTAMPED,
    XDP_BAD_DESCRIPTORS,
    XDP_WAKEUPS,
    XDP_ERRORS,
    XDP_COUNTERS,
) = range(14)

XDP = (
    Counter(XDP_FRAMES, "frames", "frames taken from the kernel: packets, and those dropped for a reason below"),
    Counter(XDP_PACKETS, "packets", "datagrams handed on"),
    Counter(XDP_OCTETS, "octets", "octets of payload handed on"),
    Counter(XDP_FOREIGN, "foreign", "frames of no line of ours; dropped"),
    Counter(XDP_MALFORMED, "malformed", "frames cut short, or whose lengths contradict each other; dropped"),
    Counter(XDP_BAD_IP_SUMS, "bad_ip_sums", "IP headers whose check sum is wrong; dropped"),
    Counter(XDP_BAD_UDP_SUMS, "bad_udp_sums", "datagrams whose check sum is wrong; dropped"),
    Counter(XDP_NO_SUMS, "no_sums", "datagrams sent without a check sum; handed on"),
    Counter(XDP_PARTIAL_SUMS, "partial_sums", "datagrams whose check sum the sender left to a card; handed on"),
    Counter(XDP_UNSTAMPED, "unstamped", "packets handed on without a time of arrival: the driver has no room for it"),
    Counter(XDP_BAD_DESCRIPTORS, "bad_descriptors", "descriptors of the kernel's that cannot be; dropped"),
    Counter(XDP_WAKEUPS, "wakeups", "calls to wake a driver that asked for it"),
    Counter(XDP_ERRORS, "errors", "of these, failed; the last error number is kept"),
)
assert [counter.word for counter in XDP] == list(range(XDP_COUNTERS))
