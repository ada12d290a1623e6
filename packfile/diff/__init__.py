"""What differs between two packs: pages, sections, edges, symbols, findings."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from lorepack.packfile.diff.model import Change, Difference, How, Kind
from lorepack.packfile.errors import LorepackError
from lorepack.packfile.open import open_pack
from lorepack.packfile.sections import section_digests

_META = "SELECT key, value FROM meta WHERE key IN ('name', 'version', 'content_digest')"
_PAGES = "SELECT id, path, title, hash, body_line, markdown FROM pages ORDER BY path"
_HEADINGS = "SELECT page_id, anchor, text, line FROM headings ORDER BY page_id, ordinal"
_ROWS: Mapping[Kind, str] = {
    "edge": "SELECT src.name || ' → ' || dst.name || ' (' || edges.kind || ')', '' "
    "FROM edges JOIN nodes AS src ON src.id = edges.src JOIN nodes AS dst ON dst.id = edges.dst",
    "symbol": "SELECT file || '::' || name, kind || ' ' || signature || char(10) || doc "
    "FROM symbols",
    "finding": "SELECT path || ': ' || message || ' [' || rule || ']', severity FROM findings",
}
"""What is compared by name, and what of it may change."""

Page = tuple[str, str, Mapping[str, tuple[str, str]]]
"""Title, hash, and (heading, digest) of its sections by anchor."""


def diff_packs(old: Path, new: Path) -> Difference:
    """Compare two packs.

    Raises:
        LorepackError: one of them is no pack, or cannot be read.
    """
    before, after = _read(old), _read(new)
    changes = _page_changes(before[1], after[1])
    for kind in _ROWS:
        changes += _row_changes(kind, before[2][kind], after[2][kind])
    return Difference(before[0], after[0], changes)


def _read(
    path: Path,
) -> tuple[dict[str, str], dict[str, Page], dict[Kind, dict[str, str]]]:
    try:
        with closing(open_pack(path)) as pack:
            meta: dict[str, str] = dict(pack.execute(_META).fetchall())
            rows = {kind: dict(pack.execute(sql).fetchall()) for kind, sql in _ROWS.items()}
            return meta, _pages(pack), rows
    except sqlite3.Error as error:
        raise LorepackError(f"{path} is damaged ({error})", "run `lorepack verify`") from error


def _pages(pack: sqlite3.Connection) -> dict[str, Page]:
    headings: dict[int, list[tuple[str, str, int]]] = {}
    for page_id, anchor, text, line in pack.execute(_HEADINGS):
        headings.setdefault(page_id, []).append((anchor, text, line))
    found: dict[str, Page] = {}
    for row in pack.execute(_PAGES):
        own = headings.get(row["id"], [])
        places = [(anchor, line) for anchor, _, line in own]
        digests = section_digests(row["markdown"], row["body_line"], places)
        names = {anchor: text for anchor, text, _ in own}
        sections = {anchor: (names.get(anchor, ""), digest) for anchor, digest in digests.items()}
        found[row["path"]] = row["title"], row["hash"], sections
    return found


def _page_changes(before: Mapping[str, Page], after: Mapping[str, Page]) -> list[Change]:
    gone = {path: page for path, page in before.items() if path not in after}
    by_hash = {page[1]: path for path, page in sorted(gone.items(), reverse=True)}
    found: list[Change] = []
    for path, (title, digest, sections) in after.items():
        known = before.get(path)
        if known is None:
            came_from = by_hash.pop(digest, "")
            gone.pop(came_from, None)
            what = f"{title} (before at {came_from})" if came_from else title
            found.append(Change("page", "moved" if came_from else "added", path, what))
        elif known[1] != digest:
            found.append(Change("page", "changed", path, title))
            found += _section_changes(path, known[2], sections)
    found += [Change("page", "removed", path, page[0]) for path, page in gone.items()]
    return sorted(found, key=lambda change: (change.kind, change.name))


def _section_changes(
    path: str, before: Mapping[str, tuple[str, str]], after: Mapping[str, tuple[str, str]]
) -> list[Change]:
    found = []
    for anchor in {**before, **after}:
        old, new = before.get(anchor), after.get(anchor)
        if old and new and old[1] == new[1]:
            continue
        how: How = "changed" if old and new else "added" if new else "removed"
        heading = (new or old or ("", ""))[0] or "its beginning"
        found.append(Change("section", how, f"{path}#{anchor}".rstrip("#"), heading))
    return found


def _row_changes(kind: Kind, before: Mapping[str, str], after: Mapping[str, str]) -> list[Change]:
    found = [Change(kind, "added", name) for name in after.keys() - before.keys()]
    found += [Change(kind, "removed", name) for name in before.keys() - after.keys()]
    found += [
        Change(kind, "changed", name)
        for name in before.keys() & after.keys()
        if before[name] != after[name]
    ]
    return sorted(found, key=lambda change: (change.how, change.name))
