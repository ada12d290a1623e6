"""Open a pack: read-only, immutable, and only if it is one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack.pack.format import APPLICATION_ID, FORMAT, schema_sql

_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master"


def open_pack(path: Path, *, threads: bool = False, any_schema: bool = False) -> sqlite3.Connection:
    """Open ``path`` for reading; nothing is ever written, next to it neither.

    Args:
        threads: whether other threads than this one may use the connection, one at a time.
        any_schema: whether it may have other tables than its format, which only `verify` looks at:
            a view, a trigger or a column that is computed would run what the file says.

    Raises:
        LorepackError: the file is missing, is no pack, has a newer format, or is damaged.
    """
    if not path.is_file():
        raise LorepackError(f"{path} does not exist", "give the path of a .lorepack file")
    uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    try:
        pack = sqlite3.connect(uri, uri=True, check_same_thread=not threads)
    except sqlite3.Error as error:
        raise LorepackError(
            f"{path} cannot be opened ({error})", "check its permissions"
        ) from error
    try:
        # What a foreign schema might call is not called: views and triggers get no functions.
        pack.execute("PRAGMA trusted_schema = OFF")
        _check_format(pack, path)
        if not any_schema and (problem := schema_problem(pack)):
            raise LorepackError(f"{path} is damaged (schema: {problem})", "fetch or build it again")
    except (sqlite3.Error, UnicodeDecodeError) as error:
        pack.close()
        raise LorepackError(
            f"{path} is damaged ({error})", "run `lorepack verify` on it"
        ) from error
    except BaseException:
        pack.close()
        raise
    pack.row_factory = sqlite3.Row
    return pack


def schema_problem(pack: sqlite3.Connection) -> str:
    """Say how the tables differ from those of the format: no other, no view, no trigger."""
    expected, found = _expected_schema(), set(map(tuple, pack.execute(_SCHEMA)))
    missing = sorted(str(name) for _, name, *_ in expected - found)
    strange = sorted(str(name) for _, name, *_ in found - expected)
    if missing or strange:
        return f"differs from format {FORMAT}: {', '.join(dict.fromkeys([*strange, *missing]))}"
    return ""


@cache
def _expected_schema() -> frozenset[tuple[str, str, str, str | None]]:
    with closing(sqlite3.connect(":memory:")) as empty:
        empty.executescript(schema_sql())
        return frozenset(map(tuple, empty.execute(_SCHEMA)))


def _check_format(pack: sqlite3.Connection, path: Path) -> None:
    no_pack = LorepackError(f"{path} is no Lorepack pack", "build one with `lorepack build`")
    try:
        (application,) = pack.execute("PRAGMA application_id").fetchone()
        (version,) = pack.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        raise no_pack from error
    if application != APPLICATION_ID:
        raise no_pack
    if version != FORMAT:
        raise LorepackError(
            f"{path} has pack format {version}, this Lorepack reads format {FORMAT}",
            "install a newer Lorepack" if version > FORMAT else "build the pack again",
        )
