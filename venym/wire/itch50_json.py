"""ITCH 5.0 messages as lines of JSON, written by walking a table.

    message   | D | 7 | 2 | 34200003264552 | 1551965 |

    pieces    {"message_type":"   ","stock_locate":   ,"tracking_number":   ,"timestamp":   ,"order_...":   }\\n
    values                     D                   7                     2            3420...         1551965

A line is pieces with values between them. PIECES holds every piece of every type end to end; a row of FIELDS says
which piece comes before a field, where the field's octets lie and whether they are a number or characters. Both are
built from MESSAGES, so a line has its field names, in its order.

Numbers are as on the wire, unsigned (prices in 1e-4 or 1e-8 dollars). Characters lose their padding, spaces on the
right; quote and backslash get a backslash before them, control characters and those beyond ASCII become ``\\u00XX``.
"""

import numpy as np

from ..hot.intrinsics import be16, be32, be48, be64, le64, put_le64
from ..hot.jit import hot, small
from .blocks import LENGTH, OFFSET, next_block
from .itch50 import ALPHA, HEADER, LENGTHS, MESSAGES

WORD_BYTES = 8  # pieces are copied by the word, so up to 7 octets too far

# A row of FIELDS: what comes before the field's value, and where the field lies.
PIECE_AT, PIECE_LENGTH, VALUE_OFFSET, VALUE_WIDTH, IS_ALPHA = range(5)
# Columns of ROWS, by type: its fields' rows, its closing piece. Type not in MESSAGES: no rows.
FIRST, LAST, CLOSING_AT, CLOSING_LENGTH = range(4)

DIGITS_MAX = {1: 3, 2: 5, 4: 10, 6: 15, 8: 20}  # of an unsigned integer, by width
ESCAPE_OCTETS = 6  # \u00XX


def _build() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """PIECES uint8, FIELDS (fields, 5) int64, ROWS (256, 4) int64, LINE_MAX (256,) int64."""
    pieces = b""
    fields: list[tuple[int, ...]] = []
    rows, line_max = np.zeros((256, 4), np.int64), np.zeros(256, np.int64)
    for kind, message in MESSAGES.items():
        code, first, before, size = ord(kind), len(fields), b"{", 0
        for field in HEADER + message.fields:
            alpha = field.kind == ALPHA
            piece = before + f'"{field.name}":'.encode() + b'"' * alpha
            fields.append((len(pieces), len(piece), field.offset, field.width, int(alpha)))
            pieces += piece
            before = b'"' * alpha + b","
            size += len(piece) + (ESCAPE_OCTETS * field.width if alpha else DIGITS_MAX[field.width])
        closing = before[:-1] + b"}\n"
        rows[code] = first, len(fields), len(pieces), len(closing)
        line_max[code] = size + len(closing) + WORD_BYTES
        pieces += closing
    octets = np.frombuffer(pieces + bytes(WORD_BYTES), np.uint8)
    return octets, np.array(fields, np.int64), rows, line_max


PIECES, FIELDS, ROWS, LINE_MAX = _build()
LINE_OCTETS_MAX = int(LINE_MAX.max())  # room that any line needs, the word copied too far included

HEX = np.frombuffer(b"0123456789abcdef", np.uint8)
DIGIT_PAIRS = np.frombuffer(b"".join(b"%02d" % n for n in range(100)), np.uint8)
POWERS = np.array([10**n for n in range(19)], np.int64)
SPACE, QUOTE, BACKSLASH, DELETE = (ord(character) for character in ' "\\\x7f')


@small
def _put_piece(out, at, piece_at, length):
    """Copy a piece, by the word; returns the offset after it."""
    for done in range(0, length, WORD_BYTES):
        put_le64(out, at + done, le64(PIECES, piece_at + done))
    return at + length


@small
def _put_number(out, at, value):
    """Write an int64, read as unsigned, in decimal; returns the offset after it."""
    if value < 0:  # 2**63 and above: take the last digit off first
        rest = ((value >> 1) & 0x7FFFFFFFFFFFFFFF) // 5
        at = _put_digits(out, at, rest)
        out[at] = 48 + ((value - rest * 10) & 15)
        return at + 1
    return _put_digits(out, at, value)


@hot
def _put_digits(out, at, value):
    """Write a non-negative int64 in decimal; returns the offset after it."""
    digits = 1
    while digits < 19 and value >= POWERS[digits]:
        digits += 1
    end = at + digits
    at = end
    while value >= 100:
        rest = value // 100
        pair = 2 * (value - rest * 100)
        out[at - 2], out[at - 1] = DIGIT_PAIRS[pair], DIGIT_PAIRS[pair + 1]
        value, at = rest, at - 2
    if value >= 10:
        out[at - 2], out[at - 1] = DIGIT_PAIRS[2 * value], DIGIT_PAIRS[2 * value + 1]
    else:
        out[at - 1] = 48 + value
    return end


@small
def _put_characters(out, at, octets, start, width):
    """Write characters without their padding, escaped where JSON needs it; returns the offset after them."""
    while width > 0 and octets[start + width - 1] == SPACE:
        width -= 1
    for k in range(start, start + width):
        octet = np.int64(octets[k])
        if octet < SPACE or octet >= DELETE or octet in (QUOTE, BACKSLASH):
            at = _put_escaped(out, at, octet)
        else:
            out[at] = octet
            at += 1
    return at


@hot
def _put_escaped(out, at, octet):
    """Write a character that JSON does not take as it is; returns the offset after it."""
    if octet in (QUOTE, BACKSLASH):
        out[at], out[at + 1] = BACKSLASH, octet
        return at + 2
    out[at], out[at + 1], out[at + 2], out[at + 3] = BACKSLASH, 117, 48, 48
    out[at + 4], out[at + 5] = HEX[octet >> 4], HEX[octet & 15]
    return at + ESCAPE_OCTETS


@hot
def write_json(octets, offset, length, out, out_offset):
    """Write the message octets[offset : offset + length] as one line at out[out_offset]; returns the offset after it.

    Writes nothing and returns `out_offset` if the type is not in the table or the message is shorter than its type.
    Octets beyond the type's length are not looked at. Raises ValueError if `out` has less than LINE_MAX[type] left.
    """
    if length < 1:
        return out_offset
    code = octets[offset]
    if LENGTHS[code] == 0 or length < LENGTHS[code]:
        return out_offset
    if out.shape[0] - out_offset < LINE_MAX[code]:
        raise ValueError("no room for a line of JSON")
    at = out_offset
    for row in range(ROWS[code, FIRST], ROWS[code, LAST]):
        at = _put_piece(out, at, FIELDS[row, PIECE_AT], FIELDS[row, PIECE_LENGTH])
        start, width = offset + FIELDS[row, VALUE_OFFSET], FIELDS[row, VALUE_WIDTH]
        if FIELDS[row, IS_ALPHA] != 0:
            at = _put_characters(out, at, octets, start, width)
        elif width == 4:
            at = _put_number(out, at, be32(octets, start))
        elif width == 8:
            at = _put_number(out, at, be64(octets, start))
        elif width == 2:
            at = _put_number(out, at, be16(octets, start))
        else:
            at = _put_number(out, at, be48(octets, start))
    return _put_piece(out, at, ROWS[code, CLOSING_AT], ROWS[code, CLOSING_LENGTH])


@hot
def write_packets(frames, packets, count, walk, skipped, out, limit):
    """Write the messages of packets[:count] as lines from out[0] on, from where `walk` stands, until they end, `out`
    may not hold another, or `limit` lines are written; returns (octets written, lines, whether packets[:count] ended).

    frames: uint8; packets: records.PACKET; walk: see blocks. skipped (256,) int64 counts by type what was not written:
    a type not in the table (LENGTHS is 0), or a message shorter than its type.
    """
    used = 0
    lines = 0
    while lines < limit and out.shape[0] - used >= LINE_OCTETS_MAX:
        if not next_block(walk, frames, packets, count):
            return used, lines, True
        after = write_json(frames, walk[OFFSET], walk[LENGTH], out, used)
        if after == used:
            skipped[frames[walk[OFFSET]]] += 1
        else:
            lines += 1
        used = after
    return used, lines, False
