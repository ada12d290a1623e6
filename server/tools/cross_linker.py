"""``cross_linker``: links that a page could have, as suggestions and as a patch."""

from __future__ import annotations

import difflib
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from lorepack.packfile.segment import fold
from lorepack.server.retrieve.mentions import Mention, find_mentions
from lorepack.server.retrieve.search import find_chunks
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
from lorepack.server.tools.near_names import near_names

_PAGE = "SELECT path, title, summary, markdown, body_line FROM pages WHERE path = ?"
_NEIGHBOURS = """
SELECT other.name FROM edges JOIN nodes AS page ON page.id = edges.src
JOIN nodes AS other ON other.id = edges.dst WHERE page.kind = 'page' AND page.name = :path
UNION SELECT other.name FROM edges JOIN nodes AS page ON page.id = edges.dst
JOIN nodes AS other ON other.id = edges.src WHERE page.kind = 'page' AND page.name = :path
"""
_BROKEN = """
SELECT target.name, edges.line FROM edges JOIN nodes AS page ON page.id = edges.src
JOIN nodes AS target ON target.id = edges.dst
WHERE page.kind = 'page' AND page.name = ? AND edges.kind = 'unresolved' ORDER BY edges.line
"""
_NAMES = "SELECT names.name, pages.path FROM names JOIN pages ON pages.id = names.page_id"
_NEAR = 5


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Suggest for one page: mentions to link, broken links to mend, near pages without a link."""
    pack = context.mount.connection()
    page = pack.execute(_PAGE, (arguments["path"],)).fetchone()
    if page is None:
        nothing = {**stamp(context.mount), "status": "no_match", "suggestions": []}
        return ToolAnswer(f"no_match: no page {arguments['path']!r}", nothing)
    linked = {row[0] for row in pack.execute(_NEIGHBOURS, {"path": page["path"]})}
    known = linked | {page["path"]}
    mentions = [
        mention
        for mention in find_mentions(pack, page["markdown"], context.mount.counts["chunks"])
        if mention.path not in known
    ]
    suggestions = [
        *(_mention(page, mention) for mention in mentions),
        *_broken(pack, page["path"]),
        *_near(context, page, known | {mention.path for mention in mentions}),
    ]
    lines = [_line(suggestion) for suggestion in suggestions]
    shown = fitting(lines, arguments.get("maxTokens", 3000))
    patch = _patch(page, mentions[:shown])
    data = {
        **stamp(context.mount), "status": "ok" if suggestions else "no_match", "dryRun": True,
        "page": page["path"], "suggestions": suggestions[:shown],
    }  # fmt: skip
    head = f"{len(suggestions)} links that {page['path']} could have; nothing was written"
    return ToolAnswer("\n".join([head, *lines[:shown], *([fenced(patch)] if patch else [])]), data)


def _mention(page: sqlite3.Row, mention: Mention) -> dict[str, Any]:
    text = page["markdown"]
    return {
        "kind": "mention", "target": mention.path, "text": text[mention.start : mention.end],
        "line": page["body_line"] + text.count("\n", 0, mention.start),
    }  # fmt: skip


def _broken(pack: sqlite3.Connection, path: str) -> list[dict[str, Any]]:
    rows = pack.execute(_BROKEN, (path,)).fetchall()
    if not rows:
        return []
    names = dict(pack.execute(_NAMES).fetchall())
    found = []
    for row in rows:
        wanted = fold(PurePosixPath(row["name"].split("#")[0]).name).removesuffix(".md")
        near = near_names(wanted, names, 1, 60)
        found.append({"kind": "broken", "target": names[near[0]] if near else "",
                      "text": row["name"], "line": row["line"]})  # fmt: skip
    return found


def _near(context: Context, page: sqlite3.Row, known: set[str]) -> list[dict[str, Any]]:
    question = f"{page['title']} {page['summary']}".strip()
    answer = find_chunks(context.mount, question, limit=30)
    paths = dict.fromkeys(result.slug for result in answer.results)
    return [
        {"kind": "near", "target": path, "text": "", "line": 0}
        for path in [path for path in paths if path not in known][:_NEAR]
    ]


def _line(suggestion: Mapping[str, Any]) -> str:
    target = suggestion["target"] or "no page of a name like it"
    if suggestion["kind"] == "near":
        return f"near, without a link: {target}"
    what = "mention" if suggestion["kind"] == "mention" else "broken link"
    return f"line {suggestion['line']}: {what} “{suggestion['text']}” → {target}"


def _patch(page: sqlite3.Row, mentions: Sequence[Mention]) -> str:
    """Return a unified diff that links the mentions."""
    text = page["markdown"]
    for mention in sorted(mentions, key=lambda mention: -mention.start):
        said = text[mention.start : mention.end]
        name = PurePosixPath(mention.path).with_suffix("").name
        link = f"[[{name}]]" if name == said else f"[[{name}|{said}]]"
        text = text[: mention.start] + link + text[mention.end :]
    before, after = page["markdown"].splitlines(), text.splitlines()
    diff = difflib.unified_diff(before, after, page["path"], page["path"], n=0, lineterm="")
    return "\n".join(diff)


SPEC = ToolSpec(
    name="cross_linker",
    description=(
        "Suggest links for a page: names of other pages that it mentions without a link, broken "
        "links with the nearest name, near pages; with a patch. Never writes."
    ),
    input_schema=object_schema(
        {
            "path": {"type": "string", "minLength": 1},
            "dry_run": {"const": True, "description": "always true"},
            "maxTokens": budget(3000),
        },
        ("path",),
    ),
    output_schema=output_schema({"suggestions": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
