"""Upkeep: linked and embedded pages → what the wiki could be better in."""

from __future__ import annotations

from collections.abc import Sequence

from lorepack.index.vectors import Floats
from lorepack.pack.taxonomy import TaxonomyTag
from lorepack_builder.maintenance.concepts import find_concepts
from lorepack_builder.maintenance.links import suggest_links
from lorepack_builder.maintenance.mentions import mentions_of_pages
from lorepack_builder.maintenance.model import Upkeep
from lorepack_builder.maintenance.similar import near_pages, page_vectors
from lorepack_builder.maintenance.tags import review_tags
from lorepack_builder.maintenance.translations import Embed, translated_tags
from lorepack_builder.model import Chunk, LinkedPage, SourceFile

SHOWN = 5
"""Near pages that the site shows beside a page."""
_NEAR = 12
"""Near pages that suggestions are made from: some are linked already."""


def review(
    pages: Sequence[LinkedPage],
    chunks: Sequence[Sequence[Chunk]],
    files: Sequence[SourceFile],
    vectors: Floats | None,
    embed: Embed | None,
    taxonomy: Sequence[TaxonomyTag] | None,
    day: str,
) -> Upkeep:
    """Look through a whole wiki: links it lacks, tags that are one, concepts that nothing joins.

    Args:
        files: every file that may be linked to.
        vectors: float32 (chunks, dims), unit length; None without a model, and nothing is near.
        embed: turns tags into vectors; None without a model, and no tag is a translation.
        taxonomy: the tags that are allowed; None if all are.
        day: the pack's own.
    """
    paths = [item.page.path for item in pages]
    near: dict[str, list[tuple[str, float]]] = {}
    if vectors is not None and len(vectors):
        found = near_pages(page_vectors(pages, chunks, vectors), _NEAR)
        for path, own in zip(paths, found, strict=True):
            near[path] = [(paths[number], likeness) for number, likeness in own]
    mentions = mentions_of_pages(pages)
    translations = translated_tags(pages, embed) if embed else {}
    return Upkeep(
        day=day,
        near={path: [other for other, _ in own[:SHOWN]] for path, own in near.items()},
        suggestions=suggest_links(pages, files, mentions, near),
        tags=review_tags(pages, translations, taxonomy),
        concepts=find_concepts(pages, chunks, mentions),
    )
