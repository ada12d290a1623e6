"""What changed since the previous pack, and what was touched in the pack's last week."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from lorepack.pack.diff.pages import PageChange, PageFacts, page_changes
from lorepack_builder.history.previous import Previous
from lorepack_builder.link.outgoing import backlinks
from lorepack_builder.model import LinkedPage, Page

WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Changes:
    """All changes in the order of paths, tags that the previous pack had not, and new orphans.

    An orphan is a page that no other page links to; it is new if it was none, or was not there.
    """

    since: str
    pages: Sequence[PageChange]
    tags: tuple[str, ...]
    orphans: tuple[str, ...]


def find_changes(pages: Sequence[LinkedPage], previous: Previous | None) -> Changes | None:
    """Compare with the previous pack; None when there is none."""
    if previous is None:
        return None
    now = {linked.page.path: _facts(linked.page) for linked in pages}
    found = page_changes(previous.pages, now)
    back = backlinks(pages)
    lonely = [path for path in now if not back.get(path) and path not in previous.orphans]
    return Changes(previous.version, found, _new_tags(pages, previous), tuple(lonely))


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


def _facts(page: Page) -> PageFacts:
    headings = [(heading.anchor, heading.text, heading.line) for heading in page.headings]
    return PageFacts(page.title, page.hash, page.body, page.body_line, headings)


def _new_tags(pages: Sequence[LinkedPage], previous: Previous) -> tuple[str, ...]:
    names = {tag.lower(): tag for p in reversed(pages) for tag in reversed(p.page.tags)}
    return tuple(names[key] for key in sorted(names) if key not in previous.tags)
