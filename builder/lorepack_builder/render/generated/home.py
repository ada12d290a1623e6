"""The start page: what is in the pack, from where, and where to begin."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from lorepack_builder.render.generated.page import generated_page, page_link
from lorepack_builder.render.model import SiteInput, SitePage
from lorepack_builder.render.navigation import Folder
from lorepack_builder.render.urls import relative_url

HOME_URL = ""
_SHOWN = 40


def home_page(given: SiteInput, folders: Mapping[str, Folder]) -> SitePage:
    """Return the page at the site's root."""
    site = given.map
    rows, tops = [], []
    for source in given.sources:
        own = [p.page.path for p in given.pages if p.page.source.name == source.name]
        folder = relative_url(folders[source.name].url, HOME_URL) if own else ""
        rows.append(
            {
                "name": source.name,
                "kind": source.kind,
                "web": source.web,
                "commit": source.revision[:10],
                "licence": source.licence,
                "pages": len(own),
                "first": [page_link(path, site, HOME_URL) for path in own[:_SHOWN]],
                "more": max(0, len(own) - _SHOWN),
                "folder": folder,
            }
        )
        if own:
            name = f"{source.name}/"
            tops.append({"kind": "folder", "title": name, "url": folder, "active": False})
    langs = Counter(linked.page.lang for linked in given.pages)
    numbers = {
        "pages": len(given.pages),
        "links": sum(t is not None for linked in given.pages for t in linked.targets),
        "tags": len({tag.lower() for linked in given.pages for tag in linked.page.tags}),
        "findings": sum(finding.severity != "info" for finding in given.findings),
    }
    context = {
        "sources": rows,
        "numbers": numbers,
        "languages": [f"{lang} ({count})" for lang, count in sorted(langs.items())],
        "version": given.version,
    }
    described = f"{given.title}: {numbers['pages']} pages from {len(rows)} sources"
    return generated_page(
        HOME_URL, "Start", "home.html.j2", context, description=described, in_nav=True,
        beside=tops, hidden=0, kind="home",
    )  # fmt: skip
