"""Pages as MCP resources: listed, read by page, section or tag, and completed while typed."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import parse_qs, quote, unquote, urlsplit

import mcp_types as types
from mcp.shared.exceptions import MCPError

from lorepack.text.invisible import without_hidden
from lorepack_server.packs.mount import Mount
from lorepack_server.retrieve.page_names import find_sections, page_sections
from lorepack_server.tools.answer import document

_LISTED = 100
_COMPLETED = 100
"""Values of a completion, of which the protocol lets 100 pass."""
_LIST = "SELECT id, path, title, summary FROM pages WHERE id > ? ORDER BY id LIMIT ?"
_READ = "SELECT id, path, markdown, body_line FROM pages WHERE path = ?"
_PAGES = """
SELECT path FROM pages
WHERE instr(lower(path), lower(:typed)) > 0 OR instr(lower(title), lower(:typed)) > 0
ORDER BY instr(lower(path), lower(:typed)) <> 1, instr(lower(title), lower(:typed)) <> 1, path
LIMIT :most
"""
_ANCHORS = """
SELECT anchor FROM headings JOIN pages ON pages.id = headings.page_id
WHERE path = :path AND (instr(lower(anchor), lower(:typed)) > 0
    OR instr(lower(text), lower(:typed)) > 0) ORDER BY ordinal LIMIT :most
"""
_TAGS = """
SELECT tag FROM tags WHERE pages > 0 AND instr(lower(tag), lower(:typed)) > 0
ORDER BY instr(lower(tag), lower(:typed)) <> 1, pages DESC, tag LIMIT :most
"""
_TAGGED = """
SELECT DISTINCT pages.path, title FROM pages, json_each(pages.tags)
WHERE lower(value) = lower(:tag) OR substr(lower(value), 1, length(:tag) + 1) = lower(:tag) || '/'
ORDER BY pages.path
"""


def listed(mounts: Sequence[Mount], cursor: str | None) -> types.ListResourcesResult:
    """Return some pages of all packs as resources, and the cursor of those that follow."""
    first, _, after = (cursor or "0:0").partition(":")
    place = int(first) if first.isdigit() else 0
    last = int(after) if after.isdigit() else 0
    found: list[types.Resource] = []
    while place < len(mounts):
        mount = mounts[place]
        room = _LISTED - len(found)
        rows = mount.connection().execute(_LIST, (last, room)).fetchall()
        found += [
            types.Resource(
                name=row["path"],
                title=without_hidden(row["title"]),
                uri=f"lorepack://{mount.name}/{quote(row['path'])}",
                description=without_hidden(row["summary"]) or None,
                mime_type="text/markdown",
            )
            for row in rows
        ]
        if rows and len(rows) == room:
            following = f"{place}:{rows[-1]['id']}"
            return types.ListResourcesResult(resources=found, next_cursor=following)
        place, last = place + 1, 0
    return types.ListResourcesResult(resources=found)


def templates(mounts: Sequence[Mount]) -> types.ListResourceTemplatesResult:
    """Return the forms of the addresses that `read` takes, for each pack."""
    forms = (
        ("page", "/{+page}", "A page, by its path"),
        ("section", "/{+page}#{section}", "A section of a page, by its anchor"),
        ("tag", "/?tag={tag}", "The pages that have a tag"),
    )
    return types.ListResourceTemplatesResult(
        resource_templates=[
            types.ResourceTemplate(
                name=f"{mount.name}-{kind}", uri_template=f"lorepack://{mount.name}{form}",
                description=description, mime_type="text/markdown",
            )
            for mount in mounts
            for kind, form, description in forms
        ]
    )  # fmt: skip


def read(mounts: Sequence[Mount], uri: str) -> types.ReadResourceResult:
    """Return a page, a section of one, or the list of a tag's pages.

    Raises:
        MCPError: there is none.
    """
    parts = urlsplit(uri)
    mount = next((m for m in mounts if m.name == parts.netloc.partition("@")[0]), None)
    text = None
    if mount is not None and parts.scheme == "lorepack":
        if tag := parse_qs(parts.query).get("tag"):
            text = _pages_of_tag(mount, tag[0].lstrip("#"))
        else:
            text = _page(mount, unquote(parts.path).lstrip("/"), unquote(parts.fragment))
    if text is None:
        names = ", ".join(mount.name for mount in mounts[:5])
        raise MCPError(code=types.INVALID_PARAMS, message=f"no such page in {names}: {uri[:200]}")
    content = types.TextResourceContents(
        uri=uri, mime_type="text/markdown", text=without_hidden(document(text))
    )
    return types.ReadResourceResult(contents=[content])


def _page(mount: Mount, path: str, section: str) -> str | None:
    pack = mount.connection()
    row = pack.execute(_READ, (path,)).fetchone()
    if row is None or not section:
        return None if row is None else str(row["markdown"])
    found = find_sections(page_sections(pack, row["id"]), section)
    if len(found) != 1:
        return None
    lines = row["markdown"].split("\n")
    end = len(lines) if found[0].end is None else found[0].end - row["body_line"]
    return "\n".join(lines[found[0].line - row["body_line"] : end])


def _pages_of_tag(mount: Mount, tag: str) -> str | None:
    rows = mount.connection().execute(_TAGGED, {"tag": tag}).fetchall()
    base = f"lorepack://{mount.name}/"
    return "\n".join(f"- [{r['title']}]({base}{quote(r['path'])})" for r in rows) or None


def complete(mounts: Sequence[Mount], params: types.CompleteRequestParams) -> types.CompleteResult:
    """Return what an argument of a template may be, from what is typed of it."""
    name, typed = params.argument.name, params.argument.value
    uri = getattr(params.ref, "uri", "") or ""
    asked = [mount for mount in mounts if urlsplit(uri).netloc == mount.name] or list(mounts)
    known = (params.context.arguments if params.context else None) or {}
    values: list[str] = []
    for mount in asked:
        values += _completed(mount, name, typed, str(known.get("page", "")))
    unique = list(dict.fromkeys(map(without_hidden, values)))
    return types.CompleteResult(
        completion=types.Completion(
            values=unique[:_COMPLETED], has_more=len(unique) > _COMPLETED,
        )
    )  # fmt: skip


def _completed(mount: Mount, name: str, typed: str, page: str) -> list[str]:
    pack = mount.connection()
    most = _COMPLETED + 1
    if name == "page" and "#" in typed:
        page, _, part = typed.partition("#")
        values = {"path": page, "typed": part, "most": most}
        return [f"{page}#{row[0]}" for row in pack.execute(_ANCHORS, values)]
    if name in ("section", "subsection", "anchor", "heading"):
        values = {"path": page, "typed": typed, "most": most}
        return [row[0] for row in pack.execute(_ANCHORS, values)]
    if name == "tag":
        return [row[0] for row in pack.execute(_TAGS, {"typed": typed.lstrip("#"), "most": most})]
    if name == "page":
        return [row[0] for row in pack.execute(_PAGES, {"typed": typed, "most": most})]
    return []
