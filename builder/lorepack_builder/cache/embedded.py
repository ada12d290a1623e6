"""Vectors by the hash of their text, in the user's cache; one file a model."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from types import TracebackType

import numpy as np
import numpy.typing as npt

from lorepack.errors import LorepackError
from lorepack.models.convert import cache_dir
from lorepack.models.registry import ModelSpec

Vector = npt.NDArray[np.float32]

_CREATE = "CREATE TABLE IF NOT EXISTS vectors (hash TEXT PRIMARY KEY, vector BLOB) WITHOUT ROWID"
_GET = "SELECT vector FROM vectors WHERE hash = ?"
_PUT = "INSERT OR REPLACE INTO vectors (hash, vector) VALUES (?, ?)"


class VectorCache:
    """A context manager around the cache file of one model."""

    def __init__(self, spec: ModelSpec) -> None:
        self._path = cache_dir() / "vectors" / f"{spec.key()}.sqlite"
        self._size = spec.dims * 4

    def __enter__(self) -> VectorCache:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self._path, timeout=60)
            self._db.execute(_CREATE)
        except (OSError, sqlite3.Error) as error:
            raise LorepackError(
                f"the vector cache {self._path} cannot be used ({error})",
                "remove it, or set LOREPACK_CACHE elsewhere",
            ) from error
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._db.close()

    def get(self, hashes: Iterable[str]) -> dict[str, Vector]:
        """Return the vectors that are known; one of a wrong size is none."""
        found: dict[str, Vector] = {}
        for key in hashes:
            row = self._db.execute(_GET, (key,)).fetchone()
            if row and len(row[0]) == self._size:
                found[key] = np.frombuffer(row[0], "<f4")
        return found

    def put(self, vectors: Mapping[str, Vector]) -> None:
        """Remember vectors."""
        with self._db:
            self._db.executemany(
                _PUT, ((key, vector.astype("<f4").tobytes()) for key, vector in vectors.items())
            )
