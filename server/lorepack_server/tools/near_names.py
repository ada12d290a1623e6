"""Names like one that does not exist."""

from __future__ import annotations

from collections.abc import Collection, Mapping


def near_names(name: str, names: Collection[str], limit: int, least: int = 50) -> list[str]:
    """Return up to ``limit`` of ``names``, the most alike first.

    Args:
        least: how much alike they are at least, of 100 (normalised indel similarity).
    """
    from rapidfuzz import fuzz, process

    close = process.extract(name, list(names), scorer=fuzz.ratio, limit=limit, score_cutoff=least)
    return [found for found, _, _ in close]


def nearest_name(name: str, names: Mapping[str, str]) -> str:
    """Return the value of the key that is most like ``name``; '' where none is."""
    return next((names[found] for found in near_names(name, names, 1)), "")
