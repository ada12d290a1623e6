"""Rank chunks by words and by meaning, and by both together."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from lorepack.errors import LorepackError
from lorepack.text.tokenize import fold
from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.dense import search_meaning
from lorepack_server.retrieve.encoders import query_encoder
from lorepack_server.retrieve.fusion import RRF_K
from lorepack_server.retrieve.lexical import (
    Hit,
    chunks_with_phrases,
    search_identifier,
    search_words,
)
from lorepack_server.retrieve.maxscore import Chunks
from lorepack_server.retrieve.query import Query

BRANCH_LIMIT = 100
"""Chunks that each branch brings."""
PINNED = 20
"""Chunks with an asked identifier that come before all others."""

_CHUNKS_OF_PAGES = """
SELECT id FROM chunks WHERE page_id IN (SELECT value FROM json_each(?)) ORDER BY id
"""
_PAGES_OF_CHUNKS = "SELECT id, page_id FROM chunks WHERE id IN (SELECT value FROM json_each(?))"
_TITLED = """
SELECT min(chunks.id) FROM names
JOIN pages ON pages.id = names.page_id JOIN chunks ON chunks.page_id = pages.id
WHERE names.name = ? GROUP BY pages.id ORDER BY length(pages.path), pages.path
"""
_DEFINED = """
SELECT chunk_id FROM symbol_names JOIN symbols ON symbols.id = symbol_names.symbol_id
WHERE symbol_names.name = :folded AND chunk_id IS NOT NULL
ORDER BY symbols.name <> :wanted, length(symbols.name), length(file), symbols.id LIMIT 5
"""


@dataclass(frozen=True)
class Ranking:
    """What each branch found, and all chunks in the order of both together."""

    words: Sequence[Hit]
    meaning: Sequence[Hit]
    hybrid: Sequence[int]
    degraded: str = ""
    pinned: bool = False
    """Whether a page is so titled, or an identifier so called."""
    rerank_scores: Mapping[int, float] = field(default_factory=dict)


def rank_chunks(
    mount: Mount,
    query: Query,
    pages: Sequence[int] | None = None,
    vector: npt.NDArray[np.float32] | None = None,
) -> Ranking:
    """Rank chunks by each branch and by both.

    Args:
        pages: the only ones allowed, if given.
        vector: the question's unit vector, float32 (dims,), where it is known already.
    """
    pack = mount.connection()
    allowed = _allowed_chunks(pack, query, pages)
    words = search_words(pack, query, mount.counts["chunks"], allowed, BRANCH_LIMIT)
    degraded = ""
    if vector is None:
        vector, degraded = _question_vector(mount, query)
    meaning = [] if vector is None else search_meaning(mount, pack, vector, allowed, BRANCH_LIMIT)
    pinned = _pinned(pack, query, allowed)
    order = dict.fromkeys(pinned + _fuse(words, meaning))
    return Ranking(words, meaning, list(order), degraded, bool(pinned))


def _allowed_chunks(
    pack: sqlite3.Connection, query: Query, pages: Sequence[int] | None
) -> Chunks | None:
    """Return the chunks that filters and phrases let through, ascending; None without either."""
    phrased = chunks_with_phrases(pack, query.phrases)
    if pages is None:
        return phrased
    rows = pack.execute(_CHUNKS_OF_PAGES, (json.dumps(list(pages)),))
    filtered = np.fromiter((row[0] for row in rows), np.int64)
    return filtered if phrased is None else np.intersect1d(filtered, phrased)


def pages_of_chunks(pack: sqlite3.Connection, chunks: Sequence[int]) -> dict[int, int]:
    """Return the page of each chunk, by ids."""
    return dict(pack.execute(_PAGES_OF_CHUNKS, (json.dumps(list(chunks)),)).fetchall())


def _question_vector(mount: Mount, query: Query) -> tuple[npt.NDArray[np.float32] | None, str]:
    """Return the question's vector, or None and why there is none."""
    if not query.text:
        return None, ""
    encoder = query_encoder(mount)
    if isinstance(encoder, str):
        return None, encoder
    try:
        return encoder.encode_query(query.text), ""
    except LorepackError as error:
        return None, error.message


def _pinned(pack: sqlite3.Connection, query: Query, allowed: Chunks | None) -> list[int]:
    """Return what comes before all ranking.

    That is the page so titled, the code that defines the identifier, the chunks that hold it.
    """
    pinned = [row[0] for row in pack.execute(_TITLED, (fold(query.text).strip(),))]
    name = query.text.strip().removesuffix("()")
    # A lower-case word of English is more than the function that happens to be called so.
    if query.identifier is not None or not name.islower():
        wanted = {"folded": fold(name), "wanted": name}
        pinned += [row[0] for row in pack.execute(_DEFINED, wanted)]
    if query.identifier is not None:
        pinned += [hit.chunk for hit in search_identifier(pack, query.identifier, PINNED)]
    if allowed is not None:
        let_through = set(allowed.tolist())
        pinned = [chunk for chunk in pinned if chunk in let_through]
    return pinned


def _fuse(*branches: Sequence[Hit]) -> list[int]:
    """Return all chunks by their fused score; of equal ones, the lower id comes first."""
    scores = rrf_scores(*branches)
    return sorted(scores, key=lambda chunk: (-scores[chunk], chunk))


def rrf_scores(*branches: Sequence[Hit]) -> dict[int, float]:
    """Return, for every chunk, the sum of weight / (k + rank) over the branches."""
    scores: dict[int, float] = {}
    for hits in branches:
        for rank, hit in enumerate(hits, 1):
            scores[hit.chunk] = scores.get(hit.chunk, 0.0) + rrf_share(rank, hit)
    return scores


def rrf_share(rank: int | None, hit: Hit | None) -> float:
    """Return what one branch adds to a chunk's fused score."""
    return hit.weight / (RRF_K + rank) if rank and hit else 0.0
