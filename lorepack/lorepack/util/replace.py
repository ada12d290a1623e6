"""Write a folder anew, in place of one that was there: all of it, or nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.util.temporary import own_folder


@contextmanager
def replaced_folder(folder: Path, sign: str, what: str) -> Iterator[Path]:
    """Give an empty folder; what the block wrote to it takes the place of ``folder`` at its end.

    Args:
        sign: a file by which a folder is known to be one that may be replaced.
        what: what such a folder is called.

    Raises:
        LorepackError: ``folder`` holds something else, or cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        raise LorepackError(f"{folder} is no folder", "give another")
    try:
        if folder.is_dir() and any(folder.iterdir()) and not (folder / sign).is_file():
            raise LorepackError(
                f"{folder} is not empty, and no {what}", "give a new or empty folder"
            )
        folder.parent.mkdir(parents=True, exist_ok=True)
        with own_folder(folder.parent, ".lorepack") as scratch:
            new, old = scratch / "new", scratch / "old"
            new.mkdir(mode=0o755)
            yield new
            if folder.exists():
                folder.replace(old)
            new.replace(folder)
    except OSError as error:
        raise LorepackError(f"{folder} cannot be written ({error})", "check its folder") from error
