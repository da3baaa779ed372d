"""Intrinsics as functions that Python can call, for the tests; an intrinsic has no existence outside compiled code."""

from typing import Any

import numpy as np

from venym.hot import intrinsics as it
from venym.hot.jit import hot
from venym.hot.layout import record

SLOT = record("SLOT", [("value", "i8")], 16)


@hot
def load(octets, offset, width, big):
    if width == 2:
        return it.be16(octets, offset) if big else it.le16(octets, offset)
    if width == 4:
        return it.be32(octets, offset) if big else it.le32(octets, offset)
    if width == 6:
        return it.be48(octets, offset)
    return it.be64(octets, offset) if big else it.le64(octets, offset)


@hot
def store(octets, offset, value, width, big):
    if width == 2 and big:
        it.put_be16(octets, offset, value)
    elif width == 2:
        it.put_le16(octets, offset, value)
    elif width == 4 and big:
        it.put_be32(octets, offset, value)
    elif width == 4:
        it.put_le32(octets, offset, value)
    elif width == 6:
        it.put_be48(octets, offset, value)
    elif big:
        it.put_be64(octets, offset, value)
    else:
        it.put_le64(octets, offset, value)


@hot
def copy(target, target_offset, source, source_offset, count):
    it.copy_octets(target, target_offset, source, source_offset, count)


@hot
def slot_value(slots, index):
    return it.slot_at(slots, index).value


@hot
def set_slot_value(slots, index, value):
    it.slot_at(slots, index).value = value


@hot
def number_at(words, index):
    return it.slot_at(words, index)


@hot
def plain(octets, index):
    return octets[index]


@hot
def acquire(words, index):
    return it.load_acquire(words, index)


@hot
def publish(words, index, value):
    it.store_release(words, index, value)


@hot
def wait_for(words, index):
    """With nothing in the loop that could keep a plain load in it."""
    while it.load_acquire(words, index) == 0:
        pass


@hot
def prefetch(words, index):
    it.prefetch(words, index)


@hot
def bits(value):
    return it.bit_length(value)


@hot
def ticks():
    return it.cycles()


@hot
def ticks_over_pauses(count):
    started = it.cycles()
    for _ in range(count):
        it.pause()
    return it.cycles() - started


def outcomes() -> list[str]:
    """What each access beyond the end of an array gives: its value, or the exception's name. Behind the arrays lies
    memory of ours, so that what nobody checks does no harm."""
    memory = np.arange(64, dtype=np.uint8)
    octets, slots = memory[16:32], np.zeros(8, SLOT).view(np.recarray)[2:4]
    accesses: list[tuple[Any, ...]] = [
        (plain, octets, 16),
        (load, octets, 9, 8, True),
        (load, octets, -1, 8, True),
        (load, octets, 15, 2, False),
        (load, octets, 11, 6, True),
        (store, octets, 13, 0, 4, False),
        (store, octets, -1, 0, 4, False),
        (copy, octets, 8, octets, 0, 9),
        (copy, octets, 0, octets, 9, 8),
        (copy, octets, -1, octets, 0, 1),
        (slot_value, slots, 2),
        (slot_value, slots, -1),
        (number_at, octets, 16),
        (number_at, octets, -1),
    ]
    told = []
    for function, *arguments in accesses:
        try:
            told.append(str(function(*arguments)))
        except IndexError:
            told.append("IndexError")
    return told


@hot
def copy_inner(targets, sources):
    it.copy_record(it.slot_at(targets, 1).inner, it.slot_at(sources, 0))
