"""Which pages mean alike, without comparing each with each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from lorepack.index.vectors import Floats, binary_planes, centre, language_means
from lorepack_builder.model import Chunk, LinkedPage

MIN_LIKENESS = 0.25
"""Cosine of centred vectors below which two pages are not called near."""
_SMALL = 5_000
"""Pages that are all compared with each other; more are sorted into neighbourhoods first."""
_NEIGHBOURHOODS = 24
"""Neighbourhoods that are looked through for a page, its own among them."""
_ROWS = 256
"""Pages compared at once; bounds the memory of a comparison."""
_ROUNDS = 4
"""Of sorting into neighbourhoods."""
_SIFTED = 48
"""Pages that bits alone let through, to be compared by all their numbers."""

Planes = npt.NDArray[np.uint64]


def page_vectors(
    pages: Sequence[LinkedPage], chunks: Sequence[Sequence[Chunk]], vectors: Floats
) -> Floats:
    """Return float32 (pages, dims): the mean of each page's chunks, without its language's mean.

    Of unit length; a page without chunks has zeros.

    Args:
        vectors: float32 (chunks, dims), unit length, in the order of pages.
    """
    of_page = np.repeat(np.arange(len(pages)), [len(own) for own in chunks])
    langs = [pages[number].page.lang for number in of_page.tolist()]
    centred = centre(vectors, langs, language_means(vectors, langs))
    sums = np.zeros((len(pages), vectors.shape[1]), np.float32)
    np.add.at(sums, of_page, centred)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    unit: Floats = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 1e-6)
    return unit


def near_pages(vectors: Floats, count: int) -> list[list[tuple[int, float]]]:
    """Return for each page the numbers of those that mean most alike, nearest first, with cosines.

    Pages are sorted into √n neighbourhoods; a page is compared with
    those of the neighbourhoods around its own: first by bits, then the best of them by cosine. This
    costs O(n √n), and is all pages are compared up to 5,000.

    Args:
        vectors: float32 (pages, dims), of `page_vectors`.
    """
    near: list[list[tuple[int, float]]] = [[] for _ in vectors]
    planes = binary_planes(vectors)
    for members, others in _neighbourhoods(vectors):
        candidates = _sift(planes, members, others)
        likeness = np.einsum("md,mcd->mc", vectors[members], vectors[candidates])
        likeness[candidates == members[:, None]] = -1
        for member, row, found in zip(members.tolist(), likeness, candidates, strict=True):
            best = sorted(zip((-row).tolist(), found.tolist(), strict=True))[:count]
            near[member] = [(page, -unlike) for unlike, page in best if -unlike >= MIN_LIKENESS]
    return near


def _neighbourhoods(
    vectors: Floats,
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """Yield the pages of each neighbourhood, and those of all neighbourhoods around it."""
    everyone = np.arange(len(vectors))
    if len(vectors) <= _SMALL:
        yield from ((part, everyone) for part in _parts(everyone, _ROWS))
        return
    centres, home = _cluster(vectors, isqrt(len(vectors)))
    members = [np.flatnonzero(home == number) for number in range(len(centres))]
    around = (-centres @ centres.T).argsort(axis=1, kind="stable")
    for number, own in enumerate(members):
        others = np.concatenate([members[n] for n in around[number, :_NEIGHBOURHOODS]])
        yield from ((part, others) for part in _parts(own, _ROWS))


def _cluster(vectors: Floats, count: int) -> tuple[Floats, npt.NDArray[np.intp]]:
    """Return float32 (count, dims) centres and the centre of each vector: spherical k-means."""
    centres = vectors[np.linspace(0, len(vectors) - 1, count).astype(np.intp)]
    for _ in range(_ROUNDS):
        home = _nearest(vectors, centres)
        sums = np.zeros_like(centres)
        np.add.at(sums, home, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.divide(sums, lengths, out=centres.copy(), where=lengths > 1e-6)
    return centres, _nearest(vectors, centres)


def _nearest(vectors: Floats, centres: Floats) -> npt.NDArray[np.intp]:
    parts = _parts(vectors, 4096)
    return np.concatenate([(part @ centres.T).argmax(axis=1) for part in parts])


def _parts(array: npt.NDArray[Any], rows: int) -> list[npt.NDArray[Any]]:
    return np.array_split(array, -(-len(array) // rows)) if len(array) else []


def _sift(
    planes: Planes, members: npt.NDArray[np.intp], others: npt.NDArray[np.intp]
) -> npt.NDArray[np.intp]:
    """Return (members, `_SIFTED` or fewer) pages of ``others`` whose bits differ least."""
    count = min(_SIFTED, len(others))
    distances = _distances(planes, members, others)
    chosen: npt.NDArray[np.intp] = np.argpartition(distances, count - 1, axis=1)[:, :count]
    return others[chosen]


def _distances(
    planes: Planes, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp]
) -> npt.NDArray[np.uint16]:
    """Return in how many bits pages differ: uint16 (rows, columns)."""
    total = np.zeros((len(rows), len(columns)), np.uint16)
    for plane in planes:
        total += np.bitwise_count(plane[rows][:, None] ^ plane[columns][None, :])
    return total
