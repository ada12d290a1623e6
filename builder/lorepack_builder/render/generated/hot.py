"""The hot page: what is new, and what could be linked."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from lorepack_builder.history.changes import recent_pages, week_before
from lorepack_builder.link.outgoing import outgoing
from lorepack_builder.render.generated.page import generated_page, page_link
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.urls import relative_url, tag_url

HOT_URL = "hot/"
_SHOWN = 40
_WORDS = {"added": "new", "changed": "changed"}


def hot_page(given: SiteInput, back: Mapping[str, Collection[str]]) -> SitePage:
    """Return the page of what was touched in the pack's last week, what changed since the previous
    pack, new tags, new orphans, and pages that nothing links to.
    """
    site, changes = given.map, given.changes
    came = [c for c in changes.pages if c.how in ("added", "changed")] if changes else []
    week = recent_pages(given.pages, week_before(given.upkeep.day))
    orphans = changes.orphans if changes else [p.path for p in week if not back.get(p.path)]
    lonely = _lonely(given, back)
    context = {
        "day": given.upkeep.day,
        "since": changes.since if changes else "",
        "changed": [
            {**page_link(c.path, site, HOT_URL), "kind": _WORDS[c.how]} for c in came[:_SHOWN]
        ],
        "changed_more": max(0, len(came) - _SHOWN),
        "week": [
            {**page_link(page.path, site, HOT_URL), "date": page.day} for page in week[:_SHOWN]
        ],
        "week_more": max(0, len(week) - _SHOWN),
        "tags": [
            {"name": tag, "url": relative_url(tag_url(tag), HOT_URL)}
            for tag in (changes.tags if changes else ())
        ],
        "orphans": [page_link(path, site, HOT_URL) for path in orphans[:_SHOWN]],
        "orphans_more": max(0, len(orphans) - _SHOWN),
        "lonely": [
            {"page": page_link(path, site, HOT_URL), "near": page_link(near, site, HOT_URL)}
            for path, near in lonely[:_SHOWN]
        ],
        "lonely_more": max(0, len(lonely) - _SHOWN),
    }
    return generated_page(
        HOT_URL, "Hot", "hot.html.j2", context, in_nav=True,
        description="New and changed pages, new tags, and pages to link",
    )  # fmt: skip


def _lonely(given: SiteInput, back: Mapping[str, Collection[str]]) -> Sequence[tuple[str, str]]:
    """Return the pages that nothing links to, each with the nearest in meaning."""
    found = []
    for linked in given.pages:
        path = linked.page.path
        if back.get(path):
            continue
        links = set(outgoing(linked))
        near = [other for other in given.upkeep.near.get(path, ()) if other not in links]
        found += [(path, near[0])] if near else []
    return found
