"""``wiki_query``: pages by full text, tags and filters, all of which must hold."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from lorepack_server.retrieve.citations import short_citation
from lorepack_server.retrieve.filters import allowed_pages
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    fenced,
    more_line,
    next_cursor,
    pack_identity,
)
from lorepack_server.tools.arguments import Arguments, Between, Cursor, MaxTokens
from lorepack_server.tools.budget import budget_of, fill

if TYPE_CHECKING:
    from lorepack_server.retrieve.search import Result

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
_RANKED = 100
"""Passages whose pages answer a question."""


class QueryArguments(Arguments):
    """What ``wiki_query`` takes."""

    renamed: ClassVar = {
        "question": "query", "tag": "tags", "path": "page", "folder": "page", "k": "limit",
    }  # fmt: skip
    query: str = ""
    tags: Annotated[tuple[str, ...], Field(max_length=20)] = ()
    match: Annotated[Literal["all", "any"], Field(description="of the tags; else all")] = "all"
    category: str = ""
    lifecycle: str = ""
    page: Annotated[str, Field(description="a page or a folder")] = ""
    limit: Annotated[int, Between(1, 50), Field(description="1 to 50, else 10")] = 10
    cursor: Cursor = "0"
    max_tokens: MaxTokens = 0

    def filters(self) -> dict[str, str]:
        """Return the filters that are set, by name."""
        values = {"category": self.category, "lifecycle": self.lifecycle, "path": self.page}
        return {name: value for name, value in values.items() if value}


def run(context: Context, arguments: QueryArguments) -> ToolAnswer:
    """Answer with pages: a passage of each, its tags, and where it links."""
    from lorepack_server.retrieve.search import filter_hint

    pack = context.mount.connection()
    filters, tags, match = arguments.filters(), arguments.tags, arguments.match
    pages = allowed_pages(pack, filters, tags, match)
    if pages is not None and not pages:
        hint = filter_hint(pack, filters, tags, match)
        nothing = {**pack_identity(context.mount), "status": "no_match", "hint": hint, "pages": []}
        return ToolAnswer(f"no_match: {hint}", nothing)
    status, hint, degraded = "ok", "", ""
    passages: dict[str, Result] = {}
    if arguments.query:
        status, hint, degraded, passages = _search(context, arguments)
        paths = list(passages)
    else:
        ids = None if pages is None else json.dumps(pages)
        paths = [row["path"] for row in pack.execute(_NEWEST, {"ids": ids})]
    begin = int(arguments.cursor)
    screen = paths[begin : begin + arguments.limit]
    found = [_entry(context, path, passages.get(path)) for path in screen]
    blocks = [_block(entry, passages.get(entry["path"])) for entry in found]
    head = _head(context, status, hint, len(paths)) + (
        f"\nDegraded: {degraded}" if degraded else ""
    )
    text, shown = fill(
        budget_of(arguments.max_tokens), head, blocks,
        lambda count: more_line(
            len(paths) - begin - count, "pages", next_cursor(begin, count, len(paths))
        ),
    )  # fmt: skip
    data = {**pack_identity(context.mount), "status": status, "hint": hint,
            "degraded": bool(degraded), "total": len(paths), "pages": found[:shown],
            "nextCursor": next_cursor(begin, shown, len(paths))}  # fmt: skip
    return ToolAnswer(text, data)


def _search(context: Context, arguments: QueryArguments) -> tuple[str, str, str, dict[str, Result]]:
    """Return status, hint, what failed, and the best passage of each page, best first."""
    from lorepack_server.retrieve.search import find_chunks

    answer = find_chunks(
        context.mount, arguments.query, limit=_RANKED, filters=arguments.filters(),
        tags=arguments.tags, match=arguments.match, site_url=context.site_url,
        reranker=context.reranker,
    )  # fmt: skip
    passages: dict[str, Result] = {}
    for result in answer.results:
        passages.setdefault(result.path, result)
    return answer.status, answer.hint, answer.degraded, passages


def _head(context: Context, status: str, hint: str, pages: int) -> str:
    if status == "ok":
        return f"{pages} pages of {context.label}; {context.cited_below}"
    nearest = "\nThe nearest pages, which probably do not answer:" if pages else ""
    return f"{status}: {hint} ({context.label}).{nearest}"


def _entry(context: Context, path: str, passage: Result | None) -> dict[str, Any]:
    pack = context.mount.connection()
    row = pack.execute(_PAGE, (path,)).fetchone()
    entry = dict(row)
    del entry["url"]
    entry["page"] = path
    entry["tags"] = json.loads(entry["tags"])
    entry["links"] = [row[0] for row in pack.execute(_LINKS, (path,))]
    entry["citationUrl"] = passage.citation_url if passage else context.cite(row)
    return entry | ({"lines": list(passage.lines)} if passage else {})


def _block(entry: Mapping[str, Any], passage: Result | None) -> str:
    tags = " ".join(f"#{tag}" for tag in entry["tags"])
    links = ", ".join(f"[[{path}]]" for path in entry["links"])
    body = fenced(passage.text) if passage else entry["summary"]
    cited = short_citation(passage.path, passage.lines) if passage else entry["path"]
    lines = [f"\n## {entry['title']}",
             f"{cited} {tags}".rstrip(),
             f"links: {links}" if links else "", body]  # fmt: skip
    return "\n".join(line for line in lines if line)


SPEC = ToolSpec(
    name="wiki_query",
    description=(
        "Find pages of {pack} by question, tags, category, lifecycle and path together; without a "
        "question, the newest pages that fit."
    ),
    arguments=QueryArguments,
    run=run,
)
