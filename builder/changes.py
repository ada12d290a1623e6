"""What changed since the previous pack, and what was touched in the pack's last week."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from lorepack.builder.link.outgoing import backlinks
from lorepack.builder.model import LinkedPage, Page
from lorepack.builder.previous import Previous, PreviousPage
from lorepack.packfile.sections import section_digests

WEEK = timedelta(days=7)


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
    """All changes in the order of paths, tags that the previous pack had not, and new orphans.

    An orphan is a page that no other page links to; it is new if it was none, or was not there.
    """

    since: str
    pages: tuple[Change, ...]
    tags: tuple[str, ...]
    orphans: tuple[str, ...]


def find_changes(pages: Sequence[LinkedPage], previous: Previous | None) -> Changes | None:
    """Compare with the previous pack; None when there is none."""
    if previous is None:
        return None
    now = {linked.page.path: linked.page for linked in pages}
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
    back = backlinks(pages)
    lonely = [path for path in now if not back.get(path) and path not in previous.orphans]
    return Changes(previous.version, tuple(found), _new_tags(pages, previous), tuple(lonely))


def pack_day(given: str, epoch: int, pages: Sequence[LinkedPage]) -> str:
    """Return the day that a pack counts from, never that of the clock.

    Args:
        given: the day that the recipe says, or ''.
        epoch: ``SOURCE_DATE_EPOCH``, seconds, or 0: used where the recipe says nothing.
        pages: the latest of their days is used where neither says anything; '' without any.
    """
    if given:
        return given
    if epoch:
        return datetime.fromtimestamp(epoch, UTC).date().isoformat()
    return max((linked.page.day for linked in pages), default="")


def week_before(day: str) -> str:
    """Return the day seven days before ``day``; '' for ''."""
    return (date.fromisoformat(day) - WEEK).isoformat() if day else ""


def recent_pages(pages: Sequence[LinkedPage], since: str) -> list[Page]:
    """Return the pages touched on ``since`` or later, the latest first; none without a day."""
    touched = [linked.page for linked in pages if since and linked.page.day >= since]
    return sorted(touched, key=lambda page: (page.day, page.path), reverse=True)


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
