"""Ask a served pack, with the standard library alone."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from urllib.parse import urlencode
from urllib.request import urlopen


@dataclass(frozen=True)
class Passage:
    """A passage that answers, and where it can be read."""

    title: str
    text: str
    url: str


def find_passages(server: str, pack: str, question: str, limit: int = 5) -> list[Passage]:
    """Return the passages of ``pack`` that answer ``question``, best first."""
    asked = urlencode({"query": question, "limit": limit, "includeText": "true"})
    with urlopen(f"{server}/api/{pack}/search?{asked}", timeout=10) as answer:  # noqa: S310
        results = json.load(answer)["results"]
    return [Passage(found["title"], found["text"], found["citationUrl"]) for found in results]


if __name__ == "__main__":
    for passage in find_passages(*sys.argv[1:4]):
        print(f"{passage.title} <{passage.url}>\n{passage.text}\n")
