"""Answer a question with chunks: both branches, fused by rank, and cited."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

import numpy as np

from lorepack.packfile.errors import LorepackError
from lorepack.server.encoders import query_encoder
from lorepack.server.mount import Mount
from lorepack.server.retrieve.filters import allowed_pages, valid_values
from lorepack.server.retrieve.meaning import search_meaning
from lorepack.server.retrieve.query import Query, parse_query
from lorepack.server.retrieve.rerank import Reranker
from lorepack.server.retrieve.words import (
    Chunks,
    Hit,
    chunks_with_phrases,
    search_identifier,
    search_words,
)

RRF_K = 60
"""The constant of reciprocal rank fusion (Cormack, Clarke, Büttcher 2009)."""
BRANCH_LIMIT = 100
"""Chunks that each branch brings."""
PER_PAGE = 3
"""Chunks of one page in an answer."""

PINNED = 20
"""Chunks with an asked identifier that come before all others."""

_CHUNKS_OF_PAGES = """
SELECT id FROM chunks WHERE page_id IN (SELECT value FROM json_each(?)) ORDER BY id
"""
_CHUNKS = """
SELECT chunks.id, chunks.page_id, chunks.anchor, chunks.headings, chunks.text, chunks.first_line,
    chunks.last_line, chunks.tokens, pages.path, pages.title, pages.url, sources.revision
FROM chunks JOIN pages ON pages.id = chunks.page_id JOIN sources ON sources.id = pages.source_id
WHERE chunks.id IN (SELECT value FROM json_each(?))
"""
_TITLED = """
SELECT min(chunks.id) FROM pages JOIN chunks ON chunks.page_id = pages.id
WHERE lower(pages.title) = :title
   OR EXISTS (SELECT 1 FROM json_each(pages.aliases) WHERE lower(value) = :title)
GROUP BY pages.id ORDER BY length(pages.path), pages.path
"""


@dataclass(frozen=True)
class Result:
    """A chunk with its citation, and its rank (from 1) and score in each branch."""

    text: str
    title: str
    slug: str
    anchor: str
    headings: tuple[str, ...]
    citation_url: str
    commit_sha: str
    lines: tuple[int, int]
    tokens: int
    vector_rank: int | None
    vector_score: float | None
    bm25_rank: int | None
    bm25_score: float | None
    rrf_score: float
    rerank_score: float | None = None

    def as_dict(self) -> dict[str, object]:
        """Return the fields under the names that the tools promise."""
        return {
            "text": self.text,
            "title": self.title,
            "slug": self.slug,
            "anchor": self.anchor,
            "headings": list(self.headings),
            "citationUrl": self.citation_url,
            "commitSha": self.commit_sha,
            "lines": list(self.lines),
            "vectorRank": self.vector_rank,
            "vectorScore": self.vector_score,
            "bm25Rank": self.bm25_rank,
            "bm25Score": self.bm25_score,
            "rrfScore": self.rrf_score,
            "rerankScore": self.rerank_score,
        }


@dataclass(frozen=True)
class Ranking:
    """What each branch found, and all chunks in the order of both together."""

    words: Sequence[Hit]
    meaning: Sequence[Hit]
    hybrid: Sequence[int]
    words_weight: float = 1.0
    degraded: str = ""
    rerank_scores: Mapping[int, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """Results, best first; ``status`` is ok, no_docs or no_match, ``degraded`` what failed."""

    status: str
    results: tuple[Result, ...]
    degraded: str = ""
    hint: str = ""
    words_weight: float = 1.0
    """What the words branch counts for in ``rrf_score``; meaning counts for 1."""


def find_chunks(
    mount: Mount,
    question: str,
    *,
    limit: int = 8,
    filters: Mapping[str, str] | None = None,
    max_tokens: int | None = None,
    site_url: str = "",
    reranker: Reranker | None = None,
) -> Answer:
    """Answer ``question`` from one pack.

    Args:
        filters: by source, path, tag, category, lifecycle or lang.
        max_tokens: a budget for all texts together; the best result is always given.
        site_url: where the pack's site is, ending in a slash; citations lead there. Without one
            they are ``lorepack://`` addresses.
        reranker: puts the best in a cross-encoder's order.
    """
    pack = mount.connection()
    if not mount.counts.get("chunks"):
        return Answer("no_docs", (), hint="the pack has no text")
    query = parse_query(question, filters)
    pages = allowed_pages(pack, query.filters)
    if pages is not None and not pages:
        return Answer("no_match", (), hint=_filter_hint(pack, query.filters))
    ranking = rank_chunks(mount, query, pages)
    if reranker is not None:
        reranked = reranker(mount, query, ranking.hybrid)
        ranking = replace(
            ranking,
            hybrid=reranked.order,
            rerank_scores=reranked.scores,
            degraded=ranking.degraded or reranked.degraded,
        )
    rows = _load(pack, ranking.hybrid)
    chosen = _choose(ranking.hybrid, rows, limit, max_tokens)
    cite = _citer(mount, site_url)
    results = tuple(_result(rows[chunk], ranking, cite) for chunk in chosen)
    status = "ok" if results else "no_match"
    return Answer(status, results, ranking.degraded, words_weight=ranking.words_weight)


def rank_chunks(mount: Mount, query: Query, pages: Sequence[int] | None = None) -> Ranking:
    """Rank chunks by each branch and by both; ``pages`` are the only ones allowed, if given."""
    pack = mount.connection()
    allowed = _allowed_chunks(pack, query, pages)
    words = search_words(pack, query, mount.counts["chunks"], allowed, BRANCH_LIMIT)
    meaning, degraded = _meaning(mount, pack, query, allowed)
    order = _pinned(pack, query, allowed) + _fuse((words.hits, words.weight), (meaning, 1.0))
    return Ranking(words.hits, meaning, list(dict.fromkeys(order)), words.weight, degraded)


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


def _meaning(
    mount: Mount, pack: sqlite3.Connection, query: Query, allowed: Chunks | None
) -> tuple[list[Hit], str]:
    if not query.text:
        return [], ""
    encoder = query_encoder(mount)
    if isinstance(encoder, str):
        return [], encoder
    try:
        vector = encoder.encode_query(query.text)
    except LorepackError as error:
        return [], error.message
    return search_meaning(mount, pack, vector, allowed, BRANCH_LIMIT), ""


def _pinned(pack: sqlite3.Connection, query: Query, allowed: Chunks | None) -> list[int]:
    """Return what comes before all ranking: the page so titled, the chunks with the identifier."""
    title = query.text.lower()
    pinned = [row[0] for row in pack.execute(_TITLED, {"title": title})] if title else []
    if query.identifier is not None:
        pinned += [hit.chunk for hit in search_identifier(pack, query.identifier, PINNED)]
    if allowed is not None:
        let_through = set(allowed.tolist())
        pinned = [chunk for chunk in pinned if chunk in let_through]
    return pinned


def _fuse(*branches: tuple[Sequence[Hit], float]) -> list[int]:
    """Return all chunks by the sum of weight / (k + rank) over the branches."""
    scores: dict[int, float] = {}
    for hits, weight in branches:
        for rank, hit in enumerate(hits, 1):
            scores[hit.chunk] = scores.get(hit.chunk, 0.0) + weight / (RRF_K + rank)
    return sorted(scores, key=lambda chunk: (-scores[chunk], chunk))


def _load(pack: sqlite3.Connection, chunks: Sequence[int]) -> dict[int, sqlite3.Row]:
    rows = {row["id"]: row for row in pack.execute(_CHUNKS, (json.dumps(list(chunks)),))}
    return {chunk: rows[chunk] for chunk in chunks if chunk in rows}


def _choose(
    order: Sequence[int], rows: Mapping[int, sqlite3.Row], limit: int, max_tokens: int | None
) -> list[int]:
    """Take the best, at most a few of each page, while the budget lasts."""
    chosen: list[int] = []
    per_page: dict[int, int] = {}
    spent = 0
    for chunk in order:
        row = rows[chunk]
        if per_page.get(row["page_id"], 0) >= PER_PAGE:
            continue
        if max_tokens is not None and chosen and spent + row["tokens"] > max_tokens:
            continue
        chosen.append(chunk)
        spent += row["tokens"]
        per_page[row["page_id"]] = per_page.get(row["page_id"], 0) + 1
        if len(chosen) == limit:
            break
    return chosen


def _citer(mount: Mount, site_url: str) -> Callable[[sqlite3.Row], str]:
    def cite(row: sqlite3.Row) -> str:
        fragment = f"#{quote(row['anchor'])}" if row["anchor"] else ""
        if site_url:
            return f"{site_url}{quote(row['url'])}{fragment}"
        return f"lorepack://{mount.name}/{quote(row['path'])}{fragment}"

    return cite


def _result(row: sqlite3.Row, ranking: Ranking, cite: Callable[[sqlite3.Row], str]) -> Result:
    bm25_rank, bm25_score = _place(ranking.words, row["id"])
    vector_rank, vector_score = _place(ranking.meaning, row["id"])
    shares = ((bm25_rank, ranking.words_weight), (vector_rank, 1.0))
    return Result(
        text=row["text"],
        title=row["title"],
        slug=row["path"],
        anchor=row["anchor"],
        headings=tuple(json.loads(row["headings"])),
        citation_url=cite(row),
        commit_sha=row["revision"],
        lines=(row["first_line"], row["last_line"]),
        tokens=row["tokens"],
        vector_rank=vector_rank,
        vector_score=vector_score,
        bm25_rank=bm25_rank,
        bm25_score=bm25_score,
        rrf_score=sum(weight / (RRF_K + rank) for rank, weight in shares if rank is not None),
        rerank_score=ranking.rerank_scores.get(row["id"]),
    )


def _place(hits: Sequence[Hit], chunk: int) -> tuple[int | None, float | None]:
    for rank, hit in enumerate(hits, 1):
        if hit.chunk == chunk:
            return rank, round(hit.score, 6)
    return None, None


def _filter_hint(pack: sqlite3.Connection, filters: Mapping[str, str]) -> str:
    """Say which values a filter that matches nothing could have."""
    for name, value in filters.items():
        if not allowed_pages(pack, {name: value}):
            valid = ", ".join(valid_values(pack, name)) or "see listPages"
            return f"no page has {name} {value!r}; valid: {valid}"
    return "no page passes all filters together"
