"""Load slowly: one page in four seconds an origin, three at once, whoever on this machine asks."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lorepack.models.convert import cache_dir

INTERVAL = 4.0
"""Seconds between the beginnings of two loads from one origin."""
AT_ONCE = 3
_POLL = 0.1

try:
    import fcntl
except ImportError:  # Windows: one process alone keeps the pace.
    fcntl = None  # type: ignore[assignment]


@contextmanager
def paced(origin: str) -> Iterator[None]:
    """Wait for a turn to load a page from ``origin``, and hold a place while the block lasts."""
    folder = cache_dir() / "codewiki" / "pace"
    folder.mkdir(parents=True, exist_ok=True)
    name = re.sub(r"[^\w.-]", "_", origin)
    with _place(folder, name):
        _wait_for_turn(folder / f"{name}.last")
        yield


@contextmanager
def _place(folder: Path, name: str) -> Iterator[None]:
    """Hold one of the places for loads that go on at the same time."""
    while True:
        for number in range(AT_ONCE):
            with (folder / f"{name}.{number}").open("a") as file:
                if _lock(file.fileno(), wait=False):
                    yield
                    return
        time.sleep(_POLL)


def _wait_for_turn(path: Path) -> None:
    """Note the time of this load, `INTERVAL` after the one before."""
    with path.open("a+") as file:
        _lock(file.fileno(), wait=True)
        file.seek(0)
        text = file.read().strip()
        last = float(text) if re.fullmatch(r"[\d.]+", text) else 0.0
        # A clock that was set back must not make anybody wait for hours.
        wait = min(INTERVAL, last + INTERVAL - time.time())
        if wait > 0:
            time.sleep(wait)
        file.seek(0)
        file.truncate()
        file.write(f"{time.time():.3f}")


def _lock(number: int, *, wait: bool) -> bool:
    if fcntl is None:
        return True
    try:
        fcntl.flock(number, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
