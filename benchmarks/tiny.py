"""The size of a benchmark: as it is reported, or so small that CI sees it run."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")
TINY = bool(os.environ.get("LOREPACK_BENCHMARK_TINY"))


def of(size: T, tiny: T) -> T:
    """Return ``size``, or ``tiny`` where ``LOREPACK_BENCHMARK_TINY`` is set."""
    return tiny if TINY else size
