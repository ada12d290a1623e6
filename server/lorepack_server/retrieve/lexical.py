"""The words branch: BM25 over a question's terms, from postings that the build weighed."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from lorepack.index.postings import decode_postings
from lorepack_server.retrieve.maxscore import Chunks, Term, best_chunks
from lorepack_server.retrieve.query import Query

_TERMS = """
SELECT term, chunks, postings FROM terms WHERE term IN (SELECT value FROM json_each(?))
"""
_BEGINNING_WITH = """
SELECT term, chunks, postings FROM terms WHERE term >= ? AND term < ?
ORDER BY chunks DESC, term LIMIT 100
"""
_COUNT = "SELECT chunks FROM terms WHERE term = ?"
_PHRASE = "SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH ?"
_IDENTIFIER = """
SELECT rowid, -bm25(chunks_fts, 4.0, 2.0, 1.0, 2.0) AS score
FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY score DESC, rowid LIMIT ?
"""
_COMMON = 2_000
"""Chunks with a token, from which on it is no identifier to look up but a word to rank by."""


class Hit(NamedTuple):
    """A chunk, its score in one branch, and what its rank there counts for in the fusion."""

    chunk: int
    score: float
    weight: float = 1.0


def search_words(
    pack: sqlite3.Connection, query: Query, chunks: int, allowed: Chunks | None, limit: int
) -> list[Hit]:
    """Return up to ``limit`` chunks, best first; the score is BM25 (more is better).

    A hit's weight is the square of the share of the question that it holds, words weighed by
    rarity. What shares names and chance words only, as with a question in another language, must
    not push aside what was found by meaning.

    Args:
        chunks: how many the pack has.
        allowed: the only chunks that may be found.
    """
    tokens = list(dict.fromkeys(token for word in query.words for token in word))
    terms = _read_terms(pack, tokens, chunks)
    best, scores = best_chunks(list(terms.values()), chunks, allowed, limit)
    shares = _shares(query, terms, chunks, best)
    return [
        Hit(int(chunk), float(score), float(share) ** 2)
        for chunk, score, share in zip(best, scores, shares, strict=True)
    ]


def search_identifier(pack: sqlite3.Connection, token: str, limit: int) -> list[Hit]:
    """Return the chunks whose own text holds ``token`` itself, best first."""
    row = pack.execute(_COUNT, (token,)).fetchone()
    if row is None or row[0] > _COMMON:
        return []
    expression = f"{{headings body}} : {_quote([token])}"
    return [Hit(chunk, score) for chunk, score in pack.execute(_IDENTIFIER, (expression, limit))]


def chunks_with_phrases(
    pack: sqlite3.Connection, phrases: Sequence[Sequence[str]]
) -> Chunks | None:
    """Return the chunks that hold every phrase, ascending; None when there is no phrase."""
    if not phrases:
        return None
    expression = " AND ".join(
        f"{_quote(phrase)} *" if _is_single_character(phrase[-1]) else _quote(phrase)
        for phrase in phrases
    )
    return np.array(sorted(row[0] for row in pack.execute(_PHRASE, (expression,))), np.int64)


def _read_terms(pack: sqlite3.Connection, tokens: Sequence[str], chunks: int) -> dict[str, Term]:
    rows = pack.execute(_TERMS, (json.dumps(tokens),)).fetchall()
    for token in filter(_is_single_character, tokens):
        # One character of an unspaced script stands at the start of bigrams.
        rows += pack.execute(_BEGINNING_WITH, (token, token + "\U0010ffff")).fetchall()
    terms = {}
    for term, count, postings in rows:
        ids, impacts = decode_postings(postings)
        terms[term] = Term(count, _rarity(count, chunks), ids, impacts)
    return terms


def _rarity(count: int, chunks: int) -> float:
    """BM25's inverse document frequency, which is never negative in this form (Lucene's)."""
    return math.log(1 + (chunks - count + 0.5) / (count + 0.5))


def _shares(
    query: Query, terms: Mapping[str, Term], chunks: int, found: Chunks
) -> npt.NDArray[np.float64]:
    """Return, for each chunk, the share of the question's words that it holds, by rarity."""
    held = np.zeros(len(found))
    total = 0.0
    for forms in _word_forms(query):
        known = [terms[token] for token in forms if token in terms]
        rarity = _rarity(max((term.count for term in known), default=0), chunks)
        total += rarity
        has = np.zeros(len(found), bool)
        for term in known:
            at = np.minimum(np.searchsorted(term.chunks, found), term.count - 1)
            has |= term.chunks[at] == found
        held += rarity * has
    return held / total if total else held


def _word_forms(query: Query) -> list[Sequence[str]]:
    """Return the forms of each word; every bigram of an unspaced script is a word of its own."""
    forms: list[Sequence[str]] = []
    for word in query.words:
        forms += [word] if word[0].isascii() else [[token] for token in word]
    return forms


def _is_single_character(token: str) -> bool:
    return len(token) == 1 and not token.isascii()


def _quote(tokens: Sequence[str]) -> str:
    """Return tokens as an FTS5 phrase, which is never syntax."""
    return '"' + " ".join(tokens).replace('"', '""') + '"'
