"""The lines of the settings, opened by whichever transport they say, with every refusal told."""

from pathlib import Path
from typing import Any

import pytest

from tests.control.resolving import resolved_text
from tests.skips import require
from tests.transport.udp_toys import free_port
from tests.transport.veth import veth, within
from venym.control.lines import lines_of
from venym.control.receiving import Receiving
from venym.stages import feed
from venym.transport.xdp_errors import XdpError, XdpInterfaceAbsent


def settings_of(folder: Path, interface: str, more: str = "") -> Any:
    text = f'[feed]\ninterface = "{interface}"\nslots = 256\nreceive_buffer_octets = 200_000\n{more}\n'
    text += f'[[channels]]\nname = "one"\nline_a = "239.255.75.1:{free_port()}"\n'
    return resolved_text(folder, text)


def test_sockets_tell_what_each_line_brought(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "lo")
    with Receiving(settings, lines_of(settings)) as receiving:
        assert (receiving.source, receiving.wire.source) == ("udp", feed.UDP)
        assert list(receiving.counts()) == ["one A"] and receiving.lost() == 0
        assert receiving.tend() == []


def test_a_socket_that_is_refused_is_told_once(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "lo")
    with Receiving(settings, lines_of(settings)) as receiving:
        context = receiving.wire.udp
        context.counts[6], context.words[3] = 2, 105  # UDP_ERRORS of the line; ENOBUFS
        (told,) = receiving.tend()
        assert told.startswith("a socket was refused 2 times: 239.255.75.1") and "buffer" in told
        assert receiving.tend() == []


def test_af_xdp_serves_the_lines_and_says_what_is_not_as_asked_for(tmp_path: Path) -> None:
    require("needs AF_XDP")
    settings = settings_of(tmp_path, "in0", 'source = "xdp"\n[memory]\nhuge_pages = "never"')
    with veth() as pair, within(pair.inside), Receiving(settings, lines_of(settings)) as receiving:
        assert (receiving.source, receiving.wire.source) == ("xdp", feed.XDP)
        assert any("no zero copy" in note for note in receiving.notes)
        assert receiving.counts()["xdp"]["packets"] == 0 and receiving.lost() == 0
        assert receiving.tend() == []


def test_where_af_xdp_is_refused_nothing_else_is_done_unless_the_settings_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(tmp_path, "nowhere", 'source = "xdp"')
    with pytest.raises(XdpInterfaceAbsent, match="nowhere"):
        Receiving(settings, lines_of(settings))
    require("needs AF_XDP")
    with veth(mtu=8_901) as pair, within(pair.inside):
        settings = settings_of(tmp_path, "in0", 'source = "xdp"\nfall_back = true')
        with Receiving(settings, lines_of(settings)) as receiving:
            assert receiving.source == "udp"
        assert "feed.source: xdp was refused, so udp is used" in capsys.readouterr().err
        settings = settings_of(tmp_path, "in0", 'source = "xdp"')
        with pytest.raises(XdpError, match="MTU"):
            Receiving(settings, lines_of(settings))
