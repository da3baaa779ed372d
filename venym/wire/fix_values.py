"""Values of FIX fields: digits, decimals and UTC time stamps, read and written in integers.

    38=100            whole        digits only, leading zeros allowed
    44=1234.5678      price        read exactly in 1e-8, written from 1e-4 with four decimals, never in scientific form
    52=20260105-14:30:00.000       UTCTimestamp, with 0, 3, 6 or 9 decimals of the second

Readers take the value's octets [start, end), which the caller has seen to lie in the buffer, and return REFUSED for
what is not of the form.

Writers take an offset that the caller has seen room behind, and return the offset behind what they wrote and the sum of
its octets, so that a check sum needs no second pass over what was just stored; they write by the word, up to seven
octets too far.

Days are turned into dates by the proleptic Gregorian calendar, in eras of 400 years that begin on 1 March.
"""

import numpy as np

from ..hot.intrinsics import bit_length, le64, put_le64
from ..hot.jit import small, step

REFUSED = -1
DIGITS_MAX = 18  # of a whole number: below 2**63
POINT, ZERO, NINE = ord("."), ord("0"), ord("9")

E8 = 100_000_000
E8_DIGITS = 8
UNITS_MAX = 10_000_000_000  # whole dollars of a price that is read, not included

SECOND_NS = 1_000_000_000
DAY_SECONDS = 86_400
DAY_NS = DAY_SECONDS * SECOND_NS
YEAR_MIN, YEAR_MAX = 1970, 2261  # int64 nanoseconds since 1970 end within 2262
SECONDS_OCTETS = 17  # YYYYMMDD-HH:MM:SS

# A clock: the second last written, its date and time of day as words of eight characters, the sum of all 17.
CLOCK_SECOND, CLOCK_DATE, CLOCK_TIME, CLOCK_SUM = range(4)

POWERS = np.array([10**n for n in range(19)], np.int64)
_ZEROS = 0x3030303030303030
_COLON_OCTETS = 0xFF << 16 | 0xFF << 40  # in HH:MM:SS
_COLONS = ord(":") << 16 | ord(":") << 40
_ERA_DAYS, _ERA_YEARS = 146_097, 400
_EPOCH_DAYS = 719_468  # from 1 March of year 0 to 1 January 1970

SOH = 1
_SOHS = 0x0101010101010101
_ONES = 0x0101010101010101
_HIGHS = -0x7F7F7F7F7F7F7F80  # 0x80 in every octet
_EVEN = 0x00FF00FF00FF00FF
_BLOCK = 1024  # octets whose sums fit into 16 bits: 128 words of at most 255 an octet


def make_clock() -> np.ndarray:
    """(4,) int64: a clock that has shown nothing yet."""
    return np.array([-1, 0, 0, 0], np.int64)


@step
def find_soh(octets, at, end):
    """The offset of the first SOH in [at, end), or `end`."""
    while at + 8 <= end:
        differs = le64(octets, at) ^ _SOHS
        zeros = (differs - _ONES) & ~differs & _HIGHS  # its lowest bit is in the first octet that is SOH
        if zeros != 0:
            return at + ((bit_length(zeros & -zeros) - 1) >> 3)
        at += 8
    while at < end and octets[at] != SOH:
        at += 1
    return at


@step
def is_text(octets, start, end, text):
    """Are octets[start:end] this text (uint8[:])? The caller has seen that they are there."""
    if end - start != text.shape[0]:
        return False
    same = 0
    while same < text.shape[0] and octets[start + same] == text[same]:
        same += 1
    return same == text.shape[0]


@step
def sum_of(octets, start, end):
    """The sum of the octets [start, end) modulo 256: a FIX check sum."""
    total = 0
    while start + 8 <= end:
        even, odd = 0, 0
        stop = min(end, start + _BLOCK)
        while start + 8 <= stop:
            word = le64(octets, start)
            even += word & _EVEN
            odd += (word >> 8) & _EVEN
            start += 8
        total += ((even & 0xFFFF) + (even >> 16 & 0xFFFF) + (even >> 32 & 0xFFFF) + (even >> 48 & 0xFFFF)) + (
            (odd & 0xFFFF) + (odd >> 16 & 0xFFFF) + (odd >> 32 & 0xFFFF) + (odd >> 48 & 0xFFFF)
        )
    while start < end:
        total += np.int64(octets[start])
        start += 1
    return total & 0xFF


@step
def digits_of(value):
    """How many decimal digits `value` >= 0 has; 1 for 0."""
    digits = bit_length(value) * 1233 >> 12  # log10(2), short by one at most
    if value >= POWERS[digits]:
        digits += 1
    return max(digits, 1)


@small
def _eight_digits(value):
    """The eight decimal digits of `value` < 10**8, as numbers, the first one in the lowest octet: all at once, each
    lane split in two by a multiplication that divides."""
    high = value // 10_000
    fours = high | (value - high * 10_000) << 32
    hundreds = (fours * 10_486) >> 20 & 0x7F0000007F
    twos = hundreds | (fours - hundreds * 100) << 16
    tens = (twos * 103) >> 10 & 0x000F000F000F000F
    return tens | (twos - tens * 10) << 8


@small
def sum_of_word(word):
    """The sum of a word's eight octets."""
    pairs = (word & _EVEN) + (word >> 8 & _EVEN)
    pairs += pairs >> 32
    return (pairs + (pairs >> 16)) & 0xFFFF


@step
def put_whole(out, at, value, digits):
    """Write the last `digits` digits of `value` >= 0."""
    total, left = digits * ZERO, digits
    while left > 8:
        chunk = (left - 1) % 8 + 1
        left -= chunk
        part = value // POWERS[left]
        value -= part * POWERS[left]
        word = _eight_digits(part) >> 8 * (8 - chunk)
        put_le64(out, at, word | _ZEROS)
        total += sum_of_word(word)
        at += chunk
    word = _eight_digits(value) >> 8 * (8 - left)
    put_le64(out, at, word | _ZEROS)
    return at + left, total + sum_of_word(word)


@step
def put_price(out, at, price_e4, units_digits):
    """Write `price_e4` >= 0 with four decimals; `units_digits`: digits_of its whole dollars."""
    units = price_e4 // 10_000
    at, total = put_whole(out, at, units, units_digits)
    word = (_eight_digits(price_e4 - units * 10_000) >> 32 | _ZEROS >> 32) << 8 | POINT
    put_le64(out, at, word)
    return at + 5, total + sum_of_word(word)


@step
def date_of(day):
    """YYYYMMDD, as a number, of the day `day` >= 0 days after 1 January 1970."""
    day += _EPOCH_DAYS
    era = day // _ERA_DAYS
    of_era = day - era * _ERA_DAYS
    year_of_era = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)  # from 1 March
    month = (5 * of_year + 2) // 153  # 0 is March
    of_month = of_year - (153 * month + 2) // 5 + 1
    year = year_of_era + era * _ERA_YEARS
    if month < 10:
        return year * 10_000 + (month + 3) * 100 + of_month
    return (year + 1) * 10_000 + (month - 9) * 100 + of_month


@step
def day_of(year, month, day):
    """Days from 1 January 1970 to a date."""
    if month <= 2:
        year -= 1
        month += 12
    era = year // _ERA_YEARS
    year_of_era = year - era * _ERA_YEARS
    of_year = (153 * (month - 3) + 2) // 5 + day - 1
    return era * _ERA_DAYS + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + of_year - _EPOCH_DAYS


@step
def _turn_clock(clock, second):
    """Set a clock to the second `second` since 1970."""
    day = second // DAY_SECONDS
    of_day = second - day * DAY_SECONDS
    hour, minute = of_day // 3_600, of_day // 60
    digits = _eight_digits((hour * 1_000 + minute - hour * 60) * 1_000 + of_day - minute * 60)
    clock[CLOCK_SECOND] = second
    clock[CLOCK_DATE] = _eight_digits(date_of(day)) | _ZEROS
    clock[CLOCK_TIME] = digits | _ZEROS & ~_COLON_OCTETS | _COLONS
    clock[CLOCK_SUM] = sum_of_word(clock[CLOCK_DATE]) + ord("-") + sum_of_word(clock[CLOCK_TIME])


@step
def put_time(out, at, time_ns, decimals, clock):
    """Write `time_ns` (>= 0, since 1970, UTC) with 0, 3, 6 or 9 `decimals`. clock: `make_clock`, kept from call to
    call: most messages go out in the second of the one before."""
    second = time_ns // SECOND_NS
    if second != clock[CLOCK_SECOND]:
        _turn_clock(clock, second)
    put_le64(out, at, clock[CLOCK_DATE])
    out[at + 8] = ord("-")
    put_le64(out, at + 9, clock[CLOCK_TIME])
    at, total = at + SECONDS_OCTETS, clock[CLOCK_SUM]
    if decimals == 0:
        return at, total
    fraction = time_ns - second * SECOND_NS
    if decimals == 3:
        word = (_eight_digits(fraction // 1_000_000) >> 40 | _ZEROS >> 40) << 8 | POINT
        put_le64(out, at, word)
        return at + 4, total + sum_of_word(word)
    out[at] = POINT
    at, sum_of_digits = put_whole(out, at + 1, fraction // POWERS[9 - decimals], decimals)
    return at, total + POINT + sum_of_digits


@step
def read_whole(octets, start, end):
    """The number the digits [start, end) make, or REFUSED: no digit, another character, more than DIGITS_MAX."""
    if end <= start or end - start > DIGITS_MAX:
        return REFUSED
    value = 0
    for at in range(start, end):
        digit = np.int64(octets[at]) - ZERO
        if digit < 0 or digit > 9:
            return REFUSED
        value = value * 10 + digit
    return value


@step
def read_decimal(octets, start, end):
    """(value in 1e-8, 1 if nothing was cut off): digits with at most one point, from 0 to below UNITS_MAX.

    Decimals beyond the eighth are cut off. (REFUSED, 0) for anything else: a sign, an exponent, no digit at all.
    """
    value, decimals, digits, exact, point = 0, 0, 0, 1, False
    for at in range(start, end):
        character = np.int64(octets[at])
        if character == POINT and not point:
            point = True
            continue
        digit = character - ZERO
        if digit < 0 or digit > 9:
            return REFUSED, 0
        digits += 1
        if decimals == E8_DIGITS:
            if digit != 0:
                exact = 0
            continue
        value = value * 10 + digit
        if point:
            decimals += 1
        elif value >= UNITS_MAX:
            return REFUSED, 0
    if digits == 0:
        return REFUSED, 0
    return value * POWERS[E8_DIGITS - decimals], exact


@small
def _two(octets, at):
    """The number two digits make, or a negative one."""
    high, low = np.int64(octets[at]) - ZERO, np.int64(octets[at + 1]) - ZERO
    return high * 10 + low if 0 <= high <= 9 and 0 <= low <= 9 else -10_000


@step
def read_time(octets, start, end):
    """Nanoseconds since 1970 of a UTCTimestamp with no decimals or 1 to 9, or REFUSED. Second 60 is the next one."""
    if end - start < SECONDS_OCTETS:
        return REFUSED
    if octets[start + 8] != ord("-") or octets[start + 11] != ord(":") or octets[start + 14] != ord(":"):
        return REFUSED
    year = _two(octets, start) * 100 + _two(octets, start + 2)
    month, day = _two(octets, start + 4), _two(octets, start + 6)
    hour, minute, second = _two(octets, start + 9), _two(octets, start + 12), _two(octets, start + 15)
    if not (YEAR_MIN <= year <= YEAR_MAX and 1 <= month <= 12 and day >= 1):
        return REFUSED
    if not (0 <= hour <= 23 and 0 <= minute <= 59 and 0 <= second <= 60):
        return REFUSED
    days = day_of(year, month, day)
    if date_of(days) % 100 != day:  # there is no such day in this month
        return REFUSED
    time_ns = days * DAY_NS + (hour * 3_600 + minute * 60 + second) * SECOND_NS
    behind = start + SECONDS_OCTETS
    if behind == end:
        return time_ns
    decimals = end - behind - 1
    if octets[behind] != POINT or decimals < 1 or decimals > 9:
        return REFUSED
    fraction = read_whole(octets, behind + 1, end)
    return time_ns + fraction * POWERS[9 - decimals] if fraction >= 0 else REFUSED
