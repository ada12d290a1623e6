"""Judged questions: a recipe's ``[[eval]]``, or a folder in the form of BEIR."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lorepack.errors import LorepackError


@dataclass(frozen=True)
class Question:
    """A question and its right answers: grades by page path, or by ``path#anchor``."""

    text: str
    grades: Mapping[str, int]
    lang: str = ""


def read_questions(path: Path) -> list[Question]:
    """Read the questions of a recipe, or of a BEIR folder (``queries.jsonl``, ``qrels/*.tsv``).

    The documents of a BEIR folder are pages whose path is the document's id.

    Raises:
        LorepackError: there is none, or a line cannot be read.
    """
    found = list(_from_folder(path) if path.is_dir() else _from_recipe(path))
    if not found:
        raise LorepackError(
            f"{path} has no questions", "add [[eval]] entries with query and expect"
        )
    return found


def _from_recipe(path: Path) -> Iterator[Question]:
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8")).get("eval", [])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise LorepackError(f"{path} cannot be read ({error})", "give a recipe") from error
    for entry in entries:
        expect = entry.get("expect", [])
        wanted = [expect] if isinstance(expect, str) else expect
        if not entry.get("query") or not wanted:
            raise LorepackError(f"{path}: an [[eval]] lacks query or expect", "give both")
        yield Question(entry["query"], dict.fromkeys(wanted, 1))


def _from_folder(folder: Path) -> Iterator[Question]:
    grades: dict[str, dict[str, int]] = {}
    for number, line in _lines(sorted(folder.glob("qrels/*.tsv")), folder):
        query, page, grade = [*line.split("\t"), "", ""][:3]
        if number == 1 and not grade.strip().isdigit():
            continue
        if not grade.strip().isdigit():
            raise LorepackError(f"{folder}/qrels, line {number} is not query, page, grade",
                                "separate three columns by tabs")  # fmt: skip
        grades.setdefault(query, {})[page] = int(grade)
    for number, line in _lines([folder / "queries.jsonl"], folder):
        try:
            entry = json.loads(line)
            key, text = str(entry["_id"]), str(entry["text"])
        except (ValueError, KeyError, TypeError) as error:
            raise LorepackError(f"{folder}/queries.jsonl, line {number} cannot be read",
                                "write an object with _id and text") from error  # fmt: skip
        if key in grades:
            yield Question(text, grades[key], str(entry.get("lang", "")))


def _lines(paths: list[Path], folder: Path) -> Iterator[tuple[int, str]]:
    try:
        for path in paths:
            for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if line.strip():
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        raise LorepackError(f"{folder} cannot be read ({error})", "give a BEIR folder") from error
