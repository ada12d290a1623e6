"""Which pages mean alike."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lorepack.builder.index.vectors import centre, language_means
from lorepack.builder.model import Chunk, LinkedPage

SHOWN = 5
MIN_LIKENESS = 0.25
"""Cosine of centred vectors below which two pages are not called near."""
_ROWS = 1024


def near_by_path(
    pages: Sequence[LinkedPage],
    chunks: Sequence[Sequence[Chunk]],
    vectors: npt.NDArray[np.float32] | None,
) -> dict[str, list[str]]:
    """Return the paths of near pages for every page; nothing without vectors."""
    if vectors is None:
        return {}
    paths = [linked.page.path for linked in pages]
    near = near_pages(vectors, [len(own) for own in chunks], [p.page.lang for p in pages])
    return {path: [paths[n] for n in own] for path, own in zip(paths, near, strict=True)}


def near_pages(
    vectors: npt.NDArray[np.float32], chunk_counts: Sequence[int], langs: Sequence[str]
) -> list[list[int]]:
    """Return for each page the numbers of those that mean most alike, nearest first.

    A page's vector is the mean of its chunks', without the mean of its language.

    Args:
        vectors: float32 (chunks, dims), unit length, in the order of pages.
        chunk_counts: chunks of each page.
        langs: language of each page.
    """
    of_page = np.repeat(np.arange(len(chunk_counts)), chunk_counts)
    chunk_langs = [langs[page] for page in of_page.tolist()]
    centred = centre(vectors, chunk_langs, language_means(vectors, chunk_langs))
    sums = np.zeros((len(chunk_counts), vectors.shape[1]), np.float32)
    np.add.at(sums, of_page, centred)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    pages = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 1e-6)
    near: list[list[int]] = []
    for first in range(0, len(pages), _ROWS):
        likeness = pages[first : first + _ROWS] @ pages.T
        own = np.arange(len(likeness))
        likeness[own, own + first] = -1
        count = min(SHOWN, likeness.shape[1])
        best = np.argpartition(-likeness, count - 1, axis=1)[:, :count]
        for row, candidates in zip(likeness, best, strict=True):
            rated = sorted((-float(row[page]), int(page)) for page in candidates)
            near.append([page for unlikeness, page in rated if -unlikeness >= MIN_LIKENESS])
    return near
