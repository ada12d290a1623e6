"""The meaning branch: a scan over bits, the best of it scored with int8 vectors."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.lexical import Hit
from lorepack_server.retrieve.maxscore import Chunks

SIFTED, SIFTED_SHARE = 3000, 100
"""Chunks that are kept after the scan: so many, and one more of so many that the pack has."""
RESCORED = 300
"""Chunks of those that are scored with their int8 vectors."""

CENTRING = 0.5
"""How much of the mean of all chunks is taken from a question: measured, see docs/benchmarks.md."""

_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_SIGNS_OF_BYTES = np.ascontiguousarray(_BITS.T.astype(np.float32) * 2 - 1)
"""float32 (8, 256): the signs (±1) that each value of a byte stands for."""

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
    vector = centre_question(vector, mount.means, mount.language_basis)
    near = _nearest_in_bits(mount, vector, None if allowed is None else allowed - 1)
    ids = json.dumps((near + 1).tolist())
    rows = pack.execute(_VECTORS, (ids,)).fetchall()
    if not rows:
        return []
    stored = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(len(rows), -1)
    cosines = (stored.astype(np.float32) @ vector) * np.array([row[2] for row in rows], np.float32)
    # Rows come by id, so of equal scores the lower id is first.
    best = np.argsort(-cosines, kind="stable")[:limit]
    return [Hit(rows[place][0], score) for place, score in zip(best, cosines[best].tolist(),
                                                              strict=True)]  # fmt: skip


def centre_question(
    vector: npt.NDArray[np.float32],
    means: Mapping[str, npt.NDArray[np.float32]],
    basis: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]:
    """Return a question's unit vector without what only says in which language it is asked.

    The differences between the languages' means span that part (`language_basis`), so that the
    question's language need not be known.
    """
    centred = vector - CENTRING * means[""]
    centred -= basis @ (basis.T @ centred)
    length = float(np.linalg.norm(centred))
    return (centred / length if length else centred).astype(np.float32)


def _nearest_in_bits(
    mount: Mount, vector: npt.NDArray[np.float32], allowed: Chunks | None
) -> npt.NDArray[np.int64]:
    """Return the indexes (id - 1) of the chunks to be scored with their int8 vectors.

    Bits against bits is fast and coarse; what it keeps is sifted again by the question's own
    numbers against the chunks' bits.
    """
    padded = np.pad(vector, (0, -len(vector) % 64))
    planes = mount.planes if allowed is None else mount.planes[:, allowed]
    kept = _fewest_differing(planes, padded)
    if len(kept) > RESCORED:
        likeness = _likeness(np.take(planes, kept, axis=1), padded)
        place = len(kept) - RESCORED
        kept = kept[np.argpartition(likeness, place)[place:]]
    return kept if allowed is None else allowed[kept]


def _fewest_differing(
    planes: npt.NDArray[np.uint64], vector: npt.NDArray[np.float32]
) -> npt.NDArray[np.int64]:
    """Return the columns of ``planes`` that differ from the vector's signs in the fewest bits."""
    columns = planes.shape[1]
    count = SIFTED + columns // SIFTED_SHARE
    if count >= columns:
        return np.arange(columns)
    distance = np.zeros(columns, np.uint16)
    signs = np.packbits(vector > 0, bitorder="little").view("<u8")
    for plane, word in zip(planes, signs, strict=True):
        distance += np.bitwise_count(plane ^ word)
    # Far cheaper than argpartition; of those as far as the last, the lower ids are taken.
    last = np.partition(distance, count - 1)[count - 1]
    nearer = np.flatnonzero(distance < last)
    return np.concatenate((nearer, np.flatnonzero(distance == last)[: count - len(nearer)]))


def _likeness(
    planes: npt.NDArray[np.uint64], vector: npt.NDArray[np.float32]
) -> npt.NDArray[np.float32]:
    """Return, for each column, the product of the vector with the signs (±1) in its bits."""
    # What each value of a byte is worth, for every byte of a code.
    worth = vector.reshape(-1, 8) @ _SIGNS_OF_BYTES
    codes = planes.astype("<u8", copy=False).view(np.uint8).reshape(len(planes), -1, 8)
    likeness = np.zeros(planes.shape[1], np.float32)
    for byte, table in enumerate(worth):
        likeness += table.take(codes[byte // 8, :, byte % 8])
    return likeness
