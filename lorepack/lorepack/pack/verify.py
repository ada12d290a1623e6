"""Check a pack: file, schema, structure, references, index, vectors, digests."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.digest import content_digest, index_digest
from lorepack.pack.open import open_pack, schema_problem

_ROLLBACK_JOURNAL = b"\x01\x01"
_RESERVED = slice(72, 92)
"""Bytes of SQLite's header that are zero: https://www.sqlite.org/fileformat2.html."""
_COUNT_CHUNKS = "SELECT count(*) FROM chunks"
_COUNT_INDEXED = "SELECT count(*) FROM chunks_fts_docsize"
_COUNT_VECTORS = "SELECT count(*) FROM vectors"
_PLANE_SIZES = "SELECT length(bits) FROM vector_planes"
_VECTOR_SIZES = "SELECT DISTINCT length(vector) FROM vectors"


@dataclass(frozen=True)
class Check:
    """One check of a pack and what it found; ``problem`` is empty when all is well."""

    name: str
    problem: str


def verify_pack(path: Path) -> list[Check]:
    """Run every check on ``path``; those that rest on one that failed are left out.

    Raises:
        LorepackError: it cannot be opened as a pack.
    """
    pack = open_pack(path, any_schema=True)
    try:
        done = [Check("file", _guarded(lambda opened: _file(path, opened), pack))]
        for name, check in _CHECKS.items():
            done.append(Check(name, _guarded(check, pack)))
            # What is no table of ours may be a view that reads like one.
            if name == "schema" and done[-1].problem:
                break
        return done
    finally:
        pack.close()


def content_digest_of(path: Path) -> str:
    """Return the content digest that a pack says it has. Raises `LorepackError` for no pack."""
    pack = open_pack(path)
    try:
        return _meta(pack, "content_digest")
    except (sqlite3.Error, KeyError) as error:
        raise LorepackError(f"{path} is damaged ({error})", "fetch or build it again") from error
    finally:
        pack.close()


def _file(path: Path, pack: sqlite3.Connection) -> str:
    """A pack is as long as its pages, and no journal belongs to it."""
    (pages,) = pack.execute("PRAGMA page_count").fetchone()
    (size,) = pack.execute("PRAGMA page_size").fetchone()
    length = path.stat().st_size
    if length != pages * size:
        return f"has {length} bytes, and {pages} pages of {size}"
    with path.open("rb") as file:
        header = file.read(100)
    if header[18:20] != _ROLLBACK_JOURNAL:
        return "its header asks for a write-ahead log"
    if any(header[_RESERVED]):
        return "its header has bytes where there are none"
    return ""


def require_sound(path: Path) -> None:
    """Raise `LorepackError` naming the first failed check of ``path``."""
    for check in verify_pack(path):
        if check.problem:
            raise LorepackError(
                f"{path} is damaged ({check.name}: {check.problem})", "fetch or build it again"
            )


def _guarded(check: Callable[[sqlite3.Connection], str], pack: sqlite3.Connection) -> str:
    try:
        return check(pack)
    except (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError, OverflowError,
            RecursionError) as error:  # fmt: skip
        return f"cannot be read ({error})"


def _integrity(pack: sqlite3.Connection) -> str:
    rows = [row[0] for row in pack.execute("PRAGMA integrity_check(3)")]
    return "" if rows == ["ok"] else "; ".join(rows)


def _references(pack: sqlite3.Connection) -> str:
    rows = pack.execute("PRAGMA foreign_key_check").fetchmany(3)
    return "; ".join(f"{row[0]} row {row[1]} points nowhere in {row[2]}" for row in rows)


def _words(pack: sqlite3.Connection) -> str:
    (chunks,) = pack.execute(_COUNT_CHUNKS).fetchone()
    (indexed,) = pack.execute(_COUNT_INDEXED).fetchone()
    if chunks != indexed:
        return f"{chunks} chunks, {indexed} in the words index"
    return _differs(pack, "index_digest", index_digest(pack))


def _vectors(pack: sqlite3.Connection) -> str:
    embedder = json.loads(_meta(pack, "embedder"))
    if embedder is None:
        return ""
    return "; ".join(_vector_problems(pack, int(embedder["dims"])))


def _vector_problems(pack: sqlite3.Connection, dims: int) -> Iterator[str]:
    (chunks,) = pack.execute(_COUNT_CHUNKS).fetchone()
    (vectors,) = pack.execute(_COUNT_VECTORS).fetchone()
    if chunks != vectors:
        yield f"{chunks} chunks, {vectors} vectors"
    if any(size != dims for (size,) in pack.execute(_VECTOR_SIZES)):
        yield f"a vector has not {dims} dimensions"
    planes = [size for (size,) in pack.execute(_PLANE_SIZES)]
    if chunks and (len(planes) != -(-dims // 64) or any(size != 8 * chunks for size in planes)):
        yield "the vector planes do not fit the chunks"


def _content(pack: sqlite3.Connection) -> str:
    return _differs(pack, "content_digest", content_digest(pack))


def _differs(pack: sqlite3.Connection, key: str, actual: str) -> str:
    expected = _meta(pack, key)
    return "" if actual == expected else f"{key} is {actual[:12]}…, the pack says {expected[:12]}…"


def _meta(pack: sqlite3.Connection, key: str) -> str:
    row = pack.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    if row is None:
        raise KeyError(f"meta has no {key}")
    return str(row[0])


_CHECKS: dict[str, Callable[[sqlite3.Connection], str]] = {
    "schema": schema_problem,
    "integrity": _integrity,
    "references": _references,
    "words": _words,
    "vectors": _vectors,
    "content": _content,
}
