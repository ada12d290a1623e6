"""A pack opened by a server."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lorepack.errors import LorepackError
from lorepack.pack.open import open_pack

_DIGEST = "SELECT value FROM meta WHERE key = 'content_digest'"
_META = "SELECT key, value FROM meta"
_LAST_CHUNK = "SELECT max(id) FROM chunks"
_CARRIES = "SELECT count(*) FROM encoder"
_PLANES = "SELECT bits FROM vector_planes ORDER BY plane"
_MEANS = "SELECT lang, mean FROM vector_means ORDER BY lang"


_COUNTED = ("pages", "chunks", "edges", "nodes", "findings")
_MOST_DIMS = 1 << 14


@dataclass(frozen=True)
class Mount:
    """One pack: its facts, its bits in memory, and a connection for each thread that asks.

    ``planes`` is uint64 (dims / 64, chunks), empty without vectors; ``means`` are float32 (dims,)
    by language, '' for all chunks.
    """

    path: Path
    name: str
    version: str
    title: str
    digest: str
    counts: dict[str, int]
    embedder: dict[str, Any] | None
    planes: npt.NDArray[np.uint64]
    means: Mapping[str, npt.NDArray[np.float32]]
    language_basis: npt.NDArray[np.float32]
    """Orthonormal columns, float32 (dims, languages - 1), that span the means' differences."""
    languages: Sequence[str] = ()
    carries_encoder: bool = False
    day: str = ""
    """The pack's own, from which weeks count."""
    previous_version: str = ""
    _first: sqlite3.Connection = field(kw_only=True, repr=False)
    _connections: threading.local = field(default_factory=threading.local, repr=False)
    _closed: threading.Event = field(default_factory=threading.Event, repr=False)
    _opened: list[sqlite3.Connection] = field(default_factory=list, repr=False)

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection.

        Another file may have taken this one's place since it was mounted: then all threads share
        the connection that was opened first.
        """
        if self._closed.is_set():
            raise LorepackError(f"{self.path} is closed", "open it again")
        pack: sqlite3.Connection | None = getattr(self._connections, "pack", None)
        if pack is None:
            same = self._open_same()
            if same is not None:
                self._opened.append(same)
            pack = self._connections.pack = same or self._first
        return pack

    def close(self) -> None:
        """Close all connections; none is opened any more."""
        self._closed.set()
        for pack in (*self._opened, self._first):
            pack.close()

    def _open_same(self) -> sqlite3.Connection | None:
        try:
            pack = open_pack(self.path, threads=True)
        except LorepackError:
            return None
        try:
            (digest,) = pack.execute(_DIGEST).fetchone()
        except (sqlite3.Error, TypeError):
            digest = ""
        if digest == self.digest:
            return pack
        pack.close()
        return None


def mount_pack(path: Path) -> Mount:
    """Open ``path`` for serving.

    Raises:
        LorepackError: it is no pack, or its facts or vectors cannot be read.
    """
    pack = open_pack(path, threads=True)
    try:
        meta: dict[str, str] = dict(pack.execute(_META).fetchall())
        if not all(isinstance(text, str) for text in meta.values()):
            raise ValueError("its facts are no texts")
        counts, embedder = json.loads(meta["counts"]), json.loads(meta["embedder"])
        planes = [np.frombuffer(bits, "<u8") for (bits,) in pack.execute(_PLANES)]
        _check_sizes(counts, embedder, planes, pack.execute(_LAST_CHUNK).fetchone()[0] or 0)
        means = {lang: np.frombuffer(mean, "<f4") for lang, mean in pack.execute(_MEANS)}
        return Mount(
            path=path,
            name=meta["name"],
            version=meta["version"],
            title=meta["title"],
            digest=meta["content_digest"],
            counts=counts,
            embedder=embedder,
            planes=np.stack(planes) if planes else np.zeros((0, 0), np.uint64),
            means=means,
            language_basis=_basis(means),
            languages=json.loads(meta["languages"]),
            carries_encoder=bool(pack.execute(_CARRIES).fetchone()[0]),
            day=date.fromisoformat(meta["day"]).isoformat() if meta["day"] else "",
            previous_version=meta["previous_version"],
            _first=pack,
        )
    except (sqlite3.Error, LookupError, ValueError, TypeError, AttributeError, OverflowError,
            RecursionError) as error:  # fmt: skip
        pack.close()
        raise LorepackError(
            f"{path} is damaged ({error})", "run `lorepack verify` on it"
        ) from error


def _check_sizes(
    counts: Any, embedder: Any, planes: Sequence[npt.NDArray[np.uint64]], chunks: int
) -> None:
    """Raise `ValueError` unless the numbers that memory is taken by are those of the rows."""
    if not all(type(counts.get(name)) is int for name in _COUNTED) or counts["chunks"] != chunks:
        raise ValueError("the counts are not those of its rows")
    dims = embedder["dims"] if embedder else 0
    if type(dims) is not int or not 0 <= dims <= _MOST_DIMS:
        raise ValueError("the vectors have no size that can be")
    if chunks and (len(planes) != -(-dims // 64) or any(len(plane) != chunks for plane in planes)):
        raise ValueError("the vector planes do not fit the chunks")


def _basis(means: Mapping[str, npt.NDArray[np.float32]]) -> npt.NDArray[np.float32]:
    own = [mean for lang, mean in means.items() if lang]
    if len(own) < 2:
        return np.zeros((len(means.get("", ())), 0), np.float32)
    basis, _ = np.linalg.qr((np.stack(own[1:]) - own[0]).T)
    return basis.astype(np.float32)
