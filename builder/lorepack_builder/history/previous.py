"""The pack that came before, for what changed since."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.diff.pages import PageFacts, read_pages
from lorepack.pack.diff.rows import Rows, read_rows
from lorepack.pack.format import SUFFIX
from lorepack.pack.open import open_pack
from lorepack.versions import version_key

_META = "SELECT key, value FROM meta"
_TAGS = "SELECT DISTINCT value FROM pages, json_each(pages.tags)"
_LINKED = """
SELECT DISTINCT target.name FROM edges
JOIN nodes AS source ON source.id = edges.src JOIN nodes AS target ON target.id = edges.dst
WHERE target.kind = 'page' AND source.kind = 'page' AND source.id <> target.id
"""


@dataclass(frozen=True)
class Previous:
    """What a pack held, for comparison."""

    version: str
    digest: str
    pages: Mapping[str, PageFacts]
    tags: frozenset[str]
    orphans: frozenset[str]
    """Paths of pages that no other page linked to."""
    rows: Rows
    """Edges, symbols and findings."""


def find_previous(folder: Path, name: str, version: str) -> Previous | None:
    """Return the pack of the newest version before ``version`` in ``folder``, if there is one."""
    for path in packs_before(folder, name, version):
        # Another project's name may begin with this one's; a damaged file tells nothing.
        with suppress(LorepackError):
            return read_previous(path, name)
    return None


def packs_before(folder: Path, name: str, version: str) -> list[Path]:
    """Return the files of ``folder`` that are called as older versions, the newest first."""
    before = [
        (version_key(found), path)
        for path in folder.glob(f"{name}-*{SUFFIX}")
        if version_key(found := path.name[len(name) + 1 : -len(SUFFIX)]) < version_key(version)
    ]
    return [path for _, path in sorted(before, reverse=True)]


def read_previous(path: Path, name: str) -> Previous:
    """Read what ``path`` holds.

    Raises:
        LorepackError: it is no pack, cannot be read, or is another project's.
    """
    try:
        with closing(open_pack(path)) as pack:
            meta: dict[str, str] = dict(pack.execute(_META).fetchall())
            pages = read_pages(pack)
            linked = {row[0] for row in pack.execute(_LINKED)}
            previous = Previous(
                version=meta["version"],
                digest=meta["content_digest"],
                pages=pages,
                tags=frozenset(row[0].lower() for row in pack.execute(_TAGS)),
                orphans=frozenset(pages.keys() - linked),
                rows=read_rows(pack),
            )
    except (sqlite3.Error, KeyError, ValueError) as error:
        raise LorepackError(f"{path} cannot be read ({error})", "give another pack") from error
    if meta["name"] != name:
        raise LorepackError(
            f"{path} is a pack of {meta['name']!r}, not of {name!r}", "give one of the same name"
        )
    return previous
