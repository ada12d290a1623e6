"""Names like one that does not exist."""

from __future__ import annotations

from collections.abc import Collection

from rapidfuzz import fuzz, process


def near_names(name: str, names: Collection[str], limit: int, least: int = 50) -> list[str]:
    """Return up to ``limit`` of ``names``, the most alike first.

    Args:
        least: how much alike they are at least, of 100 (normalised indel similarity).
    """
    close = process.extract(name, list(names), scorer=fuzz.ratio, limit=limit, score_cutoff=least)
    return [found for found, _, _ in close]
