"""Messages for people: one clean line, on stderr."""

import io
import re
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog

from venym.control.log import configure, log, say, show_warnings

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(autouse=True)
def unconfigured() -> Iterator[None]:
    structlog.reset_defaults()
    yield
    structlog.reset_defaults()


def test_what_a_command_says_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say("the file is cut")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "venym: the file is cut\n")


def test_a_closed_stderr_is_no_reason_to_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    say("nobody reads this")
    assert capsys.readouterr().out == ""


def test_events_have_a_time_a_level_and_fields() -> None:
    stream = io.StringIO()
    configure("info", stream)
    log("feed", channel=3).info("gap", missing=7)
    log("feed").debug("not shown")
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z \[info *\] gap +channel=3 missing=7 part=feed\n", stream.getvalue()
    )


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(ValueError, match="'loud' is none of debug"):
        configure("loud")


def test_unasked_only_warnings_and_errors_are_shown() -> None:
    code = "from venym.control.log import log; log('x').info('quiet'); log('x').warning('heard')"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    assert re.fullmatch(r"\S+ \[warning *\] heard +part=x\n", done.stderr)


def test_a_warning_of_ours_is_one_line_and_others_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    class CacheWarning(UserWarning): ...

    others: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show_warnings("CacheWarning", lambda message, *rest: others.append(str(message)))
        warnings.warn("the cache is damaged", CacheWarning, stacklevel=1)
        warnings.warn("something else", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "venym: warning: the cache is damaged\n"
    assert others == ["something else"]
