"""The engine that a name means."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lorepack.errors import LorepackError
from lorepack_builder.engine import Engine
from lorepack_builder.engine.local import LOCAL

ENGINES = ("local", "dask")


@contextmanager
def open_engine(name: str, scheduler: str, workers: int, memory: str) -> Iterator[Engine]:
    """Give the engine ``name`` of `ENGINES` while the block lasts; see `dask_engine`.

    Raises:
        LorepackError: it cannot be had, or the local one is given what only Dask has.
    """
    if name == "local":
        if scheduler or workers:
            raise LorepackError("--scheduler and --workers are Dask's", "add --engine dask")
        yield LOCAL
        return
    from lorepack_builder.engine.dask import dask_engine

    with dask_engine(scheduler, workers, memory) as engine:
        yield engine
