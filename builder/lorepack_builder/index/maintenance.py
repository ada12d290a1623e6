"""The rows of what a wiki could be better in, and of what changed."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from lorepack.pack.diff.model import Change as RowChange
from lorepack_builder.history.changes import Changes
from lorepack_builder.maintenance.model import Upkeep

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
_CHANGE = """
INSERT INTO changes (kind, how, path, title, before, sections) VALUES (?, ?, ?, ?, ?, ?)
"""
_KEPT = 1_000
"""Changes of edges, symbols and findings of one sort that a pack keeps."""


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


def write_changes(
    pack: sqlite3.Connection, changes: Changes | None, rows: Sequence[RowChange]
) -> dict[str, dict[str, int]]:
    """Write what differs from the previous pack; return its numbers by kind and how.

    Args:
        changes: of pages; None where there is no previous pack.
        rows: of edges, symbols and findings.
    """
    if changes is None:
        return {}
    for change in changes.pages:
        sections = _json([section.__dict__ for section in change.sections])
        row = ("page", change.how, change.path, change.title, change.before, sections)
        pack.execute(_CHANGE, row)
    named = [("orphan", "added", path) for path in changes.orphans]
    named += [("tag", "added", tag) for tag in changes.tags]
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for change in changes.pages:
        counts["page"][change.how] += 1
    for item in rows:
        counts[item.kind][item.how] += 1
        if counts[item.kind][item.how] <= _KEPT:
            named.append((item.kind, item.how, item.name))
    pack.executemany(_CHANGE, ((*name, "", "", "[]") for name in named))
    return {kind: dict(sorted(own.items())) for kind, own in sorted(counts.items())}


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False)
