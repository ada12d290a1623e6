"""Which pages a filter lets through; decided before ranking, not after."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from lorepack_server.retrieve.query import FILTERS

_FIND = """
SELECT pages.id FROM pages JOIN sources ON sources.id = pages.source_id
WHERE (:source IS NULL OR sources.name = :source)
  AND (:path IS NULL OR pages.path = :path
    OR substr(pages.path, 1, length(:path) + 1) = :path || '/')
  AND (:category IS NULL OR pages.category = :category)
  AND (:lifecycle IS NULL OR pages.lifecycle = :lifecycle)
  AND (:lang IS NULL OR pages.lang = :lang)
  AND (:tool IS NULL OR instr(
        ',' || replace(lower(pages.tool), ', ', ',') || ',', ',' || lower(:tool) || ',') > 0)
  AND (:tag IS NULL OR EXISTS (
        SELECT 1 FROM json_each(pages.tags)
        WHERE lower(value) = lower(:tag)
           OR substr(lower(value), 1, length(:tag) + 1) = lower(:tag) || '/'))
"""
_VALUES = {
    "source": "SELECT name FROM sources ORDER BY 1",
    "category": "SELECT DISTINCT category FROM pages WHERE category <> '' ORDER BY 1",
    "lifecycle": "SELECT DISTINCT lifecycle FROM pages WHERE lifecycle <> '' ORDER BY 1",
    "lang": "SELECT DISTINCT lang FROM pages ORDER BY 1",
    "tool": "SELECT DISTINCT tool FROM pages WHERE tool <> '' ORDER BY 1",
    "tag": "SELECT DISTINCT value FROM pages, json_each(pages.tags) ORDER BY 1",
}


def allowed_pages(
    pack: sqlite3.Connection, filters: Mapping[str, str], tags: Sequence[str] = (),
    match: str = "all",
) -> list[int] | None:  # fmt: skip
    """Return the ids, ascending, of the pages that pass all ``filters`` and have the ``tags``.

    None when there is neither.

    Args:
        match: whether a page must have ``all`` tags, or ``any`` of them.
    """
    if tags:
        each = [set(allowed_pages(pack, {**filters, "tag": tag}) or []) for tag in tags]
        return sorted(set.union(*each) if match == "any" else set.intersection(*each))
    if not filters:
        return None
    values = {name: filters.get(name) for name in FILTERS}
    if values["path"]:
        values["path"] = values["path"].strip("/")
    if values["tag"]:
        values["tag"] = values["tag"].lstrip("#")
    return sorted(row[0] for row in pack.execute(_FIND, values))


def valid_values(pack: sqlite3.Connection, filter_name: str, limit: int = 50) -> list[str]:
    """Return values that ``filter_name`` can have, to answer one that matches nothing."""
    if filter_name not in _VALUES:
        return []
    return [row[0] for row in pack.execute(_VALUES[filter_name]).fetchmany(limit)]
