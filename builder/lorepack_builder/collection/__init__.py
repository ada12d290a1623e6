"""Retrieval collections (documents, questions, judgements) → a folder that builds and is asked.

The folder holds ``pages/``, ``recipe.toml``, ``queries.jsonl`` and ``qrels/test.tsv``, the last two
in the form of BEIR (Thakur et al. 2021) with a page's path for a document's id.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lorepack.errors import LorepackError
from lorepack_builder.collection.beir import read_beir
from lorepack_builder.collection.cranfield import read_cranfield
from lorepack_builder.collection.model import Collection, Document, Judged
from lorepack_builder.collection.squad import read_squad

SOURCE_NAME = "pages"


@dataclass(frozen=True)
class Written:
    """What was written where."""

    recipe: Path
    documents: int
    questions: int


def read_collection(folder: Path) -> Collection:
    """Read a folder of BEIR, SQuAD (XQuAD: one file a language) or Cranfield.

    Raises:
        LorepackError: it is none of them, or a file of it cannot be read.
    """
    try:
        if (folder / "corpus.jsonl").is_file():
            return read_beir(folder)
        if (folder / "cran.all.1400").is_file():
            return read_cranfield(folder)
        if any(folder.glob("*.json")):
            return read_squad(folder)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise LorepackError(f"{folder} cannot be read ({error})", "check its files") from error
    raise LorepackError(
        f"{folder} is no collection", "give a folder of BEIR, SQuAD or Cranfield files"
    )


def draw_documents(
    documents: Sequence[Document], languages: Sequence[str], *, mixed: bool, seed: int = 0
) -> list[Document]:
    """Keep documents in ``languages`` (all if none are named).

    Args:
        mixed: keep each document in one of its languages only, drawn at random.
    """
    kept = [document for document in documents if not languages or document.lang in languages]
    if not mixed:
        return kept
    chance = random.Random(seed)  # noqa: S311
    versions: dict[str, list[Document]] = {}
    for document in kept:
        versions.setdefault(document.id, []).append(document)
    return [chance.choice(versions[key]) for key in sorted(versions)]


def write_collection(
    documents: Iterable[Document], questions: Iterable[Judged], folder: Path
) -> Written:
    """Write a collection as pages, recipe, questions and judgements.

    A document that stands in several languages has a page in each, and each answers.

    Raises:
        LorepackError: the folder cannot be written.
    """
    try:
        paths = _write_pages(documents, folder)
        asked = _write_questions(questions, paths, folder)
        recipe = folder / "recipe.toml"
        recipe.write_text(_recipe(paths), encoding="utf-8")
    except OSError as error:
        raise LorepackError(f"{folder} cannot be written ({error})", "choose another") from error
    return Written(recipe, sum(map(len, paths.values())), asked)


def _write_pages(documents: Iterable[Document], folder: Path) -> dict[str, dict[str, str]]:
    """Return, by document id, the path of its page in each language."""
    paths: dict[str, dict[str, str]] = {}
    for document in documents:
        name = f"{document.lang}/{document.id}.md"
        file = folder / "pages" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        head = {"lang": document.lang} | ({"title": document.title} if document.title else {})
        lines = "".join(f"{key}: {json.dumps(value)}\n" for key, value in head.items())
        file.write_text(f"---\n{lines}---\n{document.text}\n", encoding="utf-8")
        paths.setdefault(document.id, {})[document.lang] = f"{SOURCE_NAME}/{name}"
    return paths


def _write_questions(
    questions: Iterable[Judged], paths: Mapping[str, Mapping[str, str]], folder: Path
) -> int:
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    count = 0
    with (
        (folder / "queries.jsonl").open("w", encoding="utf-8") as asked,
        (folder / "qrels" / "test.tsv").open("w", encoding="utf-8") as judged,
    ):
        judged.write("query-id\tcorpus-id\tscore\n")
        for question in questions:
            grades = {
                path: grade
                for document, grade in question.grades.items()
                for path in paths.get(document, {}).values()
            }
            if not grades:
                continue
            count += 1
            entry = {"_id": question.id, "text": question.text, "lang": question.lang}
            asked.write(json.dumps(entry, ensure_ascii=False) + "\n")
            for path, grade in grades.items():
                judged.write(f"{question.id}\t{path}\t{grade}\n")
    return count


def _recipe(paths: Mapping[str, Mapping[str, str]]) -> str:
    langs = sorted({lang for versions in paths.values() for lang in versions})
    return (
        f'[pack]\nname = "collection"\nversion = "1"\ntitle = "Collection ({", ".join(langs)})"\n\n'
        f'[[source]]\nname = "{SOURCE_NAME}"\nkind = "folder"\npath = "pages"\n'
    )
