"""Octets that end flush against a page nobody may touch: a read one byte too far ends the process."""

import ctypes
import mmap

import numpy as np

PROT_NONE = 0
_libc = ctypes.CDLL(None, use_errno=True)
_libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]


class Guarded:
    """A buffer of at most `capacity` octets; `put` returns a view that ends at the PROT_NONE page.

    The view is valid until the next `put`. Keep the object alive as long as its views.
    """

    def __init__(self, capacity: int) -> None:
        page = mmap.PAGESIZE
        self._size = -(-max(capacity, 1) // page) * page
        self._map = mmap.mmap(-1, self._size + page)
        self._octets = np.frombuffer(self._map, np.uint8)
        if _libc.mprotect(self._octets.ctypes.data + self._size, page, PROT_NONE):
            raise OSError(ctypes.get_errno(), "mprotect")

    def put(self, octets: bytes) -> np.ndarray:
        view = self._octets[self._size - len(octets) : self._size]
        view[:] = np.frombuffer(octets, np.uint8)
        return view
