"""The Cranfield collection: 1,400 abstracts on aerodynamics, 225 questions (Cleverdon 1967)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from lorepack_builder.collection.model import Collection, Document, Judged

_RECORD = re.compile(r"^\.I +(\d+)$", re.MULTILINE)
_FIELD = re.compile(r"^\.([TABW])$", re.MULTILINE)


def read_cranfield(folder: Path) -> Collection:
    """Read the collection; judgements 1 to 4 are relevant, without grades.

    Questions are judged under their position (1 to 225), not under their own number. A document
    without text is left out. Raises ValueError or OSError.
    """
    documents = []
    for number, fields in _records(folder / "cran.all.1400"):
        title, text = fields.get("T", ""), fields.get("W", "")
        # The abstract repeats the title at its beginning.
        body = text.removeprefix(title).strip()
        if body:
            documents.append(Document(f"{number:04}", "en", _one_line(title), body))
    grades: dict[int, dict[str, int]] = {}
    for line in (folder / "cranqrel").read_text(encoding="utf-8").splitlines():
        if line.strip():
            question, document, code = map(int, line.split()[:3])
            grades.setdefault(question, {})[f"{document:04}"] = int(1 <= code <= 4)
    known = {document.id for document in documents}
    questions = [
        Judged(str(position), "en", _one_line(fields["W"]), wanted)
        for position, (_, fields) in enumerate(_records(folder / "cran.qry"), 1)
        if (wanted := {key: g for key, g in grades.get(position, {}).items() if key in known})
    ]
    return Collection(documents, questions)


def _records(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    parts = _RECORD.split(path.read_text(encoding="latin-1"))
    for number, record in zip(parts[1::2], parts[2::2], strict=True):
        fields = _FIELD.split(record)
        yield (
            int(number),
            {name: value.strip() for name, value in zip(fields[1::2], fields[2::2], strict=True)},
        )


def _one_line(text: str) -> str:
    return " ".join(text.split())
