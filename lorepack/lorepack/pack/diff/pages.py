"""Pages and their sections, compared."""

from __future__ import annotations

import difflib
import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lorepack.pack.diff.model import How

_PAGES = "SELECT id, path, title, hash, body_line, markdown FROM pages ORDER BY path"
_HEADINGS = "SELECT page_id, anchor, text, line FROM headings ORDER BY page_id, ordinal"

Section = tuple[str, str]
"""A section's heading, '' for the page's beginning, and its text."""
_SENTENCES = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])")
_MOST_LINES = 2_000
"""Lines of a section that are compared one by one."""
_MOST_CHARACTERS = 4_000
"""Of a section's differences."""


@dataclass(frozen=True)
class PageFacts:
    """What is compared of a page. ``headings`` are (anchor, text, line of the file), in order."""

    title: str
    hash: str
    body: str
    body_line: int
    headings: Sequence[tuple[str, str, int]]

    def sections(self) -> dict[str, Section]:
        """Return the text from each heading to the next, by anchor; '' is the page's beginning."""
        lines = self.body.split("\n")
        starts = [("", "", self.body_line), *self.headings]
        ends = [line for _, _, line in self.headings] + [self.body_line + len(lines)]
        return {
            anchor: (heading, "\n".join(lines[start - self.body_line : end - self.body_line]))
            for (anchor, heading, start), end in zip(starts, ends, strict=True)
        }


@dataclass(frozen=True)
class SectionChange:
    """A section that came, changed or went; ``diff`` is what changed in it, unified, or ''."""

    anchor: str
    heading: str
    how: How
    diff: str = ""


@dataclass(frozen=True)
class PageChange:
    """A page that came, changed, moved or went; ``before`` is where a moved one was."""

    how: How
    path: str
    title: str
    before: str = ""
    sections: tuple[SectionChange, ...] = ()


def read_pages(pack: sqlite3.Connection) -> dict[str, PageFacts]:
    """Return the pages of a pack by path."""
    headings: dict[int, list[tuple[str, str, int]]] = {}
    for page_id, *heading in pack.execute(_HEADINGS):
        headings.setdefault(page_id, []).append(tuple(heading))
    return {
        row["path"]: PageFacts(
            row["title"], row["hash"], row["markdown"], row["body_line"],
            headings.get(row["id"], ()),
        )
        for row in pack.execute(_PAGES)
    }  # fmt: skip


def page_changes(
    before: Mapping[str, PageFacts], after: Mapping[str, PageFacts]
) -> list[PageChange]:
    """Return what came, changed, moved and went, in the order of paths.

    A page moved if one of the same content is gone; each that is gone is the origin of one.
    """
    gone = {path: page for path, page in sorted(before.items()) if path not in after}
    origins: dict[str, list[str]] = {}
    for path, page in gone.items():
        origins.setdefault(page.hash, []).append(path)
    found: list[PageChange] = []
    for path, page in sorted(after.items()):
        known = before.get(path)
        if known is None:
            came_from = origins[page.hash].pop(0) if origins.get(page.hash) else ""
            gone.pop(came_from, None)
            how: How = "moved" if came_from else "added"
            found.append(PageChange(how, path, page.title, came_from))
        elif known.hash != page.hash:
            sections = _section_changes(known.sections(), page.sections())
            found.append(PageChange("changed", path, page.title, sections=sections))
    found += [PageChange("removed", path, page.title) for path, page in gone.items()]
    return sorted(found, key=lambda change: change.path)


def _section_changes(
    before: Mapping[str, Section], after: Mapping[str, Section]
) -> tuple[SectionChange, ...]:
    found = []
    for anchor in {**after, **before}:
        old, new = before.get(anchor), after.get(anchor)
        if old and new and old[1] == new[1]:
            continue
        how: How = "changed" if old and new else "added" if new else "removed"
        diff = _diff(old[1], new[1]) if old and new else ""
        found.append(SectionChange(anchor, (new or old or ("", ""))[0], how, diff))
    return tuple(found)


def _diff(before: str, after: str) -> str:
    """Return what changed, sentence by sentence, without the head of a diff."""
    old, new = ([part for line in text.split("\n") for part in _SENTENCES.split(line)]
                for text in (before, after))  # fmt: skip
    if max(len(old), len(new)) > _MOST_LINES:
        return ""
    lines = list(difflib.unified_diff(old, new, lineterm="", n=1))[2:]
    text = "\n".join(lines)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}…"
