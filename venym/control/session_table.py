"""What a session does, whatever happens: one table of every event in every state.

    OFF ──connected──▶ ASKED ──logon──▶ ON ──finish, fault──▶ ENDING ──logout, late──▶ OFF       initiator
    OFF ──accepted──▶ AWAITED ──logon──▶ ON ──logout──▶ OFF                                      acceptor

A cell is ``action``, ``action>STATE``, ``.`` for nothing to be done, or ``-`` for what cannot happen. An action is a
method of `session_actions.Actions`, and is called in the new state. From `low` down, a message of the peer's came whose
version, parties and time are right; from `invalid` down it is the next one, but for `resend_request`, `sequence_reset`
and `logout`, whose numbers do not matter.
"""

from enum import Enum
from typing import NamedTuple


class State(Enum):
    OFF = "there is no connection"
    AWAITED = "the peer connected and should say Logon"
    ASKED = "we connected and said Logon"
    ON = "both said Logon"
    ENDING = "we said Logout"


class Step(NamedTuple):
    """action: "" for none."""

    action: str
    state: State


_GRID = """
event           OFF         AWAITED           ASKED          ON                    ENDING
connected       ask>ASKED   -                 -              -                     -
accepted        wait>AWAITED -                -              -                     -
lost            .           forget>OFF        forget>OFF     forget>OFF            forget>OFF
finish          .           hang_up>OFF       hang_up>OFF    say_logout>ENDING     .
late            -           hang_up>OFF       hang_up>OFF    -                     hang_up>OFF
idle            -           -                 -              beat                  -
quiet           -           -                 -              test                  -
silent          -           -                 -              hang_up>OFF           -
stuck           -           -                 -              ask_again             -
hopeless        -           -                 -              say_hopeless>ENDING   -
garbled         -           hang_up>OFF       hang_up>OFF    .                     .
flooded         -           hang_up>OFF       hang_up>OFF    hang_up>OFF           hang_up>OFF
unexpected      -           hang_up>OFF       hang_up>OFF    -                     -
bad_reset       -           hang_up>OFF       hang_up>OFF    say_bad_reset>OFF     hang_up>OFF
logon           -           answer_logon>ON   enter>ON       note                  note
logon_reset     -           start_again>ON    -              start_again           .
wrong_version   -           -                 -              say_version>ENDING    .
wrong_party     -           -                 -              reject_and_end>ENDING .
wrong_time      -           -                 -              reject_and_end>ENDING .
unnumbered      -           -                 -              say_unnumbered>OFF    hang_up>OFF
low             -           say_low>OFF       say_low>OFF    say_low>OFF           hang_up>OFF
repeated        -           -                 -              .                     .
high            -           -                 -              hold                  hold
invalid         -           -                 -              reject                reject
heartbeat       -           -                 -              .                     .
test_request    -           -                 -              answer_test           answer_test
resend_request  -           -                 -              replay                replay
gap_fill        -           -                 -              fill                  fill
sequence_reset  -           -                 -              move                  move
reject_told     -           -                 -              deliver               deliver
application     -           -                 -              deliver               deliver
unsupported     -           -                 -              refuse                refuse
logout          -           hang_up>OFF       hang_up>OFF    answer_logout>OFF     hang_up>OFF
"""

_HEAD, *_ROWS = (line.split() for line in _GRID.strip().splitlines())
EVENTS = tuple(row[0] for row in _ROWS)


def _step(cell: str, state: State) -> Step:
    action, _, then = cell.partition(">")
    return Step("" if action == "." else action, State[then] if then else state)


TABLE: dict[tuple[str, State], Step] = {
    (row[0], State[name]): _step(cell, State[name])
    for row in _ROWS
    for name, cell in zip(_HEAD[1:], row[1:], strict=True)
    if cell != "-"
}
