"""Add up what terms say about chunks, and take the best, without reading all of a long list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lorepack.index.postings import IMPACT_STEP

Chunks = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]

_LONG = 8
"""A list of one chunk in so many, or more, is worth a look whether it can be cut short."""


@dataclass(frozen=True)
class Term:
    """A term of the index: its rarity, and its chunks (ascending) with what it says of each."""

    count: int
    rarity: float
    chunks: npt.NDArray[np.uint32]
    impacts: npt.NDArray[np.uint8]

    @property
    def factor(self) -> np.float32:
        """What one step of impact adds to a score."""
        return IMPACT_STEP * np.float32(self.rarity)

    @property
    def most(self) -> float:
        """The most that the term adds to any chunk's score."""
        return float(self.impacts.max() * self.factor) if self.count else 0.0


def best_chunks(
    terms: Sequence[Term], chunks: int, allowed: Chunks | None, limit: int
) -> tuple[Chunks, Scores]:
    """Return up to ``limit`` chunks with their scores, best first; of equal ones, the lower id.

    Terms that can add most come first. Once the rest together cannot lift a chunk over the worst of
    the best, only chunks that are near enough are looked up in their lists (MaxScore: Turtle, Flood
    1995). The result is the same as if all lists were read.

    Args:
        chunks: how many the pack has.
        allowed: the only chunks that may be found.
    """
    ordered = sorted(terms, key=lambda term: -term.most)
    most = [term.most for term in ordered]
    scores = np.zeros(chunks + 1, np.float32)
    for place, term in enumerate(ordered):
        if allowed is None and place and term.count * _LONG > chunks:
            near = _near_enough(scores, sum(most[place:]), limit)
            if near is not None and len(near) * _LONG < term.count:
                return _take(near, scores[near] + _looked_up(ordered[place:], near), limit)
        scores[term.chunks] += term.impacts * term.factor
    found = np.flatnonzero(scores > 0) if allowed is None else allowed
    return _take(found, scores[found], limit)


def _near_enough(scores: Scores, more: float, limit: int) -> Chunks | None:
    """Return the chunks that ``more`` can bring among the best; None if it can bring any there."""
    # Sums in another order differ in their last digits.
    least = (_worst_of_best(scores[scores > 0], limit) - more) * 0.9999
    return np.flatnonzero(scores >= np.float32(least)) if least > 0 else None


def _worst_of_best(scores: Scores, limit: int) -> float:
    """Return the score of the last of the best; 0 when there are fewer than ``limit``.

    Selection is slow among equal values, so that zeros had better be left out before.
    """
    place = len(scores) - limit
    return float(np.partition(scores, place)[place]) if place > 0 else 0.0


def _looked_up(terms: Sequence[Term], chunks: Chunks) -> Scores:
    """Return what ``terms`` add to each of ``chunks``."""
    scores = np.zeros(len(chunks), np.float32)
    wanted = chunks.astype(np.uint32)
    for term in terms:
        at = np.minimum(np.searchsorted(term.chunks, wanted), term.count - 1)
        scores += (term.chunks[at] == wanted) * (term.impacts[at] * term.factor)
    return scores


def _take(chunks: Chunks, scores: Scores, limit: int) -> tuple[Chunks, Scores]:
    kept = np.flatnonzero(scores >= max(_worst_of_best(scores, limit), 1e-9))
    order = kept[np.lexsort((chunks[kept], -scores[kept]))[:limit]]
    return chunks[order], scores[order]
