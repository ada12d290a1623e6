"""Where a recipe's caches lie: each stage that remembers has a file of its own for each recipe."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lorepack.packfile.models.convert import cache_dir


def cache_file(stage: str, recipe: Path) -> Path:
    """Return the file in which ``stage`` remembers what it made of ``recipe``."""
    name = hashlib.sha256(str(recipe.absolute()).encode("utf-8", "replace")).hexdigest()[:16]
    return cache_dir() / stage / f"{recipe.stem}-{name}.sqlite"
