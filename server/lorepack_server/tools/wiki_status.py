"""``wiki_status``: what this pack is."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from lorepack.pack.format import FORMAT
from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, pack_identity
from lorepack_server.tools.arguments import Arguments, MaxTokens
from lorepack_server.tools.budget import budget_of, fill

_SOURCES = """
SELECT sources.name, sources.kind, sources.revision, sources.licence, count(pages.id) AS pages
FROM sources LEFT JOIN pages ON pages.source_id = sources.id GROUP BY sources.id ORDER BY sources.id
"""
_FINDINGS = "SELECT rule, count(*) FROM findings GROUP BY rule ORDER BY rule"
_SEVERITIES = "SELECT severity, count(*) FROM findings GROUP BY severity ORDER BY severity"
_BY = {
    "categories": "SELECT category, count(*) FROM pages WHERE category <> '' GROUP BY 1 ORDER BY 2 "
    "DESC, 1 LIMIT 20",
    "lifecycles": "SELECT lifecycle, count(*) FROM pages WHERE lifecycle <> '' GROUP BY 1 "
    "ORDER BY 2 DESC, 1",
    "languages": "SELECT lang, count(*) FROM pages GROUP BY 1 ORDER BY 2 DESC, 1",
    "tools": "SELECT tool, count(*) FROM pages WHERE tool <> '' GROUP BY 1 ORDER BY 2 DESC, 1 "
    "LIMIT 20",
}
_DATES = """
SELECT min(substr(max(created, updated), 1, 10)), max(substr(max(created, updated), 1, 10))
FROM pages WHERE max(created, updated) <> ''
"""
_STALE = "SELECT count(*) FROM findings WHERE rule = 'stale-page'"
_UPKEEP = """
SELECT (SELECT count(*) FROM suggestions) AS linksToAdd,
    (SELECT count(*) FROM concepts) AS conceptsToJoin,
    (SELECT count(*) FROM tags WHERE message <> '') AS tagsToChange
"""
_BUILT = "SELECT key, value FROM meta WHERE key IN ('builder', 'segmenter')"


class StatusArguments(Arguments):
    """What ``wiki_status`` takes."""

    max_tokens: MaxTokens = 0


def run(context: Context, arguments: StatusArguments) -> ToolAnswer:
    """Answer with name, version, counts, sources, findings, and how the pack can be searched."""
    from lorepack_server.retrieve.encoders import query_encoder

    mount = context.mount
    pack = mount.connection()
    encoder = query_encoder(mount)
    degraded = encoder if isinstance(encoder, str) else ""
    oldest, newest = pack.execute(_DATES).fetchone()
    data = {
        **pack_identity(mount),
        "status": "degraded" if degraded else "ok",
        "title": mount.title,
        "counts": mount.counts,
        **{name: _counted(pack, statement) for name, statement in _BY.items()},
        "model": mount.embedder["id"] if mount.embedder else None,
        "degradedReason": degraded,
        "sources": [dict(row) for row in pack.execute(_SOURCES)],
        "findings": _counted(pack, _FINDINGS),
        "severities": _counted(pack, _SEVERITIES),
        "stalePages": pack.execute(_STALE).fetchone()[0],
        **dict(pack.execute(_UPKEEP).fetchone()),
        "day": mount.day,
        "oldest": oldest or "",
        "newest": newest or "",
        "previousVersion": mount.previous_version,
        **dict(pack.execute(_BUILT).fetchall()),
        "format": FORMAT,
    }
    head, *lines = _lines(data)
    text, _ = fill(
        budget_of(arguments.max_tokens), head, lines,
        lambda shown: f"{len(lines) - shown} more lines: ask with a larger maxTokens."
        if shown < len(lines) else "",
    )  # fmt: skip
    return ToolAnswer(text, data)


def _counted(pack: sqlite3.Connection, statement: str) -> dict[str, int]:
    return dict(pack.execute(statement).fetchall())


def _lines(data: Mapping[str, Any]) -> list[str]:
    counts = ", ".join(f"{count} {name}" for name, count in data["counts"].items())
    reason = data["degradedReason"]
    freshness = f"{data['oldest']} to {data['newest']}" if data["newest"] else "no page is dated"
    previous = f", after {data['previousVersion']}" if data["previousVersion"] else ""
    lines = [
        f"{data['title']} ({data['pack']} {data['version']}{previous}): {counts}",
        f"Search: {f'lexical only: {reason}' if reason else 'lexical and dense'}",
        *(
            f"- {s['name']} ({s['kind']}{' ' + s['revision'][:12] if s['revision'] else ''}): "
            f"{s['pages']} pages"
            for s in data["sources"]
        ),
        f"Model: {data['model'] or 'none'}; format {data['format']}, built by {data['builder']}",
        f"Dates: {freshness}; the pack's day is {data['day'] or 'not known'}",
        f"Stale pages: {data['stalePages']}",
        f"Links to add: {data['linksToAdd']}; concepts to join: {data['conceptsToJoin']}; "
        f"tags to change: {data['tagsToChange']}",
    ]
    for name in (*_BY, "severities", "findings"):
        if data[name]:
            counted = ", ".join(f"{key} {count}" for key, count in data[name].items())
            lines.append(f"{name.capitalize()}: {counted}")
    return lines


SPEC = ToolSpec(
    name="wiki_status",
    description=(
        "Tell what {pack} holds: version, sources with their commits, counts by category, "
        "lifecycle and language, dates, findings, search state."
    ),
    arguments=StatusArguments,
    run=run,
)
