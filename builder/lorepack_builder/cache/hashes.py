"""Digests of a build's files, to know those that did not change."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from lorepack_builder.model import SourceFile

Hashes = Mapping[str, bytes]
"""SHA-256 by path."""
Stamps = Mapping[str, tuple[int, int, int] | None]
"""Bytes, times of the last change of content and of anything (ns), by path; None if it is gone."""
_LARGE = 4 * 2**20


def content_hashes(files: Sequence[SourceFile], is_page: Callable[[SourceFile], bool]) -> Hashes:
    """Return a digest of each file.

    A large attachment's is made of its size and the time of its last change.
    """
    return {file.path: _digest(file, is_page(file)) for file in files}


def stamps_of(files: Sequence[SourceFile]) -> Stamps:
    """Return what differs, once a file is written to, from what it was before."""
    return {file.path: _stamp(file) for file in files}


def _stamp(file: SourceFile) -> tuple[int, int, int] | None:
    try:
        about = file.disk.stat()
    except OSError:
        return None
    return about.st_size, about.st_mtime_ns, about.st_ctime_ns


def _digest(file: SourceFile, whole: bool) -> bytes:
    try:
        about = file.disk.stat()
        if whole or about.st_size < _LARGE:
            return hashlib.sha256(file.disk.read_bytes()).digest()
    except OSError as error:
        return hashlib.sha256(str(error.errno).encode()).digest()
    return hashlib.sha256(f"{about.st_size} {about.st_mtime_ns}".encode()).digest()
