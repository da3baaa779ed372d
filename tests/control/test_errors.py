"""Exit codes are told apart, and said to be the same everywhere."""

import re
from pathlib import Path

from venym import cli
from venym.control import errors

ROOT = Path(__file__).resolve().parents[2]
CODES = {name: value for name, value in vars(errors).items() if name.isupper()}


def test_every_end_has_a_code_of_its_own_that_a_shell_can_see() -> None:
    assert len(set(CODES.values())) == len(CODES)
    assert all(0 <= code < 256 for code in CODES.values())


def test_codes_are_those_that_the_page_and_the_help_promise() -> None:
    told = {int(code) for code in re.findall(r"(?:^|   )(\d+) [a-zC]", errors.__doc__ or "", re.MULTILINE)}
    assert told == set(CODES.values())
    readme = re.findall(r"^\| ([\d, ]+) \|", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    assert {int(code) for row in readme for code in row.split(", ")} == set(CODES.values())
    said = re.findall(r"(\d) (good|bad data|usage or configuration|risk or kill)", cli.EPILOG)
    assert {words: int(code) for code, words in said} == {
        "good": errors.GOOD,
        "bad data": errors.BAD_DATA,
        "usage or configuration": errors.USAGE,
        "risk or kill": errors.RISK,
    }


def test_a_signal_and_a_broken_pipe_end_as_a_shell_reports_them() -> None:
    assert (errors.INTERRUPTED, errors.BROKEN_PIPE) == (128 + 2, 128 + 13)


def test_errors_that_a_part_names_have_codes_that_exist() -> None:
    assert {code for _, _, code in cli.ERRORS} <= set(CODES.values())
