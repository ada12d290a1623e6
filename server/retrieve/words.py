"""The words branch: BM25 over the terms of a question that tell pages apart."""

from __future__ import annotations

import json
import math
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lorepack.server.retrieve.query import Query

_MATCH = """
SELECT rowid, -bm25(chunks_fts, 4.0, 2.0, 1.0, 2.0) AS score
FROM chunks_fts WHERE chunks_fts MATCH ? ORDER BY score DESC, rowid LIMIT ?
"""
_MATCH_IN_PAGES = """
SELECT chunks_fts.rowid, -bm25(chunks_fts, 4.0, 2.0, 1.0, 2.0) AS score
FROM chunks_fts JOIN chunks ON chunks.id = chunks_fts.rowid
WHERE chunks_fts MATCH ? AND chunks.page_id IN (SELECT value FROM json_each(?))
ORDER BY score DESC, chunks_fts.rowid LIMIT ?
"""
_FREQUENCY = "SELECT chunks FROM terms WHERE term = ?"
_POSTINGS = 20_000
"""Entries of the index that one question may read, beyond its rarest terms."""
_KEPT = 3
"""Terms that are kept however common they are, rarest first."""


@dataclass(frozen=True)
class Hit:
    """A chunk and its score in one branch."""

    chunk: int
    score: float


def search_words(
    pack: sqlite3.Connection, query: Query, pages: Sequence[int] | None, limit: int
) -> list[Hit]:
    """Return up to ``limit`` chunks, best first; the score is BM25 (more is better)."""
    terms = _telling_terms(pack, [token for word in query.words for token in word])
    phrases = " AND ".join(_phrase(phrase) for phrase in query.phrases)
    words = " OR ".join(_term(term) for term in terms)
    expression = phrases or words
    return _match(pack, expression, pages, limit) if expression else []


def search_identifier(
    pack: sqlite3.Connection, token: str, pages: Sequence[int] | None, limit: int
) -> list[Hit]:
    """Return the chunks whose own text holds ``token`` itself, best first."""
    return _match(pack, f"{{headings body}} : {_quote(token)}", pages, limit)


def words_weight(pack: sqlite3.Connection, query: Query, chunks: int) -> float:
    """Return how much the words branch is to be trusted with ``query``, from 0 to 1.

    It is the square of the share of the question's terms, weighed by rarity, that the pack knows
    at all. A question in another language shares names and chance words only, and these must not
    push aside what was found by meaning.
    """
    known = total = 0.0
    for forms in _word_forms(query):
        count = max(_frequency(pack, token) for token in forms)
        rarity = math.log(1 + (chunks - count + 0.5) / (count + 0.5))
        total += rarity
        known += rarity if count else 0.0
    return (known / total) ** 2 if total else 0.0


def _word_forms(query: Query) -> Iterator[Sequence[str]]:
    """Yield the forms of each word; every bigram of an unspaced script is a word of its own."""
    for word in query.words:
        if word[0].isascii():
            yield word
        else:
            yield from ([token] for token in word)


def _frequency(pack: sqlite3.Connection, token: str) -> int:
    row = pack.execute(_FREQUENCY, (token,)).fetchone()
    return int(row[0]) if row else 0


def _match(
    pack: sqlite3.Connection, expression: str, pages: Sequence[int] | None, limit: int
) -> list[Hit]:
    if pages is None:
        rows = pack.execute(_MATCH, (expression, limit))
    else:
        rows = pack.execute(_MATCH_IN_PAGES, (expression, json.dumps(list(pages)), limit))
    return [Hit(chunk, score) for chunk, score in rows]


def _telling_terms(pack: sqlite3.Connection, tokens: Sequence[str]) -> list[str]:
    """Keep the rarest terms, and others while reading them stays cheap."""
    counted = []
    for token in dict.fromkeys(tokens):
        count = _frequency(pack, token)
        if count or _is_single_character(token):
            counted.append((count, token))
    counted.sort()
    kept: list[str] = []
    read = 0
    for count, token in counted:
        if len(kept) >= _KEPT and read + count > _POSTINGS:
            break
        kept.append(token)
        read += count
    return kept


def _is_single_character(token: str) -> bool:
    return len(token) == 1 and not token.isascii()


def _term(token: str) -> str:
    # One character of an unspaced script stands at the start of bigrams.
    return f"{_quote(token)} *" if _is_single_character(token) else _quote(token)


def _phrase(tokens: Sequence[str]) -> str:
    return _quote(" ".join(tokens)) if len(tokens) > 1 else _term(tokens[0])


def _quote(text: str) -> str:
    """Return ``text`` as an FTS5 string, which is never syntax."""
    return '"' + text.replace('"', '""') + '"'
