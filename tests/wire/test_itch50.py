"""The table of ITCH 5.0 messages is the specification, and its byte offsets have names."""

import json

import pytest

from tests.wire.itch50_samples import SAMPLES
from venym.wire import itch50
from venym.wire.itch50 import ALPHA, HEADER, INT, LENGTH_MAX, LENGTH_MIN, LENGTHS, MESSAGES, PRICE4, PRICE8, layout

LENGTH_BY_TYPE = dict(
    S=12, R=39, H=25, Y=20, L=26, V=35, W=12, K=28, J=35, h=21, A=36, F=40, E=31, C=36, X=23, D=19, U=35, P=44, Q=40,
    B=19, I=50, N=20, O=48,
)  # fmt: skip


def test_every_type_has_its_length_and_any_other_none():
    assert {kind: message.length for kind, message in MESSAGES.items()} == LENGTH_BY_TYPE
    assert {chr(code): LENGTHS[code] for code in range(256) if LENGTHS[code]} == LENGTH_BY_TYPE
    assert (LENGTH_MIN, LENGTH_MAX) == (12, 50)


@pytest.mark.parametrize("kind", MESSAGES)
def test_fields_follow_each_other_without_hole_or_overlap(kind):
    at = 0
    for field in HEADER + MESSAGES[kind].fields:
        assert field.offset == at
        assert field.kind != PRICE4 or field.width == 4
        assert field.kind != PRICE8 or field.width == 8
        assert field.kind != INT or field.width in (2, 4, 6, 8)
        assert field.kind != ALPHA or field.width in (1, 2, 4, 8)
        at += field.width
    assert at == MESSAGES[kind].length


def test_there_is_a_layout_by_name_for_every_type():
    for kind, message in MESSAGES.items():
        named = getattr(itch50, message.name.upper())
        assert named == layout(kind)
        assert (named.code, named.length) == (ord(kind), message.length)
        assert {field.name: getattr(named, field.name) for field in message.fields} == {
            field.name: field.offset for field in message.fields
        }
    assert (itch50.STOCK_LOCATE, itch50.TRACKING_NUMBER, itch50.TIMESTAMP) == (1, 3, 5)


def test_samples_are_one_of_each_type():
    assert [fields["message_type"] for _, fields in SAMPLES] == list(MESSAGES)
    assert [len(octets) for octets, _ in SAMPLES] == [message.length for message in MESSAGES.values()]


def test_table_is_the_specification(shared):
    kinds = {"alpha": ALPHA, "int": INT, "timestamp6": INT, "price4": PRICE4, "price8": PRICE8}
    specified = json.loads((shared / "facts" / "itch50.json").read_text())["itch50"]["messages"]
    assert [message["type"] for message in specified] == list(MESSAGES)
    for message in specified:
        held = MESSAGES[message["type"]]
        assert (held.name, held.length) == (message["name"], message["length"])
        assert [tuple(field) for field in HEADER + held.fields] == [
            (field["name"], field["offset"], field["length"], kinds[field["type"]]) for field in message["fields"]
        ]
