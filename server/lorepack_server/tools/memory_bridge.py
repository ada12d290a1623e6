"""``memory_bridge``: what AI tools wrote, by tool and date, and what two say of one topic."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import Field

from lorepack_server.retrieve.citations import short_citation
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    error,
    fenced,
    pack_identity,
    paginated,
)
from lorepack_server.tools.arguments import Paged
from lorepack_server.tools.budget import budget_of, fill

if TYPE_CHECKING:
    from lorepack_server.retrieve.search import Result

_PAGES = """
SELECT path, title, summary, tool, created, updated,
    substr(max(created, updated), 1, 10) AS day FROM pages WHERE tool <> '' ORDER BY day DESC, path
"""
_NAMED = """
SELECT DISTINCT target.label FROM edges
JOIN nodes AS page ON page.id = edges.src JOIN nodes AS target ON target.id = edges.dst
WHERE page.kind = 'page' AND page.name = ? AND target.kind IN ('page', 'missing', 'tag')
UNION SELECT pages.title FROM suggestions JOIN pages ON pages.path = suggestions.target
WHERE suggestions.kind = 'mention'
  AND suggestions.page_id = (SELECT id FROM pages WHERE path = ?)
"""
_COMPARED = 4
"""Passages of each tool in a comparison."""


_RANKED = 50
"""Passages by which pages are ordered for a question."""


class MemoryArguments(Paged):
    """What ``memory_bridge`` takes."""

    renamed: ClassVar = {
        "tool_name": "tool", "date_range": "dates", "range": "dates", "question": "query",
        "topic": "query", "compare": "compare_with",
    }  # fmt: skip
    tool: Annotated[str, Field(max_length=100, description="pages that it wrote")] = ""
    dates: Annotated[
        str, Field(max_length=40, description="2026-01-01..2026-01-31, open at either end")
    ] = ""
    query: Annotated[str, Field(description="nearest to it first")] = ""
    compare_with: Annotated[
        str, Field(max_length=100, description="another tool; needs tool and query")
    ] = ""


def run(context: Context, arguments: MemoryArguments) -> ToolAnswer:
    """List the pages that AI tools wrote, in a range of dates; nearest to ``query`` first."""
    try:
        begin, end = read_dates(arguments.dates)
    except ValueError as wrong:
        return error("invalid_range", f"dates: {wrong}", {"form": "2026-01-01..2026-01-31"})
    if arguments.compare_with and not (arguments.tool and arguments.query):
        return error("invalid_arguments", "compareWith needs tool and query")
    written = [dict(row) for row in context.mount.connection().execute(_PAGES)]
    tools = sorted({tool for row in written for tool in tools_of(row)})
    within = [row for row in written if begin <= row["day"] <= end]
    if arguments.compare_with:
        return _compare(context, arguments, within, tools)
    pages = [
        {**row, "updated_at": row["updated"] or row["created"]}
        for row in within
        if not arguments.tool or _wrote(row, arguments.tool)
    ]
    if arguments.query:
        scores = _relevance(context, arguments.query, [row["path"] for row in pages])
        pages = [{**row, "relevance_score": scores.get(row["path"], 0.0)} for row in pages]
        pages.sort(key=lambda row: -row["relevance_score"])
    asked = {"tool_name": arguments.tool, "date_range": arguments.dates, "query": arguments.query}
    nothing = f"no page{_asked(asked)}; the tools are {', '.join(tools) or 'none'}"
    head = f"{len(pages)} pages{_asked(asked)}" if pages else ""
    return paginated(
        context, arguments, "pages", pages, page_line, nothing, head=head, tools=tools, **asked
    )


def tools_of(page: Mapping[str, Any]) -> list[str]:
    """Return the tools that wrote a page, of which there may be several."""
    return [tool for tool in (part.strip() for part in page["tool"].split(",")) if tool]


def _wrote(page: Mapping[str, Any], tool: str) -> bool:
    return tool.lower() in (name.lower() for name in tools_of(page))


def _asked(asked: Mapping[str, str]) -> str:
    """Return what was asked for, in words."""
    names = {"tool_name": "by", "date_range": "of", "query": "about"}
    said = [f"{word} {asked[name]!r}" for name, word in names.items() if asked[name]]
    return f" {' '.join(said)}" if said else ""


def _relevance(context: Context, query: str, paths: Sequence[str]) -> dict[str, float]:
    """Return how near each page is to a question, from 1 for the nearest; by rank, no measure."""
    from lorepack_server.retrieve.search import find_chunks

    ranked = dict.fromkeys(
        result.path for result in find_chunks(context.mount, query, limit=_RANKED).results
    )
    order = [path for path in ranked if path in set(paths)]
    return {path: round(1 / rank, 3) for rank, path in enumerate(order, 1)}


def _compare(
    context: Context, arguments: MemoryArguments, within: Sequence[Mapping[str, Any]],
    tools: Sequence[str],
) -> ToolAnswer:  # fmt: skip
    """Set side by side what two tools wrote of a topic: passages, and what only one names."""
    from lorepack_server.retrieve.search import find_chunks

    pack, query = context.mount.connection(), arguments.query
    pair = (arguments.tool, arguments.compare_with)
    found: dict[str, list[Result]] = {}
    named: dict[str, set[str]] = {}
    pages: list[dict[str, Any]] = []
    for tool in pair:
        days = {row["path"]: row["day"] for row in within if _wrote(row, tool)}
        results = find_chunks(
            context.mount, query, limit=_RANKED, filters={"tool": tool}, site_url=context.site_url
        ).results
        found[tool] = [result for result in results if result.path in days][:_COMPARED]
        named[tool] = _named(pack, list(dict.fromkeys(result.path for result in found[tool])))
        pages += [
            {"tool": tool, "path": r.path, "title": r.title, "day": days[r.path],
             "citationUrl": r.citation_url, "lines": list(r.lines)}
            for r in found[tool]
        ]  # fmt: skip
    first, second = pair
    both = sorted(named[first] & named[second])
    only = {tool: sorted(named[tool] - named[other]) for tool, other in (pair, pair[::-1])}
    blocks = [block for tool in pair for block in _blocks(tool, found[tool])]
    head = [
        f"What {first} and {second} wrote about: {query}; {context.cited_below}",
        f"Both name: {', '.join(both) or 'nothing'}",
        *(f"Only {tool} names: {', '.join(names) or 'nothing'}" for tool, names in only.items()),
    ]
    text, shown = fill(
        budget_of(arguments.max_tokens), "\n".join(head), blocks,
        lambda count: f"{len(blocks) - count} more passages: ask with a larger maxTokens."
        if count < len(blocks) else "",
    )  # fmt: skip
    data = {
        **pack_identity(context.mount), "status": "ok" if pages else "no_match",
        "tools": list(tools), "query": query, "pages": pages[:shown], "bothName": both,
        "onlyNames": only, "total": len(pages), "nextCursor": None,
    }  # fmt: skip
    return ToolAnswer(text, data)


def _named(pack: sqlite3.Connection, paths: Sequence[str]) -> set[str]:
    return {row[0] for path in paths for row in pack.execute(_NAMED, (path, path)) if row[0]}


def _blocks(tool: str, results: Sequence[Result]) -> list[str]:
    if not results:
        return [f"\n## {tool}: nothing on this"]
    return [
        f"\n## {tool}: {r.title}\n{short_citation(r.path, r.lines)}\n{fenced(r.text)}"
        for r in results
    ]


_TWO_DATES = re.compile(r"\s*(?:\.\.|:|/|\bto\b|\s-\s|–)\s*")


def read_dates(text: str) -> tuple[str, str]:
    """Read ``FROM..TO`` or ``FROM:TO``, open at either end, or one day.

    Raises:
        ValueError: it is anything else.
    """
    parts = _TWO_DATES.split(text.strip())
    if len(parts) > 2:
        raise ValueError(f"{text!r} is not a range like 2026-01-01..2026-01-31")
    begin, end = (parts[0], parts[-1])
    for day in filter(None, (begin, end)):
        try:
            date.fromisoformat(day)
        except ValueError:
            raise ValueError(f"{day!r} is not a date like 2026-01-31") from None
    if begin and end and begin > end:
        raise ValueError(f"{begin} is after {end}")
    # Pages without a date have the day '', which only a missing range holds.
    earliest = "0001-01-01" if text else ""
    return begin or earliest, end or "9999-12-31"


def page_line(row: Mapping[str, Any]) -> str:
    """Return a page that a tool wrote as one line of text."""
    summary = f": {row['summary']}" if row["summary"] else ""
    return f"{row['day'] or 'undated'} {row['tool']} {row['path']} ({row['title']}){summary}"


SPEC = ToolSpec(
    name="memory_bridge",
    description=(
        "List pages of {pack} that AI tools wrote, by tool and dates, nearest to a query first; "
        "compareWith sets what two tools say about the query side by side."
    ),
    arguments=MemoryArguments,
    run=run,
)
