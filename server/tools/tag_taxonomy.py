"""``tag_taxonomy``: the tags in use, which of them mean the same, and which break the law."""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from lorepack.packfile.segment import fold
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
SELECT value AS tag FROM pages, json_each(pages.tags)
WHERE :path = '' OR pages.path = :path
   OR substr(pages.path, 1, length(:path) + 1) = :path || '/'
"""
_MARKDOWN = "SELECT markdown FROM pages WHERE path = ?"
_LISTED = re.compile(r"^\s*[-*+]\s+`?#?([^\s`:#][^\s`:]*)", re.MULTILINE)
_SEPARATORS = re.compile(r"[-_\s]+")


def run(context: Context, arguments: Mapping[str, Any]) -> ToolAnswer:
    """List tags with their counts; with ``enforce``, only those that the page does not name."""
    pack = context.mount.connection()
    rows = pack.execute(_TAGS, {"path": arguments.get("path", "").strip("/")})
    counts = Counter(row["tag"] for row in rows)
    law: Sequence[str] | None = None
    if page := arguments.get("enforce"):
        law = _law(pack, page)
        if law is None:
            return error("no_taxonomy", f"{page!r} is no page with a list of tags",
                         {"form": "- #tag: what it is for"})  # fmt: skip
    twins = _twins(counts)
    entries = [
        {
            "tag": tag, "pages": count, "parent": tag.rpartition("/")[0],
            "same": twins.get(tag, []), "allowed": law is None or tag in law,
            "use": "".join(near_names(tag, law, 1, 60)) if law and tag not in law else "",
        }
        for tag, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]  # fmt: skip
    if law is not None:
        entries = [entry for entry in entries if not entry["allowed"]]
    nothing = "no tags here" if law is None else "every tag is in the taxonomy"
    return listed(context, arguments, "tags", entries, _line, nothing)


def _law(pack: sqlite3.Connection, path: str) -> list[str] | None:
    row = pack.execute(_MARKDOWN, (path,)).fetchone()
    return (_LISTED.findall(row["markdown"]) or None) if row else None


def _twins(tags: Mapping[str, int]) -> dict[str, list[str]]:
    """Return, for a tag, those that differ in case, hyphens or number only, the commonest first."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for tag in tags:
        groups[_SEPARATORS.sub("", fold(tag)).removesuffix("s")].append(tag)
    return {
        tag: sorted((other for other in group if other != tag), key=lambda t: (-tags[t], t))
        for group in groups.values()
        for tag in group
        if len(group) > 1
    }


def _line(entry: Mapping[str, Any]) -> str:
    same = f"; the same as {', '.join(f'#{tag}' for tag in entry['same'])}" if entry["same"] else ""
    use = f"; not in the taxonomy, use #{entry['use']}" if entry["use"] else ""
    return f"#{entry['tag']}: {entry['pages']} pages{same}{use}"


SPEC = ToolSpec(
    name="tag_taxonomy",
    description=(
        "List the tags in use with their counts, parents and near duplicates; `enforce` names a "
        "page that lists the tags allowed, and shows those that break it."
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
