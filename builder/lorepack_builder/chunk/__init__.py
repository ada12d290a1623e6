"""Chunk: a page → its heading sections, each small enough for the embedder."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence

from lorepack_builder.chunk.sections import Section, group_sections
from lorepack_builder.chunk.split import Piece, split_section
from lorepack_builder.chunk.tokens import TokenOffsets, count_lines
from lorepack_builder.model import Chunk, Page

_BATCH = 64
_PROPERTIES_LIMIT = 2000


def chunk_pages(
    pages: Sequence[Page], token_offsets: TokenOffsets, max_tokens: int
) -> list[tuple[Chunk, ...]]:
    """Return the chunks of each page.

    Args:
        token_offsets: returns, for each text, the character offset of every token.
        max_tokens: a section with more is split at its blocks.
    """
    chunks: list[tuple[Chunk, ...]] = []
    for start in range(0, len(pages), _BATCH):
        batch = pages[start : start + _BATCH]
        offsets = token_offsets([page.body for page in batch])
        chunks += map(_chunk_page, batch, offsets, [max_tokens] * len(batch))
    return chunks


def _chunk_page(page: Page, offsets: Sequence[int], max_tokens: int) -> tuple[Chunk, ...]:
    lines = page.body.split("\n")
    counts = count_lines(lines, offsets)
    pieces: list[tuple[Section, Piece]] = []
    for section in group_sections(page, lines, counts):
        pieces += (
            (section, piece) for piece in split_section(page, section, lines, counts, max_tokens)
        )
    if not pieces and page.properties.strip():
        pieces = [_properties_piece(page)]
    seen: Counter[tuple[str, str]] = Counter()
    return tuple(
        _chunk(page, ordinal, section, piece, seen)
        for ordinal, (section, piece) in enumerate(pieces)
    )


def _properties_piece(page: Page) -> tuple[Section, Piece]:
    """A note that is all frontmatter is found by its properties."""
    last = page.properties.count("\n") + 2
    text = page.properties.strip()[:_PROPERTIES_LIMIT]
    return Section(2, last), Piece(text, 2, last, max(1, len(text) // 4), ())


def _chunk(
    page: Page, ordinal: int, section: Section, piece: Piece, seen: Counter[tuple[str, str]]
) -> Chunk:
    key = _key(page.path, section.anchor, piece.text, seen)
    return Chunk(
        page=page.path,
        ordinal=ordinal,
        key=key,
        anchor=section.anchor,
        headings=section.headings,
        text=piece.text,
        first_line=max(1, piece.first_line),
        last_line=max(1, piece.last_line),
        tokens=piece.tokens,
        anchors=piece.anchors,
    )


def _key(path: str, anchor: str, text: str, seen: Counter[tuple[str, str]]) -> str:
    """Equal text under one heading is told apart by counting."""
    number = seen[(anchor, text)]
    seen[(anchor, text)] += 1
    parts = [path, anchor, text, *([str(number)] if number else [])]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
