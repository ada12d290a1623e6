"""``tag_taxonomy``: the tags in use, which of them mean the same, and which break the law."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any

from lorepack.packfile.segment import fold
from lorepack.packfile.taxonomy import TaxonomyTag, read_taxonomy
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
from lorepack.server.tools.near_names import near_names

_TAGS = """
SELECT tag, pages, twins, use, allowed, about, message FROM tags ORDER BY pages DESC, tag
"""
_IN_PATH = """
SELECT value AS tag, count(*) FROM pages, json_each(pages.tags)
WHERE pages.path = :path OR substr(pages.path, 1, length(:path) + 1) = :path || '/'
GROUP BY value
"""
_MARKDOWN = "SELECT markdown FROM pages WHERE path = ?"


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List tags with their counts; with ``enforce``, only those that the page does not name."""
    pack = context.mount.connection()
    entries = [_entry(row) for row in pack.execute(_TAGS)]
    if path := arguments.get("path", "").strip("/"):
        counts = dict(pack.execute(_IN_PATH, {"path": path}).fetchall())
        entries = [{**e, "pages": counts[e["tag"]]} for e in entries if e["tag"] in counts]
        entries.sort(key=lambda e: (-e["pages"], e["tag"]))
    if page := arguments.get("enforce"):
        row = pack.execute(_MARKDOWN, (page,)).fetchone()
        law = read_taxonomy(row["markdown"]) if row else []
        if not law:
            return error("no_taxonomy", f"{page!r} is no page with a list of tags",
                         {"form": "- #tag: what it is for"})  # fmt: skip
        entries = [_judged(e, law) for e in entries if e["pages"]]
        entries = [entry for entry in entries if not entry["allowed"]]
        return listed(context, arguments, "tags", entries, tag_line, "all tags are in the taxonomy")
    return listed(context, arguments, "tags", entries, tag_line, "no tags here")


def _entry(row: sqlite3.Row) -> dict[str, Any]:
    twins = json.loads(row["twins"])
    allowed = None if row["allowed"] is None else bool(row["allowed"])
    return {
        "tag": row["tag"], "pages": row["pages"], "parent": row["tag"].rpartition("/")[0],
        "same": [twin["tag"] for twin in twins], "why": [twin["why"] for twin in twins],
        "use": row["use"], "allowed": allowed, "about": row["about"], "message": row["message"],
    }  # fmt: skip


def _judged(entry: Mapping[str, Any], law: Sequence[TaxonomyTag]) -> dict[str, Any]:
    """Return an entry as a taxonomy given by the call judges it."""
    tag, names = entry["tag"], [allowed.tag for allowed in law]
    if tag in names:
        return {**entry, "allowed": True}
    meant = {fold(word): item.tag for item in law for word in (item.tag, *item.also)}
    twins = [twin for twin in entry["same"] if twin in names]
    use = meant.get(fold(tag)) or "".join(twins[:1] or near_names(tag, names, 1, 60))
    message = f"#{tag} is not in the taxonomy" + (f"; #{use} is" if use else "")
    return {**entry, "allowed": False, "use": use, "message": message}


def tag_line(entry: Mapping[str, Any]) -> str:
    """Return a tag as one line of text."""
    same = ", ".join(f"#{t} ({why})" for t, why in zip(entry["same"], entry["why"], strict=True))
    parts = [f"#{entry['tag']}: {entry['pages']} pages"]
    parts += [f"about {entry['about']}"] if entry["about"] else []
    parts += [f"the same as {same}"] if same else []
    parts += [f"{entry['message']} → write #{entry['use']}" if entry["use"] else entry["message"]]
    return "; ".join(filter(None, parts))


SPEC = ToolSpec(
    name="tag_taxonomy",
    description=(
        "List the tags in use with their counts, parents and near duplicates (case, hyphen, "
        "plural, translation) and the fix; `enforce` names a page that lists the tags allowed, "
        "and shows those that break it."
    ),
    input_schema=object_schema(
        {
            "path": {"type": "string", "description": "a page or a folder"},
            "enforce": {"type": "string", "description": "path of the taxonomy page"},
            **LIST,
        }
    ),
    output_schema=output_schema({"tags": {"type": "array", "items": {"type": "object"}}}),
    run=run,
)
