"""What Python has no word for: ordered loads and stores, the cycle counter, pause, byte order, prefetch, raw copies.

Each has a plain Python twin, used under NUMBA_DISABLE_JIT=1. Under NUMBA_BOUNDSCHECK=1 those that take an offset, and
`slot_at`, look at it first; otherwise nothing is checked, and the caller must have. Arrays are checked when compiled: a
TypingError for octets that are not contiguous uint8, ordered words that are not int64, a store into read-only memory.
"""

# mypy: disable-error-code="misc, assignment"
import os
import time
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .jit import BOUNDSCHECK, PLAIN, small

_INT64 = ir.IntType(64)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    proxy = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, proxy, [index], wraparound=False)


def _require_words(array: Any, written: bool = False) -> None:
    if not isinstance(array, types.Array) or array.dtype != types.int64 or (written and not array.mutable):
        raise TypingError(f"ordered loads and stores need an int64 array{' to be written' * written}, not {array}")


def _require_octets(octets: Any, written: bool = False) -> None:
    plain = (
        isinstance(octets, types.Array) and octets.dtype == types.uint8 and octets.layout == "C" and octets.ndim == 1
    )
    if not plain or (written and not octets.mutable):
        raise TypingError(f"octets are a contiguous uint8 array{' to be written' * written}, not {octets}")


def _octet_address(context: Any, builder: Any, array_type: Any, array: Any, offset: Any, kind: Any) -> Any:
    proxy = context.make_array(array_type)(context, builder, array)
    return builder.bitcast(builder.gep(proxy.data, [offset]), kind.as_pointer())


@intrinsic
def load_acquire(typingctx: Any, array: Any, index: Any) -> Any:
    """array[index] (int64); what the writer stored before its `store_release` is visible after it."""
    _require_words(array)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load_atomic(_address(context, builder, sig.args[0], args[0], args[1]), "acquire", 8)

    return types.int64(array, types.intp), codegen


@intrinsic
def store_release(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = value (int64), after everything this thread wrote before."""
    _require_words(array, written=True)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store_atomic(args[2], _address(context, builder, sig.args[0], args[0], args[1]), "release", 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), codegen


@intrinsic
def cycles(typingctx: Any) -> Any:
    """The time stamp counter (int64 ticks)."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(_INT64, [])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.readcyclecounter"), [])

    return types.int64(), codegen


@intrinsic
def pause(typingctx: Any) -> Any:
    """Tell the core that this is a spin loop."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "llvm.x86.sse2.pause"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def yield_core(typingctx: Any) -> Any:
    """sched_yield(2): let another thread have this core."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, kind, "sched_yield"), [])
        return context.get_dummy_value()

    return types.void(), codegen


@intrinsic
def bit_length(typingctx: Any, value: Any) -> Any:
    """Bits an int64 needs: 0 for 0, 1 for 1, 8 for 255; 64 when it is negative."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        kind = ir.FunctionType(_INT64, [_INT64, ir.IntType(1)])
        count_zeros = cgutils.get_or_insert_function(builder.module, kind, "llvm.ctlz.i64")
        return builder.sub(ir.Constant(_INT64, 64), builder.call(count_zeros, [args[0], ir.Constant(ir.IntType(1), 0)]))

    return types.int64(types.int64), codegen


@intrinsic
def _slot_unchecked(typingctx: Any, slots: Any, index: Any) -> Any:
    """slots[index] without the negative-index branch: a record in place, or a number."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        pointer = _address(context, builder, sig.args[0], args[0], args[1])
        if isinstance(sig.args[0].dtype, types.Record):
            return pointer
        return context.unpack_value(builder, sig.args[0].dtype, pointer)

    return slots.dtype(slots, types.intp), codegen


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for the line of array[index], to be written. A hint: any index is allowed."""

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        octet, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        pointer = builder.bitcast(_address(context, builder, sig.args[0], args[0], args[1]), octet)
        kind = ir.FunctionType(ir.VoidType(), [octet, word, word, word])
        call = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        builder.call(call, [pointer, ir.Constant(word, 1), ir.Constant(word, 3), ir.Constant(word, 1)])
        return context.get_dummy_value()

    return types.void(array, types.intp), codegen


def _integer_load(bits: int, swap: bool) -> Any:
    @intrinsic
    def load(typingctx: Any, octets: Any, offset: Any) -> Any:
        _require_octets(octets)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _octet_address(context, builder, sig.args[0], args[0], args[1], ir.IntType(bits))
            value = builder.load(pointer, align=1)
            if swap:
                kind = ir.FunctionType(ir.IntType(bits), [ir.IntType(bits)])
                bswap = cgutils.get_or_insert_function(builder.module, kind, f"llvm.bswap.i{bits}")
                value = builder.call(bswap, [value])
            return builder.zext(value, _INT64) if bits < 64 else value

        return types.int64(octets, types.intp), codegen

    return load


def _integer_store(bits: int, swap: bool) -> Any:
    @intrinsic
    def store(typingctx: Any, octets: Any, offset: Any, value: Any) -> Any:
        _require_octets(octets, written=True)

        def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            pointer = _octet_address(context, builder, sig.args[0], args[0], args[1], ir.IntType(bits))
            narrow = builder.trunc(args[2], ir.IntType(bits)) if bits < 64 else args[2]
            if swap:
                kind = ir.FunctionType(ir.IntType(bits), [ir.IntType(bits)])
                bswap = cgutils.get_or_insert_function(builder.module, kind, f"llvm.bswap.i{bits}")
                narrow = builder.call(bswap, [narrow])
            builder.store(narrow, pointer, align=1)
            return context.get_dummy_value()

        return types.void(octets, types.intp, types.int64), codegen

    return store


def _checked_load(load: Any, width: int) -> Any:
    """Touches both ends by ordinary indexing, which numba then checks."""

    @small
    def checked(octets, offset):
        octets[offset], octets[offset + width - 1]
        if offset < 0:
            raise IndexError("negative offset")
        return load(octets, offset)

    return checked


def _checked_store(store: Any, width: int) -> Any:
    @small
    def checked(octets, offset, value):
        octets[offset], octets[offset + width - 1]
        if offset < 0:
            raise IndexError("negative offset")
        store(octets, offset, value)

    return checked


@intrinsic
def _copy_unchecked(
    typingctx: Any, target: Any, target_offset: Any, source: Any, source_offset: Any, count: Any
) -> Any:
    _require_octets(target, written=True)
    _require_octets(source)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        octet = ir.IntType(8)
        to = _octet_address(context, builder, sig.args[0], args[0], args[1], octet)
        at = _octet_address(context, builder, sig.args[2], args[2], args[3], octet)
        cgutils.raw_memcpy(builder, to, at, args[4], 1)
        return context.get_dummy_value()

    return types.void(target, types.intp, source, types.intp, types.intp), codegen


@intrinsic
def copy_record(typingctx: Any, target: Any, source: Any) -> Any:
    """Copy a whole record into another of the same type, in place."""
    if not isinstance(target, types.Record) or target != source:
        raise TypingError("copy_record takes two records of one type")

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        cgutils.raw_memcpy(builder, args[0], args[1], ir.Constant(_INT64, target.size), 1)
        return context.get_dummy_value()

    return types.void(target, source), codegen


# Big-endian and little-endian integers at a byte offset: uint8[:], offset -> int64 (64 bits: the bit pattern).
be16, be32, be64 = _integer_load(16, True), _integer_load(32, True), _integer_load(64, True)
le16, le32, le64 = _integer_load(16, False), _integer_load(32, False), _integer_load(64, False)
put_be16, put_be32, put_be64 = _integer_store(16, True), _integer_store(32, True), _integer_store(64, True)
put_le16, put_le32, put_le64 = _integer_store(16, False), _integer_store(32, False), _integer_store(64, False)
slot_at = _slot_unchecked
copy_octets = _copy_unchecked

if BOUNDSCHECK and not PLAIN:
    be16, be32, be64 = _checked_load(be16, 2), _checked_load(be32, 4), _checked_load(be64, 8)
    le16, le32, le64 = _checked_load(le16, 2), _checked_load(le32, 4), _checked_load(le64, 8)
    put_be16, put_be32, put_be64 = _checked_store(put_be16, 2), _checked_store(put_be32, 4), _checked_store(put_be64, 8)
    put_le16, put_le32, put_le64 = _checked_store(put_le16, 2), _checked_store(put_le32, 4), _checked_store(put_le64, 8)

    @small
    def slot_at(slots, index):
        if index < 0:
            raise IndexError("negative index")
        return slots[index]

    @small
    def copy_octets(target, target_offset, source, source_offset, count):
        if count < 0 or target_offset < 0 or source_offset < 0:
            raise IndexError("negative offset or count")
        if target_offset + count > target.shape[0] or source_offset + count > source.shape[0]:
            raise IndexError("copy beyond the end")
        _copy_unchecked(target, target_offset, source, source_offset, count)


if PLAIN:

    def load_acquire(array, index):
        return int(array[index])

    def store_release(array, index, value):
        array[index] = value

    def cycles():
        return time.perf_counter_ns()

    def pause():
        pass

    def yield_core():
        os.sched_yield()

    def bit_length(value):
        return int(value).bit_length() if value >= 0 else 64

    def slot_at(slots, index):
        if index < 0:
            raise IndexError("negative index")
        return slots[index]

    def prefetch(array, index):
        pass

    def copy_record(target, source):
        for name in target.dtype.names:
            target[name] = source[name]

    def _require_inside(octets: np.ndarray, offset: int, count: int) -> None:
        if count < 0 or offset < 0 or offset + count > len(octets):
            raise IndexError("octets beyond the end")

    def copy_octets(target, target_offset, source, source_offset, count):
        _require_inside(target, target_offset, count)
        _require_inside(source, source_offset, count)
        target[target_offset : target_offset + count] = source[source_offset : source_offset + count]

    def _plain_load(width: int, order: Any) -> Any:
        def load(octets, offset):
            _require_inside(octets, offset, width)
            return int.from_bytes(bytes(octets[offset : offset + width]), order, signed=width == 8)

        return load

    def _plain_store(width: int, order: Any) -> Any:
        def store(octets, offset, value):
            _require_inside(octets, offset, width)
            held = (int(value) & (1 << 8 * width) - 1).to_bytes(width, order)
            octets[offset : offset + width] = np.frombuffer(held, np.uint8)

        return store

    be16, be32, be64 = (_plain_load(width, "big") for width in (2, 4, 8))
    le16, le32, le64 = (_plain_load(width, "little") for width in (2, 4, 8))
    put_be16, put_be32, put_be64 = (_plain_store(width, "big") for width in (2, 4, 8))
    put_le16, put_le32, put_le64 = (_plain_store(width, "little") for width in (2, 4, 8))


@small
def be48(octets, offset):
    """A 48-bit big-endian integer, such as a time stamp."""
    return be16(octets, offset) << 32 | be32(octets, offset + 2)


@small
def put_be48(octets, offset, value):
    put_be16(octets, offset, value >> 32)
    put_be32(octets, offset + 2, value & 0xFFFFFFFF)
