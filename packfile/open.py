"""Open a pack: read-only, immutable, and only if it is one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.format import APPLICATION_ID, FORMAT


def open_pack(path: Path, *, threads: bool = False) -> sqlite3.Connection:
    """Open ``path`` for reading; nothing is ever written, next to it neither.

    Args:
        threads: whether other threads than this one may use the connection, one at a time.

    Raises:
        LorepackError: the file is missing, is no pack, or has a newer format.
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
        _check_format(pack, path)
    except BaseException:
        pack.close()
        raise
    # What a foreign schema might call is not called: views and triggers get no functions.
    pack.execute("PRAGMA trusted_schema = OFF")
    pack.row_factory = sqlite3.Row
    return pack


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
