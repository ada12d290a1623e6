"""``get_page``: a page, one of its sections, or the list of pages."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lorepack_server.retrieve.citations import readable_url, source_line, source_place
from lorepack_server.retrieve.page_names import (
    Place,
    Section,
    find_pages,
    find_sections,
    page_sections,
    section_at,
)
from lorepack_server.tools.addressed import notes
from lorepack_server.tools.answer import (
    Context,
    ToolAnswer,
    ToolSpec,
    document,
    fenced,
    more_line,
    pack_identity,
)
from lorepack_server.tools.arguments import Arguments, Cursor, MaxTokens
from lorepack_server.tools.budget import Budget, budget_of, cut, fill
from lorepack_server.tools.near_names import near_names

_LISTED = 500
_OUTLINE = 5
"""One part in so many of a page that is cut goes to the list of its sections."""
_BY_PATH = """
SELECT pages.*, sources.name AS source, sources.kind, sources.web,
    sources.revision, sources.subdir FROM pages
JOIN sources ON sources.id = pages.source_id WHERE pages.path = ?
"""
_LIST = "SELECT id, path, title FROM pages WHERE id > ? ORDER BY id LIMIT ?"
_COUNT_AFTER = "SELECT count(*) FROM pages WHERE id > ?"
_NAMES = "SELECT path, title FROM pages"
_AT_ANCHOR = """
SELECT min(first_line) AS first, max(last_line) AS last FROM chunks
WHERE page_id = ? AND anchor = ?
"""


class PageArguments(Arguments):
    """What ``get_page`` takes."""

    renamed: ClassVar = {
        "path": "page", "title": "page", "name": "page", "section": "subsection",
        "heading": "subsection", "anchor": "subsection", "list": "list_pages",
    }  # fmt: skip
    page: Annotated[
        str, Field(description="path, title, citation, [[link]] or qualified symbol")
    ] = ""
    subsection: Annotated[str, Field(description="heading or anchor; one section only")] = ""
    list_pages: bool = False
    cursor: Cursor = "0"
    max_tokens: MaxTokens = 0


def run(context: Context, arguments: PageArguments) -> ToolAnswer:
    """Answer with a page, a section, or one part of the list of pages."""
    pack = context.mount.connection()
    if arguments.list_pages or not arguments.page:
        return _list(context, pack, arguments)
    places = find_pages(pack, arguments.page)
    if len(places) == 1:
        return read_place(context, places[0], arguments)
    return several(context, places, arguments) if places else no_page(context, arguments.page)


def read_place(context: Context, place: Place, arguments: PageArguments) -> ToolAnswer:
    """Answer with the page of ``place``, or with the section that it or the arguments name."""
    pack = context.mount.connection()
    row: sqlite3.Row = pack.execute(_BY_PATH, (place.path,)).fetchone()
    sections = page_sections(pack, row["id"])
    name = arguments.subsection or place.section
    inner = section_at(sections, place.line) if place.line and not name else None
    if not name and inner is None:
        return _answer(context, row, row["markdown"], row["body_line"], "", sections, arguments)
    found = [inner] if inner else find_sections(sections, name) or _at_anchor(pack, row, name)
    if len(found) > 1:
        return _several_sections(context, row, name, found)
    if not found:
        return _no_section(context, row, name, sections)
    section = found[0]
    lines = row["markdown"].split("\n")
    first = section.line - row["body_line"]
    last = len(lines) if section.end is None else section.end - row["body_line"]
    text = "\n".join(lines[first:last]).rstrip()
    inside = [s for s in sections if section.line < s.line < (section.end or s.line + 1)]
    return _answer(context, row, text, section.line, section.anchor, inside, arguments)


def _at_anchor(pack: sqlite3.Connection, row: sqlite3.Row, anchor: str) -> list[Section]:
    """Return the passages at an anchor that is no heading's."""
    first, last = pack.execute(_AT_ANCHOR, (row["id"], anchor.lstrip("#"))).fetchone()
    return [] if first is None else [Section(anchor, anchor.lstrip("#"), first, last + 1)]


def several(context: Context, places: Sequence[Place], arguments: PageArguments) -> ToolAnswer:
    """Answer with all the pages that a name may mean."""
    names = [f"{place.path}{'#' if place.section else ''}{place.section}" for place in places]
    data = {**pack_identity(context.mount), "status": "several", "pages": names}
    lines = [f"several: {len(names)} pages may be meant by {arguments.page!r}; give one of",
             *(f"- {name}" for name in names)]  # fmt: skip
    return ToolAnswer("\n".join(lines), data)


def no_page(context: Context, name: str) -> ToolAnswer:
    """Answer that there is no such page, with the names that are most like it."""
    names: dict[str, str] = {}
    for path, title in context.mount.connection().execute(_NAMES):
        names.setdefault(path.lower(), path)
        names.setdefault(title.lower(), path)
    near = list(dict.fromkeys(names[found] for found in near_names(name.lower(), names, 10)))[:5]
    data = {**pack_identity(context.mount), "status": "no_match", "near": near}
    hint = f"Near: {', '.join(near)}" if near else "listPages: true lists all pages."
    return ToolAnswer(f"no_match: {context.label} has no page {name[:200]!r}. {hint}", data)


def _several_sections(
    context: Context, row: sqlite3.Row, name: str, found: Sequence[Section]
) -> ToolAnswer:
    data = {**pack_identity(context.mount), "status": "several", "page": row["path"],
            "sections": [section.anchor for section in found]}  # fmt: skip
    head = f"several: {row['path']} has {len(found)} sections {name!r}; give one of"
    lines = [f"- {section.anchor}: {section.text}, line {section.line}" for section in found]
    return ToolAnswer("\n".join([head, *lines]), data)


def _no_section(
    context: Context, row: sqlite3.Row, name: str, sections: Sequence[Section]
) -> ToolAnswer:
    texts = {section.text.lower(): section.text for section in sections}
    near = [texts[found] for found in near_names(name.lower(), texts, 5)]
    near = near or [section.text for section in sections[:5]]
    data = {**pack_identity(context.mount), "status": "no_match", "near": near}
    hint = f"There are: {', '.join(near)}" if near else "It has no sections."
    return ToolAnswer(f"no_match: {row['path']} has no section {name[:200]!r}. {hint}", data)


def _list(context: Context, pack: sqlite3.Connection, arguments: PageArguments) -> ToolAnswer:
    after = int(arguments.cursor)
    rows = pack.execute(_LIST, (after, _LISTED)).fetchall()
    (left,) = pack.execute(_COUNT_AFTER, (after,)).fetchone()

    def cursor(shown: int) -> str | None:
        return str(rows[shown - 1]["id"]) if rows and shown < left else None

    head = f"{left} pages of {context.label}" if not after else ""
    text, count = fill(
        budget_of(arguments.max_tokens), head, [f"{row['path']}: {row['title']}" for row in rows],
        lambda shown: more_line(left - shown, "pages", cursor(shown)),
    )  # fmt: skip
    pages = [{"page": row["path"], "title": row["title"]} for row in rows[:count]]
    data = {**pack_identity(context.mount), "status": "ok", "pages": pages,
            "nextCursor": cursor(count)}  # fmt: skip
    return ToolAnswer(text, data)


def _answer(
    context: Context, row: sqlite3.Row, text: str, first_line: int, anchor: str,
    sections: Sequence[Section], arguments: PageArguments,
) -> ToolAnswer:  # fmt: skip
    text = document(text)
    begin, budget = min(int(arguments.cursor), len(text)), budget_of(arguments.max_tokens)
    url = context.cite(row, anchor)
    note = notes(context.mount, [row["path"]]).get(row["path"], "")
    lines_of_all = first_line + text.count("\n")
    head = _head(row, url, first_line, lines_of_all, lines_of_all) + note
    rest, outline = text[begin:], ""
    if begin or budget.measure(f"{head}{fenced(rest)}") > budget.limit:
        outline = _outline(sections, text, first_line, budget)
        tail = _tail(len(text), len(text))
        room = budget.limit - budget.measure(f"{head}{outline}{fenced('')}{tail}") - 8
        rest = cut(rest, max(room, 40), budget.measure)
    end = begin + len(rest)
    first = first_line + text[:begin].count("\n")
    last = first + rest.count("\n")
    place = source_place(row, (max(1, first), last))
    following = str(end) if end < len(text) else None
    data = {
        **pack_identity(context.mount), "status": "ok", "page": row["path"], "title": row["title"],
        "anchor": anchor, "citationUrl": url, **place, "lines": [first, last],
        "lang": row["lang"], "tags": json.loads(row["tags"]), "truncated": following is not None,
        "nextCursor": following, "sections": [section.text for section in sections[:200]],
    }  # fmt: skip
    shown = f"{_head(row, url, first, last, lines_of_all, place)}{note}{outline}{fenced(rest)}"
    return ToolAnswer(shown + (_tail(end, len(text)) if following else ""), data)


def _head(row: sqlite3.Row, url: str, first: int, last: int, of: int, place: Any = None) -> str:
    lines = f"L{first}-{last}" if last == of else f"L{first}-{last} of {of}"
    source = source_line(place) if place else ""
    return f"# {row['title']}\n{row['path']} <{readable_url(url)}> {lines}{source}\n"


def _outline(sections: Sequence[Section], text: str, first_line: int, budget: Budget) -> str:
    """Return the sections that can be asked for by themselves, each with its size."""
    lines = text.split("\n")
    named = []
    for section in sections:
        end = len(lines) if section.end is None else section.end - first_line
        size = sum(len(line) + 1 for line in lines[section.line - first_line : end])
        named.append(f"{section.text} ({size})")
    room = Budget(budget.limit // _OUTLINE, budget.measure)
    listed, count = fill(
        room, "", named, lambda n: f"and {len(named) - n} more" if n < len(named) else ""
    )
    names = listed.replace("\n", "; ")
    return f"Sections, to be had by subsection (characters): {names}\n" if count else ""


def _tail(end: int, of: int) -> str:
    return f'\n{of - end} of {of} characters are left out: call again with cursor "{end}".'


SPEC = ToolSpec(
    name="get_page",
    description=(
        "Read a page of {pack}, or one subsection of it, when a passage found is not enough. "
        "Long pages go on with cursor. listPages: true lists all pages."
    ),
    arguments=PageArguments,
    run=run,
)
