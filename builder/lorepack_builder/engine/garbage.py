"""Python's search for cycles, seldom."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def few_collections() -> Iterator[None]:
    """Let Python look for cycles seldom: a build makes many objects, and hardly any cycle."""
    before = gc.get_threshold()
    gc.set_threshold(200_000, 50, 1_000)
    try:
        yield
    finally:
        gc.set_threshold(*before)
