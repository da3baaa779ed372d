"""Lines are told apart, and what is none is refused by name."""

import pytest

from venym.transport.lines import Line, LineError, check_lines


def test_a_line_says_where_it_comes_from() -> None:
    assert str(Line("239.1.1.1", 26400)) == "239.1.1.1:26400"
    assert str(Line("239.1.1.1", 26400, "eth1", "192.0.2.7")) == "239.1.1.1:26400 on eth1 from 192.0.2.7"


@pytest.mark.parametrize(
    ("group", "is_multicast"),
    [("223.255.255.255", False), ("224.0.0.0", True), ("239.255.255.255", True), ("240.0.0.0", False)],
)
def test_groups_begin_with_four_bits(group: str, is_multicast: bool) -> None:
    assert Line(group, 1).is_multicast is is_multicast


def test_one_group_may_come_over_two_interfaces() -> None:
    check_lines([Line("239.1.1.1", 1, "eth1"), Line("239.1.1.1", 1, "eth2"), None, Line("239.1.1.1", 2, "eth1")])


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "there is no line to receive"),
        ([None, None], "there is no line to receive"),
        ([Line("239.1.1.1", 1), None, Line("239.1.1.1", 1)], "twice, as number 0 and 2"),
        ([Line("239.1.1.1", 1, "e", "10.0.0.1"), Line("239.1.1.1", 1, "e", "10.0.0.2")], "twice"),
        ([Line("239.1.1", 1)], "'239.1.1' is no IPv4 address"),
        ([Line("239.1.1.1", 0)], "a port is a number from 1 to 65535"),
        ([Line("239.1.1.1", 65_536)], "a port is a number from 1 to 65535"),
        ([Line("239.1.1.1", 1, "", "here")], "'here' is no IPv4 address"),
        ([Line("0.0.0.0", 1)], "packets of every group would be taken"),
        ([Line("127.0.0.1", 1, "", "10.0.0.1")], "a sender can be chosen for a multicast group only"),
    ],
)
def test_what_is_no_line_is_refused_by_name(lines: list[Line | None], said: str) -> None:
    with pytest.raises(LineError, match=said):
        check_lines(lines)
