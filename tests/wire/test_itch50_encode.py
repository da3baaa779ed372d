"""The encoders: each type's octets are those that the table says, and not one more."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.guarded import Guarded
from tests.stages.itch_messages import message
from venym.wire import itch50_encode
from venym.wire.itch50 import ALPHA, LENGTH_MAX, MESSAGES, Field
from venym.wire.itch50_encode import alpha

ENCODERS: dict[str, Any] = {
    "S": itch50_encode.put_system_event,
    "R": itch50_encode.put_stock_directory,
    "H": itch50_encode.put_trading_action,
    "Y": itch50_encode.put_reg_sho,
    "L": itch50_encode.put_participant_position,
    "V": itch50_encode.put_mwcb_decline_level,
    "W": itch50_encode.put_mwcb_status,
    "K": itch50_encode.put_ipo_quoting_period,
    "J": itch50_encode.put_auction_collar,
    "h": itch50_encode.put_operational_halt,
    "A": itch50_encode.put_add_order,
    "F": itch50_encode.put_add_order_mpid,
    "E": itch50_encode.put_order_executed,
    "C": itch50_encode.put_order_executed_with_price,
    "X": itch50_encode.put_order_cancel,
    "D": itch50_encode.put_order_delete,
    "U": itch50_encode.put_order_replace,
    "P": itch50_encode.put_trade,
    "Q": itch50_encode.put_cross_trade,
    "B": itch50_encode.put_broken_trade,
    "I": itch50_encode.put_noii,
    "N": itch50_encode.put_rpii,
    "O": itch50_encode.put_direct_listing,
}


def test_every_type_has_an_encoder() -> None:
    assert set(ENCODERS) == set(MESSAGES)


def value_of(field: Field) -> st.SearchStrategy[Any]:
    if field.kind == ALPHA:
        return st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=field.width)
    return st.integers(0, 2 ** (8 * field.width) - 1)


def as_argument(field: Field, value: Any) -> int:
    """How an encoder takes a field: a code's number, an ALPHA word, a number's low 64 bits."""
    if field.kind == ALPHA:
        return ord(value) if field.width == 1 else alpha(value, field.width)
    return value - 2**64 if value >= 2**63 else value


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_is_as_the_table_has_it(kind: str) -> None:
    fields = [field for field in MESSAGES[kind].fields if field.name != "reserved"]
    memory = Guarded(LENGTH_MAX)

    @settings(max_examples=20, deadline=None)
    @given(
        st.integers(0, 0xFFFF),
        st.integers(0, 0xFFFF),
        st.integers(0, 2**48 - 1),
        st.tuples(*(value_of(field) for field in fields)),
    )
    def holds(locate: int, tracking: int, time_ns: int, values: tuple[Any, ...]) -> None:
        octets = memory.put(b"\xa5" * MESSAGES[kind].length)
        arguments = [as_argument(field, value) for field, value in zip(fields, values, strict=True)]
        assert ENCODERS[kind](octets, 0, locate, tracking, time_ns, *arguments) == MESSAGES[kind].length
        named = {field.name: value for field, value in zip(fields, values, strict=True)}
        assert bytes(octets) == message(kind, locate, time_ns, tracking_number=tracking, **named)

    holds()


def test_it_is_written_where_the_caller_says() -> None:
    octets = Guarded(64).put(bytes(64))
    end = itch50_encode.put_order_delete(octets, 45, 7, 0, 34_200_000_000_000, 12_345)
    assert end == 64 and not octets[:45].any()
    assert bytes(octets[45:]) == message("D", order_reference_number=12_345)


def test_alpha_words_are_padded_and_keep_their_sign_bit() -> None:
    assert alpha("T", 4) == 0x54202020
    assert alpha("", 8) == 0x2020202020202020
    assert alpha("LUDP", 4).to_bytes(4, "big") == b"LUDP"


@pytest.mark.parametrize("text", ["TOOLONGNAME", "ÄPFEL"])
def test_alpha_refuses_what_does_not_fit(text: str) -> None:
    with pytest.raises(ValueError):
        alpha(text, 8)
