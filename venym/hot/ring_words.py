"""Ordered loads and stores of 32-bit words, such as the kernel has in the rings it shares with a process.

Arrays are uint32; values go in and out as int64, because numba makes float64 of uint64 and int64. Each has a plain
twin, used under NUMBA_DISABLE_JIT=1. Indices are not checked, but under NUMBA_BOUNDSCHECK=1.
"""

# mypy: disable-error-code="misc, assignment"
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import TypingError
from numba.extending import intrinsic

from .jit import BOUNDSCHECK, PLAIN, small

_INT32, _INT64 = ir.IntType(32), ir.IntType(64)


def _require_words(array: Any, written: bool = False) -> None:
    if not isinstance(array, types.Array) or array.dtype != types.uint32 or (written and not array.mutable):
        raise TypingError(f"32-bit ring words are a uint32 array{' to be written' * written}, not {array}")


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    proxy = context.make_array(array_type)(context, builder, array)
    return cgutils.get_item_pointer(context, builder, array_type, proxy, [index], wraparound=False)


@intrinsic
def load_acquire_32(typingctx: Any, array: Any, index: Any) -> Any:
    """array[index] (uint32) as int64; what the writer stored before its release is visible after it."""
    _require_words(array)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = builder.load_atomic(_address(context, builder, sig.args[0], args[0], args[1]), "acquire", 4)
        return builder.zext(word, _INT64)

    return types.int64(array, types.intp), codegen


@intrinsic
def store_release_32(typingctx: Any, array: Any, index: Any, value: Any) -> Any:
    """array[index] = the low 32 bits of value, after everything this thread wrote before."""
    _require_words(array, written=True)

    def codegen(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        word = builder.trunc(args[2], _INT32)
        builder.store_atomic(word, _address(context, builder, sig.args[0], args[0], args[1]), "release", 4)
        return context.get_dummy_value()

    return types.void(array, types.intp, types.int64), codegen


_load_unchecked, _store_unchecked = load_acquire_32, store_release_32

if BOUNDSCHECK and not PLAIN:

    @small
    def load_acquire_32(array, index):
        array[index]
        if index < 0:
            raise IndexError("negative index")
        return _load_unchecked(array, index)

    @small
    def store_release_32(array, index, value):
        array[index]
        if index < 0:
            raise IndexError("negative index")
        _store_unchecked(array, index, value)


if PLAIN:

    def load_acquire_32(array, index):
        if index < 0:
            raise IndexError("negative index")
        return int(array[index])

    def store_release_32(array, index, value):
        if index < 0:
            raise IndexError("negative index")
        array[index] = int(value) & 0xFFFFFFFF
