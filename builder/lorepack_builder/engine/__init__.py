"""Where the work of a build is done: in this machine's processes, or on the workers of Dask."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeVar

from lorepack_builder.engine.garbage import few_collections

Batch = TypeVar("Batch")
Result = TypeVar("Result")

_WAITING = 2
"""Batches at hand for each place where work is done, so that none waits for the next."""


class Engine(Protocol):
    """Runs pieces of a build that do not depend on one another."""

    @property
    def shares_disk(self) -> bool:
        """Whether the files of sources can be read where the work is done."""

    @property
    def embeds(self) -> bool:
        """Whether texts are embedded by `spread`, rather than by threads of this process."""

    @property
    def places(self) -> int:
        """How many batches are worked on at a time."""

    def spread(
        self, work: Callable[[Batch], Result], batches: Iterable[Batch], *, worth: bool = True
    ) -> Iterator[Result]:
        """Yield what ``work`` gives for each of ``batches``, in their order.

        Args:
            work: a function of a module: it may run in another process. Its result must depend on
                its batch alone.
            batches: taken only as fast as they are worked off.
            worth: whether the work is long enough to start other processes for it.
        """


def in_order(
    submit: Callable[[Batch], Any], batches: Iterable[Batch], places: Callable[[], int]
) -> Iterator[Any]:
    """Yield the results of ``batches`` in their order, with no more on their way than is useful.

    Args:
        submit: begins the work on a batch, and returns a future.
        places: how many batches are worked on at a time, at the moment.
    """
    running: deque[Any] = deque()
    try:
        for batch in batches:
            running.append(submit(batch))
            if len(running) > _WAITING * places():
                yield running.popleft().result()
        while running:
            yield running.popleft().result()
    finally:
        for future in running:
            future.cancel()


def done(work: Callable[[Batch], Result], batch: Batch) -> Result:
    """Return what ``work`` gives, done as a process of its own should."""
    with few_collections():
        return work(batch)
