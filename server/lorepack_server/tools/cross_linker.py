"""``cross_linker``: links that pages could have, as suggestions and as a patch."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Annotated, Any, ClassVar

from pydantic import Field

from lorepack_server.tools.answer import Context, ToolAnswer, ToolSpec, fenced, paginated
from lorepack_server.tools.arguments import Paged
from lorepack_server.tools.budget import budget_of
from lorepack_server.tools.folders import page_or_folder

_SUGGESTIONS = """
SELECT pages.path AS page, rank, kind, target, message, text, line, start, link
FROM suggestions JOIN pages ON pages.id = suggestions.page_id
WHERE :path = '' OR pages.path = :path
   OR substr(pages.path, 1, length(:path) + 1) = :path || '/'
ORDER BY CASE WHEN pages.path = :path THEN 0 ELSE rank END, pages.path, rank
"""
_PAGE = "SELECT markdown, body_line FROM pages WHERE path = ?"
_KNOWN = """
SELECT count(*) FROM pages
WHERE :path = '' OR path = :path OR substr(path, 1, length(:path) + 1) = :path || '/'
"""


class LinkerArguments(Paged):
    """What ``cross_linker`` takes."""

    renamed: ClassVar = {"path": "page", "folder": "page"}
    page: Annotated[str, Field(description="a page or a folder")] = ""
    dry_run: Annotated[bool, Field(description="always true")] = True


Suggestion = Mapping[str, Any]
"""A row of the table ``suggestions`` with its ``page``."""


def run(context: Context, arguments: LinkerArguments) -> ToolAnswer:
    """List links that a page, or the pages of a folder, could have, the best first."""
    pack = context.mount.connection()
    path = page_or_folder(pack, arguments.page)
    found = read_suggestions(pack, path)
    (known,) = pack.execute(_KNOWN, {"path": path}).fetchone()
    nothing = "no link is missing here" if known else f"no page or folder {path!r}"
    head = f"{len(found)} links that {path or 'the pages'} could have; nothing was written"
    answer = paginated(
        context, arguments, "suggestions", found, suggestion_line, nothing,
        head=head if found else "", dryRun=True, page=path,
    )  # fmt: skip
    patch = patch_of(pack, answer.data["suggestions"])
    text = f"{answer.text}\n{fenced(patch)}" if patch else answer.text
    budget = budget_of(arguments.max_tokens)
    if patch and budget.measure(text) > budget.limit:
        text = f"{answer.text}\nThe patch is left out: ask with a smaller limit."
    return ToolAnswer(text, answer.data)


def read_suggestions(pack: sqlite3.Connection, path: str = "") -> list[Suggestion]:
    """Return what the build suggests for a page or a folder, '' for all; the best of each first."""
    return [dict(row) for row in pack.execute(_SUGGESTIONS, {"path": path})]


def suggestion_line(suggestion: Suggestion) -> str:
    """Return a suggestion as one line of text."""
    line = f":{suggestion['line']}" if suggestion["line"] else ""
    link = f" → {suggestion['link']}" if suggestion["link"] else ""
    return f"{suggestion['page']}{line}: {suggestion['message']} [{suggestion['kind']}]{link}"


def patch_of(pack: sqlite3.Connection, suggestions: Sequence[Suggestion]) -> str:
    """Return the suggestions that can be written as a unified diff without context.

    Its paths are the pack's, ``source/page.md``: in the source's own folder, ``git apply -p1
    --unidiff-zero`` or ``patch -p1`` applies it.
    """
    placed = [s for s in suggestions if s["start"] is not None and s["link"]]
    placed.sort(key=lambda s: (s["page"], s["start"]))
    parts: list[str] = []
    for page, own in groupby(placed, key=lambda s: str(s["page"])):
        parts += _page_patch(pack, page, list(own))
    return "\n".join(parts)


def _page_patch(pack: sqlite3.Connection, page: str, suggestions: list[Suggestion]) -> list[str]:
    row = pack.execute(_PAGE, (page,)).fetchone()
    before: str = row["markdown"]
    after, end = "", 0
    for suggestion in suggestions:
        start, text = suggestion["start"], suggestion["text"]
        if start < end or before[start : start + len(text)] != text:
            continue
        after += before[end:start] + suggestion["link"]
        end = start + len(text)
    changed = list(_hunks(before, after + before[end:], row["body_line"]))
    # A name with spaces ends at a tab, for git and patch alike.
    return [f"--- {page}\t", f"+++ {page}\t", *changed] if changed else []


def _hunks(before: str, after: str, first_line: int) -> Iterator[str]:
    """Yield the hunks of a diff between texts that have as many lines, the first as numbered."""
    old, new = before.split("\n"), after.split("\n")
    last = first_line + len(old) - 1
    for number, (was, now) in enumerate(zip(old, new, strict=True), first_line):
        if was != now:
            open_end = ["\\ No newline at end of file"] if number == last else []
            hunk = [f"@@ -{number} +{number} @@", f"-{was}", *open_end, f"+{now}", *open_end]
            yield from hunk


SPEC = ToolSpec(
    name="cross_linker",
    description=(
        "Suggest links that a page or folder of {pack} could have, with a patch: names mentioned "
        "without a link, broken links with the nearest name, similar pages. Never writes."
    ),
    arguments=LinkerArguments,
    run=run,
)
