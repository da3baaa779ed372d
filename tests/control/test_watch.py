"""What a person is told while a feed runs: a line now and then; a silent line once, and again when it comes back."""

from typing import Any

import numpy as np
import pytest

from tests.control.resolving import resolved_text
from venym import metrics
from venym.control.watch import Watch
from venym.stages.lines import LINE

SECOND_NS = 1_000_000_000
CHANNELS = """
[run]
report_seconds = 2
silence_ms = 3_000
[[channels]]
name = "one"
line_a = "239.1.1.1:1000"
line_b = "239.1.1.2:1000"
[[channels]]
name = "two"
line_a = "239.1.1.3:1000"
"""


class Decoder:
    """Counters as the decoder's, moved by hand."""

    def __init__(self) -> None:
        self.counters = np.zeros(metrics.DECODER_COUNTERS, np.int64)
        self.lines = np.zeros(8, LINE).view(np.recarray)


class Receiving:
    def __init__(self) -> None:
        self.wrong: list[str] = []

    def lost(self) -> int:
        return 3

    def tend(self) -> list[str]:
        return self.wrong


class Scene:
    def __init__(self, settings: Any) -> None:
        self.now_ns = 0
        self.told: list[str] = []
        self.decoder, self.receiving = Decoder(), Receiving()
        self.watch = Watch(settings, self.decoder, self.receiving, self.told.append, lambda: self.now_ns)  # type: ignore[arg-type]

    def pass_seconds(self, count: int, *lines: int) -> list[str]:
        """Seconds go by, in which these lines bring a packet each; what was told."""
        self.told.clear()
        for _ in range(count):
            self.now_ns += SECOND_NS
            for line in lines:
                self.decoder.lines[line].packets += 1
            self.decoder.counters[metrics.MESSAGES] += 500
            self.watch.look(34_200 * SECOND_NS)
        return self.told


@pytest.fixture
def scene(tmp_path: Any) -> Scene:
    return Scene(resolved_text(tmp_path, CHANNELS))


def test_a_line_tells_now_and_then_what_came(scene: Scene) -> None:
    assert scene.pass_seconds(2, 0, 1, 2) == [
        "09:30:00.000000000  1,000 messages (500/s)  packets: one A 2  one B 2  two A 2  lost 3  gaps 0"
    ]
    assert len(scene.pass_seconds(4, 0, 1, 2)) == 2


def test_a_line_that_falls_silent_is_told_once_and_again_when_it_comes_back(scene: Scene) -> None:
    def alarms(told: list[str]) -> list[str]:
        return [text for text in told if "messages (" not in text]

    assert alarms(scene.pass_seconds(2, 0, 1, 2)) == []
    assert alarms(scene.pass_seconds(5, 0, 2)) == ["ALARM: line one B: nothing came for 3 s"]
    assert scene.watch.silent() == ["one B"]
    assert alarms(scene.pass_seconds(1, 0, 1, 2)) == ["line one B: packets come again"]
    assert scene.watch.silent() == []


def test_a_line_silent_from_the_start_is_told_of_too(scene: Scene) -> None:
    told = [text for text in scene.pass_seconds(4, 2) if text.startswith("ALARM")]
    assert told == [f"ALARM: line one {side}: nothing came for 3 s" for side in "AB"]


def test_what_goes_wrong_outside_is_told_when_it_begins(scene: Scene) -> None:
    scene.receiving.wrong = ["eth1: the interface is down"]
    told = scene.pass_seconds(3, 0, 1, 2)
    assert told.count("warning: eth1: the interface is down") == 1
