"""A TCP connection, polled in compiled code: messages leave from a link, octets come into another. Nothing ever waits.

    gateway_venue ──peek──▶ send ──▶ peer          a message leaves its link when its last octet was taken
    venue_gateway ◀─claim── recv ◀── peer          as many octets as a record holds, wherever messages begin

A peer that stops reading fills its window, then the link: whoever writes to it sees that there is no room. No message
is cut or mixed with another, however little the socket takes at a time. Once the peer has closed, or the system refuses
a call, DOWN says so and nothing is sent or received any more.
"""

import socket
from typing import NamedTuple

import numpy as np

from ..hot.intrinsics import store_release
from ..hot.jit import inner
from ..hot.layout import aligned
from ..hot.libc import EAGAIN, EINTR, MSG_DONTWAIT, MSG_NOSIGNAL, address, recv, send
from ..hot.link import claim, commit, peek, ready, release, room
from ..records import INBOUND, WIRE_OCTETS_MAX

FD, SENT, DOWN, ERROR, OCTETS_OUT, OCTETS_IN = range(6)  # words; SENT: octets of the link's first message
WORDS = 8
NOT_OPEN = -1
CLOSED, REFUSED = 1, 2  # DOWN: by the peer; by the system, whose error number is ERROR


class Context(NamedTuple):
    """words (8,) int64."""

    words: np.ndarray


def closed() -> Context:
    """No connection."""
    made = Context(aligned(WORDS, np.int64))
    made.words[FD] = NOT_OPEN
    return made


def connected(held: socket.socket) -> Context:
    """Over a connected socket, which the caller keeps open. Small messages leave at once (TCP_NODELAY)."""
    held.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    made = closed()
    made.words[FD] = held.fileno()
    return made


@inner
def is_up(ctx):
    return ctx.words[FD] >= 0 and ctx.words[DOWN] == 0


@inner
def send_from(ctx, link):
    """Send what waits in the link (WIRE_MESSAGE), as much as the socket takes; returns the messages that have left."""
    words, left = ctx.words, np.int64(0)
    while words[DOWN] == 0 and ready(link, 1) > 0:
        message = peek(link, 0)
        length = min(np.int64(message.length), np.int64(WIRE_OCTETS_MAX))
        got = send(words[FD], address(message.octets, words[SENT]), length - words[SENT], MSG_DONTWAIT | MSG_NOSIGNAL)
        if got < 0:
            note(words, got)
            break
        words[OCTETS_OUT] += got
        words[SENT] += got
        if words[SENT] < length:
            break
        words[SENT] = 0
        release(link, 1)
        left += 1
    return left


@inner
def receive_into(ctx, link, clock_ns):
    """Receive what is there into one record of the link, if it has room; returns the octets."""
    words = ctx.words
    if words[DOWN] != 0 or room(link, 1) == 0:
        return np.int64(0)
    message = claim(link, 0)
    got = recv(words[FD], address(message.octets, 0), WIRE_OCTETS_MAX, MSG_DONTWAIT)
    if got > 0:
        message.clock_ns, message.cause, message.direction, message.length = clock_ns, 0, INBOUND, got
        words[OCTETS_IN] += got
        commit(link, 1)
    elif got == 0:
        store_release(words, DOWN, CLOSED)
    else:
        note(words, got)
    return max(got, np.int64(0))


@inner
def note(words, got):
    """A call was refused: for now, or for good."""
    if got not in (-EAGAIN, -EINTR):
        words[ERROR] = -got
        store_release(words, DOWN, REFUSED)
