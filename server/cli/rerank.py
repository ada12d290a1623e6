"""The option of all commands that may rerank."""

from __future__ import annotations

import click

from lorepack.packfile.errors import LorepackError
from lorepack.server.retrieve.rerank import BUDGET_MS, Reranker

RERANK = click.option(
    "--rerank", is_flag=False, flag_value=BUDGET_MS, default=0, metavar="MS",
    type=click.IntRange(0, 60_000),
    help=f"Let a cross-encoder read the best for MS milliseconds ({BUDGET_MS} if no MS is given; "
    "English only; extra `rerank`).",
)  # fmt: skip


def reranker_for(budget_ms: int) -> Reranker | None:
    """Return a loaded reranker; None for 0. Raises `LorepackError` when there is no model."""
    if not budget_ms:
        return None
    reranker = Reranker(budget_ms)
    try:
        reranker.warm()
    except ImportError as error:
        raise LorepackError(f"the reranker cannot be loaded ({error})", "install it") from error
    return reranker
