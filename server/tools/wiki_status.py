"""``wiki_status``: what this pack is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """Say name, version, counts, sources, findings, and whether meaning can be searched."""
    mount = context.mount
    pack = mount.connection()
    encoder = query_encoder(mount)
    degraded = encoder if isinstance(encoder, str) else ""
    sources = [dict(row) for row in pack.execute(_SOURCES)]
    data = {
        **stamp(mount),
        "status": "degraded" if degraded else "ok",
        "title": mount.title,
        "counts": mount.counts,
        "languages": list(mount.languages),
        "model": mount.embedder["id"] if mount.embedder else None,
        "degradedReason": degraded,
        "sources": sources,
        "findings": dict(pack.execute(_FINDINGS).fetchall()),
    }
    lines = [f"- {s['name']} ({s['kind']}): {s['pages']} pages" for s in sources]
    counts = ", ".join(f"{count} {name}" for name, count in mount.counts.items())
    named = "\n".join(lines[: fitting(lines, arguments.get("maxTokens", 3000))])
    search = f"words only: {degraded}" if degraded else "words and meaning"
    text = f"{mount.title} ({mount.name} {mount.version}): {counts}\nSearch: {search}\n{named}"
    return ToolAnswer(text, data)


SPEC = ToolSpec(
    name="wiki_status",
    description="Say what this pack holds: version, sources, counts, languages, search state.",
    input_schema=object_schema({"maxTokens": budget(3000)}),
    output_schema=output_schema({"counts": {"type": "object"}}),
    run=run,
)
