"""What is compared by name alone: edges, symbols, findings."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from lorepack.pack.diff.model import Change, Kind

_STATEMENTS: Mapping[Kind, str] = {
    "edge": "SELECT src.name || ' → ' || dst.name || ' (' || edges.kind || ')', '' "
    "FROM edges JOIN nodes AS src ON src.id = edges.src JOIN nodes AS dst ON dst.id = edges.dst",
    "symbol": "SELECT file || '::' || name, kind || ' ' || signature || char(10) || doc "
    "FROM symbols",
    # How long a page is stale grows by itself, which is no change.
    "finding": "SELECT path || ': ' || CASE rule WHEN 'stale-page' THEN 'stale' ELSE message END "
    "|| ' [' || rule || ']', severity FROM findings",
}

Rows = Mapping[Kind, Mapping[str, str]]
"""For each kind, what there is by its name, and what of it may change."""


def read_rows(pack: sqlite3.Connection) -> Rows:
    """Return the edges, symbols and findings of a pack."""
    return {kind: dict(pack.execute(sql).fetchall()) for kind, sql in _STATEMENTS.items()}


def row_changes(before: Rows, after: Rows) -> list[Change]:
    """Return what came, went and changed, by kind and name."""
    return [change for kind in _STATEMENTS for change in _changes(kind, before[kind], after[kind])]


def _changes(kind: Kind, before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    found = [Change(kind, "added", name) for name in after.keys() - before.keys()]
    found += [Change(kind, "removed", name) for name in before.keys() - after.keys()]
    found += [
        Change(kind, "changed", name)
        for name in before.keys() & after.keys()
        if before[name] != after[name]
    ]
    return sorted(found, key=lambda change: (change.how, change.name))
