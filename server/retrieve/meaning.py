"""The meaning branch: a scan over bits, the best of it scored with int8 vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lorepack.server.mount import Mount
from lorepack.server.retrieve.words import Hit

RESCORED = 300
"""Chunks that are scored with their int8 vectors, nearest in bits first."""

_VECTORS = """
SELECT chunk_id, vector, scale FROM vectors
WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY chunk_id
"""
_CHUNKS_OF_PAGES = """
SELECT id FROM chunks WHERE page_id IN (SELECT value FROM json_each(?)) ORDER BY id
"""


def search_meaning(
    mount: Mount,
    pack: sqlite3.Connection,
    vector: npt.NDArray[np.float32],
    pages: Sequence[int] | None,
    limit: int,
) -> list[Hit]:
    """Return up to ``limit`` chunks, best first; the score is the cosine.

    Args:
        vector: the question's unit vector, float32 (dims,).
    """
    near = _nearest_in_bits(mount, vector, _allowed(pack, pages))
    ids = json.dumps([int(index) + 1 for index in near])
    hits = []
    for chunk, stored, scale in pack.execute(_VECTORS, (ids,)):
        cosine = float(np.frombuffer(stored, np.int8).astype(np.float32) @ vector) * scale
        hits.append(Hit(chunk, cosine))
    hits.sort(key=lambda hit: (-hit.score, hit.chunk))
    return hits[:limit]


def _allowed(pack: sqlite3.Connection, pages: Sequence[int] | None) -> npt.NDArray[np.int64] | None:
    if pages is None:
        return None
    rows = pack.execute(_CHUNKS_OF_PAGES, (json.dumps(list(pages)),))
    return np.array([row[0] - 1 for row in rows], np.int64)


def _nearest_in_bits(
    mount: Mount, vector: npt.NDArray[np.float32], allowed: npt.NDArray[np.int64] | None
) -> npt.NDArray[np.int64]:
    """Return chunk indexes (id - 1) with the fewest differing bits."""
    bits = np.packbits(vector > mount.mean, bitorder="little").view("<u8")
    planes = mount.planes if allowed is None else mount.planes[:, allowed]
    distance = np.zeros(planes.shape[1], np.uint16)
    for plane, word in zip(planes, bits, strict=True):
        distance += np.bitwise_count(plane ^ word)
    count = min(RESCORED, len(distance))
    if count == 0:
        return np.zeros(0, np.int64)
    near = np.argpartition(distance, count - 1)[:count]
    return near if allowed is None else allowed[near]
