"""Read a file once more, after it was acquired: it may be gone, or another, by then."""

from __future__ import annotations

import hashlib

from lorepack.errors import LorepackError
from lorepack_builder.model import SourceFile


def read_unchanged(file: SourceFile, sha256: str = "") -> bytes:
    """Return a file's content.

    Args:
        sha256: what it must be, in hexadecimal digits; '' takes any.

    Raises:
        LorepackError: it cannot be read any more, or holds something else.
    """
    try:
        data = file.disk.read_bytes()
    except OSError as error:
        raise LorepackError(f"{file.path} cannot be read any more ({error.strerror})",
                            "build again") from error  # fmt: skip
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise LorepackError(f"{file.path} changed while the pack was built", "build again")
    return data
