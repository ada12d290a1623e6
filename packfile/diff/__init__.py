"""What differs between two packs: pages, sections, edges, symbols, findings."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from lorepack.packfile.diff.model import Change, Difference, How
from lorepack.packfile.diff.rows import Rows, read_rows, row_changes
from lorepack.packfile.errors import LorepackError
from lorepack.packfile.open import open_pack
from lorepack.packfile.sections import section_digests

_META = "SELECT key, value FROM meta WHERE key IN ('name', 'version', 'content_digest')"
_PAGES = "SELECT id, path, title, hash, body_line, markdown FROM pages ORDER BY path"
_HEADINGS = "SELECT page_id, anchor, text, line FROM headings ORDER BY page_id, ordinal"
Page = tuple[str, str, Mapping[str, tuple[str, str]]]
"""Title, hash, and (heading, digest) of its sections by anchor."""


def diff_packs(old: Path, new: Path) -> Difference:
    """Compare two packs.

    Raises:
        LorepackError: one of them is no pack, or cannot be read.
    """
    before, after = _read(old), _read(new)
    changes = [*_page_changes(before[1], after[1]), *row_changes(before[2], after[2])]
    return Difference(before[0], after[0], changes)


def _read(path: Path) -> tuple[dict[str, str], dict[str, Page], Rows]:
    try:
        with closing(open_pack(path)) as pack:
            meta: dict[str, str] = dict(pack.execute(_META).fetchall())
            return meta, _pages(pack), read_rows(pack)
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
