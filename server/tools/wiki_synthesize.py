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
    CURSOR,
    Context,
    ToolAnswer,
    ToolSpec,
    budget,
    fenced,
    fitting,
    listed,
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
_GROUPS = "SELECT id, concepts, targets, pages, lift, message FROM concepts ORDER BY id"
_SHOWING = """
SELECT concept_id, chunk_id FROM concept_passages
WHERE concept_id IN (SELECT value FROM json_each(?)) ORDER BY concept_id, ordinal
"""
_MOST = 200
_GROUPS_LISTED = 10


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Gather passages that hold at least ``threshold`` of the concepts; nothing is invented.

    Without concepts, list those that the build found together without a page that joins them.
    """
    if "concepts" not in arguments:
        return _found(context, arguments)
    pack = context.mount.connection()
    concepts = list(dict.fromkeys(arguments["concepts"]))
    threshold = min(arguments.get("threshold", 2), len(concepts))
    holders = {concept: _holders(pack, concept) for concept in concepts}
    held = Counter(chunk for chunks in holders.values() for chunk in chunks)
    chosen = [chunk for chunk, count in held.most_common(_MOST) if count >= threshold]
    rows = _rows(pack, chosen)
    blocks, passages = [], []
    for number, chunk in enumerate(chosen, 1):
        row = rows[chunk]
        inside = [concept for concept in concepts if chunk in holders[concept]]
        passage = {"page": row["path"], "concepts": inside, **_place(context, row)}
        passages.append(passage)
        blocks.append(_block(f"{number}. {row['title']} ({', '.join(inside)})", row, passage))
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


def _found(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List the groups of concepts that the build found, each with the passages that show it."""
    pack = context.mount.connection()
    groups = pack.execute(_GROUPS).fetchall()
    ids = json.dumps([group["id"] for group in groups])
    showing: dict[int, list[int]] = {}
    for group, chunk in pack.execute(_SHOWING, (ids,)):
        showing.setdefault(group, []).append(chunk)
    rows = _rows(pack, [chunk for chunks in showing.values() for chunk in chunks])
    entries = [
        {
            "concepts": json.loads(group["concepts"]), "targets": json.loads(group["targets"]),
            "pages": group["pages"], "lift": group["lift"], "message": group["message"],
            "passages": [
                {"page": rows[chunk]["path"], **_place(context, rows[chunk])}
                for chunk in showing.get(group["id"], ())
            ],
        }
        for group in groups
    ]  # fmt: skip
    nothing = "no concepts stand together oftener than by chance without a page that joins them"
    return listed(
        context, arguments, "groups", entries, group_text, nothing, limit=_GROUPS_LISTED,
        passages=[],
    )  # fmt: skip


def group_text(group: Mapping[str, Any]) -> str:
    """Return a group of concepts as text: what it is, and where the passages stand."""
    places = [
        f"  {p['page']}:{p['lines'][0]}-{p['lines'][1]} <{p['citationUrl']}>"
        for p in group["passages"]
    ]
    return "\n".join([group["message"], *places])


def _rows(pack: sqlite3.Connection, chunks: Sequence[int]) -> dict[int, sqlite3.Row]:
    return {row["id"]: row for row in pack.execute(_PASSAGES, (json.dumps(list(chunks)),))}


def _place(context: Context, row: sqlite3.Row) -> dict[str, Any]:
    return {
        "citationUrl": context.cite(row, row["anchor"]),
        "lines": [row["first_line"], row["last_line"]],
    }


def _block(title: str, row: sqlite3.Row, passage: Mapping[str, Any]) -> str:
    first, last = passage["lines"]
    place = f"{row['path']}:{first}-{last} <{passage['citationUrl']}>"
    return f"\n## {title}\n{place}\n{fenced(row['text'])}"


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
        "beyond chance, and whether a page is about them already; without concepts, list groups "
        "that stand together in many pages and that no page joins. Use it to write such a page."
    ),
    input_schema=object_schema(
        {
            "concepts": {"type": "array", "minItems": 2, "maxItems": 8,
                         "items": {"type": "string", "minLength": 1, "maxLength": 100}},
            "threshold": {"type": "integer", "minimum": 1, "maximum": 8, "default": 2,
                          "description": "concepts that a passage must hold"},
            "cursor": CURSOR,
            "maxTokens": budget(4000),
        }
    ),
    output_schema=output_schema(
        {
            "passages": {"type": "array", "items": {"type": "object"}},
            "groups": {"type": "array", "items": {"type": "object"}},
        }
    ),
    run=run,
)  # fmt: skip
