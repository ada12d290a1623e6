"""Seal: make the file, digest it, put it in place at once or not at all."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.digest import content_digest, index_digest
from lorepack.pack.format import schema_sql
from lorepack.pack.site import SiteFile
from lorepack.util.temporary import own_name, remove_abandoned

_META = "INSERT INTO meta (key, value) VALUES (?, ?)"
_FILE = "INSERT INTO sqlar (name, mode, mtime, sz, data) VALUES (?, ?, ?, ?, ?)"
_ENCODER = "INSERT INTO encoder (name, data) VALUES (?, ?)"
_REGULAR_FILE = 0o100644


@contextmanager
def new_pack(target: Path) -> Iterator[sqlite3.Connection]:
    """Give an empty pack to fill; put it in place of ``target`` when the block ends well.

    Any failure, a crash too, leaves what was at ``target`` untouched.

    Raises:
        LorepackError: the folder cannot be written.
    """
    # Of this process alone: another may build the same pack at the same time.
    staged = target.with_name(own_name(f".{target.name}", "building"))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(target.parent, f".{target.name}")
        staged.unlink(missing_ok=True)
        with closing(sqlite3.connect(staged, isolation_level=None)) as pack:
            pack.execute("PRAGMA journal_mode = OFF")
            pack.execute("PRAGMA synchronous = OFF")
            pack.executescript(schema_sql())
            pack.execute("BEGIN")
            yield pack
            pack.execute("COMMIT")
            pack.execute("VACUUM")
        _put_in_place(staged, target)
    except (OSError, sqlite3.OperationalError) as error:
        raise LorepackError(f"{target} cannot be written ({error})", "check its folder") from error
    finally:
        # A disk that became read-only keeps it; the next build removes it.
        with suppress(OSError):
            staged.unlink(missing_ok=True)


def write_site(pack: sqlite3.Connection, files: Mapping[str, SiteFile], mtime: int) -> None:
    """Store the rendered site as SQLite's archive form does."""
    for name in sorted(files):
        file = files[name]
        pack.execute(_FILE, (name, _REGULAR_FILE, mtime, file.size, file.data))


def write_encoder(pack: sqlite3.Connection, files: Mapping[str, bytes]) -> None:
    """Store the model that questions need."""
    pack.executemany(_ENCODER, sorted(files.items()))


def write_meta(pack: sqlite3.Connection, facts: Mapping[str, object]) -> str:
    """Write ``meta`` and the digests over everything; return the content digest.

    Text stays as it is, other values become JSON.
    """
    for key, value in facts.items():
        text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
        pack.execute(_META, (key, text))
    # FTS5 writes its totals when a transaction ends.
    pack.execute("COMMIT")
    pack.execute("BEGIN")
    digest = content_digest(pack)
    pack.executemany(_META, [("content_digest", digest), ("index_digest", index_digest(pack))])
    return digest


def _put_in_place(staged: Path, target: Path) -> None:
    with staged.open("rb") as file:
        os.fsync(file.fileno())
    staged.replace(target)
    folder = os.open(target.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
