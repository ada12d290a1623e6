"""Ask judged questions of a pack, and report by branch and by language pair."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter

from lorepack_server.evaluate.metrics import ndcg_at, recall_at, reciprocal_rank_at
from lorepack_server.evaluate.questions import Question
from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.query import parse_query
from lorepack_server.retrieve.rank import rank_chunks
from lorepack_server.retrieve.rerank import Reranker

_PLACES = """
SELECT chunks.id, pages.path, chunks.anchor, pages.lang
FROM chunks JOIN pages ON pages.id = chunks.page_id
"""


@dataclass(frozen=True)
class BranchScore:
    """Means over the questions."""

    ndcg10: float
    recall1: float
    recall5: float
    recall10: float
    mrr10: float


@dataclass(frozen=True)
class Report:
    """Scores by branch, of all questions and by language pair ("tr → en").

    ``milliseconds`` are percentiles of the time that ranking took, without reranking and with.
    """

    questions: int
    branches: Mapping[str, BranchScore]
    pairs: Mapping[str, Mapping[str, BranchScore]]
    milliseconds: Mapping[str, Mapping[str, float]]
    degraded: str = ""

    def as_dict(self) -> dict[str, object]:
        """Return plain data, for JSON."""
        return asdict(self)


@dataclass(frozen=True)
class _Asked:
    """One question's lists by branch: pages or anchors, best first, with milliseconds."""

    question: Question
    pair: str
    ranked: Mapping[str, Sequence[str]]
    milliseconds: Mapping[str, float]
    degraded: str


def evaluate(
    mount: Mount,
    questions: Sequence[Question],
    *,
    reranker: Reranker | None = None,
    on_done: Callable[[int], None] = lambda count: None,
) -> Report:
    """Ask every question. A page counts at the rank of its best chunk.

    Args:
        reranker: when given, its order is a branch of its own.
        on_done: called with the number of questions asked so far.
    """
    rows = mount.connection().execute(_PLACES).fetchall()
    places = {row[0]: (row[1], f"{row[1]}#{row[2]}") for row in rows}
    langs = {name: row[3] for row in rows for name in places[row[0]]}
    asked = []
    for number, question in enumerate(questions, 1):
        asked.append(_ask(mount, question, places, langs, reranker))
        on_done(number)
    pairs = sorted({item.pair for item in asked if item.pair})
    by_pair = {pair: _scores([item for item in asked if item.pair == pair]) for pair in pairs}
    times = {
        branch: _percentiles([item.milliseconds[branch] for item in asked])
        for branch in (asked[0].milliseconds if asked else ())
    }
    degraded = next((item.degraded for item in asked if item.degraded), "")
    return Report(len(questions), _scores(asked), by_pair, times, degraded)


def _ask(
    mount: Mount, question: Question, places: Mapping[int, tuple[str, str]],
    langs: Mapping[str, str], reranker: Reranker | None,
) -> _Asked:  # fmt: skip
    anchored = any("#" in wanted for wanted in question.grades)
    begin = perf_counter()
    query = parse_query(question.text)
    ranking = rank_chunks(mount, query)
    milliseconds = {"hybrid": (perf_counter() - begin) * 1000}
    found: dict[str, Sequence[int]] = {
        "words": [hit.chunk for hit in ranking.words],
        "meaning": [hit.chunk for hit in ranking.meaning],
        "hybrid": ranking.hybrid,
    }
    degraded = ranking.degraded
    if reranker is not None:
        reranked = reranker(mount, query, ranking.hybrid)
        found["reranked"] = reranked.order
        milliseconds["reranked"] = (perf_counter() - begin) * 1000
        degraded = degraded or reranked.degraded
    ranked = {
        branch: list(dict.fromkeys(places[chunk][anchored] for chunk in chunks))
        for branch, chunks in found.items()
    }
    answers = {langs[name] for name, grade in question.grades.items() if grade and name in langs}
    pair = f"{question.lang} → {'+'.join(sorted(answers))}" if question.lang and answers else ""
    return _Asked(question, pair, ranked, milliseconds, degraded)


def _scores(asked: Sequence[_Asked]) -> dict[str, BranchScore]:
    branches = asked[0].ranked if asked else ()
    return {branch: _score(branch, asked) for branch in branches}


def _score(branch: str, asked: Sequence[_Asked]) -> BranchScore:
    pairs = [(item.ranked[branch], item.question.grades) for item in asked]

    def mean(values: Sequence[float]) -> float:
        return round(sum(values) / max(1, len(values)), 4)

    return BranchScore(
        ndcg10=mean([ndcg_at(ranked, grades, 10) for ranked, grades in pairs]),
        recall1=mean([recall_at(ranked, grades, 1) for ranked, grades in pairs]),
        recall5=mean([recall_at(ranked, grades, 5) for ranked, grades in pairs]),
        recall10=mean([recall_at(ranked, grades, 10) for ranked, grades in pairs]),
        mrr10=mean([reciprocal_rank_at(ranked, grades, 10) for ranked, grades in pairs]),
    )


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)
    last = len(ordered) - 1
    return {f"p{p}": round(ordered[min(last, len(ordered) * p // 100)], 2) for p in (50, 95, 99)}
