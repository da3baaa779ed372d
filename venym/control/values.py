"""The types of setting: what a value may be, and what is said when it is not.

A validator takes what stands in the file, or what `given` made of an option's text, and raises ValueError with the
reason, which is shown behind the setting's name.
"""

import math
import re
from contextlib import suppress
from ipaddress import IPv4Address
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

LARGEST_INDEX = 2**31 - 1  # tables are indexed with 32 bits
EXACT_MAX = 2**53  # float64 holds every whole number up to here
DAY_MS = 86_400_000
PORT_MAX = 65_535
FIX_DECIMALS = (0, 3, 6, 9)
FIX_OWN_TAGS = frozenset({8, 9, 10, 11, 34, 35, 38, 40, 41, 43, 44, 49, 52, 54, 55, 56, 59, 60, 97, 122})
EXAMPLE = re.compile(r"venym:([a-z][a-z0-9_]*)")
EXAMPLES = Path(__file__).resolve().parent.parent / "strategies"


def path_of(file: str) -> Path:
    """The path that the setting of a strategy's file means: ``venym:NAME`` is an example inside the package."""
    example = EXAMPLE.fullmatch(file)
    return EXAMPLES / f"{example[1]}.py" if example else Path(file)


def _path_text(given: str) -> str:
    if "\0" in given:
        raise ValueError("a path has no zero byte")
    try:
        given.encode()
        Path(given).expanduser()
    except UnicodeEncodeError as error:
        raise ValueError("a path is written in UTF-8") from error
    except RuntimeError as error:  # ~somebody
        raise ValueError("could not determine home directory") from error
    return given


def _folder(given: Any) -> Any:
    """TOML has no null: an empty text is no folder."""
    if given == "":
        return None
    return Path(_path_text(given)).expanduser() if isinstance(given, str) else given


def _strategy_file(given: str) -> str:
    if given.startswith("venym:") and not EXAMPLE.fullmatch(given):
        raise ValueError("an example is venym:NAME")
    if not given:
        raise ValueError("a file must be named")
    return _path_text(given)


def _fix_text(given: str) -> str:
    if not re.fullmatch(r"[ -~]+", given):
        raise ValueError("FIX text is one or more printable ASCII characters")
    return given


def _tag(given: Any) -> int:
    if not re.fullmatch(r"[1-9][0-9]{0,8}", str(given)):
        raise ValueError("a tag is a whole number from 1 up")
    if int(given) in FIX_OWN_TAGS:
        raise ValueError(f"tag {given} is written by venym itself")
    return int(given)


def _decimals(given: int) -> int:
    if given not in FIX_DECIMALS:
        raise ValueError("input should be 0, 3, 6 or 9")
    return given


def _speed(given: Any) -> Any:
    text = str(given) if isinstance(given, int | float) and not isinstance(given, bool) else given
    if isinstance(text, str):
        if text in ("max", "realtime"):
            return text
        with suppress(ValueError):
            if 0 < float(text) < math.inf:
                return text
    raise ValueError("a speed is max, realtime, or a number above 0")


def _symbol(given: str) -> str:
    if not re.fullmatch(r"[!-~]{1,8}", given):
        raise ValueError("a symbol is 1 to 8 printable ASCII characters without a space")
    return given


def _symbols(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        raise ValueError("input should be a list of symbols")
    if not given:
        raise ValueError("there must be at least one symbol")
    for place, symbol in enumerate(given):
        if symbol in given[:place]:
            raise ValueError(f"{symbol} stands there twice")
    return given


def _line(given: str) -> str:
    group, _, port = given.rpartition(":")
    try:
        IPv4Address(group)
    except ValueError as error:
        raise ValueError("a line is an IPv4 address and a port, such as 233.54.12.111:26477") from error
    _check_port(port)
    return given


def _endpoint(given: str) -> str:
    host, _, port = given.rpartition(":")
    if not re.fullmatch(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?", host):
        raise ValueError("an address is host:port")
    _check_port(port)
    return given


def _check_port(text: str) -> None:
    if not re.fullmatch(r"[1-9][0-9]{0,4}", text) or int(text) > PORT_MAX:
        raise ValueError(f"a port is a number from 1 to {PORT_MAX}")


def _address(given: str) -> str:
    if given:
        try:
            IPv4Address(given)
        except ValueError as error:
            raise ValueError("input should be an IPv4 address") from error
    return given


def _interface(given: str) -> str:
    if not re.fullmatch(r"[!-.0-~]{0,15}", given) or given in (".", ".."):
        raise ValueError("a network interface's name is up to 15 printable ASCII characters without / or a space")
    return given


def _power_of_two(given: int) -> int:
    if given & (given - 1):
        raise ValueError("input should be a power of two")
    return given


def _name(given: str) -> str:
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,31}", given):
        raise ValueError("a name is up to 32 letters, digits, _ and -, and begins with a letter or _")
    return given


def _number(given: Any) -> Any:
    if isinstance(given, bool) or not isinstance(given, int | float):
        raise ValueError("input should be a number")
    if isinstance(given, int) and abs(given) > EXACT_MAX:
        raise ValueError(f"a whole number should be at most {EXACT_MAX}")
    if not math.isfinite(given):
        raise ValueError("input should be a finite number")
    return given


Flag = Annotated[bool, Field(strict=True)]
Entries = Annotated[int, Field(strict=True, ge=1, le=LARGEST_INDEX)]
Dollars = Annotated[int, Field(strict=True, ge=1, le=10**9)]
Milliseconds = Annotated[int, Field(strict=True, ge=1, le=DAY_MS)]
LatencyNs = Annotated[int, Field(strict=True, ge=1, le=10**12)]
FeeE6 = Annotated[int, Field(strict=True, ge=-(10**6), le=10**6)]
When = Literal["auto", "never", "always"]

Folder = Annotated[Path, BeforeValidator(_folder)]
FolderOrNone = Annotated[Path | None, BeforeValidator(_folder)]
ModelFile = Annotated[str, Field(strict=True), AfterValidator(_path_text)]
StrategyFile = Annotated[str, Field(strict=True), AfterValidator(_strategy_file)]

Decimals = Annotated[int, Field(strict=True), AfterValidator(_decimals)]
FixText = Annotated[str, Field(strict=True, max_length=64), AfterValidator(_fix_text)]
Prefix = Annotated[str, Field(strict=True, pattern=r"^[ -~]*$", max_length=20)]
Tags = dict[Annotated[int, BeforeValidator(_tag)], FixText]

Speed = Annotated[str, BeforeValidator(_speed)]

Interface = Annotated[str, Field(strict=True), AfterValidator(_interface)]
LineAddress = Annotated[str, Field(strict=True), AfterValidator(_line)]
LineAddressOrNone = Annotated[str, Field(strict=True), AfterValidator(lambda given: given and _line(given))]
SourceAddress = Annotated[str, Field(strict=True), AfterValidator(_address)]
Endpoint = Annotated[str, Field(strict=True), AfterValidator(_endpoint)]
EndpointOrNone = Annotated[str, Field(strict=True), AfterValidator(lambda given: given and _endpoint(given))]
PowerOfTwo = Annotated[int, Field(strict=True, ge=1), AfterValidator(_power_of_two)]

Name = Annotated[str, Field(strict=True), AfterValidator(_name)]
Symbol = Annotated[str, Field(strict=True), AfterValidator(_symbol)]
Symbols = Annotated[tuple[Symbol, ...], BeforeValidator(_symbols)]
Params = dict[str, Annotated[int | float, BeforeValidator(_number)]]
