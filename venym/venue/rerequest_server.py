"""Answers requests for lost messages: UDP, a packet for a packet, each by itself.

    request | session 10 | sequence 8 | count 2 |  ──▶  | session | sequence | count | messages ... |

An answer holds as many of the messages asked for as fit one packet; who wants more asks again. Nothing is answered that
was not published yet; a session that is over is, as long as the server lives. What is no request, or asks for what
there is not, is counted by kind and not answered: the protocol has no word for no.
"""

import contextlib
import selectors
import socket
import threading
import time
from collections import deque
from typing import Any, NamedTuple

import numpy as np

from ..hot.intrinsics import be16, copy_octets, put_be16, slot_at
from ..hot.jit import hot
from ..hot.layout import aligned
from ..wire.moldudp64 import (
    COUNT,
    END_OF_SESSION,
    HEADER_BYTES,
    LENGTH_BYTES,
    REQUEST_BYTES,
    count_of,
    put_header,
    sequence_of,
    session_high,
    session_low,
)
from .message_store import Store, find_row, find_session
from .packets import PAYLOAD_MAX
from .publication import published
from .sending import SendError, address_of

# What became of requests.
ANSWERED, MESSAGES, MALFORMED, FOREIGN, EMPTY, UNNUMBERED, UNPUBLISHED, MISSING, TOO_LONG, OVER_RATE, IGNORED = range(
    11
)
COUNTS = {
    "answered": ANSWERED,
    "messages": MESSAGES,  # in the answers
    "malformed": MALFORMED,  # not of a request's length
    "foreign": FOREIGN,  # of a session that there is not
    "empty": EMPTY,  # for 0 messages
    "unnumbered": UNNUMBERED,  # from message 0, or from one beyond all numbers
    "unpublished": UNPUBLISHED,
    "missing": MISSING,  # what is published lacks it
    "too_long": TOO_LONG,  # the message alone does not fit an answer
    "over_rate": OVER_RATE,
    "ignored": IGNORED,  # while the server was dead
}
WORDS = 16

OCTETS_MIN = 128  # of an answer: the header, and any ITCH message
RECEIVE_OCTETS = 2_048
RECEIVE_BUFFER_OCTETS = 4_194_304
_POLL_SECONDS = 0.05
_REQUESTS_A_TURN = 256


class RerequestOptions(NamedTuple):
    """octets_max and count_max: of an answer; delay_ns: between a request and its answer; rate_max: requests a second
    that are answered, None for all; is_dead: answers nothing."""

    octets_max: int = PAYLOAD_MAX
    count_max: int = END_OF_SESSION
    delay_ns: int = 0
    rate_max: int | None = None
    is_dead: bool = False


PROMPT = RerequestOptions()  # nothing out of order


@hot
def _size_at(octets, at):
    """Octets of a block."""
    return LENGTH_BYTES + be16(octets, at)


@hot
def answer(store, rows_published, request, length, octets_max, count_max, reply, words):
    """Write the answer to request[:length] (uint8) into `reply`, as far as rows_published allow. Returns its octets, 0
    for none; `words` (16,) int64 counts why."""
    if length != REQUEST_BYTES:
        words[MALFORMED] += 1
        return 0
    index = find_session(store, session_high(request, 0), session_low(request, 0))
    wanted, sequence = min(count_of(request, 0), np.int64(count_max)), sequence_of(request, 0)
    if index < 0:
        words[FOREIGN] += 1
    elif wanted == 0:
        words[EMPTY] += 1
    elif sequence < 1:
        words[UNNUMBERED] += 1
    else:
        session = slot_at(store.sessions, index)
        end = min(session.end, rows_published)
        number = find_row(store.rows, session.first, end, sequence)
        if number < session.first:
            words[MISSING if session.first < end else UNPUBLISHED] += 1
        else:
            return _gather(store, number, end, session.end, sequence, wanted, octets_max, reply, request, words)
    return 0


@hot
def _gather(store, number, end, session_end, sequence, wanted, octets_max, reply, request, words):
    """Messages from `sequence` on, which is in the row of this number or beyond it."""
    put_header(reply, 0, request, sequence, 0)
    used, messages = np.int64(HEADER_BYTES), np.int64(0)
    is_full = False
    while number < end and not is_full and messages < wanted:
        row = slot_at(store.rows, number)
        count = np.int64(0) if row.count == END_OF_SESSION else np.int64(row.count)
        if sequence < row.sequence:
            break  # a hole
        at = row.offset + HEADER_BYTES
        for k in range(count):
            size = _size_at(store.octets, at)
            if row.sequence + k == sequence and messages < wanted:
                if used + size > octets_max:
                    is_full = True
                    break
                copy_octets(reply, used, store.octets, at, size)
                used += size
                messages += 1
                sequence += 1
            at += size
        number += 1
    if messages == 0:
        if is_full:
            words[TOO_LONG] += 1
        else:
            words[MISSING if number < end else UNPUBLISHED] += 1
        return 0
    put_be16(reply, COUNT, messages)
    words[ANSWERED] += 1
    words[MESSAGES] += messages
    return used


class RerequestServer:
    """Serves what of `store` the publication has published, on a thread, from `start` to `close`. `address` is the
    host:port that it has.

    `options` may be replaced while it serves. Raises SendError when the address cannot be had, ValueError for options
    that cannot be.
    """

    def __init__(
        self, endpoint: str, store: Store, publication_words: np.ndarray, options: RerequestOptions = PROMPT
    ) -> None:
        if not OCTETS_MIN <= options.octets_max <= PAYLOAD_MAX or options.count_max < 1 or options.delay_ns < 0:
            raise ValueError(f"no answers can be made by {options}")
        self.options = options
        self._store, self._publication_words = store, publication_words
        self._request, self._reply = aligned(RECEIVE_OCTETS, np.uint8), aligned(PAYLOAD_MAX, np.uint8)
        self._words = aligned(WORDS, np.int64)
        self._waiting: deque[tuple[int, bytes, Any]] = deque()
        self._tokens, self._refilled_ns = float("inf"), time.monotonic_ns()
        self._stopped = threading.Event()
        self._failure: BaseException | None = None
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_OCTETS)
            self._socket.bind(address_of(endpoint))
            self._socket.setblocking(False)
        except OSError as error:
            self._socket.close()
            raise SendError(f"re-request server {endpoint}: {error.strerror or error}") from error
        host, port = self._socket.getsockname()
        self.address = f"{host}:{port}"
        self._thread = threading.Thread(target=self._run, name="rerequest", daemon=True)

    @property
    def counts(self) -> dict[str, int]:
        """What became of requests so far."""
        return {name: int(self._words[at]) for name, at in COUNTS.items()}

    def start(self) -> None:
        self._answer(b"")  # compiled, or loaded, before anybody waits
        self._words[MALFORMED] = 0
        self._thread.start()

    def close(self) -> None:
        """End. Raises what ended the thread before."""
        self._stopped.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._socket.close()
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._socket, selectors.EVENT_READ)
                while not self._stopped.is_set():
                    selector.select(self._wait_seconds())
                    self._receive()
                    self._answer_due()
        except BaseException as error:
            self._failure = error

    def _wait_seconds(self) -> float:
        if not self._waiting:
            return _POLL_SECONDS
        return min(max((self._waiting[0][0] - time.monotonic_ns()) / 1e9, 0.0), _POLL_SECONDS)

    def _receive(self) -> None:
        for _ in range(_REQUESTS_A_TURN):
            try:
                octets, client = self._socket.recvfrom(RECEIVE_OCTETS)
            except BlockingIOError:
                return
            except ConnectionRefusedError:  # whoever asked before is gone
                continue
            if self.options.is_dead:
                self._words[IGNORED] += 1
            elif not self._may_answer():
                self._words[OVER_RATE] += 1
            else:
                self._waiting.append((time.monotonic_ns() + self.options.delay_ns, octets, client))

    def _may_answer(self) -> bool:
        """Is there a token left of those that a second brings?"""
        rate = self.options.rate_max
        if rate is None:
            return True
        now_ns = time.monotonic_ns()
        gained = (now_ns - self._refilled_ns) * rate / 1e9
        self._tokens, self._refilled_ns = min(self._tokens + gained, max(rate / 10, 1.0)), now_ns
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    def _answer_due(self) -> None:
        while self._waiting and self._waiting[0][0] <= time.monotonic_ns():
            _, octets, client = self._waiting.popleft()
            length = self._answer(octets)
            if length:
                with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
                    self._socket.sendto(self._reply[:length].data, client)

    def _answer(self, octets: bytes) -> int:
        self._request[: len(octets)] = np.frombuffer(octets, np.uint8)
        options = self.options
        return int(
            answer(
                self._store,
                published(self._publication_words),
                self._request,
                len(octets),
                options.octets_max,
                options.count_max,
                self._reply,
                self._words,
            )
        )
