"""The rows of what a wiki could be better in, and of what changed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

from lorepack.builder.changes import Changes
from lorepack.builder.upkeep.model import Upkeep

_SUGGESTION = """
INSERT INTO suggestions (page_id, rank, kind, target, message, text, line, start, link)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_TAG = """
INSERT INTO tags (tag, pages, twins, use, allowed, about, message) VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_CONCEPT = """
INSERT INTO concepts (id, concepts, targets, pages, lift, score, message)
VALUES (?, ?, ?, ?, ?, ?, ?)
"""
_PASSAGE = "INSERT INTO concept_passages (concept_id, ordinal, chunk_id) VALUES (?, ?, ?)"
_CHANGE = "INSERT INTO changes (kind, path, title, before, sections) VALUES (?, ?, ?, ?, ?)"


def write_upkeep(
    pack: sqlite3.Connection, upkeep: Upkeep, pages: Mapping[str, int], chunks: Mapping[str, int]
) -> None:
    """Write suggestions, tags and concepts.

    Args:
        pages: ids of pages by path.
        chunks: ids of each page's first chunk, by path.
    """
    for path, suggestions in upkeep.suggestions.items():
        pack.executemany(
            _SUGGESTION,
            (
                (
                    pages[path], rank, s.kind, s.target, s.message, s.text, s.line,
                    s.start if s.start >= 0 else None, s.link,
                )
                for rank, s in enumerate(suggestions, 1)
            ),
        )  # fmt: skip
    for tag in upkeep.tags:
        twins = _json([twin.__dict__ for twin in tag.twins])
        row = (tag.tag, tag.pages, twins, tag.use, tag.allowed, tag.about, tag.message)
        pack.execute(_TAG, row)
    for number, group in enumerate(upkeep.concepts, 1):
        pack.execute(
            _CONCEPT,
            (number, _json(list(group.concepts)), _json(list(group.targets)), group.pages,
             group.lift, group.score, group.message),
        )  # fmt: skip
        places = [chunks[shown.path] + shown.number for shown in group.passages]
        pack.executemany(_PASSAGE, ((number, n, chunk) for n, chunk in enumerate(places, 1)))


def write_changes(pack: sqlite3.Connection, changes: Changes | None) -> None:
    """Write what differs from the previous pack, if there is one."""
    if changes is None:
        return
    for change in changes.pages:
        sections = _json([{"anchor": a, "heading": h} for a, h in change.sections])
        row = (change.kind, change.path, change.title, change.before, sections)
        pack.execute(_CHANGE, row)
    pack.executemany(_CHANGE, (("orphan", path, "", "", "[]") for path in changes.orphans))
    pack.executemany(_CHANGE, (("tag", tag, "", "", "[]") for tag in changes.tags))


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)
