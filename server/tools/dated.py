"""``memory_bridge`` and ``daily_update``: pages by date, and by the AI tool that wrote them."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Any

from lorepack.server.mount import Mount
from lorepack.server.retrieve.search import find_chunks
from lorepack.server.tools.answer import (
    LIST,
    Context,
    ToolAnswer,
    ToolSpec,
    error,
    listed,
    object_schema,
    output_schema,
)

_PAGES = """
SELECT path, title, summary, tool, created, updated,
    substr(max(created, updated), 1, 10) AS day FROM pages ORDER BY day DESC, path
"""
_LINKED = """
SELECT DISTINCT target.name FROM edges
JOIN nodes AS source ON source.id = edges.src JOIN nodes AS target ON target.id = edges.dst
WHERE target.kind = 'page' AND source.kind = 'page' AND source.id <> target.id
"""
_TAGS_BEFORE = """
SELECT DISTINCT value FROM pages, json_each(pages.tags)
WHERE substr(coalesce(nullif(created, ''), updated), 1, 10) < ?
"""
_TAGS_SINCE = """
SELECT DISTINCT value FROM pages, json_each(pages.tags)
WHERE substr(coalesce(nullif(created, ''), updated), 1, 10) >= ? ORDER BY 1
"""
_WEEK = timedelta(days=7)


def memory_bridge(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List the pages that AI tools wrote, in a range of dates; nearest to ``query`` first."""
    try:
        begin, end = _range(arguments.get("date_range", ""))
    except ValueError as wrong:
        return error("invalid_range", str(wrong), {"form": "2026-01-01..2026-01-31"})
    wanted = arguments.get("tool_name", "").lower()
    written = [row for row in _pages(context.mount) if row["tool"]]
    tools = sorted({row["tool"] for row in written})
    pages = [
        row for row in written
        if (not wanted or row["tool"].lower() == wanted) and begin <= row["day"] <= end
    ]  # fmt: skip
    if query := arguments.get("query"):
        order = [result.slug for result in find_chunks(context.mount, query, limit=50).results]
        place = {path: rank for rank, path in reversed(list(enumerate(order)))}
        pages.sort(key=lambda row: place.get(row["path"], len(order)))
    nothing = f"no such page; the tools are {', '.join(tools) or 'none'}"
    return listed(context, arguments, "pages", pages, _line, nothing, tools=tools)


def daily_update(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List what is new and changed since a day, or in the week before the pack's own day."""
    rows = _pages(context.mount)
    today = context.mount.built_on or max((row["day"] for row in rows), default="")
    try:
        since = arguments.get("since") or (date.fromisoformat(today) - _WEEK).isoformat()
        date.fromisoformat(since)
    except ValueError:
        if "since" in arguments:
            return error("invalid_date", f"{since!r} is no date", {"form": "2026-01-31"})
        since = "9999-12-31"
    pack = context.mount.connection()
    linked = {row[0] for row in pack.execute(_LINKED)}
    pages = [
        {**row, "change": "new" if row["created"][:10] >= since else "changed",
         "orphan": row["path"] not in linked}
        for row in rows
        if row["day"] >= since
    ]  # fmt: skip
    nothing = "nothing is dated since then"
    return listed(context, arguments, "pages", pages, _changed, nothing, since=since,
                  newTags=_new_tags(pack, since))  # fmt: skip


def _pages(mount: Mount) -> list[dict[str, Any]]:
    return [dict(row) for row in mount.connection().execute(_PAGES)]


def _new_tags(pack: sqlite3.Connection, since: str) -> Sequence[str]:
    before = {row[0] for row in pack.execute(_TAGS_BEFORE, (since,))}
    return [row[0] for row in pack.execute(_TAGS_SINCE, (since,)) if row[0] not in before]


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


def _line(row: Mapping[str, Any]) -> str:
    summary = f": {row['summary']}" if row["summary"] else ""
    return f"{row['day'] or 'undated'} {row['tool']} {row['path']} ({row['title']}){summary}"


def _changed(row: Mapping[str, Any]) -> str:
    orphan = ", linked from nowhere" if row["orphan"] else ""
    return f"{row['day']} {row['change']}: {row['path']} ({row['title']}{orphan})"


BRIDGE = ToolSpec(
    name="memory_bridge",
    description=(
        "List pages written by AI tools, by tool and range of dates (2026-01-01..2026-01-31, open "
        "at either end), to carry on where another tool stopped."
    ),
    input_schema=object_schema(
        {
            "tool_name": {"type": "string"},
            "date_range": {"type": "string", "maxLength": 40},
            "query": {"type": "string", "minLength": 1, "maxLength": 2000},
            **LIST,
        }
    ),
    output_schema=output_schema({"pages": {"type": "array", "items": {"type": "object"}}}),
    run=memory_bridge,
)
UPDATE = ToolSpec(
    name="daily_update",
    description=(
        "List pages new or changed since a day, new tags, and pages linked from nowhere; without "
        "a day, the week before the pack was made."
    ),
    input_schema=object_schema({"since": {"type": "string", "maxLength": 40}, **LIST}),
    output_schema=output_schema({"pages": {"type": "array", "items": {"type": "object"}}}),
    run=daily_update,
)
