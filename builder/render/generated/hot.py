"""The hot page: what is new, and what could be linked."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from lorepack.builder.render.changes import Changes, recent_pages
from lorepack.builder.render.generated.page import generated_page, page_link
from lorepack.builder.render.model import SiteInput, SitePage
from lorepack.builder.render.page import outgoing
from lorepack.builder.render.urls import relative_url, tag_url

HOT_URL = "hot/"
_SHOWN = 40


def hot_page(
    given: SiteInput, changes: Changes | None, back: Mapping[str, Collection[str]]
) -> SitePage:
    """Return the page of new and changed pages, new tags, and pages that nothing links to."""
    site = given.map
    came = [c for c in changes.pages if c.kind in ("new", "changed")] if changes else []
    lonely = []
    for linked in given.pages:
        path = linked.page.path
        linked_to = {*outgoing(linked), *back.get(path, ())}
        candidates = [near for near in given.near.get(path, ()) if near not in linked_to]
        if not back.get(path) and candidates:
            lonely.append((path, candidates[0]))
    context = {
        "since": changes.since if changes else "",
        "changed": [{**page_link(c.path, site, HOT_URL), "kind": c.kind} for c in came[:_SHOWN]],
        "changed_more": max(0, len(came) - _SHOWN),
        "recent": [
            {**page_link(page.path, site, HOT_URL), "date": date}
            for date, page in recent_pages(given.pages, _SHOWN)
        ],
        "tags": [
            {"name": tag, "url": relative_url(tag_url(tag), HOT_URL)}
            for tag in (changes.tags if changes else ())
        ],
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
