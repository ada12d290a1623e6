"""Shapes in JSON that nobody vouches for."""

from __future__ import annotations

from typing import Any


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
