"""Writes a made-up day, message by message, into a buffer: the loop, the clock and what is looked after now and then.

    | length 2 | message | length 2 | message | ...          BinaryFILE, without an end marker, as real days are

A buffer holds whole blocks; the next one goes on where it ended.
"""

from ..hot.intrinsics import put_be16, slot_at
from ..hot.jit import hot, step
from ..wire.itch50 import LENGTH_MAX
from .chance import draw
from .day_book import compact, trim
from .day_regular import put_regular
from .day_rows import CROSS, begin_cross, put_row

LENGTH_OCTETS = 2
BLOCK_MAX = LENGTH_OCTETS + LENGTH_MAX
UPKEEP_EVERY = 64  # messages
SHORT_GAPS = 11  # of 16 gaps between messages are short: packets hold several
SHORT_GAP_NS_MAX = 1_500
ODDS_MIN, ODDS_MAX = 2_000, 63_500  # of 65,536
STEER_MIN, STEER_MAX = 32, 4_096  # messages within which the number of live orders is to come right
HOLES_MAX = 3  # arrivals may be so many times longer than the live orders
ARRIVALS_MIN = 1_024


@step
def _steer(day, phase):
    """Set the odds of an add so that the number of live orders follows the phase's line."""
    today, counts = slot_at(day.today, 0), slot_at(day.books.counts, 0)
    before = slot_at(day.phases, today.phase - 1).end_at if today.phase > 0 else 0
    length = max(phase.end_at - before, 1)
    wanted = phase.start_live + (phase.end_live - phase.start_live) * (today.emitted - before) // length
    within = min(max(wanted // 32, STEER_MIN), STEER_MAX)
    today.add_odds = min(max(32_768 + (wanted - counts.live) * 32_768 // within, ODDS_MIN), ODDS_MAX)


@step
def _set_clock(day, phase):
    """Set the gaps so that the phase's messages fill its time: eleven of sixteen short, five long enough for the rest.

    A gap is spread evenly from 0, so a bound is twice the mean.
    """
    today = slot_at(day.today, 0)
    mean_ns = (phase.end_ns - today.time_ns) // max(phase.end_at - today.emitted, 1)
    short_ns = min(mean_ns // 2 + 1, SHORT_GAP_NS_MAX)
    today.short_gap_ns = short_ns
    today.long_gap_ns = max((32 * mean_ns - SHORT_GAPS * short_ns) // (16 - SHORT_GAPS), 1)


@hot
def _look_after(day):
    """Every so often, and when a phase begins."""
    today, counts = slot_at(day.today, 0), slot_at(day.books.counts, 0)
    phase = slot_at(day.phases, today.phase)
    _steer(day, phase)
    _set_clock(day, phase)
    trim(day.books)
    if counts.arrived > HOLES_MAX * counts.live + ARRIVALS_MIN or counts.walked > counts.arrived + ARRIVALS_MIN:
        compact(day.books)
    octaves = 1
    while counts.arrived - counts.oldest >> octaves:
        octaves += 1
    today.age_octaves = octaves
    today.upkeep_at = today.emitted + UPKEEP_EVERY


@step
def _begin_phase(day, next_row_at):
    """Go on to the next phase that has a message."""
    today = slot_at(day.today, 0)
    while True:
        today.phase += 1
        phase = slot_at(day.phases, today.phase)
        today.imbalances_left = phase.imbalances
        if today.emitted < phase.end_at or next_row_at < phase.end_at:
            break
    today.time_ns = phase.start_ns
    _look_after(day)


@step
def _tick(day):
    """Time goes on, up to the phase's last nanosecond."""
    today = slot_at(day.today, 0)
    luck = draw(day.chance)
    if luck & 15 < SHORT_GAPS:
        gap_ns = (luck >> 8) * today.short_gap_ns >> 24
    else:
        gap_ns = (luck >> 12 & 0xFFF) * (today.long_gap_ns >> 12) + ((luck >> 24) * (today.long_gap_ns & 0xFFF) >> 8)
    today.time_ns = min(today.time_ns + gap_ns, slot_at(day.phases, today.phase).end_ns - 1)


@step
def _put_row_step(day, octets, at, row):
    """Write a row's message; of a cross one after another, and only the last ends the row."""
    today = slot_at(day.today, 0)
    if row.kind == CROSS and today.crossing < 0:
        begin_cross(day, row.locate, row.b)
    at = put_row(day, octets, at, row)
    if today.crossing < 0:
        today.row += 1
        today.rows_before_end -= row.at < today.regular_end_at
    return at


@step
def _put_next(day, octets, at):
    """Write one message."""
    today = slot_at(day.today, 0)
    row = slot_at(day.rows, today.row)  # the last message is a row, so there is one
    phase = slot_at(day.phases, today.phase)
    if today.emitted >= phase.end_at and row.at >= phase.end_at:
        _begin_phase(day, row.at)
    else:
        if today.emitted >= today.upkeep_at:
            _look_after(day)
        if today.crossing < 0:
            _tick(day)
    if row.at > today.emitted:
        at = put_regular(day, octets, at)
    else:
        at = _put_row_step(day, octets, at, row)
    today.emitted += 1
    return at


@hot
def write_day(day, octets):
    """Go on writing the day until the next message might not fit, or there is none. Returns octets written (uint8)."""
    today, at, last = slot_at(day.today, 0), 0, octets.shape[0] - BLOCK_MAX
    while at <= last and today.emitted < today.messages:
        end = _put_next(day, octets, at + LENGTH_OCTETS)
        put_be16(octets, at, end - at - LENGTH_OCTETS)
        day.written[octets[at + LENGTH_OCTETS]] += 1
        at = end
    return at
