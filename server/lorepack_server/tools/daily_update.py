"""``daily_update``: what is new and changed, by dates and since the previous pack."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, error, paginated
from lorepack_server.tools.arguments import Paged

_PAGES = """
SELECT path, title, summary, created, updated, substr(max(created, updated), 1, 10) AS day
FROM pages WHERE substr(max(created, updated), 1, 10) >= ? ORDER BY day DESC, path
"""
_LINKED = """
SELECT DISTINCT target.name FROM edges
JOIN nodes AS source ON source.id = edges.src JOIN nodes AS target ON target.id = edges.dst
WHERE target.kind = 'page' AND source.kind = 'page' AND source.id <> target.id
"""
_CHANGES = """
SELECT how AS kind, path, title, before, sections FROM changes WHERE kind = 'page' ORDER BY id
"""
_NAMED = "SELECT path FROM changes WHERE kind = ? ORDER BY id"
_TAGS_BEFORE = """
SELECT DISTINCT value FROM pages, json_each(pages.tags)
WHERE substr(coalesce(nullif(created, ''), updated), 1, 10) < ?
"""
_TAGS_SINCE = """
SELECT DISTINCT value FROM pages, json_each(pages.tags)
WHERE substr(coalesce(nullif(created, ''), updated), 1, 10) >= ? ORDER BY 1
"""
_WEEK = timedelta(days=7)
_NEVER = "9999-12-31"


class UpdateArguments(Paged):
    """What ``daily_update`` takes."""

    renamed: ClassVar = {"date": "since", "day": "since", "from": "since"}
    since: Annotated[
        str, Field(description="a day, 2026-01-31", json_schema_extra={"format": "date"})
    ] = ""


def run(context: Context, arguments: UpdateArguments) -> ToolAnswer:
    """List what is new and changed since a day, or in the week before the pack's own day."""
    mount = context.mount
    given = arguments.since
    try:
        since = date.fromisoformat(given).isoformat() if given else week_before(mount.day)
    except ValueError:
        return error("invalid_date", f"since: {given!r} is not a date like 2026-01-31",
                     {"form": "2026-01-31"})  # fmt: skip
    pack = mount.connection()
    linked = {row[0] for row in pack.execute(_LINKED)}
    pages = [
        {**dict(row), "change": "new" if row["created"][:10] >= since else "changed",
         "orphan": row["path"] not in linked}
        for row in pack.execute(_PAGES, (since,))
    ]  # fmt: skip
    tags = _named(pack, "tag") or _new_tags(pack, since)
    orphans = _named(pack, "orphan")
    if not mount.previous_version:
        orphans = [page["path"] for page in pages if page["orphan"]]
    told = read_changes(pack)
    head = _head(mount.day, since, len(pages), told, mount.previous_version, tags, orphans)
    nothing = "nothing is dated since then"
    return paginated(
        context, arguments, "pages", pages, page_line, nothing, head=head,
        since=since, day=mount.day, newTags=tags, newOrphans=orphans[:100],
        previousVersion=mount.previous_version, changes=told[:100],
    )  # fmt: skip


def week_before(day: str) -> str:
    """Return the day seven days before ``day``; for '', one that nothing is as late as."""
    return (date.fromisoformat(day) - _WEEK).isoformat() if day else _NEVER


def read_changes(pack: sqlite3.Connection) -> list[dict[str, Any]]:
    """Return the pages that differ from the previous pack; none where there was none."""
    rows = pack.execute(_CHANGES)
    return [{**dict(row), "sections": json.loads(row["sections"])} for row in rows]


def _named(pack: sqlite3.Connection, kind: str) -> list[str]:
    return [row[0] for row in pack.execute(_NAMED, (kind,))]


def _new_tags(pack: sqlite3.Connection, since: str) -> list[str]:
    before = {row[0] for row in pack.execute(_TAGS_BEFORE, (since,))}
    return [row[0] for row in pack.execute(_TAGS_SINCE, (since,)) if row[0] not in before]


def _head(
    day: str, since: str, pages: int, told: Sequence[Mapping[str, Any]], previous: str,
    tags: Sequence[str], orphans: Sequence[str],
) -> str:  # fmt: skip
    lines = [f"{pages} pages are dated {since} or later; the pack's day is {day or 'not known'}"]
    if previous:
        lines.append(f"{len(told)} pages differ from version {previous}:")
        lines += [f"- {change_line(change)}" for change in told[:20]]
    lines += ["New tags: " + ", ".join(f"#{tag}" for tag in tags[:20])] if tags else []
    lines += ["New orphans: " + ", ".join(orphans[:20])] if orphans else []
    return "\n".join(lines)


def change_line(change: Mapping[str, Any]) -> str:
    """Return what changed in a page as one line of text."""
    sections = [s["heading"] or "its beginning" for s in change["sections"]]
    where = f": {', '.join(sections)}" if sections else ""
    before = f", before at {change['before']}" if change["before"] else ""
    return f"{change['kind']} {change['path']} ({change['title']}){before}{where}"


def page_line(row: Mapping[str, Any]) -> str:
    """Return a dated page as one line of text."""
    orphan = ", linked from nowhere" if row["orphan"] else ""
    return f"{row['day']} {row['change']}: {row['path']} ({row['title']}{orphan})"


SPEC = ToolSpec(
    name="daily_update",
    description=(
        "List pages of {pack} that are new or changed since a day, new tags and orphans, and what "
        "differs from the previous version; without a day, the week before the pack's own."
    ),
    arguments=UpdateArguments,
    run=run,
)
