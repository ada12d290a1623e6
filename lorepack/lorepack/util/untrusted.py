"""Shapes in JSON, TOML and YAML that nobody vouches for."""

from __future__ import annotations

from typing import Any


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; nothing of anything else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def tables(value: Any) -> dict[str, Any]:
    """Return a mapping as it is, anything else as an empty one."""
    return value if isinstance(value, dict) else {}


def items(value: Any) -> list[Any]:
    """Return a list as it is, anything else as an empty one."""
    return value if isinstance(value, list) else []


def texts(value: Any) -> list[str]:
    """Return the texts of a list; nothing of anything else."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
