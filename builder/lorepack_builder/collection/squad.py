"""SQuAD's form, as XQuAD has it: one JSON file a language, ids the same in all of them."""

from __future__ import annotations

import json
from pathlib import Path

from lorepack_builder.collection.model import Collection, Document, Judged


def read_squad(folder: Path) -> Collection:
    """Read ``*.LANG.json``; a paragraph is a document. Raises ValueError, KeyError or OSError."""
    documents: list[Document] = []
    questions: list[Judged] = []
    for file in sorted(folder.glob("*.json")):
        lang = file.name.split(".")[-2]
        for article, entry in enumerate(json.loads(file.read_text(encoding="utf-8"))["data"]):
            for place, paragraph in enumerate(entry["paragraphs"]):
                key = f"{article:02}-{place:02}"
                text = paragraph["context"].lstrip("\ufeff")
                documents.append(Document(key, lang, "", text))
                questions += [
                    Judged(f"{asked['id']}-{lang}", lang, asked["question"], {key: 1})
                    for asked in paragraph["qas"]
                ]
    return Collection(documents, questions)
