"""``get_page``: a page, one of its sections, or the list of pages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from lorepack.server.retrieve.cite import source_line, source_place
from lorepack.server.tools.addressed import notes
from lorepack.server.tools.answer import (
    CURSOR,
    Context,
    ToolAnswer,
    ToolSpec,
    budget,
    fenced,
    fitting,
    object_schema,
    output_schema,
    stamp,
    tokens_of,
)
from lorepack.server.tools.near_names import near_names

_LISTED = 100
_BY_PATH = """
SELECT pages.*, sources.name AS source, sources.kind, sources.web,
    sources.revision, sources.subdir FROM pages
JOIN sources ON sources.id = pages.source_id WHERE pages.path = ?
"""
_BY_TITLE = "SELECT path FROM pages WHERE lower(title) = lower(?) ORDER BY path"
_LIST = "SELECT id, path, title FROM pages WHERE id > ? ORDER BY id LIMIT ?"
_NAMES = "SELECT path, title FROM pages"
_HEADINGS = "SELECT * FROM headings WHERE page_id = ? ORDER BY ordinal"


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Answer with a page, a section, or one screen of the list of pages."""
    pack = context.mount.connection()
    name = arguments.get("page")
    if arguments.get("listPages") or not name:
        return _list(context, pack, int(arguments.get("cursor", "0")), arguments)
    row = _find(pack, name)
    if row is None:
        return _no_match(context, pack, name)
    if subsection := arguments.get("subsection"):
        return _section(context, pack, row, subsection, arguments)
    return _page(context, pack, row, arguments)


def _find(pack: sqlite3.Connection, name: str) -> sqlite3.Row | None:
    """Find the exact path; a title will do when only one page has it."""
    row: sqlite3.Row | None = pack.execute(_BY_PATH, (name,)).fetchone()
    if row is None:
        titled = pack.execute(_BY_TITLE, (name,)).fetchall()
        if len(titled) == 1:
            row = pack.execute(_BY_PATH, (titled[0]["path"],)).fetchone()
    return row


def _no_match(context: Context, pack: sqlite3.Connection, name: str) -> ToolAnswer:
    names: dict[str, str] = {}
    for path, title in pack.execute(_NAMES):
        names.setdefault(path.lower(), path)
        names.setdefault(title.lower(), path)
    near = list(dict.fromkeys(names[found] for found in near_names(name.lower(), names, 10)))[:5]
    data = {**stamp(context.mount), "status": "no_match", "near": near}
    text = f"no_match: no page {name!r}." + (f" Near: {', '.join(near)}" if near else "")
    return ToolAnswer(text, data)


def _list(
    context: Context, pack: sqlite3.Connection, after: int, arguments: Mapping[str, Any]
) -> ToolAnswer:
    rows = pack.execute(_LIST, (after, _LISTED)).fetchall()
    lines = [f"{row['path']}: {row['title']}" for row in rows]
    count = fitting(lines, arguments.get("maxTokens", 6000))
    ends = count == len(rows) < _LISTED
    following = None if ends or not rows else str(rows[count - 1]["id"])
    pages = [{"page": row["path"], "title": row["title"]} for row in rows[:count]]
    data = {**stamp(context.mount), "status": "ok", "pages": pages, "nextCursor": following}
    more = [f"More with cursor {following}"] if following else []
    return ToolAnswer("\n".join([*lines[:count], *more]), data)


def _page(
    context: Context, pack: sqlite3.Connection, row: sqlite3.Row, arguments: Mapping[str, Any]
) -> ToolAnswer:
    headings = pack.execute(_HEADINGS, (row["id"],)).fetchall()
    outline = [heading["text"] for heading in headings]
    return _answer(context, row, row["markdown"], row["body_line"], "", outline, arguments)


def _section(
    context: Context, pack: sqlite3.Connection, row: sqlite3.Row, name: str,
    arguments: Mapping[str, Any],
) -> ToolAnswer:  # fmt: skip
    headings = pack.execute(_HEADINGS, (row["id"],)).fetchall()
    wanted = name.strip().lstrip("#").strip().lower()
    at = next(
        (i for i, h in enumerate(headings) if wanted in (h["text"].lower(), h["anchor"])), None
    )
    if at is None:
        near = near_names(wanted, [h["text"].lower() for h in headings], 5)
        data = {**stamp(context.mount), "status": "no_match", "near": near}
        return ToolAnswer(
            f"no_match: {row['path']} has no section {name!r}. Near: {', '.join(near)}", data
        )
    start = headings[at]
    end = next((h["line"] for h in headings[at + 1 :] if h["level"] <= start["level"]), None)
    lines = row["markdown"].split("\n")
    first = start["line"] - row["body_line"]
    last = len(lines) if end is None else end - row["body_line"]
    text = "\n".join(lines[first:last]).rstrip()
    return _answer(context, row, text, start["line"], start["anchor"], [], arguments)


def _answer(
    context: Context, row: sqlite3.Row, text: str, first_line: int, anchor: str,
    outline: list[str], arguments: Mapping[str, Any],
) -> ToolAnswer:  # fmt: skip
    budget = arguments.get("maxTokens", 6000)
    shown, truncated = _shorten(text, budget)
    last_line = first_line + shown.count("\n")
    url = context.cite(row, anchor)
    place = source_place(row, (max(1, first_line), last_line))
    data = {
        **stamp(context.mount),
        "status": "ok",
        "page": row["path"],
        "title": row["title"],
        "anchor": anchor,
        "citationUrl": url,
        **place,
        "lines": [first_line, last_line],
        "lang": row["lang"],
        "tags": json.loads(row["tags"]),
        "truncated": truncated,
    }
    if outline:
        data["sections"] = outline[:200]
    head = f"# {row['title']}\n{row['path']}:{first_line}-{last_line}{source_line(place)} <{url}>"
    tail = "\nTruncated: ask for a subsection, or give a larger maxTokens." if truncated else ""
    note = notes(context.mount, [row["path"]]).get(row["path"], "")
    return ToolAnswer(f"{head}\n{note}{fenced(shown)}{tail}", data)


def _shorten(text: str, max_tokens: int) -> tuple[str, bool]:
    """Cut at a line."""
    lines = text.split("\n")
    count = fitting(lines, max_tokens)
    if count == len(lines) and tokens_of(text) <= max_tokens + len(lines):
        return text, False
    shown = "\n".join(lines[:count])
    limit = max_tokens * 3
    return shown.encode()[:limit].decode(errors="ignore"), True


SPEC = ToolSpec(
    name="get_page",
    description=(
        "Read a page by its exact path, or only one subsection (heading). Use it when a passage "
        "found is not enough. listPages: true lists all pages, a screen at a time."
    ),
    input_schema=object_schema(
        {
            "page": {"type": "string", "description": "path such as guide/install.md"},
            "subsection": {"type": "string", "description": "a heading's text or anchor"},
            "listPages": {"type": "boolean"},
            "cursor": CURSOR,
            "maxTokens": budget(6000),
        }
    ),
    output_schema=output_schema({"page": {"type": "string"}, "citationUrl": {"type": "string"}}),
    run=run,
)
