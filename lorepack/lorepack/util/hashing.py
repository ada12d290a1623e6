"""SHA-256 in hex, of bytes and of files."""

from __future__ import annotations

import hashlib
from pathlib import Path


def sha256_of(data: bytes) -> str:
    """Return the hex SHA-256 of ``data``."""
    return hashlib.sha256(data).hexdigest()


def file_sha256(file: Path) -> str:
    """Return the hex SHA-256 of a file. Raises `OSError` if it cannot be read."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
