"""``pack_diff``: what differs between this pack and the version before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Any

from lorepack.packfile.diff.model import KINDS
from lorepack.packfile.diff.report import numbers
from lorepack.server.tools.answer import (
    LIST,
    Context,
    ToolAnswer,
    ToolSpec,
    listed,
    object_schema,
    output_schema,
)

_CHANGES = """
SELECT kind, how, path, title, before, sections FROM changes
WHERE kind IN ('page', 'edge', 'symbol', 'finding')
  AND (:path = '' OR path = :path OR substr(path, 1, length(:path)) = :path) ORDER BY id
"""
_COUNTS = "SELECT value FROM meta WHERE key = 'changes'"


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List what came, went and changed since the version before, of one kind or of all."""
    mount = context.mount
    pack = mount.connection()
    kind = arguments.get("kind")
    path = arguments.get("path", "").strip("/")
    found = [c for c in _changes(pack, path) if kind is None or c["kind"] == kind]
    counts = json.loads(pack.execute(_COUNTS).fetchone()[0])
    nothing = "nothing differs" if mount.previous_version else "there is no earlier version"
    told = "; ".join(numbers(counts))
    head = f"{mount.name} {mount.previous_version} → {mount.version}: {told}" if told else ""
    return listed(
        context, arguments, "changes", found, change_line, nothing, head=head,
        previousVersion=mount.previous_version, counts=counts,
    )  # fmt: skip


def _changes(pack: sqlite3.Connection, path: str) -> Iterator[dict[str, str]]:
    for row in pack.execute(_CHANGES, {"path": path}):
        before = f" (before at {row['before']})" if row["before"] else ""
        yield {"kind": row["kind"], "how": row["how"], "name": row["path"],
               "title": row["title"] + before}  # fmt: skip
        for section in json.loads(row["sections"]):
            anchor = f"#{section['anchor']}" if section["anchor"] else ""
            yield {"kind": "section", "how": section["how"], "name": row["path"] + anchor,
                   "title": section["heading"] or "its beginning"}  # fmt: skip


def change_line(change: Mapping[str, str]) -> str:
    """Return a change as one line of text."""
    title = f" ({change['title']})" if change["title"] else ""
    return f"{change['how']} {change['kind']} {change['name']}{title}"


SPEC = ToolSpec(
    name="pack_diff",
    description=(
        "List what differs from the version of this pack before it: pages, their sections, links, "
        "symbols, findings that came, went or changed."
    ),
    input_schema=object_schema(
        {
            "kind": {"enum": list(KINDS)},
            "path": {"type": "string", "description": "a page, or what names begin with"},
            **LIST,
        }
    ),
    output_schema=output_schema({"changes": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
