"""Types of command line options: from what stands there to a value, or an error that says what is wrong."""

import argparse
import re
from collections.abc import Callable
from datetime import date

DIGITS_MAX = 18  # any such number fits 64 bits
DAY_SECONDS = 86_400


def at_least(least: int) -> Callable[[str], int]:
    """An option's type: a whole number, plainly written, not under `least`."""

    def number(text: str) -> int:
        if not re.fullmatch(rf"[0-9]{{1,{DIGITS_MAX}}}", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} up")
        return int(text)

    return number


def iso_date(text: str) -> date:
    """An option's type: a day as YYYY-MM-DD."""
    if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a day, YYYY-MM-DD")
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a day: {error}") from error


def probability(text: str) -> float:
    """An option's type: 0 to 1."""
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?(e-?[0-9]{1,2})?", text, re.ASCII) or float(text) > 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no probability, 0 to 1")
    return float(text)


def probabilities(text: str) -> tuple[float, float]:
    """An option's type: a probability for both lines, or one for each."""
    first, comma, second = text.partition(",")
    return probability(first), probability(second if comma else first)


def seconds(text: str) -> float:
    """An option's type: plainly written, up to a day."""
    if not re.fullmatch(r"[0-9]{1,5}(\.[0-9]{1,9})?", text, re.ASCII) or float(text) > DAY_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds, 0 to 86400")
    return float(text)


def outage(text: str) -> tuple[int, int, int]:
    """An option's type: line, start and duration in nanoseconds."""
    line, _, rest = text.partition(":")
    start, _, duration = rest.partition(":")
    if line not in ("a", "b"):
        raise argparse.ArgumentTypeError(f"{text!r} is no outage, LINE:START:SECONDS with line a or b")
    duration_ns = round(seconds(duration) * 1e9)
    if duration_ns == 0:
        raise argparse.ArgumentTypeError(f"{text!r}: an outage takes longer than no time")
    return "ab".index(line), round(seconds(start) * 1e9), duration_ns


def session_name(text: str) -> str:
    """An option's type: the name of a MoldUDP64 session."""
    if not re.fullmatch(r"[!-~]{1,10}", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no session, 1 to 10 printable ASCII characters")
    return text
