"""From settings to the recovery: every rule is a setting, and a start that cannot be is refused."""

from pathlib import Path

import pytest

from tests.control.resolving import resolved_text
from venym.control.errors import ConfigurationError
from venym.control.recovering import password_of, recovery_of, rules_of
from venym.hot.link import make_link
from venym.records import MISSING, RECOVERED
from venym.stages.decoder_words import FIRST_SEEN, FROM_ONE, FROM_SNAPSHOT

CHANNEL = '[[channels]]\nname = "one"\nline_a = "239.1.1.1:1000"\nrerequest = ["127.0.0.1:1001"]\n'


@pytest.mark.parametrize(("start", "word"), [("beginning", FROM_ONE), ("snapshot", FROM_SNAPSHOT), ("now", FIRST_SEEN)])
def test_the_decoder_is_told_how_to_begin_and_how_much_to_hold(tmp_path: Path, start: str, word: int) -> None:
    text = f'[recovery]\nstart = "{start}"\nheld_packets_max = 77\n{CHANNEL}glimpse = "127.0.0.1:1002"\n'
    rules = rules_of(resolved_text(tmp_path, text))
    assert (rules.start, rules.hold_packets, rules.hold_octets, rules.channels) == (word, 77, 2_048, 1)
    assert rules.tell_gaps


def test_a_start_by_snapshot_needs_a_server(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"channels\.one has no glimpse server"):
        rules_of(resolved_text(tmp_path, f'[recovery]\nstart = "snapshot"\n{CHANNEL}'))


def test_the_limits_are_the_settings(tmp_path: Path) -> None:
    text = (
        "[recovery]\noutstanding_max = 3\nrequests_per_second_max = 4\nrequest_messages_max = 5\nwait_us = 6\n"
        f"timeout_ms = 7\nattempts_max = 8\ngive_up_ms = 9\nsnapshot_attempts_max = 10\n{CHANNEL}"
    )
    made = recovery_of(
        resolved_text(tmp_path, text), make_link(MISSING, 4), make_link(RECOVERED, 4), lambda error: None, print
    )
    made.stop()
    limits = made.channels[0].schedule.limits
    assert limits[:3] == (3, 4, 5) and (limits.wait_ns, limits.timeout_ns) == (6_000, 7_000_000)
    assert (limits.attempts_max, limits.give_up_ns) == (8, 9_000_000)


def test_a_password_is_a_credential(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CREDENTIALS_DIRECTORY", raising=False)
    assert password_of("one") == ""
    (tmp_path / "one.password").write_text("secret\n")
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    assert (password_of("one"), password_of("two")) == ("secret", "")
