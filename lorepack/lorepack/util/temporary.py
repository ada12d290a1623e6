"""Files and folders that name the process they belong to, so that what a dead one left is known."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_OWNER = re.compile(r"-(\d{1,10})-")


def own_name(before: str, after: str = "") -> str:
    """Return a name of this process: ``before-PID-after``."""
    return f"{before}-{os.getpid()}-{after}"


def remove_abandoned(folder: Path, before: str) -> None:
    """Remove what processes that run no more left in ``folder`` under names of `own_name`.

    What cannot be removed stays, and other people's things, too.
    """
    with suppress(OSError):
        for path in folder.glob(f"{before}-*"):
            owner = _OWNER.match(path.name.removeprefix(before))
            if owner is None or is_running(int(owner[1])):
                continue
            with suppress(OSError):
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink()


@contextmanager
def own_folder(parent: Path | None = None, before: str = "lorepack") -> Iterator[Path]:
    """Give an empty folder while the block lasts, and remove what dead processes left beside it.

    Args:
        parent: where it is made; else among the system's temporary files.

    Raises:
        OSError: it cannot be made.
    """
    remove_abandoned(parent or Path(tempfile.gettempdir()), before)
    with tempfile.TemporaryDirectory(prefix=own_name(before), dir=parent) as folder:
        yield Path(folder)


def is_running(pid: int) -> bool:
    """Say whether there is a process of this number; on Windows, it is taken for granted."""
    if sys.platform == "win32":
        # There, signal 0 would end the process.
        return True
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
