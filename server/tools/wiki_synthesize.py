"""``wiki_synthesize``: what the pages say about several concepts together, in their own words."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

from lorepack.packfile.segment import fold
from lorepack.server.retrieve.query import parse_query
from lorepack.server.retrieve.rank import pages_of_chunks
from lorepack.server.retrieve.words import chunks_with_phrases
from lorepack.server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    budget,
    fenced,
    fitting,
    object_schema,
    output_schema,
    stamp,
)

_PASSAGES = """
SELECT chunks.id, chunks.text, chunks.anchor, chunks.first_line, chunks.last_line, pages.path,
    pages.title, pages.url FROM chunks JOIN pages ON pages.id = chunks.page_id
WHERE chunks.id IN (SELECT value FROM json_each(?))
"""
_TITLES = "SELECT path, title FROM pages"
_MOST = 200


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Gather passages that hold at least ``threshold`` of the concepts; nothing is invented."""
    pack = context.mount.connection()
    concepts = list(dict.fromkeys(arguments["concepts"]))
    threshold = min(arguments.get("threshold", 2), len(concepts))
    holders = {concept: _holders(pack, concept) for concept in concepts}
    held = Counter(chunk for chunks in holders.values() for chunk in chunks)
    chosen = [chunk for chunk, count in held.most_common(_MOST) if count >= threshold]
    rows = {row["id"]: row for row in pack.execute(_PASSAGES, (json.dumps(chosen),))}
    blocks, passages = [], []
    for number, chunk in enumerate(chosen, 1):
        row = rows[chunk]
        url = context.cite(row, row["anchor"])
        inside = [concept for concept in concepts if chunk in holders[concept]]
        place = f"{row['path']}:{row['first_line']}-{row['last_line']} <{url}>"
        blocks.append(f"\n## {number}. {row['title']} ({', '.join(inside)})\n{place}\n"
                      f"{fenced(row['text'])}")  # fmt: skip
        passages.append({"page": row["path"], "concepts": inside, "citationUrl": url,
                         "lines": [row["first_line"], row["last_line"]]})  # fmt: skip
    shown = fitting(blocks, arguments.get("maxTokens", 4000))
    joining = _joining(pack, concepts, threshold)
    data = {
        **stamp(context.mount), "status": "ok" if blocks else "no_match",
        "together": _together(pack, holders, context.mount.counts["pages"]),
        "joinedBy": joining, "total": len(passages), "passages": passages[:shown],
    }  # fmt: skip
    head = f"{len(passages)} passages hold {threshold} or more of: {', '.join(concepts)}"
    joined = f"Joined by: {', '.join(joining)}" if joining else "No page's title joins them."
    return ToolAnswer("\n".join([head, joined, *blocks[:shown]]), data)


def _holders(pack: sqlite3.Connection, concept: str) -> set[int]:
    """Return the chunks in whose text the concept stands, as a phrase."""
    phrases = parse_query('"' + concept.replace('"', " ") + '"').phrases
    found = chunks_with_phrases(pack, phrases)
    return set() if found is None else set(found.tolist())


def _together(
    pack: sqlite3.Connection, holders: Mapping[str, set[int]], pages: int
) -> list[dict[str, Any]]:
    """Return, for each pair, the pages with both, and how much oftener that is than by chance."""
    owners = {
        concept: set(pages_of_chunks(pack, sorted(chunks)).values())
        for concept, chunks in holders.items()
    }
    pairs = []
    for one, other in combinations(owners, 2):
        both = len(owners[one] & owners[other])
        chance = len(owners[one]) * len(owners[other]) / max(pages, 1)
        lift = round(both / chance, 2) if chance else None
        pairs.append({"concepts": [one, other], "pages": both, "lift": lift})
    return pairs


def _joining(pack: sqlite3.Connection, concepts: Sequence[str], threshold: int) -> list[str]:
    folded = [fold(concept).strip() for concept in concepts]
    titles = ((row["path"], fold(row["title"])) for row in pack.execute(_TITLES))
    return [
        path for path, title in titles
        if sum(concept in title for concept in folded) >= max(threshold, 2)
    ][:10]  # fmt: skip


SPEC = ToolSpec(
    name="wiki_synthesize",
    description=(
        "Gather cited passages that hold several concepts together, how often pages join them "
        "beyond chance, and whether a page is about them already. Use it to write such a page."
    ),
    input_schema=object_schema(
        {
            "concepts": {"type": "array", "minItems": 2, "maxItems": 8,
                         "items": {"type": "string", "minLength": 1, "maxLength": 100}},
            "threshold": {"type": "integer", "minimum": 1, "maximum": 8, "default": 2,
                          "description": "concepts that a passage must hold"},
            "maxTokens": budget(4000),
        },
        ("concepts",),
    ),
    output_schema=output_schema({"passages": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)  # fmt: skip
