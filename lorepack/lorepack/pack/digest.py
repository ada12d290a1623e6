"""The digests of a pack: SHA-256 over its rows, whatever the pages of the file look like."""

from __future__ import annotations

import hashlib
import sqlite3
import struct
from collections.abc import Iterable

_LOGICAL_ROWS = (
    "SELECT key, value FROM meta WHERE key NOT IN ('content_digest', 'index_digest') ORDER BY key",
    "SELECT * FROM sources ORDER BY id",
    "SELECT * FROM dependencies ORDER BY ecosystem, name",
    "SELECT * FROM pages ORDER BY id",
    "SELECT * FROM names ORDER BY name, page_id",
    "SELECT * FROM headings ORDER BY page_id, ordinal",
    "SELECT * FROM chunks ORDER BY id",
    "SELECT * FROM terms ORDER BY term",
    "SELECT * FROM vectors ORDER BY chunk_id",
    "SELECT * FROM vector_means ORDER BY lang",
    "SELECT * FROM vector_planes ORDER BY plane",
    "SELECT * FROM encoder ORDER BY name",
    "SELECT * FROM nodes ORDER BY id",
    "SELECT * FROM edges ORDER BY id",
    "SELECT * FROM symbols ORDER BY id",
    "SELECT * FROM symbol_names ORDER BY name, symbol_id",
    "SELECT * FROM suggestions ORDER BY page_id, rank",
    "SELECT * FROM tags ORDER BY tag",
    "SELECT * FROM concepts ORDER BY id",
    "SELECT * FROM concept_passages ORDER BY concept_id, ordinal",
    "SELECT * FROM changes ORDER BY id",
    "SELECT * FROM findings ORDER BY id",
    "SELECT * FROM sqlar ORDER BY name",
)

# A contentless FTS5 table cannot be read back as rows, so its own tables are digested.
_INDEX_ROWS = (
    "SELECT * FROM chunks_fts_config ORDER BY k",
    "SELECT * FROM chunks_fts_data ORDER BY id",
    "SELECT * FROM chunks_fts_docsize ORDER BY id",
    "SELECT * FROM chunks_fts_idx ORDER BY segid, term",
)


def content_digest(pack: sqlite3.Connection) -> str:
    """Return the hex SHA-256 of all logical rows, except the digests themselves."""
    return _digest(pack, _LOGICAL_ROWS)


def index_digest(pack: sqlite3.Connection) -> str:
    """Return the hex SHA-256 of the words index as SQLite stores it."""
    return _digest(pack, _INDEX_ROWS)


def _digest(pack: sqlite3.Connection, statements: Iterable[str]) -> str:
    sha = hashlib.sha256()
    for statement in statements:
        sha.update(_field(statement))
        for row in pack.execute(statement):
            sha.update(b"R")
            for value in row:
                sha.update(_field(value))
    return sha.hexdigest()


def _field(value: str | bytes | int | float | None) -> bytes:
    """Encode one value with its type and length, so that no two rows look alike."""
    if value is None:
        return b"N"
    if isinstance(value, int):
        data, tag = str(value).encode(), b"I"
    elif isinstance(value, float):
        data, tag = struct.pack("<d", value), b"F"
    elif isinstance(value, str):
        data, tag = value.encode("utf-8", "surrogatepass"), b"T"
    else:
        data, tag = value, b"B"
    return tag + struct.pack("<Q", len(data)) + data
