"""ITCH 5.0 messages for tests, built field by field from the table in wire/itch50.py."""

from typing import Any

from venym.wire.itch50 import ALPHA, HEADER, MESSAGES

START_NS = 34_200_000_000_000


def message(kind: str, locate: int = 7, time_ns: int = START_NS, **values: Any) -> bytes:
    """A message of this type; fields not named are 0 or spaces. Raises KeyError for a field the type has not."""
    held = MESSAGES[kind]
    octets = bytearray(held.length)
    given = {"message_type": kind, "stock_locate": locate, "timestamp": time_ns, **values}
    for field in HEADER + held.fields:
        value = given.pop(field.name, "" if field.kind == ALPHA else 0)
        if field.kind == ALPHA:
            octets[field.offset : field.offset + field.width] = str(value).encode("latin-1").ljust(field.width)
        else:
            octets[field.offset : field.offset + field.width] = int(value).to_bytes(field.width, "big")
    if given:
        raise KeyError(f"{kind} has no field {', '.join(given)}")
    return bytes(octets)


def directory(symbol: str = "TEST", locate: int = 7) -> bytes:
    return message("R", locate, stock=symbol, market_category="Q", round_lot_size=100, authenticity="P")


def add(reference: int, side: str, shares: int, price_e4: int, locate: int = 7, symbol: str = "TEST",
        mpid: str = "", time_ns: int = START_NS) -> bytes:  # fmt: skip
    fields: dict[str, Any] = dict(
        order_reference_number=reference, buy_sell_indicator=side, shares=shares, stock=symbol, price=price_e4
    )
    if mpid:
        return message("F", locate, time_ns, attribution=mpid, **fields)
    return message("A", locate, time_ns, **fields)


def execute(reference: int, shares: int, match: int = 1, locate: int = 7) -> bytes:
    return message("E", locate, order_reference_number=reference, executed_shares=shares, match_number=match)


def execute_at(
    reference: int, shares: int, price_e4: int, printable: str = "Y", match: int = 1, locate: int = 7
) -> bytes:
    return message("C", locate, order_reference_number=reference, executed_shares=shares, match_number=match,
                   printable=printable, execution_price=price_e4)  # fmt: skip


def cancel(reference: int, shares: int, locate: int = 7) -> bytes:
    return message("X", locate, order_reference_number=reference, cancelled_shares=shares)


def delete(reference: int, locate: int = 7) -> bytes:
    return message("D", locate, order_reference_number=reference)


def replace(old: int, new: int, shares: int, price_e4: int, locate: int = 7) -> bytes:
    return message("U", locate, original_order_reference_number=old, new_order_reference_number=new, shares=shares,
                   price=price_e4)  # fmt: skip


def trade(shares: int, price_e4: int, match: int, locate: int = 7, symbol: str = "TEST") -> bytes:
    return message("P", locate, buy_sell_indicator="B", shares=shares, stock=symbol, price=price_e4, match_number=match)


def cross(shares: int, price_e4: int, match: int, kind: str = "O", locate: int = 7, symbol: str = "TEST") -> bytes:
    return message("Q", locate, shares=shares, stock=symbol, cross_price=price_e4, match_number=match, cross_type=kind)


def broken(match: int, locate: int = 7) -> bytes:
    return message("B", locate, match_number=match)


def trading_action(state: str, reason: str = "", locate: int = 7, symbol: str = "TEST") -> bytes:
    return message("H", locate, stock=symbol, trading_state=state, reason=reason)


def operational_halt(action: str, code: str = "Q", locate: int = 7, symbol: str = "TEST") -> bytes:
    return message("h", locate, stock=symbol, market_code=code, operational_halt_action=action)
