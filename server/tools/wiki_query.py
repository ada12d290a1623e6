"""``wiki_query``: pages by full text, tags and filters, all of which must hold."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from lorepack.server.retrieve.filters import allowed_pages
from lorepack.server.retrieve.search import Result, filter_hint, find_chunks
from lorepack.server.tools.answer import (
    CURSOR,
    Context,
    ToolAnswer,
    ToolSpec,
    budget,
    fenced,
    fitting,
    next_cursor,
    object_schema,
    output_schema,
    stamp,
)

_NEWEST = """
SELECT path FROM pages WHERE :ids IS NULL OR id IN (SELECT value FROM json_each(:ids))
ORDER BY updated DESC, path
"""
_PAGE = "SELECT path, title, summary, tags, updated, url FROM pages WHERE path = ?"
_LINKS = """
SELECT DISTINCT target.name FROM edges
JOIN nodes AS page ON page.id = edges.src JOIN nodes AS target ON target.id = edges.dst
WHERE page.kind = 'page' AND page.name = ? AND edges.kind IN ('wikilink', 'link', 'embed')
  AND target.kind = 'page' ORDER BY target.name LIMIT 20
"""
_FILTERS = ("category", "lifecycle", "path")
_RANKED = 100
"""Chunks whose pages answer a question."""


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Answer with pages: a passage of each, its tags, and where it links."""
    pack = context.mount.connection()
    tags: Sequence[str] = arguments.get("tags", ())
    filters = {name: arguments[name] for name in _FILTERS if name in arguments}
    pages = allowed_pages(pack, filters, tags)
    if pages is not None and not pages:
        hint = filter_hint(pack, filters, tags)
        nothing = {**stamp(context.mount), "status": "no_match", "hint": hint, "pages": []}
        return ToolAnswer(f"no_match: {hint}", nothing)
    degraded = ""
    passages: dict[str, Result] = {}
    if query := arguments.get("query"):
        answer = find_chunks(context.mount, query, limit=_RANKED, filters=filters, tags=tags,
                             site_url=context.site_url, reranker=context.reranker)  # fmt: skip
        degraded = answer.degraded
        passages = {result.slug: result for result in reversed(answer.results)}
        paths = list(dict.fromkeys(result.slug for result in answer.results))
    else:
        ids = None if pages is None else json.dumps(pages)
        paths = [row["path"] for row in pack.execute(_NEWEST, {"ids": ids})]
    begin = int(arguments.get("cursor", "0"))
    screen = paths[begin : begin + arguments.get("limit", 10)]
    found = [_entry(context, path, passages.get(path)) for path in screen]
    blocks = [_block(entry, passages.get(entry["path"])) for entry in found]
    shown = fitting(blocks, arguments.get("maxTokens", 3000))
    following = next_cursor(begin, shown, len(paths))
    hint = "" if paths else _nothing(pages, context.mount.counts["pages"])
    data = {**stamp(context.mount), "status": "ok" if paths else "no_match", "hint": hint,
            "degraded": bool(degraded), "total": len(paths), "pages": found[:shown],
            "nextCursor": following}  # fmt: skip
    head = f"{len(paths)} pages" if paths else f"no_match: {hint}"
    head += f"\nDegraded: {degraded}" if degraded else ""
    more = [f"More with cursor {following}"] if following else []
    return ToolAnswer("\n".join([head, *blocks[:shown], *more]), data)


def _nothing(pages: Sequence[int] | None, total: int) -> str:
    passed = total if pages is None else len(pages)
    return f"{passed} of {total} pages pass the filters, and none of them answers the query"


def _entry(context: Context, path: str, passage: Result | None) -> dict[str, Any]:
    pack = context.mount.connection()
    row = pack.execute(_PAGE, (path,)).fetchone()
    entry = dict(row)
    del entry["url"]
    entry["tags"] = json.loads(entry["tags"])
    entry["links"] = [row[0] for row in pack.execute(_LINKS, (path,))]
    entry["citationUrl"] = passage.citation_url if passage else context.cite(row)
    return entry | ({"lines": list(passage.lines)} if passage else {})


def _block(entry: Mapping[str, Any], passage: Result | None) -> str:
    tags = " ".join(f"#{tag}" for tag in entry["tags"])
    links = ", ".join(f"[[{path}]]" for path in entry["links"])
    body = fenced(passage.text) if passage else entry["summary"]
    lines = [f"\n## {entry['title']}", f"{entry['path']} <{entry['citationUrl']}> {tags}".rstrip(),
             f"links: {links}" if links else "", body]  # fmt: skip
    return "\n".join(line for line in lines if line)


SPEC = ToolSpec(
    name="wiki_query",
    description=(
        "Find pages by question, tags (all of them), category, lifecycle and path together; "
        "without a question, the newest pages that fit."
    ),
    input_schema=object_schema(
        {
            "query": {"type": "string", "minLength": 1, "maxLength": 2000},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 20},
            **{name: {"type": "string"} for name in _FILTERS},
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
            "cursor": CURSOR,
            "maxTokens": budget(3000),
        }
    ),
    output_schema=output_schema({"pages": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
