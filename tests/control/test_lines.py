"""Channels of the settings as lines, numbered as packets number them."""

from typing import Any

import pytest

from venym.control.errors import ConfigurationError
from venym.control.lines import lines_of, name_of
from venym.control.resolve import resolve
from venym.control.settings import Settings
from venym.transport.lines import Line


def test_two_lines_a_channel_whether_there_is_a_second_or_not(toml: Any) -> None:
    path = toml(
        '[feed]\ninterface = "eth0"\n[[channels]]\nname = "one"\nline_a = "239.1.1.1:26400"\n'
        '[[channels]]\nname = "two"\nline_a = "239.1.2.1:26401"\nline_b = "239.1.2.2:26402"\n'
        'interface_b = "eth1"\nsource_b = "192.0.2.7"\n'
    )
    settings = resolve(path, [], {}).settings
    assert lines_of(settings) == [
        Line("239.1.1.1", 26400, "eth0"),
        None,
        Line("239.1.2.1", 26401, "eth0"),
        Line("239.1.2.2", 26402, "eth1", "192.0.2.7"),
    ]
    assert [name_of(settings, number) for number in range(4)] == ["one A", "one B", "two A", "two B"]


def test_no_channel_and_a_line_twice_are_refused(toml: Any) -> None:
    with pytest.raises(ConfigurationError, match="channels: there is none"):
        lines_of(Settings())
    path = toml('[[channels]]\nname = "one"\nline_a = "239.1.1.1:26400"\nline_b = "239.1.1.1:26400"\n')
    with pytest.raises(ConfigurationError, match=r"channels: line 239.1.1.1:26400: it stands there twice"):
        lines_of(resolve(path, [], {}).settings)
