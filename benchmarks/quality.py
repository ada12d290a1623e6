"""How well packs answer, by branch and language pair; what docs/benchmarks.md reports.

python benchmarks/quality.py xquad      XQuAD, one language a pack: all nine pairs of en, tr, zh
python benchmarks/quality.py mixed      XQuAD, each passage in one language by chance, in one pack
python benchmarks/quality.py help       the help vaults, a third of the pages from each language
python benchmarks/quality.py cranfield  Cranfield, reranked too
python benchmarks/quality.py rerank     XQuAD in English, reranked with two budgets
"""

from __future__ import annotations

import random
import re
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import tiny
import yaml
from synthetic import DATA, LANGUAGES

from lorepack_builder.build import build_pack
from lorepack_builder.collection import draw_documents, read_collection, write_collection
from lorepack_builder.collection.model import Collection, Document, Judged
from lorepack_builder.recipe import read_recipe
from lorepack_server.evaluate.questions import read_questions
from lorepack_server.evaluate.report import Report, evaluate
from lorepack_server.packs.mount import mount_pack
from lorepack_server.retrieve.rerank import Reranker

SEEDS = tiny.of((0, 1, 2), (0,))
_SENTENCE = re.compile(r"^(?![#>|!`\-*\d\[{<])(.{30,300}?[.。！？!?:：])", re.MULTILINE)


def ask(
    documents: Sequence[Document], questions: Sequence[Judged], reranker: Reranker | None = None
) -> Report:
    documents = tiny.of(documents, documents[:20])
    kept = {document.id for document in documents}
    questions = tiny.of(questions, [q for q in questions if kept & set(q.grades)][:20])
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        written = write_collection(documents, questions, folder)
        summary, _ = build_pack(read_recipe(written.recipe), folder / "out")
        return evaluate(mount_pack(Path(summary.pack)), read_questions(folder), reranker=reranker)


def show(title: str, report: Report) -> None:
    print(f"\n{title}: {report.questions} questions {report.degraded}")
    print(f"{'':<12}" + "".join(f"{b:>30}" for b in report.branches) + "    R@5 R@10 nDCG@10")
    for pair, branches in {"all": report.branches, **report.pairs}.items():
        cells = (f"{s.recall5:>14.4f}{s.recall10:>8.4f}{s.ndcg10:>8.4f}" for s in branches.values())
        print(f"{pair:<12}" + "".join(cells))
    print(dict(report.milliseconds), flush=True)


def asked_in(collection: Collection, languages: Sequence[str]) -> list[Judged]:
    return [question for question in collection.questions if question.lang in languages]


def xquad() -> None:
    collection = read_collection(DATA / "retrieval" / "xquad")
    for lang in LANGUAGES:
        documents = draw_documents(collection.documents, [lang], mixed=False)
        show(f"XQuAD, pages in {lang}", ask(documents, asked_in(collection, LANGUAGES)))


def mixed() -> None:
    collection = read_collection(DATA / "retrieval" / "xquad")
    for seed in SEEDS:
        documents = draw_documents(collection.documents, LANGUAGES, mixed=True, seed=seed)
        split_by_language(f"XQuAD mixed, seed {seed}", documents, collection)


def split_by_language(title: str, documents: Sequence[Document], collection: Collection) -> None:
    """Ask for each document in its own language, and in the others."""
    lang_of = {document.id: document.lang for document in documents}
    same = [q for q in asked_in(collection, LANGUAGES)
            if any(lang_of.get(key) == q.lang for key in q.grades)]  # fmt: skip
    others = [q for q in asked_in(collection, LANGUAGES)
              if any(key in lang_of and lang_of[key] != q.lang for key in q.grades)]  # fmt: skip
    show(f"{title}, asked in another language", ask(documents, others))
    show(f"{title}, asked in the page's language", ask(documents, same))


def help_vaults() -> None:
    collection = help_collection()
    for seed in SEEDS:
        documents = draw_documents(collection.documents, LANGUAGES, mixed=True, seed=seed)
        split_by_language(f"Help vaults mixed, seed {seed}", documents, collection)
    for lang in LANGUAGES:
        documents = draw_documents(collection.documents, [lang], mixed=False)
        show(f"Help vault {lang} alone", ask(documents, asked_in(collection, [lang])))


def help_collection() -> Collection:
    """Pages that share a permalink are one document; titles and first sentences are questions."""
    documents: list[Document] = []
    questions: list[Judged] = []
    for lang in LANGUAGES:
        for file in sorted((DATA / "vaults" / f"obsidian-help-{lang}").rglob("*.md")):
            parts = file.read_text(encoding="utf-8").split("---\n", 2)
            head = yaml.safe_load(parts[1]) if len(parts) == 3 and not parts[0] else {}
            key = re.sub(r"[^\w-]+", "-", str((head or {}).get("permalink") or ""))
            if not key:
                continue
            documents.append(Document(key, lang, file.stem, parts[2]))
            questions.append(Judged(f"{key}-{lang}-title", lang, file.stem, {key: 1}))
            if first := _SENTENCE.search(parts[2]):
                asked = first.group(1)
                questions.append(Judged(f"{key}-{lang}-first", lang, asked, {key: 1}))
    return Collection(documents, questions)


def cranfield() -> None:
    collection = read_collection(DATA / "retrieval" / "cranfield")
    show("Cranfield", ask(collection.documents, collection.questions, Reranker()))


def english_reranked() -> None:
    collection = read_collection(DATA / "retrieval" / "xquad")
    documents = draw_documents(collection.documents, ["en"], mixed=False)
    chosen = random.Random(0).sample(asked_in(collection, ["en"]), 200)
    for budget in (300, 1000):
        show(f"XQuAD en, {budget} ms", ask(documents, chosen, Reranker(budget)))


RUNS = {
    "xquad": xquad, "mixed": mixed, "help": help_vaults, "cranfield": cranfield,
    "rerank": english_reranked,
}  # fmt: skip

if __name__ == "__main__":
    for name in sys.argv[1:] or RUNS:
        RUNS[name]()
