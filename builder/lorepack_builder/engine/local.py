"""The engine that needs nothing but this machine."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context

from lorepack_builder.engine import Batch, Result, done, in_order


@dataclass(frozen=True)
class LocalEngine:
    """Processes of this machine, one a core; none for little work."""

    shares_disk: bool = True
    embeds: bool = False

    @property
    def places(self) -> int:
        """The cores of this machine."""
        return os.cpu_count() or 1

    def spread(
        self, work: Callable[[Batch], Result], batches: Iterable[Batch], *, worth: bool = True
    ) -> Iterator[Result]:
        """Yield what ``work`` gives for each of ``batches``; see `Engine`."""
        cores = self.places
        if cores == 1 or not worth:
            yield from map(work, batches)
            return
        # Not by fork: the model's threads may already run.
        with ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool:

            def submit(batch: Batch) -> Future[Result]:
                return pool.submit(done, work, batch)

            yield from in_order(submit, batches, lambda: cores)


LOCAL = LocalEngine()
