"""Reorder the best chunks with a cross-encoder, as many as a time budget holds."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, perf_counter

from lorepack.errors import LorepackError
from lorepack.models.cross import LANGUAGES, load_cross_encoder
from lorepack.text.language import question_language
from lorepack_server.limits import RERANK_BUDGET_MS
from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.lexical import Hit
from lorepack_server.retrieve.query import Query
from lorepack_server.retrieve.rank import rrf_scores

CANDIDATES = 50
OPEN_SECONDS = 60.0
"""How long a model that failed is left alone."""

Score = Callable[[str, str], float]

_TEXTS = """
SELECT chunks.id, pages.title, chunks.headings, chunks.text, pages.lang
FROM chunks JOIN pages ON pages.id = chunks.page_id
WHERE chunks.id IN (SELECT value FROM json_each(?))
"""


@dataclass(frozen=True)
class Reranked:
    """The new order, the scores of the chunks that were read, and what went wrong, if anything."""

    order: Sequence[int]
    scores: dict[int, float] = field(default_factory=dict)
    degraded: str = ""


class Reranker:
    """A cross-encoder with a budget and a circuit breaker; loaded when first needed.

    Args:
        budget_ms: for reading candidates; what does not fit keeps its place after those read.
        load: gives the model; raises `LorepackError` when there is none.
        clock: seconds, for the breaker.
    """

    def __init__(
        self,
        budget_ms: int = RERANK_BUDGET_MS,
        load: Callable[[], Score] = lambda: load_cross_encoder(os.cpu_count() or 1).score,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.budget_ms = budget_ms
        self._load = load
        self._clock = clock
        self._score: Score | None = None
        self._loading = threading.Lock()
        self._open_until = 0.0
        self._reason = ""

    def __call__(self, mount: Mount, query: Query, order: Sequence[int]) -> Reranked:
        """Return ``order`` with its best chunks in the model's order.

        Questions in languages that the model does not know are left as they are, and so are the
        places of chunks in such languages.
        """
        if question_language(query.text) not in LANGUAGES or not query.text:
            return Reranked(order)
        if self._clock() < self._open_until:
            return Reranked(order, degraded=self._reason)
        try:
            return self._rerank(mount, query, order)
        except Exception as error:
            # onnxruntime's errors share no base; whatever fails, the order before it stands.
            self._reason = f"reranking failed: {error}"
            self._open_until = self._clock() + OPEN_SECONDS
            return Reranked(order, degraded=self._reason)

    def warm(self) -> None:
        """Load the model now. Raises `LorepackError` when there is none."""
        with self._loading:
            if self._score is None:
                self._score = self._load()

    def _rerank(self, mount: Mount, query: Query, order: Sequence[int]) -> Reranked:
        self.warm()
        if self._score is None:
            raise LorepackError("the reranker is not loaded")
        best = list(order[:CANDIDATES])
        rows = mount.connection().execute(_TEXTS, (json.dumps(best),))
        passages = {
            row["id"]: "\n".join((row["title"], *json.loads(row["headings"]), row["text"]))
            for row in rows
            if row["lang"] in LANGUAGES
        }
        deadline = perf_counter() + self.budget_ms / 1000
        scores: dict[int, float] = {}
        for chunk in best:
            if chunk in passages:
                if perf_counter() >= deadline:
                    break
                scores[chunk] = self._score(query.text, passages[chunk])
        by_score = iter(_fused(best, scores))
        return Reranked([next(by_score) if c in scores else c for c in order], scores)


def _fused(best: Sequence[int], scores: Mapping[int, float]) -> list[int]:
    """Return the chunks with scores by both orders, fused by rank, which beats either."""
    read = [Hit(chunk, scores[chunk]) for chunk in best if chunk in scores]
    both = rrf_scores(read, sorted(read, key=lambda hit: -hit.score))
    # Of equal ones, the better in the order before comes first.
    return sorted(both, key=lambda chunk: -both[chunk])
