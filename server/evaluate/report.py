"""Ask judged questions of a pack, and report by branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from time import perf_counter

from lorepack.server.evaluate.metrics import ndcg_at, recall_at, reciprocal_rank_at
from lorepack.server.evaluate.questions import Question
from lorepack.server.mount import Mount
from lorepack.server.retrieve.query import parse_query
from lorepack.server.retrieve.search import rank_chunks

BRANCHES = ("words", "meaning", "hybrid")
_PLACES = "SELECT chunks.id, pages.path, chunks.anchor FROM chunks JOIN pages ON pages.id = page_id"


@dataclass(frozen=True)
class BranchScore:
    """Means over all questions."""

    ndcg10: float
    recall1: float
    recall5: float
    recall10: float
    mrr10: float


@dataclass(frozen=True)
class Report:
    """Scores by branch, and milliseconds a question (percentiles of the whole answer)."""

    questions: int
    branches: Mapping[str, BranchScore]
    milliseconds: Mapping[str, float]

    def as_dict(self) -> dict[str, object]:
        """Return plain data, for JSON."""
        return asdict(self)


def evaluate(mount: Mount, questions: Sequence[Question]) -> Report:
    """Ask every question. A page counts at the rank of its best chunk."""
    rows = mount.connection().execute(_PLACES).fetchall()
    places = {row[0]: (row[1], f"{row[1]}#{row[2]}") for row in rows}
    ranked: dict[str, list[list[str]]] = {branch: [] for branch in BRANCHES}
    times: list[float] = []
    for question in questions:
        anchored = any("#" in wanted for wanted in question.grades)
        begin = perf_counter()
        ranking = rank_chunks(mount, parse_query(question.text))
        times.append((perf_counter() - begin) * 1000)
        found = {
            "words": [hit.chunk for hit in ranking.words],
            "meaning": [hit.chunk for hit in ranking.meaning],
            "hybrid": list(ranking.hybrid),
        }
        for branch, chunks in found.items():
            names = (places[chunk][anchored] for chunk in chunks)
            ranked[branch].append(list(dict.fromkeys(names)))
    scores = {branch: _score(lists, questions) for branch, lists in ranked.items()}
    return Report(len(questions), scores, _percentiles(times))


def _score(lists: Sequence[Sequence[str]], questions: Sequence[Question]) -> BranchScore:
    pairs = [(ranked, q.grades) for ranked, q in zip(lists, questions, strict=True)]

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
