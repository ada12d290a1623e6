"""All tags, and a page for each."""

from __future__ import annotations

import posixpath
from collections import defaultdict

from lorepack_builder.render.generated.page import generated_page, page_link
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.urls import TAGS_URL, relative_url, tag_url

_SHOWN = 300
"""Pieces of advice that are listed."""


def tag_pages(given: SiteInput) -> list[SitePage]:
    """Return the page of all tags, then one a tag with its pages and the tags below it."""
    site = given.map
    names: dict[str, str] = {}
    pages: defaultdict[str, list[str]] = defaultdict(list)
    for linked in given.pages:
        for key, tag in {tag.lower(): tag for tag in reversed(linked.page.tags)}.items():
            names.setdefault(key, tag)
            pages[key].append(linked.page.path)
    inner: defaultdict[str, list[str]] = defaultdict(list)
    for key in sorted(pages):
        above = posixpath.dirname(key)
        # A tag of which only tags below it occur has a page too.
        while above and key not in inner[above]:
            inner[above].append(key)
            names.setdefault(above, posixpath.dirname(names[key]))
            key, above = above, posixpath.dirname(above)  # noqa: PLW2901
    rows = [
        {
            "name": names[key],
            "pages": len(pages.get(key, ())),
            "url": relative_url(tag_url(key), TAGS_URL),
        }
        for key in sorted(names)
    ]
    advice = [tag for tag in given.upkeep.tags if tag.message]
    translated = {
        tuple(sorted((tag.tag, twin.tag)))
        for tag in given.upkeep.tags for twin in tag.twins if twin.why == "translation"
    }  # fmt: skip
    context = {
        "tags": rows,
        "advice": [{"message": t.message, "use": t.use, "pages": t.pages} for t in advice[:_SHOWN]],
        "more": max(0, len(advice) - _SHOWN),
        "translated": [" and ".join(f"#{t}" for t in pair) for pair in sorted(translated)[:_SHOWN]],
    }
    index = generated_page(
        TAGS_URL, "Tags", "tags.html.j2", context, in_nav=True,
        description=f"{len(rows)} tags",
    )  # fmt: skip
    return [index] + [
        generated_page(
            tag_url(key), f"#{names[key]}", "tag.html.j2",
            {
                "pages": [page_link(path, site, tag_url(key)) for path in pages.get(key, ())],
                "inner": [
                    {"name": names[below], "url": relative_url(tag_url(below), tag_url(key))}
                    for below in inner.get(key, ())
                ],
            },
            description=f"{len(pages.get(key, ()))} pages with the tag #{names[key]}",
            parents=[{"title": "Tags", "url": relative_url(TAGS_URL, tag_url(key))}],
            beside=[], hidden=0,
        )
        for key in sorted(names)
    ]  # fmt: skip
