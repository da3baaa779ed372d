"""One message of each ITCH 5.0 type, written out by hand from the specification: octets, and what they mean.

No two fields of a message hold the same value, so a field read from the wrong place shows.
"""

from typing import Any

LOCATE_7_TRACKING_2_9H30 = "0007 0002 1f1ad635bd15 "  # 34,200.123456789 s after midnight
HEADER = {"stock_locate": 7, "tracking_number": 2, "timestamp": 34_200_123_456_789}
TEST = "5445535420202020 "
REF_1 = "00000000002ba40d "
REF_2 = "ffffffffffffffff "
MATCH = "0000000000989681 "


def _sample(kind: str, rest: str, **fields: Any) -> tuple[bytes, dict[str, Any]]:
    octets = kind.encode() + bytes.fromhex(LOCATE_7_TRACKING_2_9H30 + rest)
    return octets, {"message_type": kind, **HEADER, **fields}


SAMPLES: tuple[tuple[bytes, dict[str, Any]], ...] = (
    _sample("S", "4f", event_code="O"),
    _sample(
        "R",
        TEST + "56 44 00000064 4e 43 5254 50 4e 59 31 5a 00000003 42",
        stock="TEST",
        market_category="V",
        financial_status_indicator="D",
        round_lot_size=100,
        round_lots_only="N",
        issue_classification="C",
        issue_sub_type="RT",
        authenticity="P",
        short_sale_threshold_indicator="N",
        ipo_flag="Y",
        luld_reference_price_tier="1",
        etp_flag="Z",
        etp_leverage_factor=3,
        inverse_indicator="B",
    ),
    _sample("H", TEST + "51 20 49504f31", stock="TEST", trading_state="Q", reserved="", reason="IPO1"),
    _sample("Y", TEST + "32", stock="TEST", reg_sho_action="2"),
    _sample(
        "L",
        "56495254" + TEST + "59 4e 41",
        mpid="VIRT",
        stock="TEST",
        primary_market_maker="Y",
        market_maker_mode="N",
        market_participant_state="A",
    ),
    _sample(
        "V",
        "00000068c6171400 0000005d21dba000 000000517da02c00",
        level_1=450_000_000_000,
        level_2=400_000_000_000,
        level_3=350_000_000_000,
    ),
    _sample("W", "32", breached_level="2"),
    _sample(
        "K",
        TEST + "00008ca0 41 0001adb0",
        stock="TEST",
        ipo_quotation_release_time=36_000,
        ipo_quotation_release_qualifier="A",
        ipo_price=110_000,
    ),
    _sample(
        "J",
        TEST + "000186a0 0001adb0 00015f90 00000005",
        stock="TEST",
        auction_collar_reference_price=100_000,
        upper_auction_collar_price=110_000,
        lower_auction_collar_price=90_000,
        auction_collar_extension=5,
    ),
    _sample("h", TEST + "42 48", stock="TEST", market_code="B", operational_halt_action="H"),
    _sample(
        "A",
        REF_1 + "42 000003e8" + TEST + "000186a0",
        order_reference_number=2_860_045,
        buy_sell_indicator="B",
        shares=1_000,
        stock="TEST",
        price=100_000,
    ),
    _sample(
        "F",
        REF_2 + "53 fffffffe" + TEST + "ffffffff 4d504944",
        order_reference_number=2**64 - 1,
        buy_sell_indicator="S",
        shares=2**32 - 2,
        stock="TEST",
        price=2**32 - 1,
        attribution="MPID",
    ),
    _sample(
        "E",
        REF_1 + "00000064" + MATCH,
        order_reference_number=2_860_045,
        executed_shares=100,
        match_number=10_000_001,
    ),
    _sample(
        "C",
        REF_1 + "00000028" + MATCH + "4e 000182b8",
        order_reference_number=2_860_045,
        executed_shares=40,
        match_number=10_000_001,
        printable="N",
        execution_price=99_000,
    ),
    _sample("X", REF_1 + "00000050", order_reference_number=2_860_045, cancelled_shares=80),
    _sample("D", "8000000000000000", order_reference_number=2**63),
    _sample(
        "U",
        REF_1 + REF_2 + "00000050 0001869f",
        original_order_reference_number=2_860_045,
        new_order_reference_number=2**64 - 1,
        shares=80,
        price=99_999,
    ),
    _sample(
        "P",
        "0000000000000000 42 000001f4" + TEST + "00018704" + MATCH,
        order_reference_number=0,
        buy_sell_indicator="B",
        shares=500,
        stock="TEST",
        price=100_100,
        match_number=10_000_001,
    ),
    _sample(
        "Q",
        "000000012a05f200" + TEST + "000186a0" + MATCH + "43",
        shares=5_000_000_000,
        stock="TEST",
        cross_price=100_000,
        match_number=10_000_001,
        cross_type="C",
    ),
    _sample("B", MATCH, match_number=10_000_001),
    _sample(
        "I",
        "00000000000003e9 00000000000003ea 42" + TEST + "000186a1 000186a2 000186a3 4f 4c",
        paired_shares=1_001,
        imbalance_shares=1_002,
        imbalance_direction="B",
        stock="TEST",
        far_price=100_001,
        near_price=100_002,
        current_reference_price=100_003,
        cross_type="O",
        price_variation_indicator="L",
    ),
    _sample("N", TEST + "41", stock="TEST", interest_flag="A"),
    _sample(
        "O",
        TEST + "59 00000001 00000002 00000003 00001f1ad635bd16 00000004 00000005",
        stock="TEST",
        open_eligibility_status="Y",
        minimum_allowable_price=1,
        maximum_allowable_price=2,
        near_execution_price=3,
        near_execution_time=34_200_123_456_790,
        lower_price_range_collar=4,
        upper_price_range_collar=5,
    ),
)


def framed(*messages: bytes) -> bytes:
    """Messages as length-prefixed blocks."""
    return b"".join(len(message).to_bytes(2, "big") + message for message in messages)


def mold(*messages: bytes, sequence: int = 1, count: int | None = None) -> bytes:
    """A MoldUDP64 payload; `count` overrides what the header says."""
    said = len(messages) if count is None else count
    return b"SESSION001" + sequence.to_bytes(8, "big") + said.to_bytes(2, "big") + framed(*messages)
