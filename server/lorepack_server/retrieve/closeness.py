"""Whether anything in a pack is close to a query."""

from __future__ import annotations

from collections.abc import Sequence

from lorepack.text.language import question_language
from lorepack_server.retrieve.lexical import Hit
from lorepack_server.retrieve.query import Query

_SHARE, _COSINE = 0.34, 0.36
"""At least so much of the query's words, by rarity, or so near in meaning: tried with 60 questions
that three documentations answer and 190 that they do not; then none of the former is refused."""
_BEST = 5


def is_nothing_close(
    query: Query, words: Sequence[Hit], meaning: Sequence[Hit], languages: Sequence[str]
) -> bool:
    """Return whether the best hits of both retrievers are far from the query.

    A query in another language than the pack's shares no words with it, and is left to the reader.

    Args:
        words: the lexical retriever's hits, best first.
        meaning: the dense retriever's, best first; none where it did not run.
        languages: the pack's.
    """
    if not query.words:
        return True
    share = max((hit.weight for hit in words[:_BEST]), default=0.0) ** 0.5
    if share >= _SHARE or (meaning and meaning[0].score >= _COSINE):
        return False
    return question_language(query.text) in languages
