"""Shapes in JSON that nobody vouches for."""

from __future__ import annotations

from typing import Any


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def table(value: Any) -> dict[str, Any]:
    """Return an object as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []
