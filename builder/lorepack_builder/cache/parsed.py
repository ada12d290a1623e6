"""Parsed pages in the user's cache, by all that parsing read; one file a recipe."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Collection, Mapping
from contextlib import closing
from dataclasses import astuple, fields
from pathlib import Path
from typing import Any

from lorepack_builder.cache.files import rewrite_pages
from lorepack_builder.model import (
    Block,
    Diagram,
    DiagramEdge,
    Finding,
    Heading,
    Link,
    Mention,
    Page,
    Source,
    SourceFile,
    Symbol,
)

_CREATE = (
    "CREATE TABLE IF NOT EXISTS pages (key TEXT PRIMARY KEY, data BLOB NOT NULL) WITHOUT ROWID"
)
_GET = "SELECT data FROM pages WHERE key = ?"
_PUT = "INSERT OR REPLACE INTO pages (key, data) VALUES (?, ?)"
_ITEMS: Mapping[str, Any] = {
    "headings": Heading, "links": Link, "blocks": Block, "symbols": Symbol, "mentions": Mention,
}  # fmt: skip

Parsed = tuple[Page | None, list[Finding]]


def page_key(file: SourceFile, content: bytes, code: str) -> str:
    """Return a digest of all that `parse_file` reads.

    Args:
        content: the file's SHA-256.
        code: a digest of the code that parses.
    """
    source = file.source
    beside = [astuple(mention) for mention in file.mentions]
    facts = [code, file.path, source.layout, source.kind, source.lang, source.code, beside,
             file.related]  # fmt: skip
    return hashlib.sha256(json.dumps(facts).encode() + content).hexdigest()


def load_pages(file: Path, wanted: Mapping[str, Source]) -> dict[str, Parsed]:
    """Return what is known of ``wanted`` keys, as pages of the source given for each.

    Nothing comes from a file that cannot be read.
    """
    found: dict[str, Parsed] = {}
    if not file.is_file():
        return found
    try:
        with closing(sqlite3.connect(file, timeout=60)) as cache:
            for key, source in wanted.items():
                row = cache.execute(_GET, (key,)).fetchone()
                if row:
                    found[key] = _unpack(row[0], source)
    except (sqlite3.Error, zlib.error, ValueError, TypeError, KeyError):
        return {}
    return found


def save_pages(file: Path, pages: Mapping[str, Parsed], used: Collection[str]) -> None:
    """Add ``pages`` by key, forget those not ``used``; a cache that cannot be written is none."""

    def put(cache: sqlite3.Connection) -> None:
        cache.executemany(_PUT, ((key, _pack(parsed)) for key, parsed in pages.items()))

    rewrite_pages(file, _CREATE, used, put)


def _pack(parsed: Parsed) -> bytes:
    page, findings = parsed
    shown = (
        {f.name: getattr(page, f.name) for f in fields(Page) if f.name != "source"}
        if page
        else None
    )
    data = [shown, [astuple(finding) for finding in findings]]
    return zlib.compress(json.dumps(data, default=astuple).encode(), 1)


def _unpack(data: bytes, source: Source) -> Parsed:
    values, findings = json.loads(zlib.decompress(data))
    odd = [Finding(*finding) for finding in findings]
    if values is None:
        return None, odd
    for name, kind in _ITEMS.items():
        values[name] = tuple(kind(*_frozen(item)) for item in values[name])
    values["diagrams"] = tuple(_diagram(item) for item in values["diagrams"])
    plain = {name: _frozen(value) for name, value in values.items() if isinstance(value, list)}
    return Page(source=source, **{**values, **plain}), odd


def _diagram(item: list[Any]) -> Diagram:
    kind, line, nodes, edges, clusters, members = item
    arrows = tuple(DiagramEdge(*edge) for edge in edges)
    return Diagram(kind, line, _frozen(nodes), arrows, _frozen(clusters), _frozen(members))


def _frozen(value: Any) -> Any:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
