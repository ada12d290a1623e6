"""Measures of a ranked list against judgements."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence


def recall_at(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return the share of relevant items (grade > 0) among the first ``k``."""
    relevant = {item for item, grade in grades.items() if grade > 0}
    return len(relevant & set(ranked[:k])) / len(relevant) if relevant else 0.0


def reciprocal_rank_at(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return 1 / the rank of the first relevant item among the first ``k``, or 0."""
    for rank, item in enumerate(ranked[:k], 1):
        if grades.get(item, 0) > 0:
            return 1 / rank
    return 0.0


def ndcg_at(ranked: Sequence[str], grades: Mapping[str, int], k: int) -> float:
    """Return the normalised discounted cumulative gain (Järvelin, Kekäläinen 2002), linear gain."""
    gains = [grades.get(item, 0) for item in ranked[:k]]
    ideal = sorted(grades.values(), reverse=True)[:k]
    best = _discounted(ideal)
    return _discounted(gains) / best if best else 0.0


def _discounted(gains: Sequence[int]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
