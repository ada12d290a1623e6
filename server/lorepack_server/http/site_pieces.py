"""Files of a pack's site, read piece by piece: many slow readers share little memory."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from starlette.concurrency import iterate_in_threadpool

from lorepack.pack.site import MAX_FILE, SiteFile, damaged
from lorepack_server.packs.mount import Mount

PIECE = 1 << 16
"""Bytes read, and sent, at a time."""
SMALL = 1 << 18
"""Bytes of a file that is sent as a whole."""
_MAX_RATIO = 1100
"""No zlib stream unpacks to more than 1,032 times its size."""
_FIND = "SELECT rowid, sz, length(data) FROM sqlar WHERE name = ?"


@dataclass(frozen=True)
class Stored:
    """Where a file lies in the table; its bytes, unpacked and as stored."""

    rowid: int
    size: int
    packed: int

    @property
    def deflated(self) -> bool:
        """Whether it is stored as a zlib stream."""
        return self.packed != self.size


def find_stored(mount: Mount, name: str) -> Stored | None:
    """Return where a file is; None if there is none.

    Raises:
        LorepackError: it cannot have the size that it claims.
    """
    row = mount.connection().execute(_FIND, (name,)).fetchone()
    if row is None:
        return None
    stored = Stored(*row)
    if not 0 <= stored.size <= min(MAX_FILE, stored.packed * _MAX_RATIO + PIECE):
        raise damaged()
    return stored


def read_stored(mount: Mount, stored: Stored) -> bytes:
    """Return a small file's content.

    Raises:
        LorepackError: it is damaged.
    """
    return SiteFile(stored.size, b"".join(_raw(mount, stored, 0, stored.packed))).plain()


def pieces(mount: Mount, stored: Stored, span: tuple[int, int]) -> AsyncIterator[bytes]:
    """Yield the bytes of a file from ``span[0]`` to before ``span[1]``, in pieces.

    Raises:
        LorepackError: it is damaged; what was yielded before is not.
    """
    read = _unpacked(mount, stored, *span) if stored.deflated else _raw(mount, stored, *span)
    return iterate_in_threadpool(read)


def _raw(mount: Mount, stored: Stored, begin: int, end: int) -> Iterator[bytes]:
    """Each piece is read by the connection of the thread that asks for it."""
    for start in range(begin, end, PIECE):
        with mount.connection().blobopen("sqlar", "data", stored.rowid, readonly=True) as blob:
            blob.seek(start)
            data = blob.read(min(PIECE, end - start))
        yield data


def _unpacked(mount: Mount, stored: Stored, begin: int, end: int) -> Iterator[bytes]:
    """Unpack from the start, as a zlib stream must be; no more than its size."""
    stream, at = zlib.decompressobj(), 0
    for packed in _raw(mount, stored, 0, stored.packed):
        while packed and at < end:
            try:
                plain = stream.decompress(packed, PIECE)
            except zlib.error as error:
                raise damaged() from error
            packed = stream.unconsumed_tail  # noqa: PLW2901
            if kept := plain[max(0, begin - at) : end - at]:
                yield kept
            at += len(plain)
    if at < end or (end == stored.size and at > end):
        raise damaged()
