"""``wiki_status``: what this pack is."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from typing import Any

from lorepack.packfile.format import FORMAT
from lorepack.server.encoders import query_encoder
from lorepack.server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    budget,
    fitting,
    object_schema,
    output_schema,
    stamp,
)

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


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Say name, version, counts, sources, findings, and whether meaning can be searched."""
    mount = context.mount
    pack = mount.connection()
    encoder = query_encoder(mount)
    degraded = encoder if isinstance(encoder, str) else ""
    oldest, newest = pack.execute(_DATES).fetchone()
    data = {
        **stamp(mount),
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
    lines = _lines(data)
    return ToolAnswer("\n".join(lines[: fitting(lines, arguments.get("maxTokens", 3000))]), data)


def _counted(pack: sqlite3.Connection, statement: str) -> dict[str, int]:
    return dict(pack.execute(statement).fetchall())


def _lines(data: Mapping[str, Any]) -> list[str]:
    counts = ", ".join(f"{count} {name}" for name, count in data["counts"].items())
    reason = data["degradedReason"]
    freshness = f"{data['oldest']} to {data['newest']}" if data["newest"] else "no page is dated"
    previous = f", after {data['previousVersion']}" if data["previousVersion"] else ""
    lines = [
        f"{data['title']} ({data['pack']} {data['version']}{previous}): {counts}",
        f"Search: {f'words only: {reason}' if reason else 'words and meaning'}",
        *(f"- {s['name']} ({s['kind']}): {s['pages']} pages" for s in data["sources"]),
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
        "Say what this pack holds: version, sources, counts by category, lifecycle, language and "
        "source, dates, stale pages, findings, what upkeep waits, search state."
    ),
    input_schema=object_schema({"maxTokens": budget(3000)}),
    output_schema=output_schema({"counts": {"type": "object"}}),
    run=run,
)
