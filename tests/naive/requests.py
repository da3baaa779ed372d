"""What a member sends, taken apart by bytes.split and Decimal."""

from decimal import Decimal, InvalidOperation

from tests.naive import fix


def read(message: bytes) -> tuple[dict[int, bytes], tuple[int, int] | None]:
    """The first value of every tag, and (tag, reason) of the first field that is none. No data fields."""
    found: dict[int, bytes] = {}
    fault = None
    for text in message.split(fix.SOH)[:-1]:
        tag, equals, value = text.partition(b"=")
        number = whole(tag) if equals and tag[:1] != b"0" and len(tag) <= 8 else None
        if number is None:
            fault = fault or (0, 0)
        elif not value:
            fault = fault or (number, 4)
        elif number in found:
            if number in (8, 35, 34, 43, 49, 56, 11, 41, 55, 38, 44, 54, 40, 59):
                fault = fault or (number, 13)
        else:
            found[number] = value
    return found, fault


def is_post_only(found: dict[int, bytes]) -> bool:
    return b"6" in found.get(18, b"").split(b" ")


def whole(text: bytes) -> int | None:
    return int(text) if text.isdigit() and len(text) <= 18 else None


def amount(text: bytes | None, decimals: int) -> int | None:
    """A decimal of at most so many decimals, in units of the last, from 1 to 2^31 - 1; None if it is none."""
    if text is None or text.strip(b"0123456789.") or not text.strip(b"."):
        return None
    try:
        value = Decimal(text.decode()).scaleb(decimals)
    except InvalidOperation:
        return None
    return int(value) if value == int(value) and 1 <= value <= 2**31 - 1 else None
