"""What a pack's last build rendered, in the user's cache; one file a recipe."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Collection, Iterable, Mapping
from contextlib import closing
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.site import SiteFile
from lorepack_builder.cache.files import rewrite_pages
from lorepack_builder.render.model import Rendered

_CREATE = """
CREATE TABLE IF NOT EXISTS pages (
    key TEXT PRIMARY KEY, size INTEGER NOT NULL, html BLOB NOT NULL, body BLOB NOT NULL,
    scripts TEXT NOT NULL -- their names, with spaces between
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS scripts (name TEXT PRIMARY KEY, code BLOB NOT NULL) WITHOUT ROWID;
"""
_GET = "SELECT size, html, body, scripts FROM pages WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO pages (key, size, html, body, scripts) VALUES (?, ?, ?, ?, ?)"
_SCRIPTS = "SELECT name, code FROM scripts"
_PUT_SCRIPT = "INSERT OR REPLACE INTO scripts (name, code) VALUES (?, ?)"


def load_pages(file: Path, keys: Iterable[str]) -> dict[str, Rendered]:
    """Return those of ``keys`` that are known; nothing from a file that cannot be read."""
    found: dict[str, Rendered] = {}
    if not file.is_file():
        return found
    try:
        with closing(sqlite3.connect(file, timeout=60)) as cache:
            scripts: dict[str, bytes] = dict(cache.execute(_SCRIPTS).fetchall())
            for key in keys:
                row = cache.execute(_GET, (key,)).fetchone()
                if row:
                    size, html, body, names = row
                    used = {name: scripts[name] for name in names.split()}
                    found[key] = Rendered(SiteFile(size, html), _unpack(body), used)
    except (sqlite3.Error, zlib.error, UnicodeDecodeError, KeyError, LorepackError):
        return {}
    return found


def save_pages(file: Path, pages: Mapping[str, Rendered], used: Collection[str]) -> None:
    """Add ``pages`` by key, forget those not ``used``; a cache that cannot be written is none."""

    def put(cache: sqlite3.Connection) -> None:
        for key, page in pages.items():
            row = (page.html.size, page.html.data, _pack(page.body), " ".join(page.scripts))
            cache.execute(_PUT, (key, *row))
            cache.executemany(_PUT_SCRIPT, page.scripts.items())

    rewrite_pages(file, _CREATE, used, put)


def _pack(text: str) -> bytes:
    return zlib.compress(text.encode(), 1)


def _unpack(data: bytes) -> str:
    return zlib.decompress(data).decode()
