"""Parse many files, on all cores when there are enough of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from lorepack.builder.model import Finding, Page, SourceFile
from lorepack.builder.parse import parse_file

WORTH_A_POOL = 1_000
"""Files from which on starting other processes pays."""
_BATCH = 50

Parsed = tuple[Page | None, list[Finding]]


def parse_files(
    files: Sequence[SourceFile], on_done: Callable[[int], None] = lambda _: None
) -> list[Parsed]:
    """Return what `parse_file` gives for each of ``files``, in their order.

    Args:
        on_done: called with the number of files parsed so far.
    """
    results: list[Parsed] = []
    for parsed in _parse_all(files):
        results.append(parsed)
        on_done(len(results))
    return results


def _parse_all(files: Sequence[SourceFile]) -> Iterator[Parsed]:
    cores = os.cpu_count() or 1
    if cores == 1 or len(files) < WORTH_A_POOL:
        yield from map(parse_file, files)
        return
    # Not by fork: the model's threads may already run.
    with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:
        yield from pool.map(parse_file, files, chunksize=_BATCH)
