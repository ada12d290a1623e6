"""What a retrieval collection is made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """A text that may answer; the same id in several languages is one document."""

    id: str
    lang: str
    title: str
    text: str


@dataclass(frozen=True)
class Judged:
    """A question and the documents that answer it, with grades (0 is no answer)."""

    id: str
    lang: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True)
class Collection:
    """Documents and judged questions."""

    documents: Sequence[Document]
    questions: Sequence[Judged]
