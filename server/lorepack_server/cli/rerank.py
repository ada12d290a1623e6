"""The option of all commands that may rerank."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lorepack.errors import LorepackError
from lorepack_server.limits import RERANK_BUDGET_MS

if TYPE_CHECKING:
    from lorepack_server.retrieve.rerank import Reranker

RERANK = click.option(
    "--rerank", is_flag=False, flag_value=RERANK_BUDGET_MS, default=0, metavar="MS",
    type=click.IntRange(0, 60_000),
    help="Let a cross-encoder read the best for MS milliseconds "
    f"({RERANK_BUDGET_MS} if no MS is given; English only; extra `rerank`).",
)  # fmt: skip


def reranker_for(budget_ms: int) -> Reranker | None:
    """Return a loaded reranker; None for 0. Raises `LorepackError` when there is no model."""
    if not budget_ms:
        return None
    from lorepack_server.retrieve.rerank import Reranker

    reranker = Reranker(budget_ms)
    try:
        reranker.warm()
    except ImportError as error:
        raise LorepackError(f"the reranker cannot be loaded ({error})", "install it") from error
    return reranker
