"""``wiki_synthesize``: what the pages say about several concepts together, in their own words."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lorepack.text.tokenize import fold
from lorepack_server.retrieve.citations import readable_url, short_citation
from lorepack_server.retrieve.query import parse_query
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    fenced,
    more_line,
    next_cursor,
    pack_identity,
    paginated,
)
from lorepack_server.tools.arguments import Arguments, Between, Cursor, MaxTokens, Paged
from lorepack_server.tools.budget import budget_of, fill

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
_MOST_CONCEPTS = 8


class SynthesizeArguments(Arguments):
    """What ``wiki_synthesize`` takes."""

    renamed: ClassVar = {"concept": "concepts", "topics": "concepts", "query": "concepts"}
    concepts: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=100)], ...],
        Field(max_length=_MOST_CONCEPTS),
    ] = ()
    threshold: Annotated[
        float,
        Field(gt=0, le=_MOST_CONCEPTS,
              description="concepts that a passage must hold, else 2; below 1, their share"),
    ] = 2  # fmt: skip
    limit: Annotated[int, Between(1, 50), Field(description="1 to 50 groups, else 10")] = (
        _GROUPS_LISTED
    )
    cursor: Cursor = "0"
    max_tokens: MaxTokens = 0

    @property
    def needed(self) -> int:
        """How many of the concepts a passage must hold, from 1 to all of them."""
        count = len(set(self.concepts))
        needed = self.threshold if self.threshold >= 1 else math.ceil(self.threshold * count)
        return max(1, min(int(needed), count))


def run(context: Context, arguments: SynthesizeArguments) -> ToolAnswer:
    """Gather passages that hold at least ``threshold`` of the concepts; nothing is invented.

    Without concepts, list those that the build found together without a page that joins them.
    """
    if not arguments.concepts:
        return _found(context, arguments)
    pack = context.mount.connection()
    concepts, threshold = list(dict.fromkeys(arguments.concepts)), arguments.needed
    holders = {concept: _holders(pack, concept) for concept in concepts}
    held = Counter(chunk for chunks in holders.values() for chunk in chunks)
    chosen = [chunk for chunk, count in held.most_common(_MOST) if count >= threshold]
    rows = _rows(pack, chosen)
    blocks, passages = [], []
    for chunk in chosen:
        row = rows[chunk]
        inside = [concept for concept in concepts if chunk in holders[concept]]
        passage = {"page": row["path"], "concepts": inside, **_place(context, row)}
        passages.append(passage)
        blocks.append(_block(f"{row['title']} ({', '.join(inside)})", row, passage))
    joining = _joining(pack, concepts, threshold)
    head = f"{len(passages)} passages hold {threshold} or more of: {', '.join(concepts)}"
    if not passages:
        head = f"no_match: no passage holds {threshold} or more of: {', '.join(concepts)}"
    joined = f"Joined by: {', '.join(joining)}" if joining else "No page's title joins them."
    begin = int(arguments.cursor)
    text, shown = fill(
        budget_of(arguments.max_tokens), f"{head}\n{joined} Passages: {context.cited_below}",
        blocks[begin:],
        lambda count: more_line(
            len(blocks) - begin - count, "passages", next_cursor(begin, count, len(blocks))
        ),
    )  # fmt: skip
    data = {
        **pack_identity(context.mount), "status": "ok" if blocks else "no_match",
        "together": _together(pack, holders, context.mount.counts["pages"]),
        "joinedBy": joining, "total": len(passages), "passages": passages[begin : begin + shown],
        "nextCursor": next_cursor(begin, shown, len(passages)),
    }  # fmt: skip
    return ToolAnswer(text, data)


def _found(context: Context, arguments: SynthesizeArguments) -> ToolAnswer:
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
    nothing = "no concepts occur together more often than by chance without a page that joins them"
    paged = Paged(limit=arguments.limit, cursor=arguments.cursor, max_tokens=arguments.max_tokens)
    return paginated(context, paged, "groups", entries, group_text, nothing, passages=[])


def group_text(group: Mapping[str, Any]) -> str:
    """Return a group of concepts as text: what it is, and where the passages stand."""
    places = [
        f"  {readable_url(p['citationUrl'])} L{p['lines'][0]}-{p['lines'][1]}"
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
    cited = short_citation(row["path"], (first, last))
    return f"\n## {title}\n{cited}\n{fenced(row['text'])}"


def _holders(pack: sqlite3.Connection, concept: str) -> set[int]:
    """Return the chunks in whose text the concept stands, as a phrase."""
    from lorepack_server.retrieve.lexical import chunks_with_phrases

    phrases = parse_query('"' + concept.replace('"', " ") + '"').phrases
    found = chunks_with_phrases(pack, phrases)
    return set() if found is None else set(found.tolist())


def _together(
    pack: sqlite3.Connection, holders: Mapping[str, set[int]], pages: int
) -> list[dict[str, Any]]:
    """Return, for each pair, the pages with both, and how much oftener that is than by chance."""
    from lorepack_server.retrieve.rank import pages_of_chunks

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
        "Gather cited passages of {pack} that hold several concepts together, to write a page that "
        "joins them; without concepts, list groups that occur in many pages and no page joins."
    ),
    arguments=SynthesizeArguments,
    run=run,
)
