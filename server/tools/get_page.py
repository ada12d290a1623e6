"""``get_page``: a page, one of its sections, or the list of pages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any
from urllib.parse import quote

from lorepack.server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    error,
    fenced,
    object_schema,
    output_schema,
    stamp,
)

_LISTED = 100
_BY_PATH = """
SELECT pages.*, sources.name AS source, sources.revision FROM pages
JOIN sources ON sources.id = pages.source_id WHERE pages.path = ?
"""
_BY_TITLE = "SELECT path FROM pages WHERE lower(title) = lower(?) ORDER BY path"
_LIST = "SELECT id, path, title FROM pages WHERE id > ? ORDER BY id LIMIT ?"
_NAMES = "SELECT path, title FROM pages"
_HEADINGS = "SELECT * FROM headings WHERE page_id = ? ORDER BY ordinal"


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Answer with a page, a section, or one screen of the list of pages."""
    pack = context.mount.connection()
    if arguments.get("listPages"):
        return _list(context, pack, arguments.get("cursor", "0"))
    name = arguments.get("page")
    if not name:
        return error("invalid_arguments", "give `page`, or `listPages`: true")
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
    close = get_close_matches(name.lower(), names, n=10, cutoff=0.5)
    near = list(dict.fromkeys(names[found] for found in close))[:5]
    data = {**stamp(context.mount), "status": "no_match", "near": near}
    text = f"no_match: no page {name!r}." + (f" Near: {', '.join(near)}" if near else "")
    return ToolAnswer(text, data)


def _list(context: Context, pack: sqlite3.Connection, cursor: str) -> ToolAnswer:
    if not cursor.isdigit():
        return error("invalid_cursor", "use the nextCursor of the answer before")
    rows = pack.execute(_LIST, (int(cursor), _LISTED)).fetchall()
    following = str(rows[-1]["id"]) if len(rows) == _LISTED else None
    pages = [{"page": row["path"], "title": row["title"]} for row in rows]
    data = {**stamp(context.mount), "status": "ok", "pages": pages, "nextCursor": following}
    lines = [f"{row['path']}: {row['title']}" for row in rows]
    more = [f"More with cursor {following}"] if following else []
    return ToolAnswer("\n".join([*lines, *more]), data)


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
        near = get_close_matches(wanted, [h["text"].lower() for h in headings], n=5, cutoff=0.3)
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
    fragment = f"#{quote(anchor)}" if anchor else ""
    url = (
        f"{context.site_url}{quote(row['url'])}{fragment}"
        if context.site_url
        else f"lorepack://{context.mount.name}/{quote(row['path'])}{fragment}"
    )
    data = {
        **stamp(context.mount),
        "status": "ok",
        "page": row["path"],
        "title": row["title"],
        "anchor": anchor,
        "citationUrl": url,
        "commitSha": row["revision"],
        "lines": [first_line, last_line],
        "lang": row["lang"],
        "tags": json.loads(row["tags"]),
        "truncated": truncated,
    }
    if outline:
        data["sections"] = outline[:200]
    head = f"# {row['title']}\n{row['path']}:{first_line}-{last_line} <{url}>"
    tail = "\nTruncated: ask for a subsection, or give a larger maxTokens." if truncated else ""
    return ToolAnswer(f"{head}\n{fenced(shown)}{tail}", data)


def _shorten(text: str, max_tokens: int) -> tuple[str, bool]:
    """Cut at a line; a token is taken for three characters, which errs on the small side."""
    limit = max_tokens * 3
    if len(text) <= limit:
        return text, False
    cut = text[:limit]
    return cut.rsplit("\n", 1)[0] if "\n" in cut else cut, True


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
            "cursor": {"type": "string"},
            "maxTokens": {"type": "integer", "minimum": 50, "maximum": 100000, "default": 6000},
        }
    ),
    output_schema=output_schema({"page": {"type": "string"}, "citationUrl": {"type": "string"}}),
    run=run,
)
