"""Lines over interfaces of their own, between two machines; and what somebody without rights is told."""

import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.skips import require
from tests.transport.networks import Network, inside, network, powerless
from tests.transport.udp_toys import came, counted, free_port, opened, payloads, quiet, sender
from venym.transport.udp import Line, Udp, UdpError

GROUP, PORT = "239.255.71.1", 26_400
A, B = Line(GROUP, PORT, "e1"), Line(GROUP, PORT, "e2")
LARGE = 1 << 29


@pytest.fixture(scope="module")
def cables() -> Iterator[Network]:
    require("needs network namespaces")
    with network() as made:
        yield made


@pytest.fixture
def far(cables: Network) -> Iterator[Callable[[str, bytes], None]]:
    """Sends to the group from the other machine, over one of its interfaces."""
    sockets = {name: inside(cables.far, lambda name=name: sender(name)) for name in ("f1", "f2")}  # type: ignore[misc]
    yield lambda name, text: [sockets[name].sendto(text, (GROUP, PORT))].clear()
    for made in sockets.values():
        made.close()


def near(cables: Network, *lines: Line, **options: object) -> Udp:
    return inside(cables.near, lambda: opened(lines, **options))  # type: ignore[arg-type]


def joined(cables: Network) -> dict[str, list[str]]:
    """The groups that each interface is a member of."""
    text = inside(cables.near, lambda: Path("/proc/thread-self/net/igmp").read_text("ascii"))
    found: dict[str, list[str]] = {}
    for line in text.splitlines()[1:]:
        words = line.split()
        if line[0].isdigit():
            groups = found.setdefault(words[1], [])
        else:
            groups.append(socket.inet_ntoa(bytes.fromhex(words[0])[::-1]))
    return found


def filter_paths(cables: Network, interface: str, value: int) -> None:
    def write() -> None:
        Path(f"/proc/sys/net/ipv4/conf/{interface}/rp_filter").write_text(str(value), "ascii")

    inside(cables.near, write)


def test_the_group_is_joined_on_the_lines_interface(cables: Network, far: Callable[[str, bytes], None]) -> None:
    with near(cables, B) as made:
        far("f1", b"on the other cable")
        far("f2", b"on ours")
        assert payloads(made.context, 1) == [b"on ours"]
        assert quiet(made.context)
        assert {name for name, groups in joined(cables).items() if GROUP in groups} == {"e2"}
    assert {name for name, groups in joined(cables).items() if GROUP in groups} == set()


def test_one_group_over_two_interfaces_is_two_lines(cables: Network, far: Callable[[str, bytes], None]) -> None:
    with near(cables, A, B) as made:
        for number in range(4):
            far("f1", b"A%d" % number)
            far("f2", b"B%d" % number)
        got = came(made.context, 8)
        assert quiet(made.context)
    assert [held.payload for held in got if held.line == 0] == [b"A0", b"A1", b"A2", b"A3"]
    assert [held.payload for held in got if held.line == 1] == [b"B0", b"B1", b"B2", b"B3"]


def test_the_source_is_looked_at_on_the_lines_interface(cables: Network, far: Callable[[str, bytes], None]) -> None:
    lines = A._replace(source="10.77.1.2"), B._replace(source="10.77.1.2")
    with near(cables, *lines) as made:
        far("f1", b"from there")
        far("f2", b"from elsewhere")
        assert [held[:2] for held in came(made.context, 1)] == [(0, b"from there")]
        assert quiet(made.context)


def test_an_own_address_is_heard_on_the_named_interface_only(cables: Network) -> None:
    with (
        near(cables, Line("10.77.1.1", PORT, "e2")) as wrong,
        near(cables, Line("10.77.1.1", PORT + 1, "e1")) as right,
        inside(cables.far, lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sending,
    ):
        for port in (PORT, PORT + 1):
            sending.sendto(b"here", ("10.77.1.1", port))
        assert payloads(right.context, 1) == [b"here"]
        assert quiet(wrong.context)


def test_strict_filtering_of_paths_is_announced(cables: Network, far: Callable[[str, bytes], None]) -> None:
    filter_paths(cables, "e2", 1)
    try:
        with near(cables, A, B) as made:
            (note,) = made.notes
            assert note.startswith(f"line {B}: rp_filter is strict")
            assert "net.ipv4.conf.e2.rp_filter must not be 1" in note
    finally:
        filter_paths(cables, "e2", 0)


def test_an_interface_that_is_down_is_announced(cables: Network) -> None:
    def lone() -> Udp:
        subprocess.run(["ip", "link", "add", "down0", "type", "veth", "peer", "name", "down1"], check=True)
        return opened([Line(GROUP, PORT, "down0")])

    with inside(cables.near, lone) as made:
        assert made.notes == [f"line {GROUP}:{PORT} on down0: down0 is down; nothing comes until it is up"]


def test_a_line_of_no_interface_needs_a_route(cables: Network) -> None:
    with pytest.raises(UdpError, match=r"no route tells on which interface to join; name the interface"):
        near(cables, Line(GROUP, PORT))


def test_an_interface_of_another_name_is_refused(cables: Network) -> None:
    with pytest.raises(UdpError, match=r"no network interface f1; there are lo, .*e1, e2|e2, e1"):
        near(cables, Line(GROUP, PORT, "f1"))


def test_a_card_that_does_not_stamp_is_refused(cables: Network) -> None:
    with pytest.raises(UdpError, match=r"e1 cannot stamp every packet it receives; set stamps to software"):
        near(cables, A, stamps="hardware")


def test_busy_polling_is_set(cables: Network, far: Callable[[str, bytes], None]) -> None:
    with near(cables, A, busy_poll_us=50) as made:
        assert made._sockets[0].getsockopt(socket.SOL_SOCKET, 46) == 50
        far("f1", b"polled")
        assert payloads(made.context, 1) == [b"polled"]
        assert counted(made.context) == {"packets": 1, "octets": 6}


def test_a_large_buffer_is_had_with_the_right_to_it(cables: Network) -> None:
    with near(cables, A, buffer_octets=LARGE) as made:
        assert made.notes == []


def test_a_buffer_that_is_smaller_than_asked_for_is_announced() -> None:
    line = Line(GROUP, free_port(), "lo")
    with powerless(lambda: opened([line], buffer_octets=LARGE)) as made:
        notes = [note for note in made.notes if "rp_filter" not in note]
        got = made._sockets[0].getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2
        assert notes == [
            f"line {line}: the receive buffer is {got} octets, {LARGE} were asked for; "
            "set net.core.rmem_max to that, or give CAP_NET_ADMIN"
        ]
        assert got < LARGE


def test_a_right_that_is_missing_is_named() -> None:
    line = Line(GROUP, 80, "lo")
    with pytest.raises(UdpError, match=rf"^line {line}: port 80 takes CAP_NET_BIND_SERVICE \(Permission denied\)"):
        powerless(lambda: opened([line]))


def test_busy_polling_that_is_refused_is_named() -> None:
    line = Line(GROUP, free_port(), "lo")
    with pytest.raises(UdpError, match=rf"^line {line}: busy polling cannot be set; .* \(Invalid argument\)"):
        opened([line], busy_poll_us=-1)
