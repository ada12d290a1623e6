"""The engine that spreads a build over the workers of Dask. https://distributed.dask.org"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from lorepack.errors import LorepackError
from lorepack_builder.cache.code_digest import code_digest
from lorepack_builder.engine import Batch, Result, done, in_order

_CONNECT_SECONDS = 20


class OtherLorepack(Exception):
    """A worker has another Lorepack than the one that builds."""


@dataclass(frozen=True)
class DaskEngine:
    """A client of a scheduler; each batch goes to one of its workers."""

    client: Any
    shares_disk: bool = False
    embeds: bool = True

    def spread(
        self, work: Callable[[Batch], Result], batches: Iterable[Batch], *, worth: bool = True
    ) -> Iterator[Result]:
        """Yield what ``work`` gives for each of ``batches``; see `Engine`.

        A batch whose worker is lost is given to another one. Only as many batches as the workers
        have threads for, twice, are on their way at a time.

        Raises:
            LorepackError: a worker has another Lorepack, or a batch cost worker after worker.
        """
        from distributed import KilledWorker

        submit = partial(self.client.submit, _checked, code_digest(), work, pure=False)
        try:
            yield from in_order(submit, batches, lambda: self.places)
        except KilledWorker as error:
            raise LorepackError(
                f"a batch was given to worker after worker, and each was lost ({error})",
                "give workers more memory (--worker-memory)",
            ) from error
        except OtherLorepack as error:
            raise LorepackError(str(error), "install this version on all workers") from error

    @property
    def places(self) -> int:
        """The threads of all workers there are now."""
        threads: dict[str, int] = self.client.nthreads()
        return max(1, sum(threads.values()))


@contextmanager
def dask_engine(scheduler: str, workers: int, memory: str) -> Iterator[DaskEngine]:
    """Give an engine while the block lasts.

    Args:
        scheduler: ``tcp://host:port``; '' starts a scheduler and workers on this machine.
        workers: how many to start, of one thread each; 0 for one a core.
        memory: what each may use, ``2GiB``; a worker that needs more is started anew.

    Raises:
        LorepackError: Dask is not installed, or the scheduler does not answer.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise LorepackError(
            "--engine dask needs the extra `dask`", "pip install 'lorepack[dask]'"
        ) from error
    # Batches are large on purpose; no page of the dashboard is served.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}):
        if scheduler:
            try:
                client = Client(scheduler, timeout=_CONNECT_SECONDS)  # type: ignore[no-untyped-call]
            except (OSError, ValueError, TimeoutError) as error:
                raise LorepackError(
                    f"the scheduler {scheduler} does not answer ({error})", "check its address"
                ) from error
            with client:
                yield DaskEngine(client)
            return
        try:
            cluster = LocalCluster(  # type: ignore[no-untyped-call]
                n_workers=workers or None, threads_per_worker=1, memory_limit=memory,
                dashboard_address=None, silence_logs=logging.ERROR,
            )  # fmt: skip
        except (ValueError, RuntimeError) as error:
            raise LorepackError(
                f"workers cannot be started ({error})", "check --workers and --worker-memory"
            ) from error
        with cluster, Client(cluster) as client:  # type: ignore[no-untyped-call]
            yield DaskEngine(client)


def _checked(code: str, work: Callable[[Batch], Result], batch: Batch) -> Result:
    if code != code_digest():
        import socket

        raise OtherLorepack(f"the worker on {socket.gethostname()} has another Lorepack")
    return done(work, batch)
