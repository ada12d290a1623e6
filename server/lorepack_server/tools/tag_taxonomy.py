"""``tag_taxonomy``: the tags in use, which of them mean the same, and which break the law."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lorepack.pack.taxonomy import TaxonomyTag, read_taxonomy
from lorepack.text.tokenize import fold
from lorepack_server.retrieve.page_names import find_pages
from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, error, paginated
from lorepack_server.tools.arguments import Paged
from lorepack_server.tools.folders import page_or_folder
from lorepack_server.tools.near_names import near_names

_TAGS = """
SELECT tag, pages, twins, use, allowed, about, message FROM tags ORDER BY pages DESC, tag
"""
_IN_PATH = """
SELECT value AS tag, count(*) FROM pages, json_each(pages.tags)
WHERE pages.path = :path OR substr(pages.path, 1, length(:path) + 1) = :path || '/'
GROUP BY value
"""
_MARKDOWN = "SELECT markdown FROM pages WHERE path = ?"


class TagsArguments(Paged):
    """What ``tag_taxonomy`` takes."""

    renamed: ClassVar = {"path": "page", "folder": "page", "taxonomy": "enforce"}
    page: Annotated[str, Field(description="a page or a folder")] = ""
    enforce: Annotated[
        str, Field(description="true for the recipe's taxonomy, or a page that lists tags")
    ] = ""


def run(context: Context, arguments: TagsArguments) -> ToolAnswer:
    """List tags with their counts; with ``enforce``, only those that are not allowed."""
    pack = context.mount.connection()
    entries = [_entry(row) for row in pack.execute(_TAGS)]
    if path := page_or_folder(pack, arguments.page):
        counts = dict(pack.execute(_IN_PATH, {"path": path}).fetchall())
        entries = [{**e, "pages": counts[e["tag"]]} for e in entries if e["tag"] in counts]
        entries.sort(key=lambda e: (-e["pages"], e["tag"]))
    if arguments.enforce.lower() in ("", "false"):
        return paginated(context, arguments, "tags", entries, tag_line, "no tags here")
    if arguments.enforce.lower() == "true":
        if not any(entry["allowed"] is not None for entry in entries):
            return error("no_taxonomy", f"the recipe of {context.label} names no taxonomy page; "
                         "enforce takes the path of one")  # fmt: skip
    else:
        places = find_pages(pack, arguments.enforce, symbols=False)
        row = pack.execute(_MARKDOWN, (places[0].path,)).fetchone() if places else None
        allowed = read_taxonomy(row["markdown"]) if row else []
        if not allowed:
            return error("no_taxonomy", f"{arguments.enforce!r} is not a page with a list of tags "
                         "like `- #tag: what it is for`")  # fmt: skip
        entries = [_judged(entry, allowed) for entry in entries]
    entries = [entry for entry in entries if entry["pages"] and not entry["allowed"]]
    return paginated(context, arguments, "tags", entries, tag_line, "all tags are in the taxonomy")


def _entry(row: sqlite3.Row) -> dict[str, Any]:
    twins = json.loads(row["twins"])
    allowed = None if row["allowed"] is None else bool(row["allowed"])
    return {
        "tag": row["tag"], "pages": row["pages"], "parent": row["tag"].rpartition("/")[0],
        "same": [twin["tag"] for twin in twins], "why": [twin["why"] for twin in twins],
        "use": row["use"], "allowed": allowed, "about": row["about"], "message": row["message"],
    }  # fmt: skip


def _judged(entry: Mapping[str, Any], allowed_tags: Sequence[TaxonomyTag]) -> dict[str, Any]:
    """Return an entry as a taxonomy given by the call judges it."""
    tag, names = entry["tag"], [allowed.tag for allowed in allowed_tags]
    if tag in names:
        return {**entry, "allowed": True}
    meant = {fold(word): item.tag for item in allowed_tags for word in (item.tag, *item.also)}
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
        "List the tags of {pack} with counts, parents, near duplicates (case, hyphen, plural, "
        "translation) and the fix; enforce shows only those that a taxonomy does not allow."
    ),
    arguments=TagsArguments,
    run=run,
)
