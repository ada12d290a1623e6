"""BEIR's form: ``corpus.jsonl``, ``queries.jsonl``, ``qrels/*.tsv`` (Thakur et al. 2021)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lorepack_builder.collection.model import Collection, Document, Judged

_UNSAFE = re.compile(r"[^\w.-]+")


def read_beir(folder: Path) -> Collection:
    """Read ``folder``; what says no language is English. Raises ValueError, KeyError or OSError."""
    grades: dict[str, dict[str, int]] = {}
    for file in sorted((folder / "qrels").glob("*.tsv")):
        for line in file.read_text(encoding="utf-8").splitlines():
            query, document, grade = [*line.split("\t"), "", ""][:3]
            if grade.strip().isdigit():
                grades.setdefault(query, {})[_file_name(document)] = int(grade)
    documents = [
        Document(_file_name(row["_id"]), row.get("lang", "en"), row.get("title", ""), row["text"])
        for row in _rows(folder / "corpus.jsonl")
    ]
    questions = [
        Judged(str(row["_id"]), row.get("lang", "en"), row["text"], grades[str(row["_id"])])
        for row in _rows(folder / "queries.jsonl")
        if str(row["_id"]) in grades
    ]
    return Collection(documents, questions)


def _file_name(key: object) -> str:
    return _UNSAFE.sub("-", str(key)).strip(".") or "-"


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)
