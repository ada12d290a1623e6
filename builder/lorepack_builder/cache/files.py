"""A recipe's caches: each stage that remembers has a file of its own for each recipe."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from pathlib import Path

from lorepack.models.convert import cache_dir

_KEYS = "SELECT key FROM pages"
_DROP = "DELETE FROM pages WHERE key = ?"


def cache_file(stage: str, recipe: Path) -> Path:
    """Return the file in which ``stage`` remembers what it made of ``recipe``."""
    name = hashlib.sha256(str(recipe.absolute()).encode("utf-8", "replace")).hexdigest()[:16]
    return cache_dir() / stage / f"{recipe.stem}-{name}.sqlite"


def rewrite_pages(
    file: Path, create: str, used: Collection[str], put: Callable[[sqlite3.Connection], None]
) -> None:
    """Forget the pages not ``used``, and ``put`` new ones; a cache that cannot be written is none.

    Args:
        create: SQL that makes the table ``pages``, with its ``key``, where it is missing.
    """
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file, timeout=60)) as cache, cache:
            cache.executescript(create)
            kept = set(used)
            cache.executemany(_DROP, [(k,) for (k,) in cache.execute(_KEYS) if k not in kept])
            put(cache)
    except (OSError, sqlite3.Error):
        with suppress(OSError):
            file.unlink(missing_ok=True)
