"""Answer a question with chunks: both branches, fused by rank, and cited."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.cache import AnswerCache
from lorepack_server.retrieve.citations import citation_url, source_place
from lorepack_server.retrieve.closeness import is_nothing_close
from lorepack_server.retrieve.filters import allowed_pages, valid_values
from lorepack_server.retrieve.lexical import Hit
from lorepack_server.retrieve.passages import Passage, group_chunks, headings_of, passage_text
from lorepack_server.retrieve.query import Query, parse_query
from lorepack_server.retrieve.rank import Ranking, rank_chunks, rrf_share
from lorepack_server.retrieve.rerank import Reranker

NEAREST = 3
"""Passages that are shown where nothing is close."""

_CHUNKS = """
SELECT chunks.id, chunks.page_id, chunks.ordinal, chunks.anchor, chunks.headings, chunks.text,
    chunks.first_line, chunks.last_line, pages.path, pages.title, pages.url,
    sources.kind, sources.web, sources.revision, sources.subdir
FROM chunks JOIN pages ON pages.id = chunks.page_id JOIN sources ON sources.id = pages.source_id
WHERE chunks.id IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True)
class Result:
    """A passage with its citation, and the rank (from 1) and score of its best chunk."""

    chunk: int
    text: str
    title: str
    path: str
    anchor: str
    headings: tuple[str, ...]
    citation_url: str
    source: Mapping[str, str]
    """Of `source_place`."""
    lines: tuple[int, int]
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
            "page": self.path,
            # The name that clients of earlier versions read.
            "slug": self.path,
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
    """Results, best first; ``status`` is ok, no_docs or no_match, ``degraded`` what failed.

    With no_match, the results are the few that are nearest, and ``hint`` says so.
    """

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
    site_url: str = "",
    reranker: Reranker | None = None,
    tags: Sequence[str] = (),
    match: str = "all",
) -> Answer:
    """Answer ``question`` from one pack.

    Args:
        filters: by source, path, tag, category, lifecycle, lang or tool.
        site_url: where the pack's site is, ending in a slash; citations lead there. Without one
            they are ``lorepack://`` addresses.
        reranker: puts the best in a cross-encoder's order.
        tags: which a page must have, ``all`` or ``any`` of them by ``match``.
    """
    query = parse_query(question, filters)
    key = (
        mount.digest, mount.name, query.text, query.phrases, tuple(sorted(query.filters.items())),
        limit, site_url, reranker and reranker.budget_ms, tuple(tags),
        match,
    )  # fmt: skip
    return answers.get(
        key,
        lambda: _find(mount, query, limit, site_url, reranker, tags, match),
        keep=lambda answer: not answer.degraded,
    )


def _find(
    mount: Mount, query: Query, limit: int, site_url: str, reranker: Reranker | None,
    tags: Sequence[str], match: str,
) -> Answer:  # fmt: skip
    pack = mount.connection()
    if not mount.counts.get("chunks"):
        return Answer("no_docs", (), hint="the pack has no text")
    pages = allowed_pages(pack, query.filters, tags, match)
    if pages is not None and not pages:
        return Answer("no_match", (), hint=filter_hint(pack, query.filters, tags, match))
    ranking = rank_chunks(mount, query, pages)
    if reranker is not None:
        ranking = _rerank(mount, query, ranking, reranker)
    far = not ranking.pinned and is_nothing_close(
        query, ranking.words, ranking.meaning, mount.languages
    )
    shown = min(limit, NEAREST) if far else limit
    passages = group_chunks(_rows(pack, ranking.hybrid, 3 * shown), shown)
    results = tuple(_result(mount, passage, ranking, site_url) for passage in passages)
    if not results:
        return Answer("no_match", (), ranking.degraded, _empty_hint(query, pages))
    if far:
        return Answer("no_match", results, ranking.degraded, "nothing close to the query was found")
    return Answer("ok", results, ranking.degraded)


def _empty_hint(query: Query, pages: Sequence[int] | None) -> str:
    passed = "" if pages is None else f"; {len(pages)} pages pass the filters"
    if query.phrases:
        return f"no passage holds the quoted phrase{passed}; ask without quotation marks"
    if passed:
        return f"nothing there answers the query{passed}"
    return "no word of the query is in this pack; ask in other words"


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


def _result(mount: Mount, passage: Passage, ranking: Ranking, site_url: str) -> Result:
    row = passage.best
    words_rank, by_words = _place(ranking.words, row["id"])
    meaning_rank, by_meaning = _place(ranking.meaning, row["id"])
    return Result(
        chunk=row["id"],
        text=passage_text(mount.connection(), passage.rows),
        title=row["title"],
        path=row["path"],
        anchor=row["anchor"],
        headings=headings_of(row),
        citation_url=citation_url(mount, site_url, row, row["anchor"]),
        source=source_place(row, passage.lines),
        lines=passage.lines,
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
    pack: sqlite3.Connection, filters: Mapping[str, str], tags: Sequence[str] = (),
    match: str = "all",
) -> str:  # fmt: skip
    """Say which values a filter that matches nothing could have."""
    if match == "any" and tags and not allowed_pages(pack, {}, tags, match):
        valid = ", ".join(valid_values(pack, "tag"))
        return f"no page has any of the tags {', '.join(tags)}; valid: {valid}"
    every = [*filters.items(), *(("tag", tag) for tag in tags)]
    for name, value in every:
        if not allowed_pages(pack, {name: value}):
            valid = ", ".join(valid_values(pack, name))
            hint = f"valid: {valid}" if valid else "get_page with listPages lists all pages"
            return f"no page has {name} {value!r}; {hint}"
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
