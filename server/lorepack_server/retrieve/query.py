"""A question as asked → terms, phrases and filters."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lorepack.text.tokenize import is_plain_word, segment_query

MAX_QUERY = 2000
"""Characters of a question that are read."""

FILTERS = ("source", "path", "tag", "category", "lifecycle", "lang", "tool")
"""What pages can be filtered by."""
_PHRASE = re.compile(r'"([^"]+)"')
_FILTER = re.compile(rf"(?<!\S)({'|'.join(FILTERS)}):(\"[^\"]+\"|\S+)")


@dataclass(frozen=True)
class Query:
    """A parsed question. ``words`` are token lists, an identifier's whole form first."""

    text: str
    words: tuple[tuple[str, ...], ...]
    phrases: tuple[tuple[str, ...], ...] = ()
    filters: Mapping[str, str] = field(default_factory=dict)

    @property
    def identifier(self) -> str | None:
        """The whole token, when the question is one identifier and nothing else."""
        if len(self.words) != 1 or is_plain_word(self.words[0]):
            return None
        return self.words[0][0] if self.words[0][0].isascii() else None


def parse_query(text: str, filters: Mapping[str, str] | None = None) -> Query:
    """Parse ``text``; filters given apart win over those written in it. Never raises."""
    text = text[:MAX_QUERY]
    written = {name: value.strip('"') for name, value in _FILTER.findall(text)}
    asked = " ".join(_FILTER.sub(" ", text).split())
    phrases = tuple(
        tuple(token for run in runs for token in (run[:1] if is_plain_word(run) else run))
        for match in _PHRASE.findall(asked)
        if (runs := segment_query(match))
    )
    words = tuple(tuple(run) for run in segment_query(asked))
    return Query(asked.replace('"', " ").strip(), words, phrases, {**written, **(filters or {})})
