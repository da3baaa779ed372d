"""Which messages of packets are due, and when: sessions, lines and sequence with lists and dictionaries."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.naive.itch50 import blocks


class Packet(NamedTuple):
    octets: bytes
    line: int = 0
    is_mold: bool = True


def due(packets: list[Packet]) -> Iterator[tuple[int, int, bytes | None]]:
    """(clock, channel, message) of every message that is due; a message of None: a session begins."""
    sessions: list[dict[str, Any]] = []
    channel_of_line: dict[int, int] = {}
    clock = 0
    for octets, line, is_mold in packets:
        name = octets[:10] if is_mold else b"day file %d" % line
        sequence = int.from_bytes(octets[10:18], "big", signed=True)
        count = int.from_bytes(octets[18:20], "big")
        if is_mold and (len(octets) < 20 or sequence < 0):
            continue
        if line not in channel_of_line:
            names = [session["name"] for session in sessions]
            if name not in names:
                sessions.append({"name": name, "expected": 0, "ended": False})
            channel_of_line[line] = (names + [name]).index(name)
        channel = channel_of_line[line]
        session, begins = sessions[channel], False
        if not is_mold:
            found, skip = blocks(octets)[0], 0
        else:
            if session["name"] != name:
                if sequence != 1 and not session["ended"]:
                    continue
                session |= {"name": name, "expected": 1, "ended": False}
                begins = True
            held = 0 if count == 0xFFFF else count
            skip = 0
            if sequence == 0 and session["expected"] != 0:
                held = 0
            elif sequence != 0:
                session["expected"] = max(session["expected"], sequence)
                skip = session["expected"] - sequence
            found = blocks(octets[20:], held)[0]
            if session["expected"]:
                session["expected"] = max(session["expected"], sequence + len(found))
            session["ended"] = session["ended"] or (count == 0xFFFF and not (sequence == 0 and session["expected"]))
        for place, message in enumerate(found):
            if place >= skip and len(message) >= 11:
                clock = max(clock, int.from_bytes(message[5:11], "big"))
            if begins:
                yield clock, channel, None
                begins = False
            if place >= skip and message:
                yield clock, channel, message
        if begins:
            yield clock, channel, None
