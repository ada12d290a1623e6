"""What is in a pack, by rows and bytes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lorepack.errors import LorepackError
from lorepack.pack.open import open_pack

_META = "SELECT key, value FROM meta ORDER BY key"
_TABLES = "SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name"
_BYTES = """
SELECT coalesce(sqlite_master.tbl_name, dbstat.name), sum(dbstat.pgsize) FROM dbstat
LEFT JOIN sqlite_master ON sqlite_master.name = dbstat.name GROUP BY 1
"""
_SOURCES = """
SELECT sources.name, kind, origin, web, revision, licence, count(pages.id) AS pages,
    coalesce(sum(length(CAST(markdown AS BLOB))), 0) AS bytes
FROM sources LEFT JOIN pages ON pages.source_id = sources.id GROUP BY sources.id ORDER BY sources.id
"""
_JSON = ("languages", "embedder", "counts")
_VIRTUAL = "CREATE VIRTUAL TABLE"


@dataclass(frozen=True)
class Table:
    """A table: its rows, and the bytes of its pages and indexes (0 where SQLite cannot say)."""

    name: str
    rows: int
    bytes: int


@dataclass(frozen=True)
class Inspection:
    """A pack's facts (``meta``), its sources, and its tables, the largest first."""

    file: str
    bytes: int
    meta: Mapping[str, Any]
    sources: Sequence[Mapping[str, Any]]
    tables: Sequence[Table]

    @property
    def carries_encoder(self) -> bool:
        """Whether the model that questions need travels in the pack."""
        return any(table.name == "encoder" and table.rows for table in self.tables)

    def as_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return asdict(self)


def inspect_pack(path: Path) -> Inspection:
    """Look into a pack.

    Raises:
        LorepackError: it is no pack, or cannot be read.
    """
    with closing(open_pack(path)) as pack:
        try:
            meta: dict[str, Any] = dict(pack.execute(_META).fetchall())
            for key in _JSON:
                meta[key] = json.loads(meta[key])
            sources = [dict(row) for row in pack.execute(_SOURCES)]
            sizes = _sizes(pack)
            names = [name for name, sql in pack.execute(_TABLES) if not _is_virtual(sql)]
            tables = [Table(name, _rows(pack, name), sizes.get(name, 0)) for name in names]
        except (sqlite3.Error, KeyError, ValueError, TypeError) as error:
            raise LorepackError(
                f"{path} is damaged ({error})", "run `lorepack verify` on it"
            ) from error
    tables.sort(key=lambda table: (-table.bytes, table.name))
    return Inspection(str(path), path.stat().st_size, meta, sources, tables)


def _is_virtual(sql: str | None) -> bool:
    return (sql or "").startswith(_VIRTUAL)


def _rows(pack: sqlite3.Connection, table: str) -> int:
    quoted = table.replace('"', '""')
    return int(pack.execute(f'SELECT count(*) FROM "{quoted}"').fetchone()[0])  # noqa: S608


def _sizes(pack: sqlite3.Connection) -> dict[str, int]:
    """Return bytes by table; nothing where SQLite was built without ``dbstat``."""
    try:
        return dict(pack.execute(_BYTES).fetchall())
    except sqlite3.OperationalError:
        return {}
