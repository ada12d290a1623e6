"""``memory_bridge``: what AI tools wrote, by tool and date, and what two say of one topic."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from lorepack.server.retrieve.search import Result, find_chunks
from lorepack.server.tools.answer import (
    LIST,
    Context,
    ToolAnswer,
    ToolSpec,
    error,
    fenced,
    fitting,
    listed,
    object_schema,
    output_schema,
    stamp,
)

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


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List the pages that AI tools wrote, in a range of dates; nearest to ``query`` first."""
    try:
        begin, end = _range(arguments.get("date_range", ""))
    except ValueError as wrong:
        return error("invalid_range", str(wrong), {"form": "2026-01-01..2026-01-31"})
    written = [dict(row) for row in context.mount.connection().execute(_PAGES)]
    tools = sorted({row["tool"] for row in written})
    within = [row for row in written if begin <= row["day"] <= end]
    wanted, other = arguments.get("tool_name", ""), arguments.get("compare_with")
    query = arguments.get("query")
    if other is not None:
        if not (wanted and query):
            return error("invalid_arguments", "compare_with needs tool_name and query", {})
        return _compare(context, arguments, (wanted, other), query, within, tools)
    pages = [row for row in within if not wanted or row["tool"].lower() == wanted.lower()]
    if query:
        order = [result.slug for result in find_chunks(context.mount, query, limit=50).results]
        place = {path: rank for rank, path in reversed(list(enumerate(order)))}
        pages.sort(key=lambda row: place.get(row["path"], len(order)))
    nothing = f"no such page; the tools are {', '.join(tools) or 'none'}"
    return listed(context, arguments, "pages", pages, page_line, nothing, tools=tools)


def _compare(
    context: Context, arguments: Mapping[str, Any], pair: tuple[str, str], query: str,
    within: Sequence[Mapping[str, Any]], tools: Sequence[str],
) -> ToolAnswer:  # fmt: skip
    """Set side by side what two tools wrote of a topic: passages, and what only one names."""
    pack = context.mount.connection()
    said, named, pages = {}, {}, []
    for tool in pair:
        days = {row["path"]: row["day"] for row in within if row["tool"].lower() == tool.lower()}
        found = find_chunks(
            context.mount, query, limit=50, filters={"tool": tool}, site_url=context.site_url
        ).results
        said[tool] = [result for result in found if result.slug in days][:_COMPARED]
        named[tool] = _named(pack, list(dict.fromkeys(result.slug for result in said[tool])))
        pages += [
            {"tool": tool, "path": r.slug, "title": r.title, "day": days[r.slug],
             "citationUrl": r.citation_url, "lines": list(r.lines)}
            for r in said[tool]
        ]  # fmt: skip
    first, second = pair
    both = sorted(named[first] & named[second])
    only = {tool: sorted(named[tool] - named[other]) for tool, other in (pair, pair[::-1])}
    blocks = [block for tool in pair for block in _blocks(tool, said[tool])]
    shown = fitting(blocks, arguments.get("maxTokens", 3000))
    data = {
        **stamp(context.mount), "status": "ok" if pages else "no_match", "tools": list(tools),
        "query": query, "pages": pages[:shown], "bothName": both, "onlyNames": only,
        "total": len(pages), "nextCursor": None,
    }  # fmt: skip
    head = [
        f"What {first} and {second} wrote about: {query}",
        f"Both name: {', '.join(both) or 'nothing'}",
        *(f"Only {tool} names: {', '.join(names) or 'nothing'}" for tool, names in only.items()),
    ]
    return ToolAnswer("\n".join([*head, *blocks[:shown]]), data)


def _named(pack: sqlite3.Connection, paths: Sequence[str]) -> set[str]:
    return {row[0] for path in paths for row in pack.execute(_NAMED, (path, path)) if row[0]}


def _blocks(tool: str, results: Sequence[Result]) -> list[str]:
    if not results:
        return [f"\n## {tool}: nothing on this"]
    return [
        f"\n## {tool}: {r.title}\n{r.slug}:{r.lines[0]}-{r.lines[1]} <{r.citation_url}>\n"
        f"{fenced(r.text)}"
        for r in results
    ]


def _range(text: str) -> tuple[str, str]:
    """Read ``FROM..TO``, open at either end. Raises ValueError for anything else."""
    begin, dots, end = (part.strip() for part in text.partition(".."))
    if not dots:
        end = begin
    for day in filter(None, (begin, end)):
        try:
            date.fromisoformat(day)
        except ValueError:
            raise ValueError(f"{day!r} is no date") from None
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
        "List pages written by AI tools, by tool and range of dates (2026-01-01..2026-01-31, open "
        "at either end), nearest to a query first; `compare_with` sets what two tools say about "
        "the query side by side."
    ),
    input_schema=object_schema(
        {
            "tool_name": {"type": "string", "maxLength": 100},
            "date_range": {"type": "string", "maxLength": 40},
            "query": {"type": "string", "minLength": 1, "maxLength": 2000},
            "compare_with": {"type": "string", "maxLength": 100, "description": "another tool"},
            **LIST,
        }
    ),
    output_schema=output_schema({"pages": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
