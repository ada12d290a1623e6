"""The meaning branch: a scan over bits, the best of it scored with int8 vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from lorepack.server.mount import Mount
from lorepack.server.retrieve.words import Chunks, Hit

RESCORED = 300
"""Chunks that are scored with their int8 vectors, nearest in bits first."""

CENTRING = 0.5
"""How much of the mean of all chunks is taken from a question: measured, see docs/benchmarks.md."""

_VECTORS = """
SELECT chunk_id, vector, scale FROM vectors
WHERE chunk_id IN (SELECT value FROM json_each(?)) ORDER BY chunk_id
"""


def search_meaning(
    mount: Mount,
    pack: sqlite3.Connection,
    vector: npt.NDArray[np.float32],
    allowed: Chunks | None,
    limit: int,
) -> list[Hit]:
    """Return up to ``limit`` chunks, best first; the score is the cosine of the centred vectors.

    Args:
        vector: the question's unit vector, float32 (dims,).
        allowed: the only chunks that may be found.
    """
    if not mount.means:
        return []
    vector = centre_question(vector, mount.means)
    near = _nearest_in_bits(mount, vector, None if allowed is None else allowed - 1)
    ids = json.dumps([int(index) + 1 for index in near])
    rows = pack.execute(_VECTORS, (ids,)).fetchall()
    if not rows:
        return []
    stored = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), -1)
    cosines = (stored.astype(np.float32) @ vector) * np.array([row[2] for row in rows], np.float32)
    # Rows come by id, so of equal scores the lower id is first.
    best = np.argsort(-cosines, kind="stable")[:limit]
    return [Hit(rows[place][0], float(cosines[place])) for place in best]


def centre_question(
    vector: npt.NDArray[np.float32], means: Mapping[str, npt.NDArray[np.float32]]
) -> npt.NDArray[np.float32]:
    """Return a question's unit vector without what only says in which language it is asked.

    The differences between the languages' means span that part, so that the question's language
    need not be known.
    """
    centred = vector - CENTRING * means[""]
    own = [mean for lang, mean in means.items() if lang]
    if len(own) > 1:
        differences = np.stack(own[1:]) - own[0]
        basis, _ = np.linalg.qr(differences.T)
        centred -= basis @ (basis.T @ centred)
    length = float(np.linalg.norm(centred))
    return (centred / length if length else centred).astype(np.float32)


def _nearest_in_bits(
    mount: Mount, vector: npt.NDArray[np.float32], allowed: Chunks | None
) -> npt.NDArray[np.int64]:
    """Return chunk indexes (id - 1) with the fewest differing bits."""
    bits = np.packbits(_padded(vector) > 0, bitorder="little").view("<u8")
    planes = mount.planes if allowed is None else mount.planes[:, allowed]
    distance = np.zeros(planes.shape[1], np.uint16)
    for plane, word in zip(planes, bits, strict=True):
        distance += np.bitwise_count(plane ^ word)
    count = min(RESCORED, len(distance))
    if count == 0:
        return np.zeros(0, np.int64)
    near = np.argpartition(distance, count - 1)[:count]
    return near if allowed is None else allowed[near]


def _padded(vector: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    return np.pad(vector, (0, -len(vector) % 64))
