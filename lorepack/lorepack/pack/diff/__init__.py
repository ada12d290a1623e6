"""What differs between two packs: pages, sections, edges, symbols, findings."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.diff.model import Change, Difference
from lorepack.pack.diff.pages import PageChange, PageFacts, page_changes, read_pages
from lorepack.pack.diff.rows import Rows, read_rows, row_changes
from lorepack.pack.open import open_pack

_META = "SELECT key, value FROM meta WHERE key IN ('name', 'version', 'content_digest')"


def diff_packs(old: Path, new: Path) -> Difference:
    """Compare two packs.

    Raises:
        LorepackError: one of them is no pack, or cannot be read.
    """
    old_meta, old_pages, old_rows = _read(old)
    new_meta, new_pages, new_rows = _read(new)
    pages = page_changes(old_pages, new_pages)
    changes = [change for page in pages for change in named_changes(page)]
    return Difference(old_meta, new_meta, [*changes, *row_changes(old_rows, new_rows)])


def named_changes(page: PageChange) -> Iterator[Change]:
    """Yield the change of a page and those of its sections, by name."""
    title = f"{page.title} (before at {page.before})" if page.before else page.title
    yield Change("page", page.how, page.path, title)
    for section in page.sections:
        name = f"{page.path}#{section.anchor}".rstrip("#")
        yield Change("section", section.how, name, section.heading or "its beginning")


def _read(path: Path) -> tuple[dict[str, str], dict[str, PageFacts], Rows]:
    try:
        with closing(open_pack(path)) as pack:
            meta: dict[str, str] = dict(pack.execute(_META).fetchall())
            return meta, read_pages(pack), read_rows(pack)
    except sqlite3.Error as error:
        raise LorepackError(f"{path} is damaged ({error})", "run `lorepack verify`") from error
