"""A pack opened by a server."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from lorepack.packfile.errors import LorepackError
from lorepack.packfile.models.encoder import Encoder, load_encoder
from lorepack.packfile.models.registry import MODELS
from lorepack.packfile.open import open_pack

_META = "SELECT key, value FROM meta"
_PLANES = "SELECT bits FROM vector_planes ORDER BY plane"
_MEAN = "SELECT mean FROM vector_means WHERE lang = ''"


@dataclass(frozen=True)
class Mount:
    """One pack: its facts, its bits in memory, and a connection for each thread that asks.

    ``planes`` is uint64 (dims / 64, chunks), ``mean`` float32 (dims,); both are empty without
    vectors.
    """

    path: Path
    name: str
    version: str
    title: str
    digest: str
    counts: dict[str, int]
    embedder: dict[str, Any] | None
    planes: npt.NDArray[np.uint64]
    mean: npt.NDArray[np.float32]
    languages: Sequence[str] = ()
    _connections: threading.local = field(default_factory=threading.local, repr=False)

    def connection(self) -> sqlite3.Connection:
        """Return this thread's connection."""
        pack = getattr(self._connections, "pack", None)
        if pack is None:
            pack = self._connections.pack = open_pack(self.path)
        return pack


def mount_pack(path: Path) -> Mount:
    """Open ``path`` for serving.

    Raises:
        LorepackError: it is no pack, or its facts or vectors cannot be read.
    """
    pack = open_pack(path)
    try:
        meta: dict[str, str] = dict(pack.execute(_META).fetchall())
        planes = [np.frombuffer(bits, "<u8") for (bits,) in pack.execute(_PLANES)]
        mean = pack.execute(_MEAN).fetchone()
        return Mount(
            path=path,
            name=meta["name"],
            version=meta["version"],
            title=meta["title"],
            digest=meta["content_digest"],
            counts=json.loads(meta["counts"]),
            embedder=json.loads(meta["embedder"]),
            planes=np.stack(planes) if planes else np.zeros((0, 0), np.uint64),
            mean=np.frombuffer(mean[0], "<f4") if mean else np.zeros(0, np.float32),
            languages=json.loads(meta["languages"]),
        )
    except (sqlite3.Error, KeyError, ValueError) as error:
        raise LorepackError(
            f"{path} is damaged ({error})", "run `lorepack verify` on it"
        ) from error
    finally:
        pack.close()


_encoders: dict[str, Encoder | str] = {}
_loading = threading.Lock()


def query_encoder(mount: Mount) -> Encoder | str:
    """Return the encoder that made the pack's vectors, or the reason why there is none here."""
    if mount.embedder is None:
        return "the pack was built without vectors"
    spec = MODELS.get(str(mount.embedder.get("id")))
    if spec is None:
        return f"the pack's model {mount.embedder.get('id')!r} is not known here"
    if spec.fingerprint() != mount.embedder:
        return f"the pack was built with other weights of {spec.id}"
    with _loading:
        if spec.id not in _encoders:
            try:
                _encoders[spec.id] = load_encoder(spec, threads=2)
            except (LorepackError, ImportError) as error:
                _encoders[spec.id] = str(error)
        return _encoders[spec.id]
