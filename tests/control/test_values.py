"""What a value may be is what the part that it is for will take."""

import struct
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from venym.control import values
from venym.control.pacing import parse_speed
from venym.wire import fix_encode


def takes(kind: Any, value: object) -> bool:
    try:
        TypeAdapter(kind).validate_python(value)
    except ValidationError:
        return False
    return True


def template(tags: dict[int, str], sender: str = "A", prefix: str = "", decimals: int = 3) -> bool:
    """Does the encoder take these?"""
    try:
        fix_encode.make_template(
            "FIX.4.2", fix_encode.NEW_ORDER, sender, "B", tags, cl_ord_id_prefix=prefix, decimals=decimals
        )
    except fix_encode.TemplateError:
        return False
    return True


@pytest.mark.parametrize("tag", range(-1, 200))
def test_tags_are_those_that_the_encoder_leaves_free(tag: int) -> None:
    assert takes(values.Tags, {str(tag): "x"}) is template({tag: "x"})


@given(st.text(max_size=3))
def test_fix_text_is_what_the_encoder_takes(text: str) -> None:
    assert takes(values.FixText, text) is template({}, sender=text)
    assert takes(values.Prefix, text) is template({}, prefix=text)


def test_prefixes_and_decimals_are_those_of_the_encoder() -> None:
    for length in (20, 21):
        assert takes(values.Prefix, "x" * length) is template({}, prefix="x" * length)
    for decimals in range(-1, 11):
        assert takes(values.Decimals, decimals) is template({}, decimals=decimals)


@pytest.mark.parametrize("value", [True, "1", None, float("nan"), float("inf"), 2**53 + 1, -(2**53) - 1, [1], {}])
def test_a_parameter_is_no_such_thing(value: object) -> None:
    assert not takes(values.Params, {"x": value})


@given(st.one_of(st.integers(-(2**53), 2**53), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_parameter_is_a_number_that_a_float64_holds(value: float) -> None:
    (held,) = TypeAdapter(values.Params).validate_python({"x": value}).values()
    assert type(held) is type(value)
    assert struct.unpack("d", struct.pack("d", held)) == (value,)


@pytest.mark.parametrize("path", ["a\0b", "a\udcffb"])
def test_a_path_is_text(path: str) -> None:
    for kind in (values.Folder, values.FolderOrNone, values.ModelFile, values.StrategyFile):
        assert not takes(kind, path)


@pytest.mark.parametrize("symbol", ["", "A B", "\u00c4", "123456789", "A\n"])
def test_a_symbol_fits_the_eight_octets_that_it_has(symbol: str) -> None:
    assert not takes(values.Symbol, symbol)
    assert takes(values.Symbol, "BRK.A-W=")


@given(st.one_of(st.text(max_size=5), st.from_regex(r"[-+0-9.e]{1,6}", fullmatch=True), st.floats().map(str)))
@example("max")
@example("realtime")
def test_a_speed_is_what_the_pacer_takes(text: str) -> None:
    try:
        parse_speed(text)
    except ValueError:
        assert not takes(values.Speed, text)
    else:
        assert takes(values.Speed, text)


def test_a_speed_may_be_written_as_a_number() -> None:
    assert TypeAdapter(values.Speed).validate_python(0.5) == "0.5"
    assert not takes(values.Speed, True)


@pytest.mark.parametrize(
    ("kind", "good", "bad"),
    [
        (values.LineAddress, "233.54.12.111:26477", ["", "239.1.1.1", "239.1.1:1", "a:1", "::1:1", "239.1.1.1:65536"]),
        (values.LineAddressOrNone, "", ["239.1.1.1:0", "239.1.1.1:+1", "239.1.1.1:01", "239.1.1.1: 1", ":1"]),
        (values.Endpoint, "glimpse-1.example.com:17009", ["", "host", ":1", "-a:1", "a b:1", "host:99999", "a:\uff11"]),
        (values.EndpointOrNone, "", ["host", "10.0.0.1:"]),
        (values.SourceAddress, "192.0.2.1", ["192.0.2.256", "192.0.2.01", "host"]),
        (values.SourceAddress, "", [" ", "\0"]),
        (values.Interface, "enp1s0f0.100@x", ["a/b", "a b", "..", "0123456789abcdef", "a\n", "\u00e4"]),
    ],
)
def test_addresses_and_names_of_the_network(kind: Any, good: str, bad: list[str]) -> None:
    assert takes(kind, good)
    assert [text for text in bad if takes(kind, text)] == []
    assert not takes(kind, None)
    assert not takes(kind, 5)


@given(st.integers(-(2**40), 2**40))
@example(1)
@example(2**30)
def test_a_power_of_two(number: int) -> None:
    assert takes(values.PowerOfTwo, number) is (number in {1 << bits for bits in range(41)})
