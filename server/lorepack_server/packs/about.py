"""What a pack is, in a line for the model that is to ask it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from lorepack.text.invisible import without_hidden

_META = "SELECT key, value FROM meta WHERE key IN ('name', 'version', 'title')"
_SOURCES = """
SELECT sources.name, count(pages.id) AS pages FROM sources
LEFT JOIN pages ON pages.source_id = sources.id GROUP BY sources.id ORDER BY pages DESC, sources.id
"""
_FOLDERS = """
SELECT category, count(*) AS pages FROM pages WHERE category <> ''
GROUP BY category ORDER BY pages DESC, category LIMIT 6
"""
_TITLE, _NAME = 60, 24
"""Characters of a title, and of the name of a source or folder."""
_NAMED = 4
_SIGNS = re.compile(r"""["'“”`<>{}\[\]~|\\]|\s+""")


@dataclass(frozen=True)
class About:
    """A pack's name, version and title, and what is in it; cleaned, as none of it is trusted."""

    name: str
    version: str
    title: str
    contents: str

    @property
    def quoted(self) -> str:
        """The title between quotation marks, that nothing in it closes."""
        return f'"{self.title or self.name}"'


def about_pack(pack: sqlite3.Connection) -> About:
    """Read what a pack says of itself.

    Raises:
        sqlite3.Error: it is damaged.
        KeyError: it has no name.
    """
    meta = dict(pack.execute(_META).fetchall())
    sources = pack.execute(_SOURCES).fetchall()
    pages = sum(row["pages"] for row in sources)
    names = sources if len(sources) != 1 else pack.execute(_FOLDERS).fetchall() or sources
    listed = [cleaned(str(row[0]), _NAME) for row in names[:_NAMED]]
    more = ", …" if len(names) > _NAMED else ""
    contents = f"{pages} pages: {', '.join(listed)}{more}" if listed else f"{pages} pages"
    return About(
        str(meta["name"]), str(meta["version"]), cleaned(str(meta.get("title", "")), _TITLE),
        contents,
    )  # fmt: skip


def cleaned(text: str, most: int) -> str:
    """Return ``text`` as one line without quotation marks and markup, of at most ``most`` signs."""
    line = " ".join(_SIGNS.sub(" ", without_hidden(text)).split())
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"


def described(description: str, about: About) -> str:
    """Return a tool's description with the pack in the place of ``{pack}``."""
    first = description.startswith("Search {pack}")
    name = f"{about.quoted} ({about.contents})" if first else about.quoted
    return description.replace("{pack}", name)


def described_for_shelf(description: str, packs: Sequence[About]) -> str:
    """Return a tool's description for several packs."""
    first = description.startswith("Search {pack}")
    names = ", ".join(about.quoted for about in packs[:_NAMED])
    more = f" and {len(packs) - _NAMED} more" if len(packs) > _NAMED else ""
    named = f"{len(packs)} packs ({names}{more})" if first else "the packs"
    return description.replace("{pack}", named)
