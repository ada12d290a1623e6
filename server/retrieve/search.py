"""Answer a question with chunks: both branches, fused by rank, and cited."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lorepack.server.mount import Mount
from lorepack.server.retrieve.cache import AnswerCache
from lorepack.server.retrieve.cite import citation_url, source_place
from lorepack.server.retrieve.filters import allowed_pages, valid_values
from lorepack.server.retrieve.query import Query, parse_query
from lorepack.server.retrieve.rank import Ranking, rank_chunks, rrf_share
from lorepack.server.retrieve.rerank import Reranker
from lorepack.server.retrieve.words import Hit

PER_PAGE = 3
"""Chunks of one page in an answer."""

_CHUNKS = """
SELECT chunks.id, chunks.page_id, chunks.anchor, chunks.headings, chunks.text, chunks.first_line,
    chunks.last_line, chunks.tokens, pages.path, pages.title, pages.url, sources.kind, sources.web,
    sources.revision, sources.subdir
FROM chunks JOIN pages ON pages.id = chunks.page_id JOIN sources ON sources.id = pages.source_id
WHERE chunks.id IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True)
class Result:
    """A chunk with its citation, and its rank (from 1) and score in each branch."""

    chunk: int
    text: str
    title: str
    slug: str
    anchor: str
    headings: tuple[str, ...]
    citation_url: str
    source: Mapping[str, str]
    """Of `source_place`."""
    lines: tuple[int, int]
    tokens: int
    vector_rank: int | None
    vector_score: float | None
    bm25_rank: int | None
    bm25_score: float | None
    bm25_weight: float | None
    """What the words rank counts for in ``rrf_score``; the meaning rank counts for 1."""
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
            **self.source,
            "lines": list(self.lines),
            "vectorRank": self.vector_rank,
            "vectorScore": self.vector_score,
            "bm25Rank": self.bm25_rank,
            "bm25Score": self.bm25_score,
            "bm25Weight": self.bm25_weight,
            "rrfScore": self.rrf_score,
            "rerankScore": self.rerank_score,
        }


@dataclass(frozen=True)
class Answer:
    """Results, best first; ``status`` is ok, no_docs or no_match, ``degraded`` what failed."""

    status: str
    results: tuple[Result, ...]
    degraded: str = ""
    hint: str = ""


answers: AnswerCache[Answer] = AnswerCache()
"""All packs' answers; the digest in the key keeps them apart."""


def find_chunks(
    mount: Mount,
    question: str,
    *,
    limit: int = 8,
    filters: Mapping[str, str] | None = None,
    max_tokens: int | None = None,
    site_url: str = "",
    reranker: Reranker | None = None,
    tags: Sequence[str] = (),
) -> Answer:
    """Answer ``question`` from one pack.

    Args:
        filters: by source, path, tag, category, lifecycle, lang or tool.
        max_tokens: a budget for all texts together; the best result is always given.
        site_url: where the pack's site is, ending in a slash; citations lead there. Without one
            they are ``lorepack://`` addresses.
        reranker: puts the best in a cross-encoder's order.
        tags: all of which a page must have.
    """
    query = parse_query(question, filters)
    key = (
        mount.digest, mount.name, query.text, query.phrases, tuple(sorted(query.filters.items())),
        limit, max_tokens, site_url, reranker and reranker.budget_ms, tuple(tags),
    )  # fmt: skip
    return answers.get(
        key,
        lambda: _find(mount, query, limit, max_tokens, site_url, reranker, tags),
        keep=lambda answer: not answer.degraded,
    )


def _find(
    mount: Mount, query: Query, limit: int, max_tokens: int | None, site_url: str,
    reranker: Reranker | None, tags: Sequence[str] = (),
) -> Answer:  # fmt: skip
    pack = mount.connection()
    if not mount.counts.get("chunks"):
        return Answer("no_docs", (), hint="the pack has no text")
    pages = allowed_pages(pack, query.filters, tags)
    if pages is not None and not pages:
        return Answer("no_match", (), hint=filter_hint(pack, query.filters, tags))
    ranking = rank_chunks(mount, query, pages)
    if reranker is not None:
        ranking = _rerank(mount, query, ranking, reranker)
    chosen = _choose(_rows(pack, ranking.hybrid, 3 * limit), limit, max_tokens)
    results = tuple(
        _result(row, ranking, citation_url(mount, site_url, row, row["anchor"])) for row in chosen
    )
    status = "ok" if results else "no_match"
    return Answer(status, results, ranking.degraded)


def _rerank(mount: Mount, query: Query, ranking: Ranking, reranker: Reranker) -> Ranking:
    reranked = reranker(mount, query, ranking.hybrid)
    return replace(
        ranking,
        hybrid=reranked.order,
        rerank_scores=reranked.scores,
        degraded=ranking.degraded or reranked.degraded,
    )


def _rows(pack: sqlite3.Connection, chunks: Sequence[int], at_once: int) -> Iterator[sqlite3.Row]:
    """Yield the chunks' rows in their order; most answers need only the first few."""
    for begin in range(0, len(chunks), at_once):
        part = chunks[begin : begin + at_once]
        rows = {row["id"]: row for row in pack.execute(_CHUNKS, (json.dumps(list(part)),))}
        yield from (rows[chunk] for chunk in part if chunk in rows)


def _choose(rows: Iterator[sqlite3.Row], limit: int, max_tokens: int | None) -> list[sqlite3.Row]:
    """Take the best, at most a few of each page, while the budget lasts."""
    chosen: list[sqlite3.Row] = []
    per_page: dict[int, int] = {}
    spent = 0
    for row in rows:
        if per_page.get(row["page_id"], 0) >= PER_PAGE:
            continue
        if max_tokens is not None and chosen and spent + row["tokens"] > max_tokens:
            continue
        chosen.append(row)
        spent += row["tokens"]
        per_page[row["page_id"]] = per_page.get(row["page_id"], 0) + 1
        if len(chosen) == limit:
            break
    return chosen


def _result(row: sqlite3.Row, ranking: Ranking, url: str) -> Result:
    words_rank, by_words = _place(ranking.words, row["id"])
    meaning_rank, by_meaning = _place(ranking.meaning, row["id"])
    return Result(
        chunk=row["id"],
        text=row["text"],
        title=row["title"],
        slug=row["path"],
        anchor=row["anchor"],
        headings=tuple(json.loads(row["headings"])),
        citation_url=url,
        source=source_place(row, (row["first_line"], row["last_line"])),
        lines=(row["first_line"], row["last_line"]),
        tokens=row["tokens"],
        vector_rank=meaning_rank,
        vector_score=round(by_meaning.score, 6) if by_meaning else None,
        bm25_rank=words_rank,
        bm25_score=round(by_words.score, 6) if by_words else None,
        bm25_weight=round(by_words.weight, 6) if by_words else None,
        rrf_score=rrf_share(words_rank, by_words) + rrf_share(meaning_rank, by_meaning),
        rerank_score=ranking.rerank_scores.get(row["id"]),
    )


def _place(hits: Sequence[Hit], chunk: int) -> tuple[int | None, Hit | None]:
    return next(((n, hit) for n, hit in enumerate(hits, 1) if hit.chunk == chunk), (None, None))


def filter_hint(
    pack: sqlite3.Connection, filters: Mapping[str, str], tags: Sequence[str] = ()
) -> str:
    """Say which values a filter that matches nothing could have."""
    every = [*filters.items(), *(("tag", tag) for tag in tags)]
    for name, value in every:
        if not allowed_pages(pack, {name: value}):
            valid = ", ".join(valid_values(pack, name)) or "see listPages"
            return f"no page has {name} {value!r}; valid: {valid}"
    left = {
        f"{name} {value!r}": len(_without(pack, filters, tags, name, value))
        for name, value in every
    }
    most = max(left, key=lambda name: left[name])
    others = f"; without {most}, {left[most]} do" if left[most] else ""
    return f"no page passes all filters together{others}"


def _without(
    pack: sqlite3.Connection, filters: Mapping[str, str], tags: Sequence[str], name: str, value: str
) -> Sequence[int]:
    """Return the pages that pass all filters but one."""
    kept = {key: text for key, text in filters.items() if (key, text) != (name, value)}
    others = [tag for tag in tags if (name, value) != ("tag", tag)]
    return allowed_pages(pack, kept, others) or []
