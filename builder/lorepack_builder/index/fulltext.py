"""The segmented text of a chunk, column by column."""

from __future__ import annotations

from functools import lru_cache

from lorepack.text.tokenize import segment
from lorepack_builder.model import Chunk, Page


def segmented(page: Page, chunk: Chunk) -> tuple[str, str, str, str]:
    """Return title (with aliases and tags), headings, body and path of a chunk, as tokens."""
    return (
        _tokens("\n".join((page.title, *page.aliases, *page.tags))),
        _tokens("\n".join(chunk.headings)),
        " ".join(segment(chunk.text)),
        _tokens(page.path),
    )


@lru_cache(maxsize=256)
def _tokens(text: str) -> str:
    return " ".join(segment(text))
