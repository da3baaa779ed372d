"""The octets of a file, gzip undone, with the errors every reader of captures raises.

    member | 1f8b 8 flags time xfl os | extra? name? comment? sum? | deflated octets | crc 4 | size 4 |  member | ...

A gzip file is one or more members, all of them read; zeros behind the last are padding. The check sum is ours to
compute: zlib's own check would throw away what it inflated in the same call.
"""

import os
import stat
import zlib
from io import FileIO
from pathlib import Path
from typing import Any

GZIP_MAGIC = b"\x1f\x8b"
_DEFLATE = 8
_FLAG_HEADER_SUM, _FLAG_EXTRA, _FLAG_NAME, _FLAG_COMMENT, _FLAGS_RESERVED = 2, 4, 8, 16, 0xE0
_GZIP_HEADER_BYTES, _GZIP_TRAILER_BYTES = 10, 8
_GZIP_HEADER_MAX = 1 << 20  # with its name and comment
_INPUT_BYTES = 1 << 16
_INFLATED_BYTES = 1 << 18  # the most that is inflated at once: zlib needs as much again while it does


class CaptureError(Exception):
    """`path`, byte `offset` in it (in the inflated octets for gzip), `reason`."""

    def __init__(self, path: Path, offset: int, reason: str) -> None:
        super().__init__(f"{path}: byte {offset}: {reason}")
        self.path, self.offset, self.reason = path, offset, reason


class CaptureTruncated(CaptureError):
    """The file ends inside a record; every whole record was handed on before."""


class CaptureRefused(CaptureError):
    """The file is in no format that is read here; the reason says what it looks like."""


class CaptureCorrupt(CaptureError):
    """The file contradicts its own format; every whole record before that place was handed on."""


class CaptureUnreadable(CaptureError):
    """The operating system refuses to open or read the file."""


class Source:
    """One file read forward. Errors come only when everything before them was given out."""

    def __init__(self, path: Path) -> None:
        """Open `path`. Raises CaptureUnreadable."""
        self.path = path
        self.offset = 0  # of the next octet that readinto gives
        self._raw_offset = 0
        self._peeked = b""
        self._error: CaptureError | None = None
        try:
            self._file = FileIO(path)
            status = os.fstat(self._file.fileno())
        except OSError as error:
            raise CaptureUnreadable(path, 0, error.strerror or str(error)) from error
        self.octets_total = status.st_size if stat.S_ISREG(status.st_mode) else None
        self._input = b""
        self._inflate: _Members | None = None
        try:
            while len(self._input) < len(GZIP_MAGIC) and self._more(len(GZIP_MAGIC) - len(self._input)):
                pass
        except CaptureError:
            self.close()
            raise
        if self._input.startswith(GZIP_MAGIC):
            self._inflate = _Members()

    @property
    def octets_done(self) -> int:
        """Octets of the file itself that were read: compressed ones for gzip."""
        return self._raw_offset

    @property
    def error(self) -> CaptureError | None:
        """What peek met; readinto raises it when its turn has come."""
        return self._error

    def close(self) -> None:
        self._file.close()

    def peek(self, count: int) -> bytes:
        """The next `count` octets without taking them; fewer only when the file ends, or breaks off, before."""
        while len(self._peeked) < count and self._error is None:
            piece = bytearray(count - len(self._peeked))
            try:
                got = self._next(memoryview(piece))
            except CaptureError as error:
                self._error = error
                break
            if got == 0:
                break
            self._peeked += piece[:got]
        return self._peeked[:count]

    def readinto(self, view: memoryview) -> int:
        """Fill at least one octet of `view`, at most all; 0 at the end.

        Raises CaptureTruncated, CaptureCorrupt or CaptureUnreadable once all octets before were given out.
        """
        if self._peeked:
            got = min(len(view), len(self._peeked))
            view[:got] = self._peeked[:got]
            self._peeked = self._peeked[got:]
        elif self._error is not None:
            raise self._error
        else:
            got = self._next(view)
        self.offset += got
        return got

    def _next(self, view: memoryview) -> int:
        if self._inflate is not None:
            return self._inflated(view)
        if self._input:
            got = min(len(view), len(self._input))
            view[:got] = self._input[:got]
            self._input = self._input[got:]
            return got
        try:
            got = self._file.readinto(view) or 0
        except OSError as error:
            raise CaptureUnreadable(self.path, self.offset, error.strerror or str(error)) from error
        self._raw_offset += got
        return got

    def _more(self, count: int) -> bool:
        """Append at most `count` octets to the input; False at the end of the file."""
        try:
            piece = self._file.read(count) or b""
        except OSError as error:
            raise CaptureUnreadable(self.path, self._raw_offset, error.strerror or str(error)) from error
        self._raw_offset += len(piece)
        self._input += piece
        return bool(piece)

    def _inflated(self, view: memoryview) -> int:
        assert self._inflate is not None
        offset = self.offset + len(self._peeked)
        try:
            while True:
                piece, self._input = self._inflate.step(self._input, min(len(view), _INFLATED_BYTES))
                if piece:
                    view[: len(piece)] = piece
                    return len(piece)
                if self._inflate.hungry and not self._more(_INPUT_BYTES):
                    if self._inflate.between(self._input):
                        return 0
                    raise CaptureTruncated(self.path, offset, "the gzip file is cut: it ends inside a member")
        except _Damage as damage:
            raise CaptureCorrupt(self.path, offset, f"gzip: {damage}") from damage


class _Damage(ValueError):
    """What is wrong with a gzip member."""


class _Members:
    """Inflates member after member; knows octets only."""

    def __init__(self) -> None:
        self.hungry = False  # nothing more can be done without more input
        self._member = 0
        self._inflater: Any = None
        self._sum = self._size = 0

    def between(self, octets: bytes) -> bool:
        """Whether a file may end here, with `octets` left over."""
        return self._inflater is None and self._member > 0 and not octets.strip(b"\0")

    def step(self, octets: bytes, room: int) -> tuple[bytes, bytes]:
        """(at most `room` inflated octets, the input that is left). Raises _Damage."""
        self.hungry = False
        if self._inflater is None:
            return b"", self._begin(octets)
        if self._inflater.eof:
            return b"", self._finish(octets)
        try:
            piece = self._inflater.decompress(octets, room)
        except zlib.error as error:
            raise _Damage(str(error)) from error
        self._sum = zlib.crc32(piece, self._sum)
        self._size += len(piece)
        if self._inflater.eof:
            return piece, self._inflater.unused_data
        self.hungry = not piece
        return piece, self._inflater.unconsumed_tail

    def _begin(self, octets: bytes) -> bytes:
        if self._member > 0:
            octets = octets.lstrip(b"\0")
        length = _header_length(octets)
        if length is None:
            self.hungry = True
            return octets
        self._member += 1
        self._inflater = zlib.decompressobj(-zlib.MAX_WBITS)
        self._sum = self._size = 0
        return octets[length:]

    def _finish(self, octets: bytes) -> bytes:
        if len(octets) < _GZIP_TRAILER_BYTES:
            self.hungry = True
            return octets
        if int.from_bytes(octets[:4], "little") != self._sum:
            raise _Damage("the check sum does not match")
        if int.from_bytes(octets[4:8], "little") != self._size & 0xFFFFFFFF:
            raise _Damage("the size does not match")
        self._inflater = None
        return octets[_GZIP_TRAILER_BYTES:]


def _header_length(octets: bytes) -> int | None:
    """Length of the member header that starts here; None when it is not all here. Raises _Damage."""
    if not octets.startswith(GZIP_MAGIC[: len(octets)]):
        raise _Damage(f"{octets[:2].hex()} where a member should start")
    if len(octets) > _GZIP_HEADER_MAX:
        raise _Damage(f"a member header of more than {_GZIP_HEADER_MAX} bytes")
    if len(octets) < _GZIP_HEADER_BYTES:
        return None
    method, flags = octets[2], octets[3]
    if method != _DEFLATE or flags & _FLAGS_RESERVED:
        raise _Damage(f"method {method}, flags {flags:#04x} in a member header")
    at = _GZIP_HEADER_BYTES
    if flags & _FLAG_EXTRA:
        if len(octets) < at + 2:
            return None
        at += 2 + int.from_bytes(octets[at : at + 2], "little")
    for flag in (_FLAG_NAME, _FLAG_COMMENT):
        if flags & flag:
            end = octets.find(b"\0", at)
            if end < 0:
                return None
            at = end + 1
    if flags & _FLAG_HEADER_SUM:
        at += 2
    return at if len(octets) >= at else None
