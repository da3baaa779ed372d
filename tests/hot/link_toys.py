"""Compiled producers and consumers for the tests of links.

A record is eight words: its number, then six derived from it, then their sum. A torn record does not add up.
"""

import numpy as np

from venym.hot.intrinsics import yield_core
from venym.hot.jit import hot, small
from venym.hot.layout import record
from venym.hot.link import claim, commit, mark, pass_mark, peek, ready, release, room, set_mark

RECORD = record("RECORD", [("number", "i8"), ("words", "i8", (6,)), ("total", "i8")], 64)

# what `consume` tells
CONSUMED, CHECKSUM, WRONG_NUMBER, TORN = 0, 1, 2, 3


@small
def mixed(number, k):
    """Cheap, and different for neighbours in either argument."""
    return (number ^ (k << 17)) * 2654435761 + k


@hot
def ask_room(link, wanted):
    return room(link, wanted)


@hot
def ask_ready(link, wanted):
    return ready(link, wanted)


@hot
def fill(link, k, number):
    """Write the record `number` into the k-th claimed slot."""
    slot = claim(link, k)
    slot.number = number
    total = number
    for i in range(6):
        slot.words[i] = mixed(number, i)
        total += slot.words[i]
    slot.total = total


@hot
def look(link, k):
    """The number of the k-th unread record, or -1 if it is torn."""
    slot = peek(link, k)
    total = slot.number
    for i in range(6):
        total += slot.words[i]
    return slot.number if total == slot.total else -1


@hot
def publish(link, count):
    commit(link, count)


@hot
def give_back(link, count):
    release(link, count)


@hot
def produce(link, count, batch_max):
    """Records 0 .. count-1, in batches whose size changes all the time; returns the checksum of the numbers."""
    sent = 0
    checksum = 0
    wanted = 1
    while sent < count:
        granted = min(room(link, wanted), count - sent)
        if granted == 0:
            yield_core()
            continue
        for k in range(granted):
            fill(link, k, sent + k)
            checksum = checksum * 31 + sent + k
        commit(link, granted)
        sent += granted
        wanted = wanted * 5 % batch_max + 1
    return checksum


@hot
def produce_or_drop(link, count):
    """Records 0 .. count-1, those that find no room dropped; returns how many."""
    dropped = 0
    for number in range(count):
        if room(link, 1) == 0:
            dropped += 1
            continue
        fill(link, 0, number)
        commit(link, 1)
    return dropped


@hot
def consume(link, count, batch_max, told):
    """Read `count` records that should be 0 .. count-1, whole; `told` is (4,) int64."""
    wanted = 3
    while told[CONSUMED] < count:
        granted = ready(link, wanted)
        if granted == 0:
            yield_core()
            continue
        for k in range(granted):
            number = look(link, k)
            told[TORN] += number < 0
            told[WRONG_NUMBER] += number != told[CONSUMED]
            told[CHECKSUM] = told[CHECKSUM] * 31 + number
            told[CONSUMED] += 1
        release(link, granted)
        wanted = wanted * 7 % batch_max + 1


@hot
def echo(inward, outward, count):
    """Send back every record that comes."""
    done = 0
    while done < count:
        if ready(inward, 1) == 0 or room(outward, 1) == 0:
            yield_core()
            continue
        fill(outward, 0, peek(inward, 0).number)
        commit(outward, 1)
        release(inward, 1)
        done += 1


def told() -> np.ndarray:
    return np.zeros(4, np.int64)


@hot
def say(link, word, value):
    set_mark(link, word, value)


@hot
def said(link, word):
    return mark(link, word)


@hot
def hand_on_mark(source, sink):
    pass_mark(source, sink)
