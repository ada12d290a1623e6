"""Where the work of a build is done: in this machine's processes, or on the workers of Dask."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Batch = TypeVar("Batch")
Result = TypeVar("Result")


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
