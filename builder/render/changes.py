"""What changed since the previous pack, and what is new by its own date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from lorepack.builder.model import LinkedPage, Page
from lorepack.builder.previous import Previous, PreviousPage, section_digests
from lorepack.builder.render.model import SiteInput


@dataclass(frozen=True)
class Change:
    """One page that came, changed, moved or went.

    ``sections`` are (anchor, heading) of what is new or differs, '' for the page's top; ``before``
    is where a moved page was.
    """

    kind: Literal["new", "changed", "moved", "removed"]
    path: str
    title: str
    sections: tuple[tuple[str, str], ...] = ()
    before: str = ""


@dataclass(frozen=True)
class Changes:
    """All changes in the order of paths, and tags that the previous pack had not."""

    since: str
    pages: tuple[Change, ...]
    tags: tuple[str, ...]


def find_changes(given: SiteInput) -> Changes | None:
    """Compare with the previous pack; None when there is none."""
    previous = given.previous
    if previous is None:
        return None
    now = {linked.page.path: linked.page for linked in given.pages}
    gone = {path: page for path, page in previous.pages.items() if path not in now}
    by_hash = {page.hash: path for path, page in sorted(gone.items())}
    found: list[Change] = []
    for page in now.values():
        before = previous.pages.get(page.path)
        if before is None:
            moved = by_hash.get(page.hash)
            gone.pop(moved or "", None)
            kind: Literal["moved", "new"] = "moved" if moved else "new"
            found.append(Change(kind, page.path, page.title, before=moved or ""))
        elif before.hash != page.hash:
            found.append(Change("changed", page.path, page.title, _sections(page, before)))
    found += [Change("removed", path, page.title) for path, page in gone.items()]
    found.sort(key=lambda change: change.path)
    return Changes(previous.version, tuple(found), _new_tags(given.pages, previous))


def recent_pages(pages: Sequence[LinkedPage], limit: int) -> list[tuple[str, Page]]:
    """Return (date, page) of those that say when they were written or changed, latest first."""
    dated = [(iso_date(p.page.updated or p.page.created), p.page) for p in pages]
    known = [(day, page) for day, page in dated if day]
    return sorted(known, key=lambda item: (item[0], item[1].path), reverse=True)[:limit]


def iso_date(text: str) -> str:
    """Return the day that ``text`` begins with, as ``2026-01-31``; '' if it begins with none."""
    try:
        return date.fromisoformat(text[:10]).isoformat()
    except ValueError:
        return ""


def _sections(page: Page, before: PreviousPage) -> tuple[tuple[str, str], ...]:
    now = section_digests(page.body, page.body_line, [(h.anchor, h.line) for h in page.headings])
    headings = {h.anchor: h.text for h in page.headings}
    return tuple(
        (anchor, headings.get(anchor, ""))
        for anchor, digest in now.items()
        if before.sections.get(anchor) != digest
    )


def _new_tags(pages: Sequence[LinkedPage], previous: Previous) -> tuple[str, ...]:
    names = {tag.lower(): tag for p in reversed(pages) for tag in reversed(p.page.tags)}
    return tuple(names[key] for key in sorted(names) if key not in previous.tags)
