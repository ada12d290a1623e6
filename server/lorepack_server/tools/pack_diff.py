"""``pack_diff``: what differs between this pack and the version before."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from lorepack.pack.diff.report import numbers
from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, fenced, paginated
from lorepack_server.tools.arguments import Paged
from lorepack_server.tools.folders import page_or_folder

_CHANGES = """
SELECT kind, how, path, title, before, sections FROM changes
WHERE kind IN ('page', 'edge', 'symbol', 'finding')
  AND (:path = '' OR path = :path OR substr(path, 1, length(:path)) = :path) ORDER BY id
"""
_COUNTS = "SELECT value FROM meta WHERE key = 'changes'"


class DiffArguments(Paged):
    """What ``pack_diff`` takes."""

    renamed: ClassVar = {"path": "page", "folder": "page", "kinds": "kind"}
    kind: Literal["", "page", "section", "edge", "symbol", "finding"] = ""
    page: Annotated[str, Field(description="a page, a folder, or what names begin with")] = ""


def run(context: Context, arguments: DiffArguments) -> ToolAnswer:
    """List what came, went and changed since the version before, of one kind or of all."""
    mount = context.mount
    pack = mount.connection()
    path = page_or_folder(pack, arguments.page)
    found = [c for c in _changes(pack, path) if arguments.kind in ("", c["kind"])]
    counts = json.loads(pack.execute(_COUNTS).fetchone()[0])
    nothing = "nothing differs" if mount.previous_version else "there is no earlier version"
    told = "; ".join(numbers(counts))
    head = f"{mount.name} {mount.previous_version} → {mount.version}: {told}" if told else ""
    return paginated(
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
                   "title": section["heading"] or "its beginning",
                   "diff": section.get("diff", "")}  # fmt: skip


def change_line(change: Mapping[str, str]) -> str:
    """Return a change as one line of text."""
    title = f" ({change['title']})" if change["title"] else ""
    line = f"{change['how']} {change['kind']} {change['name']}{title}"
    return f"{line}\n{fenced(change['diff'])}" if change.get("diff") else line


SPEC = ToolSpec(
    name="pack_diff",
    description=(
        "List what differs between {pack} and its version before: pages, sections with their "
        "changed words, links, symbols, findings that came, went or changed."
    ),
    arguments=DiffArguments,
    run=run,
)
