"""Rules about a page as a whole: its size, its age, its title."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import date

from lorepack.text.tokenize import fold
from lorepack_builder.lint.report import finding
from lorepack_builder.model import Finding, Page

_SHOWN = 3


def page_findings(page: Page, kilobytes: int, stale_days: int, day: str) -> Iterator[Finding]:
    """Yield what is odd about a page's size and age.

    Args:
        kilobytes: above which a page is too large (1,000 bytes of UTF-8 each).
        stale_days: after which a page that nobody touched is stale, if it is not archived.
        day: the pack's own; '' if there is none.
    """
    if not page.body.strip() and page.frontmatter == "{}" and not page.diagrams:
        yield finding("empty-page", page.path, 1, "has no text", "write it, or remove the file")
    size = len(page.body.encode("utf-8", "replace")) / 1000
    if size > kilobytes:
        message = f"has {size:.0f} kB, more than {kilobytes}"
        yield finding("oversize-page", page.path, 1, message, "split it by its headings")
    if page.day and day and page.lifecycle != "archived":
        age = (date.fromisoformat(day) - date.fromisoformat(page.day)).days
        if age > stale_days:
            message = f"was last touched on {page.day}, {age} days before {day}"
            fix = "look through it and set `updated`, or `lifecycle: archived`"
            yield finding("stale-page", page.path, 1, message, fix)


def same_titles(pages: Sequence[Page]) -> Iterator[Finding]:
    """Yield pages that share their title with another of their source.

    Files that a folder has one of each (``index.md``) are told apart by their folders.
    """
    groups: defaultdict[tuple[str, str], list[Page]] = defaultdict(list)
    for page in pages:
        if not page.code:
            groups[page.source.name, fold(page.title).strip()].append(page)
    for group in groups.values():
        names = {posixpath.basename(page.path).casefold() for page in group}
        if len(group) == 1 or names & {"index.md", "readme.md", "index.rst"}:
            continue
        for page in group:
            others = [other.path for other in group if other is not page]
            shown = ", ".join(others[:_SHOWN]) + ("…" if len(others) > _SHOWN else "")
            message = f"has the title “{page.title}”, as has {shown}"
            yield finding("duplicate-title", page.path, 1, message, "rename one, or join them")
